"""The readers of markup read the files in tests/cli/cases, and give each mention its exact place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

import pytest
from doiuri_cli._mentions import Mention, mentions_in
from doiuri_cli.files import Source
from doiuri_cli.readers import Part, reader_for

CASES = Path(__file__).parents[1] / "cases"
MARKUP = ("bibtex", "html", "markdown", "rst", "tex", "text")
FILES = [
    file for folder in MARKUP for file in sorted((CASES / folder).iterdir()) if file.name != "expected.json"
]


class Expected(TypedDict):
    """A mention in a file: its place, what the file has there, its DOI, and the entry it is in."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    doi: str | None
    entry: str | None


def source_of(file: Path) -> Source:
    return Source.from_bytes(file.name, file.read_bytes())


def mentions(source: Source) -> list[Mention]:
    read = reader_for(source.path)
    assert read is not None
    return [mention for part in read(source) for mention in mentions_in(part)]


def described(source: Source, mention: Mention) -> Expected:
    first, last = mention.part.span(mention.start, mention.end)
    start, end = source.lines.position(first), source.lines.position(last)
    return {
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
        "text": source.text[first:last],
        "doi": mention.doi.name if mention.doi else None,
        "entry": mention.part.entry or None,
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.name}")
def test_the_mentions_in_a_file(file: Path) -> None:
    expected = json.loads((file.parent / "expected.json").read_text("utf-8"))
    source = source_of(file)
    assert [described(source, mention) for mention in mentions(source)] == expected[file.name]["mentions"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.name}")
def test_line_ends_do_not_change_what_is_mentioned(file: Path) -> None:
    text = source_of(file).text.replace("\r\n", "\n")
    found = [
        [
            (mention.doi, mention.part.entry)
            for mention in mentions(Source(file.name, text.replace("\n", end)))
        ]
        for end in ("\n", "\r\n")
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.name}")
def test_a_mention_read_again_alone_is_its_doi(file: Path) -> None:
    source = source_of(file)
    for mention in mentions(source):
        first, last = mention.part.span(mention.start, mention.end)
        if mention.doi is None or mention.part.places is not None:
            continue
        is_value = mention.part.field or "\n" in mention.text  # only values in braces may have several lines
        part = Part(source.text[first:last], mention.part.syntax, field=is_value)
        assert [again.doi for again in mentions_in(part)] == [mention.doi]
