"""What all tests of the resolver share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from doiuri.resolver import _shared


@pytest.fixture(autouse=True)
def _strangers() -> Iterator[None]:
    """A test meets each server for the first time: ports are used again, and refusals are remembered."""
    _shared._servers.clear()
    yield
    _shared._servers.clear()
