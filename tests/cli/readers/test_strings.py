"""Strings of the file formats: each text can be written and read again, and each character has its place."""

from __future__ import annotations

import ast
import json
import pickle

import pytest
import yaml
from doiuri_cli import Part, Source
from doiuri_cli.readers import _code as in_python
from doiuri_cli.readers import _json as in_json
from doiuri_cli.readers import _yaml as in_yaml
from doiuri_cli.readers import parts_of, reader_for
from doiuri_cli.readers._json import strings, undo_all
from doiuri_cli.readers._yaml import scalars
from hypothesis import assume, given
from hypothesis import strategies as st

TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)
ODD = st.text(st.sampled_from("aé\"'\\\n\r\t #:-,[]{}&*!|>%@`0x\u2028\x85\xa0😀\0"), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS | ODD,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


def strings_in(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], str]]:
    match value:
        case str():
            return [(path, value)]
        case list():
            return [found for n, item in enumerate(value) for found in strings_in(item, (*path, n))]
        case dict():
            return [found for key, item in value.items() for found in strings_in(item, (*path, key))]
        case _:
            return []


@given(VALUES, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_strings_of_json_have_their_paths_and_texts(
    value: object, ensure_ascii: bool, indent: int | str | None
) -> None:
    text = json.dumps(value, ensure_ascii=ensure_ascii, indent=indent)
    found = [*strings(Source("a.json", text))]
    assert [(string.path, string.value) for string in found] == strings_in(value)
    for string in found:
        decoded, places = undo_all(text, [string])
        assert decoded == string.value
        assert len(places) == len(decoded) + 1
        for number, character in enumerate(decoded):
            assert json.loads(f'"{text[places[number] : places[number + 1]]}"') == character


@given(TEXTS | ODD)
def test_json_reads_what_is_written(text: str) -> None:
    for encode in (in_json.encode_ascii, in_json.encode_unicode):
        assert json.loads(f'"{encode(text)}"') == text
    assert in_json.encode_ascii(text).isascii()


def test_some_values_are_passed_over() -> None:
    text = '{"a": {"b": ["x]", {}]}, "b": "x", "c": {"a": []}, "d": ["y"]}'
    assert [*strings(Source("a.json", text), {"a", "b"})] == [(("d", 0), "y", 58, 59)]


@given(TEXTS | ODD)
def test_python_reads_what_is_written(text: str) -> None:
    try:
        written = in_python.encode(text)
    except ValueError:
        return
    for prefix, quotes in (("", "'"), ("r", '"'), ("", "'''"), ("u", '"""')):
        assert ast.literal_eval(f"{prefix}{quotes}{written}{quotes}") == text


@pytest.mark.parametrize(
    "literal",
    [
        r"'10.1000/\101\u00e9\U0001F600\N{BULLET}\_\\\'\"'",
        '"""10.1000/a\\\nb"""',
        r"r'10.1000/\x41\''",
        r"u'10.1000/\x41'",
    ],
)
def test_escapes_of_python(literal: str) -> None:
    (part,) = parts_of(Source("a.py", literal))
    assert part.text == ast.literal_eval(literal.replace(r"\_", r"\\_"))
    assert part.span(0, len(part.text))[1] == len(literal) - (3 if literal[0] == '"' else 1)


@given(TEXTS | ODD)
def test_yaml_reads_what_is_written(text: str) -> None:
    forms = [
        ("a: ", "", ""),
        ("a: [", "", "]"),
        ("a: '", "'", "'"),
        ('a: "', '"', '"'),
        ("a: |-\n  ", "|", ""),
        ("a: >-\n  ", ">", ""),
    ]
    assume(text)
    for before, style, after in forms:
        try:
            written = in_yaml.encode(style, text)
        except ValueError:
            assert style != '"'
            continue
        loaded = yaml.load(before + written + after, yaml.BaseLoader)["a"]
        assert (loaded[0] if "[" in before else loaded) == text


YAML = {
    "block": "b:\n  - y: 1\n    z: two\n      lines\n  - - deep\n    - er\nc:\n- same\n- column\nd: ''\n",
    "flow": """a: [x, {b: c, "d":1, 'e': [y]}, "z"]\nf: {g: [], h: {}, i: j:k, l: http://m/n#o}\n""",
    "on several lines": "a: {\n  b: 'c\n    d', # no\n  e: f\n  }\ng: [\nh\n]\n",
    "quotes": """a: 'it''s'\nb: "\\x41\\u00e9\\U0001F600\\t\\"\\\n  on"\nc: it's a "q" # no\n'd e': f\n""",
    "blocks of text": "a: |\n  b: c\n\n   # d\ne: >-2\n  f\nh:\n  - |+ # no\n    i\n\n  - j\n",
    "marks": "---\n!!map &a\nb: !t c\nd: &e f\n'*x': y\ni : j\n",
    "colons": "a: b:c\nd: e #f\ng: -h\ni: ?j\nk: :l\nm:\n\n  n o\n",
}


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("case", YAML)
def test_scalars_of_yaml_have_their_paths_texts_and_places(case: str, line_end: str) -> None:
    text = YAML[case].replace("\n", line_end)
    found = [one for one in scalars(text) if not (one.is_key or one.style == "#")]
    values = [(one.path, in_yaml.decoded(text, one).text.split()) for one in found]
    expected = strings_in(yaml.load(text, yaml.BaseLoader))
    assert values == [(path, value.split()) for path, value in expected if value or "''" in text]
    for scalar in found:
        decoded, places = in_yaml.decoded(text, scalar)
        assert [*places] == sorted(places)
        assert len(places) == len(decoded) + 1
        for number, character in enumerate(decoded):
            if character.isalnum() and text[places[number]] != "\\":
                assert text[places[number]] == character


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "a.ipynb",
            '{"cells": [{"cell_type": "code", "source": ["def f():\\n", " \'\'\'doi:10.1/x\\\\t\'\'\'"]}]}',
        ),
        ("a.yml", "a: [doi:10.1/x, '''doi:10.1/y', \"\\tdoi:10.1/z\"] # doi:10.1/y"),
    ],
)
def test_parts_can_be_sent_to_other_processes(path: str, text: str) -> None:
    read = reader_for(path)
    assert read is not None
    parts: list[Part] = [*read(Source(path, text))]
    assert parts
    for part in parts:
        again = pickle.loads(pickle.dumps(part))
        assert [*(again.places or ())] == [*(part.places or ())]
        assert again.encode("é") == part.encode("é")
