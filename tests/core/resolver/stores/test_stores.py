"""Stores at their edges: addresses and limits; entries and values that we did not write; Redis that fails.

What all stores promise is in ``support.store_contract``; ``tests/system`` has a real Redis server.
"""

from __future__ import annotations

import json
import math
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from doiuri import DOI
from doiuri.resolver import (
    Entry,
    Key,
    LockFile,
    MemoryStore,
    RedisStore,
    Resolver,
    SQLiteStore,
    StoreWarning,
    open_store,
)
from support.ports import refusing
from support.servers.fake_redis import Redis
from support.servers.rest import handling, proxy, targets
from support.store_contract import CONTRACT, ENTRIES, JSON, KEYS, NONE, AnyStore, key


@pytest.fixture
def server() -> Iterator[Redis]:
    with Redis() as server:
        yield server


@pytest.mark.parametrize(
    "where", [":memory:", "new/s", "new/s.lock", "redis", "redis?decode_responses=1"]
)
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
def test_a_store_keeps_the_contract(
    where: str, check: Callable[[AnyStore], None], tmp_path: Path, server: Redis
) -> None:
    store: AnyStore
    if where.startswith("redis"):
        store = RedisStore(server.url + where.removeprefix("redis"), timeout=60)
    else:
        path = tmp_path / where if "/" in where else where
        store = open_store(path)
    with closing(store):
        check(store)


# The store in memory

A, B, C = (key(f"10.1000/{letter}") for letter in "abc")
ENTRY = Entry(b"12345", "text/plain", 0.0)
SIZE = 500 + len(A.doi) + len(ENTRY.body)


@pytest.mark.parametrize(
    ("limit", "kept"), [(2 * SIZE, {B, C}), (2 * SIZE - 1, {C}), (3 * SIZE, {A, B, C}), (1, set())]
)
def test_memory_drops_the_oldest_beyond_its_limit(limit: int, kept: set[object]) -> None:
    store = MemoryStore(limit)
    for one in (A, A, A, B, C):  # an entry that is replaced counts once
        store.put_many({one: ENTRY})
    assert store.get_many([A, B, C]).keys() == kept
    assert store.usage() == store.clear() == (len(kept), len(kept) * SIZE)


# Addresses


