"""``verify`` on a cluster: order, one rate, and a process that is killed."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import dask.bag as db
import dask.dataframe as dd
import pandas as pd
import pytest
from dask_doiuri import _settings, verify
from support.servers.faults import Server, reply
from support.servers.rest import handling, proxy, targets

if TYPE_CHECKING:
    from distributed import Client


def texts(count: int) -> list[str]:
    """Names of which 13 fit into a request."""
    return [f"10.1000/{'x' * 200}{number:06}" for number in range(count)]


def frame(items: list[str], partitions: int) -> dd.DataFrame:
    made: dd.DataFrame = dd.from_pandas(pd.DataFrame({"doi": items}), npartitions=partitions)
    return made


def checked(result: pd.DataFrame, items: list[str]) -> dict[str, int]:
    """How many rows have each status; all rows are there, in order."""
    assert [*result["doi"]] == items
    assert [*result["doi_name"]] == items
    return dict(result["doi_status"].value_counts())


def agency(_name: str) -> dict[str, str]:
    return {"RA": "Crossref"}


def asked(server: Server) -> Counter[str]:
    """How often each name was asked for."""
    return Counter(
        unquote(name) for path in targets(server) for name in path.removeprefix("/doiRA/").split(",")
    )


def test_frames_and_bags_on_a_cluster(client: Client, tmp_path: Path) -> None:
    """In order, with duplicates in and across partitions, and one cache."""
    items = texts(60) + texts(20)
    with handling(proxy(None, agency)) as server:
        options: dict[str, Any] = {"base": server.url, "cache": tmp_path / "cache.sqlite3", "rate": None}
        result = verify(frame(items, 2), **options).compute()
        assert checked(result, items) == {"found": 80}
        assert {*result["doi_agency"]} == {"Crossref"}
        assert {*asked(server)} == {*texts(60)}
        before = len(server.requests)
        rows = verify(db.from_sequence(items, npartitions=2), **options).compute()
        assert [(row["doi_name"], row["doi_status"]) for row in rows] == [(item, "found") for item in items]
        assert len(server.requests) == before


def test_a_server_that_refuses_is_left_alone(client: Client) -> None:
    items = texts(1300)
    with handling(lambda _target: reply("403 Forbidden", b"no")) as server:
        result = verify(frame(items, 10), base=server.url, cache=":memory:").compute()
        assert checked(result, items) == {"unknown": 1300}
        assert len(server.requests) <= 2 * 5 + 2
    assert result["doi_reason"].str.contains("not asked again for").any()


def test_the_settings_of_a_cluster_divide_the_rate(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of two gets half of it; workers of one process share it."""

    def share() -> float | None:
        from dask_doiuri._settings import VerifySettings

        options: dict[str, Any] = dict.fromkeys(("base", "offline", "mailto", "cache", "budget"))
        settings = VerifySettings.read(**options, rate=8, timeout=10, concurrency=3)
        return settings.resolver().rate

    def shares() -> list[float | None]:
        futures = [client.submit(share, workers=[worker], pure=False) for worker in client.nthreads()]
        return list(client.gather(futures))

    assert shares() == [8, 8]
    monkeypatch.setattr(_settings, "_process", lambda address: address)
    assert shares() == [4, 4]
    monkeypatch.undo()
    assert {*map(_settings._process, ["tcp://h:1", "tcp://h:2", "inproc://h/7/1", "inproc://h/7/2"])} == {
        *("tcp://h:1", "tcp://h:2", "inproc://h/7")
    }


def test_a_worker_is_killed(tmp_path: Path) -> None:
    """Its partition is verified again, and no more than that."""
    from distributed import Client, LocalCluster

    items, busy, killed = texts(13 * 8), threading.Event(), threading.Event()

    def answer(target: str) -> bytes:
        if len(server.requests) > 3:  # in the second of four partitions
            busy.set()
            killed.wait(60)
        return proxy(None, agency)(target)

    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit=None
        ) as processes,
        Client(processes) as client,
        handling(answer) as server,
    ):
        options: dict[str, Any] = {"base": server.url, "rate": None, "cache": tmp_path / "cache.sqlite3"}
        verified = verify(frame(items, 4), timeout=60, **options).persist()
        assert busy.wait(60)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        killed.set()
        assert checked(verified.compute(), items) == {"found": len(items)}
        again = sum(asked(server).values()) - len(items)
    assert {*asked(server)} == {*items}
    assert again <= len(items) // 4
