"""Several processes that write one key or register one name on a Redis server."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import permutations
from typing import Any

import pytest
import redis
from doiuri.resolver import Entry, RedisStore
from doiuri.resolver.stores._store import NewEntry
from doiuri.resolver.stores.redis import _lock
from support.servers import redis as redis_server


def answer(text: str, age: float, clock: float = 0.0) -> Entry:
    """An entry that was received some seconds ago, by a machine whose clock is wrong by ``clock`` seconds."""
    entry = NewEntry(text.encode(), 'a/"b", 1, 2]', time.time() + clock + 3600)
    entry.received = time.time() - age
    return entry


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_newest_answer_stays_whichever_is_written_last(
    server: redis_server.Server, client: redis.Redis, order: tuple[int, ...]
) -> None:
    """The expiry says nothing: a negative answer is newer, but expires earlier, and clocks differ."""
    answers = [answer("oldest", 9, 3600), answer("old", 5, -3600), answer("newest", 1)]
    with closing(RedisStore(server.url)) as store:
        for number in order:
            store.put_many({"k": answers[number]})
        assert store.get_many(["k"])["k"].body == b"newest"
        store.put_many({"k": Entry(b"a record that was registered", "", 1e12)})
        assert store.get_many(["k"])["k"].body.startswith(b"a record")


def test_an_answer_that_a_program_changes_keeps_its_date(server: redis_server.Server) -> None:
    with closing(RedisStore(server.url)) as store:
        store.put_many({"changed": answer("old", 9)})
        store.put_many({"changed": answer("new", 1)._replace(expires=2e9)})
        assert store.get_many(["changed"]) == {"changed": Entry(b"new", 'a/"b", 1, 2]', 2e9)}
        store.put_many({"changed": answer("old", 9)._replace(expires=3e9)})
        assert store.get_many(["changed"])["changed"].body == b"new"


def test_processes_that_write_one_key_at_once(server: redis_server.Server) -> None:
    stores = [RedisStore(server.url) for _ in range(4)]
    answers = [[answer(f"{number}-{age}", age) for age in range(20, 0, -1)] for number in range(4)]

    def write(number: int) -> None:
        for entry in answers[number]:
            stores[number].put_many({"shared": entry})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    found = stores[0].get_many(["shared"])["shared"].body
    assert found in {b"0-1", b"1-1", b"2-1", b"3-1"}
    for store in stores:
        store.close()


@pytest.mark.parametrize(
    "head", ['["", 1e12, 99999999999.0]', '["", 1e12]', '["", 1e12, "x"]', "", "[" * 2000]
)
def test_a_date_that_cannot_be_is_ignored(server: redis_server.Server, client: Any, head: str) -> None:
    """A clock that went back must not keep an answer forever."""
    with closing(RedisStore(server.url)) as store:
        client.set("doiuri:1:k", f"{head}\nold")
        store.put_many({"k": answer("new", 0)})
        assert store.get_many(["k"])["k"].body == b"new"
        media_type, _, answered = json.loads(client.get("doiuri:1:k").partition(b"\n")[0])
        assert (media_type, abs(answered - time.time()) < 60) == ('a/"b", 1, 2]', True)


@pytest.mark.parametrize("command", [("LPUSH", "a"), ("HSET", "a", "b"), ("SADD", "a")])
def test_a_value_of_another_type_is_replaced(
    server: redis_server.Server, client: Any, command: tuple[str, ...]
) -> None:
    with closing(RedisStore(server.url)) as store:
        client.execute_command(command[0], "doiuri:1:k", *command[1:])
        store.put_many({"k": answer("new", 0), "other": answer("new", 0)})
        assert {entry.body for entry in store.get_many(["k", "other"]).values()} == {b"new"}


def test_entries_that_the_server_evicts_are_missing_only(
    server: redis_server.Server, client: redis.Redis
) -> None:
    with closing(RedisStore(server.url)) as store:
        used = client.info("memory")["used_memory"]
        client.config_set("maxmemory-policy", "allkeys-lru")
        client.config_set("maxmemory", used + 300_000)
        try:
            for start in range(0, 200, 50):
                store.put_many({f"{n}": answer(f"{n}" + "x" * 5000, 0) for n in range(start, start + 50)})
            found = store.get_many([f"{n}" for n in range(200)])
        finally:
            client.config_set("maxmemory", 0)
            client.config_set("maxmemory-policy", "noeviction")
    assert 0 < len(found) < 200
    assert all(entry.body.startswith(key.encode()) for key, entry in found.items())


def test_one_of_many_has_the_lock(server: redis_server.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lock, "RETRY", 0.01)
    store, inside, most = RedisStore(server.url), [0], [0]

    def work(_: int) -> None:
        lock = store.lock("registry")
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        time.sleep(0.02)
        lock.extend()
        inside[0] -= 1
        lock.close()

    with closing(store), ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(8)))
    assert most == [1]


def test_a_lock_ends_if_its_process_does_not_extend_it(
    server: redis_server.Server, client: redis.Redis
) -> None:
    key = "doiuri:lock:1:short"
    with closing(RedisStore(server.url)) as store:
        lost = store.lock("short", seconds=50)
        assert 0 < client.pttl(key) <= 50_000
        client.pexpire(key, 40_000)
        lost.extend()
        assert client.pttl(key) > 40_000
        client.pexpire(key, 1)
        store.lock("short").close()
        with pytest.raises(OSError, match="cannot lock the store at redis://127"):
            lost.extend()
        lost.close()
