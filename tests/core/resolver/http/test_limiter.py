"""The limiter on a clock of our own: the exact ends of rates, holds and pauses."""

from __future__ import annotations

import time
from contextlib import ExitStack
from itertools import chain, count, repeat
from math import inf

import pytest
from doiuri.resolver import Cause
from doiuri.resolver.http._limiter import (
    MAX_FAILURES,
    MAX_PAUSE,
    MAX_RETRY_AFTER,
    PAUSE,
    REFUSED,
    RETRIED,
    UNUSABLE,
    Limiter,
    Paused,
)

AWAY = Cause("connection", "doi.org", detail="Connection refused")
RESET = Cause("connection", "doi.org", detail="Connection reset by peer")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limiter(clock: Clock) -> Limiter:
    return Limiter(clock)


def admitted(limiter: Limiter, rate: float | None = None, *, within: float = 0.01) -> bool:
    """Return whether a request may be sent at once; a later one would have to wait beyond its deadline."""
    now = limiter._clock()
    try:
        with limiter.slot(rate, 3, lambda: now + within):
            return True
    except TimeoutError:
        return False


def check_full(limiter: Limiter, concurrency: int) -> None:
    soon = time.monotonic() + 0.05
    with pytest.raises(TimeoutError), limiter.slot(None, concurrency, lambda: soon):
        pass


def pause(limiter: Limiter) -> Paused:
    with pytest.raises(Paused) as caught:
        admitted(limiter)
    return caught.value


def test_requests_are_spaced_by_the_rate(clock: Clock, limiter: Limiter) -> None:
    assert admitted(limiter, 2.0)
    clock.now += 0.4
    assert not admitted(limiter, 2.0, within=0.05)
    clock.now += 0.1
    assert admitted(limiter, 2.0)
    assert admitted(limiter, None)


def test_no_request_is_sent_at_its_deadline(limiter: Limiter) -> None:
    assert not admitted(limiter, within=0.0)
    assert not admitted(limiter, within=-1.0)
    assert admitted(limiter, 1.0)
    assert not admitted(limiter, 1.0, within=1.0)


def test_a_hold_ends_by_the_clock(clock: Clock, limiter: Limiter) -> None:
    limiter.hold(5.0)
    limiter.hold(2.0)
    clock.now += 4.9
    assert not admitted(limiter)
    clock.now += 0.1
    assert admitted(limiter)


@pytest.mark.parametrize("weight", [REFUSED, RETRIED, UNUSABLE])
def test_the_last_of_so_many_failures_starts_a_pause(clock: Clock, limiter: Limiter, weight: int) -> None:
    for _ in range(MAX_FAILURES // weight - 1):
        limiter.failed(RESET, weight)
    assert admitted(limiter)
    limiter.failed(AWAY, weight)
    state = pause(limiter)
    assert (state.seconds, state.cause) == (PAUSE, AWAY)
    assert state.args == (state.seconds, state.cause)
    clock.now += PAUSE
    assert admitted(limiter)


def test_failures_during_a_pause_do_not_prolong_it(clock: Clock, limiter: Limiter) -> None:
    for _ in range(MAX_FAILURES // REFUSED + 3):
        limiter.failed(AWAY)
    assert pause(limiter).seconds == PAUSE
    clock.now += PAUSE
    limiter.failed(AWAY)  # one more failure is enough for the next, which is twice as long
    assert pause(limiter).seconds == 2 * PAUSE


def test_pauses_double_up_to_the_longest_and_an_answer_ends_the_count_and_the_doubling(
    clock: Clock, limiter: Limiter
) -> None:
    for _ in range(MAX_FAILURES // REFUSED):
        assert admitted(limiter)
        limiter.failed(AWAY)
    expected = PAUSE
    while expected <= 4 * MAX_PAUSE:
        clock.now += min(expected, MAX_PAUSE) - 1
        assert pause(limiter).seconds == 1
        clock.now += 2
        assert admitted(limiter)
        limiter.failed(AWAY)  # a single one is enough now
        expected *= 2
    clock.now += MAX_PAUSE + 1
    limiter.succeeded()
    for _ in range(MAX_FAILURES // REFUSED - 1):
        limiter.failed(AWAY)
    assert admitted(limiter)
    limiter.failed(AWAY)
    assert pause(limiter).seconds == PAUSE


def test_no_retry_after_silences_a_process_for_ever(clock: Clock, limiter: Limiter) -> None:
    limiter.failed(AWAY, retry_after=2**31)
    clock.now += MAX_RETRY_AFTER - 1
    assert pause(limiter).seconds == 1
    clock.now += 2
    assert admitted(limiter)


def test_a_shorter_retry_after_does_not_end_a_longer_one(limiter: Limiter) -> None:
    limiter.failed(Cause("status", status=429), retry_after=100.0)
    limiter.failed(Cause("status", status=503), retry_after=50.0)
    state = pause(limiter)
    assert (state.seconds, state.cause) == (100.0, Cause("status", status=503))


@pytest.mark.parametrize(("failures", "left"), [(0, 4), (2, 3), (3, 2), (4, 1)])
def test_no_more_requests_in_flight_than_failures_that_are_left(failures: int, left: int) -> None:
    limiter = Limiter()
    for _ in range(failures):
        limiter.failed(AWAY)
    with ExitStack() as stack:
        for _ in range(left):
            stack.enter_context(limiter.slot(None, 4, lambda: inf))
        check_full(limiter, 4)


def test_before_a_pause_one_request_at_a_time_is_sent_until_there_is_an_answer() -> None:
    limiter = Limiter()
    for _ in range(MAX_FAILURES // REFUSED - 1):
        limiter.failed(AWAY)
    with limiter.slot(None, 3, lambda: inf):
        check_full(limiter, 3)
        limiter.succeeded()
        with limiter.slot(None, 3, lambda: inf):
            pass


def test_a_call_that_ends_while_it_waits_takes_no_turn_from_others() -> None:
    ticks = count(1000.0, 0.01)
    limiter = Limiter(lambda: next(ticks))
    assert admitted(limiter, 10.0, within=0.1)
    ends = chain([inf], repeat(-inf))
    with pytest.raises(TimeoutError), limiter.slot(10.0, 3, lambda: next(ends)):
        pass
    assert admitted(limiter, 10.0, within=0.1)
