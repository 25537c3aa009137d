"""Comments that let findings be ignored, in the comments of each type of file."""

from __future__ import annotations

import json
from functools import partial

from doiuri_cli._config import Config
from doiuri_cli._examine import FileReport, examine, judge
from doiuri_cli.files import Source
from doiuri_cli.registry._check import Answers
from doiuri_cli.rules._ignores import ignores_in
from support.growth import is_linear

OLD = "http://dx.doi.org/10.1000/182"
DEAD = "https://doi.org/10.5555/nope"
STATUSES = {"10.1000/182": "found", "10.5555/NOPE": "not-found"}


def judged(source: Source, statuses: dict[str, str], config: Config | None = None) -> FileReport:
    config = config or Config()
    return judge(examine(source, config), config, Answers(len(statuses), statuses))


def codes(path: str, text: str, statuses: dict[str, str] | None = None, **config: object) -> list[str]:
    report = judged(Source(path, text), STATUSES if statuses is None else statuses, Config(**config))  # type: ignore[arg-type]
    assert report.problem is None
    return [finding.code for finding in report.findings]


COMMENTS = [
    ("a.md", f"<{OLD}> <!-- doiuri: ignore[CODE] -->"),
    ("a.md", f"<!-- doiuri: ignore[CODE] -->\n\n<{OLD}>"),
    ("a.html", f'<a href="{OLD}">x</a><!-- doiuri: ignore[CODE] -->'),
    ("a.rst", f"Text\n\n.. doiuri: ignore[CODE]\n\n`x <{OLD}>`_\n"),
    ("a.tex", rf"\url{{{OLD}}} % doiuri: ignore[CODE]"),
    ("a.bib", f"@book{{a,\n  % doiuri: ignore[CODE]\n  url = {{{OLD}}}\n}}\n"),
    ("a.py", f"# {OLD}  # doiuri: ignore[CODE]\n"),
    ("a.py", f"# doiuri: ignore[CODE]: because\n# {OLD}\n"),
    ("a.yaml", f"a: {OLD}  # doiuri: ignore[CODE]\n"),
    ("a.toml", f"a = '{OLD}'  # doiuri: ignore[CODE]\n"),
    *((f"a{name}", f"<{OLD}> <!-- doiuri: ignore[CODE] -->") for name in (".Rmd", ".qmd", ".mkd", ".mdown")),
    ("a.rest", f"Text\n\n.. doiuri: ignore[CODE]\n\n`x <{OLD}>`_\n"),
    ("a.bbl", rf"\url{{{OLD}}} % doiuri: ignore[CODE]"),
    ("a.bibtex", f"@book{{a,\n  % doiuri: ignore[CODE]\n  url = {{{OLD}}}\n}}\n"),
    ("a.pyw", f"# {OLD}  # doiuri: ignore[CODE]\n"),
]


def test_the_comment_of_each_type() -> None:
    for path, text in COMMENTS:
        assert codes(path, text.replace("[CODE]", "[not-https]")) == [], path
        assert codes(path, text.replace("[CODE]", "[syntax, not-https]")) == ["unused-ignore"], path
        assert codes(path, text.replace("[CODE]", "")) == [], path
        assert sorted(codes(path, text.replace("[CODE]", "[syntax]"))) == ["not-https", "unused-ignore"], path
        assert codes(path, text.replace("doiuri: ignore[CODE]", "x")) == ["not-https"], path


def test_the_whole_file() -> None:
    text = f"<{OLD}>\n\n<{OLD}>\n\n<!-- doiuri: ignore-file[not-https] -->\n\n<{DEAD}>\n"
    assert codes("a.md", text) == ["not-found"]
    assert codes("a.md", text.replace("[not-https]", "")) == []


def test_only_its_own_line_or_the_next_one_with_text() -> None:
    text = f"<!-- doiuri: ignore[not-https] -->\n\n<{OLD}>\n<{OLD}>\n"
    assert codes("a.md", text) == ["not-https"]
    text = f"<{OLD}> <!-- doiuri: ignore[not-https] -->\n<{OLD}>\n"
    assert codes("a.md", text) == ["not-https"]


def test_several_comments_for_one_line() -> None:
    text = "<!-- doiuri: ignore[not-https] -->\n<!-- doiuri: ignore[not-found] -->\n<http://doi.org/10.5555/nope>\n"
    assert codes("a.md", text) == []


def test_a_comment_counts_as_unused_only_if_its_code_was_checked() -> None:
    text = f"<{DEAD}> <!-- doiuri: ignore[not-found] -->"
    assert codes("a.md", text) == []
    assert codes("a.md", text, {"10.5555/NOPE": "found"}) == ["unused-ignore"]
    assert codes("a.md", text, {"10.5555/NOPE": "unknown"}) == []
    assert codes("a.md", text, {}) == []
    assert codes("a.md", text, {"10.5555/NOPE": "found"}, ignore=frozenset({"not-found"})) == []
    assert codes("a.md", "x <!-- doiuri: ignore[lock-missing, title-differs] -->") == []
    assert codes("a.md", "x <!-- doiuri: ignore -->") == ["unused-ignore"]
    assert codes("a.md", "x <!-- doiuri: ignore -->", select=frozenset({"unused-ignore"})) == []


