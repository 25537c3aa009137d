"""Open the source that an address names: a file, a folder, a store, an upstream proxy; records in memory."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri.plugins import DOI_ORG
from doiuri.records import ascii_upper
from doiuri.rest.server import agency_of

from doiuri_proxy.records._files import RecordsError, read_records
from doiuri_proxy.records._source import LocalSource, PublicValues

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from doiuri_proxy.records._files import HandleRecord, RecordsInput
    from doiuri_proxy.records._upstream import UpstreamSource

    Source = LocalSource | UpstreamSource


def open_source(
    records: RecordsInput | None,
    *,
    base: str = DOI_ORG,
    upstream: str | None = None,
    cache: str | None = None,
    on_reply: Callable[[bool], None] = lambda _: None,
) -> Source:
    """Return a source for records and, with ``upstream``, for those of another proxy.

    :param records: a file, a folder, Python data, or a store's path; None is no records
    :param base: the base URL whose records to read from a store
    :param upstream: the base URL of the proxy to ask for what is not in the records
    :param cache: the store for upstream's answers; None takes the Resolver's default
    :param on_reply: called after each request to upstream, with whether it failed
    :raises RecordsError: if the records cannot be read or are not valid
    :raises ValueError: for a bad URL
    """
    local = open_local(records, base)
    if upstream is None:
        return local
    from doiuri_proxy.records._upstream import UpstreamSource

    return UpstreamSource(local, upstream, cache, on_reply)


def open_local(records: RecordsInput | None, base: str = DOI_ORG) -> LocalSource:
    """Return the source for records alone: see `open_source`."""
    if not _is_store(records):
        return MemorySource([] if records is None else records)
    from doiuri_proxy.records._store import StoreSource

    return StoreSource(str(records), base)


def _is_store(records: object) -> bool:
    """Return whether an address is that of a store: an SQLite file.

    Raises RecordsError for an SQLite file that is not a store.
    """
    if not isinstance(records, (str, Path)):
        return False
    if "://" in str(records):
        raise ValueError(f"records are read from a file or a folder, not from {records}")
    path = Path(records)
    try:
        # opening a pipe would block; SQLite takes a file of one octet for an empty database
        return path.is_file() and path.stat().st_size > 1 and os.access(path, os.R_OK) and _has_records(path)
    except OSError:
        return False


def _has_records(path: Path) -> bool:
    """Return whether a file is an SQLite file.

    Refuse one that is not a store. SQLite is asked first: to close the file of a store that this
    process has open would release the locks on it (sqlite.org, How To Corrupt An SQLite Database File, 2.2).
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            db.execute("SELECT kind, doi FROM entries LIMIT 1").fetchone()
    except sqlite3.Error as error:
        code = error.sqlite_errorcode & 0xFF
        if code == sqlite3.SQLITE_NOTADB:
            return False
        if code != sqlite3.SQLITE_CANTOPEN:  # the store reports that itself
            raise RecordsError(str(path), 0, f"an SQLite file, but not a store of records: {error}") from None
    return True


class MemorySource(LocalSource):
    """Records that were all read at the start."""

    def __init__(self, records: RecordsInput) -> None:
        """Read all records. Raises RecordsError if one is invalid, or two names differ in ASCII case only."""
        self._records: dict[str, PublicValues] = {}
        self._metadata: dict[str, Mapping[str, bytes]] = {}
        self._agencies: dict[str, str] = {}
        for item in read_records(records):
            if isinstance(item, dict):
                self._agencies.update((ascii_upper(prefix), name) for prefix, name in item.items())
            else:
                self._add(item)
        self._prefixes = {key.partition("/")[0] for key in self._records}

    def _add(self, record: HandleRecord) -> None:
        key = ascii_upper(record.handle)
        if key in self._records:
            # Z39.84 §4: names that differ in ASCII case only are the same name
            raise record.position.error(f"{record.handle} already exists")
        try:
            self._records[key] = PublicValues.of(record.values, has_metadata=bool(record.metadata))
        except (TypeError, ValueError, RecursionError) as error:  # Python data that JSON cannot express
            raise record.position.error(f"{record.handle}: {error}") from None
        if record.metadata:
            self._metadata[key] = record.metadata

    def find(self, handle: str) -> PublicValues | None:
        """Return the values of a handle."""
        return self._records.get(ascii_upper(handle))

    async def metadata(self, handle: str, accept: str) -> Mapping[str, bytes]:  # noqa: ARG002
        """Return all metadata of a handle."""
        return self._metadata.get(ascii_upper(handle), {})

    def has_prefix(self, prefix: str) -> bool:
        """Return whether a record, an agency or a prefix record has the prefix."""
        key = ascii_upper(prefix)
        return key in self._prefixes or key in self._agencies or f"0.NA/{key}" in self._records

    def find_agency(self, handle: str) -> str | None:
        """Return the agency that the records file gives for the longest prefix of ``handle``."""
        return agency_of(handle, self._agencies)

    async def count(self) -> int:
        """Return the number of records."""
        return len(self._records)
