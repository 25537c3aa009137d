"""Settings and fixtures for all tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest

# Private: a process cannot be made to forget its servers in any other way
from doiuri.resolver import _process
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
# pyproject.toml has these folders among the norecursedirs
APART = "Not run: tests/system (needs Chromium, LaTeX, Caddy, Redis; nox -s system), tests/docs (nox -s docs)"

# Property tests try few inputs here and more in CI, the same ones each time, so that a change fails by its
# own fault only. --hypothesis-profile=weekly tries many new ones. No deadline: the machine may be busy.
for profile, examples in {"quick": 25, "ci": 200, "weekly": 2000}.items():
    settings.register_profile(
        profile,
        max_examples=examples,
        derandomize=profile != "weekly",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
PROFILE = "ci" if os.environ.get("CI") else "quick"
settings.load_profile(PROFILE)

# Keep the user's proxies, certificates, credentials and cache out of the tests
for name in [*os.environ]:
    ours = name.lower().endswith("_proxy") or name.startswith("DOIURI_")
    if ours or name in {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "NETRC"}:
        del os.environ[name]
os.environ["DOIURI_CACHE"] = ":memory:"


@pytest.fixture(autouse=True)
def _strangers() -> None:
    """Forget servers and answers: another test may use the same port."""
    _process._servers.clear()
    _process._stores.pop(":memory:", None)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the collector thousands of tests, which live to the end: an eighth of the suite's time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(20_000, 20, 20)


def pytest_unconfigure() -> None:
    """Let go of the tests: extension modules complain at the exit about objects that are still there."""
    gc.unfreeze()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> Generator[None, None, None]:
    """Say at the end which folders the whole suite leaves out."""
    yield
    if any((config.invocation_params.dir / path).resolve() == TESTS for path in config.args):
        terminalreporter.write_line(APART)
