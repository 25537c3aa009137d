"""Measure ``dask_doiuri`` on Dask: one worker process beside several, the pace, and memory.

python benchmarks/bulk.py [--quick]

Needs redis-server. Prints a Markdown table. The names are asked of a local DOI proxy in a process of its own,
which takes a processor of its own: on two processors, three workers share what it leaves.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pandas as pd
from dask_doiuri import parse, verify
from distributed import Client, LocalCluster

READY = "doiuri-proxy ready at "
URL = {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"}, "ttl": 86400}
ROWS = 25_000  # of a partition
Row = tuple[str, str, str, str, str]


def names(start: int, rows: int) -> pd.DataFrame:
    """DOIs of 30 bytes."""
    return pd.DataFrame({"doi": [f"10.1000/journal.pone.{n:09}" for n in range(start, start + rows)]})


def frame(count: int, rows: int = ROWS) -> dd.DataFrame:
    """Names that are made on the workers."""
    made: dd.DataFrame = dd.from_map(names, range(0, count, rows), rows=min(rows, count), meta=names(0, 1))
    return made


@contextmanager
def workers(count: int) -> Iterator[Client]:
    options: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": None}
    with LocalCluster(n_workers=count, **options) as cluster, Client(cluster) as client:
        client.run(start)
        yield client


def start() -> None:
    """Import what the tasks need."""
    import dask_doiuri  # noqa: F401


def peak() -> int:
    """Peak memory of this process, in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@contextmanager
def local_proxy(count: int, folder: Path) -> Iterator[str]:
    """A local proxy that has so many names, with an access log."""
    records = folder / "records.jsonl"
    with records.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"agencies": {"10.1000": "Crossref"}}) + "\n")
        for name in names(0, count)["doi"]:
            file.write(json.dumps({"handle": name, "values": [URL]}) + "\n")
    words = ["--records", str(records), "--port", "0", "--access-log", str(folder / "log")]
    command = [sys.executable, "-m", "doiuri_proxy", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().removeprefix(READY).strip()
        finally:
            server.terminate()


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    binary = shutil.which("redis-server") or shutil.which("valkey-server")
    if binary is None:
        raise SystemExit("redis-server is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--daemonize", "no"]
    with subprocess.Popen([binary, *words], cwd=folder, stdout=subprocess.DEVNULL) as server:
        try:
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            server.terminate()


def verified(client: Client, base: str, count: int, **options: Any) -> tuple[float, int]:
    """The seconds that it takes to verify so many names, and the peak memory of a worker, in kB."""
    begun = time.perf_counter()
    statuses = verify(frame(count), base=base, **options)["doi_status"]
    found = int((statuses == "found").sum().compute())
    seconds = time.perf_counter() - begun
    assert found == count, f"{count - found} names have no answer"
    return seconds, max(client.run(peak).values())


def unlimited(base: str, count: int, folder: Path) -> Iterator[Row]:
    times, memory = {}, 0
    for number in (1, 3):
        with workers(number) as client:
            cache = folder / f"cache-{number}.sqlite3"
            times[number], used = verified(client, base, count, rate=None, cache=cache)
            memory = max(memory, used)
            again, _ = verified(client, base, count, rate=None, cache=cache)
        yield (
            f"`verify` of {count:,} names from the cache, {number} workers",
            f"{count / again:,.0f} names/s",
            "",
            "",
            "",
        )
    yield (
        f"`verify` of {count:,} names, no rate, 3 workers",
        f"{count / times[3]:,.0f} names/s",
        f"1 worker: {count / times[1]:,.0f} names/s",
        f"{times[1] / times[3]:.2f}",
        "≥ 2",
    )
    yield "peak memory of a worker", f"{memory / 1000:.0f} MB", "", "", "≤ 300 MB"


def paced(base: str, count: int, folder: Path) -> Iterator[Row]:
    """The requests in each second of the proxy's log."""
    log = folder / "log"
    before = log.stat().st_size
    with redis(folder) as pace, workers(3) as client:
        seconds, _ = verified(client, base, count, rate=100, pace=pace, cache=":memory:")
    with log.open("rb") as file:
        file.seek(before)
        sent = Counter(line.split(b" ")[3] for line in file)
    yield (
        f"`verify` of {count:,} names, pace of 100 requests/s, 3 workers",
        f"{count / seconds:,.0f} names/s",
        f"{sum(sent.values()) / seconds:.0f} requests/s on average",
        f"{max(sent.values())} in the fullest second",
        "≤ 110",
    )


def parsing(count: int) -> Iterator[Row]:
    times, memory = {}, 0
    for number in (1, 2):
        with workers(number) as client:
            begun = time.perf_counter()
            assert int(parse(frame(count, 100_000))["doi_key"].count().compute()) == count
            times[number] = time.perf_counter() - begun
            memory = max(memory, *client.run(peak).values())
    yield (
        f"`parse` of {count:,} names, 2 workers",
        f"{count / times[2]:,.0f} names/s",
        f"1 worker: {count / times[1]:,.0f} names/s",
        f"{times[1] / times[2]:.2f}",
        "≥ 1.6",
    )
    yield "peak memory of a worker", f"{memory / 1000:.0f} MB", "", "", "≤ 300 MB"


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
    with local_proxy(count, folder) as base:
        yield from paced(base, min(count, 250_000), folder)
        yield from unlimited(base, count, folder)


if __name__ == "__main__":
    main()
