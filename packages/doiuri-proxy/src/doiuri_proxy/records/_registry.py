"""Register records in a store."""

from __future__ import annotations

import itertools
import json
import os
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING

from doiuri.resolver import Entry
from doiuri.rest import ascii_upper

from doiuri_proxy.records._files import Agencies, read_records
from doiuri_proxy.records._store import (
    NEVER_EXPIRES,
    mark_key,
    metadata_entry,
    metadata_key,
    open_records_store,
    prefix_key,
    record_entry,
    record_key,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from doiuri.resolver import Key

    from doiuri_proxy.records._files import HandleRecord
    from doiuri_proxy.records._validation import RecordsInput

BATCH_SIZE = 2000  # records per transaction


class Registry:
    """Registers records in a store; refuses names that differ from a registered one in ASCII case only."""

    def __init__(self, address: str, base: str) -> None:
        """Open the store at a path, or create it. Raises ValueError if it cannot be one.

        Waits until no other process registers records in the store.
        """
        self._store = open_records_store(address)
        #: the store's path; for a folder, that of the file in it
        self.address = str(self._store.path)
        self._base = base.rstrip("/")
        self._store.update({})  # creates the file
        self._locked = ExitStack()
        if (file := _lock_file(self._store.path)) is not None:
            self._locked.enter_context(file)

    def register(self, records: RecordsInput) -> int:
        """Store records and return how many. Raises RecordsError if one is invalid, and then stores none."""
        seen: set[str] = set()
        for batch in _batches(records):
            self._check(batch, seen)
        counts = [self._put(batch) for batch in _batches(records)]
        if counts:  # until all are stored, a name that the store lacks is unknown, not "not found"
            self._store.update({mark_key(self._base): _text_entry("")})
        return sum(counts)

    def registered(self, handle: str) -> str | None:
        """Return the name under which ``handle`` is registered, which may differ in ASCII case, or None."""
        return self._registered([handle]).get(ascii_upper(handle))

    def remove(self, handles: Sequence[str]) -> list[str]:
        """Delete records with their metadata and return their names.

        Raises ValueError if one is not registered, and then deletes none.
        """
        names = self._registered(handles)
        for handle in handles:
            if ascii_upper(handle) not in names:
                raise ValueError(f"{handle} is not in {self.address}")
        gone = [key(self._base, handle) for handle in handles for key in (record_key, metadata_key)]
        self._store.update({}, gone)
        return list(names.values())

    def close(self) -> None:
        """Close the store, and let other processes register."""
        self._locked.close()
        self._store.close()

    def _registered(self, handles: Iterable[str]) -> dict[str, str]:
        """Return the registered names of those handles that have one, by the handle in upper case."""
        keys = {record_key(self._base, handle): ascii_upper(handle) for handle in handles}
        answers = {keys[key]: json.loads(entry.body) for key, entry in self._read(list(keys)).items()}
        return {key: answer["handle"] for key, answer in answers.items() if answer.get("responseCode") != 100}

    def _read(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        """Return entries, or raise OSError: a name that cannot be read may be registered."""
        with self._store.snapshot() as snapshot:
            return snapshot.get_many(keys)

    def _check(self, batch: list[HandleRecord | Agencies], seen: set[str]) -> None:
        records = [item for item in batch if not isinstance(item, Agencies)]
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

    def _put(self, batch: list[HandleRecord | Agencies]) -> int:
        records = [item for item in batch if not isinstance(item, Agencies)]
        entries = self._prefix_entries(records)
        for item in batch:
            if isinstance(item, Agencies):
                entries |= {prefix_key(self._base, p): _text_entry(name) for p, name in item.names.items()}
        entries |= {record_key(self._base, record.handle): record_entry(record) for record in records}
        entries |= {
            metadata_key(self._base, record.handle): metadata_entry(record)
            for record in records
            if record.metadata
        }
        self._store.update(entries)
        return len(records)

    def _prefix_entries(self, records: list[HandleRecord]) -> dict[Key, Entry]:
        """Return entries for the prefixes of ``records`` that have none yet, and thus no agency."""
        keys = {prefix_key(self._base, record.handle.partition("/")[0]) for record in records}
        return dict.fromkeys(keys - self._read(list(keys)).keys(), _text_entry(""))


def _lock_file(store: Path) -> IO[bytes] | None:
    """Lock the registry of a store against other processes, until what is returned is closed."""
    if os.name == "nt":  # no fcntl: the last writer wins
        return None
    import fcntl

    try:
        store.parent.mkdir(parents=True, exist_ok=True)
        file = store.with_name(f"{store.name}-register").open("ab")
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        raise OSError(f"cannot write the store {store}: {error.strerror}") from None
    return file


def _batches(records: RecordsInput) -> Iterator[list[HandleRecord | Agencies]]:
    items = read_records(records)
    while batch := list(itertools.islice(items, BATCH_SIZE)):
        yield batch


def _text_entry(text: str) -> Entry:
    return Entry(text.encode(), "text/plain", NEVER_EXPIRES)
