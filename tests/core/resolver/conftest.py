"""Time for the tests of the resolver: they do not wait for retries, and need not wait for rates."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from doiuri.resolver import _process
from doiuri.resolver.http import _client
from support.clock import Clock


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds before each retry, which are not waited for."""
    seen: list[float] = []
    without = SimpleNamespace(monotonic=time.monotonic, time=time.time, sleep=seen.append)
    monkeypatch.setattr(_client, "time", without)
    return seen


@pytest.fixture
def _long_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pause for a server on this machine is longer than any test."""
    monkeypatch.setattr(_process, "LOCAL_PAUSE", 3600.0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of all limiters: what they wait for, they skip."""
    made = Clock()
    monkeypatch.setattr(_process, "Limiter", made.limiter)
    return made
