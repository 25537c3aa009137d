"""``check`` from any state: interrupted, without an answer, on a cluster, in another process."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from doiuri.resolver import Resolver
from support.partitions import SHAPES, asked, bag, check, dask, frame, pd, rows
from support.processes import in_child
from support.servers.faults import Server, reply
from support.servers.rest import handling, header, proxy

# Of these, 13 fit into a request
LONG = [f"10.1000/{'x' * 200}crossref{number:06}" for number in range(104)]
TEXTS = ["10.1000/crossref", "10.1000/gone", "10.1000/link", "doi:10.1000/CROSSREF", "x"]
STATUSES = ["found", "not-found", "found", "found", "invalid"]
KNOWN = {"doi_key": ["10.1000/Link", "10.1000/other"], "doi_agency": "dump"}


def statuses(data: Any) -> list[object]:
    return [status for (status,) in rows(data, "doi_status")]


@pytest.mark.parametrize(
    ("shape", "prefix"), [*(("bag", prefix) for prefix in range(5)), ("frame", 1), ("frame", 3)]
)
def test_resumed_after_any_prefix_it_asks_for_the_rest_only(
    server: Server, tmp_path: Path, shape: str, prefix: int
) -> None:
    """Then nobody answers, then somebody does: what is answered stays, and what is unknown is asked again."""
    data: Any = SHAPES[shape](TEXTS, 4)
    known = pd.DataFrame(KNOWN) if shape == "frame" else None
    options: dict[str, Any] = {
        "cache": tmp_path / "cache.sqlite3",
        "known": known,
        "resolver": server.url,
    }
    checked = check(data, **options)
    for part in checked.to_delayed()[:prefix]:
        part.compute()
    done = {name.upper() for name in asked(server)}
    answered = {*done, "X"}
    if known is not None:
        answered.add("10.1000/LINK")
    partial = []
    for text, status in zip(TEXTS, STATUSES, strict=True):
        is_answered = text.upper().removeprefix("DOI:") in answered
        expected = status if is_answered else "unknown"
        partial.append(expected)
    assert statuses(check(data, **options, offline=True)) == partial
    assert statuses(check(data, **options)) == STATUSES
    assert {*asked(server).values()} == {1}
    assert ("10.1000/link" in asked(server)) is (known is None)
    before = len(server.requests)
    assert (
        statuses(check(data, **options))
        == statuses(check(data, **options, offline=True))
        == STATUSES
    )
    assert len(server.requests) == before


NOT_REGISTERED = proxy({}, lambda _name: {"status": "DOI does not exist"})


def not_confirmed(target: str) -> bytes:
    """Answer Which RA alone."""
    if target.startswith("/api/"):
        return reply("403 Forbidden", b"no")
    return NOT_REGISTERED(target)


NO_ANSWERS: dict[str, Callable[[str], bytes]] = {
    "a page": lambda _target: reply("200 OK", b"<html>", "Content-Type: text/html"),
    "not registered, but not confirmed": not_confirmed,
}


@pytest.mark.parametrize("answer", NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_without_an_answer_a_name_is_unknown_and_not_kept(
    tmp_path: Path, answer: Callable[[str], bytes]
) -> None:
    data = frame(["10.1000/gone", None, "10.1000/link"], 2)
    with handling(answer) as server:
        for offline in False, True:
            checked = check(
                data, resolver=server.url, cache=tmp_path / "cache.sqlite3", offline=offline
            )
            found = rows(checked, "doi_status", "doi_reason")
            assert [status for status, _ in found] == ["unknown", "invalid", "unknown"], offline
            assert all(reason for _, reason in found), offline


def test_each_call_asks_again(server: Server) -> None:
    """An "unknown" that a cluster still holds is not the answer to the next call."""
    for shape in SHAPES.values():
        data = shape(TEXTS, 2)
        calls = [check(data, resolver=server.url, offline=True) for _ in range(2)]
        keys, others = ({*map(str, call.__dask_keys__())} for call in calls)
        assert keys.isdisjoint(others), shape


def test_the_budget_is_that_of_a_partition_however_many_names_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[tuple[int, float]] = []
    original = Resolver.check

    def noted(self: Resolver, dois: Any, *, batch: bool, budget: float) -> Any:
        calls.append((len(dois), budget))
        return original(self, dois, batch=batch, budget=budget)

    monkeypatch.setattr(Resolver, "check", noted)
    data = frame([f"10.1000/{number}" for number in range(4_500)])
    for _ in range(2):
        calls.clear()
        assert {*statuses(check(data, offline=True, budget=60))} == {"unknown"}
        assert sum(names for names, _ in calls) == 4_500
        budgets = [budget for _, budget in calls]
        assert 59 < budgets[0] <= 60
        assert all(later < earlier for earlier, later in pairwise(budgets)), budgets
    assert {*statuses(check(data, offline=True, budget=1e-9))} == {"unknown"}


def rates(data: Any, **options: Any) -> set[tuple[object, ...]]:
    return {*rows(check(data, cache=":memory:", offline=True, **options), "doi_agency")}


@pytest.fixture
def _shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have ``check`` say in place of the agency how many requests a second its Resolver may send."""
    original = Resolver.check

    def check_shown(self: Resolver, *arguments: Any, **options: Any) -> Any:
        return (
            one._replace(agency=str(self.settings.rate))
            for one in original(self, *arguments, **options)
        )

    monkeypatch.setattr(Resolver, "check", check_shown)


