"""The store on a real Redis server: one node, a cluster, and a server that is down or refuses."""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing

import pytest
import redis
from doiuri.resolver import Entry, RedisStore, StoreWarning
from doiuri.resolver.stores._store import NewEntry
from doiuri.resolver.stores.redis import _store
from support.processes import forked, status_of
from support.servers import redis as redis_server

ENTRIES = {
    f"record http://h 10.1000/{number}": Entry(b'{"n":%d}' % number, "application/json", 2e9)
    for number in range(700)
}
KEYS = list(ENTRIES)
FEW = dict(list(ENTRIES.items())[:3])


def test_entries_outlive_their_expiry_to_be_served_stale(
    server: redis_server.Server, client: redis.Redis
) -> None:
    now = time.time()
    entries = {
        "old": Entry(b"", "", 1.0),
        "new": Entry(b"", "", now + 3600),
        "never": Entry(b"", "", float("inf")),
    }
    with closing(RedisStore(server.url)) as store:
        store.put_many(entries)
        assert store.get_many(list(entries)) == entries
        left = {key: client.ttl(f"doiuri:1:{key}") for key in entries}
    month, passed = 30 * 86400, time.time() - now + 2  # both sides count in whole seconds
    assert month - passed <= left["old"] <= month
    assert month + 3600 - passed <= left["new"] <= month + 3600
    assert left["never"] > 9 * 365 * 86400


def test_one_cache_for_many_machines(server: redis_server.Server) -> None:
    with closing(RedisStore(server.url)) as one, closing(RedisStore(server.url)) as other:
        one.put_many(ENTRIES)
        assert other.get_many(KEYS) == ENTRIES


def test_what_others_have_written_there_is_not_found(
    server: redis_server.Server, client: redis.Redis
) -> None:
    with closing(RedisStore(server.url)) as store, warnings.catch_warnings():
        warnings.simplefilter("error")
        client.set("doiuri:1:k", b"garbage")
        client.lpush("doiuri:1:l", "a list")
        store.put_many({"other": Entry(b"", "", 0)})
        for _ in range(2):
            assert store.get_many(["k", "l", "other"]) == {"other": Entry(b"", "", 0)}


def test_threads_share_a_store_that_opens_again_after_it_was_closed(server: redis_server.Server) -> None:
    with closing(RedisStore(server.url)) as store, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: store.put_many({key: ENTRIES[key]}), KEYS[:80]))
        store.close()
        assert [*pool.map(lambda key: store.get_many([key]), KEYS[:80])] == [
            {key: ENTRIES[key]} for key in KEYS[:80]
        ]


SNAPSHOT = ["a", "b 10.1/X", "b 10.1/Y", "b 10.1/É", "b 10.1/%_*", "b 10.10/X", "c"]


@pytest.mark.parametrize("start", [redis_server.running, redis_server.running_cluster])
def test_a_snapshot_has_the_keys_with_a_prefix(
    start: Callable[[], AbstractContextManager[redis_server.Server | list[redis_server.Server]]],
) -> None:
    entry = Entry(b"x", "text/plain", 2e9)
    with start() as started:
        url = (started[0] if isinstance(started, list) else started).url
        with closing(RedisStore(url)) as store:
            store.put_many(dict.fromkeys(SNAPSHOT, entry))
            with store.snapshot() as snapshot:
                for prefix in ("b 10.1/", "", "b 10.1/%", "x", "[a]"):
                    found = sorted(key for key in SNAPSHOT if key.startswith(prefix))
                    assert [*snapshot.keys(prefix)] == found
                    assert snapshot.count(prefix) == len(found)
                assert snapshot.get_many(["a", "none"]) == {"a": entry}
            store.delete_many(["a", "none", *(f"none {n}" for n in range(1200)), "c"])
            store.delete_many([])
            assert store.get_many(SNAPSHOT) == dict.fromkeys({*SNAPSHOT} - {"a", "c"}, entry)


def test_a_full_server_is_still_read(server: redis_server.Server, client: redis.Redis) -> None:
    with closing(RedisStore(server.url)) as store:
        store.put_many({"before": Entry(b"1", "", 0)})
        client.config_set("maxmemory", 1)
        try:
            with pytest.warns(StoreWarning, match="cannot be written .*maxmemory") as caught:
                store.put_many({"new": Entry(b"2" * 400, "", 0)})
            assert len(str(caught[0].message)) < 400, "it quotes the answer"
            assert store.get_many(["before", "new"]) == {
                "before": Entry(b"1", "", 0),
                "new": Entry(b"2" * 400, "", 0),
            }
        finally:
            client.config_set("maxmemory", 0)


