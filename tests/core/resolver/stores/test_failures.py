"""A store that fails in any way is no store: the outcomes are the same, and a warning says so."""

from __future__ import annotations

import pwd
import sqlite3
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

import pytest
from doiuri import DOI
from doiuri.resolver import (
    Entry,
    Key,
    MemoryStore,
    Outcome,
    RedisStore,
    Resolver,
    SQLiteStore,
    Store,
    StoreWarning,
    _process,
    open_store,
)
from doiuri.rest import CSL_JSON
from doiuri_proxy import resolver_for
from support.servers.fake_redis import Redis
from support.store_contract import ENTRIES, KEYS

RECORDS: list[dict[str, Any]] = [
    {"handle": "10.1000/a", "values": [], "metadata": {CSL_JSON: {"title": "A"}}},
    {"handle": "10.1000/b", "values": []},
]
DOIS = [DOI(f"10.1000/{letter}") for letter in "abc"]
METHODS = [Resolver.resolve_many, Resolver.check, Resolver.agencies, Resolver.works]


class OddError(Exception):
    """What no library raises."""


ERRORS: list[Exception] = [
    ValueError("invalid literal"),
    AttributeError("no such attribute"),
    KeyError("name"),
    RuntimeError(""),
    OSError(5, "Input/output error"),
    TimeoutError("slow"),
    RecursionError("too deep"),
    MemoryError(),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    sqlite3.OperationalError("disk I/O error"),
    OddError("odd"),
]


class Failing:
    """A store that raises an error when it is read or written."""

    def __init__(self, error: Exception, *, reads: bool, writes: bool) -> None:
        self.error = error
        self.reads = reads
        self.writes = writes
        self.store = MemoryStore()

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        if not self.reads:
            raise self.error
        return self.store.get_many(keys)

    def put_many(self, entries: Mapping[Key, Entry]) -> None:
        if not self.writes:
            raise self.error
        self.store.put_many(entries)


def outcomes(store: Store | None) -> list[Outcome]:
    """What each method answers, twice."""
    resolver = resolver_for(RECORDS, store=store)
    answers = (method(resolver, DOIS) for method in METHODS * 2)
    return list(chain.from_iterable(answers))


def comparable(found: list[Outcome]) -> list[tuple[object, ...]]:
    return [(one.doi, one.status, one.record, one.work, one.stale) for one in found]


def differs_from_no_store(store: Store, failures: list[str]) -> bool:
    """Whether any outcome is another one; the warnings have to say once each what fails."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        found = outcomes(store)
    texts = [str(one.message) for one in told]
    assert {one.category for one in told} <= {StoreWarning}
    assert len(texts) == len(failures)
    assert all(f"cannot be {what}" in text for what, text in zip(failures, texts, strict=True)), (
        texts
    )
    return comparable(found) != comparable(outcomes(None))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(
    ("reads", "writes", "failures"),
    [(False, False, ["read", "written"]), (True, False, ["written"]), (False, True, ["read"])],
)
def test_an_error_of_any_type_is_a_miss(
    error: Exception, reads: bool, writes: bool, failures: list[str]
) -> None:
    store = Failing(error, reads=reads, writes=writes)
    assert not differs_from_no_store(store, failures)


def test_a_store_that_returns_nothing_is_a_miss() -> None:
    class Nothing(MemoryStore):
        def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
            return None  # type: ignore[return-value]

    assert not differs_from_no_store(Nothing(), ["read"])


def test_the_user_can_still_end_a_call() -> None:
    store = Failing(KeyboardInterrupt(), reads=False, writes=True)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        outcomes(store)


# Redis

WRONG = {
    "a number that is none": b":abc\r\n",
    "a null of the other protocol": b"_\r\n",
    "a type that nobody knows": b"?\r\n",
    "a length that is none": b"$abc\r\n",
    "a negative length": b"*-5\r\n",
    "an empty line": b"\r\n",
    "a web page": b"HTTP/1.1 400 Bad Request\r\n\r\n<html>",
    "bytes": b"\x00\xff\r\n",
    "an error": b"-LOADING the dataset\r\n",
    "the end": b"",
}


@contextmanager
def answering(reply: bytes) -> Iterator[str]:
    """The URL of a server that answers everything so; nothing: it closes the connection."""

    class Connection(StreamRequestHandler):
        def handle(self) -> None:
            while self.request.recv(65536) and reply:
                self.request.sendall(reply)

    with ThreadingTCPServer(("127.0.0.1", 0), Connection) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"redis://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("reply", WRONG.values(), ids=WRONG)
def test_a_server_that_does_not_speak_redis_is_a_miss(reply: bytes, protocol: int) -> None:
    with (
        answering(reply) as url,
        closing(RedisStore(f"{url}?protocol={protocol}", timeout=0.2)) as store,
    ):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = comparable(outcomes(store))
        with pytest.raises(OSError, match="cannot read the store at redis://127"):
            store.usage()
    assert found == comparable(outcomes(None))
    assert {one.category for one in told} <= {StoreWarning}
    assert len(told) <= 2, "of reading and of writing"


def test_reading_from_a_server_that_trickles_ends() -> None:
    """The timeout is for the whole answer, which would take a minute."""
    (key, entry), *_ = ENTRIES.items()
    with Redis() as server, closing(RedisStore(server.url, timeout=60)) as patient:
        patient.put_many({key: entry._replace(body=b"x" * 6000)})
        server.trickles = True
        with closing(RedisStore(server.url, timeout=0.5)) as store:
            with pytest.warns(StoreWarning, match="cannot be read .* not used for 30 s"):
                assert store.get_many(KEYS) == {}
            resolver = resolver_for(RECORDS, store=store, budget=60)
            assert (
                resolver.work(DOIS[0]).title == "A"
            )  # and no second warning, which would be an error


# The cache of a user without a home folder


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that is run by a number which has no entry in /etc/passwd."""

    def unknown(_uid: int) -> object:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.setattr(_process, "_stores", {})
    for name in ("HOME", "XDG_CACHE_HOME", "DOIURI_CACHE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("homeless")
def test_without_a_home_folder_answers_are_kept_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.warns(StoreWarning, match="no home folder.* set DOIURI_CACHE to the path"):
        store = open_store()
    assert isinstance(store, MemoryStore)
    with pytest.warns(StoreWarning, match="no home folder"):
        first = Resolver(offline=True)
    second = Resolver(offline=True)  # no second warning, which would be an error
    assert [one.status for one in first.check(DOIS, batch=True)] == ["unknown"] * 3
    assert [one.status for one in second.check(DOIS, batch=True)] == ["unknown"] * 3
    assert [*tmp_path.iterdir()] == []


@pytest.mark.usefixtures("homeless")
def test_without_a_home_folder_a_given_path_is_used(tmp_path: Path) -> None:
    assert isinstance(open_store(tmp_path / "cache"), SQLiteStore)
    with pytest.raises(ValueError, match="'~/cache' is not a path for a store"):
        open_store("~/cache")
