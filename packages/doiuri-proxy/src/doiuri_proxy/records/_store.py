"""Records in an SQLite store: read them, and write the entries."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
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
_PUBLIC = ";profile=public"  # all values may be sent, as they stand in the body
_WITH_METADATA = ";metadata=stored"  # the record has an entry with its metadata, too
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
        self._counting: threading.Thread | None = None
        self._was_complete = False  # at a check

    async def lookup(self, handle: str, *, auth: bool = False, cert: bool = False) -> PublicValues | None:  # noqa: ARG002
        """Return the values of a handle, however old its entry is."""
        key, mark = record_key(self._base, handle), mark_key(self._base)
        entries = self._get([key]) or self._get([key, mark])  # most look-ups do not need the mark
        if key in entries:
            return _public_values(handle, entries[key])
        if mark not in entries:
            raise SourceError(f"{handle} is not in the store, and the store is not a complete registry")
        return None

    async def metadata(self, handle: str, accept: str) -> Mapping[str, bytes]:  # noqa: ARG002
        """Return all metadata of a handle."""
        key, record = metadata_key(self._base, handle), record_key(self._base, handle)
        entries = self._get([key, record])
        if entries.keys() != {key, record} or not states_metadata(entries[record]):  # an earlier record's
            return {}
        try:
            return read_metadata(json.loads(entries[key].body))
        except ValueError as error:
            raise SourceError(f"the store's metadata of {handle} is not valid: {error}") from None

    async def knows_prefix(self, prefix: str) -> bool:
        """Return whether a record or an agency was registered with the prefix, or it has a prefix record."""
        keys = [prefix_key(self._base, prefix), record_key(self._base, f"0.NA/{prefix}")]
        return bool(self._get(keys))

    async def registered_agency(self, handle: str) -> str | None:
        """Return the agency registered for the longest prefix of ``handle``."""
        keys = [prefix_key(self._base, part) for part in (handle, *prefixes(handle))]
        entries = self._get(keys)
        return next(
            (entries[key].body.decode() for key in keys if key in entries and entries[key].body), None
        )

    async def registrations(self, names: Sequence[str]) -> list[Registration]:
        """Return the registration of each DOI or bare prefix, in order: one query, off the event loop."""
        keys = {mark_key(self._base)}
        for name in names:
            parts = prefixes(name)
            keys |= {prefix_key(self._base, part) for part in (name, *parts)}
            keys |= {record_key(self._base, handle) for handle in (name, *(f"0.NA/{part}" for part in parts))}
            keys.add(record_key(self._base, f"0.NA/{name}"))
        entries = await asyncio.to_thread(self._store.get_many, list(keys))
        return await _Entries(entries, self._base).registrations(names)

    async def count(self) -> int | None:
        """Return the number of entries for records, of an earlier count if counting takes long; else None."""
        if time.monotonic() >= self._count_again and self._counting is None:
            # not the event loop's threads, which it waits for when it stops
            self._counting = threading.Thread(target=self._count_records, name="count", daemon=True)
            self._counting.start()
        deadline = time.monotonic() + COUNT_TIME
        while self._counting is not None and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        return self._count

    async def check(self) -> Mapping[str, str]:
        """Return why the store cannot be read, or that it no longer is a complete registry."""
        return {"records": await bounded(asyncio.to_thread(self._problem))}

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _count_records(self) -> None:
        start = time.monotonic()
        try:
            with self._store.snapshot() as snapshot:
                self._count = snapshot.count("record", self._base)
        except OSError as error:
            _log.error("records not counted: %s", error)
            self._count = None
        finally:
            # counting reads all of the store, so that it takes at most 5 % of the time
            self._count_again = time.monotonic() + 20 * (time.monotonic() - start)
            self._counting = None

    def _problem(self) -> str:
        try:
            has_mark = self._has_mark()
        except OSError as error:
            return str(error)
        self._was_complete = self._was_complete or has_mark
        return "" if has_mark or not self._was_complete else "the records are gone"

    def _has_mark(self) -> bool:
        key = mark_key(self._base)
        with self._store.snapshot() as snapshot:
            return key in snapshot.get_many([key])

    def _get(self, keys: list[Key]) -> dict[Key, Entry]:
        # within microseconds, less than a thread takes to start
        return self._store.get_many(keys)


class _Entries(StoreSource):
    """Entries that were read already."""

    def __init__(self, entries: Mapping[Key, Entry], base: str) -> None:
        self._entries = entries
        self._base = base

    async def registrations(self, names: Sequence[str]) -> list[Registration]:
        return await LocalSource.registrations(self, names)

    def _get(self, keys: list[Key]) -> dict[Key, Entry]:
        return {key: self._entries[key] for key in keys if key in self._entries}


def open_records_store(address: str) -> SQLiteStore:
    """Open a store that can hold records, at a path. Raises ValueError for any other address."""
    store = open_store(address)
    if not isinstance(store, SQLiteStore) or address.endswith((".jsonl", ".ndjson")):
        raise ValueError(f"{address} is not an SQLite file: it cannot hold records")
    return store


def record_key(base: str, handle: str) -> Key:
    """Return the key of a record's entry: the one under which a Resolver stores it, too."""
    return Key("record", base, ascii_upper(handle))


def metadata_key(base: str, handle: str) -> Key:
    """Return the key of the metadata of a record."""
    return Key("content", base, ascii_upper(handle))


def prefix_key(base: str, prefix: str) -> Key:
    """Return the key of a prefix's entry; its body is the agency's name, or empty."""
    return Key("prefix", base, ascii_upper(prefix))


def mark_key(base: str) -> Key:
    """Return the key of the mark that the records of ``base`` are complete."""
    return Key("registry", base, "")


def record_entry(record: HandleRecord) -> Entry:
    """Return the entry to store for a record: a REST answer with all its values."""
    code = 1 if record.values else 200
    values = [value.to_json() for value in record.values]
    body = write_json({"responseCode": code, "handle": record.handle, "values": values})
    is_public = body.endswith(_VALUES + PublicValues.of(record.values).body + b"}")
    media_type = "application/json" + (_PUBLIC if is_public else "")
    return Entry(body, media_type + (_WITH_METADATA if record.metadata else ""), NEVER_EXPIRES)


def metadata_entry(record: HandleRecord) -> Entry:
    """Return the entry to store for a record's metadata: texts by media type."""
    texts = {media_type: body.decode() for media_type, body in record.metadata.items()}
    return Entry(write_json(texts), "application/json", NEVER_EXPIRES)


def states_metadata(record: Entry) -> bool:
    """Return whether the entry of a record says that there is an entry with its metadata."""
    return record.media_type.endswith(_WITH_METADATA)


def _public_values(handle: str, entry: Entry) -> PublicValues | None:
    has_metadata = states_metadata(entry)
    if _PUBLIC in entry.media_type:
        # Quotes inside strings are escaped, so the first match is where the list starts.
        return PublicValues(entry.body[entry.body.index(_VALUES) + len(_VALUES) : -1], has_metadata)
    try:
        record = check_record(json.loads(entry.body))
    except ValueError as error:
        raise SourceError(f"the store's record of {handle} is not valid: {error}") from None
    return None if record is None else PublicValues.of(record[1], has_metadata=has_metadata)
