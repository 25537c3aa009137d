"""Strings of the file formats: each text can be written and read again, and each character has its place."""

from __future__ import annotations

import ast
import json
import pickle
from typing import TYPE_CHECKING

import pytest
import yaml
from doiuri_cli import Part, Source
from doiuri_cli.readers import _json as in_json
from doiuri_cli.readers import _python as in_python
from doiuri_cli.readers import _yaml_scalars as in_yaml
from doiuri_cli.readers import reader_for
from doiuri_cli.readers._json import strings, undo_all
from doiuri_cli.readers._yaml_scalars import scalars
from hypothesis import assume, given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

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


@given(TEXTS | ODD, st.sampled_from(["'", '"', "'''", '"""']), st.booleans())
def test_python_reads_what_is_written(text: str, quotes: str, raw: bool) -> None:
    try:
        written = in_python.encoder(quotes, raw=raw)(text)
    except ValueError:
        assert raw
        return
    assume("\0" not in written)
    literal = f"{'r' * raw}{quotes}{written}{quotes}"
    assert ast.literal_eval(literal) == text
    start = raw + len(quotes)
    decoded, places = in_python.decode(literal, (start, len(literal) - len(quotes)), raw=raw)
    assert decoded == text
    assert len(places) == len(text) + 1


@pytest.mark.parametrize(
    "literal", [r"'\x41\101\u00e9\U0001F600\N{BULLET}\_\N{none}\\\'\"'", '"""a\\\nb\r\nc\rd"""', r"r'\x41\''"]
)
def test_escapes_of_python(literal: str) -> None:
    start = literal.index("'" if literal[0] != '"' else "a")
    start += literal[0] != '"'
    end = literal.rindex("'") if literal[0] != '"' else literal.index('"""', 3)
    decoded, places = in_python.decode(literal, (start, end), raw=literal[0] == "r")
    expected = ast.literal_eval(literal.replace(r"\_", r"\\_").replace(r"\N{none}", r"\\N{none}"))
    assert decoded == expected
    assert (places[0], places[-1]) == (start, end)


@given(TEXTS | ODD)
def test_yaml_reads_what_is_written(text: str) -> None:
    forms: list[tuple[str, Callable[[str], str], str]] = [
        ("a: ", lambda text: in_yaml.encode_plain(text, flow=False), ""),
        ("a: [", lambda text: in_yaml.encode_plain(text, flow=True), "]"),
        ("a: '", in_yaml.encode_single, "'"),
        ('a: "', in_yaml.encode_double, '"'),
        ("a: |-\n  ", in_yaml.encode_block, ""),
        ("a: >-\n  ", in_yaml.encode_block, ""),
    ]
    assume(text)
    for before, encode, after in forms:
        try:
            written = encode(text)
        except ValueError:
            assert '"' not in before
            continue
        loaded = yaml.load(before + written + after, yaml.BaseLoader)["a"]
        assert (loaded[0] if "[" in before else loaded) == text


YAML = st.recursive(
    TEXTS | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ODD, inner, max_size=3),
    max_leaves=8,
)


@given(YAML, st.sampled_from([None, "'", '"', "|", ">"]), st.sampled_from([None, True, False]), st.booleans())
def test_scalars_of_yaml_have_their_paths_texts_and_places(
    value: object, style: str | None, flow: bool | None, crlf: bool
) -> None:
    text = yaml.safe_dump(value, default_style=style, default_flow_style=flow, allow_unicode=True, width=20)
    text = text.replace("\n", "\r\n") if crlf else text
    found = [*scalars(Source("a.yaml", text))]
    assert sorted((s.path, s.value) for s in found if not s.is_key) == sorted(
        strings_in(yaml.safe_load(text))
    )
    for scalar in found:
        decoded, places = in_yaml.decode(text, scalar)
        assert decoded.split() == scalar.value.split()  # line breaks and margins stay
        assert [*places] == sorted(places)
        assert all(scalar.start <= place <= scalar.end for place in places)
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
        assert again.encode("é\\x") == part.encode("é\\x")
