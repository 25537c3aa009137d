"""Measure ``dask_doiuri`` on Dask: one worker process beside several, the rate, and memory.

python benchmarks/bulk.py [--quick]

Prints a Markdown table. The names are looked up at a local DOI proxy in another process, which keeps a
processor busy: on two processors, three workers share the rest. The times of requests are those at which the
proxy writes them to its access log.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pandas as pd
from dask_doiuri import check, parse
from distributed import Client, LocalCluster

READY = "doiuri-proxy ready at "
URL = {
    "index": 1,
    "type": "URL",
    "data": {"format": "string", "value": "https://example.org/"},
    "ttl": 86400,
}
ROWS = 25_000  # of a partition
Row = tuple[str, str, str, str, str]


def names(start: int, rows: int) -> pd.DataFrame:
    """DOIs of 30 bytes."""
    return pd.DataFrame(
        {"doi": [f"10.1000/journal.pone.{n:09}" for n in range(start, start + rows)]}
    )


def frame(count: int, rows: int = ROWS) -> dd.DataFrame:
    """Names that are made on the workers."""
    made: dd.DataFrame = dd.from_map(
        names, range(0, count, rows), rows=min(rows, count), meta=names(0, 1)
    )
    return made


@contextmanager
def workers(count: int) -> Iterator[tuple[Client, Memory]]:
    options: dict[str, Any] = {
        "threads_per_worker": 1,
        "dashboard_address": ":0",
        "memory_limit": None,
        "silence_logs": logging.ERROR,
    }
    with LocalCluster(n_workers=count, **options) as cluster, Client(cluster) as client:
        yield client, Memory(client)


class Memory:
    """The most memory of a worker, in MB: idle, with everything imported, and at the end."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.idle = max(client.run(peak).values())

    def row(self, what: str) -> Row:
        most = max(self._client.run(peak).values())
        return (
            f"peak memory of a worker, {what}",
            f"{most} MB",
            f"idle: {self.idle} MB",
            "",
            "≤ 300 MB",
        )


def peak() -> int:
    """Peak memory of this process, in MB, with all modules that the tasks need."""
    import dask_doiuri  # noqa: F401
    import requests  # noqa: F401

    # not getrusage, which counts the process that it was forked from, too
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) // 1000


@contextmanager
def local_proxy(count: int, folder: Path) -> Iterator[tuple[str, list[float]]]:
    """Yield the URL of a local proxy with ``count`` names, and the times of its requests, in seconds."""
    records = folder / "records.jsonl"
    with records.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"agencies": {"10.1000": "Crossref"}}) + "\n")
        for name in names(0, count)["doi"]:
            file.write(json.dumps({"handle": name, "values": [URL]}) + "\n")
    words = ["--records", str(records), "--port", "0", "--access-log"]
    command = [sys.executable, "-m", "doiuri_proxy", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        times: list[float] = []
        reader = threading.Thread(target=read_log, args=(server.stderr, times), daemon=True)
        reader.start()
        try:
            yield server.stdout.readline().removeprefix(READY).strip(), times
        finally:
            server.terminate()
            reader.join()


def read_log(lines: Iterable[str], times: list[float]) -> None:
    """Note when each request was answered, which takes a millisecond."""
    for line in lines:
        if " /doiRA/" in line or " /api/" in line:
            times.append(time.monotonic())
        else:
            sys.stderr.write(line)


def fullest_second(times: Sequence[float]) -> int:
    """The most requests in a second that may begin at any moment."""
    order = sorted(times)
    return max(bisect_left(order, begun + 1) - n for n, begun in enumerate(order))


def checked(base: str, count: int, known: dd.DataFrame | None = None, **options: Any) -> float:
    """Return the seconds that it takes to check ``count`` names."""
    begun = time.perf_counter()
    statuses = check(frame(count), resolver=base, known=known, **options)["doi_status"]
    found = int((statuses == "found").sum().compute())
    seconds = time.perf_counter() - begun
    assert found == count, f"{count - found} names have no answer"
    return seconds


def unlimited(base: str, count: int, folder: Path) -> Iterator[Row]:
    times = {}
    for number in (1, 3):
        with workers(number) as (_, memory):
            cache = folder / f"cache-{number}.sqlite3"
            times[number] = checked(base, count, rate=None, cache=cache)
            again = checked(base, count, rate=None, cache=cache)
            what = f"`check` of {count:,} names from the cache, workers: {number}"
            yield what, f"{count / again:,.0f} names/s", "", "", ""
            yield memory.row(f"`check`, workers: {number}")
    yield (
        f"`check` of {count:,} names, no rate, 3 workers",
        f"{count / times[3]:,.0f} names/s",
        f"1 worker: {count / times[1]:,.0f} names/s",
        f"{times[1] / times[3]:.2f}",
        "≥ 2",
    )


def joined(base: str, count: int) -> Iterator[Row]:
    """Names that are all in a dump, so none is requested."""
    with workers(3) as (_, memory):
        seconds = checked(base, count, frame(count), offline=True, cache=":memory:")
        what = f"`check` of {count:,} names that are in `known`, 3 workers"
        yield what, f"{count / seconds:,.0f} names/s", "", "", ""
        yield memory.row("`check` with `known`")


def limited(base: str, count: int, times: list[float]) -> Iterator[Row]:
    """The requests in the fullest second, which may begin at any moment."""
    before = len(times)
    with workers(3):
        seconds = checked(base, count, rate=100, cache=":memory:")
    sent = times[before:]
    yield (
        f"`check` of {count:,} names, rate of 100 requests/s, 3 workers",
        f"{count / seconds:,.0f} names/s",
        f"{len(sent) / seconds:.0f} requests/s on average",
        f"{fullest_second(sent)} in the fullest second",
        "≤ 110",
    )


def parsing(count: int) -> Iterator[Row]:
    times = {}
    for number in (1, 2):
        with workers(number) as (_, memory):
            begun = time.perf_counter()
            assert int(parse(frame(count, 100_000))["doi_key"].count().compute()) == count
            times[number] = time.perf_counter() - begun
            yield memory.row(f"`parse`, workers: {number}")
    yield (
        f"`parse` of {count:,} names, 2 workers",
        f"{count / times[2]:,.0f} names/s",
        f"1 worker: {count / times[1]:,.0f} names/s",
        f"{times[1] / times[2]:.2f}",
        "≥ 1.6",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the names")
    scale = 20 if parser.parse_args().quick else 1
    print("| what | measured | beside | ratio | goal |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows in (parsing(10_000_000 // scale), asking(1_000_000 // scale, folder)):
            for row in rows:
                print(f"| {' | '.join(row)} |", flush=True)


def asking(count: int, folder: Path) -> Iterator[Row]:
    with local_proxy(count, folder) as (base, times):
        yield from limited(base, min(count, 250_000), times)
        yield from joined(base, count)
        yield from unlimited(base, count, folder)


if __name__ == "__main__":
    main()
