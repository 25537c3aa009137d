from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from support.references import RECORDS
from support.servers.metadata import metadata_proxy
from support.servers.web import Answering, Site, site
from support.sphinx_build import Serve


@pytest.fixture(autouse=True)
def empty_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test an empty cache, and a resolver that does not answer."""
    monkeypatch.setenv("DOIURI_RESOLVER", "http://127.0.0.1:9")
    monkeypatch.setenv("DOIURI_CACHE", str(tmp_path_factory.mktemp("cache") / "cache.sqlite"))


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Start a resolver that answers until the end of the test, and use it."""
    with ExitStack() as stack:

        def start(answering: Answering) -> Site:
            server = stack.enter_context(site(answering))
            monkeypatch.setenv("DOIURI_RESOLVER", server.url)
            return server

        yield start


@pytest.fixture
def server(serve: Serve) -> Site:
    """A proxy with the shared records and their metadata."""
    return serve(metadata_proxy(RECORDS))
