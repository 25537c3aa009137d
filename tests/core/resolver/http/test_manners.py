"""Rate limit, concurrency limit, retries, pauses after failures, and the budget."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from itertools import cycle

import pytest
from doiuri import DOI, ResolverUnavailable
from doiuri.resolver import MemoryStore, Resolver
from support.clock import Clock
from support.processes import all_threads_ended
from support.servers.faults import FAULTS, reply
from support.servers.rest import found, handling, proxy
from support.waiting import until

DOI_ = DOI("10.1000/a")


def names(number: int) -> list[DOI]:
    return [DOI(f"10.1000/{n}") for n in range(number)]


@pytest.mark.parametrize(
    ("base", "rate"),
    [
        ("https://doi.org", 10),
        ("https://localhost.example.org", 10),
        ("http://192.168.1.1", 10),
        ("http://127.0.0.1:80", None),
        ("http://127.9.9.9", None),
        ("http://[::1]:80/x", None),
        ("http://localhost:8000", None),
        ("http://proxy.localhost", None),
    ],
)
def test_only_remote_servers_have_a_default_rate(base: str, rate: float | None) -> None:
    assert Resolver(base, store=None).settings.rate == rate


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


@pytest.mark.parametrize("width", [1, 3, 8])
def test_so_many_requests_at_once(width: int) -> None:
    crowd = Crowd(width)
    with handling(crowd) as server:
        resolver = Resolver(server.url, store=None, timeout=100, concurrency=width)
        assert {o.status for o in resolver.resolve_many(names(20))} == {"found"}
    assert crowd.most == width


def test_all_resolvers_of_a_process_count_together() -> None:
    crowd = Crowd(3)
    with handling(crowd) as server:
        resolvers = [Resolver(server.url, store=None, timeout=100) for _ in range(4)]
        with ThreadPoolExecutor(len(resolvers)) as pool:
            list(pool.map(lambda one: list(one.resolve_many(names(8))), resolvers))
        assert len(server.requests) == 32
    assert crowd.most == 3


@pytest.mark.parametrize(
    "after", ["1", formatdate(time.time() + 86_400, usegmt=True)], ids=["seconds", "a date"]
)
@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
def test_retry_after_is_honoured(status: str, after: str, clock: Clock) -> None:
    answers = [reply(status, b"", f"Retry-After: {after}")]
    with handling(lambda _target: answers.pop() if answers else found("10.1000/a")) as server:
        begun = clock()
        if after == "1":
            assert Resolver(server.url, store=None).resolve(DOI_).url
            assert clock() - begun >= 1
            assert len(server.requests) == 2
        else:  # tomorrow is too late
            with pytest.raises(ResolverUnavailable) as caught:
                Resolver(server.url, store=None).resolve(DOI_)
            assert caught.value.status == int(status[:3])
            assert caught.value.retry_after is not None
            assert caught.value.retry_after > 80_000
            with pytest.raises(ResolverUnavailable, match="not asked again for"):
                Resolver(server.url, store=None).resolve(DOI_)
            assert len(server.requests) == 1


def test_a_retry_after_holds_back_everybody(clock: Clock) -> None:
    seen: list[float] = []

    def handle(target: str) -> bytes:
        seen.append(clock())
        if len(seen) == 1:
            return reply("429 Too Many Requests", b"", "Retry-After: 1")
        return found(target.removeprefix("/api/handles/"))

    with handling(handle) as server:
        outcomes = list(Resolver(server.url, store=None, concurrency=1).resolve_many(names(5)))
    assert {outcome.status for outcome in outcomes} == {"found"}
    assert seen[1] - seen[0] >= 1


@pytest.mark.parametrize(
    ("name", "requests"),
    [
        ("403", 1),
        ("500", 1),
        ("500 in JSON", 1),
        ("HTML in place of JSON", 1),
        ("truncated body", 3),
        ("reset", 3),
    ],
)
def test_only_what_may_pass_is_tried_again(name: str, requests: int, pauses: list[float]) -> None:
    fault = next(fault for fault in FAULTS if fault.name == name)
    with fault.serve() as server:
        assert [o.status for o in Resolver(server.url, store=None).resolve_many([DOI_])] == ["unknown"]
        assert len(server.requests) == requests
    limits = [(0.25, 0.5), (0.5, 1.0)][: requests - 1]
    assert [least <= pause <= most for pause, (least, most) in zip(pauses, limits, strict=True)] == [True] * (
        requests - 1
    )


@pytest.mark.usefixtures("_long_rest")
@pytest.mark.parametrize(
    ("name", "method", "requests"),
    [
        ("403", "resolve_many", 3),
        ("429 in seconds", "resolve_many", 1),
        ("500", "resolve_many", 5),
        ("HTML in place of JSON", "resolve_many", 5),
        ("a redirect loop", "resolve_many", 5 * 11),
        ("truncated JSON", "resolve_many", 5),
        ("truncated body", "resolve_many", 3 + 3 + 2),  # two of three attempts count half
        ("code 2 with 200", "resolve_many", 20),
        ("500 in JSON", "resolve_many", 20),
        ("HTML with 404", "resolve_many", 20),
        ("JSON of the wrong shape", "resolve_many", 20),
        ("500", "works", 20),
    ],
)
def test_a_server_without_usable_answers_is_left_alone(name: str, method: str, requests: int) -> None:
    fault = next(fault for fault in FAULTS if fault.name == name)
    with fault.serve() as server:
        resolver = Resolver(server.url, store=MemoryStore(), concurrency=1)
        outcomes = list(getattr(resolver, method)(names(1000)))
        assert {outcome.status for outcome in outcomes} == {"unknown"}
        assert "not asked again" in outcomes[-1].reason
        asked = len(server.requests)
        assert asked == requests
        # and so do the next ones in this process
        assert [o.status for o in Resolver(server.url, store=None).verify(names(1000))] == ["unknown"] * 1000
        assert len(server.requests) == asked


BLOCKED = reply("403 Forbidden", b"<h1>Access denied</h1>", kind="text/html")
REFUSED = reply("403 Forbidden", b'{"responseCode":2,"message":"not allowed"}')


REFUSALS: dict[str, tuple[list[bytes | None], int]] = {
    "pages": ([BLOCKED], 3),
    "no body": ([reply("403 Forbidden", b"")], 3),
    "other JSON": ([reply("403 Forbidden", b'{"error": "blocked"}')], 3),
    "two of three": ([BLOCKED, BLOCKED, None], 12),
    "another failure between": ([BLOCKED, BLOCKED, REFUSED], 5),
    "the API's own": ([REFUSED], 5),
}


@pytest.mark.parametrize(("answers", "requests"), REFUSALS.values(), ids=REFUSALS)
def test_three_blocking_answers_in_a_row_end_all_requests(
    answers: list[bytes | None], requests: int, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    left, usual = cycle(answers), proxy()
    with handling(lambda target: next(left) or usual(target)) as server:
        with Resolver(server.url, store=None, concurrency=1) as resolver:
            list(resolver.resolve_many(names(12)))
            assert len(server.requests) == requests
            clock.skipped += 1e9
            (late,) = Resolver(server.url, store=None).verify(names(1))
        blocked = requests == 3
        assert (len(server.requests) == requests) is blocked
        assert ("not asked again" in late.reason) is blocked
        host = server.url.removeprefix("http://")
    line = f"{host}: HTTP status 403, 3 times in a row: this process sends it no more requests"
    assert caplog.messages == [line] * blocked
    assert late.cause is not None
    assert late.cause.retry_after is None


def test_an_error_of_one_name_is_no_refusal() -> None:
    usual = proxy()
    broken = reply(
        "500 Internal Server Error", b'{"responseCode":2,"message":"no answer of the local service"}'
    )
    with handling(lambda target: usual(target) if target.endswith("9") else broken) as server:
        # one at a time, so that each tenth answer comes after nine errors on busy machines, too
        outcomes = list(Resolver(server.url, store=None, concurrency=1).resolve_many(names(100)))
    assert [outcome.status for outcome in outcomes].count("found") == 10
    assert len(server.requests) == 100
    assert "no answer of the local service" in outcomes[0].reason


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
        until(lambda: len(server.requests) >= 10)
        stream.close()  # type: ignore[attr-defined]
        assert all_threads_ended(), "long before the timeout"
        assert resolver.resolve(names(1)[0]).url
        hold.set()


def test_spellings_of_a_base_are_one_server() -> None:
    with handling(lambda _target: reply("403 Forbidden", b"")) as server, handling(proxy()) as other:
        _, port = server.url.rsplit(":", 1)
        list(Resolver(f"http://localhost:{port}", store=None, concurrency=1).resolve_many(names(5)))
        (late,) = Resolver(f"http://LOCALHOST:{port}/some/path", store=None).resolve_many(names(1))
        assert "not asked again" in late.reason
        assert Resolver(other.url.replace("127.0.0.1", "localhost"), store=None).resolve(DOI_).url


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.hangs], ids=str)
@pytest.mark.parametrize("method", ["resolve_many", "verify"])
def test_the_budget_holds_whatever_happens(method: str, fault: object) -> None:
    with fault.serve() as server, Resolver(server.url, store=None, timeout=100) as resolver:  # type: ignore[attr-defined]
        begun = time.monotonic()
        outcomes = list(getattr(resolver, method)(names(500), budget=0.1))
        assert time.monotonic() - begun < 50
    assert [outcome.status for outcome in outcomes] == ["unknown"] * 500
    assert all(outcome.reason for outcome in outcomes)


def test_the_budget_holds_for_one() -> None:
    fault = next(fault for fault in FAULTS if fault.name == "a header byte a second")
    with fault.serve() as server, Resolver(server.url, store=None, timeout=100, budget=0.1) as resolver:
        asking = Resolver(server.url, store=None, timeout=100)
        for ask in (
            lambda: resolver.resolve(DOI_),
            lambda: resolver.metadata(DOI_, "text/plain"),
            lambda: asking.resolve(DOI_, budget=0.1),
            lambda: asking.metadata(DOI_, "text/plain", budget=0.1),
        ):
            begun = time.monotonic()
            with pytest.raises(ResolverUnavailable):
                ask()
            assert time.monotonic() - begun < 50


@pytest.mark.usefixtures("clock")
def test_the_budget_counts_the_rate_too() -> None:
    with handling(proxy()) as server:
        outcomes = list(Resolver(server.url, store=None, rate=0.1).resolve_many(names(1000), budget=50))
        assert len(server.requests) <= 6
    statuses = [outcome.status for outcome in outcomes]
    assert statuses.count("found") <= len(server.requests)
    assert statuses.count("found") + statuses.count("unknown") == 1000


@pytest.mark.parametrize("seconds", [1e6, 1e18])
def test_any_length_of_time_will_do(seconds: float) -> None:
    crowd = Crowd(1)
    with (
        handling(crowd) as server,
        Resolver(server.url, store=None, timeout=seconds, budget=seconds) as resolver,
    ):
        assert {o.status for o in resolver.resolve_many(names(5))} == {"found"}
        assert resolver.resolve(DOI_).url


def test_a_retry_beyond_the_budget_is_not_waited_for() -> None:
    """Even if it is not too long as such: the cause is the server's answer, not the budget."""
    with handling(lambda _target: reply("503 Busy", b"", "Retry-After: 20")) as server:
        with pytest.raises(ResolverUnavailable, match="503") as caught:
            Resolver(server.url, store=None).resolve(DOI_, budget=10)
        assert len(server.requests) == 1
    assert caught.value.status == 503
