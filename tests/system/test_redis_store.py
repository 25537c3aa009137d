"""The store on a real Redis server: one that answers, is down or refuses."""

from __future__ import annotations

import math
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest
import redis
from doiuri.resolver import Entry, RedisStore, StoreWarning
from doiuri.resolver.stores import _redis
from doiuri.resolver.stores._redis import KEEP, _name
from support.servers import redis as redis_server
from support.store_contract import CONTRACT, JSON, NONE, AnyStore, json_entries, key

ENTRIES = json_entries(map(str, range(700)))
KEYS = list(ENTRIES)
FEW = dict(list(ENTRIES.items())[:3])


@pytest.fixture
def store(server: redis_server.Server) -> Iterator[RedisStore]:
    with closing(RedisStore(server.url)) as store:
        yield store


@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
def test_a_store_on_a_server_keeps_the_contract(store: RedisStore, check: Callable[[AnyStore], None]) -> None:
    check(store)


def test_entries_outlive_their_expiry_to_be_served_stale(store: RedisStore, client: redis.Redis) -> None:
    now = time.time()
    expiries = {"old": 1.0, "new": now + 3600, "never": math.inf}
    entries = {key(f"10.1/{name}"): Entry(b"", "", expires) for name, expires in expiries.items()}
    store.put_many(entries)
    assert store.get_many(list(entries)) == entries
    old, new, never = (client.ttl(_name(one)) for one in entries)
    passed = time.time() - now + 2  # both sides count in whole seconds
    assert KEEP - passed <= old <= KEEP
    assert KEEP + 3600 - passed <= new <= KEEP + 3600
    assert never > 9 * 365 * 86400


def test_one_cache_for_many_machines(server: redis_server.Server, store: RedisStore) -> None:
    store.put_many(ENTRIES)
    with closing(RedisStore(server.url)) as other:
        assert other.get_many(KEYS) == ENTRIES


def test_what_others_have_written_there_is_not_found(store: RedisStore, client: redis.Redis) -> None:
    garbage, listed, new = (key(f"10.1/{name}") for name in ("garbage", "list", "new"))
    client.set(_name(garbage), b"garbage")
    client.lpush(_name(listed), "a list")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store.get_many([garbage, listed, new]) == {}
        written = dict.fromkeys((garbage, listed, new), Entry(b"", JSON, 0.0))
        store.put_many(written)
        assert store.get_many(list(written)) == written
        client.delete(_name(listed))
        client.lpush(_name(listed), "a list")
        client.set("other", "of another program")
        assert store.usage().entries == 2
        store.clear()
    assert client.keys() == [b"other"]


def test_entries_that_the_server_evicts_are_missing_only(store: RedisStore, client: redis.Redis) -> None:
    client.config_set("maxmemory-policy", "allkeys-lru")
    client.config_set("maxmemory", client.info("memory")["used_memory"] + 300_000)
    entries = json_entries(map(str, range(200)), size=5000)
    try:
        for one, entry in entries.items():
            store.put_many({one: entry})
        found = store.get_many(list(entries))
    finally:
        client.config_set("maxmemory", 0)
        client.config_set("maxmemory-policy", "noeviction")
    assert 0 < len(found) < 200
    assert found.items() <= entries.items()


# Servers that refuse


@contextmanager
def full(client: redis.Redis) -> Iterator[None]:
    client.config_set("maxmemory", 1)
    try:
        yield
    finally:
        client.config_set("maxmemory", 0)


@contextmanager
def replica(client: redis.Redis) -> Iterator[None]:
    client.replicaof("127.0.0.1", "1")
    try:
        yield
    finally:
        client.replicaof("NO", "ONE")


