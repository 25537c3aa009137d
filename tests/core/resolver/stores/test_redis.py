"""The store on Redis, with a server of our own; ``tests/system`` has the tests with a real one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from doiuri.resolver import Entry, RedisStore, StoreWarning
from support.ports import refusing
from support.servers.fake_redis import Redis
from support.store_contract import CONTRACT, ENTRIES, KEYS, NONE, AnyStore


@pytest.mark.parametrize(
    "url",
    [
        "redis://user:secret@localhost:6379/0?foo=bar",
        "redis://localhost?password=secret&db=secret",
        "redis://user:secret@localhost/0?socket_timeout=secret",
        "redis://localhost/0?foo=bar",
    ],
)
def test_a_url_with_impossible_options_is_refused_at_once_and_without_the_password(url: str) -> None:
    with pytest.raises(ValueError, match="not a URL of a Redis server: redis://localhost") as caught:
        RedisStore(url)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "url",
    [
        "redis://user:sec/ret@localhost/0",
        "redis://:12/ret@localhost/0",
        "redis://:p@ss/ret@localhost",
        "redis://:sec?ret@localhost",
        "redis://localhost?password=sec@ret",
        "unix://:sec/ret@/run/redis.sock",
        "valkeys://me:secret@localhost:1/0?password=secret",
    ],
)
def test_no_part_of_an_unescaped_password_is_shown(url: str) -> None:
    try:
        shown = RedisStore(url).address
    except ValueError as error:
        shown = str(error)
    assert not any(part in shown for part in ("sec", "ret", "12", "ss"))


def test_no_password_in_a_warning_or_an_error() -> None:
    with (
        refusing() as port,
        closing(RedisStore(f"redis://user:secret@127.0.0.1:{port}/0?password=secret")) as store,
    ):
        with pytest.warns(StoreWarning, match="redis://127.* cannot be written") as caught:
            store.put_many({NONE: Entry(b"", "", 0)})
        with pytest.raises(OSError, match=r"cannot read the store at redis://127") as error:
            store.usage()
    assert not any("secret" in text for text in (str(caught[0].message), str(error.value)))


@pytest.fixture
def server() -> Iterator[Redis]:
    with Redis() as server:
        yield server


@pytest.mark.parametrize("options", ["", "?decode_responses=1"])
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
def test_a_store_on_redis_keeps_the_contract(
    server: Redis, options: str, check: Callable[[AnyStore], None]
) -> None:
    with closing(RedisStore(f"{server.url}{options}")) as store:
        check(store)


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"x\n",
        b"[1]\n",
        b'["a", "b"]\n',
        b'["a", null]\n',
        b"[1, 2, 3]\n",
        b"[1, 2]\n",
        b"7\n",
        b"\xff\n",
        b"[" * 100_000,
        b'["a", 1%b]\n' % (b"0" * 400),
        b'["a", 1%b]\n' % (b"0" * 5000),
    ],
    ids=lambda stored: repr(stored)[:20],
)
def test_values_of_other_programs_are_misses(server: Redis, stored: bytes) -> None:
    with closing(RedisStore(server.url)) as store:
        store.put_many(ENTRIES)
        (name, *_) = server.values
        server.values[name] = stored
        assert store.get_many(KEYS).items() < ENTRIES.items()
        store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES


def test_a_server_that_takes_no_answers_is_still_read(server: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = time.monotonic()
    with closing(RedisStore(server.url)) as store:
        store.put_many(ENTRIES)
        server.is_full = True
        with pytest.warns(StoreWarning, match="cannot be written .*maxmemory") as caught:
            store.put_many({NONE: Entry(b"2" * 400, "", 0)})
        store.put_many({NONE: Entry(b"2" * 400, "", 0)})  # no second warning, which would be an error
        assert len(str(caught[0].message)) < 400, "it quotes the answer"
        assert store.get_many([*KEYS, NONE]) == ENTRIES
        server.is_full = False
        monkeypatch.setattr(time, "monotonic", lambda: begun + 100)
        store.put_many({NONE: ENTRIES[KEYS[0]]})
        assert store.get_many([NONE]) == {NONE: ENTRIES[KEYS[0]]}


def test_a_server_that_is_away_costs_one_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = time.monotonic()
    with refusing() as port, closing(RedisStore(f"redis://127.0.0.1:{port}")) as store:
        with pytest.warns(StoreWarning, match="cannot be read .*not used for 30 s"):
            assert store.get_many(KEYS) == {}
        assert store.get_many(KEYS) == {}
        store.put_many(ENTRIES)  # no second warning, which would be an error
        monkeypatch.setattr(time, "monotonic", lambda: begun + 100)
        with pytest.warns(StoreWarning, match="cannot be written"):
            store.put_many(ENTRIES)
