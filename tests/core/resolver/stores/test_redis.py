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

URLS = {
    "redis://user:secret@localhost:6379/0?foo=bar": "refused",
    "redis://localhost?password=secret&db=secret": "refused",
    "redis://user:secret@localhost/0?socket_timeout=secret": "refused",
    "redis://user:sec/ret@localhost/0": "",
    "redis://:12/ret@localhost/0": "",
    "redis://:p@ss/ret@localhost": "",
    "redis://:sec?ret@localhost": "",
    "redis://localhost?password=sec@ret": "",
    "unix://:sec/ret@/run/redis.sock": "",
    "valkeys://me:secret@localhost:1/0?password=secret": "",
}


@pytest.mark.parametrize(("url", "is_refused"), URLS.items())
def test_no_part_of_a_password_is_shown_and_impossible_options_are_refused(url: str, is_refused: str) -> None:
    cause = None
    try:
        shown = RedisStore(url).address
    except ValueError as error:
        shown, cause = str(error), error.__cause__
    assert shown.startswith("not a URL of a Redis server: ") or not is_refused
    assert cause is None, "it would show the password"
    assert not any(part in shown for part in ("sec", "ret", "12", "ss"))


@pytest.fixture
def server() -> Iterator[Redis]:
    with Redis() as server:
        yield server


@pytest.mark.parametrize("options", ["", "?decode_responses=1"])
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
def test_a_store_on_redis_keeps_the_contract(
    server: Redis, options: str, check: Callable[[AnyStore], None]
) -> None:
    with closing(RedisStore(f"{server.url}{options}", timeout=60)) as store:
        check(store)


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b'["a", null]\n',
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
    with closing(RedisStore(server.url, timeout=60)) as store:
        store.put_many(ENTRIES)
        (name, *_) = server.values
        server.values[name] = stored
        assert store.get_many(KEYS).items() < ENTRIES.items()
        store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES


def test_a_server_that_takes_no_answers_is_still_read(server: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = time.monotonic()
    with closing(RedisStore(server.url, timeout=60)) as store:
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
    with (
        refusing() as port,
        closing(RedisStore(f"redis://u:secret@127.0.0.1:{port}?username=secret")) as store,
    ):
        with pytest.warns(StoreWarning, match="redis://127.* cannot be read .*not used for 30 s") as told:
            assert store.get_many(KEYS) == {}
        with pytest.raises(OSError, match="cannot read the store at redis://127") as error:
            store.usage()
        assert "secret" not in f"{told[0].message} {error.value}"
        assert store.get_many(KEYS) == {}
        store.put_many(ENTRIES)  # no second warning, which would be an error
        monkeypatch.setattr(time, "monotonic", lambda: begun + 100)
        with pytest.warns(StoreWarning, match="cannot be written"):
            store.put_many(ENTRIES)