def test_unknown_codes() -> None:
    report = judged(Source("a.md", f"<{OLD}> <!-- doiuri: ignore[not-http] -->"), {})
    assert [finding.message for finding in report.findings if finding.code == "unused-ignore"] == [
        "unknown code not-http"
    ]


def test_where_an_unused_comment_is() -> None:
    (finding,) = judged(Source("a.py", "x = 1  # doiuri: ignore[syntax]\n"), {}).findings
    assert (finding.line, finding.column, finding.end_line, finding.end_column) == (1, 8, 1, 32)


def test_without_answers_no_comment_counts_as_unused() -> None:
    text = f"<{DEAD}> <!-- doiuri: ignore[not-found, not-https] -->"
    config = Config()
    assert not judge(examine(Source("a.md", text), config), config).findings


def test_quoted_comments_are_text() -> None:
    assert ignores_in("a.md", "Write `<!-- doiuri: ignore -->` or so.") == []
    assert ignores_in("a.py", '"""Write ``# doiuri: ignore`` there."""') == []
    assert ignores_in("a.txt", "# doiuri: ignore") == []
    assert ignores_in("a.py", "# doiuri: ignored\n# doiuri: ignore-files") == []


def notebook(*cells: tuple[str, list[str], list[str]]) -> Source:
    """A notebook of cells, each with its type, its tags and its lines."""
    described = [
        {"cell_type": kind, "metadata": {"tags": tags}, "source": source, "outputs": []}
        for kind, tags, source in cells
    ]
    return Source("a.ipynb", json.dumps({"cells": described, "metadata": {}, "nbformat": 4}, indent=1))


def test_comments_and_tags_in_notebooks() -> None:
    source = notebook(
        ("markdown", [], [f"<{OLD}> <!-- doiuri: ignore[not-https] -->"]),
        ("code", [], [f"# {OLD} # doiuri: ignore[not-https]"]),
        ("markdown", ["doiuri: ignore[not-https]"], [f"<{OLD}>"]),
        ("markdown", [], [f"<{OLD}>"]),
    )
    report = judged(source, STATUSES)
    assert report.problem is None
    assert [(finding.cell, finding.code) for finding in report.findings] == [(4, "not-https")]


def test_tags_of_cells_that_ignore_nothing() -> None:
    for tag, text, expected in (
        ("doiuri: ignore[not-https]", f"<{OLD}>", []),
        ("doiuri: ignore", f"<{OLD}>", []),
        ("doiuri: ignore[not-https, doubled]", f"<{OLD}>", ["the tag of the cell: no doubled to ignore"]),
        ("doiuri: ignore[not-https]", "# Results", ["the tag of the cell: no not-https to ignore"]),
        ("doiuri: ignore[htps]", "# Results", ["the tag of the cell: unknown code htps"]),
        ("doiuri: ignore[not-found]", "<https://doi.org/10.1000/unknown>", []),
    ):
        source = notebook(("code", [], ["x = 1"]), ("markdown", [tag], [text]))
        findings = judged(source, STATUSES).findings
        assert [finding.message for finding in findings] == expected
        assert {finding.cell for finding in findings} <= {2}


def test_many_comments_take_linear_time() -> None:
    for path, unit in (
        ("a.md", f"{OLD} <!-- doiuri: ignore --> "),
        ("a.md", "<!-- doiuri: ignore[not-https] -->\n"),
        ("a.tex", "% doiuri: ignore[<!-- doiuri: ignore "),
    ):
        assert is_linear(partial(codes_of_many, path, unit), 5_000, 50_000), (path, unit)


def codes_of_many(path: str, unit: str, size: int) -> list[str]:
    return codes(path, unit * (size // len(unit)))


def test_comments_in_notebooks_have_a_place_in_the_file() -> None:
    mark = "doiuri: ignore[not-https]"
    source = notebook(
        ("markdown", [], ["doi:10.1000/182\n", f"é\t<!-- {mark} -->"]),
        ("code", [], [f"# {DEAD}\n", "x = 1\n", f"y = 2  # {mark} doi:10.1000/182"]),
    )
    found = [one for one in judged(source, STATUSES).findings if one.code == "unused-ignore"]
    assert [(one.cell, one.line) for one in found] == [(1, 2), (2, 3)]
    for one in found:
        assert one.in_file is not None
        line, column, _, _ = one.in_file
        assert source.text.splitlines()[line - 1][column - 1 :].lstrip().startswith(("<!-- doiuri", "doiuri"))
