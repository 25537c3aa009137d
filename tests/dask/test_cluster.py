"""``verify`` on a cluster of processes: one rate, one pace, and processes that are killed."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import dask.bag as db
import dask.dataframe as dd
import pandas as pd
import pytest
from dask_doiuri import parse, verify
from distributed import Client, get_worker, wait
from support.command import command
from support.ports import free_port
from support.proxy_records import link
from support.servers import redis
from support.servers.faults import reply
from support.servers.rest import handling

pytestmark = pytest.mark.once


def texts(count: int) -> list[str]:
    """Names of which 13 fit into a request."""
    return [f"10.1000/{'x' * 200}{number:06}" for number in range(count)]


def frame(items: list[str], partitions: int) -> dd.DataFrame:
    made: dd.DataFrame = dd.from_pandas(pd.DataFrame({"doi": items}), npartitions=partitions)
    return made


def serve(folder: Path, *words: object) -> Any:
    """A local proxy that has the first 1,300 names, with an access log."""
    records = [link(name, "https://example.org/") for name in texts(1300)]
    content = {"records": records, "agencies": {"10.1000": "Crossref"}}
    (folder / "records.json").write_text(json.dumps(content))
    return command(folder, "--records", folder / "records.json", "--access-log", folder / "log", *words)


def names_in(log: Path) -> Counter[str]:
    """How often each name was asked for."""
    paths = [line.split(" ")[6].partition("?")[0] for line in log.read_text().splitlines()]
    many = [path.removeprefix("/doiRA/") for path in paths if path.startswith("/doiRA/")]
    return Counter(unquote(name) for path in many for name in path.split(","))


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def checked(result: pd.DataFrame, items: list[str]) -> dict[str, int]:
    """How many rows have each status; all rows are there, in order."""
    assert [*result["doi"]] == items
    assert [*result["doi_name"]] == items
    return dict(result["doi_status"].value_counts())


def test_frames_and_bags_on_a_cluster(client: Client, tmp_path: Path) -> None:
    """In order, with duplicates in and across partitions, and known names joined away by a shuffle."""
    items = texts(300) + texts(100)
    known = dd.from_pandas(pd.DataFrame({"doi": texts(200)[::2], "doi_agency": "DataCite"}), npartitions=3)
    with serve(tmp_path) as server:
        options = {"base": server.url, "cache": tmp_path / "cache.sqlite3", "known": known}
        result = verify(frame(items, 8), **options).compute()
        assert checked(result, items) == {"found": 400}
        assert [*result["doi_agency"][:4]] == ["DataCite", "Crossref"] * 2
        bag = db.from_sequence(items, npartitions=5)
        rows = verify(bag, **options).compute()
        assert [(row["doi_name"], row["doi_status"]) for row in rows] == [(item, "found") for item in items]
        assert [row["doi_key"] for row in parse(bag).compute()] == [item.upper() for item in items]
    asked = names_in(tmp_path / "log")
    assert {*asked} == {*texts(300)} - {*texts(200)[::2]}


def test_the_proxy_is_killed(client: Client, tmp_path: Path) -> None:
    items, port = texts(1300), free_port()
    options: dict[str, Any] = {"base": f"http://127.0.0.1:{port}", "cache": tmp_path / "cache.sqlite3"}
    with serve(tmp_path, "--port", port) as server:
        verified = verify(frame(items, 8), rate=40, **options).persist()
        until(lambda: size(tmp_path / "log") > 50_000)
        server.process.kill()
        result = verified.compute()
    found = checked(result, items)
    assert {*found} == {"found", "unknown"}
    assert result["doi_reason"].notna().sum() == found["unknown"]
    first = names_in(tmp_path / "log")
    time.sleep(6)  # a local server that failed repeatedly is left alone for 5 s
    with serve(tmp_path, "--port", port):
        assert checked(verify(frame(items, 8), **options).compute(), items) == {"found": 1300}
    again = names_in(tmp_path / "log") - first
    assert {*items} <= {*first} | {*again}
    assert len(again) <= found["unknown"]


def seconds_of(log: Path) -> Counter[str]:
    return Counter(line.split(" ")[3] for line in log.read_text().splitlines())


def test_the_rate_is_that_of_the_whole_cluster(client: Client, tmp_path: Path) -> None:
    items = texts(13 * 80)
    with serve(tmp_path) as server:
        begun = time.monotonic()
        result = verify(frame(items, 6), base=server.url, rate=20, cache=":memory:").compute()
        assert time.monotonic() - begun > 80 / 20 - 1
    assert checked(result, items) == {"found": len(items)}
    assert max(seconds_of(tmp_path / "log").values()) <= 20 + 2


def test_one_pace(client: Client, tmp_path: Path) -> None:
    items = texts(13 * 100)
    with redis.running() as shared, serve(tmp_path) as server:
        options: dict[str, Any] = {"base": server.url, "pace": shared.url, "cache": shared.url}
        begun = time.monotonic()
        result = verify(frame(items, 6), rate=25, **options).compute()
        assert time.monotonic() - begun > 100 / 25 - 1
        assert checked(result, items) == {"found": len(items)}
        assert max(seconds_of(tmp_path / "log").values()) <= 25 + 3
        before = size(tmp_path / "log")
        assert checked(verify(frame(items, 2), **options).compute(), items) == {"found": len(items)}
        assert size(tmp_path / "log") == before  # all are in the cache


@pytest.mark.parametrize("paced", [False, True])
def test_a_server_that_refuses_is_left_alone(client: Client, paced: bool, tmp_path: Path) -> None:
    items = texts(1300)
    with redis.running() as shared, handling(lambda _target: reply("403 Forbidden", b"no")) as server:
        pace = shared.url if paced else None
        result = verify(frame(items, 10), base=server.url, pace=pace, cache=":memory:").compute()
        assert checked(result, items) == {"unknown": 1300}
        assert len(server.requests) <= (5 if paced else 10) + 2
    assert result["doi_reason"].str.contains("not asked again for").any()


def test_a_resolver_of_another_process(client: Client) -> None:
    """Each of the two processes gets half of the rate, and a thread of this one all of it."""

    def share() -> tuple[str, float | None]:
        from dask_doiuri._settings import VerifySettings

        options: dict[str, Any] = dict.fromkeys(("base", "offline", "mailto", "cache", "pace", "budget"))
        settings = VerifySettings.read(**options, rate=8, timeout=10, concurrency=3, resolve="existence")
        return get_worker().address, settings.resolver().rate

    futures = [client.submit(share, workers=[worker], pure=False) for worker in client.nthreads()]
    wait(futures)
    assert [rate for _, rate in client.gather(futures)] == [4, 4]


def test_a_worker_is_killed(client: Client, tmp_path: Path) -> None:
    items = texts(1300)
    with serve(tmp_path) as server:
        verified = verify(
            frame(items, 8), base=server.url, rate=40, cache=tmp_path / "cache.sqlite3"
        ).persist()
        until(lambda: size(tmp_path / "log") > 50_000)
        pids = client.run(os.getpid)
        os.kill(next(iter(pids.values())), signal.SIGKILL)
        assert checked(verified.compute(), items) == {"found": 1300}
        client.wait_for_workers(2)
    asked = names_in(tmp_path / "log")
    assert {*asked} == {*items}
    again = sum(asked.values()) - len(items)
    assert again <= len(items) // 8  # no more than its partition
