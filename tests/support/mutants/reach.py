"""A plugin of pytest: record which test reaches which line, or run only the tests that reach a fault."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import coverage
import pytest
from hypothesis import Phase, settings

NO_TEST = "(collection)"
CHOSEN = "MUTANTS_CHOSEN"
"""The environment variable that names a JSON file with the ids of the tests to run."""
SECONDS = 60
"""A fault may loop for ever: so much does one test get, and the collection of all."""


contexts = [NO_TEST]


def record_context() -> None:
    """Say by what the lines that run from now on are reached; child processes have the empty context."""
    running = coverage.Coverage.current()
    if running is not None:
        running.switch_context(contexts[-1])


def pytest_configure() -> None:
    record_context()
    if CHOSEN in os.environ:
        signal.alarm(SECONDS)


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """That a property fails is enough to know, not with which smallest input."""
    phases = [Phase.explicit, Phase.generate]
    settings.register_profile("mutants", settings(), phases=phases, report_multiple_bugs=False)
    settings.load_profile("mutants")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if CHOSEN not in os.environ:
        return
    chosen = {*json.loads(Path(os.environ[CHOSEN]).read_text(encoding="utf-8"))}
    left_out: list[pytest.Item] = []
    kept: list[pytest.Item] = []
    for item in items:
        file, _, _ = item.nodeid.partition("::")
        (kept if chosen & {file, item.nodeid} else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    if CHOSEN in os.environ:
        signal.alarm(SECONDS)
    with inside(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object],
) -> Generator[None, object, object]:
    """What a fixture does for several tests may be noticed by any of the file: the empty context, too."""
    if fixturedef.scope == "function":
        return (yield)
    with inside(""):
        return (yield)


@contextmanager
def inside(context: str) -> Iterator[None]:
    contexts.append(context)
    record_context()
    yield
    contexts.pop()
    record_context()
