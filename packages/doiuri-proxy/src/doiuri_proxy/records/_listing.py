"""The records of a store as they are at one moment: their names, and a records file with all of them."""

from __future__ import annotations

import itertools
import json
import logging
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from doiuri.resolver import Entry, SQLiteStore
from doiuri.rest import write_json

from doiuri_proxy.records._files import HandleRecord, Position
from doiuri_proxy.records._store import (
    NEVER_EXPIRES,
    metadata_key,
    open_records_store,
    prefix_key,
    record_entry,
    record_key,
    states_metadata,
)
from doiuri_proxy.records._validation import check_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri.resolver import RedisStore, StoreSnapshot

BATCH_SIZE = 500  # records read at a time

_log = logging.getLogger("doiuri_proxy")


class Listing:
    """The records of one base in a snapshot of a store."""

    def __init__(self, snapshot: StoreSnapshot, base: str) -> None:
        self._snapshot = snapshot
        self._base = base.rstrip("/")

    def names(self, start: str = "") -> Iterator[str]:
        """Yield the registered names that begin with ``start``, sorted without regard to ASCII case."""
        for key, entry, _ in self._entries(start):
            record = _parse(key, entry)
            if record is not None:
                yield record["handle"]

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of a records file (JSON Lines) with all agencies, records and metadata."""
        if agencies := self._agencies():
            yield write_json({"agencies": agencies}) + b"\n"
        for key, entry, metadata in self._entries():
            line = _line(key, entry, metadata)
            if line is not None:
                yield line

    def _agencies(self) -> dict[str, str]:
        start = prefix_key(self._base, "")
        agencies: dict[str, str] = {}
        for batch in _batches(self._snapshot.keys(start)):
            entries = self._snapshot.get_many(batch)
            found = ((key, entries[key].body.decode()) for key in batch if key in entries)
            agencies |= {key.removeprefix(start): name for key, name in found if name}
        return agencies

    def _entries(self, start: str = "") -> Iterator[tuple[str, Entry, Entry | None]]:
        """Yield the key and the entry of each record, and that of its metadata."""
        prefix = record_key(self._base, "")
        for batch in _batches(self._snapshot.keys(record_key(self._base, start))):
            entries = self._snapshot.get_many(batch)
            contents = {
                key: metadata_key(self._base, key.removeprefix(prefix))
                for key, entry in entries.items()
                if states_metadata(entry)
            }
            metadata = self._snapshot.get_many([*contents.values()])
            for key in batch:
                if key in entries:
                    yield key, entries[key], metadata.get(contents.get(key, ""))


@contextmanager
def open_listing(address: str, base: str) -> Iterator[Listing]:
    """Open the records of ``base`` in the store at a path or URL. Raises ValueError, OSError."""
    with closing(open_existing(address)) as store, store.snapshot() as snapshot:
        yield Listing(snapshot, base)


def open_existing(address: str) -> SQLiteStore | RedisStore:
    """Open the store at a path or URL, which is not created. Raises ValueError if it does not exist."""
    store = open_records_store(address)
    if isinstance(store, SQLiteStore) and not store.path.exists():
        raise ValueError(f"there is no store at {store.path}")
    return store


def _line(key: str, entry: Entry, metadata: Entry | None) -> bytes | None:
    """Return the line of a record; None if it records "not found", or is a cached one that is not valid."""
    if entry.expires < NEVER_EXPIRES:  # cached: in the form in which a server sent it
        try:
            record = check_record(json.loads(entry.body))
        except ValueError as error:
            _log.warning("%s: left out, because it is not valid: %s", key, error)
            return None
        if record is None:
            return None
        entry = record_entry(HandleRecord(*record, Position(key)))
    elif _parse(key, entry) is None:
        return None
    if metadata is None:
        return entry.body + b"\n"
    return entry.body[:-1] + b',"metadata":' + metadata.body + b"}\n"


def _parse(key: str, entry: Entry) -> dict[str, Any] | None:
    """Return a record's JSON; None if it records "not found". Raises ValueError if the entry is damaged."""
    try:
        record: dict[str, Any] = json.loads(entry.body)
        return record if record["handle"] and record.get("responseCode") != 100 else None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the store's entry {key!r} is damaged: {error}") from None


def _batches(keys: Iterable[str]) -> Iterator[list[str]]:
    keys = iter(keys)
    while batch := list(itertools.islice(keys, BATCH_SIZE)):
        yield batch
