"""A data set in each kind of repository, and the local DOI proxy that knows its DOI."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from fsspec_doiuri import DOIFileSystem
from support.servers.repositories import DOIS, LANDINGS, Repository, Shelf, Start
from support.servers.web import record, site


@pytest.fixture
def start(doi_proxy: Proxies) -> Iterator[Start]:
    """Start a repository: ``start("figshare", files={})``; ``records`` are more DOIs and their URLs."""
    with ExitStack() as stack:

        def started(kind: str, *, records: dict[str, str] | None = None, **behaviour: Any) -> Shelf:
            repository = Repository(kind, **behaviour)
            server = stack.enter_context(site(repository))
            known = {DOIS[kind]: LANDINGS[kind], **(records or {})}
            proxy = doi_proxy([record(doi, server.url + path) for doi, path in known.items()])
            options = {"resolver": proxy.url, "private": True, "cache": ":memory:"}
            return Shelf(
                repository, server, proxy, {**options, "repositories": {server.host: kind}}
            )

        yield started


@pytest.fixture(params=DOIS)
def shelf(request: pytest.FixtureRequest, start: Start) -> Shelf:
    """The same two files in each kind of repository."""
    return start(request.param)


@pytest.fixture
def leading_to(doi_proxy: Proxies) -> Callable[..., DOIFileSystem]:
    """A filesystem for a DOI that leads to this page of an InvenioRDM: ``leading_to(url, private=True)``."""

    def made(url: str | None, doi: str = DOIS["inveniordm"], **options: Any) -> DOIFileSystem:
        urls = [] if url is None else [url]
        proxy = doi_proxy([record(doi, *urls)])
        options = {"cache": ":memory:", "skip_instance_cache": True, **options}
        if url is not None:
            host = urlsplit(url).netloc.rpartition("@")[2]
            options.setdefault("repositories", {host: "inveniordm"})
        return DOIFileSystem(proxy.url, **options)

    return made
