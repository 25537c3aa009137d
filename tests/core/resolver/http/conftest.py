"""A Redis server for the tests of the shared pace."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis
from support.servers import redis as redis_server


@pytest.fixture(scope="module")
def running() -> Iterator[redis_server.Server]:
    with redis_server.running() as server:
        yield server


@pytest.fixture
def client(running: redis_server.Server) -> Iterator[redis.Redis]:
    with redis.Redis(port=running.port, decode_responses=True) as client:
        client.flushall()
        yield client


@pytest.fixture
def server(running: redis_server.Server, client: redis.Redis) -> redis_server.Server:
    assert client.dbsize() == 0
    return running
