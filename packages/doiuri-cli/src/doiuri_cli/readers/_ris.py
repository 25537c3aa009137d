"""RIS: the DOI of each record, its links, its notes and its abstract."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri_cli.readers._part import Part, ReadError, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source

_LINE = re.compile(r"^([A-Z][A-Z0-9])[ ]{1,2}-(?:[ ]|$)[ \t]*+([^\r\n]*)", re.MULTILINE)
_FIELDS = {"DO"}
_TEXTS = {"AB", "L1", "L2", "L3", "L4", "LK", "M3", "N1", "N2", "UR"}


def read(source: Source) -> Iterator[Part]:
    """Return the values of the tags that may mention DOIs; the entry is its ``ID``, or its number.

    :raises ReadError: if the file has no record.
    """
    for key, record in records(source):
        for tag, start, value in record:
            if value and (tag in _FIELDS or tag in _TEXTS):
                yield Part(value, start=start, entry=key, field=tag in _FIELDS, encode=one_line)


def records(source: Source) -> Iterator[tuple[str, list[tuple[str, int, str]]]]:
    """Return the records: the key of each, and its lines as tag, offset of the value, and value.

    :raises ReadError: if the file has none.
    """
    record: list[tuple[str, int, str]] = []
    number = 0
    for line in _LINE.finditer(source.text):
        if line[1] == "TY" and record:
            yield _key(record, number), record
            record = []
        number += line[1] == "TY"
        record.append((line[1], line.start(2), line[2].rstrip()))
    if record:
        yield _key(record, number), record
    if not number and source.text.strip():
        raise ReadError('not RIS: no record starts with "TY  - "')


def _key(record: list[tuple[str, int, str]], number: int) -> str:
    return next((value for tag, _, value in record if tag == "ID" and value), f"record {number}")
