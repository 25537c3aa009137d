"""Which kind of source an address names."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri.plugins import DOI_ORG

from doiuri_proxy.records._records import RecordsError
from doiuri_proxy.records._source import MemorySource

if TYPE_CHECKING:
    from doiuri_proxy.records._records import RecordsInput
    from doiuri_proxy.records._source import LocalSource, Source


_SQLITE = b"SQLite format 3\0"  # how every SQLite file begins


def is_store(records: object) -> bool:
    """Tell whether an address is that of a store: an SQLite file, or a URL."""
    if not isinstance(records, (str, Path)):
        return False
    if "://" in str(records):
        return True
    path = Path(records)
    try:
        if not path.is_file():  # to open a pipe is to wait for its writer
            return False
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def open_source(
    records: RecordsInput | None,
    *,
    base: str = DOI_ORG,
    upstream: str | None = None,
    cache: str | None = None,
) -> Source:
    """Open records: a file, a folder, Python data, a store, and beyond these an upstream proxy.

    Raises RecordsError for records that cannot be used, ValueError for a bad URL.
    """
    local = _open_local(records, base)
    if upstream is None:
        return local
    from doiuri_proxy.records._upstream import UpstreamSource

    return UpstreamSource(local, upstream, cache)


def _open_local(records: RecordsInput | None, base: str) -> LocalSource:
    if not is_store(records):
        return MemorySource([] if records is None else records)
    from doiuri_proxy.records._stores import StoreSource

    if "://" not in str(records):
        _check_file(Path(str(records)))
    return StoreSource(str(records), base)


def _check_file(path: Path) -> None:
    """Refuse an SQLite file that is damaged or no store: when it is opened as one, it would be set aside."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            db.execute("SELECT id, key FROM entries LIMIT 1").fetchone()
    except sqlite3.Error as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CANTOPEN:  # the store knows what to do then
            raise RecordsError(str(path), 0, f"an SQLite file, but no store of records: {error}") from None
