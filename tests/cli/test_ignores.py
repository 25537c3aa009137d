"""Comments that let findings be ignored, in the comments of each type of file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.checks import assert_same
from support.cli.command import (
    codes,
    doiuri_process,
    findings,
    findings_in_files,
    register,
    remember,
)

OLD = "http://dx.doi.org/10.1000/182"
DEAD = "https://doi.org/10.5555/nope"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cache") / "answers.sqlite"
    remember(path, {"10.1000/182": True, "10.5555/NOPE": False, "10.5555/there": True})
    return path


GIVEN: dict[str, list[Any]] = json.loads(
    Path(__file__).with_name("ignores.json").read_text("utf-8")
)


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
def test_the_comment_of_each_type_ignores_its_codes(
    written: str, left: list[str], cache: Path
) -> None:
    files = [
        (path, text.replace("doiuri: ignore[CODE]", written)) for path, text in GIVEN["comments"]
    ]

    found = findings_in_files(files, "--cache", cache)

    codes_of = {
        file: sorted(one["code"] for one in told) for file, told in zip(files, found, strict=True)
    }
    assert_same(f"what {written} leaves in a file", codes_of, dict.fromkeys(files, left))


HIDE = "<!-- doiuri: ignore[not-https] -->"


@pytest.mark.parametrize("case", GIVEN["places"], ids=lambda case: case["about"])
def test_a_comment_is_for_its_place_and_unused_only_if_its_code_was_checked(
    case: dict[str, Any], cache: Path
) -> None:
    found = codes(case["path"], case["text"], "--cache", cache, *case.get("options", ()))
    assert found == case["left"]


@pytest.mark.parametrize("line", range(4))
def test_a_comment_on_any_line_of_a_finding_is_for_it(line: int, cache: Path) -> None:
    lines = ["\\url{http://doi.org/%", "10.1000/%", "182}", "end"]
    lines[line] = lines[line].removesuffix("%") + "% doiuri: ignore[not-https]"
    found = codes("a.tex", "\n".join(lines), "--cache", cache, "--select=not-https,unused-ignore")
    assert found == ([] if line < 3 else ["not-https", "unused-ignore"])


def test_a_comment_is_not_unused_if_the_lock_file_has_no_answer(tmp_path: Path) -> None:
    (tmp_path / "doi.lock.json").write_text('{"doiuri-lock": 1}')
    options = "--locked", "--lock", tmp_path / "doi.lock.json", "--select=not-found,unused-ignore"
    assert codes("a.md", f"<{DEAD}> <!-- doiuri: ignore[not-found] -->", *options) == []


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


@pytest.mark.parametrize(("tag", "text", "expected"), GIVEN["tags"])
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
        (
            "code",
            [],
            [f"# {DEAD}\n", "x = 1\n", "y = 2  # doiuri: ignore[not-https] doi:10.1000/182"],
        ),
    )
    options = "--select=unused-ignore,not-https", "-o", f"sarif:{tmp_path / 'a.sarif'}"
    assert [(one["cell"], one["line"]) for one in findings("a.ipynb", text, *options)] == [
        (1, 2),
        (2, 3),
    ]
    (run,) = json.loads((tmp_path / "a.sarif").read_text())["runs"]
    for result in run["results"]:
        region = result["locations"][0]["physicalLocation"]["region"]
        line = text.splitlines()[region["startLine"] - 1]
        assert (
            line[region["startColumn"] - 1 :]
            .lstrip()
            .startswith(("<!-- doiuri", "doiuri", "# doiuri"))
        ), result


CELLS = """
from doiuri_cli import Part
def whole(source): yield Part(source.text, ignored=frozenset("*"))
def cell(source): yield Part(source.text, cell=1, ignored=frozenset("*"))
"""


def test_what_a_part_ignores_counts_only_in_a_cell(tmp_path: Path) -> None:
    register(tmp_path, "cells", CELLS, {".whole": "whole", ".cell": "cell"})
    for name in ("a.whole", "a.cell"):
        (tmp_path / name).write_text(OLD)

    words = "check", "--isolated", "--offline", "-q", "-o", "concise", "."
    run = doiuri_process(*words, cwd=tmp_path, PYTHONPATH=str(tmp_path))

    assert run.stdout == f"a.whole:1:1: warning[not-https] {OLD} [*]\n"
