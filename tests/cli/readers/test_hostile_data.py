"""Broken and hostile files of data and code: parts or ReadError, never another error, in linear time."""

from __future__ import annotations

import contextlib
import json

import pytest
from doiuri_cli import Part, ReadError, Source
from doiuri_cli._mentions import mentions_in
from doiuri_cli.readers import reader_for
from hypothesis import given
from hypothesis import strategies as st
from support.growth import is_fast, is_linear

NAMES = ("a.ipynb", "a.py", "CITATION.cff", "a.yaml", "a.json", ".zenodo.json", "codemeta.json", "a.ris")
NOTEBOOK = json.dumps(
    {
        "cells": [
            {
                "cell_type": "markdown",
                "metadata": {"tags": ["doiuri: ignore[syntax]"]},
                "source": ["10.1000/é\n"],
            },
            {"cell_type": "code", "outputs": [{"text": "10.1000/x"}], "source": "# 10.1000/a\n'10.1000/b'"},
        ],
        "metadata": {},
        "nbformat": 4,
    }
)
PIECES = st.sampled_from(
    ['"', "'", '"""', "'''", "\\", "\n", "\r\n", "#", "(", "]", "{", "}", ":", ": ", "- ", ", ", "&a ", "*a",
     "!t ",
     "|\n  ", ">-\n ", "? ", "...\n", "---\n", "def f():\n ", "10.1000/a", "doi:10.1000/b ", '"DOI": ',
     '"type": ""', "TY  - ", "\nDO  - ", "\\u00e9", "\\ud83d\\ude00", "\\ud83d", "\\N{x}", "\0", "\x85",
     "\u2028",
     " ", "\t", '"cells"']
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=15).map("".join)


def parts_of(name: str, text: str) -> list[Part] | None:
    """The parts of a file; None if it cannot be read. Checks that each mention is within the file."""
    read = reader_for(name)
    assert read is not None
    source = Source(name, text)
    try:
        parts = [*read(source)]
    except ReadError:
        return None
    for part in parts:
        for mention in mentions_in(part):
            start, end = part.span(mention.start, mention.end)
            assert 0 <= start < end <= len(text)
            if part.places is None:
                assert text[start:end] == mention.text
    return parts


@pytest.mark.parametrize("name", NAMES)
@given(content=st.binary(max_size=60))
def test_random_bytes(name: str, content: bytes) -> None:
    parts_of(name, Source.from_bytes(name, content.removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff")).text)


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXTS)
def test_random_pieces(name: str, text: str) -> None:
    parts_of(name, text)


@given(st.integers(0, len(NOTEBOOK) - 1))
def test_truncated_notebooks(length: int) -> None:
    assert parts_of("a.ipynb", NOTEBOOK[:length]) is None


def test_the_notebook_is_whole() -> None:
    parts = parts_of("a.ipynb", NOTEBOOK)
    assert parts is not None
    assert [(part.cell, part.text) for part in parts] == [
        (1, "10.1000/é\n"),
        (2, " 10.1000/a"),
        (2, "10.1000/b"),
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unit", ["[", "{", '{"a":', "- ", "(", "a: [", "? ", "\\"])
def test_deep_nesting(name: str, unit: str) -> None:
    parts_of(name, f'"DOI" "type" "cells" doi {unit * 100_000}')
    parts_of(name, unit * 100_000 + "doi")


def test_a_file_of_many_aliases_is_not_expanded() -> None:
    """Expanded, these ten lines would have ten to the ninth strings."""
    lines = ["a0: &a0 doi:10.1000/x"]
    lines += [f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 10)}]" for n in range(9)]
    parts = parts_of("bomb.yaml", "\n".join(lines))
    assert parts is not None
    assert [part.text for part in parts] == ["doi:10.1000/x"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.yaml", "doi:\n  - [a", "line 2, column 5: while parsing a flow sequence, "),
        ("CITATION.cff", "a: b\nc: 'd: e", "line 2, column 4: while scanning a quoted scalar, "),
        ("a.yaml", "doi: a\nb: \0", "line 2, column 4: YAML does not allow the character U+0000"),
        ("a.ipynb", '{"cells": [\n{"a" 1}]}', "line 2, column 6: expected ':'"),
        ("a.ipynb", '{"a": 1}', "not a notebook: it has no cells"),
        (".zenodo.json", '{\n"a" 1}', "line 2, column 5: "),
        ("codemeta.json", "", "line 1, column 1: "),
        ("a.ris", "doi:10.1000/1", "not RIS: "),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(name: str, text: str, message: str) -> None:
    read = reader_for(name)
    assert read is not None
    with pytest.raises(ReadError) as caught:
        list(read(Source(name, text)))
    assert str(caught.value).startswith(message)


UNITS = {
    "a.ipynb": ['"a",', "\\n", "\\\\", '","', "é", "\\u00e9 10.1000/a "],
    "a.py": [
        "'a10'",
        '"do"\n',
        "'''",
        "'\\",
        "# 10 ",
        "(",
        '"""10',
        "\\\n",
        "''",
        "f('10')",
        "'10.1/a'\n",
        '"10.1/a" ',
    ],
    "a.yaml": ["a ", "'' ", "\\x41", "# 10.1/a\n", "10.1/a\n  ", "- 10.1/a\n", "#"],
    "a.json": ["\\u0041", '", "', "10.1/a "],
    "a.ris": ["DO  - 10.1/a\n", "TY  - ", "N1  -", "\n"],
}
FRAMES = {
    "a.ipynb": [
        '{{"cells": [{{"cell_type": "markdown", "source": ["doi {0}"]}}]}}',
        '{{"cells": [], "outputs": ["{0}"]}}',
    ],
    "a.py": ["doi {0}", '"""doi {0}"""'],
    "a.yaml": ['doi: "{0}"', "doi: '{0}'", "doi: {0}", "doi: |\n  {0}", "- doi\n{0}"],
    "a.json": ['[{{"type": "a", "DOI": "{0}"}}]'],
    "a.ris": ["TY  - a\n{0}"],
}


def read(name: str, text: str) -> None:
    reader = reader_for(name)
    assert reader is not None
    with contextlib.suppress(ReadError):
        list(reader(Source(name, text)))


@pytest.mark.parametrize(
    ("name", "frame", "unit"),
    [(name, frame, unit) for name in UNITS for frame in FRAMES[name] for unit in UNITS[name]],
)
def test_time_is_linear(name: str, frame: str, unit: str) -> None:
    assert is_linear(lambda size: read(name, frame.format(unit * (size // len(unit)))), 25_000, 200_000)


@pytest.mark.parametrize("name", NAMES)
def test_a_line_of_ten_megabytes(name: str) -> None:
    parts_of(name, "x " * 5_000_000 + "doi")


def test_outputs_of_notebooks_are_passed_over_fast() -> None:
    """Five megabytes of pictures take less than a tenth of a second each."""
    picture = "iVBORw0KGgo+/" * 80_000
    cell = {
        "cell_type": "code",
        "outputs": [{"data": {"image/png": picture}}] * 5,
        "source": "# doi:10.1000/1",
    }
    text = json.dumps({"cells": [cell], "nbformat": 4})
    parts_of("a.ipynb", text)
    assert is_fast(lambda: read("a.ipynb", text), 0.5)
