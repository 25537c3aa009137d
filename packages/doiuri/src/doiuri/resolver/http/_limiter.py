"""The limits of requests to one server: rate, concurrency, and a pause after repeated failures."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING

from doiuri.resolver._outcome import Cause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REFUSED, RETRIED, UNUSABLE = 4, 2, 1
"""Weights of a failure: in full; if it is retried; if a single DOI may be to blame."""

MAX_FAILURES = 20
"""Weight of the failures in a row after which the server gets no requests for a while."""

PAUSE = 60.0
"""Seconds of the first pause; each pause that does not help doubles the next one."""

LOCAL_PAUSE = 5.0
"""The same for a server on this machine, which may be restarting."""

MAX_PAUSE = 900.0

MAX_BLOCKS = 3
"""Answers in a row that block us, after which the server gets no more requests."""

MAX_RETRY_AFTER = 86_400.0
"""Seconds of a Retry-After that are respected: a server must not silence a process forever."""


class Paused(Exception):  # noqa: N818 - a state of the limiter, not an error of the caller
    """The server gets no requests for another ``seconds``, because of ``cause``."""

    def __init__(self, seconds: float, cause: Cause) -> None:
        super().__init__(seconds, cause)
        self.seconds = seconds
        self.cause = cause


class Limiter:
    """Limits all requests of this process to one server.

    It spaces requests evenly, limits how many are in flight, holds all of them back for as long as the
    server asks (Retry-After), and pauses after repeated failures.

    :param clock: seconds on a clock that never goes back.
    :param pause: seconds of the first pause.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, pause: float = PAUSE) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._in_flight = 0
        self._last_sent = float("-inf")
        self._held_until = float("-inf")
        self._paused_until = float("-inf")
        self._cause = Cause("connection")  # of the last pause
        self._failures = 0
        self._blocks = 0
        self._first_pause = self._next_pause = pause

    @contextmanager
    def slot(self, rate: float | None, concurrency: int, deadline: Callable[[], float]) -> Iterator[None]:
        """Wait for permission to send a request; within, the request is in flight.

        :param rate: requests per second; None: no limit.
        :param concurrency: requests in flight.
        :param deadline: returns how long to wait, on the limiter's clock: a call may end early.
        :raises Paused: if the server gets no requests now.
        :raises TimeoutError: if there is no slot before the deadline.
        """
        self._acquire(1 / rate if rate else 0.0, concurrency, deadline)
        try:
            yield
        finally:
            with self._changed:
                self._in_flight -= 1
                self._changed.notify_all()

    def _acquire(self, interval: float, concurrency: int, deadline: Callable[[], float]) -> None:
        with self._changed:
            while True:
                now, end = self._clock(), deadline()
                if now < self._paused_until:
                    raise Paused(self._paused_until - now, self._cause)
                wait = max(self._last_sent + interval, self._held_until) - now
                if now + max(wait, 0) >= end:
                    raise TimeoutError
                # no more requests than failures that are left; one before the pause, and after it
                left = max((MAX_FAILURES - self._failures) // REFUSED, 1)
                allowed = min(concurrency, left) if self._failures else concurrency
                if wait <= 0 and self._in_flight < allowed:
                    self._in_flight += 1
                    self._last_sent = now
                    return
                # a free slot is notified; the rate and a Retry-After end by time alone
                self._changed.wait(min(wait if wait > 0 else end - now, threading.TIMEOUT_MAX))

    def hold(self, seconds: float) -> None:
        """Send nothing for so many seconds, as the server asked."""
        with self._changed:
            self._held_until = max(self._held_until, self._clock() + seconds)

    def pause(self, seconds: float, cause: Cause) -> None:
        """Refuse requests for so many seconds; a pause that lasts longer is kept."""
        with self._changed:
            self._paused_until = max(self._paused_until, self._clock() + seconds)
            self._cause = cause
            self._changed.notify_all()

    def succeeded(self) -> None:
        """Note that the server answered: forget earlier failures."""
        if self._failures:
            with self._changed:
                self._failures, self._blocks = 0, 0
                self._next_pause = self._first_pause

    def blocked(self, cause: Cause, retry_after: float | None = None) -> None:
        """Note a failure by which the server blocks us; after a few in a row it gets no more requests."""
        with self._changed:
            blocks = self._blocks + 1
            self.failed(cause, REFUSED, retry_after)
            self._blocks = blocks
            if blocks == MAX_BLOCKS:
                self.pause(inf, cause)
                import logging  # slow, and rarely needed

                message = "%s: HTTP status %s, %d times in a row: this process sends it no more requests"
                logging.getLogger("doiuri").warning(message, cause.host, cause.status, MAX_BLOCKS)

    def failed(self, cause: Cause, weight: int = REFUSED, retry_after: float | None = None) -> None:
        """Note a failure; after several in a row the server gets no requests for a while.

        :param cause: what went wrong.
        :param weight: REFUSED, RETRIED or UNUSABLE.
        :param retry_after: seconds that the server asked for, if that is too long to wait.
        """
        with self._changed:
            self._failures += weight
            if cause.status is not None:  # an answer
                self._blocks = 0
            if retry_after is not None:
                self.pause(min(retry_after, MAX_RETRY_AFTER), cause)
            elif self._failures >= MAX_FAILURES and self._clock() >= self._paused_until:
                self.pause(self._next_pause, cause)
                self._next_pause = min(2 * self._next_pause, MAX_PAUSE)
                self._failures = MAX_FAILURES - REFUSED  # one more failure starts the next pause
