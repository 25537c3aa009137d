"""Comments that let findings be ignored, in the comments of each type of file."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest
from support.cli.command import codes, findings, remember
from support.growth import is_linear

if TYPE_CHECKING:
    from pathlib import Path

OLD = "http://dx.doi.org/10.1000/182"
DEAD = "https://doi.org/10.5555/nope"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cache") / "answers.sqlite"
    remember(path, {"10.1000/182": True, "10.5555/NOPE": False, "10.5555/there": True})
    return path


COMMENTS = [
    ("a.md", f"<{OLD}> <!-- doiuri: ignore[CODE] -->"),
    ("b.md", f"<!-- doiuri: ignore[CODE] -->\n\n<{OLD}>"),
    ("a.html", f'<a href="{OLD}">x</a><!-- doiuri: ignore[CODE] -->'),
    ("a.rst", f"Text\n\n.. doiuri: ignore[CODE]\n\n`x <{OLD}>`_\n"),
    ("a.tex", rf"\url{{{OLD}}} % doiuri: ignore[CODE]"),
    ("a.bib", f"@book{{a,\n  % doiuri: ignore[CODE]\n  url = {{{OLD}}}\n}}\n"),
    ("a.py", f"# {OLD}  # doiuri: ignore[CODE]\n"),
    ("b.py", f"# doiuri: ignore[CODE]: because\n# {OLD}\n"),
    ("a.yaml", f"a: {OLD}  # doiuri: ignore[CODE]\n"),
    ("a.toml", f"a = '{OLD}'  # doiuri: ignore[CODE]\n"),
    *((f"a{name}", f"<{OLD}> <!-- doiuri: ignore[CODE] -->") for name in (".Rmd", ".qmd", ".mkd", ".mdown")),
    ("a.rest", f"Text\n\n.. doiuri: ignore[CODE]\n\n`x <{OLD}>`_\n"),
    ("a.bbl", rf"\url{{{OLD}}} % doiuri: ignore[CODE]"),
    ("a.bibtex", f"@book{{a,\n  % doiuri: ignore[CODE]\n  url = {{{OLD}}}\n}}\n"),
    ("a.pyw", f"# {OLD}  # doiuri: ignore[CODE]\n"),
    ("a.R", f"#' {OLD} # doiuri: ignore[CODE]\n"),
    ("a.rs", f"/// {OLD} // doiuri: ignore[CODE]\n"),
]


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("doiuri: ignore[not-https]", []),
        ("doiuri: ignore[ not-https ,raw-link]", ["unused-ignore"]),
        ("doiuri: ignore[syntax, not-https]", ["unused-ignore"]),
        ("doiuri: ignore", []),
        ("doiuri: ignore[syntax]", ["not-https", "unused-ignore"]),
        ("x", ["not-https"]),
    ],
)
@pytest.mark.parametrize(("path", "text"), COMMENTS, ids=[path for path, _ in COMMENTS])
def test_the_comment_of_each_type_ignores_its_codes(
    path: str, text: str, written: str, left: list[str], cache: Path
) -> None:
    text = text.replace("doiuri: ignore[CODE]", written)
    assert sorted(codes(path, text, "--cache", cache)) == left


HIDE = "<!-- doiuri: ignore[not-https] -->"


@pytest.mark.parametrize(
    ("path", "text", "left"),
    [
        ("a.md", f"<{OLD}>\n\n<!-- doiuri: ignore-file[not-https] -->\n\n<{DEAD}>\n", ["not-found"]),
        ("a.md", f"<{OLD}>\n\n<!-- doiuri: ignore-file -->\n\n<{DEAD}>\n", []),
        ("a.md", f"{HIDE}\n\n<{OLD}>\n<{OLD}>\n", ["not-https"]),
        ("a.md", f"<{OLD}> {HIDE}\n<{OLD}>\n", ["not-https"]),
        ("a.md", f"{HIDE}\n<!-- doiuri: ignore[not-found] -->\n<http://doi.org/10.5555/nope>\n", []),
        ("a.md", f"Write `<!-- doiuri: ignore -->` or so: {OLD}.", ["not-https"]),
        ("a.py", f'"""Write ``# doiuri: ignore`` there. {OLD}"""', ["not-https"]),
        ("a.txt", f"{OLD} # doiuri: ignore", ["not-https"]),
        ("a.py", f"# doiuri: ignored\n# doiuri: ignore-files\n# {OLD}", ["not-https"]),
    ],
    ids=["file", "all", "next line", "own line", "two", "Markdown", "Python", "text", "other words"],
)  # fmt: skip
def test_a_comment_is_for_its_line_or_the_next_or_the_file(
    path: str, text: str, left: list[str], cache: Path
) -> None:
    assert codes(path, text, "--cache", cache) == left


@pytest.mark.parametrize("line", range(4))
def test_a_comment_on_any_line_of_a_finding_is_for_it(line: int, cache: Path) -> None:
    lines = ["\\url{http://doi.org/%", "10.1000/%", "182}", "end"]
    lines[line] = lines[line].removesuffix("%") + "% doiuri: ignore[not-https]"
    found = codes("a.tex", "\n".join(lines), "--cache", cache, "--select=not-https,unused-ignore")
    assert found == ([] if line < 3 else ["not-https", "unused-ignore"])


FOUND = "https://doi.org/10.5555/there"


