"""A Dask cluster in this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from distributed import Client, LocalCluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[LocalCluster]:
    """Two workers with one thread each."""
    from distributed import LocalCluster  # takes a second, in each worker of pytest

    with LocalCluster(n_workers=2, processes=False, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    """The client of that cluster; without it, Dask computes without one."""
    from distributed import Client

    with Client(cluster) as client:
        yield client
