"""Many DOIs: order, look-ahead, duplicates, few requests, progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count, cycle, islice, product
from typing import Any

import pytest
from doiuri import DOI, Prefix, ResolverUnavailable, ShortDOI
from doiuri.resolver import Outcome, Resolver
from support.proxy_records import value
from support.servers.faults import reply
from support.servers.rest import found, handling, not_found, proxy, targets
from support.store_contract import Kept


def names(number: int) -> list[DOI]:
    return [DOI(f"10.1000/{n}") for n in range(number)]


def test_answers_come_in_the_order_of_the_names() -> None:
    def slow_first(target: str) -> bytes:
        number = int(target.rpartition("/")[2])
        if number % 10 == 0:
            time.sleep(0.02)
        return not_found(f"10.1000/{number}") if number % 7 == 0 else found(f"10.1000/{number}")

    with handling(slow_first) as server:
        outcomes = list(Resolver(server.url, store=None).resolve_many(names(50)))
    assert [outcome.doi for outcome in outcomes] == [DOI(f"10.1000/{n}") for n in range(50)]
    statuses = ["not-found", *["found"] * 6]  # of each seven
    assert [outcome.status for outcome in outcomes] == [*islice(cycle(statuses), 50)]
    assert all(outcome.record.doi == outcome.doi for outcome in outcomes if outcome.record)


def test_a_name_that_comes_twice_is_asked_about_once() -> None:
    spellings = [DOI("10.1000/a"), DOI("10.1000/A"), DOI("10.1000/b"), DOI("10.1000/a")] * 20
    with handling(proxy()) as server:
        outcomes = list(Resolver(server.url, store=None).resolve_many(spellings))
        assert len(server.requests) == 2
        list(Resolver(server.url, store=None).check(spellings, batch=True))
        assert len(server.requests) == 2 + 1 + 2
    assert [outcome.doi.name for outcome in outcomes if outcome.doi] == [
        doi.name for doi in spellings
    ]


@pytest.mark.parametrize("method", ["resolve_many", "check", "works"])
def test_what_comes_before_an_error_of_the_iterable_is_answered(method: str) -> None:
    def broken() -> Iterator[DOI]:
        yield from names(29)
        raise OSError("the file ends here")

    outcomes: list[Outcome] = []
    with pytest.raises(OSError, match="the file ends here"):  # noqa: PT012 - the last of the stream
        for outcome in getattr(Resolver(store=None, offline=True), method)(broken()):
            outcomes.append(outcome)  # noqa: PERF402
    assert [outcome.doi for outcome in outcomes] == names(29)


@pytest.mark.parametrize(
    ("ask", "ahead"),
    [(Resolver.resolve_many, 16), (Resolver.agencies, 256), (Resolver.check, 1024 + 256)],
    ids=["resolve_many", "agencies", "check"],
)
def test_streams_may_be_endless(ask: Callable[[Resolver, Iterator[DOI]], Any], ahead: int) -> None:
    taken = 0

    def endless() -> Iterator[DOI]:
        nonlocal taken
        for number in count():
            taken += 1
            yield DOI(f"10.1000/{number}")

    with (
        handling(proxy(agencies=lambda _name: {"RA": "Crossref"})) as server,
        closing(ask(Resolver(server.url, store=None), endless())) as stream,
    ):
        assert taken == 0
        first = next(stream)
        assert taken <= ahead
        rest = list(islice(stream, 300))
    assert first.doi == DOI("10.1000/0")
    assert [outcome.status for outcome in rest] == ["found"] * 300
    assert taken <= 301 + 2 * 256


def test_progress_is_reported() -> None:
    with handling(proxy()) as server:
        seen: list[tuple[int, int | None]] = []
        resolver = Resolver(
            server.url, store=None, progress=lambda done, total: seen.append((done, total))
        )
        list(resolver.resolve_many(names(3)))
        assert seen == [(1, 3), (2, 3), (3, 3)]
        seen.clear()
        list(resolver.check(iter(names(2)), batch=True))
        assert seen == [(1, None), (2, None)]
        own: list[int] = []
        list(resolver.check(names(2), progress=lambda done, _total: own.append(done)))
        assert own == [1, 2]
        assert len(seen) == 2


def agencies(name: str) -> dict[str, str]:
    """Which RA's answer, by the last character of the name."""
    items = {
        "!": {"status": "DOI does not exist"},
        "?": {"RA": "Unknown"},
        "*": {"status": "Invalid DOI"},
        "+": {"status": "something new"},
        "-": {"DOI": "10.1000/other", "RA": "Crossref"},
    }
    return items.get(name[-1], {"RA": "Crossref"})


def test_existence_takes_few_requests() -> None:
    # DOI resolution documentation section 4: several DOIs in one request
    dois = [DOI(f"10.{1000 + n % 7}/journal.pone.{n:010}") for n in range(3000)]
    with handling(proxy(agencies=agencies)) as server:
        outcomes = list(Resolver(server.url, store=Kept()).check(dois, batch=True))
    assert [outcome.doi for outcome in outcomes] == dois
    assert {outcome.status for outcome in outcomes} == {"found"}
    assert len(server.requests) <= 0.02 * len(dois)
    assert max(map(len, targets(server))) <= 3000


