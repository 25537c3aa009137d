from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.references import RECORDS
from support.servers.metadata import metadata_proxy
from support.servers.web import Site, site


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A proxy with the shared records and their metadata."""
    with site(metadata_proxy(RECORDS)) as running:
        monkeypatch.setenv("DOIURI_RESOLVER", running.url)
        yield running
