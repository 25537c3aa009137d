"""A data set in each kind of repository, and the local DOI proxy that knows its DOI."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from support.servers.repositories import DOIS, KINDS, LANDINGS, Repository
from support.servers.web import record, site
from support.shelf import Shelf, Start


@pytest.fixture
def start(doi_proxy: Proxies) -> Iterator[Start]:
    """Start a repository: ``start("figshare", ranges=False)``; ``records`` are more DOIs and their URLs."""
    with ExitStack() as stack:

        def started(kind: str, *, records: dict[str, str] | None = None, **behaviour: Any) -> Shelf:
            repository = Repository(kind, **behaviour)
            server = stack.enter_context(site(repository))
            known = {DOIS[kind]: LANDINGS[kind], **(records or {})}
            proxy = doi_proxy([record(doi, server.url + path) for doi, path in known.items()])
            options = {
                "resolver": proxy.url,
                "private": True,
                "cache": ":memory:",
                "repositories": {f"127.0.0.1:{server.port}": kind},
            }
            return Shelf(repository, server, proxy, options)

        yield started


@pytest.fixture(params=KINDS)
def shelf(request: pytest.FixtureRequest, start: Start) -> Shelf:
    """The same two files in each kind of repository."""
    return start(request.param)
