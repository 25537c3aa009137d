"""Any text gives DOIs at their places or an error in words, never a traceback, in linear time."""

from __future__ import annotations

import json
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doiuri import DOI, find
from doiuri.testing import strategies as dois
from hypothesis import given
from hypothesis import strategies as st
from support.adversary import PATTERNS
from support.cli.command import doiuri, findings, fixed, names, piece, places, places_in_files
from support.growth import is_linear, not_linear

if TYPE_CHECKING:
    from collections.abc import Sequence

MARKUP = ("a.md", "a.rst", "a.html", "a.xml", "a.bib", "a.tex", "a.txt")
DATA = (
    "a.ipynb",
    "a.py",
    "CITATION.cff",
    "a.yaml",
    "a.json",
    ".zenodo.json",
    "codemeta.json",
    "a.ris",
)
PIECES = json.loads(Path(__file__).with_name("hostile.json").read_text("utf-8"))
MARKUP_PIECES = PIECES["markup"]
DATA_PIECES = PIECES["data"]
MARKUP_TEXTS = st.lists(
    st.sampled_from([*PATTERNS, *MARKUP_PIECES]) | st.text(max_size=4), max_size=14
).map("".join)
DATA_TEXTS = st.lists(st.sampled_from(DATA_PIECES), max_size=15).map("".join)
FILES = st.tuples(st.sampled_from(MARKUP), MARKUP_TEXTS) | st.tuples(
    st.sampled_from(DATA), DATA_TEXTS
)
CELLS = [
    {
        "cell_type": "markdown",
        "metadata": {"tags": ["doiuri: ignore[syntax]"]},
        "source": ["10.1000/é\n"],
    },
    {"cell_type": "code", "outputs": [{"text": "10.1000/x"}], "source": "# 10.1000/a\n'10.1000/b'"},
]
NOTEBOOK = json.dumps({"cells": CELLS, "metadata": {}, "nbformat": 4})


@given(FILES)
def test_any_text_is_read_checked_and_fixed(file: tuple[str, str]) -> None:
    """The DOIs found are in the file and in order; a safe fix keeps them, and leaves nothing to a second."""
    name, text = file
    text = text.replace("\0", "")
    found = places(name, text)
    starts = [(one["cell"] or 0, one["line"], one["column"]) for one in found]
    assert starts == sorted(starts)
    if name == "a.txt":
        assert [piece(text, one) for one in found] == [one["text"] for one in found]
    findings(name, text)
    once = fixed(name, text)
    assert [DOI(one).key for one in names(name, once)] == [DOI(one["doi"]).key for one in found]
    assert fixed(name, once) == once


@given(st.sampled_from(DATA), st.binary(max_size=60))
def test_any_bytes_are_read_or_said_to_be_no_text(name: str, content: bytes) -> None:
    run = doiuri("find", "--isolated", "-", "--stdin-filename", name, stdin=content)
    assert run.returncode == 0 or "which its byte order mark says" in run.stderr, run


def test_a_truncated_notebook_is_no_notebook() -> None:
    found = [f"{one['cell']} {one['doi']}" for one in places("a.ipynb", NOTEBOOK)]
    assert found == ["1 10.1000/é", "2 10.1000/a", "2 10.1000/b"]
    for length in range(len(NOTEBOOK) - 1, NOTEBOOK.index('"'), -3):
        run = doiuri("find", "-", "--stdin-filename=a.ipynb", stdin=NOTEBOOK[:length].encode())
        assert "read as plain text" in run.stderr, NOTEBOOK[:length]
        assert not run.stderr.endswith(" at\n"), NOTEBOOK[:length]


NESTING = dict.fromkeys(("[", "{", '{"a":', "- ", "(", "a: [", "? ", "\\"), 3_000)
"""More than Python's stack holds."""


@pytest.mark.parametrize("name", DATA)
def test_deep_nesting_and_very_long_lines_are_read_or_said(name: str) -> None:
    texts = [unit * times for unit, times in [*NESTING.items(), ("x " * 25, 5_000)]]
    before = [(name, f'"DOI" "type" "cells" doi {text}') for text in texts]
    after = [(name, f"{text}doi") for text in texts]

    places_in_files(before + after)