@pytest.mark.usefixtures("_shown", "client")
@pytest.mark.parametrize(
    ("client", "rate", "share"),
    [("inproc://", 8, "8.0"), ("tcp://", 8, "4.0"), ("tcp://", None, "None")],
    indirect=["client"],
)
def test_the_processes_of_a_cluster_divide_the_rate(rate: float | None, share: str) -> None:
    """Workers in one process share an address up to its last part, and the rate."""
    for shape in frame, bag:
        assert rates(shape(LONG[:4], 4), rate=rate) == {(share,)}


@pytest.mark.usefixtures("_shown")
def test_a_rate_is_set_for_servers_elsewhere_only_and_divided_by_the_processes_of_dask_only() -> (
    None
):
    assert rates(frame(LONG[:1])) == {("10.0",)}
    assert rates(frame(LONG[:1]), resolver="http://localhost:1") == {("None",)}
    with dask.config.set(num_workers=4, scheduler="threads"):
        checked = check(frame(LONG[:4], 4), cache=":memory:", rate=8, offline=True)

        def expect() -> None:
            with dask.config.set(scheduler="sync"):  # threads do not survive a fork
                assert {*rows(checked, "doi_agency")} == {("2.0",)}

        assert {*rows(checked, "doi_agency")} == {("8.0",)}
        assert in_child(expect) == 0


def test_all_rows_on_a_cluster_of_which_a_worker_is_killed(tmp_path: Path) -> None:
    """Its partition is checked again, and no more than that."""
    from distributed import Client, LocalCluster

    busy = threading.Event()
    killed = threading.Event()

    def answer(target: str) -> bytes:
        if len(server.requests) > 3:  # in the second of four partitions
            busy.set()
            killed.wait(60)
        return proxy({}, lambda _name: {"RA": "Crossref"})(target)

    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}),  # quicker
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit=None
        ) as workers,
        Client(workers) as client,
        handling(answer) as server,
    ):
        options: dict[str, Any] = {"resolver": server.url, "rate": None, "timeout": 60}
        checked = check(frame(LONG, 4), cache=tmp_path / "cache.sqlite3", **options).persist()
        assert busy.wait(60)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        killed.set()
        assert rows(checked, "doi", "doi_status") == [(name, "found") for name in LONG]
        assert {*asked(server)} == {*LONG}
        assert asked(server).total() <= len(LONG) * 5 // 4


@pytest.mark.usefixtures("client")
def test_a_server_that_refuses_is_left_alone() -> None:
    names = [f"10.1000/{'x' * 200}{number}" for number in range(1300)]
    with handling(lambda _target: reply("403 Forbidden", b"no")) as server:
        checked = check(frame(names, 10), resolver=server.url, cache=":memory:")
        found = rows(checked, "doi_status", "doi_reason")
        assert [status for status, _ in found] == ["unknown"] * 1300
        assert len(server.requests) <= 2 * 5 + 2
    assert any("not asked again for" in str(reason) for _, reason in found)


@pytest.mark.parametrize("by", ["argument", "environment"])
@pytest.mark.parametrize(
    ("cache", "kept"),
    [
        ("cache.sqlite3", ["here/cache.sqlite3"]),
        ("C:", ["here/C:"]),
        ("", ["away/doiuri/store-3.sqlite3"]),
        (":memory:", []),
    ],
)
def test_the_environment_is_that_of_the_caller(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cache: str,
    kept: list[str],
    by: str,
) -> None:
    """Only the place of the default cache is the worker's."""
    for folder in "here", "there":
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("DOIURI_RESOLVER", server.url)
    monkeypatch.setenv("DOIURI_MAILTO", "caller@example.org")
    variable = cache if by == "environment" else ""
    argument = cache if by == "argument" else None
    monkeypatch.setenv("DOIURI_CACHE", variable)
    checked = check(frame(["10.1000/link"]), cache=argument)
    monkeypatch.chdir(tmp_path / "there")
    monkeypatch.setenv("DOIURI_RESOLVER", "http://127.0.0.1:1")
    monkeypatch.setenv("DOIURI_MAILTO", "worker@example.org")
    monkeypatch.setenv("DOIURI_OFFLINE", "1")
    monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / "no"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "away"))
    assert statuses(checked) == ["found"]
    assert all(
        "mailto:caller@" in (header(request, "User-Agent") or "") for request in server.requests
    )
    assert [
        str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()
    ] == kept


def test_a_password_is_not_shown() -> None:
    checked = check(frame(["10.1000/a"]), cache="redis://me:secret@127.0.0.1:1")
    shown = repr(
        [getattr(task, "kwargs", task) for task in dict(checked.__dask_graph__()).values()]
    )
    assert "timeout" in shown
    assert "secret" not in shown