@pytest.mark.parametrize(
    ("text", "options", "left"),
    [
        (f"<{DEAD}> <!-- doiuri: ignore[not-found] -->", (), []),
        (f"<{FOUND}> <!-- doiuri: ignore[not-found] -->", (), ["unused-ignore"]),
        (f"<{FOUND}1> <!-- doiuri: ignore[not-found] -->", (), []),
        (f"<{FOUND}> <!-- doiuri: ignore[not-found] -->\n<{FOUND}1>", (), ["unused-ignore"]),
        (f"<{FOUND}> <!-- doiuri: ignore[not-found] -->", ("--ignore=not-found",), []),
        ("x <!-- doiuri: ignore[lock-missing, title-differs] -->", (), []),
        ("x <!-- doiuri: ignore -->", (), ["unused-ignore"]),
        ("x <!-- doiuri: ignore -->", ("--select=unused-ignore",), []),
    ],
    ids=[
        "used",
        "found",
        "unknown",
        "found beside unknown",
        "not checked",
        "others",
        "all codes",
        "selected",
    ],
)
def test_a_comment_is_unused_only_if_its_code_was_checked(
    text: str, options: tuple[str, ...], left: list[str], cache: Path
) -> None:
    assert codes("a.md", text, "--cache", cache, *options) == left


@pytest.mark.parametrize(
    ("path", "text", "place", "message"),
    [
        ("a.py", "x = 1  # doiuri: ignore[syntax]\n", (1, 8, 1, 32), "no syntax to ignore"),
        ("a.md", "x <!-- doiuri: ignore[not-http] -->", (1, 3, 1, 36), "unknown code not-http"),
        ("a.md", "\n x <!-- doiuri: ignore -->", (2, 4, 2, 27), "nothing to ignore"),
    ],
)
def test_an_unused_comment_is_told_at_its_place(
    path: str, text: str, place: tuple[int, ...], message: str
) -> None:
    (finding,) = findings(path, text)
    assert tuple(finding[name] for name in ("line", "column", "end_line", "end_column")) == place
    assert finding["message"] == message


def notebook(*cells: tuple[str, list[str], list[str]]) -> str:
    """A notebook of cells, each with its type, its tags and its lines."""
    described = [
        {"cell_type": kind, "metadata": {"tags": tags}, "source": source, "outputs": []}
        for kind, tags, source in cells
    ]
    return json.dumps({"cells": described, "metadata": {}, "nbformat": 4}, indent=1)


def test_comments_and_tags_in_notebooks_are_for_their_cell(cache: Path) -> None:
    text = notebook(
        ("markdown", [], [f"<{OLD}> {HIDE}"]),
        ("code", [], [f"# {OLD} # doiuri: ignore[not-https]"]),
        ("markdown", ["doiuri: ignore[not-https]"], [f"<{OLD}>"]),
        ("markdown", [], [f"<{OLD}>"]),
    )
    found = findings("a.ipynb", text, "--cache", cache)
    assert [(finding["cell"], finding["code"]) for finding in found] == [(4, "not-https")]


@pytest.mark.parametrize(
    ("tag", "text", "expected"),
    [
        ("doiuri: ignore[not-https]", f"<{OLD}>", []),
        ("doiuri: ignore[raw-link , not-https ]", f"<{OLD}>", ["the tag of the cell: no raw-link to ignore"]),
        ("doiuri: ignore", f"<{OLD}>", []),
        ("doiuri: ignore[not-https, doubled]", f"<{OLD}>", ["the tag of the cell: no doubled to ignore"]),
        ("doiuri: ignore[not-https]", "# Results", ["the tag of the cell: no not-https to ignore"]),
        ("doiuri: ignore[htps]", "# Results", ["the tag of the cell: unknown code htps"]),
        ("doiuri: ignore[not-found]", "<https://doi.org/10.1000/unknown>", []),
    ],
)  # fmt: skip
def test_a_tag_of_a_cell_that_ignores_nothing_is_told(
    tag: str, text: str, expected: list[str], cache: Path
) -> None:
    file = notebook(
        ("code", [], ["x = 1"]), ("markdown", [tag], [text]), ("markdown", [], ["doi:10.1000/182"])
    )
    found = findings("a.ipynb", file, "--cache", cache)
    assert [finding["message"] for finding in found] == expected
    assert {finding["cell"] for finding in found} <= {2}


def test_an_unused_comment_in_a_notebook_has_its_place_in_the_file(tmp_path: Path) -> None:
    text = notebook(
        ("markdown", [], ["doi:10.1000/182\n", f"é\t{HIDE}"]),
        ("code", [], [f"# {DEAD}\n", "x = 1\n", "y = 2  # doiuri: ignore[not-https] doi:10.1000/182"]),
    )
    options = "--select=unused-ignore,not-https", "-o", f"sarif:{tmp_path / 'a.sarif'}"
    assert [(one["cell"], one["line"]) for one in findings("a.ipynb", text, *options)] == [(1, 2), (2, 3)]
    (run,) = json.loads((tmp_path / "a.sarif").read_text())["runs"]
    for result in run["results"]:
        region = result["locations"][0]["physicalLocation"]["region"]
        line = text.splitlines()[region["startLine"] - 1]
        assert line[region["startColumn"] - 1 :].lstrip().startswith(("<!-- doiuri", "doiuri", "# doiuri"))


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("a.md", f"{OLD} <!-- doiuri: ignore --> "),
        ("a.md", f"{HIDE}\n"),
        ("a.tex", "% doiuri: ignore[<!-- doiuri: ignore "),
    ],
)
def test_many_comments_take_linear_time(path: str, unit: str) -> None:
    def read(path: str, unit: str, size: int) -> list[str]:
        return codes(path, unit * (size // len(unit)))

    assert is_linear(partial(read, path, unit), 5_000, 50_000)
