"""Any text gives parts or ReadError and never another error, places within the file, in linear time."""

from __future__ import annotations

import contextlib
import json
from functools import partial
from itertools import product

import pytest
from doiuri import find
from doiuri_cli import Part, ReadError, Source
from doiuri_cli._mentions import mentions_in
from doiuri_cli.readers import may_mention, parts_of
from doiuri_cli.readers._markup import html_without_code as html
from doiuri_cli.readers._markup import markdown_without_code as markdown
from doiuri_cli.readers._markup import rst_without_code as rst
from doiuri_cli.readers._markup import tex_without_code as tex
from doiuri_cli.rules._keep import escape
from hypothesis import given
from hypothesis import strategies as st
from support.adversary import PATTERNS
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


def read(name: str, text: str) -> list[Part] | None:
    """The parts of a file; None if it cannot be read. Checks that mentions are where they are said to be."""
    try:
        parts = [*parts_of(Source(name, text))]
    except ReadError:
        return None
    for part in parts:
        last = 0
        assert part.places is None or len(part.places) == len(part.text) + 1
        for mention in mentions_in(part):
            assert part.text[mention.start : mention.end] == mention.text
            assert (mention.doi is None) == (mention.error is not None)
            start, end = part.span(*mention.span)
            assert 0 <= start < end <= len(text)
            assert last <= start  # in order
            last = end
    return parts


@given(FILES)
def test_mentions_are_in_the_file_and_in_order(file: tuple[str, str]) -> None:
    read(*file)


@given(st.sampled_from(DATA), st.binary(max_size=60))
def test_any_bytes_can_be_read(name: str, content: bytes) -> None:
    read(name, Source.from_bytes(name, content.removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff")).text)


@given(MARKUP_TEXTS, st.sampled_from(["a.md", "a.rst", "a.html", "a.tex", "a.txt"]))
def test_only_blanks_are_put_in_the_place_of_code(text: str, name: str) -> None:
    for part in parts_of(Source(name, text)):
        original = text[part.start : part.start + len(part.text)]
        for new, old in zip(part.text, original, strict=True):
            assert new == old or (new == " " and old not in "\r\n")


def test_text_without_code_stays_the_same_object() -> None:
    text = "No code, but 10.1000/182 and doi:10.12/x.\n\nMore.\n"
    for without_code in (html, markdown, rst, tex):
        assert without_code(text) is text


def test_a_truncated_notebook_is_no_notebook() -> None:
    whole = read("a.ipynb", NOTEBOOK)
    assert whole is not None
    found = [(part.cell, part.text) for part in whole]
    assert found == [(1, "10.1000/é\n"), (2, " 10.1000/a"), (2, "10.1000/b")]
    assert [length for length in range(len(NOTEBOOK)) if read("a.ipynb", NOTEBOOK[:length]) is not None] == []


@pytest.mark.parametrize("name", DATA)
def test_deep_nesting_and_a_line_of_ten_megabytes(name: str) -> None:
    for unit in ("[", "{", '{"a":', "- ", "(", "a: [", "? ", "\\"):
        read(name, f'"DOI" "type" "cells" doi {unit * 100_000}')
        read(name, unit * 100_000 + "doi")
    read(name, "x " * 5_000_000 + "doi")


def test_a_file_of_many_aliases_is_not_expanded() -> None:
    """Expanded, these ten lines would have ten to the ninth strings."""
    lines = ["a0: &a0 doi:10.1000/x"]
    lines += [f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 10)}]" for n in range(9)]
    parts = read("bomb.yaml", "\n".join(lines))
    assert parts is not None
    assert [part.text for part in parts] == ["doi:10.1000/x"]


def test_what_cannot_be_read_is_said_with_its_place() -> None:
    for name, text, message in (
        ("a.ipynb", '{"cells": [\n{"a" 1}]}', "line 2, column 6: Expecting ':' delimiter"),
        ("a.ipynb", f'{{"cells": {"[" * 300}{"]" * 300}}}', "line 1, column 210: more than 200 levels"),
        ("a.ipynb", '{"a": 1}', "not a notebook: it has no cells"),
        (".zenodo.json", '{\n"a" 1}', "line 2, column 5: "),
        ("codemeta.json", "", "line 1, column 1: "),
        ("a.ris", "doi:10.1000/1", "not RIS: "),
    ):
        with pytest.raises(ReadError) as caught:
            list(parts_of(Source(name, text)))
        assert str(caught.value).startswith(message)


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
        for length in (1, 2, 3)
        for fragment in map("".join, product('10./d\\"{\n ', repeat=length))
    }
)


def read_times(name: str, frame: str, unit: str, size: int) -> None:
    with contextlib.suppress(ReadError):
        for part in parts_of(Source(name, frame.format(unit * 2 * (size // len(unit * 2) + 1)))):
            list(mentions_in(part))


@pytest.mark.parametrize("name", FRAMES)
def test_a_text_that_repeats_itself_is_read_in_linear_time(name: str) -> None:
    for frame in FRAMES[name]:
        for unit in (*FRAGMENTS, *UNITS[name]):
            assert is_linear(partial(read_times, name, frame, unit), 500, 4_000), (frame, unit)


def test_outputs_of_notebooks_are_passed_over_fast() -> None:
    """Five megabytes of pictures take less than a tenth of a second each."""
    output = {"data": {"image/png": "iVBORw0KGgo+/" * 80_000}}
    cell = {"cell_type": "code", "outputs": [output] * 5, "source": "# doi:10.1000/1"}
    text = json.dumps({"cells": [cell], "nbformat": 4})
    assert is_fast(lambda: read("a.ipynb", text), 0.5)


@given(st.lists(st.sampled_from(["10.1000/182", "doi:10.12/x", "word", "3.14", "(", "\n", " "]), max_size=9))
def test_a_text_that_is_passed_over_mentions_nothing(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert may_mention(text) or not list(find(text))


def test_an_escaped_name_is_read_as_it_is() -> None:
    sici = "10.1002/(SICI)1096-8644(199601)99:1<1::AID-AJPA1>3.0.CO;2-1"
    for syntax in ("html", "markdown", "rst", "tex", "bibtex"):
        for name in ("10.1000/a_b", "10.1000/a&amp;b", "10.1000/a*b*c", sici):
            assert [match.doi.name for match in find(f"x {escape(name, syntax)} y", syntax)] == [name]


def test_escapes_of_each_syntax() -> None:
    assert escape('a&<>"', "html", field=True) == "a&amp;&lt;&gt;&quot;"
    assert escape('a&<>"', "xml") == 'a&amp;&lt;&gt;"'
    assert escape("_a_b_ *c* [d]", "markdown") == r"\_a_b\_ \*c\* \[d\]"
    assert escape("_a_", "markdown", field=True) == escape("_a_", "text") == "_a_"
    assert escape("a_ `b`", "rst") == r"a\_ \`b\`"
    assert escape("50%_#&", "tex") == escape("50%_#&", "bibtex") == r"50\%\_\#\&"
    assert escape("50%_#&", "bibtex", field=True) == "50%_#&"
    assert escape("a&<_", "text") == "a&<_"
