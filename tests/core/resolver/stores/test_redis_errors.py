"""What is asked of a Redis server by hand, and fails: reading all entries, counting and deleting them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
import redis
from doiuri.resolver import Entry, RedisStore
from support.servers import redis as redis_server

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.once

ENTRIES = {f"record http://h 10.1000/{number}": Entry(b"x", "t", 2e9) for number in range(3)}


@pytest.fixture(scope="module")
def server() -> Iterator[redis_server.Server]:
    with redis_server.running() as server:
        yield server


def test_the_locks_of_registries_are_no_entries(server: redis_server.Server) -> None:
    with closing(RedisStore(server.url)) as store:
        lock = store.lock("registry https://doi.org")
        store.put_many(ENTRIES)
        assert store.usage().entries == 3
        with store.snapshot() as snapshot:
            assert [*snapshot.keys("")] == sorted(ENTRIES)
        assert store.clear().entries == 3
        assert store.usage() == (0, 0)
        lock.extend()
        lock.close()


@pytest.mark.parametrize("missing", ["strlen", "del"])
def test_what_the_server_refuses_is_an_error(server: redis_server.Server, missing: str) -> None:
    commands = [f"+{command}" for command in ("scan", "strlen", "del", "get", "set") if command != missing]
    with redis.Redis(port=server.port) as client:
        client.acl_setuser("user", True, passwords=["+pw"], keys=["doiuri:*"], commands=commands)
        try:
            with closing(RedisStore(f"redis://user:pw@127.0.0.1:{server.port}")) as store:
                store.put_many(ENTRIES)
                if missing == "strlen":
                    with pytest.raises(
                        OSError, match=r"cannot read the store at redis://127\.0.* permission"
                    ):
                        store.usage()
                else:
                    with pytest.raises(OSError, match="cannot delete entries of the store at redis://127"):
                        store.delete_many(list(ENTRIES))
                    assert store.get_many(list(ENTRIES)) == ENTRIES
                with pytest.raises(OSError, match=r"cannot clear the store at redis://127\.0.* permission"):
                    store.clear()
        finally:
            client.acl_deluser("user")


def test_a_server_that_is_gone_is_an_error_each_time() -> None:
    with redis_server.running() as server, closing(RedisStore(server.url)) as store:
        store.put_many(ENTRIES)
        with store.snapshot() as snapshot:
            server.stop()
            for _ in range(2):
                for read in (lambda: next(snapshot.keys("")), lambda: snapshot.count("")):
                    with pytest.raises(OSError, match="cannot read the store at redis://127"):
                        read()
                with pytest.raises(OSError, match="cannot read the store at redis://127"):
                    snapshot.get_many(list(ENTRIES))
                with pytest.raises(OSError, match="cannot read the store at redis://127"):
                    store.usage()
                with pytest.raises(OSError, match="cannot clear the store at redis://127"):
                    store.clear()
                with pytest.raises(OSError, match="cannot delete entries of the store at redis://127"):
                    store.delete_many(list(ENTRIES))