@pytest.mark.parametrize(("confirm", "ends"), [(True, "a!?*+-"), (False, "a!")])
def test_doubtful_answers_are_confirmed_unless_which_ra_is_to_be_believed(
    confirm: bool, ends: str
) -> None:
    dois = [DOI(f"10.1000/{number}{end}") for end, number in product(ends, "01")]
    store = Kept()
    with handling(proxy({doi.key: () for doi in dois if doi.suffix[0] == "1"}, agencies)) as server:
        outcomes = list(Resolver(server.url, store=store).check(dois, confirm=confirm, batch=True))
        asked = targets(server)
        again = list(Resolver(server.url, store=store, offline=True).check(dois, batch=True))
    statuses = [outcome.status for outcome in outcomes]
    doubtful = ["not-found", "found"] * 5 if confirm else ["not-found"] * 2
    assert statuses == ["found", "found", *doubtful]
    assert len([target for target in asked if target.startswith("/doiRA/")]) == 1
    assert len(asked) == 1 + 10 * confirm
    assert [outcome.status for outcome in again] == (
        statuses if confirm else ["found"] * 2 + ["unknown"] * 2
    )


def test_names_of_any_kind_are_verified() -> None:
    dois = [
        *map(DOI, ("10.1000/a,b", "10.1000/../x", "10.1000/ü%")),
        ShortDOI("10/abcd"),
        Prefix("10.1000"),
    ]
    with handling(proxy(agencies=agencies)) as server:
        outcomes = list(Resolver(server.url, store=None).agencies(dois))
    assert {outcome.status for outcome in outcomes} == {"found"}
    assert [outcome.agency for outcome in outcomes] == [*["Crossref"] * 3, None, "Crossref"]
    assert (
        "10.1000/a%2Cb,10.1000/..%2Fx,10.1000/%C3%BC%25,10.1000"
        in targets(server)[0] + targets(server)[1]
    )


def test_a_link_to_a_short_doi_is_asked_about_as_such() -> None:
    link = "https://doi.org/gf5x8p"
    with handling(proxy({"10/GF5X8P": ()}, agencies=agencies)) as server:
        [*_, last] = Resolver(server.url, store=None).check([*names(20), link])
    assert (last.status, last.doi) == ("found", ShortDOI("10/gf5x8p")), last
    assert any(target.startswith("/api/handles/10/gf5x8p") for target in targets(server))


@pytest.mark.parametrize(
    "status", ["400 a", "404 a", "405 a", "410 a", "414 a", "501 a", "200 OK", "403 a"]
)
def test_without_which_ra_the_rest_api_is_asked_but_a_refusal_is_unknown(status: str) -> None:
    usual = proxy({"10.1000/0": ()})
    page = reply(status, b"<html>", kind="text/html")

    def handle(target: str) -> bytes:
        return page if target.startswith("/doiRA/") else usual(target)

    with handling(handle) as server:
        outcomes = list(Resolver(server.url, store=None).check(names(2), batch=True))
    expected = ["unknown"] * 2 if status == "403 a" else ["found", "not-found"]
    assert [outcome.status for outcome in outcomes] == expected
    assert len(server.requests) == (1 if status == "403 a" else 3)


def test_agencies_are_stored_for_any_spelling() -> None:
    with handling(proxy(agencies=agencies)) as server:
        resolver = Resolver(server.url, store=Kept())
        resolver.resolve(DOI("10.1000/a"))  # its record says nothing of the agency
        for spellings in (["10.1000/a", "10.1000/b"], ["10.1000/A", "10.1000/B"]):
            assert [outcome.agency for outcome in resolver.agencies(spellings)] == ["Crossref"] * 2
        assert len(server.requests) == 2


NO_TYPE = "expected a DOI or a str, not "
INVALID: list[tuple[Any, str, str]] = [
    ("no DOI", "no DOI", ""),
    ("", "", ""),
    ("10.1000/a\0b", "10.1000/a\0b", "U+0000"),
    (None, "None", f"{NO_TYPE}None"),
    (b"10.1000/a", "b'10.1000/a'", f"{NO_TYPE}b'10.1000/a'"),
    (10.1000, "10.1", f"{NO_TYPE}10.1"),
    (["10.1000/a"], "['10.1000/a']", f"{NO_TYPE}['10.1000/a']"),
]


@pytest.mark.parametrize("method", ["resolve_many", "agencies", "check"])
@pytest.mark.parametrize(
    ("item", "text", "reason"), INVALID, ids=[repr(item) for item, *_ in INVALID]
)
def test_an_item_that_is_not_a_doi_is_invalid(
    method: str, item: Any, text: str, reason: str
) -> None:
    """Wherever it stands: first, last, or after a DOI that is looked up; whatever the budget."""
    seen: list[tuple[int, int | None]] = []
    items = [item, *names(3), item]
    with handling(proxy()) as server:
        resolver = Resolver(
            server.url, store=None, progress=lambda done, total: seen.append((done, total))
        )
        first, *valid, last = outcomes = list(getattr(resolver, method)(items))
        (hasty, *unknown) = getattr(resolver, method)(items[:2], budget=1e-9)
    assert [outcome.doi for outcome in outcomes] == [None, *names(3), None]
    assert {(outcome.status, outcome.text) for outcome in valid} == {("found", "")}
    assert first == last == hasty
    assert (first.status, first.found, first.record, first.text) == ("invalid", False, None, text)
    assert reason in first.reason
    assert first.reason
    assert [outcome.status for outcome in unknown] == ["unknown"]
    assert seen == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5), (1, 2), (2, 2)]


def test_answers_are_stored_while_a_batch_runs_and_when_it_is_closed() -> None:
    """A process that is killed in the middle of a long batch loses little."""
    store = Kept()
    with handling(proxy()) as server:
        running = Resolver(server.url, store=store).resolve_many(names(200))
        assert len(list(islice(running, 60))) == 60
        assert len(store) >= 32, "whenever names are read ahead"
        running.close()  # type: ignore[attr-defined]
        assert {name.key for name in names(60)} <= {key.doi for key in store}


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
    hold = threading.Event()
    usual = proxy(alias)

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
