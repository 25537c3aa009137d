"""Records in an SQLite store: read them, register them, list those that are registered."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import time
from typing import TYPE_CHECKING, TypeVar

from doiuri.records import ascii_upper
from doiuri.resolver import Entry, Key, SQLiteStore, open_store
from doiuri.rest.server import prefixes, read_metadata, write_json

from doiuri_proxy.records._files import check_record, read_records
from doiuri_proxy.records._source import LocalSource, PublicValues, SourceError, bounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from doiuri_proxy.records._files import Agencies, HandleRecord, RecordsInput

T = TypeVar("T")

BATCH_SIZE = 1000  # records in a transaction, or read at a time
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

    def find(self, handle: str) -> PublicValues | None:
        """Return the values of a handle, however old its entry is."""
        entry = self._get(_record_key(self._base, handle))
        if entry is not None:
            return _public_values(handle, entry)
        if self._get(_mark_key(self._base)) is None:
            raise SourceError(f"{handle} is not in the store, and the store is not a complete registry")
        return None

    async def metadata(self, handle: str, accept: str) -> Mapping[str, bytes]:  # noqa: ARG002
        """Return all metadata of a handle."""
        entry = self._get(_record_key(self._base, handle))
        if entry is None or not entry.media_type.endswith(_WITH_METADATA):
            return {}
        try:
            return read_metadata(json.loads(entry.body)["metadata"])
        except (ValueError, KeyError) as error:
            raise SourceError(f"the store's metadata of {handle} is not valid: {error}") from None

    def has_prefix(self, prefix: str) -> bool:
        """Return whether a record or an agency was registered with the prefix, or it has a prefix record."""
        keys = [_prefix_key(self._base, prefix), _record_key(self._base, f"0.NA/{prefix}")]
        return bool(self._store.get_many(keys))

    def find_agency(self, handle: str) -> str | None:
        """Return the agency registered for the longest prefix of ``handle``."""
        keys = [_prefix_key(self._base, part) for part in (handle, *prefixes(handle))]
        entries = self._store.get_many(keys)
        names = (entries[key].body.decode() for key in keys if key in entries)
        return next(filter(None, names), None)

    async def count(self) -> int | None:
        """Return the number of entries for records, of an earlier count if counting takes long; else None."""
        if time.monotonic() >= self._count_again and (self._counting is None or self._counting.done()):
            self._counting = asyncio.ensure_future(asyncio.to_thread(self._count_records))
        if self._counting is not None:
            await asyncio.wait([self._counting], timeout=COUNT_TIME)
        return self._count

    async def check(self) -> Mapping[str, str]:
        """Return why the store cannot be read."""
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
        try:
            with self._store.snapshot() as snapshot:
                snapshot.get_many([_mark_key(self._base)])
        except OSError as error:
            return str(error)
        return ""


class Registry:
    """The records of one base in a store; two names must not differ in ASCII case only."""

    def __init__(self, address: str, base: str, *, create: bool = True) -> None:
        """Open the store at a path. Raises ValueError if it cannot be one.

        :param create: create the store if it does not exist; otherwise raise OSError
        """
        self.store = open_records_store(address)
        self._base = base.rstrip("/")
        if create:
            self.store.update({})
        elif not self.store.path.exists():
            raise FileNotFoundError(f"there is no store at {self.store.path}")

    def register(self, records: RecordsInput) -> int:
        """Store records and return how many. Raises RecordsError if one is invalid, and then stores none."""
        seen: set[str] = set()
        for batch in _batches(read_records(records)):
            self._check([item for item in batch if not isinstance(item, dict)], seen)
        mark: dict[Key, Entry] = {}  # until all are stored, a name that the store lacks is unknown
        for batch in _batches(read_records(records)):
            self._put(batch)
            mark = {_mark_key(self._base): _text_entry("")}
        self.store.update(mark)
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
        self.store.update({}, [_record_key(self._base, handle) for handle in handles])
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
            mark = _mark_key(self._base)
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
        """Close the store."""
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
        keys = [_record_key(self._base, handle) for handle in handles]
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
                _record_entry(record)
            except (TypeError, ValueError, RecursionError) as error:  # 1e400, for instance
                raise record.position.error(f"{record.handle}: {error}") from None

    def _put(self, batch: list[HandleRecord | Agencies]) -> None:
        agencies: dict[Key, Entry] = {}
        records: dict[Key, Entry] = {}
        new: set[Key] = set()  # prefixes of records; those that have no entry yet have no agency
        for item in batch:
            if isinstance(item, dict):
                agencies |= {_prefix_key(self._base, p): _text_entry(name) for p, name in item.items()}
            else:
                records[_record_key(self._base, item.handle)] = _record_entry(item)
                new.add(_prefix_key(self._base, item.handle.partition("/")[0]))
        new -= self._get(list(new)).keys()
        self.store.update(dict.fromkeys(new, _text_entry("")) | agencies | records)


def open_records_store(address: str) -> SQLiteStore:
    """Open a store that can hold records, at a path. Raises ValueError for any other address."""
    store = open_store(address)
    if not isinstance(store, SQLiteStore) or address.endswith((".jsonl", ".ndjson")):
        raise ValueError(f"{address} is not an SQLite file: it cannot hold records")
    return store


def _record_key(base: str, handle: str) -> Key:
    """Return the key of a record's entry: the one under which a Resolver stores it, too."""
    return Key("record", base, ascii_upper(handle))


def _prefix_key(base: str, prefix: str) -> Key:
    """Return the key of a prefix's entry; its body is the agency's name, or empty."""
    return Key("prefix", base, ascii_upper(prefix))


def _mark_key(base: str) -> Key:
    """Return the key of the mark that the records of ``base`` are complete."""
    return Key("registry", base, "")


def _record_entry(record: HandleRecord) -> Entry:
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


def _text_entry(text: str) -> Entry:
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
