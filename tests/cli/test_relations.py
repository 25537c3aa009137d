"""All at once is one by one, in any order and from anywhere; spelling does not matter."""

from __future__ import annotations

import json
import os
import subprocess
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from doiuri.resolver import LockContent
from support.checks import assert_same
from support.cli.command import (
    codes,
    doiuri,
    findings,
    fixed,
    places,
    places_in_files,
    remember,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

LINK = "http://dx.doi.org/10.1000/{}"
FORMS = {
    "a.txt": "See {}\nand {} there.\n",
    "a.md": "<{}>\n\n- {}\n",
    "a.rst": "`x <{}>`__\n\n{}\n",
    "a.html": '<a href="{}">x</a>\n<p>{}</p>\n',
    "a.tex": "\\href{{{}}}{{x}}\n100\\% {}\n",
    "a.bib": "@misc{{a, url = {{{}}}}}\n@misc{{b, note = {{{}}}}}\n",
    "a.ris": "TY - JOUR\nUR - {}\nN1  - {}\nER  - \n",
    "a.yaml": "a: &b x\nc: *b\nd: {}\ne: [*b, '{}']\n",
    "b.json": '[{{"id": "a", "type": "book", "doi": "10.1000/0", "URL": "{}", "note": "{}"}}]',
    "lines.json": '{{"id": "a", "type": "book", "doi": "10.1000/0", "URL": "{}"}}\n\n'
    '{{"id": "b", "type": "book", "doi": "10.1000/00", "URL": "{}"}}\n',
    "a.py": "# {}\ndef f():\n    '''See {} there.'''\n",
    "a.ipynb": '{{"cells": [{{"cell_type": "markdown", "source": ["A\\n", "<{}>"]}}, '
    '{{"cell_type": "markdown", "source": ["{}"]}}], "nbformat": 4}}',
    "a.R": "#' {}\nf(x)\n  # {}\n",
}


@pytest.mark.parametrize("path", FORMS)
def test_the_same_dois_are_found_and_fixed_in_each_syntax(path: str) -> None:
    """Each link is told at its place, and a fix changes its head only."""
    text = FORMS[path].format(LINK.format("a"), LINK.format("b"))
    words = "find", "--isolated", "-", "--stdin-filename", path

    everything = places(path, text)
    listed = doiuri(*words, stdin=text.encode()).stdout
    found = findings(path, text)
    once = fixed(path, text)

    links = [place for place in everything if not place["doi"].startswith("10.1000/0")]
    assert listed.splitlines() == [concise(path, place) for place in everything]
    assert [place["doi"] for place in links] == ["10.1000/a", "10.1000/b"]
    assert [finding["code"] for finding in found] == ["not-https", "not-https"]
    assert [*map(start_and_doi, found)] == [*map(start_and_doi, links)]
    assert once == text.replace("http://dx.", "https://")
    assert fixed(path, once) == once


def concise(path: str, place: dict[str, Any]) -> str:
    """Return the line that ``find`` prints for a DOI."""
    cell = f"cell {place['cell']}:" if place["cell"] else ""
    return f"{path}:{cell}{place['line']}:{place['column']}: {place['doi']}"


def start_and_doi(place: dict[str, Any]) -> tuple[int, int, str]:
    return place["line"], place["column"], place["doi"]


NAMES = [
    "10.1206/0003(2000)286[1:t]2.0.CO;2",
    "10.1175/1520(1999)012:1.2.0.co;2-x",
    "10.1000/a(b,c)d",
]
LISTS = {
    "a.txt": "{}\n{}\n",
    "a.md": "- {}\n- {}\n\n| {} | x |\n",
    "a.rst": "{}\n{}\n",
    "a.html": "<p>{}\n{}</p><td>{}</td>",
    "a.tex": "{}\\\\\n{}\n",
    "a.bib": "@misc{{a, note = {{{}\n{}}}}}",
    "a.ris": "TY  - JOUR\nN1  - {}\nN1  - {}\nER  - \n",
    "a.yaml": "note: |\n  {}\n  {}\nnotes: ['{}']\n",
    "a.py": "# {}\n# {}\n",
    "a.R": "#' {}\n#' {}\n",
    "a.ipynb": '{{"cells": [{{"cell_type": "markdown", "source": ["{}\\n", "{}"]}}], "nbformat": 4}}',
}


SEPARATORS = ["; ", ";", ",", ", ", " ", "|"]


@pytest.mark.parametrize("path", LISTS)
def test_a_name_among_others_is_the_name_alone(path: str) -> None:
    form = LISTS[path]
    count = form.count("{}")
    expected = {form.format(name, *[""] * (count - 1)): [name] for name in NAMES}
    expected[form.format(*NAMES[:count])] = NAMES[:count]
    for separator in SEPARATORS:
        row = separator.join(NAMES)
        expected[form.format(*[row] * count)] = NAMES * count

    found = places_in_files((path, text) for text in expected)

    names_of = {
        text: [place["doi"] for place in places]
        for text, places in zip(expected, found, strict=True)
    }
    assert_same("the names in a text", names_of, expected)


SPELLINGS = [
    "10.1000/AbC",
    "10.1000/abc",
    "doi:10.1000/ABC",
    "DOI:10.1000/abc",
    "https://doi.org/10.1000/aBC",
]
SPELLINGS += ["HTTPS://DOI.ORG/10.1000/abc", "https://doi.org/10.1000/a%62c", "doi:DOI:10.1000/abc"]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_spelling_has_the_same_answer_acceptance_and_duplicate(
    spelling: str, tmp_path: Path
) -> None:
    remember(tmp_path / "cache", {"10.1000/abc": False})
    told = findings("a.txt", spelling, "--cache", tmp_path / "cache", "--select=not-found")
    assert [one["code"] for one in told] == ["not-found"]
    for accepted in ("10.1000/abc", "10.1000/ABC"):
        lock = tmp_path / f"{accepted[-3:]}.json"
        content = LockContent()
        content.accepted[accepted] = "an example"
        lock.write_bytes(content.render())
    lock = tmp_path / "ABC.json"
    options = (
        "--cache",
        tmp_path / "cache",
        "--lock",
        lock,
        "--locked",
        "--select=not-found,lock-missing",
    )
    assert codes("a.txt", spelling, *options) == []
    text = f"@misc{{a, doi = {{10.1000/abc}}}}\n@misc{{b, doi = {{{spelling}}}}}\n"
    assert codes("a.bib", text, "--select=duplicate") == ["duplicate"]
    (tmp_path / "a.txt").write_text(f"{spelling} 10.1000/ABC\n")
    assert len(doiuri("find", "--unique", tmp_path / "a.txt").stdout.splitlines()) == 1
    (tmp_path / "doiuri.toml").write_text('[ignore]\n"10.1000/aBc" = ["not-found"]\n')
    config = "--config", tmp_path / "doiuri.toml"
    assert (
        codes("a.txt", spelling, "--cache", tmp_path / "cache", *config, "--select=not-found") == []
    )


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a submodule, files that git ignores in both, a configuration and a lock file."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    top = tmp_path / "tree"
    for name in [
        *(
            "a.md",
            "docs/b.md",
            "docs-old/c.md",
            "sub/d.md",
            "sub/ignored.md",
            "z/ignored.md",
            "z/e.f90",
        )
    ]:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(f"{LINK.format(len(name))} doi:10.1000/x{name[0]}\n")
    (top / ".gitignore").write_text("/z/ignored.md\n")
    (top / "sub" / ".gitignore").write_text("ignored.md\n")
    (top / "doiuri.toml").write_text(
        'extensions = { ".f90" = "text" }\n[per-file-ignores]\n"/docs/" = ["not-https"]\n'
    )
    (top / "doi.lock.json").write_text('{"doiuri-lock": 1}')
    for folder in (top, top / "sub"):
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return top


def listed(folder: Path, *words: object) -> list[tuple[str, ...]]:
    run = doiuri("check", "--offline", "-q", "-o", "json", *words, cwd=folder)
    members = "line", "column", "end_line", "end_column", "code", "doi"
    top = next(path for path in (folder, *folder.parents) if path.name == "tree")
    found = []
    for finding in json.loads(run.stdout):
        path = os.path.relpath(folder / finding["path"], top)
        found.append((path, *(str(finding[member]) for member in members)))
    return sorted(found)


def listed_one_by_one(folder: Path, paths: Iterable[object]) -> list[tuple[str, ...]]:
    """Return what is listed if the command is run for each path."""
    return sorted(chain.from_iterable(listed(folder, path) for path in paths))


@pytest.mark.parametrize("start", [".", "docs", "sub", "z"])
def test_where_one_stands_does_not_matter(tree: Path, start: str) -> None:
    everything = listed(tree, "--ignore=lock-unused")
    files = {"a.md", "docs/b.md", "docs-old/c.md", "sub/d.md", "z/e.f90"}
    assert {one[0] for one in everything} == files
    assert {one[0] for one in everything if one[5] == "not-https"} == files - {"docs/b.md"}
    here = tree / start
    for path in (tree, os.path.relpath(tree, here), f"../{tree.name}" if start == "." else "../"):
        assert listed(here, path) == everything
    assert listed_one_by_one(here, [tree / name for name in files]) == everything


@pytest.mark.parametrize("jobs", [1, 2])
def test_all_at_once_is_one_by_one_in_any_order(tree: Path, jobs: int) -> None:
    files = ["z/e.f90", "a.md", "sub/d.md", "docs/b.md", "docs-old/c.md"]
    everything = listed(tree, "-j", jobs, *files, "a.md")
    assert everything == listed(tree, *reversed(files))
    assert everything == listed_one_by_one(tree, files)
    found = [doiuri("find", name, cwd=tree).stdout for name in files]
    assert doiuri("find", *files, "-j", jobs, cwd=tree).stdout == "".join(found)
    doiuri("fix", "-q", "-j", jobs, *files, cwd=tree)
    at_once = [(tree / name).read_text() for name in files]
    for name in files:
        (tree / name).write_text((tree / name).read_text().replace("https://", "http://dx."))
        doiuri("fix", "-q", name, cwd=tree)
    assert [(tree / name).read_text() for name in files] == at_once


@pytest.mark.parametrize("words", ["check -qojson", "find", "fix --diff", "lock --check -q"])
def test_files_are_named_as_arguments_in_a_list_or_on_standard_input(
    words: str, tmp_path: Path
) -> None:
    texts = {
        "a.md": b"<http://doi.org/10.1000/a>",
        "x.html": b'<a href="http://doi.org/10.1000/d&amp;e">',
    }
    for name, text in (texts | {"list": b"x.html\r\n\nno doi.md", "no doi.md": b""}).items():
        (tmp_path / name).write_bytes(text)
    ways = {
        "a.md x.html": b"",
        "a.md --files-from=list": b"",
        "--files-from=-": b"a.md\0x.html\0no doi.md\0",
    }
    runs = [
        doiuri(*words.split(), *way.split(), cwd=tmp_path, stdin=stdin, DOIURI_OFFLINE="1")
        for way, stdin in (ways | {"a.md - --stdin-filename=x.html": texts["x.html"]}).items()
    ]
    assert [(run.stdout, run.returncode) for run in runs] == [
        (runs[0].stdout, runs[0].returncode)
    ] * 4
    assert "10.1000/d&" in runs[0].stdout


def test_only_a_search_of_the_whole_tree_tells_what_no_file_uses(tree: Path) -> None:
    accepted = "lock", "--offline", "--accept", "10.1000/unused", "--reason", "a test"
    assert doiuri(*accepted, cwd=tree).returncode == 0
    for number, ignoring in enumerate(("ignore]\n'10.1000/UNUSED'", "per-file-ignores]\n'*.json'")):
        (tree / f"{number}.toml").write_text(f"[{ignoring} = ['lock-unused']")
    ignored = [((".", f"--config={number}.toml"), False) for number in (0, 1)]
    for words, is_told in (
        *ignored,
        ((".",), True),
        (("docs",), False),
        (("a.md",), False),
        ((tree,), True),
    ):
        assert any(one[5] == "lock-unused" for one in listed(tree, *words)) == is_told, words
