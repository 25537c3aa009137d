"""The requests to one server, as its transport sees them: rate, retries, pauses after failures, reports."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from email.utils import formatdate
from itertools import cycle

import pytest
from doiuri import ResolverUnavailable
from doiuri.resolver import Cause, MemoryStore, Outcome, Reply, Request, Resolver, TransportError
from support.clock import SLEEP, Clock
from support.servers.faults import record
from support.waiting import until

PAUSE = 5.0
LONGEST = 900.0
DAY = 86_400.0
NAMES = [f"10.1000/{number}" for number in range(1000)]
AWAY = TransportError("Connection refused")
RESET = TransportError("Connection reset by peer", transient=True)
Result = Reply | Exception | None


def replied(status: int, body: bytes = b"", after: str = "", url: str = "") -> Reply:
    headers = {"Retry-After": after} if after else {}
    return Reply(status, headers, body, url)


class Told:
    """A transport that gets the results that it is told, in turn; None is the record of the name."""

    def __init__(self, *results: Result) -> None:
        self.results = cycle(results)
        self.requests = 0

    def tell(self, *results: Result) -> None:
        self.results = cycle(results)

    def get(self, request: Request) -> Reply:
        self.requests += 1
        result = next(self.results)
        if isinstance(result, Exception):
            raise result
        if result is None:
            result = replied(200, record(request.url.partition("/api/handles/")[2]))
        return result._replace(url=result.url or request.url)

    def resolver(self, **options: object) -> Resolver:
        options = {"store": None, "rate": None, "concurrency": 1} | options
        return Resolver(transport=self, **options)  # type: ignore[arg-type]


def asked(resolver: Resolver, number: int = 1, budget: float | None = None) -> list[Outcome]:
    return list(resolver.resolve_many(NAMES[:number], budget=budget))


def pause_of(resolver: Resolver) -> float | None:
    """The seconds for which the server gets no requests; None if it gets one."""
    (outcome,) = asked(resolver)
    cause = outcome.cause or Cause("")
    return cause.retry_after if "not asked again" in cause.detail else None


# Rate


def test_requests_are_spaced_by_the_rate(now: list[float]) -> None:
    resolver = Told(None).resolver(rate=2.0)
    statuses = []
    for passed in (0.0, 0.375, 0.125, 0.0):
        now[0] += passed
        (outcome,) = asked(resolver, budget=0.0625)
        statuses.append(outcome.status)
    assert statuses == ["found", "unknown", "found", "unknown"]
    assert outcome.reason == "budget exhausted: request not sent"


@pytest.mark.parametrize(("budget", "status"), [(1.0, "unknown"), (1.5, "found")])
def test_no_request_is_sent_at_its_deadline(clock: Clock, budget: float, status: str) -> None:
    resolver = Told(None).resolver(rate=1.0)
    clock.skipped -= clock()  # nearly 0
    outcomes = asked(resolver, 2, budget=budget)
    assert [outcome.status for outcome in outcomes] == ["found", status]


# Retries


ATTEMPTS: dict[str, tuple[Result, int]] = {
    **{f"{status}": (replied(status), 3) for status in (429, 502, 503, 504)},
    **{
        f"{status}": (replied(status), 1)
        for status in (200, 400, 401, 403, 404, 407, 408, 500, 501, 505)
    },
    "429 for 30 s": (replied(429, after="30"), 3),
    "429 for 31 s": (replied(429, after="31"), 1),
    "429 of another server": (replied(429, after="7", url="https://agency.example/"), 3),
    "reset": (RESET, 3),
    "refused": (AWAY, 1),
}


@pytest.mark.parametrize(("result", "attempts"), ATTEMPTS.values(), ids=ATTEMPTS)
def test_what_soon_passes_is_tried_three_times(
    result: Result, attempts: int, clock: Clock, pauses: list[float]
) -> None:
    """As long as the server asks, nobody sends it anything; another server holds up only this request."""
    transport = Told(result)
    begun = clock()
    (outcome,) = asked(transport.resolver(timeout=100))
    assert (outcome.status, transport.requests) == ("unknown", attempts)
    held = isinstance(result, Reply) and result.headers and not result.url
    assert (clock() - begun >= 60) == bool(held and attempts > 1)
    limits = [] if held else [(0.25, 0.5), (0.5, 1.0)][: attempts - 1]
    if isinstance(result, Reply) and result.url:
        limits = [(7, 7)] * 2
    assert [
        least <= pause <= most for pause, (least, most) in zip(pauses, limits, strict=True)
    ] == [True for _ in limits]


@pytest.mark.parametrize("result", [replied(503), replied(503, after="20")])
def test_a_retry_beyond_the_budget_is_not_waited_for(result: Reply, clock: Clock) -> None:
    """The cause is the server's answer, not the budget."""
    transport = Told(result)
    (outcome,) = asked(transport.resolver(), budget=0.2)
    assert (outcome.cause and outcome.cause.status, transport.requests) == (503, 1), clock()


