"""Records in an SQLite store: the source that reads them, their keys and entries."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from typing import TYPE_CHECKING

from doiuri.resolver import Entry, Key, SQLiteStore, open_store
from doiuri.rest import ascii_upper, prefixes, read_metadata, write_json

from doiuri_proxy.records._source import LocalSource, PublicValues, SourceError, bounded
from doiuri_proxy.records._validation import check_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from doiuri_proxy.records._files import HandleRecord
    from doiuri_proxy.records._source import Registration

NEVER_EXPIRES = 253402300799.0  # Unix seconds: the end of the year 9999
COUNT_TIME = 1  # seconds that a client may wait for the number of records

_log = logging.getLogger("doiuri_proxy")
_PUBLIC = ";profile=public"  # all values may be sent, as they stand at the end of the body
_WITH_METADATA = ";metadata=stored"  # the body has metadata, too
_VALUES = b',"values":'


class StoreSource(LocalSource):
    """The records of one base in a store: registered ones, or what a Resolver has cached.

    `Registry` marks a store as complete: a name without an entry is then not registered. Without the mark (a
    cache, or a store that cannot be read) nothing is known about such a name: SourceError.
    """

    def __init__(self, address: str, base: str) -> None:
        """Open the store at a path. Raises ValueError if it cannot be one."""
        self._store = open_records_store(address)
        self._base = base.rstrip("/")
        self._count: int | None = None
        self._count_again = 0.0  # on the clock of time.monotonic
        self._counting: asyncio.Future[None] | None = None
        self._was_complete = False  # at a check

    def find(self, handle: str) -> PublicValues | None:
        """Return the values of a handle, however old its entry is."""
        entry = self._get(record_key(self._base, handle))
        if entry is not None:
            return _public_values(handle, entry)
        if self._get(mark_key(self._base)) is None:
            raise SourceError(f"{handle} is not in the store, and the store is not a complete registry")
        return None

    def find_metadata(self, handle: str) -> Mapping[str, bytes]:
        """Return all metadata of a handle."""
        entry = self._get(record_key(self._base, handle))
        if entry is None or not entry.media_type.endswith(_WITH_METADATA):
            return {}
        try:
            return read_metadata(json.loads(entry.body)["metadata"])
        except (ValueError, KeyError) as error:
            raise SourceError(f"the store's metadata of {handle} is not valid: {error}") from None

    def has_prefix(self, prefix: str) -> bool:
        """Return whether a record or an agency was registered with the prefix, or it has a prefix record."""
        keys = [prefix_key(self._base, prefix), record_key(self._base, f"0.NA/{prefix}")]
        return bool(self._store.get_many(keys))

    def find_agency(self, handle: str) -> str | None:
        """Return the agency registered for the longest prefix of ``handle``."""
        keys = [prefix_key(self._base, part) for part in (handle, *prefixes(handle))]
        entries = self._store.get_many(keys)
        names = (entries[key].body.decode() for key in keys if key in entries)
        return next(filter(None, names), None)

    async def registrations(self, names: Sequence[str]) -> list[Registration]:
        """Return the registration of each DOI or bare prefix, in order; many take long, so in a thread."""
        return await asyncio.to_thread(self.find_registrations, names)

    async def count(self) -> int | None:
        """Return the number of entries for records, of an earlier count if counting takes long; else None."""
        if time.monotonic() >= self._count_again and (self._counting is None or self._counting.done()):
            self._counting = asyncio.ensure_future(asyncio.to_thread(self._count_records))
        if self._counting is not None:
            await asyncio.wait([self._counting], timeout=COUNT_TIME)
        return self._count

    async def check(self) -> Mapping[str, str]:
        """Return why the store cannot be read, or that it no longer is a complete registry."""
        return {"records": await bounded(asyncio.to_thread(self._problem))}

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _get(self, key: Key) -> Entry | None:
        return self._store.get_many([key]).get(key)

    def _count_records(self) -> None:
        start = time.monotonic()
        try:
            with self._store.snapshot() as snapshot:
                self._count = snapshot.count("record", self._base)
        except OSError as error:
            _log.error("records not counted: %s", error)
            self._count = None
        # counting reads all of the store, so that it takes at most 5 % of the time
        self._count_again = time.monotonic() + 20 * (time.monotonic() - start)

    def _problem(self) -> str:
        key = mark_key(self._base)
        try:
            with self._store.snapshot() as snapshot:
                has_mark = key in snapshot.get_many([key])
        except OSError as error:
            return str(error)
        self._was_complete = self._was_complete or has_mark
        return "" if has_mark or not self._was_complete else "the records are gone"


def open_records_store(address: str) -> SQLiteStore:
    """Open a store that can hold records, at a path. Raises ValueError for any other address."""
    store = open_store(address)
    if not isinstance(store, SQLiteStore) or address.endswith((".jsonl", ".ndjson")):
        raise ValueError(f"{address} is not an SQLite file: it cannot hold records")
    return store


def record_key(base: str, handle: str) -> Key:
    """Return the key of a record's entry: the one under which a Resolver stores it, too."""
    return Key("record", base, ascii_upper(handle))


def prefix_key(base: str, prefix: str) -> Key:
    """Return the key of a prefix's entry; its body is the agency's name, or empty."""
    return Key("prefix", base, ascii_upper(prefix))


def mark_key(base: str) -> Key:
    """Return the key of the mark that the records of ``base`` are complete."""
    return Key("registry", base, "")


def record_entry(record: HandleRecord) -> Entry:
    """Return the entry to store for a record: a REST answer with all its values, and its metadata."""
    metadata = {media_type: body.decode() for media_type, body in record.metadata.items()}
    answer = {
        "responseCode": 1 if record.values else 200,
        "handle": record.handle,
        **({"metadata": metadata} if metadata else {}),
        "values": [value.to_json() for value in record.values],
    }
    body = write_json(answer)
    is_public = body.endswith(_VALUES + PublicValues.of(record.values).body + b"}")
    profile = (_PUBLIC if is_public else "") + (_WITH_METADATA if metadata else "")
    return Entry(body, f"application/json{profile}", NEVER_EXPIRES)


def text_entry(text: str) -> Entry:
    """Return the entry to store for a text."""
    return Entry(text.encode(), "text/plain", NEVER_EXPIRES)


def _public_values(handle: str, entry: Entry) -> PublicValues | None:
    has_metadata = entry.media_type.endswith(_WITH_METADATA)
    if _PUBLIC in entry.media_type:
        # Quotes inside strings are escaped, so the first match is where the list starts.
        return PublicValues(entry.body[entry.body.index(_VALUES) + len(_VALUES) : -1], has_metadata)
    try:
        record = check_record(json.loads(entry.body))
    except ValueError as error:
        raise SourceError(f"the store's record of {handle} is not valid: {error}") from None
    return None if record is None else PublicValues.of(record[1], has_metadata=has_metadata)
