"""Every DOI gets an answer within the budget: existence first, if there are too many new names."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from doiuri.resolver import LockFile, MemoryStore, Outcome, Resolver
from support.servers.faults import Server, serving
from support.servers.rest import handling, proxy, targets

pytestmark = pytest.mark.usefixtures("clock")

NAMES = [f"10.1000/{number:04}" for number in range(3000)]


def agencies(name: str) -> dict[str, str]:
    return {"status": "DOI does not exist"} if name.endswith("/0007") else {"RA": "Crossref"}


def handle(target: str) -> bytes:
    return proxy(None if "0007" not in target else {}, agencies)(target)


def never(server: Server, _connection: socket.socket, _request: bytes) -> None:
    server.stopped.wait(30)


def count(outcomes: list[Outcome], status: str) -> int:
    return sum(outcome.status == status for outcome in outcomes)


def test_three_thousand_new_names_get_an_answer_within_a_budget_for_a_hundred() -> None:
    with handling(handle) as server:
        store = MemoryStore()
        resolver = Resolver(server.url, store=store, rate=2, budget=50)
        outcomes = list(resolver.check(NAMES))
        assert [outcome.doi.name for outcome in outcomes if outcome.doi] == NAMES
        assert (count(outcomes, "found"), count(outcomes, "not-found")) == (2999, 1)
        records = [outcome for outcome in outcomes if outcome.record is not None]
        requests = targets(server)
        assert 20 < len(records) < 100
        assert sum(target.startswith("/doiRA/") for target in requests) < 30
        assert len(requests) <= 2 * 50 + 5
        assert outcomes[7].status == "not-found"
        kinds = [
            target.startswith("/doiRA/") for target in requests if "/0007" not in target or "," in target
        ]
        assert kinds == sorted(kinds, reverse=True), "existence first"


def test_few_new_names_are_asked_for_one_by_one() -> None:
    with handling(handle) as server:
        store = MemoryStore()
        assert (
            count(list(Resolver(server.url, store=store, rate=None).resolve_many(NAMES[:300])), "found")
            == 299
        )
        before = len(server.requests)
        outcomes = list(Resolver(server.url, store=store, rate=5, budget=50).check(NAMES[:320]))
        assert count(outcomes, "found") == 319
        assert all(outcome.record for outcome in outcomes if outcome.found)
        assert not any("/doiRA/" in target for target in targets(server))
        assert len(server.requests) == before + 20


@pytest.mark.parametrize("options", [{"rate": None, "budget": 5}, {"rate": 1000, "budget": None}])
def test_without_a_limit_there_is_no_need_for_it(options: dict[str, float | None]) -> None:
    with handling(handle) as server:
        outcomes = list(Resolver(server.url, store=None, **options).check(NAMES[:50]))  # type: ignore[arg-type]
        assert sum(outcome.record is not None for outcome in outcomes) == 49
        assert not any("/doiRA/" in target for target in targets(server))


def test_invalid_items_and_repeated_names_stay_in_order() -> None:
    items = ["nonsense", *NAMES[:40], NAMES[0], 7, *NAMES[:40]]
    with handling(handle) as server:
        outcomes = list(Resolver(server.url, store=None, rate=2, budget=10).check(items))  # type: ignore[arg-type]
    assert [outcome.doi.name if outcome.doi else outcome.text for outcome in outcomes] == [
        str(i) for i in items
    ]
    assert count(outcomes, "invalid") == 2
    assert count(outcomes, "unknown") == 0
    assert any("/doiRA/" in target for target in targets(server))


def test_a_stream_is_read_bit_by_bit() -> None:
    read = []

    def stream() -> Iterator[str]:
        for name in NAMES:
            read.append(name)
            yield name

    with handling(handle) as server:
        first = next(Resolver(server.url, store=None, rate=2, budget=50).check(stream()))
    assert first.record is not None
    assert len(read) < 100


def test_progress_counts_every_name_once() -> None:
    seen: list[tuple[int, int | None]] = []
    with handling(handle) as server:
        resolver = Resolver(
            server.url, store=None, rate=2, budget=10, progress=lambda *done: seen.append(done)
        )
        list(resolver.check(NAMES[:60]))
    assert seen == [(number, 60) for number in range(1, 61)]


def test_no_answer_at_all_is_unknown_and_keeps_to_the_budget() -> None:
    with serving(never) as silent:
        before = time.monotonic()
        resolver = Resolver(silent.url, store=None, rate=20, timeout=100, budget=0.2)
        outcomes = list(resolver.check(NAMES[:60]))
        assert time.monotonic() - before < 25
    assert count(outcomes, "unknown") == 60


def test_a_lock_file_of_such_a_build_answers_every_name(tmp_path: Path) -> None:
    with handling(handle) as server:
        store = LockFile(tmp_path / "doi.lock")
        online = list(Resolver(server.url, store=store, rate=2, budget=20).check(NAMES[:100]))
        locked = LockFile(tmp_path / "doi.lock")
        offline = list(Resolver(server.url, store=locked, offline=True).check([*NAMES[:100], "10.1000/new"]))
    assert [outcome.status for outcome in offline[:100]] == [outcome.status for outcome in online]
    assert count(offline, "unknown") == 1
    assert offline[-1].reason == "offline: request not sent"
    assert {o.record is not None for o in offline if o.found} == {True, False}
