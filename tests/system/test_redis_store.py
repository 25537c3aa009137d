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
def test_a_store_on_a_server_keeps_the_contract(
    store: RedisStore, check: Callable[[AnyStore], None]
) -> None:
    check(store)


def test_entries_outlive_their_expiry_to_be_served_stale(
    store: RedisStore, client: redis.Redis
) -> None:
    now = time.time()
    expiries = {"old": 1.0, "new": now + 3600, "never": math.inf}
    entries = {key(f"10.1/{name}"): Entry(b"", "", expires) for name, expires in expiries.items()}
    store.put_many(entries)
    assert store.get_many(list(entries)) == entries
    *others, never = sorted(client.ttl(name) for name in client.scan_iter())
    # both sides count in whole seconds
    passed = time.time() - now + 2
    # as long as the oldest answer that a "not found" among them voids
    two_months = 60 * 86400
    assert all(two_months - passed <= left <= two_months for left in others), others
    assert never > 9 * 365 * 86400


def test_what_others_have_written_there_is_not_found(
    store: RedisStore, client: redis.Redis
) -> None:
    garbage, listed, new = (key(f"10.1/{name}") for name in ("garbage", "list", "new"))
    written = dict.fromkeys((garbage, listed, new), Entry(b"", JSON, 0.0))
    store.put_many(written)
    names = {}
    for written_key in written:
        names[written_key] = next(client.scan_iter(f"*{written_key.doi}*"))
    client.set(names[garbage], b"garbage")
    client.delete(names[listed])
    client.lpush(names[listed], "a list")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store.get_many([garbage, listed, new]).keys() == {new}
        store.put_many(written)
        assert store.get_many(list(written)) == written
        client.delete(names[listed])
        client.lpush(names[listed], "a list")
        client.set("other", "of another program")
        assert store.usage().entries == 2
        store.clear()
    assert client.keys() == [b"other"]


# Servers that refuse


def test_a_replica_is_still_read(store: RedisStore, client: redis.Redis) -> None:
    store.put_many(FEW)
    client.replicaof("127.0.0.1", "1")
    try:
        with pytest.warns(StoreWarning, match="cannot be written .*(read only|READONLY)"):
            store.put_many({NONE: Entry(b"", "", 0)})
        assert store.get_many([*FEW, NONE]) == FEW
    finally:
        client.replicaof("NO", "ONE")


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
            with pytest.raises(
                OSError, match=r"cannot read the store at redis://127\.0.* permission"
            ):
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
        with pytest.warns(
            StoreWarning, match=f"{server.url} cannot be written .* not used for 30 s"
        ):
            store.put_many(FEW)
        for what in ("read", "clear"):
            with pytest.raises(OSError, match=f"cannot {what} the store at {server.url}: "):
                store.usage() if what == "read" else store.clear()
        server.start()
        assert store.get_many(list(FEW)) == {}, "it is left alone"
        later = time.monotonic() + 100
        monkeypatch.setattr(time, "monotonic", lambda: later)
        store.put_many(FEW)
        assert store.get_many(list(FEW)) == FEW


def test_a_server_that_hangs_is_a_miss() -> None:
    with redis_server.running() as server, closing(RedisStore(server.url, timeout=0.3)) as store:
        assert server.process
        server.process.send_signal(signal.SIGSTOP)
        with pytest.warns(StoreWarning, match="cannot be read"):  # it would hang for ever
            assert store.get_many(KEYS) == {}
        assert store.get_many(KEYS) == {}
