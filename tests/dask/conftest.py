"""A Dask cluster in this process, and a local DOI proxy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from support.partitions import dask
from support.proxy_records import value
from support.servers.faults import Server
from support.servers.rest import handling, proxy

if TYPE_CHECKING:
    from distributed import Client


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Compute in this thread, unless a test has a client."""
    with dask.config.set(scheduler="sync"):
        yield


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    """The client of two workers in this process, with addresses of this protocol."""
    from distributed import Client, LocalCluster  # slow to import

    protocol = getattr(request, "param", "inproc://")
    options = {"processes": False, "protocol": protocol, "dashboard_address": ":0"}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as workers,
        Client(workers) as client,
    ):
        yield client


@pytest.fixture
def server() -> Iterator[Server]:
    """Which RA knows names with "crossref" in any letter case; the REST API also ``link``."""

    def agencies(name: str) -> dict[str, str]:
        return (
            {"RA": "Crossref"} if "crossref" in name.lower() else {"status": "DOI does not exist"}
        )

    with handling(
        proxy({"10.1000/LINK": (value("URL", "https://example.org/"),)}, agencies)
    ) as server:
        yield server
