"""A clock that skips what the threads of a Resolver wait for: rates, retries and Retry-After take no time."""

from __future__ import annotations

import threading
import time

MONOTONIC = time.monotonic
SLEEP = time.sleep
WAIT = threading.Condition.wait


def is_asking() -> bool:
    """Return whether this thread sends requests for a Resolver."""
    return threading.current_thread().name == "doiuri"


class Clock:
    """The usual clock, plus the seconds that were skipped."""

    def __init__(self) -> None:
        self.skipped = 0.0

    def __call__(self) -> float:
        return MONOTONIC() + self.skipped

    def wait(self, condition: threading.Condition, timeout: float | None = None) -> bool:
        """Skip the wait for a rate or a Retry-After; wait for other threads as usual, without limit."""
        if timeout is None or timeout > 1e6 or not is_asking():
            return WAIT(condition, timeout)
        self.skipped += timeout
        return False
