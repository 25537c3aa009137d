"""A check of DOIs for users' own test suites."""

from __future__ import annotations

import logging
import sqlite3
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from doiuri import DOI
from doiuri.resolver import Entry, Key, LockContent, Resolver, SQLiteStore, StoreWarning
from doiuri.testing import assert_registered
from doiuri_proxy import resolver_for
from support.servers.faults import record, reply
from support.servers.rest import handling, targets

RECORDS = [{"handle": "10.1000/182", "values": []}, {"handle": "10.1000/1", "values": []}]


def offline() -> Resolver:
    return Resolver("http://127.0.0.1:9", store=None, offline=True)


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    """A lock file: one DOI exists, one does not, and one is accepted as missing."""
    path = tmp_path / "doi.lock"
    content = LockContent()
    for name, code in {"10.1000/182": 1, "10.1000/18–2": 100, "10.1000/OLD": 100}.items():
        answer = Entry(record(name, code=code), "application/json", 9e9)
        content.add({Key("record", "https://doi.org", name): answer})
    content.accepted["10.1000/OLD"] = "from before 2000"
    path.write_bytes(content.render())
    return path


def test_registered_dois_pass(registered_dois: Callable[..., None]) -> None:
    """Whatever their form; the fixture is the function."""
    assert registered_dois is assert_registered
    dois = iter(["doi:10.1000/182", DOI("10.1000/182"), (3, DOI("10.1000/1")), ("x", "10.1000/1")])
    registered_dois(dois, resolver=resolver_for(RECORDS))
    registered_dois([])


def test_dead_and_invalid_ones_are_listed_with_their_places() -> None:
    dois: list[Any] = ["10.1000/182", ("a.csv:2", "10.1000/18–2"), "10.1000/none", (4, "10.1000/")]
    dois += [(5, "10.1000/NONE"), "https://onlinelibrary.wiley.com/doi/10.1002/abc.123/full"]
    with pytest.raises(AssertionError) as caught:
        assert_registered(dois, resolver=resolver_for(RECORDS))
    first, *lines = str(caught.value).splitlines()
    assert first == "5 of 6 DOIs are wrong:"
    assert lines[:4] == [
        "  a.csv:2: 10.1000/18–2 is not registered; write 10.1000/18-2",
        "  10.1000/none is not registered",
        "  4: '10.1000/' is not a DOI: nothing after the slash (position 8)",
        "  5: 10.1000/NONE is not registered",
    ]
    assert lines[4].endswith("; write doi:10.1002/abc.123")


def test_the_registered_doi_that_was_probably_meant_is_named() -> None:
    with pytest.raises(
        AssertionError, match=r"10\.1000/l82 is not registered; write 10\.1000/182$"
    ):
        assert_registered(["10.1000/l82"], resolver=resolver_for(RECORDS))


@pytest.mark.parametrize("status", ["403 Forbidden", "429 Too Many Requests", None])
def test_what_cannot_be_checked_never_fails(
    status: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    """One record says how many; an invalid one fails nevertheless."""
    dois = ["10.1000/1", "10.1000/2", "10.1000/1"]
    answer = reply(status or "", b"", "Retry-After: 999")  # longer than anybody waits
    with handling(lambda _target: answer) as server, caplog.at_level(0):
        base = server.url if status else "http://127.0.0.1:9"
        with Resolver(base, store=None) as resolver:
            assert_registered(dois, resolver=resolver)
            (warning,) = (found for found in caplog.records if found.name == "doiuri")
            assert warning.levelno == logging.WARNING
            assert warning.getMessage().startswith("2 of 2 DOIs could not be checked: 127.0.0.1:")
            with pytest.raises(AssertionError, match="nothing after the slash"):
                assert_registered([*dois, "10.1000/"], resolver=resolver)


@pytest.mark.parametrize("what", ["read", "written"])
def test_a_cache_that_fails_is_no_error_even_if_warnings_are(tmp_path: Path, what: str) -> None:
    if what == "read":
        (tmp_path / "cache").mkdir()
        SQLiteStore(tmp_path / "cache" / "store").put_many({})
        with closing(sqlite3.connect(tmp_path / "cache" / "store")) as db:
            db.execute("CREATE TABLE other (x)")
    else:
        (tmp_path / "cache").touch()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("error")
        cached = resolver_for(RECORDS, store=tmp_path / "cache" / "store")
        assert_registered(["10.1000/182"], resolver=cached)
        with pytest.raises(AssertionError, match="not registered"):
            assert_registered(["10.1000/none"], resolver=cached)
    assert {one.category for one in told} == {StoreWarning}


def test_the_lock_file_answers_without_a_request(
    lock: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The environment's resolver is asked about the others."""
    assert_registered(["10.1000/182", "10.1000/old"], lock=lock)
    with pytest.raises(AssertionError, match=r"1 of 2 .*\n  10\.1000/18–2 is not registered"):
        assert_registered(["10.1000/182", "10.1000/18–2"], lock=str(lock))
    assert not caplog.records
    assert_registered(["10.1000/182", "10.1000/1"], lock=lock, resolver=offline())
    (warning,) = caplog.records
    assert warning.getMessage().startswith("1 of 2 DOIs could not be checked: offline")


def test_the_resolver_is_by_default_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, lock: Path
) -> None:
    with handling(lambda _target: reply("200 OK", b"[]")) as server:
        monkeypatch.setenv("DOIURI_RESOLVER", server.url)
        assert_registered(["10.1000/182", "10.1000/1"], lock=lock)
    assert len(targets(server)) >= 1
    assert all("10.1000/1" in target and "182" not in target for target in targets(server))


@pytest.mark.parametrize(
    "dois", ["10.1000/182", DOI("10.1000/182"), 5, [None], [("a", "10.1000/1", "b")]]
)
def test_wrong_arguments_are_type_errors(dois: object) -> None:
    with pytest.raises(TypeError, match="expected"):
        assert_registered(dois, resolver=offline())  # type: ignore[arg-type]


def test_a_lock_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        assert_registered(["10.1000/182"], lock=tmp_path / "doi.lock")
