"""Many DOIs: order, look-ahead, duplicates, few requests, progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import count, islice
from typing import Any

import pytest
from doiuri import DOI, Handle, Prefix, ResolverUnavailable, ShortDOI
from doiuri.resolver import Outcome, Resolver
from support.processes import all_threads_ended
from support.servers.faults import reply, value
from support.servers.rest import found, handling, not_found, proxy, targets
from support.store_contract import Kept
from support.waiting import until


def names(number: int) -> list[DOI]:
    return [DOI(f"10.1000/{n}") for n in range(number)]


def test_answers_come_in_the_order_of_the_names() -> None:
    def slow_first(target: str) -> bytes:
        number = int(target.rpartition("/")[2])
        time.sleep(0.02 if number % 10 == 0 else 0)
        return not_found(f"10.1000/{number}") if number % 7 == 0 else found(f"10.1000/{number}")

    with handling(slow_first) as server:
        outcomes = list(Resolver(server.url, store=None).resolve_many(names(50)))
    assert [outcome.doi for outcome in outcomes] == names(50)
    assert [outcome.status for outcome in outcomes] == [
        "not-found" if number % 7 == 0 else "found" for number in range(50)
    ]
    assert all(outcome.record.doi == outcome.doi for outcome in outcomes if outcome.record)


def test_a_name_that_comes_twice_is_asked_about_once() -> None:
    spellings = [DOI("10.1000/a"), DOI("10.1000/A"), DOI("10.1000/b"), DOI("10.1000/a")] * 20
    with handling(proxy()) as server:
        outcomes = list(Resolver(server.url, store=None).resolve_many(spellings))
        assert len(server.requests) == 2
        list(Resolver(server.url, store=None).verify(spellings))
        assert len(server.requests) == 2 + 1 + 2
    assert [outcome.doi.name for outcome in outcomes if outcome.doi] == [doi.name for doi in spellings]


@pytest.mark.parametrize("method", ["resolve_many", "verify", "check", "works"])
def test_what_comes_before_an_error_of_the_iterable_is_answered(method: str) -> None:
    def broken() -> Iterator[DOI]:
        yield from names(29)
        raise OSError("the file ends here")

    outcomes: list[Outcome] = []
    with pytest.raises(OSError, match="the file ends here"):  # noqa: PT012 - the last of the stream
        for outcome in getattr(Resolver(store=None, offline=True), method)(broken()):
            outcomes.append(outcome)  # noqa: PERF402
    assert [outcome.doi for outcome in outcomes] == names(29)


@pytest.mark.parametrize("method", ["resolve_many", "verify"])
def test_streams_may_be_endless(method: str) -> None:
    taken = 0

    def endless() -> Iterator[DOI]:
        nonlocal taken
        for number in count():
            taken += 1
            yield DOI(f"10.1000/{number}")

    with handling(proxy(agencies=lambda _name: {"RA": "Crossref"})) as server:
        stream = getattr(Resolver(server.url, store=None), method)(endless())
        assert taken == 0
        first = next(stream)
        assert taken <= (16 if method == "resolve_many" else 256)
        rest = list(islice(stream, 500))
        stream.close()
    assert first.doi == DOI("10.1000/0")
    assert [outcome.status for outcome in rest] == ["found"] * 500
    assert taken <= 501 + 2 * 256


def test_closing_a_batch_stops_its_requests() -> None:
    with handling(proxy()) as server:
        for outcome in Resolver(server.url, store=None, rate=50).resolve_many(names(200)):
            assert outcome.status == "found"
            break
        assert all_threads_ended()
        assert len(server.requests) < 100


def test_answers_are_stored_even_if_the_caller_stops_iterating() -> None:
    store, usual, hold = Kept(), proxy(), threading.Event()

    def five(target: str) -> bytes:
        if int(target.rpartition("/")[2]) >= 5:
            hold.wait()
        return usual(target)

    with handling(five) as server:
        stream = Resolver(server.url, store=store, timeout=100).resolve_many(names(100))
        first = next(stream)
        # all three threads hang: they are done with the first five
        until(lambda: len(server.requests) >= 5 + 3)
        stream.close()  # type: ignore[attr-defined]
        hold.set()
        again = list(Resolver(server.url, store=store, offline=True).resolve_many(names(5)))
    assert again[0] == first
    assert [outcome.status for outcome in again] == ["found"] * 5


def test_progress_is_reported() -> None:
    with handling(proxy()) as server:
        seen: list[tuple[int, int | None]] = []
        resolver = Resolver(server.url, store=None, progress=lambda done, total: seen.append((done, total)))
        list(resolver.resolve_many(names(3)))
        assert seen == [(1, 3), (2, 3), (3, 3)]
        seen.clear()
        list(resolver.verify(iter(names(2))))
        assert seen == [(1, None), (2, None)]
        own: list[int] = []
        list(resolver.check(names(2), progress=lambda done, _total: own.append(done)))
        assert own == [1, 2]
        assert len(seen) == 2


def agencies(name: str) -> dict[str, str]:
    """Which RA's answer, by the last character of the name."""
    return {
        "!": {"status": "DOI does not exist"},
        "?": {"RA": "Unknown"},
        "*": {"status": "Invalid DOI"},
        "+": {"status": "something new"},
        "-": {"DOI": "10.1000/other", "RA": "Crossref"},
    }.get(name[-1], {"RA": "Crossref"})