def test_a_file_of_many_aliases_is_not_expanded() -> None:
    """Expanded, these ten lines would have ten to the ninth strings."""
    lines = ["a0: &a0 doi:10.1000/x"]
    lines += [f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 10)}]" for n in range(9)]
    assert names("bomb.yaml", "\n".join(lines)) == ["10.1000/x"]


@pytest.mark.parametrize(
    ("name", "text", "line", "column", "message"),
    [
        ("a.ipynb", '{"cells": [\n{"a" 1}]}', 2, 6, "Expecting ':' delimiter"),
        ("a.ipynb", f'{{"cells": {"[" * 300}{"]" * 300}}}', 1, 210, "more than 200 levels"),
        ("a.ipynb", '{"a": 1}', 1, 1, "not a notebook: it has no cells"),
        (".zenodo.json", '{\n"a" 1}', 2, 5, "Expecting ':' delimiter"),
        ("codemeta.json", "", 1, 1, "Expecting value"),
        ("a.ris", "doi:10.1000/1", 1, 1, "not RIS: "),
    ],
    ids=["notebook", "levels", "no cells", "Zenodo", "empty", "RIS"],
)
def test_what_is_not_what_its_name_says_is_told_at_its_place(
    name: str, text: str, line: int, column: int, message: str
) -> None:
    (finding,) = findings(name, text, "--select=unreadable")
    assert (finding["line"], finding["column"]) == (line, column)
    assert finding["message"].startswith(f"read as plain text: {message}")


MARKUP_UNITS = [f"{piece}10.1000/182 doi" for piece in MARKUP_PIECES]
UNITS = PIECES["units"] | dict.fromkeys(MARKUP[:-1], MARKUP_UNITS)
FRAMES = {name: ["{0}"] for name in MARKUP[:-1]} | PIECES["frames"]
SIGNS = '10./d\\"{\n '
FRAGMENTS = [*SIGNS, *map("".join, combinations(SIGNS, 2))]


@pytest.mark.parametrize("name", FRAMES)
def test_a_text_that_repeats_itself_is_read_in_linear_time(name: str) -> None:
    def read(cases: Sequence[tuple[str, str]], size: int) -> None:
        """Read a file for each case in one run."""
        places_in_files(
            (name, frame.format(unit * 2 * (size // len(unit * 2) + 1))) for frame, unit in cases
        )

    cases = [*product(FRAMES[name], UNITS[name]), *product(FRAMES[name][:1], FRAGMENTS)]

    slow = not_linear(read, cases, 400, 3_200)

    assert not slow, f"{name}: more than linear time for a text that repeats {slow}"


UNITS_TOLD = [
    *(
        ("a.txt", "https://doi.org/10.1000/1#"),
        ("a.md", "http://dx.doi.org/10.1000/182 <!-- doiuri: ignore --> "),
    ),
    *(
        ("a.md", "<!-- doiuri: ignore[not-https] -->\n"),
        ("a.tex", "% doiuri: ignore[<!-- doiuri: ignore "),
    ),
]


@pytest.mark.parametrize(("name", "unit"), UNITS_TOLD)
def test_many_links_and_comments_are_checked_in_linear_time(name: str, unit: str) -> None:
    assert is_linear(lambda size: findings(name, unit * (size // len(unit))), 5_000, 50_000)


def agrees_with_the_core(text: str) -> None:
    assert names("a.txt", text) == [match.doi.name for match in find(text)], text


@given(dois.dois())
def test_each_name_is_found_with_and_without_a_label(doi: DOI) -> None:
    """Most files are passed over by a quick look, which must not miss any."""
    for text in (
        f"see {doi.name} there",
        f"doi:{doi.name}",
        f"dOi:{doi.name}",
        f"Hdl: {doi.name}",
        doi.url,
    ):
        agrees_with_the_core(text)


LABELS = (
    "hdl:10.1/a", "HDL:10.1/a", "dOI 10.12/a", "DOI: 10.1/a", "10.1000/182", "10.1000.10/a", "10.1000%2Fa",
    "urn:doi:10.1:a", "v10.2/guide.html", "10.5", "10.2: new", "10\\%", "2010/11", "a 10.4 rate", "a DOI",
    "doi:10.12/x", "word (", "3.14",
)  # fmt: skip


@pytest.mark.parametrize("text", LABELS)
def test_labels_are_signs_and_decimals_and_versions_are_none(text: str) -> None:
    for other in LABELS:
        agrees_with_the_core(f"{text}\n{other}")