def test_a_server_that_goes_away_and_comes_back() -> None:
    with redis_server.running() as server, closing(RedisStore(server.url, timeout=20)) as store:
        store.put_many({"before": Entry(b"1", "", 0)})
        server.stop()
        with pytest.warns(StoreWarning, match=f"redis://127.0.0.1:{server.port}/0 does not answer"):
            store.put_many({"meanwhile": Entry(b"2", "", 0)})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert store.get_many(["before", "meanwhile"]) == {"meanwhile": Entry(b"2", "", 0)}, (
                "it is left alone"
            )
        server.start()
        store._paused_until = {"read": 0.0, "written": 0.0}  # later
        store.put_many({"after": Entry(b"3", "", 0)})
        assert store.get_many(["meanwhile", "after"]) == {
            "meanwhile": Entry(b"2", "", 0),
            "after": Entry(b"3", "", 0),
        }
        with closing(RedisStore(server.url)) as other:
            assert list(other.get_many(["meanwhile", "after"])) == ["after"]


def test_what_is_newest_wins_wherever_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_store, "PAUSE", 0.0)
    with redis_server.running() as server, closing(RedisStore(server.url, timeout=20)) as store:
        store.put_many({"k": Entry(b"1", "", 0)})
        server.stop()
        with pytest.warns(StoreWarning, match="does not answer"):
            store.put_many({"k": Entry(b"2", "", 0)})
        server.start()
        assert store.get_many(["k"]) == {"k": Entry(b"2", "", 0)}
        store.put_many({"k": Entry(b"3", "", 0)})
        assert store.get_many(["k"]) == {"k": Entry(b"3", "", 0)}


@pytest.mark.parametrize("ahead", [-3600, 0, 3600])
def test_a_newer_answer_of_the_server_wins_over_one_in_memory(
    server: redis_server.Server, client: redis.Redis, monkeypatch: pytest.MonkeyPatch, ahead: float
) -> None:
    """Whatever the clock of this machine says."""
    monkeypatch.setattr(_store, "PAUSE", 0.0)
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + ahead)
    old, one, two = (NewEntry(body, "", 2e9) for body in (b"0", b"1", b"2"))
    old.received, one.received, two.received = time.time() - 120, time.time() - 60, time.time()
    with closing(RedisStore(server.url)) as store:
        store.put_many({"later": old})
        client.config_set("maxmemory", 1)
        try:
            with pytest.warns(StoreWarning, match="cannot be written"):
                store.put_many({"k": one, "later": one, "undated": one})
        finally:
            client.config_set("maxmemory", 0)
        with closing(RedisStore(server.url)) as other:
            other.put_many({"k": two})
        client.set("doiuri:1:undated", b'["", 2e9]\n1')
        assert store.get_many(["k", "later", "undated"]) == {"k": two, "later": one, "undated": one}


def test_a_user_who_may_only_read_and_write(server: redis_server.Server, client: redis.Redis) -> None:
    client.acl_setuser("cacher", True, passwords=["+pw"], keys=["doiuri:*"], commands=["+get", "+set"])
    try:
        with closing(RedisStore(f"redis://cacher:pw@127.0.0.1:{server.port}")) as store:
            store.put_many(ENTRIES)
            assert store.get_many(KEYS) == ENTRIES
    finally:
        client.acl_deluser("cacher")


def test_a_server_that_hangs_costs_no_more_than_the_timeout() -> None:
    with redis_server.running() as server, closing(RedisStore(server.url, timeout=0.3)) as store:
        assert server.process
        server.process.send_signal(signal.SIGSTOP)
        with pytest.warns(StoreWarning, match="does not answer"):  # it would hang for ever
            assert store.get_many(["k"]) == {}
        assert store.get_many(["k"]) == {}


def test_a_server_that_asks_for_a_password(server: redis_server.Server, client: redis.Redis) -> None:
    client.config_set("requirepass", "secret")
    try:
        with (
            closing(RedisStore(server.url)) as store,
            pytest.warns(StoreWarning, match="uthenticat"),
        ):
            store.put_many({"k": Entry(b"", "", 0)})
        with closing(RedisStore(f"redis://:secret@127.0.0.1:{server.port}")) as store:
            store.put_many({"k": Entry(b"", "", 0)})
            assert store.get_many(["k"])
    finally:
        client.auth("secret")
        client.config_set("requirepass", "")


