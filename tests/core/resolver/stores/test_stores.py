"""All stores; the store in memory; the store at an address."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doiuri.resolver import (
    Entry,
    LockFile,
    MemoryStore,
    RedisStore,
    SQLiteStore,
    Store,
    StoreWarning,
    open_store,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORD = {"handle": "10.1000/ü", "responseCode": 1, "values": []}
ENTRIES = {
    "record https://doi.org 10.1000/Ü": Entry(json.dumps(RECORD).encode(), "application/json", 1.0),
    "metadata text/x-bibliography https://doi.org 10.1000/1": Entry(
        "Knüth\n".encode(), "text/x-bibliography", 2e9
    ),
    "metadata image/png https://doi.org 10.1000/1": Entry(b"\x89PNG\xff\x00", "image/png", 2e9),
    "exists https://doi.org 10.1000/1": Entry(b"", "application/json", 2e9),
}


@pytest.fixture(params=[":memory:", "new/s", "new/s.lock"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    where = request.param if request.param == ":memory:" else tmp_path / request.param
    opened = open_store(where)
    yield opened
    opened.close()


def same(found: dict[str, Entry], stored: dict[str, Entry], store: Store) -> bool:
    """Return whether entries came back; a lock file drops times and reformats JSON."""
    if not isinstance(store, LockFile):
        return found == stored
    kept = {key: (entry.media_type, _content(entry)) for key, entry in stored.items()}
    return kept == {key: (entry.media_type, _content(entry)) for key, entry in found.items()} and all(
        entry.expires == math.inf for entry in found.values()
    )


def _content(entry: Entry) -> object:
    return json.loads(entry.body) if entry.body[:1] == b"{" else entry.body


def test_what_was_put_is_found_stale_or_not(store: Store) -> None:
    store.put_many(ENTRIES)
    keys = ["no such key", *ENTRIES]
    assert same(store.get_many(keys), ENTRIES, store)
    assert store.get_many([]) == {}
    assert store.get_many(["no such key"]) == {}
    first = keys[1]
    assert same(store.get_many([first, first]), {first: ENTRIES[first]}, store)


def test_an_entry_is_replaced(store: Store) -> None:
    store.put_many(ENTRIES)
    key = next(iter(ENTRIES))
    newer = {key: Entry(json.dumps(RECORD | {"handle": "10.1000/Ü"}).encode(), "application/json", 3e9)}
    store.put_many(newer)
    store.put_many({})
    assert same(store.get_many(list(ENTRIES)), ENTRIES | newer, store)


def test_thousands_at_once(store: Store) -> None:
    entries = {
        f"record http://h 10.1000/{n}": Entry(b'{"n":%d}' % n, "application/json", 2e9) for n in range(3000)
    }
    store.put_many(entries)
    assert same(store.get_many(list(entries)), entries, store)


def test_threads_share_a_store(store: Store) -> None:
    def work(number: int) -> None:
        for turn in range(10):
            key = f"record http://h 10.1000/{number}-{turn}"
            store.put_many({key: Entry(b"{}", "application/json", 2e9)})
            assert key in store.get_many([key])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    keys = [f"record http://h 10.1000/{number}-{turn}" for number in range(8) for turn in range(10)]
    assert len(store.get_many(keys)) == 80


def test_a_closed_store_opens_again(store: Store) -> None:
    store.put_many(ENTRIES)
    store.close()  # type: ignore[attr-defined]
    assert same(store.get_many(list(ENTRIES)), ENTRIES, store)


def test_memory_forgets_what_was_not_used_for_longest() -> None:
    store = MemoryStore(limit=10_000)
    for number in range(100):
        store.put_many({f"k{number}": Entry(b"x" * 700, "", 0)})
        store.get_many(["k0"])
    kept = store.get_many([f"k{number}" for number in range(100)])
    assert set(kept) == {"k0", *(f"k{number}" for number in range(92, 100))}


def test_memory_keeps_no_entry_larger_than_its_limit() -> None:
    store = MemoryStore(limit=10_000)
    store.put_many({"small": Entry(b"", "", 0), "large": Entry(b"x" * 20_000, "", 0)})
    assert store.get_many(["large"]) == {}
    store.put_many({"small": Entry(b"again", "", 0)})
    assert store.get_many(["small"])


@pytest.mark.parametrize(
    ("where", "kind", "path"),
    [
        (":memory:", MemoryStore, None),
        ("cache.sqlite3", SQLiteStore, "cache.sqlite3"),
        ("a:b", SQLiteStore, "a:b"),
        ("sqlite:x/y", SQLiteStore, "x/y"),
        ("sqlite:///x/y.db", SQLiteStore, "/x/y.db"),
        ("doi.lock", LockFile, "doi.lock"),
        ("docs/doi-lock.json", LockFile, "docs/doi-lock.json"),
        (Path("x") / "doi.json", LockFile, "x/doi.json"),
        (".", SQLiteStore, "doiuri.sqlite3"),
        ("redis://localhost:6379/0", RedisStore, None),
        ("rediss://u:p@localhost", RedisStore, None),
        ("valkey://localhost", RedisStore, None),
        ("unix:///run/redis.sock", RedisStore, None),
    ],
)
def test_the_store_at_an_address(
    where: str | Path, kind: type, path: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = open_store(where)
    assert type(store) is kind
    assert path is None or getattr(store, "path", None) == tmp_path / path
    assert list(tmp_path.iterdir()) == [], "opened, but nothing is written before it is needed"


def test_a_path_may_begin_with_a_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    store = open_store("~/x.sqlite3")
    assert isinstance(store, SQLiteStore)
    assert store.path == tmp_path / "x.sqlite3"


def test_a_path_stays_where_it_was_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    stores = [open_store("x.sqlite3"), open_store("x.json"), open_store("new/")]
    monkeypatch.chdir("/")
    for store in stores:
        store.put_many(ENTRIES)
        store.close()
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {"x.sqlite3", "x.json", "new/doiuri.sqlite3"}


def test_a_path_that_cannot_be_is_no_crash() -> None:
    store = open_store("/" + "x" * 1000)
    with pytest.warns(StoreWarning):
        store.put_many(ENTRIES)
    assert store.get_many(list(ENTRIES)) == ENTRIES


def test_the_store_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    store = open_store()
    assert isinstance(store, SQLiteStore)
    store.put_many(ENTRIES)
    store.close()
    if sys.platform == "linux":
        assert (tmp_path / "doiuri" / "store-2.sqlite3").exists()
    store.path.unlink()


@pytest.mark.parametrize(
    ("where", "complaint"),
    [
        ("", "not a path"),
        ("  ", "not a path"),
        ("a\0b", "not a path"),
        ("http://localhost/", r"no store is known for http: \(a path, :memory:, redis://"),
        ("memcached:x", "no store is known for memcached"),
        ("redis://localhost:port", "not a URL of a Redis server, such as redis://"),
        ("redis://user:secret@localhost:port", "URL of a Redis server"),
        ("redis://user:secret@localhost?db=x", "not a URL of a Redis server: redis://localhost"),
        ("redis://user:sec/ret@localhost", "URL of a Redis server"),
        ("redis:localhost", "no store is known"),
        ("memory", "'memory' is not a store: give :memory: for a store in memory, ./memory for a file"),
        (":Memory:", "give :memory: for a store in memory"),
        ("~nobody-of-that-name/x", "not a path for a store"),
    ],
)
def test_an_address_that_is_none(where: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as caught:
        open_store(where)
    assert "secret" not in str(caught.value)


def test_without_redis_py_all_but_redis_works() -> None:
    script = (
        "import sys; sys.modules['redis'] = None\n"
        "from doiuri.resolver import open_store\n"
        "open_store(':memory:')\n"
        "try: open_store('redis://127.0.0.1:1')\n"
        "except ValueError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300
    )
    assert "pip install 'doiuri[redis]'" in done.stdout
