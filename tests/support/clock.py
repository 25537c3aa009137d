"""A clock that skips what a limiter waits for: rates and Retry-After take no time."""

from __future__ import annotations

import threading
import time

from doiuri.resolver.http._limiter import PAUSE, Limiter


class Clock:
    """The usual clock, plus the seconds that were skipped."""

    def __init__(self) -> None:
        self.skipped = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.skipped

    def limiter(self, pause: float = PAUSE) -> Limiter:
        """Return a limiter on this clock."""
        limiter = Limiter(self, pause)
        limiter._changed = _Changed(self, limiter)
        return limiter


class _Changed(threading.Condition):
    def __init__(self, clock: Clock, limiter: Limiter) -> None:
        super().__init__()
        self._clock, self._limiter = clock, limiter

    def wait(self, timeout: float | None = None) -> bool:
        if self._limiter._in_flight:  # it may be waiting for a free slot
            return super().wait(0.01)
        assert timeout is not None
        self._clock.skipped += timeout
        return False
