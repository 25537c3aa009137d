"""Files with data and code: the mentions in each, and where they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

import pytest
import yaml
from doiuri_cli import Part, Source
from doiuri_cli._mentions import Mention, mentions_in
from doiuri_cli.readers import _yaml, _yaml_scalars, reader_for
from doiuri_cli.readers._blank import may_mention
from doiuri_cli.rules import finding_at

CASES = Path(__file__).parents[1] / "cases"
TYPES = ("json", "notebook", "python", "ris", "yaml")


class Place(TypedDict):
    line: int
    column: int
    end_line: int
    end_column: int
    doi: str | None
    entry: str | None
    cell: int | None


EXPECTED: dict[str, dict[str, list[Place]]] = {
    f"{kind}/{name}": case
    for kind in TYPES
    for name, case in json.loads((CASES / kind / "expected.json").read_text("utf-8")).items()
}


def source_of(name: str) -> Source:
    return Source.from_bytes(name, (CASES / name).read_bytes())


def mentions_of(source: Source) -> list[tuple[Part, Mention]]:
    read = reader_for(source.path)
    assert read is not None
    return [(part, mention) for part in read(source) for mention in mentions_in(part)]


def place_of(source: Source, part: Part, mention: Mention) -> Place:
    name = mention.doi.name if mention.doi else None
    found = finding_at(source, part, (mention.start, mention.end), "syntax", "", doi=name)
    return {
        "line": found.line,
        "column": found.column,
        "end_line": found.end_line,
        "end_column": found.end_column,
        "doi": found.doi,
        "entry": found.entry,
        "cell": found.cell,
    }


def test_every_file_is_a_case() -> None:
    files = {f"{kind}/{file.name}" for kind in TYPES for file in (CASES / kind).iterdir()}
    assert files == {*EXPECTED, *(f"{kind}/expected.json" for kind in TYPES)}


@pytest.mark.parametrize("name", EXPECTED)
def test_mentions(name: str) -> None:
    source = source_of(name)
    found = [place_of(source, part, mention) for part, mention in mentions_of(source)]
    assert found == EXPECTED[name]["mentions"]


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_read_can_be_written_back(name: str) -> None:
    """What a mention's place holds in the file is what the part writes for its text."""
    source = source_of(name)
    for part, mention in mentions_of(source):
        start, end = part.span(mention.start, mention.end)
        written = part.encode(mention.text)
        if part.places is None or mention.text.isascii():
            assert source.text[start:end] == written
        changed = source.text[:start] + written + source.text[end:]
        again = mentions_of(Source(source.path, changed, source.encoding, source.mark))
        assert [m.doi for _, m in again] == [m.doi for _, m in mentions_of(source)]


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("ris/one.ris", ["10.1000/1", "10.1000/4"]),
        ("yaml/CITATION.cff", ["10.5281/zenodo.1", "10.5281/zenodo.2", "10.1000/4"]),
        ("yaml/other.yml", ["10.1000/é"]),
        ("json/works.json", ["10.1000/é", "10.1000/2"]),
        ("json/.zenodo.json", ["10.5281/zenodo.1", "10.1000/2"]),
        ("json/codemeta.json", ["10.1000/2"]),
    ],
)
def test_fields(name: str, fields: list[str]) -> None:
    found = [mention.doi and mention.doi.name for part, mention in mentions_of(source_of(name)) if part.field]
    assert found == fields


def test_the_tags_of_a_cell_ignore_codes() -> None:
    parts = {part.cell: part for part, _ in mentions_of(source_of("notebook/four.ipynb"))}
    codes = ("not-found", "not-https", "syntax")
    ignored = {cell: [code for code in codes if part.ignores(code)] for cell, part in parts.items()}
    assert ignored == {1: [], 2: ["not-found", "not-https"], 4: [*codes]}


@pytest.mark.parametrize("name", [name for name in EXPECTED if name.startswith("yaml/")])
def test_yaml_without_its_library_in_c(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_yaml_scalars, "_LOADER", yaml.SafeLoader)
    source = source_of(name)
    found = [place_of(source, part, mention) for part, mention in mentions_of(source)]
    assert found == EXPECTED[name]["mentions"]


def test_settings_named_doi_are_no_fields() -> None:
    text = "a: {doi: true}\nb: {doi: }\nc: {doi: ~}\nd: {doi: {e: doi}}\nf: {doi: 'true'}\ng: {doi: PMC1}\n"
    read = reader_for("mkdocs.yml")
    assert read is not None
    fields = [part.text for part in read(Source("mkdocs.yml", text)) if part.field]
    assert fields == ["true", "PMC1"]


def test_of_many_values_in_yaml_those_with_a_sign_of_a_doi_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[str] = []

    def noted(text: str) -> bool:
        seen.append(text)
        return may_mention(text)

    monkeypatch.setattr(_yaml, "may_mention", noted)
    items = "".join(f"- name: 'n'\n  value: {number}\n" for number in range(100))
    source = Source("a.yml", f'{items}- value: "\\x310.1000/2"\n- value: see 10.1000/1\n')
    assert [part.text for part in _yaml.read(source)] == ["10.1000/2", "see 10.1000/1"]
    assert seen[1:] == ["10.1000/2", "see 10.1000/1"]  # the first is the file
