"""Register records in a store, and list those that are registered."""

from __future__ import annotations

import itertools
import json
import logging
import os
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, TypeVar

from doiuri.rest import ascii_upper, write_json

from doiuri_proxy.records._files import Agencies, read_records
from doiuri_proxy.records._store import (
    NEVER_EXPIRES,
    mark_key,
    open_records_store,
    prefix_key,
    record_entry,
    record_key,
    text_entry,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from doiuri.resolver import Entry, Key, SQLiteStore

    from doiuri_proxy.records._files import HandleRecord
    from doiuri_proxy.records._validation import RecordsInput

T = TypeVar("T")

BATCH_SIZE = 1000  # records in a transaction, or read at a time

_log = logging.getLogger("doiuri_proxy")


class Registry:
    """The records of one base in a store; two names must not differ in ASCII case only."""

    def __init__(self, address: str, base: str, *, write: bool = True) -> None:
        """Open the store at a path. Raises ValueError if it cannot be one.

        :param write: create the store if it does not exist, and wait until no other process registers records
            in it; otherwise raise OSError if it does not exist
        """
        self.store = open_records_store(address)
        self._base = base.rstrip("/")
        self._locked = ExitStack()
        if write:
            self.store.update({})  # creates the file
            if (file := _lock_file(self.store.path)) is not None:
                self._locked.enter_context(file)
        elif not self.store.path.exists():
            raise FileNotFoundError(f"there is no store at {self.store.path}")

    def register(self, records: RecordsInput) -> int:
        """Store records and return how many. Raises RecordsError if one is invalid, and then stores none."""
        seen: set[str] = set()
        for batch in _batches(read_records(records)):
            self._check([item for item in batch if not isinstance(item, Agencies)], seen)
        for batch in _batches(read_records(records)):
            self._put(batch)
        # until all are stored, a name that the store lacks is unknown, not "not found"
        self.store.update({mark_key(self._base): text_entry("")})
        return len(seen)

    def registered(self, handle: str) -> str | None:
        """Return the name under which ``handle`` is registered, which may differ in ASCII case, or None."""
        return self._registered([handle]).get(ascii_upper(handle))

    def remove(self, handles: Sequence[str]) -> list[str]:
        """Delete records and return their names.

        Raises ValueError if one is not registered, and then deletes none.
        """
        names = self._registered(handles)
        for handle in handles:
            if ascii_upper(handle) not in names:
                raise ValueError(f"{handle} is not in {self.store.path}")
        self.store.update({}, [record_key(self._base, handle) for handle in handles])
        return list(names.values())

    def names(self, start: str = "") -> Iterator[str]:
        """Yield the names that begin with ``start``, sorted without regard to ASCII case."""
        with self.store.snapshot() as snapshot:
            for key, entry in self._entries(snapshot, start):
                yield _name(key, entry)

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of a records file (JSON Lines) with all agencies, records and metadata.

        Raises ValueError if the store is not a complete registry: one that imports the lines would be.
        """
        with self.store.snapshot() as snapshot:
            mark = mark_key(self._base)
            if mark not in snapshot.get_many([mark]):
                raise ValueError(
                    f"{self.store.path} is not a complete registry of {self._base}: it is a cache, or an"
                    " import was interrupted; repeat the import first"
                )
            prefixes = _read(snapshot, snapshot.keys("prefix", self._base))
            if agencies := {key.doi: entry.body.decode() for key, entry in prefixes if entry.body}:
                yield write_json({"agencies": agencies}) + b"\n"
            for key, entry in self._entries(snapshot):
                _name(key, entry)  # a damaged entry ends the export
                yield entry.body + b"\n"

    def close(self) -> None:
        """Close the store, and let other processes register."""
        self._locked.close()
        self.store.close()

    def _entries(self, snapshot: SQLiteStore.Snapshot, start: str = "") -> Iterator[tuple[Key, Entry]]:
        """Yield the records; cached answers are left out."""
        cached = 0
        for key, entry in _read(snapshot, snapshot.keys("record", self._base, ascii_upper(start))):
            if entry.expires >= NEVER_EXPIRES:
                yield key, entry
            else:
                cached += 1
        if cached:
            _log.warning("%d cached answers left out: they are not registered", cached)

    def _registered(self, handles: Iterable[str]) -> dict[str, str]:
        """Return the registered names of those handles that have one, by the handle in upper case."""
        keys = [record_key(self._base, handle) for handle in handles]
        answers = {key.doi: json.loads(entry.body) for key, entry in self._get(keys).items()}
        return {key: answer["handle"] for key, answer in answers.items() if answer.get("responseCode") != 100}

    def _get(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        """Return entries, or raise OSError: a name that cannot be read may be registered."""
        with self.store.snapshot() as snapshot:
            return snapshot.get_many(keys)

    def _check(self, records: list[HandleRecord], seen: set[str]) -> None:
        registered = self._registered(record.handle for record in records)
        for record in records:
            key = ascii_upper(record.handle)
            name = registered.get(key, record.handle)
            if name != record.handle:
                raise record.position.error(f"{record.handle} already exists as {name}")
            if key in seen:
                raise record.position.error(f"{record.handle} already exists in an earlier record")
            seen.add(key)
            try:
                record_entry(record)
            except (TypeError, ValueError, RecursionError) as error:  # 1e400, for instance
                raise record.position.error(f"{record.handle}: {error}") from None

    def _put(self, batch: list[HandleRecord | Agencies]) -> None:
        agencies: dict[Key, Entry] = {}
        records: dict[Key, Entry] = {}
        new: set[Key] = set()  # prefixes of records; those that have no entry yet have no agency
        for item in batch:
            if isinstance(item, Agencies):
                agencies |= {prefix_key(self._base, p): text_entry(name) for p, name in item.names.items()}
            else:
                records[record_key(self._base, item.handle)] = record_entry(item)
                new.add(prefix_key(self._base, item.handle.partition("/")[0]))
        new -= self._get(list(new)).keys()
        self.store.update(dict.fromkeys(new, text_entry("")) | agencies | records)


def _lock_file(store: Path) -> IO[bytes] | None:
    """Lock the registry of a store against other processes, until what is returned is closed."""
    if os.name == "nt":  # no fcntl: the last writer wins
        return None
    import fcntl

    try:
        file = store.with_name(f"{store.name}-register").open("ab")
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        raise OSError(f"cannot write the store {store}: {error.strerror}") from None
    return file


def _read(snapshot: SQLiteStore.Snapshot, keys: Iterable[Key]) -> Iterator[tuple[Key, Entry]]:
    """Yield the entries of keys, in order."""
    for batch in _batches(keys):
        entries = snapshot.get_many(batch)
        yield from ((key, entries[key]) for key in batch if key in entries)


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    items = iter(items)
    while batch := list(itertools.islice(items, BATCH_SIZE)):
        yield batch


def _name(key: Key, entry: Entry) -> str:
    """Return the name that a record states. Raises ValueError if the entry is damaged."""
    try:
        return str(json.loads(entry.body)["handle"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"the store's record of {key.doi} is damaged: {error}") from None
