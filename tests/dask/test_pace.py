"""One pace: two clusters, and a Redis that is killed in the middle."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dask.dataframe as dd
import pandas as pd
import pytest
from dask_doiuri import verify
from distributed import Client, LocalCluster
from support.servers import redis
from support.servers.arrivals import fullest_second, timed
from support.servers.rest import proxy

pytestmark = pytest.mark.once

RATE = 10
CONCURRENCY = 3
MOST = 1.03 * RATE + CONCURRENCY
"""Requests that may arrive within a second: the rate, 3 % to catch up, and those that were on their way."""


def texts(count: int) -> list[str]:
    """Names of which 13 fit into a request."""
    return [f"10.1000/{'x' * 200}{number:06}" for number in range(count)]


def frame(items: list[str], partitions: int) -> dd.DataFrame:
    made: dd.DataFrame = dd.from_pandas(pd.DataFrame({"doi": items}), npartitions=partitions)
    return made


def paced(base: str, pace: str) -> dict[str, Any]:
    """The options of a ``verify`` that shares a pace."""
    return {"base": base, "pace": pace, "cache": ":memory:", "rate": RATE, "concurrency": CONCURRENCY}


def agency(_name: str) -> dict[str, str]:
    return {"RA": "Crossref"}


def test_two_clusters_on_one_pace(client: Client) -> None:
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit=None)
    with (
        redis.running() as shared,
        timed(proxy({}, agency)) as (server, times),
        cluster,
        Client(cluster, set_as_default=False) as other,
        ThreadPoolExecutor(2) as threads,
    ):
        options = paced(server.url, shared.url)
        items = texts(13 * 30)

        def run_on(on: Client) -> pd.DataFrame:
            result: pd.DataFrame = on.compute(verify(frame(items, 4), **options)).result()
            return result

        runs = [threads.submit(run_on, on) for on in (client, other)]
        for run in runs:
            result = run.result()
            assert [*result["doi"]] == items
            assert {*result["doi_status"]} == {"found"}
    assert len(times) >= 2 * 30
    assert fullest_second(times) <= MOST


def test_redis_is_killed(client: Client) -> None:
    """No row is lost, and the pace holds: without Redis each process sends few requests.

    A Redis that restarts empty does not know what is in flight: so there may be as many more, once.
    """
    items = texts(13 * 40)
    with redis.running() as shared, timed(proxy({}, agency)) as (server, times):
        options = paced(server.url, shared.url)
        verified = client.compute(verify(frame(items, 4), **options))
        deadline = time.monotonic() + 100
        while len(times) < 15:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        shared.stop()
        time.sleep(3)
        lost = len(times)
        assert lost < 40
        shared.start()
        result = verified.result(timeout=150)
    assert [*result["doi"]] == items
    assert {*result["doi_status"]} == {"found"}
    assert fullest_second(times[:lost]) <= MOST
    assert fullest_second(times) <= MOST + CONCURRENCY
