"""One Chromium and one Redis server for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis
from support.devtools import Page, browsing
from support.servers import redis as redis_server


@pytest.fixture(autouse=True)
def _no_resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", "http://127.0.0.1:9")


@pytest.fixture(scope="session")
def browser() -> Iterator[Page]:
    with browsing() as page:
        yield page


@pytest.fixture(scope="session")
def running() -> Iterator[redis_server.Server]:
    with redis_server.running() as server:
        yield server


@pytest.fixture
def client(running: redis_server.Server) -> Iterator[redis.Redis]:
    with redis.Redis(port=running.port) as client:
        yield client


@pytest.fixture
def server(running: redis_server.Server, client: redis.Redis) -> redis_server.Server:
    """An empty Redis server."""
    client.flushall()
    return running
