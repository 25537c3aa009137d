"""A limiter whose rate, concurrency and pauses are shared by many processes."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from doiuri.resolver.http._shared_pace import PaceLost

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri.resolver.http._limiter import Limiter
    from doiuri.resolver.http._shared_pace import SharedPace

MARGIN = 5.0
"""Seconds for which a lease outlasts the timeout of its request."""


class SharedLimiter:
    """A limiter that also waits for the pace of all processes.

    In front is the limiter of this process: of its threads, only as many as may have a request in flight ask
    the pace. If the pace is lost, this process sends one request at a time, and few.

    :param front: the limiter of this process.
    :param timeout: seconds for one request.
    """

    def __init__(self, front: Limiter, pace: SharedPace, timeout: float) -> None:
        self._front = front
        self._pace = pace
        self._timeout = timeout

    @contextmanager
    def slot(self, request: object, rate: float | None, concurrency: int, deadline: float) -> Iterator[None]:
        """Wait for permission to send a request; see ``Limiter.slot``. The deadline is on the usual clock."""
        with ExitStack() as stack:
            stack.enter_context(self._front.slot(request, None, concurrency, deadline))
            self._enter(stack, rate, concurrency, deadline)
            yield

    def release(self, request: object) -> bool:
        """Free the slot of a request in this process; its lease is freed by the thread that has it."""
        return self._front.release(request)

    def hold(self, seconds: float) -> None:
        """Let no process send anything for so many seconds."""
        self._front.hold(seconds)
        self._pace.hold(seconds)

    def succeeded(self) -> None:
        """Note that the server answered."""
        self._front.succeeded()
        self._pace.succeeded()

    def failed(self, reason: str = "", *, weight: float = 1.0, retry_after: float | None = None) -> None:
        """Note a failure; see ``Limiter.failed``."""
        self._front.failed(reason, weight=weight, retry_after=retry_after)
        self._pace.failed(reason, weight, retry_after, self._front.first_pause)

    def overdue(self, reason: str) -> None:
        """Note a failure without waiting for Redis, which is told with the next request."""
        self._front.failed(reason)
        self._pace.failed_later(reason, 1.0, None, self._front.first_pause)

    def _enter(self, stack: ExitStack, rate: float | None, concurrency: int, deadline: float) -> None:
        pace = self._pace
        while True:
            with suppress(PaceLost):
                stack.enter_context(pace.lease(rate, concurrency, self._timeout + MARGIN, deadline))
                return
            until = min(deadline, pace.retry_at)
            with suppress(TimeoutError):
                stack.enter_context(pace.slow.slot(object(), pace.slow_rate(rate), 1, until))
                return
            if until >= deadline:
                raise TimeoutError
            time.sleep(max(until - time.monotonic(), 0.0))
