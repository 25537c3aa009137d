"""The cells of columns in CSV and TSV (RFC 4180), and the values of keys in JSON, JSON lines and YAML."""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING

from doiuri_cli.files import Source
from doiuri_cli.readers._json import encoder, lines_of, loaded, nearest_key, strings, undo_all
from doiuri_cli.readers._part import Part, ReadError, undo

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_columns(source: Source, columns: frozenset[str], kind: str | None) -> Iterator[Part]:
    """Return the cells of columns, or the texts below keys at any depth, as fields; the entry is the column.

    An empty part stands for each column or key of the file, so that it is known which names it has.

    :raises ReadError: if the file is not what its name says, or its type has no columns.
    """
    match kind:
        case "csv":
            return _csv(source, columns, _delimiter(source.text, columns))
        case "tsv":
            return _csv(source, columns, "\t")
        case "json":
            if not lines_of(source):
                loaded(source)
            return _json(source, columns)
        case "jsonl":
            _check_lines(source)
            return _json(source, columns)
        case "yaml":
            return _yaml(source, columns)
        case _:
            raise ReadError(
                "no columns in this type of file: not CSV, TSV, JSON, JSON lines or YAML"
            )


def _csv(source: Source, columns: frozenset[str], delimiter: str) -> Iterator[Part]:
    """Yield an empty part for each column of the file, then the cells of those to be read."""
    names = _header(source.text, delimiter)
    yield from (Part("", entry=name) for name in names)
    for number, (column, cell) in enumerate(_cells(source.text, delimiter)):
        if cell["close"] == "":
            place = source.lines.position(cell.start("quoted") - 1)
            raise ReadError("this quotation mark is not closed", *place)
        is_in_header = number < len(names)
        has_name = column < len(names)  # a row may have more cells than the header
        if is_in_header or not has_name or names[column] not in columns:
            continue
        yield _part(source.text, cell, delimiter)._replace(entry=names[column], field=True)


def _part(text: str, cell: re.Match[str], delimiter: str) -> Part:
    """Return a cell as a part of a file."""
    if cell["quoted"] is None:
        encode = partial(_encode_plain, delimiter)
        return Part(cell["plain"], start=cell.start("plain"), encode=encode)
    content, places = undo(text, [cell.span("quoted")], re.compile('""'), lambda _: '"')
    return Part(content, places=places, encode=lambda text: text.replace('"', '""'))


def _cells(text: str, delimiter: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the cells of all rows, each with the number of its column, from 0."""
    column = 0
    for cell in _cell(delimiter).finditer(text):
        yield column, cell
        column = column + 1 if cell["end"] == delimiter else 0


@cache
def _cell(delimiter: str) -> re.Pattern[str]:
    """Return the pattern of a cell, and of what ends it."""
    content = rf"[^{re.escape(delimiter)}\r\n]*"
    return re.compile(
        rf"""
        (?: [ ]* " (?P<quoted> [^"]* (?: "" [^"]* )* ) (?P<close> " | \Z ) {content}
        |   (?P<plain> {content} )
        )
        (?P<end> {re.escape(delimiter)} | \r\n? | \n | \Z )
        """,
        re.VERBOSE,
    )


def _header(text: str, delimiter: str) -> list[str]:
    """Return the names of the columns: the cells of the first row."""
    names: list[str] = []
    for column, cell in _cells(text, delimiter):
        if names and column == 0:
            break
        names.append((cell["plain"] or (cell["quoted"] or "").replace('""', '"')).strip())
    return names


def _delimiter(text: str, columns: frozenset[str]) -> str:
    """Return the delimiter with which the header has most of the columns, or else most cells."""
    # In this order: of several that fit as well, the first is taken
    headers = {delimiter: _header(text, delimiter) for delimiter in ",;\t|"}

    def fit(delimiter: str) -> tuple[int, int]:
        header = headers[delimiter]
        return len(columns.intersection(header)), len(header)

    return max(headers, key=fit)


def _encode_plain(delimiter: str, text: str) -> str:
    if not {delimiter, '"', "\r", "\n"}.isdisjoint(text):
        raise ValueError(f"a cell without quotation marks cannot hold this text: {text!r}")
    return text


def _check_lines(source: Source) -> None:
    """Do nothing if each line is JSON, or blank.

    :raises ReadError: at the first line that is neither.
    """
    for number in range(1, source.lines.count + 1):
        line = source.lines.line(number)
        if not line.strip():
            continue
        try:
            loaded(Source(source.path, line))
        except ReadError as error:
            raise ReadError(error.reason, number, error.column) from error


def _json(source: Source, columns: frozenset[str]) -> Iterator[Part]:
    """Yield the texts below the keys that are columns, then an empty part for each key of the file."""
    encode = encoder(source)
    keys: set[str] = set()
    for string in strings(source):
        name = nearest_key(string.path)
        if string.is_key:
            keys.add(name)
        elif name in columns:
            text, places = undo_all(source.text, [string])
            yield Part(text, places=places, entry=name, field=True, encode=encode)
    yield from (Part("", entry=key) for key in sorted(keys))


def _yaml(source: Source, columns: frozenset[str]) -> Iterator[Part]:
    """Yield the texts below the keys that are columns, then an empty part for each key of the file."""
    from doiuri_cli.readers._yaml import is_text, part_of, scalars

    keys: set[str] = set()
    for scalar in scalars(source.text):
        name = nearest_key(scalar.path)
        if scalar.is_key:
            keys.add(name)
        elif name in columns and is_text(source.text, scalar):
            yield part_of(source.text, scalar, name)._replace(field=True)
    yield from (Part("", entry=key) for key in sorted(keys))
