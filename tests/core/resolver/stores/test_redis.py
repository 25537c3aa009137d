"""The store on a real Redis server: one node, a cluster, and a server that is down."""

from __future__ import annotations

import signal
import time
import warnings
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
import redis
from doiuri.resolver import Entry, RedisStore, StoreWarning
from doiuri.resolver.stores._store import NewEntry
from doiuri.resolver.stores.redis import _store
from doiuri.resolver.stores.redis._connection import RedisConnection
from support.ports import refusing
from support.processes import forked, status_of
from support.servers import redis as redis_server

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.once

ENTRIES = {
    f"record http://h 10.1000/{number}": Entry(b'{"n":%d}' % number, "application/json", 2e9)
    for number in range(700)
}
KEYS = list(ENTRIES)


@pytest.fixture(scope="module")
def server() -> Iterator[redis_server.Server]:
    with redis_server.running() as server:
        yield server


def test_entries_outlive_their_expiry_to_be_served_stale(server: redis_server.Server) -> None:
    now = time.time()
    entries = {
        "old": Entry(b"", "", 1.0),
        "new": Entry(b"", "", now + 3600),
        "never": Entry(b"", "", float("inf")),
    }
    with closing(RedisStore(server.url)) as store, redis.Redis(port=server.port) as client:
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


@pytest.mark.parametrize(
    "value",
    [b"", b"garbage", b"null\nx", b'["a"]\nx', b'["a",null]\n', b"[1,2,3]\n", b"\xff\n", b"[" * 100_000],
)
def test_what_others_have_written_there_is_not_found(server: redis_server.Server, value: bytes) -> None:
    with closing(RedisStore(server.url)) as store, redis.Redis(port=server.port) as client:
        client.set("doiuri:1:k", value)
        assert store.get_many(["k"]) == {}
        client.delete("doiuri:1:k")
        client.lpush("doiuri:1:k", "a list")
        store.put_many({"other": Entry(b"", "", 0)})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(2):
                assert store.get_many(["k", "other"]) == {"other": Entry(b"", "", 0)}
        client.delete("doiuri:1:k")


@pytest.mark.parametrize(
    "url",
    [
        "redis://user:secret@localhost:6379/0?foo=bar",
        "redis://localhost?password=secret&db=secret",
        "redis://user:secret@localhost/0?socket_timeout=secret",
        "redis://localhost/0?foo=bar",
        "redis://localhost/0?decode_responses=1",
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
    ],
)
def test_no_part_of_an_unescaped_password_is_shown(url: str) -> None:
    try:
        shown = RedisConnection(url, 1, "a store").public
    except ValueError as error:
        shown = str(error)
    assert not any(part in shown for part in ("sec", "ret", "12", "ss"))


def test_a_full_server_is_still_read(server: redis_server.Server) -> None:
    with closing(RedisStore(server.url)) as store, redis.Redis(port=server.port) as client:
        store.put_many({"before": Entry(b"1", "", 0)})
        client.config_set("maxmemory", 1)
        try:
            with pytest.warns(StoreWarning, match="cannot be written .*maxmemory"):
                store.put_many({"new": Entry(b"2", "", 0)})
            assert store.get_many(["before", "new"]) == {
                "before": Entry(b"1", "", 0),
                "new": Entry(b"2", "", 0),
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
    server: redis_server.Server, monkeypatch: pytest.MonkeyPatch, ahead: float
) -> None:
    """Whatever the clock of this machine says."""
    monkeypatch.setattr(_store, "PAUSE", 0.0)
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + ahead)
    old, one, two = (NewEntry(body, "", 2e9) for body in (b"0", b"1", b"2"))
    old.received, one.received, two.received = time.time() - 120, time.time() - 60, time.time()
    with closing(RedisStore(server.url)) as store, redis.Redis(port=server.port) as client:
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


def test_a_user_who_may_only_read_and_write(server: redis_server.Server) -> None:
    with redis.Redis(port=server.port) as client:
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


def test_no_password_in_a_warning() -> None:
    with (
        refusing() as port,
        closing(RedisStore(f"redis://user:secret@127.0.0.1:{port}/0?password=secret")) as store,
        pytest.warns(StoreWarning, match="redis://127") as caught,
    ):
        store.put_many(ENTRIES)
    assert not any("secret" in str(warning.message) for warning in caught)


def test_a_server_that_asks_for_a_password(server: redis_server.Server) -> None:
    with redis.Redis(port=server.port) as client:
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
            client.execute_command("AUTH", "secret")
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
    with redis_server.running_cluster() as servers, closing(RedisStore(servers[0].url, timeout=3)) as store:
        store.put_many(ENTRIES)
        for server in servers:
            assert server.process
            server.process.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        with pytest.warns(StoreWarning, match="does not answer .no answer within 6 s"):
            store.put_many({"k": Entry(b"1", "", 0)})
        assert time.monotonic() - begun < 12  # each node is asked several times
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
