"""Any text gives DOIs at their places or an error in words, never a traceback, in linear time."""

from __future__ import annotations

import json
from functools import partial
from itertools import product
from pathlib import Path

import pytest
from doiuri import DOI, find
from doiuri.testing import strategies as dois
from hypothesis import given
from hypothesis import strategies as st
from support.adversary import PATTERNS
from support.cli.command import doiuri, findings, fixed, names, piece, places
from support.growth import is_fast, is_linear

MARKUP = ("a.md", "a.rst", "a.html", "a.xml", "a.bib", "a.tex", "a.txt")
DATA = ("a.ipynb", "a.py", "CITATION.cff", "a.yaml", "a.json", ".zenodo.json", "codemeta.json", "a.ris")
# fmt: off
MARKUP_PIECES = (
    *PATTERNS, "10.1000/182", "doi:10.12/x", "https://doi.org/10.1000/a", "https://doi.org/10.1O00/a",
    "doi:bad",
    "\n", "\r\n", "\n\n", "    ", "\t", "`", "``", "```", "~~~", "```{note}\n", "<!--", "-->", "<code>",
    "</code>",
    "---\n", "+++\n", "doi: ", "::\n\n", ".. ", ".. code::\n", ">>> ", "- ", ":doi:`", "{doi}`", "](",
    "](doi:",
    "@article{a,", "@string{s = ", "@comment{", "doi = {", 'doi = "', "}", '"', " # ", "s", ",", "%",
    "\\%", "{",
    "(", "\\doi{", "\\url{", "\\verb|", "\\begin{verbatim}", "\\end{verbatim}", "\\iffalse", "\\fi",
    "\\end{document}", "<script>", "</script>", "<pre>", "</pre>", 'content="', 'citation_doi" ', "\\",
    "\x00", "é",
)
DATA_PIECES = (
    '"', "'", '"""', "'''", "\\", "\n", "\r\n", "#", "(", "]", "{", "}", ":", ": ", "- ", ", ", "&a ",
    "*a", "!t ",
    "|\n  ", ">-\n ", "? ", "...\n", "---\n", "def f():\n ", "10.1000/a", "doi:10.1000/b ", '"DOI": ',
    '"type": ""',
    "TY  - ", "\nDO  - ", "\\u00e9", "\\ud83d\\ude00", "\\ud83d", "\\N{x}", "\0", "\x85", "\u2028", " ",
    "\t",
    '"cells"',
)
# fmt: on
MARKUP_TEXTS = st.lists(st.sampled_from(MARKUP_PIECES) | st.text(max_size=4), max_size=14).map("".join)
DATA_TEXTS = st.lists(st.sampled_from(DATA_PIECES), max_size=15).map("".join)
FILES = st.tuples(st.sampled_from(MARKUP), MARKUP_TEXTS) | st.tuples(st.sampled_from(DATA), DATA_TEXTS)
CELLS = [
    {"cell_type": "markdown", "metadata": {"tags": ["doiuri: ignore[syntax]"]}, "source": ["10.1000/é\n"]},
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
    assert [(one["cell"], one["doi"]) for one in places("a.ipynb", NOTEBOOK)] == [
        *((1, "10.1000/é"), (2, "10.1000/a"), (2, "10.1000/b"))
    ]
    cut = [length for length in range(len(NOTEBOOK)) if '"' in NOTEBOOK[:length]]
    read = [
        length
        for length in cut
        if "read as plain text"
        not in doiuri("find", "-", "--stdin-filename=a.ipynb", stdin=NOTEBOOK[:length].encode()).stderr
    ]
    assert read == []


@pytest.mark.parametrize("unit", ["[", "{", '{"a":', "- ", "(", "a: [", "? ", "\\"])
@pytest.mark.parametrize("name", DATA)
def test_deep_nesting_is_read_or_said(name: str, unit: str) -> None:
    names(name, f'"DOI" "type" "cells" doi {unit * 20_000}')
    names(name, unit * 20_000 + "doi")


@pytest.mark.parametrize("name", DATA)
def test_a_line_of_megabytes_is_read(name: str) -> None:
    names(name, "x " * 1_000_000 + "doi")


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


# fmt: off
UNITS = {
    "a.ipynb": ['"a",', "\\n", "\\\\", '","', "é", "\\u00e9 10.1000/a "],
    "a.py": [
        "'a10'", '"do"\n', "'\\", "# 10 ", '"""10', "f('10')", "'10.1/a'\n",
        '"10.1/a" ', "# doi:x\n", "'doi:x'\n", "';'10.1/a';", "\\'", "def f(", "\\\n",
    ],
    "a.yaml": [
        "\\x41", "# 10.1/a\n", "10.1/a\n  ", "- 10.1/a\n", "'", '\\" ', "a: ", "a:\n ", "- ", "[a: ", "&a ",
        "!a,", "|\n", "x \n\n",
    ],
    "a.json": ["\\u0041", '", "', "10.1/a "],
    "a.ris": ["DO  - 10.1/a\n", "TY  - ", "N1  -"],
} | {name: [f"{piece}10.1000/182 doi" for piece in MARKUP_PIECES[len(PATTERNS) :]] for name in MARKUP[:-1]}
FRAMES = {
    "a.ipynb": [
        '{{"cells": [{{"cell_type": "markdown", "source": ["doi {0}"]}}]}}',
        '{{"cells": [], "outputs": ["{0}"]}}',
    ],
    "a.py": ["doi:x {0}", '"""doi:x {0}"""'],
    "a.yaml": ['doi: "{0}"', "doi: '{0}'", "doi: {0}", "doi: |\n  {0}", "- doi\n{0}"],
    "a.json": ['[{{"type": "a", "DOI": "{0}"}}]'],
    "a.ris": ["TY  - a\n{0}", "TY  - a\nDO  - {0}"],
    "a.bib": ["{0}", "@a{{k, doi = {{{0}}} {0}"],
    "a.md": ["{0}", "---\ndoi: {0}\n---\n"],
} | {name: ["{0}"] for name in ("a.rst", "a.html", "a.xml", "a.tex")}
# fmt: on
# One of those that give the same text
FRAGMENTS = sorted(
    {
        min(fragment[place:] + fragment[:place] for place in range(length))
        for length in (1, 2)
        for fragment in map("".join, product('10./d\\"{\n ', repeat=length))
    }
)


@pytest.mark.parametrize("name", FRAMES)
def test_a_text_that_repeats_itself_is_read_in_linear_time(name: str) -> None:
    def read(frame: str, unit: str, size: int) -> None:
        names(name, frame.format(unit * 2 * (size // len(unit * 2) + 1)))

    units = product(FRAMES[name], (*FRAGMENTS, *UNITS[name]))
    slow = [case for case in units if not is_linear(partial(read, *case), 400, 3_200)]
    assert not slow, slow


def test_outputs_of_notebooks_are_passed_over_fast() -> None:
    """Five megabytes of pictures take less than a tenth of a second each."""
    output = {"data": {"image/png": "iVBORw0KGgo+/" * 80_000}}
    cell = {"cell_type": "code", "outputs": [output] * 5, "source": "# doi:10.1000/1"}
    text = json.dumps({"cells": [cell], "nbformat": 4})
    assert is_fast(lambda: names("a.ipynb", text), 0.5)


def agrees_with_the_core(text: str) -> None:
    assert names("a.txt", text) == [match.doi.name for match in find(text)], text


@given(dois.dois())
def test_each_name_is_found_with_and_without_a_label(doi: DOI) -> None:
    """Most files are passed over by a quick look, which must not miss any."""
    for text in (f"see {doi.name} there", f"doi:{doi.name}", f"dOi:{doi.name}", f"Hdl: {doi.name}", doi.url):
        agrees_with_the_core(text)


@given(st.lists(st.sampled_from(["10.1000/182", "doi:10.12/x", "word", "3.14", "(", "\n", " "]), max_size=9))
def test_a_text_that_is_passed_over_mentions_nothing(pieces: list[str]) -> None:
    agrees_with_the_core("".join(pieces))


SIGNS = (
    "hdl:10.1/a", "HDL:10.1/a", "dOI 10.12/a", "DOI: 10.1/a", "10.1000/182", "10.1000.10/a", "10.1000%2Fa",
    "urn:doi:10.1:a", "v10.2/guide.html", "10.5", "10.2: new", "10\\%", "2010/11", "a 10.4 rate", "a DOI",
)  # fmt: skip


@pytest.mark.parametrize("text", SIGNS)
def test_labels_are_signs_and_decimals_and_versions_are_none(text: str) -> None:
    agrees_with_the_core(text)


def strings_in(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in strings_in(part)]


UNREAD = {"\0", *map(chr, range(0xD800, 0xE000))}  # binary, or not to be encoded
SHARED = Path(__file__).parents[2] / "cases"


@pytest.mark.parametrize("file", sorted(SHARED.glob("**/*.json")), ids=lambda file: file.stem)
def test_the_shared_cases_are_found_in_texts(file: Path) -> None:
    texts = [text for text in strings_in(json.loads(file.read_text("utf-8"))) if UNREAD.isdisjoint(text)]
    text = "\n\n".join(texts)
    found = [name for name in names("a.txt", text) if not name.startswith("10/")]
    assert found == [match.doi.name for match in find(text)]