def test_the_child_of_a_fork_has_connections_of_its_own(server: redis_server.Server) -> None:
    with closing(RedisStore(server.url)) as store:
        store.put_many(ENTRIES)

        def read() -> None:
            assert store.get_many(KEYS) == ENTRIES

        child = forked(read)
        read()
        assert status_of(child) == 0


def test_a_cluster() -> None:
    """The keys of a batch are on both nodes, so no command may have two of them."""
    with redis_server.running_cluster() as servers, closing(RedisStore(servers[0].url)) as store:
        store.put_many(ENTRIES)
        assert store.get_many([*KEYS, "no such key"]) == ENTRIES
        sizes = []
        for server in servers:
            with redis.Redis(port=server.port) as client:
                sizes.append(client.dbsize())
        assert sum(sizes) == len(ENTRIES)
        assert min(sizes) > 200
        with closing(RedisStore(servers[1].url)) as other:
            assert other.get_many(KEYS) == ENTRIES


def test_a_cluster_that_hangs_costs_little_more_than_the_timeout() -> None:
    with redis_server.running_cluster() as servers, closing(RedisStore(servers[0].url, timeout=60)) as store:
        store.put_many(ENTRIES)
        store._server._timeout = 0.2
        for server in servers:
            assert server.process
            server.process.send_signal(signal.SIGSTOP)
        with pytest.warns(StoreWarning, match=r"does not answer .no answer within 0\.4 s"):
            store.put_many({"k": Entry(b"1", "", 0)})
        assert store.get_many(["k"]) == {"k": Entry(b"1", "", 0)}


def test_a_cluster_that_lost_a_node() -> None:
    with redis_server.running_cluster() as servers, closing(RedisStore(servers[0].url, timeout=20)) as store:
        store.put_many(ENTRIES)
        servers[1].stop()
        with pytest.warns(StoreWarning, match="does not answer"):
            store.get_many(KEYS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StoreWarning)
            store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES, "in memory"


def test_the_locks_of_registries_are_no_entries(server: redis_server.Server) -> None:
    with closing(RedisStore(server.url)) as store:
        lock = store.lock("registry https://doi.org")
        store.put_many(FEW)
        assert store.usage().entries == 3
        with store.snapshot() as snapshot:
            assert [*snapshot.keys("")] == sorted(FEW)
        assert store.clear().entries == 3
        assert store.usage() == (0, 0)
        lock.extend()
        lock.close()


@pytest.mark.parametrize("missing", ["strlen", "del"])
def test_what_the_server_refuses_is_an_error(
    server: redis_server.Server, client: redis.Redis, missing: str
) -> None:
    commands = [f"+{command}" for command in ("scan", "strlen", "del", "get", "set") if command != missing]
    client.acl_setuser("user", True, passwords=["+pw"], keys=["doiuri:*"], commands=commands)
    try:
        with closing(RedisStore(f"redis://user:pw@127.0.0.1:{server.port}")) as store:
            store.put_many(FEW)
            if missing == "strlen":
                with pytest.raises(OSError, match=r"cannot read the store at redis://127\.0.* permission"):
                    store.usage()
            else:
                with pytest.raises(OSError, match="cannot delete entries of the store at redis://127"):
                    store.delete_many(list(FEW))
                assert store.get_many(list(FEW)) == FEW
            with pytest.raises(OSError, match=r"cannot clear the store at redis://127\.0.* permission"):
                store.clear()
    finally:
        client.acl_deluser("user")


def test_a_server_that_is_gone_is_an_error_each_time() -> None:
    with redis_server.running() as server, closing(RedisStore(server.url)) as store:
        store.put_many(FEW)
        with store.snapshot() as snapshot:
            server.stop()
            for _ in range(2):
                for read in (lambda: next(snapshot.keys("")), lambda: snapshot.count("")):
                    with pytest.raises(OSError, match="cannot read the store at redis://127"):
                        read()
                with pytest.raises(OSError, match="cannot read the store at redis://127"):
                    snapshot.get_many(list(FEW))
                with pytest.raises(OSError, match="cannot read the store at redis://127"):
                    store.usage()
                with pytest.raises(OSError, match="cannot clear the store at redis://127"):
                    store.clear()
                with pytest.raises(OSError, match="cannot delete entries of the store at redis://127"):
                    store.delete_many(list(FEW))
