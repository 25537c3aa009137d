"""Records in a store of the core (SQLite, Redis): reading them, and registering new ones."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from typing import IO, TYPE_CHECKING

from doiuri.resolver import Entry, RedisStore, SQLiteStore, open_store

from doiuri_proxy.records._agencies import parents
from doiuri_proxy.records._files import read_records
from doiuri_proxy.records._records import Agencies, check_record, handle_key
from doiuri_proxy.records._source import Found, LocalSource, SourceError, dump

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from doiuri_proxy.records._records import HandleRecord, RecordsInput

FOREVER = 253402300799.0  # Unix seconds: the last of the year 9999
BATCH = 2000  # records registered at a time
PUBLIC = "application/json;profile=public"  # a REST answer whose values may be sent as they stand

_VALUES = b',"values":'


class StoreSource(LocalSource):
    """The records of a store, those of one base: registered ones, or what a Resolver has stored.

    Registering leaves a mark in the store. Where it stands, a name that is not there is not registered;
    where not (a cache, or a store in trouble), nothing is known about such a name: SourceError.
    """

    def __init__(self, address: str, base: str) -> None:
        """Open the store at a path or URL; raises ValueError for a bad one."""
        self._store = open_store(address)
        self._base = base.rstrip("/")
        # SQLite answers in microseconds; another machine may take its time
        self._local = isinstance(self._store, SQLiteStore)

    async def find(self, handle: str, *, auth: bool = False, cert: bool = False) -> Found | None:  # noqa: ARG002
        """Look a handle up; records here are never too old."""
        key, mark = _key("record", self._base, handle), _mark(self._base)
        entries = await self._get([key]) or await self._get([key, mark])  # the mark is for what is not there
        if key in entries:
            return _found(handle, entries[key])
        if mark not in entries:
            raise SourceError(f"{handle} is not in the store, which may not be complete")
        return None

    async def knows_prefix(self, prefix: str) -> bool:
        """Tell whether a record was registered with the prefix, or it has an agency or a prefix record."""
        keys = [_key("prefix", self._base, prefix), _key("record", self._base, f"0.NA/{prefix}")]
        return bool(await self._get(keys))

    async def registered_agency(self, handle: str) -> str | None:
        """Name the agency of the longest prefix that was registered with one."""
        keys = [_key("prefix", self._base, part) for part in (handle, *parents(handle))]
        entries = await self._get(keys)
        return next(
            (entries[key].body.decode() for key in keys if key in entries and entries[key].body), None
        )

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    async def _get(self, keys: list[str]) -> dict[str, Entry]:
        if self._local:
            return self._store.get_many(keys)
        return await asyncio.to_thread(self._store.get_many, keys)


class Registry:
    """Puts records into a store; a name registered in another ASCII case is refused (Z39.84 §4)."""

    def __init__(self, address: str, base: str) -> None:
        """Open the store at a path or URL, made if it is not there; raises ValueError for a bad one."""
        self._store = open_store(address)
        if not isinstance(self._store, SQLiteStore | RedisStore) or address.endswith((".jsonl", ".ndjson")):
            raise ValueError(f"{address} is no SQLite file or Redis URL to register records in")
        #: where the records are: of a folder, the file in it
        self.address = str(self._store.path) if isinstance(self._store, SQLiteStore) else address
        self._turn = _wait_for_turn(self._store.path) if isinstance(self._store, SQLiteStore) else None
        self._base = base.rstrip("/")

    def register(self, records: RecordsInput) -> int:
        """Check all records, then store them, and return how many; raises RecordsError, and stores none."""
        seen: set[str] = set()
        for batch in _batches(read_records(records)):
            self._check(batch, seen)
        count = 0
        for batch in _batches(read_records(records)):
            count += self._put(batch)
        return count

    def registered(self, handle: str) -> str | None:
        """Return how a name is registered, in whichever ASCII case; None if it is not."""
        return self._registered([handle]).get(handle_key(handle))

    def close(self) -> None:
        """Close the store."""
        self._store.close()
        if self._turn is not None:
            self._turn.close()

    def _registered(self, handles: Iterable[str]) -> dict[str, str]:
        keys = {_key("record", self._base, handle): handle_key(handle) for handle in handles}
        answers = {
            keys[key]: json.loads(entry.body) for key, entry in self._store.get_many(list(keys)).items()
        }
        return {key: answer["handle"] for key, answer in answers.items() if answer.get("responseCode") != 100}

    def _check(self, batch: list[HandleRecord | Agencies], seen: set[str]) -> None:
        records = [item for item in batch if not isinstance(item, Agencies)]
        there = self._registered(record.handle for record in records)
        for record in records:
            key = handle_key(record.handle)
            if key in seen or there.get(key, record.handle) != record.handle:
                name = there.get(key, "an earlier record")
                raise record.place.error(f"{record.handle} is already there: {name}")
            seen.add(key)

    def _put(self, batch: list[HandleRecord | Agencies]) -> int:
        records = [item for item in batch if not isinstance(item, Agencies)]
        agencies = {p: name for item in batch if isinstance(item, Agencies) for p, name in item.names.items()}
        prefixes = {record.handle.partition("/")[0] for record in records}
        keys = {_key("prefix", self._base, prefix): "" for prefix in prefixes}
        keys = dict.fromkeys(keys.keys() - self._store.get_many(list(keys)).keys(), "")
        keys |= {_key("prefix", self._base, prefix): name for prefix, name in agencies.items()}
        entries = {key: Entry(name.encode(), "text/plain", FOREVER) for key, name in keys.items()}
        entries |= {_key("record", self._base, record.handle): _entry(record) for record in records}
        entries[_mark(self._base)] = Entry(b"", "text/plain", FOREVER)
        self._store.put_many(entries)
        return len(records)


def _wait_for_turn(store: Path) -> IO[bytes] | None:
    """Wait until no other process registers here, so that what was checked holds until it is stored."""
    if os.name == "nt":  # the last of two wins
        return None
    import fcntl

    try:
        store.parent.mkdir(parents=True, exist_ok=True)
        turn = store.with_name(f"{store.name}-register").open("ab")
        fcntl.flock(turn, fcntl.LOCK_EX)
    except OSError as error:
        raise OSError(f"the store {store} cannot be written: {error.strerror}") from None
    return turn


def _found(handle: str, entry: Entry) -> Found | None:
    if entry.media_type == PUBLIC:
        # quotes inside strings are escaped, so this is where the list begins
        return Found(entry.body[entry.body.index(_VALUES) + len(_VALUES) : -1])
    try:
        record = check_record(json.loads(entry.body))
    except ValueError as error:
        raise SourceError(f"the store's record of {handle} is damaged: {error}") from None
    return None if record is None else Found.of(record[1])


def _entry(record: HandleRecord) -> Entry:
    code = 1 if record.values else 200
    values = [value.to_json() for value in record.values]
    body = dump({"responseCode": code, "handle": record.handle, "values": values})
    kind = PUBLIC if body.endswith(_VALUES + Found.of(record.values).body + b"}") else "application/json"
    return Entry(body, kind, FOREVER)


def _batches(items: Iterable[HandleRecord | Agencies]) -> Iterable[list[HandleRecord | Agencies]]:
    iterator = iter(items)
    return iter(lambda: list(itertools.islice(iterator, BATCH)), [])


def _key(kind: str, base: str, handle: str) -> str:
    return f"{kind} {base} {handle_key(handle)}"


def _mark(base: str) -> str:
    return f"registry {base}"
