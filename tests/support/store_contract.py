"""What every store promises, as a table of checks: in memory, SQLite, Redis, a lock file."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from doiuri.resolver import Entry, Key, LockFile, MemoryStore, RedisStore, SQLiteStore
from support.processes import forked, status_of


class Kept(dict[Key, Entry]):
    """A store that shows what it has."""

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        return {key: self[key] for key in keys if key in self}

    def put_many(self, entries: Mapping[Key, Entry]) -> None:
        self.update(entries)


AnyStore = MemoryStore | SQLiteStore | LockFile | RedisStore

BASE = "https://doi.org"
JSON = "application/json"


def key(doi: str, kind: str = "record", base: str = BASE, detail: str = "") -> Key:
    return Key(kind, base, doi, detail)


def json_entries(names: Iterable[str], kind: str = "exists", size: int = 0) -> dict[Key, Entry]:
    """Entries that differ, for DOIs 10.1000/name."""
    return {
        key(f"10.1000/{name.upper()}", kind): Entry(
            json.dumps({"n": name + "x" * size}).encode(), JSON, 2e9
        )
        for name in names
    }


RECORD = {"responseCode": 1, "handle": "10.1000/ü", "values": []}
ENTRIES = {
    key("10.1000/Ü"): Entry(json.dumps(RECORD).encode(), JSON, 1.0),
    key("10.1000/Ü", "exists"): Entry(b'{"DOI":"10.1000/\xc3\xbc","RA":"Crossref"}', JSON, 2e9),
    key("10.1000/1", "metadata", detail="text/x-bibliography"): Entry(
        "Knüth\n".encode(), "text/x-bib", 2e9
    ),
    key("10.1000/1", "metadata", detail="image/png"): Entry(b"\x89PNG\xff\x00", "image/png", 2e9),
    key("10.1000/1", "exists"): Entry(b"", JSON, 2e9),
    key("10.1000/1"): Entry(b'{"responseCode":1,"handle":"10.1000/1"}', JSON, 2e9),
    key("10.1000/A B"): Entry(b'{"responseCode":100,"handle":"10.1000/a b"}', JSON, 1e12),
}
KEYS = list(ENTRIES)
NO_TEXT = (
    ENTRIES[KEYS[3]],
    ENTRIES[KEYS[4]],
)  # neither text nor JSON, which is all that a lock file holds
NONE = key("10.1000/none")


def same(store: AnyStore, found: dict[Key, Entry], stored: dict[Key, Entry]) -> bool:
    """Return whether entries came back; a lock file drops expiries and writes JSON in its own way."""
    if not isinstance(store, LockFile):
        return found == stored
    stored = {key: entry for key, entry in stored.items() if entry not in NO_TEXT}
    return content(found) == content(stored) and {entry.expires for entry in found.values()} <= {
        math.inf
    }


def content(entries: dict[Key, Entry]) -> dict[Key, tuple[str, object]]:
    return {key: (entry.media_type, read(entry.body)) for key, entry in entries.items()}


def read(body: bytes) -> object:
    return json.loads(body) if body[:1] == b"{" else body


def what_was_put_is_found_stale_or_not_until_it_is_replaced(store: AnyStore) -> None:
    assert store.get_many([*KEYS]) == {}
    store.put_many(ENTRIES)
    assert same(store, store.get_many([NONE, *KEYS, KEYS[0]]), ENTRIES)
    assert store.get_many([]) == {}
    newer = {KEYS[0]: Entry(json.dumps(RECORD | {"handle": "10.1000/Ü"}).encode(), JSON, 3e9)}
    store.put_many(newer)
    store.put_many({})
    assert same(store, store.get_many(KEYS), ENTRIES | newer)


def keys_that_differ_in_one_part_are_told_apart(store: AnyStore) -> None:
    store.put_many({KEYS[2]: ENTRIES[KEYS[2]]})
    others = [KEYS[2]._replace(kind="reference"), KEYS[2]._replace(doi="10.1000/2"), KEYS[3]]
    if not isinstance(store, LockFile):  # its answers are found for every resolver
        others.append(KEYS[2]._replace(base="http://127.0.0.1"))
    assert store.get_many(others) == {}


def threads_share_thousands_of_entries(store: AnyStore) -> None:
    numbers = [*map(str, range(8 * 170))]
    parts = [json_entries(numbers[thread::8]) for thread in range(8)]

    def work(part: dict[Key, Entry]) -> None:
        store.put_many(part)
        assert store.get_many(list(part)).keys() == part.keys()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, parts))
    entries: dict[Key, Entry] = {}
    for part in parts:
        entries |= part
    assert same(store, store.get_many(list(entries)), entries)


def the_child_of_a_fork_uses_it_and_a_closed_one_opens_again(store: AnyStore) -> None:
    """The child has locks of its own: it goes on when the parent closes the store."""
    store.put_many(ENTRIES)
    reading, writing = os.pipe()
    new = json_entries(["child"])

    def use() -> None:
        assert same(store, store.get_many(KEYS), ENTRIES)
        assert os.read(reading, 1)
        store.put_many(new)

    child = forked(use)
    store.close()
    os.write(writing, b"x")
    assert status_of(child) == 0
    assert same(store, store.get_many(KEYS), ENTRIES)
    assert isinstance(store, MemoryStore) or same(store, store.get_many([*new]), new)
    os.close(reading)
    os.close(writing)


def it_is_measured_and_cleared(store: AnyStore) -> None:
    if isinstance(store, LockFile):
        return  # a person owns it
    assert store.usage() == store.clear() == (0, 0)
    store.put_many(ENTRIES)
    entries, octets = store.usage()
    assert entries == len(ENTRIES)
    assert octets > sum(len(entry.body) for entry in ENTRIES.values())
    assert store.clear().entries == len(ENTRIES)
    assert (store.get_many(KEYS), store.usage().entries) == ({}, 0)


CONTRACT: list[Callable[[AnyStore], None]] = [
    what_was_put_is_found_stale_or_not_until_it_is_replaced,
    keys_that_differ_in_one_part_are_told_apart,
    threads_share_thousands_of_entries,
    the_child_of_a_fork_uses_it_and_a_closed_one_opens_again,
    it_is_measured_and_cleared,
]
