"""URLs of Redis servers, and passwords in them; ``tests/system`` has the tests with a server."""

from __future__ import annotations

from contextlib import closing

import pytest
from doiuri.resolver import Entry, RedisStore, StoreWarning
from doiuri.resolver.stores.redis._connection import RedisConnection
from support.ports import refusing


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
        shown = RedisConnection(url, 1).public
    except ValueError as error:
        shown = str(error)
    assert not any(part in shown for part in ("sec", "ret", "12", "ss"))


def test_no_password_in_a_warning() -> None:
    with (
        refusing() as port,
        closing(RedisStore(f"redis://user:secret@127.0.0.1:{port}/0?password=secret")) as store,
        pytest.warns(StoreWarning, match="redis://127") as caught,
    ):
        store.put_many({"k": Entry(b"", "", 0)})
    assert not any("secret" in str(warning.message) for warning in caught)
