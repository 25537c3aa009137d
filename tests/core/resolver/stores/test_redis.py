"""URLs of Redis servers, and values on them; ``tests/system`` has the tests with a server."""

from __future__ import annotations

from contextlib import closing

import pytest
from doiuri.resolver import Entry, RedisStore, StoreWarning
from doiuri.resolver.stores._redis import _unpack
from support.ports import refusing
from support.store_contract import NONE


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
        "valkeys://me:secret@localhost:1/0?password=secret",
    ],
)
def test_no_part_of_an_unescaped_password_is_shown(url: str) -> None:
    try:
        shown = RedisStore(url).address
    except ValueError as error:
        shown = str(error)
    assert not any(part in shown for part in ("sec", "ret", "12", "ss"))


def test_no_password_in_a_warning_or_an_error() -> None:
    with (
        refusing() as port,
        closing(RedisStore(f"redis://user:secret@127.0.0.1:{port}/0?password=secret")) as store,
    ):
        with pytest.warns(StoreWarning, match="redis://127.* does not answer") as caught:
            store.put_many({NONE: Entry(b"", "", 0)})
        with pytest.raises(OSError, match=r"cannot read the store at redis://127") as error:
            store.usage()
    assert not any("secret" in text for text in (str(caught[0].message), str(error.value)))


@pytest.mark.parametrize(
    "stored",
    [
        None,
        "text",
        b"",
        b"x\n",
        b"[1]\n",
        b'["a", "b"]\n',
        b'["a", null]\n',
        b"[1, 2, 3]\n",
        b"[1, 2]\n",
        b"7\n",
        b"\xff\n",
        b"[" * 100_000,
        b'["a", 1%b]\n' % (b"0" * 400),
        b'["a", 1%b]\n' % (b"0" * 5000),
    ],
    ids=lambda stored: repr(stored)[:20],
)
def test_values_of_other_programs_are_ignored(stored: object) -> None:
    assert _unpack(stored) is None
