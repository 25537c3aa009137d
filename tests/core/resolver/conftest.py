"""Time for the tests of the resolver: they do not wait for retries, and need not wait for rates."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import TypeVar

import pytest
from doiuri.resolver import _process
from doiuri.resolver._workers import Task, run_until
from doiuri.resolver.http import _client
from doiuri.resolver.stores import _bounded
from support.clock import Clock

T = TypeVar("T")


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds before each retry, which are not waited for."""
    seen: list[float] = []
    without = SimpleNamespace(monotonic=time.monotonic, time=time.time, sleep=seen.append)
    monkeypatch.setattr(_client, "time", without)
    return seen


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of all limiters: what they wait for, they skip."""
    made = Clock()
    monkeypatch.setattr(_process, "Limiter", made.limiter)
    return made


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that a store may take; one that hangs takes a tenth of a second."""
    seen: list[float] = []

    def soon(deadline: float, function: Callable[[Task], T]) -> T:
        seen.append(deadline - time.monotonic())
        return run_until(time.monotonic() + 0.1, function)

    monkeypatch.setattr(_bounded, "run_until", soon)
    return seen