class Together:
    """A transport that answers two requests when both are in flight: first about one name, then the other."""

    def __init__(self, first: Reply, second: Reply) -> None:
        self.replies = {NAMES[0]: first, NAMES[1]: second}
        self.both = threading.Barrier(2)
        self.retried: list[float] = []

    def get(self, request: Request) -> Reply:
        name = request.url.partition("/api/handles/")[2]
        reply = self.replies.pop(name, None)
        if reply is None:
            self.retried.append(time.monotonic())
            return replied(200, record(name), url=request.url)
        self.both.wait(60)
        if name == NAMES[1]:
            SLEEP(0.1)
        return reply._replace(url=request.url)


def test_a_shorter_retry_after_does_not_end_a_longer_one() -> None:
    transport = Together(replied(429, after="100"), replied(503, after="50"))
    resolver = Resolver(store=None, rate=None, transport=transport)
    assert {outcome.status for outcome in asked(resolver, 2)} == {"unknown"}
    assert 90 < (pause_of(resolver) or 0) <= 100


def test_a_retry_after_holds_back_everybody_even_whom_the_server_told_to_wait_less() -> None:
    transport = Together(replied(429, after="1"), replied(429, after="0"))
    begun = time.monotonic()
    assert [
        outcome.status for outcome in asked(Resolver(store=None, rate=None, transport=transport), 2)
    ] == ["found"] * 2
    assert min(transport.retried) >= begun + 1


# Pauses


def failing(result: Result, number: int) -> tuple[Told, Resolver]:
    """A server after so many failures."""
    transport = Told(result)
    resolver = transport.resolver()
    asked(resolver, number)
    return transport, resolver


PAGE = b"<h1>Access denied</h1>"
LEFT_ALONE: dict[str, tuple[Result, str, int]] = {
    "429 for an hour": (replied(429, after="3600"), "resolve_many", 1),
    "403": (replied(403, PAGE), "resolve_many", 3),
    "refused": (AWAY, "resolve_many", 5),
    "a page with 500": (replied(500, PAGE), "resolve_many", 5),
    "a page in place of JSON": (replied(200, PAGE), "resolve_many", 5),
    "truncated JSON": (replied(200, b'{"responseCode":1,'), "resolve_many", 5),
    "503": (replied(503), "resolve_many", 3 + 3 + 2),  # two of three attempts count half
    "reset": (RESET, "resolve_many", 3 + 3 + 2),
    "code 2 with 200": (replied(200, record(code=2)), "resolve_many", 20),
    "500 in JSON": (replied(500, b'{"responseCode":2,"message":"no"}'), "resolve_many", 20),
    "a page with 404": (replied(404, PAGE), "resolve_many", 20),
    "JSON of the wrong shape": (replied(200, b'["10.1000/1"]'), "resolve_many", 20),
    "500 for works": (replied(500, PAGE), "works", 20),
}