def test_existence_takes_few_requests() -> None:
    # DOI resolution documentation section 4: several DOIs in one request
    dois = [DOI(f"10.{1000 + n % 7}/journal.pone.{n:010}") for n in range(3000)]
    with handling(proxy(agencies=agencies)) as server:
        outcomes = list(Resolver(server.url, store=Kept()).verify(dois))
    assert [outcome.doi for outcome in outcomes] == dois
    assert {outcome.status for outcome in outcomes} == {"found"}
    assert len(server.requests) <= 0.02 * len(dois)
    assert max(map(len, targets(server))) <= 3000


def test_doubtful_answers_are_confirmed() -> None:
    dois = [DOI(f"10.1000/{n}{end}") for end in "a!?*+-" for n in "01"]
    store = Kept()
    with handling(proxy({doi.key: () for doi in dois if doi.suffix[0] == "1"}, agencies)) as server:
        outcomes = list(Resolver(server.url, store=store).verify(dois))
        asked = targets(server)
        again = list(Resolver(server.url, store=store, offline=True).verify(dois))
    sure, doubtful = outcomes[:2], outcomes[2:]
    assert [outcome.status for outcome in sure] == ["found", "found"]
    assert [outcome.status for outcome in doubtful] == ["not-found", "found"] * 5
    assert len([target for target in asked if target.startswith("/doiRA/")]) == 1
    assert len(asked) == 1 + 10
    assert [outcome.status for outcome in again] == [outcome.status for outcome in outcomes]


def test_without_confirmation_which_ra_alone_says_what_does_not_exist() -> None:
    dois = [DOI(f"10.1000/{n}{end}") for end in "a!" for n in "01"]
    with handling(proxy({doi.key: () for doi in dois if doi.suffix[0] == "1"}, agencies)) as server:
        outcomes = list(Resolver(server.url, store=None).verify(dois, confirm=False))
        asked = targets(server)
    assert [outcome.status for outcome in outcomes] == ["found", "found", "not-found", "not-found"]
    assert len(asked) == 1


def test_names_of_any_kind_are_verified() -> None:
    dois: list[Handle] = [
        DOI("10.1000/a,b"),
        DOI("10.1000/../x"),
        ShortDOI("10/abcd"),
        Prefix("10.1000"),
        DOI("10.1000/ü%"),
    ]
    with handling(proxy(agencies=agencies)) as server:
        outcomes = list(Resolver(server.url, store=None).agencies(dois))
    assert [outcome.status for outcome in outcomes] == ["found"] * 5
    assert [outcome.agency for outcome in outcomes] == ["Crossref", "Crossref", None, "Crossref", "Crossref"]
    assert "10.1000/a%2Cb,10.1000/..%2Fx,10.1000,10.1000/%C3%BC%25" in targets(server)[0] + targets(server)[1]


@pytest.mark.parametrize("status", ["400 a", "404 a", "405 a", "410 a", "414 a", "501 a", "200 OK"])
def test_without_which_ra_the_rest_api_is_asked(status: str) -> None:
    usual = proxy({"10.1000/0": ()})

    def handle(target: str) -> bytes:
        return reply(status, b"<html>", kind="text/html") if target.startswith("/doiRA/") else usual(target)

    with handling(handle) as server:
        outcomes = list(Resolver(server.url, store=None).verify(names(2)))
    assert [outcome.status for outcome in outcomes] == ["found", "not-found"]


def test_a_refusal_of_which_ra_is_unknown() -> None:
    refused = reply("403 Forbidden", b"")
    with handling(lambda target: refused if target.startswith("/doiRA/") else found("10.1000/0")) as server:
        (outcome,) = Resolver(server.url, store=None).verify(names(1))
    assert outcome.status == "unknown"
    assert len(server.requests) == 1


