"""The manual, built once, and a proxy with the records of the examples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from doiuri_proxy import running
from support.manual.building import ROOT, built_manual


@pytest.fixture(scope="session")
def manual() -> Path:
    return built_manual()


@pytest.fixture(scope="session")
def proxy() -> Iterator[str]:
    with running(ROOT / "examples" / "records.json") as server:
        yield server.url
