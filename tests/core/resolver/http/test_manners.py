"""One server, over real sockets: rate and concurrency of all Resolvers of a process, and the budget."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest
from doiuri import DOI
from doiuri.resolver import Resolver
from support.clock import Clock
from support.processes import all_threads_ended
from support.servers.faults import FAULTS, reply, says
from support.servers.rest import found, handling, proxy
from support.waiting import until

DOI_ = DOI("10.1000/a")


def names(number: int) -> list[DOI]:
    return [DOI(f"10.1000/{n}") for n in range(number)]


FAR = ["doi.org", "localhost.example.org", "192.168.1.1"]
NEAR = ["127.0.0.1:80", "127.9.9.9", "[::1]:80/x", "localhost:8000", "LOCALHOST", "proxy.localhost"]


@pytest.mark.parametrize("host", [*FAR, *NEAR])
def test_only_remote_servers_have_a_default_rate(host: str) -> None:
    assert Resolver(f"http://{host}", store=None).settings.rate == (10 if host in FAR else None)


def test_the_rate_is_that_of_all_resolvers_and_threads(clock: Clock) -> None:
    with handling(proxy()) as server:
        begun = clock()
        resolvers = [Resolver(server.url, store=None, rate=20) for _ in range(3)]
        with ThreadPoolExecutor(len(resolvers)) as pool:
            list(pool.map(lambda one: list(one.resolve_many(names(4))), resolvers))
        assert len(server.requests) == 12
        assert clock() - begun >= 11 / 20


class Crowd:
    """A handler that counts simultaneous requests; none ends before ``expected`` have arrived."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.inside = self.most = 0
        self.lock = threading.Lock()
        self.met = threading.Event()

    def __call__(self, target: str) -> bytes:
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        if self.most >= self.expected:
            self.met.set()
        self.met.wait(60)
        time.sleep(0.02)
        with self.lock:
            self.inside -= 1
        return found(target.removeprefix("/api/handles/"))


@pytest.mark.parametrize(("resolvers", "width"), [(1, 1), (1, 8), (4, 3)])
def test_so_many_requests_at_once_by_all_resolvers_of_a_process(resolvers: int, width: int) -> None:
    crowd = Crowd(width)
    with handling(crowd) as server, ThreadPoolExecutor(resolvers) as pool:
        made = [
            Resolver(server.url, store=None, timeout=100, concurrency=width)
            for _ in range(resolvers)
        ]
        outcomes = list(pool.map(lambda one: list(one.resolve_many(names(16))), made))
        assert {outcome.status for outcome in chain(*outcomes)} == {"found"}
        assert len(server.requests) == 16 * resolvers
    assert crowd.most == width


def test_leaving_early_is_no_refusal() -> None:
    usual = proxy()
    hold = threading.Event()

    def handle(target: str) -> bytes:
        if not target.endswith("/0"):
            hold.wait()
        return usual(target)

    with handling(handle) as server:
        resolver = Resolver(server.url, store=None, timeout=100, concurrency=10)
        stream = resolver.resolve_many(names(50))
        assert next(stream).status == "found"
        until(lambda: len(server.requests) == 11)
        stream.close()  # type: ignore[attr-defined]
        assert all_threads_ended(), "long before the timeout"
        assert len(server.requests) == 11, "names that were read ahead are not asked about"
        assert resolver.resolve(names(1)[0]).url
        hold.set()


def test_spellings_of_a_base_are_one_server() -> None:
    with (
        handling(lambda _target: reply("403 Forbidden", b"")) as server,
        handling(proxy()) as other,
    ):
        _, port = server.url.rsplit(":", 1)
        list(Resolver(f"http://localhost:{port}", store=None, concurrency=1).resolve_many(names(5)))
        (late,) = Resolver(f"http://LOCALHOST:{port}/some/path", store=None).resolve_many(names(1))
        assert "not asked again" in late.reason
        assert Resolver(other.url.replace("127.0.0.1", "localhost"), store=None).resolve(DOI_).url


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.hangs], ids=str)
@pytest.mark.parametrize("method", ["resolve_many", "works", "check"])
def test_the_budget_holds_whatever_happens(method: str, fault: object) -> None:
    with fault.serve() as server, Resolver(server.url, store=None, timeout=100) as resolver:  # type: ignore[attr-defined]
        begun = time.monotonic()
        outcomes = list(getattr(resolver, method)(names(500), budget=0.1))
        assert time.monotonic() - begun < 50
    assert [outcome.status for outcome in outcomes] == ["unknown"] * 500
    assert all(outcome.reason for outcome in outcomes)


@pytest.mark.parametrize("seconds", [1e6, 1e18])
def test_any_length_of_time_will_do(seconds: float) -> None:
    with handling(proxy()) as server:
        resolver = Resolver(server.url, store=None, timeout=seconds, budget=seconds)
        assert {o.status for o in resolver.resolve_many(names(5))} == {"found"}
        assert resolver.resolve(DOI_).url


def test_a_web_page_in_place_of_records_is_reported_with_its_host() -> None:
    page = reply("200 OK", b"<p>log in", kind="text/html")
    with says(page)() as portal:
        outcomes = list(Resolver(portal.url, store=None).resolve_many(names(8)))
    reasons = {outcome.reason for outcome in outcomes}
    assert len(reasons) == 2  # the server is not asked again after some answers
    assert all(reason.startswith(f"127.0.0.1:{portal.port}: ") for reason in reasons)