@pytest.mark.usefixtures("now")
@pytest.mark.parametrize(("result", "method", "requests"), LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_a_server_without_usable_answers_is_left_alone(
    result: Result, method: str, requests: int
) -> None:
    transport = Told(result)
    outcomes = list(getattr(transport.resolver(store=MemoryStore()), method)(NAMES))
    assert {outcome.status for outcome in outcomes} == {"unknown"}
    assert "not asked again" in outcomes[-1].reason
    assert transport.requests == requests


def test_the_last_of_five_failures_starts_a_pause_that_names_it(now: list[float]) -> None:
    transport, resolver = failing(TransportError("first"), 4)
    transport.tell(AWAY)
    asked(resolver)
    (outcome,) = asked(resolver)
    assert outcome.cause == Cause(
        "connection",
        "doi.org",
        detail="Connection refused; not asked again for 5 s",
        retry_after=PAUSE,
    )
    now[0] += PAUSE
    assert (pause_of(resolver), transport.requests) == (None, 6)


def test_pauses_double_up_to_the_longest_and_an_answer_ends_the_count_and_the_doubling(
    now: list[float],
) -> None:
    transport, resolver = failing(AWAY, 5)
    for doubled in range(10):
        left = min(PAUSE * 2**doubled, LONGEST)
        assert pause_of(resolver) == left, doubled
        now[0] += left - 1
        assert pause_of(resolver) == 1, doubled
        now[0] += 1
        assert pause_of(resolver) is None, doubled  # a single failure is enough now
    now[0] += LONGEST
    transport.tell(None)
    asked(resolver)
    transport.tell(AWAY)
    asked(resolver, 4)
    assert pause_of(resolver) is None
    assert pause_of(resolver) == PAUSE


def test_failures_of_requests_in_flight_do_not_prolong_a_pause(now: list[float]) -> None:
    class Late(Told):
        def get(self, request: Request) -> Reply:
            all_sent.wait(60)
            if request.url.endswith("/5"):
                assert paused.wait(60)
            return super().get(request)

    all_sent = threading.Barrier(6)
    paused = threading.Event()
    transport = Late(AWAY)
    resolver = transport.resolver(concurrency=6)
    outcomes = resolver.resolve_many(NAMES[:6])
    assert [next(outcomes).status for _ in range(5)] == ["unknown"] * 5
    now[0] += 1
    paused.set()
    assert next(outcomes).status == "unknown"
    assert pause_of(resolver) == PAUSE - 1


@pytest.mark.parametrize(
    ("after", "seconds"),
    [("31", 31.0), ("86400", DAY), (str(2**31), DAY), (formatdate(4e9, usegmt=True), DAY)],
)
def test_a_long_retry_after_is_a_pause_but_never_for_ever(
    now: list[float], after: str, seconds: float
) -> None:
    transport, resolver = failing(replied(503, after=after), 1)
    assert (pause_of(resolver), transport.requests) == (seconds, 1)
    now[0] += seconds
    assert pause_of(resolver) is None


@pytest.mark.usefixtures("now")
def test_a_retry_after_that_the_budget_does_not_allow_is_kept_by_later_calls() -> None:
    transport = Told(replied(429, after="20"), None)
    resolver = transport.resolver()
    (first,) = asked(resolver, budget=10)
    assert first.cause == Cause("status", "doi.org", 429, "HTTP status 429", 20.0)
    assert (pause_of(resolver), transport.requests) == (20.0, 1)


@pytest.mark.parametrize(("failures", "left"), [(0, 4), (2, 3), (3, 2), (4, 1)])
def test_no_more_requests_in_flight_than_failures_that_are_left(failures: int, left: int) -> None:
    """One before a pause; all again as soon as there is an answer."""

    class Crowd(Told):
        def get(self, request: Request) -> Reply:
            reply = super().get(request)
            gate.wait()
            return reply

    gate = threading.Event()
    transport = Crowd(AWAY)
    resolver = transport.resolver(concurrency=4)
    for _ in range(failures):
        asked(resolver)
    transport.tell(None)
    asking = threading.Thread(target=lambda: asked(resolver, 10), daemon=True)
    asking.start()
    until(lambda: transport.requests >= failures + left)
    SLEEP(0.05)
    assert transport.requests == failures + left
    gate.set()
    asking.join()
    assert transport.requests == failures + 10


BLOCKED = replied(403, PAGE)
REFUSED = replied(403, b'{"responseCode":2,"message":"not allowed"}')
REFUSALS: dict[str, tuple[list[Result], int]] = {
    "pages": ([BLOCKED], 3),
    "no body": ([replied(403)], 3),
    "other JSON": ([replied(403, b'{"error": "blocked"}')], 3),
    "two of three": ([BLOCKED, BLOCKED, None], 12),
    "another failure between": ([BLOCKED, BLOCKED, REFUSED], 5),
    "the API's own": ([REFUSED], 5),
}


@pytest.mark.parametrize(("results", "requests"), REFUSALS.values(), ids=REFUSALS)
def test_three_blocking_answers_in_a_row_end_all_requests(
    results: list[Result], requests: int, now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    transport = Told(*results)
    resolver = transport.resolver()
    asked(resolver, 12)
    assert transport.requests == requests
    now[0] += 1e9
    (late,) = asked(resolver)
    blocked = requests == 3
    assert (transport.requests == requests, "as long as this process runs" in late.reason) == (
        blocked,
        blocked,
    )
    line = "doi.org: HTTP status 403; not asked again for as long as this process runs"
    assert caplog.messages == [line] * blocked
    assert (late.cause or Cause("")).retry_after is None


def test_blocking_is_said_if_the_server_also_asks_to_wait(caplog: pytest.LogCaptureFixture) -> None:
    """The first of three answers begins a wait, in which the others arrive."""
    in_flight = threading.Barrier(3)

    class Guarded(Told):
        def get(self, request: Request) -> Reply:
            in_flight.wait()
            return super().get(request)

    asked(Guarded(replied(403, PAGE, after="100")).resolver(concurrency=3), 3)

    line = "doi.org: HTTP status 403; not asked again for as long as this process runs"
    assert caplog.messages == [line]


def test_a_server_asks_again_after_minutes_and_says_when_it_stops_and_resumes(
    now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "doiuri")
    transport = Told(BLOCKED)
    resolver = transport.resolver(long_running=True)
    asked(resolver, 12)
    pauses = []
    for _ in range(4):
        pauses.append(pause_of(resolver))
        now[0] += pauses[-1] or 0
        asked(resolver, 12)
    assert (pauses, transport.requests) == ([300.0, 600.0, LONGEST, LONGEST], 3 + 4)

    transport.tell(None)
    now[0] += LONGEST
    assert {outcome.status for outcome in asked(resolver, 12)} == {"found"}

    stops = [
        f"doi.org: HTTP status 403; not asked again for {seconds} s"
        for seconds in (300, 600, 900, 900, 900)
    ]
    assert caplog.messages == [*stops, "doi.org answers again"]


@pytest.mark.usefixtures("clock")
def test_a_wait_that_the_server_asks_for_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """A build that stands still for 20 seconds without a word looks like one that hangs."""
    transport = Told(replied(503, after="20"), replied(503, after="0.5"), None)

    asked(transport.resolver())

    assert caplog.messages == ["doi.org: HTTP status 503; waiting 20 s, as it asks"]


@pytest.mark.parametrize(
    ("base", "url", "counts"),
    [
        ("https://doi.org", "http://doi.org/a", True),
        ("http://doi.org:80", "https://doi.org:443/", True),
        ("https://DOI.org", "https://doi.org/", True),
        ("https://doi.org", "https://doi.org:80/", False),
        ("https://doi.org", "https://doi.org:8443/", False),
        ("https://doi.org", "https://www.doi.org/", False),
    ],
)
def test_failures_of_another_server_do_not_count(base: str, url: str, counts: bool) -> None:
    """http and https on their ports are one server."""
    resolver = Told(replied(500, PAGE, url=url)).resolver(base=base)
    asked(resolver, 5)
    assert (pause_of(resolver) is not None) is counts


def test_one_error_is_no_refusal_and_its_message_is_told() -> None:
    broken = replied(500, b'{"responseCode":2,"message":"no answer of the local service"}')
    transport = Told(*[broken] * 9, None)
    outcomes = asked(transport.resolver(), 100)
    assert ([outcome.status for outcome in outcomes].count("found"), transport.requests) == (
        10,
        100,
    )
    assert "no answer of the local service" in outcomes[0].reason


@pytest.mark.usefixtures("now")
@pytest.mark.parametrize(("budget", "counts"), [(0.5, False), (2.0, True)])
def test_a_server_that_had_less_time_than_usual_did_not_fail(budget: float, counts: bool) -> None:
    resolver = Told(TimeoutError()).resolver()
    for _ in range(5):
        (outcome,) = asked(resolver, budget=budget)
        assert outcome.reason == f"no answer from doi.org within {budget:.3g} s"
    assert (pause_of(resolver) is not None) is counts


# Reports


@pytest.mark.parametrize("result", [replied(404), AWAY, TimeoutError(), None], ids=repr)
def test_each_request_is_reported_once_with_what_came_of_it(result: Result) -> None:
    seen: list[Reply | TransportError | TimeoutError] = []
    transport = Told(result)
    resolver = transport.resolver(store=MemoryStore(), on_reply=seen.append)
    asked(resolver, 2)
    assert len(seen) == transport.requests == 2
    assert all(one is result or isinstance(one, Reply) for one in seen)
    asked(resolver, 2)  # what is stored is not requested
    assert len(seen) == transport.requests == (2 if result is None else 4)


@pytest.mark.parametrize(
    "error", [TimeoutError("of the metrics"), TransportError("mine"), ValueError("bug")]
)
@pytest.mark.parametrize(
    "ask", [asked, lambda resolver: resolver.resolve(NAMES[0])], ids=["many", "one"]
)
def test_what_a_report_raises_ends_the_call_and_is_not_the_servers_failure(
    error: Exception, ask: Callable[[Resolver], object]
) -> None:
    def fail(_reply: object) -> None:
        raise error

    transport = Told(None)
    with pytest.raises(type(error), match=str(error)):
        ask(transport.resolver(on_reply=fail, budget=100))
    assert transport.requests == 1


def test_a_pause_is_an_error_of_one_look_up() -> None:
    _, resolver = failing(replied(429, after="86400"), 1)
    with pytest.raises(ResolverUnavailable, match="429; not asked again for 86") as caught:
        resolver.resolve(NAMES[0])
    assert (caught.value.status, 80_000 < (caught.value.retry_after or 0) <= DAY) == (429, True)
