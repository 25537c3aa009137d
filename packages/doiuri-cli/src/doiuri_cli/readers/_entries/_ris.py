"""Entries of RIS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_cli.readers._entries._entry import Entry, entry
from doiuri_cli.readers.data._ris import records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source


def read(source: Source) -> Iterator[Entry]:
    """Return the records that have a DOI.

    :raises ReadError: if the file has no record.
    """
    for key, record in records(source):
        values: dict[str, tuple[int, str]] = {}
        for tag, start, value in record:
            values.setdefault(tag, (start, value))
        if "DO" not in values:
            continue
        start, doi = values["DO"]
        family = _first(values, "AU", "A1").partition(",")[0].strip()
        found = entry(
            source,
            (start, start + len(doi)),
            doi,
            key=key,
            title=_first(values, "TI", "T1"),
            year=_first(values, "PY", "Y1", "DA"),
            family=family,
        )
        if found:
            yield found


def _first(values: dict[str, tuple[int, str]], *tags: str) -> str:
    return next((values[tag][1] for tag in tags if tag in values), "")
