"""Threads that convert at once, and what is logged about DOIs that could not be checked."""

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from doiuri import DOI
from doiuri.resolver import Outcome, Resolver
from doiuri_proxy.pytest_plugin import Proxies
from support.servers.web import record

from .conftest import Render

KNOWN = [record("10.1000/182", "https://example.org/landing")]


def test_threads_ask_for_the_same_doi_once(doi_proxy: Proxies, render: Render) -> None:
    proxy = doi_proxy(KNOWN)
    begin = threading.Barrier(8)

    def convert(_: int) -> str:
        begin.wait()
        html = render("<doi:10.1000/none>", resolve=True, resolver=proxy.url, budget=100).html
        assert "doi-not-found" in html
        return html

    with ThreadPoolExecutor(8) as pool:
        assert len({*pool.map(convert, range(8))}) == 1
    assert len(proxy.log) == 1


def test_threads_ask_for_different_dois_at_the_same_time(
    render: Render, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = threading.Barrier(4, timeout=20)  # broken if one waits for another

    def check(_: Resolver, dois: list[DOI], *__: object, **___: object) -> list[Outcome]:
        together.wait()
        return [Outcome(doi, "not-found") for doi in dois]

    monkeypatch.setattr(Resolver, "check", check)

    def convert(number: int) -> str:
        return render(f"<doi:10.1000/{number}>", resolve=True, budget=20).html

    with ThreadPoolExecutor(4) as pool:
        assert all("doi-not-found" in html for html in pool.map(convert, range(4)))


def test_threads_wait_for_the_dois_that_others_ask_for(
    render: Render, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    first, go_on = threading.Event(), threading.Event()

    def check(_: Resolver, dois: list[DOI], *__: object, **___: object) -> list[Outcome]:
        asked.extend(doi.name for doi in dois)
        if not first.is_set():
            first.set()
            go_on.wait(20)
        else:
            go_on.set()
        return [Outcome(doi, "not-found") for doi in dois]

    monkeypatch.setattr(Resolver, "check", check)
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(render, "doi:10.1000/1 doi:10.1000/2", resolve=True, budget=20)
        assert first.wait(20)
        other = pool.submit(render, "doi:10.1000/2 doi:10.1000/3", resolve=True, budget=20)
        assert [job.result().html.count("doi-not-found") for job in (one, other)] == [2, 2]
    assert asked == ["10.1000/1", "10.1000/2", "10.1000/3"]


def test_a_thread_waits_for_others_no_longer_than_its_budget(
    render: Render, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, go_on = threading.Event(), threading.Event()

    def check(_: Resolver, dois: list[DOI], *__: object, **___: object) -> list[Outcome]:
        first.set()
        assert go_on.wait(20)
        return [Outcome(doi, "not-found") for doi in dois]

    monkeypatch.setattr(Resolver, "check", check)
    with ThreadPoolExecutor(1) as pool:
        one = pool.submit(render, "doi:10.1000/1", resolve=True, budget=20)
        assert first.wait(20)
        assert "doi-not-found" not in render("doi:10.1000/1", resolve=True, budget=0.05).html
        go_on.set()
        assert "doi-not-found" in one.result().html


def test_an_error_in_one_thread_leaves_no_other_waiting(
    render: Render, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, claimed = threading.Event(), threading.Event()

    def check(_: Resolver, dois: list[DOI], *__: object, **___: object) -> list[Outcome]:
        if not first.is_set():
            first.set()
            assert claimed.wait(20)
            raise RuntimeError("disk full")
        return [Outcome(doi, "not-found") for doi in dois]

    def second() -> str:
        claimed.set()
        return render("doi:10.1000/1", resolve=True, budget=20).html

    monkeypatch.setattr(Resolver, "check", check)
    with ThreadPoolExecutor(2) as pool:
        failing = pool.submit(render, "doi:10.1000/1", resolve=True, budget=20)
        assert first.wait(20)
        assert "doi-not-found" in pool.submit(second).result()
        with pytest.raises(RuntimeError, match="disk full"):
            failing.result()


@pytest.mark.parametrize("times", [1, 2])
def test_what_could_not_be_checked_is_logged_once_a_document(
    times: int, render: Render, caplog: pytest.LogCaptureFixture
) -> None:
    source = "doi:10.1000/1 doi:10.1000/1 doi:10.1000/2"
    with caplog.at_level(logging.INFO, "doiuri"):
        for _ in range(times):
            assert render(source, resolve=True, offline=True).problems == []
    messages = ["2 of 2 DOIs could not be checked: offline: request not sent"] * times
    assert [(record.name, record.levelno, record.getMessage()) for record in caplog.records] == [
        ("doiuri", logging.INFO, message) for message in messages
    ]


def test_what_was_checked_is_not_counted(
    doi_proxy: Proxies, render: Render, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "doiuri"):
        render("doi:10.1000/182 doi:10.1000/none", resolve=True, resolver=doi_proxy(KNOWN).url)
    assert not caplog.records