@pytest.mark.parametrize(("refusing", "reason"), [(full, "maxmemory"), (replica, "read only|READONLY")])
def test_a_server_that_takes_no_answers_is_still_read(
    store: RedisStore, client: redis.Redis, refusing: Callable[[redis.Redis], object], reason: str
) -> None:
    store.put_many(FEW)
    with refusing(client):  # type: ignore[attr-defined]
        with pytest.warns(StoreWarning, match=f"cannot be written .*({reason})") as caught:
            store.put_many({NONE: Entry(b"2" * 400, "", 0)})
        assert len(str(caught[0].message)) < 400, "it quotes the answer"
        assert store.get_many([*FEW, NONE]) == FEW
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.put_many({NONE: Entry(b"", "", 0)})
    assert store.get_many([NONE]) == {}, "left alone for a while"


@contextmanager
def user(client: redis.Redis, server: redis_server.Server, *commands: str) -> Iterator[RedisStore]:
    """The store of a user who may send these commands only."""
    allowed = [f"+{command}" for command in commands]
    client.acl_setuser("user", True, passwords=["+pw"], keys=["doiuri:*"], commands=allowed)
    try:
        with closing(RedisStore(f"redis://user:pw@127.0.0.1:{server.port}")) as store:
            yield store
    finally:
        client.acl_deluser("user")


def test_a_user_needs_no_other_commands_than_get_and_set(
    server: redis_server.Server, client: redis.Redis
) -> None:
    with user(client, server, "get", "set") as store:
        store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES


@pytest.mark.parametrize(("missing", "read"), [("strlen", False), ("del", True), ("scan", False)])
def test_what_the_server_refuses_is_an_error(
    server: redis_server.Server, client: redis.Redis, missing: str, read: bool
) -> None:
    commands = {"scan", "strlen", "del", "get", "set"} - {missing}
    with user(client, server, *commands) as store:
        store.put_many(FEW)
        if read:
            assert store.usage().entries == 3
        else:
            with pytest.raises(OSError, match=r"cannot read the store at redis://127\.0.* permission"):
                store.usage()
        with pytest.raises(OSError, match=r"cannot clear the store at redis://127\.0.* permission"):
            store.clear()
        assert store.get_many(list(FEW)) == FEW


def test_a_server_that_asks_for_a_password(
    server: redis_server.Server, store: RedisStore, client: redis.Redis
) -> None:
    client.config_set("requirepass", "secret")
    try:
        with pytest.warns(StoreWarning, match="cannot be written .*uthenticat"):
            store.put_many(FEW)
        with closing(RedisStore(f"redis://:wrong@127.0.0.1:{server.port}")) as wrong:
            with pytest.warns(StoreWarning, match="cannot be read .*invalid"):
                assert wrong.get_many(list(FEW)) == {}
            with pytest.raises(OSError, match=r"cannot read the store .*invalid"):
                wrong.usage()
        with closing(RedisStore(f"redis://:secret@127.0.0.1:{server.port}")) as other:
            other.put_many(FEW)
            assert other.get_many(list(FEW)) == FEW
    finally:
        client.auth("secret")
        client.config_set("requirepass", "")


# Servers that are away


def test_a_server_that_goes_away_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    with redis_server.running() as server, closing(RedisStore(server.url, timeout=20)) as store:
        store.put_many(FEW)
        server.stop()
        with pytest.warns(StoreWarning, match=f"{server.url} cannot be written .* not used for 30 s"):
            store.put_many(FEW)
        for what in ("read", "clear"):
            with pytest.raises(OSError, match=f"cannot {what} the store at {server.url}: "):
                store.usage() if what == "read" else store.clear()
        server.start()
        assert store.get_many(list(FEW)) == {}, "it is left alone"
        monkeypatch.setattr(_redis, "PAUSE", 0.0)
        store._paused_until = {"read": 0.0, "written": 0.0}  # later
        store.put_many(FEW)
        assert store.get_many(list(FEW)) == FEW


def test_a_server_that_hangs_is_a_miss() -> None:
    with redis_server.running() as server, closing(RedisStore(server.url, timeout=0.3)) as store:
        assert server.process
        server.process.send_signal(signal.SIGSTOP)
        with pytest.warns(StoreWarning, match="cannot be read"):  # it would hang for ever
            assert store.get_many(KEYS) == {}
        assert store.get_many(KEYS) == {}
