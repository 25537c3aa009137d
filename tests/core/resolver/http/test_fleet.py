"""Processes on one pace against a server that notes when each request arrives: no second has more."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
import redis
from doiuri import DOI, ResolverUnavailable
from doiuri.resolver import Resolver, _process
from doiuri.testing import resolver_for
from support.processes import in_child
from support.servers import redis as redis_server
from support.servers.faults import reply
from support.servers.rest import handling, proxy

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.once, pytest.mark.newest]

RATE = 100
MOST = 110

# The clock of each machine is wrong by so many seconds
WORKER = """
import sys, time
base, pace, name, rate, seconds, wrong = sys.argv[1:]
right = time.time
time.time = lambda: right() + float(wrong)
from doiuri.resolver import Resolver
resolver = Resolver(base, store=None, pace=pace, rate=float(rate), concurrency=3, timeout=2)
names = (f"10.1000/{name}-{number}" for number in range(100_000))
for outcome in resolver.resolve_many(names, budget=float(seconds)):
    print(outcome.status, flush=True)
    if outcome.status == "unknown":
        break
"""


class Fleet:
    """Workers that request records from a server, and when the server got each request."""

    def __init__(self, url: str, pace: str, log: list[tuple[float, str]]) -> None:
        self.url = url
        self.pace = pace
        self.log = log
        self.workers: dict[str, subprocess.Popen[str]] = {}

    def start(self, name: str, seconds: float, *, rate: float = RATE, wrong: float = 0) -> None:
        words = [sys.executable, "-c", WORKER, self.url, self.pace, name, str(rate), str(seconds), str(wrong)]
        self.workers[name] = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def finish(self) -> str:
        """Wait for the workers and return what they wrote to standard error."""
        return "".join(worker.communicate(timeout=120)[1] for worker in self.workers.values())

    def most(self) -> int:
        """The most requests in one second, whenever it begins."""
        times, first, most = sorted(when for when, _ in self.log), 0, 0
        for number, last in enumerate(times):
            while last - times[first] >= 1:
                first += 1
            most = max(most, number - first + 1)
        return most


@contextmanager
def fleet(pace: str) -> Iterator[Fleet]:
    log: list[tuple[float, str]] = []
    answer = proxy()

    def handle(target: str) -> bytes:
        log.append((time.monotonic(), target.rpartition("/")[2].partition("-")[0]))
        return answer(target)

    with handling(handle) as server:
        made = Fleet(server.url, pace, log)
        try:
            yield made
        finally:
            for worker in made.workers.values():
                worker.kill()
                worker.communicate(timeout=60)


def test_no_second_has_more_than_the_pace_whatever_the_clocks() -> None:
    """Two groups, one of them with a lower rate, on machines whose clocks differ by an hour."""
    with redis_server.running() as server, fleet(server.url) as many:
        many.start("early", 8, wrong=-3600)
        many.start("right", 8)
        many.start("late", 8, rate=RATE / 2, wrong=3600)
        assert many.finish() == ""
        assert RATE / 4 <= many.most() <= MOST
        assert min(Counter(name for _, name in many.log).values()) >= 10, "each has its turn"


def test_workers_that_stood_still_do_not_catch_up() -> None:
    with redis_server.running() as server, fleet(server.url) as many:
        for name in ("a", "b", "c"):
            many.start(name, 100)
        for seen in (50, 150, 250):
            redis_server.until(lambda seen=seen: len(many.log) > seen, "no requests")
            for what in (signal.SIGSTOP, signal.SIGCONT):
                for worker in many.workers.values():
                    worker.send_signal(what)
                time.sleep(0.8)
        assert many.most() <= MOST


def test_the_pace_holds_when_redis_is_killed_and_a_worker_too() -> None:
    with redis_server.running() as server, fleet(server.url) as many:
        for name in ("a", "b", "c"):
            many.start(name, 100)
        redis_server.until(lambda: len(many.log) > 50, "no requests")
        server.stop()
        time.sleep(3)
        begun = len(many.log)
        time.sleep(3)
        meanwhile = len(many.log) - begun
        assert 1 <= meanwhile <= 3 * (RATE / 20 + 1), "few, but some"
        server.start()
        many.workers["a"].kill()
        redis_server.until(lambda: len(many.log) > begun + meanwhile + 60, "it stays slow")
        for worker in many.workers.values():
            worker.kill()
        said = many.finish()
        assert 1 <= said.count("PaceWarning: the shared pace at redis://") <= 3, "once in each worker"
        assert many.most() <= MOST


def test_resolvers_of_a_process_share_its_pace_and_a_child_has_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with redis_server.running() as server, handling(proxy()) as web:
        monkeypatch.setenv("DOIURI_PACE", server.url)
        first, second = (Resolver(web.url, store=None, rate=1000) for _ in range(2))
        assert first.resolve("10.1000/a").url
        assert (first.pace, second.resolve("10.1000/a").doi) == (server.url, DOI("10.1000/a"))
        parent = _process.pace(server.url, web.url)

        def work() -> None:
            assert first.resolve("10.1000/b").url
            assert _process.pace(server.url, web.url) is not parent

        assert in_child(work) == 0
        with redis.Redis(port=server.port) as client:
            assert client.zcard(f"doiuri:pace:1:{{{web.url}}}:processes") == 2
            assert client.zcard(f"doiuri:pace:1:{{{web.url}}}:leases") == 0


def test_a_refusal_to_one_process_stops_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_target: str) -> bytes:
        return reply("429 Too Many Requests", b"", "Retry-After: 1000")

    with redis_server.running() as server, handling(refuse) as web:
        monkeypatch.setenv("DOIURI_PACE", server.url)

        def ask() -> None:
            with pytest.raises(ResolverUnavailable, match="429"):
                Resolver(web.url, store=None).resolve("10.1000/a")

        assert in_child(ask) == 0
        with pytest.raises(ResolverUnavailable, match=r"not asked again for .* as its Retry-After") as caught:
            Resolver(web.url, store=None).resolve("10.1000/b")
        assert caught.value.retry_after is not None
        assert 900 < caught.value.retry_after <= 1000
        assert len(web.requests) == 1


def test_a_call_ends_at_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    with redis_server.running() as server, handling(proxy()) as web:
        monkeypatch.setenv("DOIURI_PACE", server.url)
        resolver = Resolver(web.url, store=None, rate=0.01)
        resolver.resolve("10.1000/a")
        begun = time.monotonic()
        with pytest.raises(ResolverUnavailable, match="budget exhausted"):
            resolver.resolve("10.1000/b", budget=0.5)
        assert server.process
        server.process.send_signal(signal.SIGSTOP)  # Redis hangs
        with pytest.raises(ResolverUnavailable, match="budget exhausted"):
            resolver.resolve("10.1000/c", budget=0.5)
        assert time.monotonic() - begun < 10


def test_a_transport_of_its_own_has_a_pace_only_if_it_is_given_one(monkeypatch: pytest.MonkeyPatch) -> None:
    url = {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"}}
    records = [{"handle": "10.1000/182", "values": [url]}]
    with redis_server.running() as server:
        monkeypatch.setenv("DOIURI_PACE", server.url)
        with redis.Redis(port=server.port) as client:
            assert resolver_for(records).resolve("10.1000/182").url
            assert client.dbsize() == 0
            assert resolver_for(records, pace=server.url).resolve("10.1000/182").url
            assert client.dbsize() > 0


@pytest.mark.parametrize(
    "url",
    ["localhost", "http://localhost", "redis://u:secret@localhost:port", "redis://u:secret@h?db=secret"],
)
def test_a_pace_that_is_none_is_refused_at_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"^pace: not a URL of a Redis server") as caught:
        Resolver(store=None, pace=url)
    assert "secret" not in str(caught.value)
    monkeypatch.setenv("DOIURI_PACE", url)
    with pytest.raises(ValueError, match=r"^DOIURI_PACE: not a URL of a Redis server"):
        Resolver(store=None)
    with pytest.raises(TypeError, match="pace must be a str"):
        Resolver(store=None, pace=7)  # type: ignore[arg-type]
