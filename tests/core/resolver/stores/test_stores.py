"""All stores; the store in memory; the store at an address."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from doiuri.resolver import Entry, LockFile, MemoryStore, RedisStore, SQLiteStore, StoreWarning, open_store
from support.store_contract import CONTRACT, ENTRIES, KEYS, AnyStore, key

A, B, C = (key(f"10.1000/{letter}") for letter in "abc")
ENTRY = Entry(b"12345", "text/plain", 0.0)
SIZE = 500 + len(A.doi) + len(ENTRY.body)


@pytest.fixture(params=[":memory:", "new/s", "new/s.lock"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AnyStore]:
    where = request.param if request.param == ":memory:" else tmp_path / request.param
    with closing(open_store(where)) as opened:
        yield opened


@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
def test_a_store_keeps_the_contract(store: AnyStore, check: Callable[[AnyStore], None]) -> None:
    check(store)


@pytest.mark.parametrize(
    ("limit", "kept"), [(2 * SIZE, {B, C}), (2 * SIZE - 1, {C}), (3 * SIZE, {A, B, C}), (1, set())]
)
def test_memory_drops_the_oldest_beyond_its_limit(limit: int, kept: set[object]) -> None:
    store = MemoryStore(limit)
    for one in (A, B, C):
        store.put_many({one: ENTRY})
    assert store.get_many([A, B, C]).keys() == kept
    assert store.usage() == (len(kept), len(kept) * SIZE)


def test_memory_counts_what_it_holds() -> None:
    store = MemoryStore(2 * SIZE)
    for _ in range(3):
        store.put_many({A: ENTRY})
    store.put_many({B: ENTRY})
    assert [*store.get_many([A, B])] == [A, B]
    store.clear()
    assert store.usage() == (0, 0)


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


def test_a_path_stays_where_it_was_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    stores = [open_store(where) for where in ("x.sqlite3", "x.json", "new/", "~/home.sqlite3")]
    monkeypatch.chdir("/")
    for store in stores:
        store.put_many(ENTRIES)
        store.close()
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {"x.sqlite3", "x.json", "new/doiuri.sqlite3", "home.sqlite3"}


@pytest.mark.parametrize("where", ["x" * 1000, "file/store", "file/doi.lock"])
def test_an_impossible_path_warns_and_does_not_raise(where: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with closing(open_store(tmp_path / where)) as store:
        with pytest.warns(StoreWarning, match="cannot be written"):
            store.put_many(ENTRIES)
        assert store.get_many(KEYS) == {}


def test_the_store_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    store = open_store()
    assert isinstance(store, SQLiteStore)
    store.put_many(ENTRIES)
    store.close()
    if sys.platform == "linux":
        assert (tmp_path / "doiuri" / "store-3.sqlite3").exists()
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
def test_an_invalid_address_of_a_store_is_an_error(where: str, complaint: str) -> None:
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
