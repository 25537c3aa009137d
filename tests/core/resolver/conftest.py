"""Time for the tests of the resolver: they do not wait for retries, and need not wait for rates."""

from __future__ import annotations

import threading
import time

import pytest
from support.clock import SLEEP, Clock, is_asking


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds before each retry, which are not waited for."""
    seen: list[float] = []

    def sleep(seconds: float) -> None:
        if is_asking():
            seen.append(seconds)
        else:
            SLEEP(seconds)

    monkeypatch.setattr(time, "sleep", sleep)
    return seen


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of all limiters: what they wait for, they skip."""
    made = Clock()
    monkeypatch.setattr(time, "monotonic", made)
    monkeypatch.setattr(
        threading.Condition, "wait", lambda self, timeout=None: made.wait(self, timeout)
    )
    return made


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of all limiters, budgets and stores, which stands still until a test changes it."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now