def test_agencies_are_stored_for_30_days_by_any_spelling() -> None:
    store, month = Kept(), 30 * 86_400
    with handling(proxy(agencies=agencies)) as server:
        resolver = Resolver(server.url, store=store)
        resolver.resolve(DOI("10.1000/a"))  # its record says nothing of the agency
        for spellings in (["10.1000/a", "10.1000/b"], ["10.1000/A", "10.1000/B"]):
            assert [outcome.agency for outcome in resolver.agencies(spellings)] == ["Crossref"] * 2
        assert len(server.requests) == 2
    kept = [entry.expires - time.time() for key, entry in store.items() if key.kind == "exists"]
    assert [month - 60 < seconds <= month for seconds in kept] == [True, True]


INVALID: list[tuple[Any, str, str]] = [
    ("no DOI", "no DOI", ""),
    ("", "", ""),
    ("10.1000/a\0b", "10.1000/a\0b", ""),
    (None, "None", "expected a DOI or a str, not None"),
    (b"10.1000/a", "b'10.1000/a'", "expected a DOI or a str, not b'10.1000/a'"),
    (10.1000, "10.1", "expected a DOI or a str, not 10.1"),
    (["10.1000/a"], "['10.1000/a']", "expected a DOI or a str, not ['10.1000/a']"),
]


@pytest.mark.parametrize("method", ["resolve_many", "verify", "agencies", "check"])
def test_an_item_that_is_not_a_doi_is_invalid(method: str) -> None:
    """Wherever it stands: first, last, or after a DOI that is looked up."""
    seen: list[tuple[int, int | None]] = []
    items = [part for item, _, _ in INVALID for part in (item, *names(3), item)]
    with handling(proxy()) as server:
        resolver = Resolver(server.url, store=None, progress=lambda done, total: seen.append((done, total)))
        outcomes: list[Outcome] = list(getattr(resolver, method)(items))
    assert [outcome.doi for outcome in outcomes] == [None, *names(3), None] * len(INVALID)
    valid = [outcome for outcome in outcomes if outcome.doi is not None]
    assert {(outcome.status, outcome.text) for outcome in valid} == {("found", "")}
    invalid = [outcome for outcome in outcomes if outcome.doi is None]
    for outcome, (_, text, reason) in zip(invalid, [one for one in INVALID for _ in "12"], strict=True):
        assert (outcome.status, outcome.found, outcome.record, outcome.text) == ("invalid", False, None, text)
        assert outcome.reason.startswith(reason)
        assert outcome.reason
    assert seen == [(number, len(items)) for number in range(1, len(items) + 1)]


def test_invalid_items_do_not_depend_on_the_budget() -> None:
    with handling(proxy()) as server:
        resolver = Resolver(server.url, store=None)
        outcomes = list(resolver.resolve_many(["no DOI", "10.1000/a"], budget=1e-9))
    assert [outcome.status for outcome in outcomes] == ["invalid", "unknown"]


def test_answers_are_stored_while_a_batch_runs() -> None:
    """A process that is killed in the middle of a long batch loses little."""
    store = Kept()
    with handling(proxy()) as server:
        running = Resolver(server.url, store=store).resolve_many(names(200))
        assert len(list(islice(running, 60))) == 60
        assert len(store) >= 32, "whenever names are read ahead"


def test_answers_are_stored_after_half_a_second(now: list[float]) -> None:
    store = Kept()
    with handling(proxy()) as server:
        running = Resolver(server.url, store=store, concurrency=1).resolve_many(names(10))
        for number in range(5):
            next(running)
            assert len(store) >= number, f"after {number} answers"
            now[0] += 0.6


def test_answers_on_the_way_to_a_slow_alias_are_kept() -> None:
    alias = {"10.1000/ALIAS": (value("HS_ALIAS", "10.1000/slow"),)}
    hold, usual = threading.Event(), proxy(alias)

    def handle(target: str) -> bytes:
        if target.endswith("/slow"):
            hold.wait(60)
        return usual(target)

    store = Kept()
    with handling(handle) as server:
        resolver = Resolver(server.url, store=store, budget=0.3)
        for _ in range(2):
            with pytest.raises(ResolverUnavailable):
                resolver.resolve("10.1000/alias")
        hold.set()
        assert [key.doi for key in store] == ["10.1000/ALIAS"]
        assert sum(target.endswith("/alias") for target in targets(server)) == 1
