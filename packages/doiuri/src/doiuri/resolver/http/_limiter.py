"""Manners: how fast, how many at once, and when to stop asking one server."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REFUSALS = 5
"""So many requests in a row without an answer, and nothing is asked for a while."""

REST = 60.0
"""Seconds without asking after that; doubled each time that it does not help."""

REST_AT_HOME = 5.0
"""The same for a server on this machine: it may be back in a moment."""

LONGEST_REST = 900.0

LONGEST_ASKED = 86_400.0
"""Seconds that a server may ask to be left alone for: an answer must not silence a process for ever."""


class Resting(Exception):  # noqa: N818 (a state of the limiter, not an error of the caller)
    """Nothing is asked for another ``seconds``: the server refused before."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Turn:
    """The right to send one request; given back once, by whoever comes first."""

    def __init__(self, limiter: Limiter) -> None:
        self._limiter: Limiter | None = limiter

    def give_back(self) -> bool:
        """Free the place for the next request; False if that was done before."""
        limiter, self._limiter = self._limiter, None
        if limiter is None:
            return False
        limiter._leave()
        return True


class Limiter:
    """One for all that this process sends to one server.

    It spaces the requests evenly, bounds those in flight, holds everybody back for as long as the
    server asks (Retry-After), and after repeated refusals lets nobody through for a while.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, rest: float = REST) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._running = 0
        self._last = float("-inf")
        self._held_until = float("-inf")
        self._resting_until = float("-inf")
        self._refusals = 0.0
        self._first_rest = self._rest = rest

    @contextmanager
    def turn(self, rate: float | None, width: int, deadline: float) -> Iterator[Turn]:
        """Wait for the right to send a request, at most until ``deadline`` on the limiter's clock.

        ``rate`` is in requests per second (None: any), ``width`` how many may be in flight.
        Raises Resting when the server is left alone, TimeoutError when the turn does not come.
        """
        self._enter(1 / rate if rate else 0.0, width, deadline)
        turn = Turn(self)
        try:
            yield turn
        finally:
            turn.give_back()

    def _enter(self, interval: float, width: int, deadline: float) -> None:
        with self._changed:
            while True:
                now = self._clock()
                if now < self._resting_until:
                    raise Resting(self._resting_until - now)
                wait = max(self._last + interval, self._held_until) - now
                if now + max(wait, 0) >= deadline:
                    raise TimeoutError
                # once the server is in doubt, one request at a time tries the water
                if wait <= 0 and self._running < (width if self._refusals < REFUSALS - 1 else 1):
                    self._running += 1
                    self._last = now
                    return
                # a full house is left by notification, a pace or a pause by time alone
                self._changed.wait(min(wait if wait > 0 else deadline - now, threading.TIMEOUT_MAX))

    def _leave(self) -> None:
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def hold(self, seconds: float) -> None:
        """Let nobody send anything for so long, as the server asked."""
        with self._changed:
            self._held_until = max(self._held_until, self._clock() + seconds)

    def answered(self) -> None:
        """Note that the server answers: what was before is forgiven."""
        if self._refusals:
            with self._changed:
                self._refusals = 0.0
                self._rest = self._first_rest

    def refused(self, retry_after: float | None = None, doubt: float = 1.0) -> None:
        """Note a request that got no answer; after some in a row the server is left alone.

        ``retry_after`` is what the server asked for, in seconds, where it is too long to wait for;
        ``doubt`` how much of a refusal it was.
        """
        with self._changed:
            self._refusals += doubt
            now = self._clock()
            if retry_after is not None:
                self._resting_until = max(self._resting_until, now + min(retry_after, LONGEST_ASKED))
            elif self._refusals >= REFUSALS and now >= self._resting_until:
                self._resting_until = now + self._rest
                self._rest = min(2 * self._rest, LONGEST_REST)
                self._refusals = REFUSALS - 1  # afterwards one more is enough
            self._changed.notify_all()
