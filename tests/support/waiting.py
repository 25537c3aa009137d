"""Waiting for other threads and processes."""

import time
from collections.abc import Callable


def until(condition: Callable[[], object], complaint: str = "it did not happen") -> None:
    """Return as soon as the condition holds; fail with the complaint after 100 seconds."""
    deadline = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < deadline, complaint
        time.sleep(0.01)