@pytest.mark.parametrize(
    ("where", "kind", "path"),
    [
        (":memory:", MemoryStore, None),
        ("cache.sqlite3", SQLiteStore, "cache.sqlite3"),
        ("a:b", SQLiteStore, "a:b"),
        ("sqlite:x/y", SQLiteStore, "x/y"),
        ("sqlite:///x/y.db", SQLiteStore, "/x/y.db"),
        ("SQLite:x.JSON", LockFile, "x.JSON"),
        ("docs/Doi.Lock", LockFile, "docs/Doi.Lock"),
        (Path("x") / "doi.json", LockFile, "x/doi.json"),
        (".", SQLiteStore, "doiuri.sqlite3"),
        ("redis://localhost:6379/0", RedisStore, None),
        ("rediss://u:p@localhost", RedisStore, None),
        ("REDIS://localhost", RedisStore, None),
        ("Valkeys://localhost", RedisStore, None),
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
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    stores = [
        open_store(where) for where in ("x.sqlite3", "x.json", "new/", "~/home.sqlite3", None)
    ]
    monkeypatch.chdir("/")
    for store in stores:
        store.put_many(ENTRIES)
        store.close()
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    named = {"x.sqlite3", "x.json", "new/doiuri.sqlite3", "home.sqlite3"}
    assert files - named == (
        {"cache/doiuri/store-3.sqlite3"} if sys.platform == "linux" else files - named
    )
    assert named <= files


@pytest.mark.parametrize("where", ["x" * 1000, "file/store", "file/doi.lock"])
def test_an_impossible_path_warns_and_does_not_raise(where: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with closing(open_store(tmp_path / where)) as store:
        with pytest.warns(StoreWarning, match="cannot be written"):
            store.put_many(ENTRIES)
        assert store.get_many(KEYS) == {}


@pytest.mark.parametrize(
    ("where", "complaint"),
    [
        ("", "not a path"),
        ("  ", "not a path"),
        ("a\0b", "not a path"),
        ("memcached:x", "no store is known for memcached"),
        ("redis://user:secret@localhost:port", "URL of a Redis server"),
        ("redis://user:secret@localhost:6379/0?foo=bar", "not a URL of a Redis server: "),
        ("redis://user:sec/ret@localhost", "URL of a Redis server"),
        ("redis:localhost", "no store is known"),
        (":Memory:", "give :memory: for a store in memory"),
    ],
)
def test_an_invalid_address_of_a_store_is_an_error(where: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as caught:
        open_store(where)
    assert "secret" not in f"{caught.value} {caught.value.__cause__}"


PASSWORDS = [
    *(
        "redis://user:sec/ret@localhost/0",
        "redis://:12/ret@localhost/0",
        "redis://:p@ss/ret@localhost",
    ),
    *(
        "redis://:sec?ret@localhost",
        "redis://localhost?password=sec@ret",
        "unix://:sec/ret@/run/redis.sock",
    ),
    *("valkeys://me:secret@localhost:1/0?password=secret", "redis://user:secret@localhost?db=x"),
    *(
        "redis://localhost?password=secret&db=secret",
        "redis://u:secret@localhost/0?socket_timeout=secret",
    ),
]


@pytest.mark.parametrize("url", PASSWORDS)
def test_no_part_of_a_password_is_shown(url: str) -> None:
    try:
        shown = RedisStore(url).address
    except ValueError as error:
        shown = f"{error} {error.__cause__ or ''}"
    assert not any(part in shown for part in ("sec", "ret", "12", "ss"))


def test_without_redis_py_all_but_redis_works() -> None:
    script = (
        "import sys; sys.modules['redis'] = None\n"
        "from doiuri.resolver import open_store\n"
        "open_store(':memory:')\n"
        "try: open_store('redis://127.0.0.1:1')\n"
        "except ValueError as error: print(error)"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert "pip install 'doiuri[redis]'" in done.stdout


# Redis

VALUES = {
    "nothing": b"",
    "no expiry": b'["a", null]\n',
    "no media type": b"[1, 2]\n",
    "a number": b"7\n",
    "not UTF-8": b"\xff\n",
    "nested": b"[" * 100_000,
    "a large number": b'["a", 1%b]\n' % (b"0" * 400),
    "a number too long to read": b'["a", 1%b]\n' % (b"0" * 5000),
}


@pytest.mark.parametrize("stored", VALUES.values(), ids=VALUES)
def test_values_of_other_programs_are_misses(server: Redis, stored: bytes) -> None:
    with closing(RedisStore(server.url, timeout=60)) as store:
        store.put_many(ENTRIES)
        (name, *_) = server.values
        server.values[name] = stored
        assert store.get_many(KEYS).items() < ENTRIES.items()
        store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES


def test_a_stale_entry_is_kept_for_30_days_on_the_server_and_none_goes_before_older_ones(
    server: Redis,
) -> None:
    """A short-lived "not found" makes older answers void, which are fresh for 30 days at most."""
    now = time.time()
    kept = {0.0: 60, now + 5 * 86400: 60, now + 40 * 86400: 70, math.inf: 3680}
    with closing(RedisStore(server.url, timeout=60)) as store:
        for expires, days in kept.items():
            store.put_many({NONE: Entry(b"", "", expires)})
            (seconds,) = server.lifetimes.values()
            assert round(seconds / 86400) == days


def test_a_server_that_takes_no_answers_is_still_read(server: Redis, now: list[float]) -> None:
    with closing(RedisStore(server.url, timeout=60)) as store:
        store.put_many(ENTRIES)
        server.is_full = True
        with pytest.warns(StoreWarning, match="cannot be written .*maxmemory") as caught:
            store.put_many({NONE: Entry(b"2" * 400, "", 0)})
        store.put_many(
            {NONE: Entry(b"2" * 400, "", 0)}
        )  # no second warning, which would be an error
        assert len(str(caught[0].message)) < 400, "it quotes the answer"
        assert store.get_many([*KEYS, NONE]) == ENTRIES
        server.is_full = False
        now[0] += 100
        store.put_many({NONE: ENTRIES[KEYS[0]]})
        assert store.get_many([NONE]) == {NONE: ENTRIES[KEYS[0]]}


def test_a_server_that_is_away_costs_one_warning(now: list[float]) -> None:
    with (
        refusing() as port,
        closing(RedisStore(f"redis://u:secret@127.0.0.1:{port}?username=secret")) as store,
    ):
        with pytest.warns(
            StoreWarning, match="redis://127.* cannot be read .*not used for 30 s"
        ) as told:
            assert store.get_many(KEYS) == {}
        with pytest.raises(OSError, match="cannot read the store at redis://127") as error:
            store.usage()
        assert "secret" not in f"{told[0].message} {error.value}"
        assert store.get_many(KEYS) == {}
        store.put_many(ENTRIES)  # no second warning, which would be an error
        now[0] += 100
        with pytest.warns(StoreWarning, match="cannot be written"):
            store.put_many(ENTRIES)


# Entries that we did not write: each counts as missing, and for its name only

DOIS = [DOI(f"10.1000/{letter}") for letter in "abc"]
AWAY = "http://resolver.invalid"


def stored(name: str, url: object = "https://example.org/", **members: object) -> bytes:
    value = {"index": 1, "type": "URL", "data": {"format": "string", "value": url}}
    record = {"responseCode": 1, "handle": name, "values": [value], **members}
    return json.dumps(record, separators=(",", ":")).encode()


BODIES = {
    "empty": b"",
    "cut off": stored("10.1000/b")[:60],
    "begins like a record": b'{"responseCode":1,',
    "null": b"null",
    "nested": b"[" * 100_000,
    "nested in a record": stored("10.1000/b").replace(b'"https', b"[" * 5000 + b'"https'),
    "not UTF-8": stored("10.1000/b").replace(b"https", b"\xff"),
    "another name": stored("10.1000/a"),
    "no name": b'{"responseCode":1,"values":[]}',
    "no values": b'{"responseCode":1,"handle":"10.1000/b"}',
    "values of other types": stored("10.1000/b", url=5),
    "a member twice": stored("10.1000/b").replace(b'"values"', b'"handle":"10.1000/b","values"', 1),
    "no number of JSON": stored("10.1000/b", more=float("nan")),
    "no code": stored("10.1000/b", responseCode=None),
    "the server failed": b'{"responseCode":2,"handle":"10.1000/b","message":"try later"}',
    "a wrong name": b'{"responseCode":102,"handle":"10.1000/b"}',
    "another name does not exist": b'{"responseCode":100,"handle":"10.1000/a"}',
    "whether another name exists": b'{"DOI":"10.1000/a","RA":"Crossref"}',
    "an agency that is no text": b'{"DOI":"10.1000/b","RA":["Crossref"]}',
    "no agency": b'{"DOI":"10.1000/b"}',
}
ROWS = [
    *(
        "body = x'ff00'",
        "body = 'text'",
        "body = NULL",
        "media_type = CAST(x'ff' AS TEXT), body = x''",
    ),
    *(
        "doi = CAST(x'ff' AS TEXT)",
        "kind = 5",
        "doi = '10.1000/A'",
        "expires = 'never'",
        "expires = x'00'",
    ),
    "expires = 'never', body = zeroblob(2000000)",
]
LINES: list[dict[str, object]] = [
    {"json": None},
    {"json": {"responseCode": 2}},
    {"json": {"responseCode": 1, "handle": "10.1000/b", "values": "none"}},
    {"json": {"DOI": "10.1000/c", "RA": "Crossref"}},
    {"text": "a citation", "type": "text/plain"},
]


def change_row(store: SQLiteStore, key: Key, *, row: str) -> None:
    with closing(sqlite3.connect(store.path)) as db, db:
        query = f"UPDATE entries SET {row} WHERE kind = ? AND base = ? AND doi = ?"
        assert db.execute(query, key[:3]).rowcount == 1


def change_line(store: LockFile, key: Key, line: dict[str, object]) -> None:
    content = json.loads(store.path.read_bytes())
    content[key.kind][key.doi] = line
    store.path.write_text(json.dumps(content))


Spoil = Callable[[AnyStore, Key], object]


def new_entry(body: bytes) -> Entry:
    return Entry(body, JSON, time.time() + 1000)


def spoils_body(body: bytes) -> Spoil:
    return lambda store, key: store.put_many({key: new_entry(body)})


SPOILED: dict[str, tuple[str, Spoil]] = {
    **{name: (":memory:", spoils_body(body)) for name, body in BODIES.items()},
    **{row: ("a.sqlite3", partial(change_row, row=row)) for row in ROWS},
    **{str(line): ("a.lock", partial(change_line, line=line)) for line in LINES},
}


@pytest.mark.parametrize("method", ["resolve_many", "check", "agencies"])
@pytest.mark.parametrize(("where", "spoil"), SPOILED.values(), ids=SPOILED)
def test_an_entry_that_we_did_not_write_counts_as_missing(
    where: str, spoil: Spoil, method: str, tmp_path: Path
) -> None:
    """Offline its name is unknown; online it alone is requested."""
    path = where if where == ":memory:" else tmp_path / where
    with (
        closing(open_store(path)) as store,
        handling(proxy(agencies=lambda _name: {"RA": "DataCite"})) as server,
    ):
        for base in (AWAY, server.url):
            for doi in DOIS:
                record = key(doi.key, base=base)
                exists = key(doi.key, "exists", base)
                agency = json.dumps({"DOI": doi.name, "RA": "Crossref"}).encode()
                store.put_many({record: new_entry(stored(doi.name))})
                store.put_many({exists: new_entry(agency)})
                if doi == DOIS[1]:
                    spoil(store, record)
                    spoil(store, exists)
        offline = getattr(Resolver(AWAY, store=store, offline=True), method)(DOIS)
        assert [outcome.status for outcome in offline] == ["found", "unknown", "found"]
        online = getattr(Resolver(server.url, store=store), method)(DOIS)
        assert [outcome.status for outcome in online] == ["found"] * 3
        assert [target.rpartition("/")[2] for target in targets(server)] == ["b"]
