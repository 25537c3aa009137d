"""The same cases for the client and the asynchronous one, on each of its event loops."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.clients.httpx import KINDS, Clients


@pytest.fixture(params=KINDS)
def clients(request: pytest.FixtureRequest) -> Iterator[Clients]:
    with Clients(request.param) as opened:
        yield opened
