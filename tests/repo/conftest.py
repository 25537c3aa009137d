"""What several tests of the repository use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from doiuri_proxy import running


@pytest.fixture(scope="module")
def proxy() -> Iterator[str]:
    """The URL of a proxy with the records of the examples."""
    with running(Path(__file__).parents[2] / "examples" / "records.json") as server:
        yield server.url
