"""The records of a store as they are at one moment: their names, and a records file with all of them."""

from __future__ import annotations

import itertools
import json
import logging
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from doiuri.rest import ascii_upper, write_json

from doiuri_proxy.records._store import (
    NEVER_EXPIRES,
    mark_key,
    metadata_key,
    open_records_store,
    states_metadata,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri.resolver import Entry, Key, SQLiteStore

BATCH_SIZE = 500  # records read at a time

_log = logging.getLogger("doiuri_proxy")


class Listing:
    """The registered records of one base in a snapshot of a store; cached answers are left out."""

    def __init__(self, snapshot: SQLiteStore.Snapshot, address: str, base: str) -> None:
        self._snapshot = snapshot
        self._address = address
        self._base = base.rstrip("/")

    def names(self, start: str = "") -> Iterator[str]:
        """Yield the names that begin with ``start``, sorted without regard to ASCII case."""
        for key, entry, _ in self._entries(start):
            yield _name(key, entry)

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of a records file (JSON Lines) with all agencies, records and metadata.

        Raises ValueError if the store is not a complete registry: one that imports the lines would be.
        """
        mark = mark_key(self._base)
        if mark not in self._snapshot.get_many([mark]):
            raise ValueError(
                f"{self._address} is not a complete registry of {self._base}: it is a cache, or an import was"
                " interrupted; repeat the import first"
            )
        if agencies := self._agencies():
            yield write_json({"agencies": agencies}) + b"\n"
        for key, entry, metadata in self._entries():
            _name(key, entry)  # a damaged entry ends the export
            if metadata is None:
                yield entry.body + b"\n"
            else:
                yield entry.body[:-1] + b',"metadata":' + metadata.body + b"}\n"

    def _agencies(self) -> dict[str, str]:
        agencies: dict[str, str] = {}
        for batch in _batches(self._snapshot.keys("prefix", self._base)):
            entries = self._snapshot.get_many(batch)
            found = ((key.doi, entries[key].body.decode()) for key in batch if key in entries)
            agencies |= {prefix: name for prefix, name in found if name}
        return agencies

    def _entries(self, start: str = "") -> Iterator[tuple[Key, Entry, Entry | None]]:
        """Yield the key and the entry of each record, and that of its metadata."""
        cached = 0
        for batch in _batches(self._snapshot.keys("record", self._base, ascii_upper(start))):
            found = self._snapshot.get_many(batch)
            entries = {key: entry for key, entry in found.items() if entry.expires >= NEVER_EXPIRES}
            cached += len(found) - len(entries)
            contents = {
                key: metadata_key(self._base, key.doi)
                for key, entry in entries.items()
                if states_metadata(entry)
            }
            metadata = self._snapshot.get_many([*contents.values()])
            for key in batch:
                if key in entries:
                    yield key, entries[key], metadata.get(contents.get(key, key))
        if cached:
            _log.warning("%d cached answers left out: they are not registered", cached)


@contextmanager
def open_listing(address: str, base: str) -> Iterator[Listing]:
    """Open the records of ``base`` in the store at a path. Raises ValueError, OSError."""
    with closing(open_existing(address)) as store, store.snapshot() as snapshot:
        yield Listing(snapshot, address, base)


def open_existing(address: str) -> SQLiteStore:
    """Open the store at a path, which is not created. Raises ValueError if it does not exist."""
    store = open_records_store(address)
    if not store.path.exists():
        raise ValueError(f"there is no store at {store.path}")
    return store


def _name(key: Key, entry: Entry) -> str:
    """Return the name that a record states. Raises ValueError if the entry is damaged."""
    try:
        return str(json.loads(entry.body)["handle"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"the store's record of {key.doi} is damaged: {error}") from None


def _batches(keys: Iterable[Key]) -> Iterator[list[Key]]:
    keys = iter(keys)
    while batch := list(itertools.islice(keys, BATCH_SIZE)):
        yield batch
