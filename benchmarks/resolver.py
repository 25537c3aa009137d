"""Compare the resolver with its peers in one run: `python benchmarks/resolver.py [--quick]`.

Prints a Markdown table: medians, the ratio to the peer, and the goal. The server is on loopback, in a
process of its own.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import unquote

import requests
import requests_cache
from doiuri import DOI
from doiuri.resolver import MemoryStore, Resolver
from doiuri.rest import record_url

VALUES = [
    {
        "index": 1,
        "type": "URL",
        "data": {"format": "string", "value": "https://example.org/articles/0001"},
    },
    {"index": 700050, "type": "700050", "data": {"format": "string", "value": "20251231123456789"}},
    {
        "index": 100,
        "type": "HS_ADMIN",
        "data": {
            "format": "admin",
            "value": {"handle": "0.na/10.1000", "index": 200, "permissions": "0" * 12},
        },
    },
]
for _value in VALUES:
    _value |= {"ttl": 86400, "timestamp": "2025-12-31T12:34:56Z"}


class Proxy(BaseHTTPRequestHandler):
    """Return a record for every name, after a delay."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    delay = 0.0
    count = 0

    def do_GET(self) -> None:
        type(self).count += 1
        if self.path == "/count":
            body: object = self.count - 1
        elif self.path.startswith("/doiRA/"):
            names = unquote(self.path.removeprefix("/doiRA/")).split(",")
            body = [{"DOI": name, "RA": "Crossref"} for name in names]
        else:
            name = unquote(self.path.removeprefix("/api/handles/"))
            body = {"responseCode": 1, "handle": name, "values": VALUES}
        time.sleep(self.delay)
        content = json.dumps(body, separators=(",", ":")).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json;charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


def serve(delay: float, pipe: Connection) -> None:
    Proxy.delay = delay
    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    pipe.send(f"http://127.0.0.1:{server.server_port}")
    server.serve_forever()


class Serving:
    """A proxy in a process of its own; its URL."""

    def __init__(self, delay: float = 0.0) -> None:
        self._delay = delay

    def __enter__(self) -> str:
        here, there = multiprocessing.Pipe()
        self._process = multiprocessing.Process(
            target=serve, args=(self._delay, there), daemon=True
        )
        self._process.start()
        url: str = here.recv()
        return url

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.join()


def names(number: int, start: int = 0) -> Iterator[DOI]:
    """DOIs of 30 bytes."""
    return (DOI(f"10.1000/journal.pone.{n:09}") for n in range(start, start + number))


def seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def drain(outcomes: Iterable[object]) -> None:
    for _ in outcomes:
        pass


def resolve(resolver: Resolver, dois: list[DOI]) -> None:
    assert all(outcome.status == "found" for outcome in resolver.resolve_many(dois))


def read_urls(resolver: Resolver, dois: list[DOI]) -> None:
    assert all(outcome.record and outcome.record.url for outcome in resolver.resolve_many(dois))


def loop(session: requests.Session, url: str, dois: list[DOI]) -> None:
    for doi in dois:
        answer = session.get(record_url(doi, base=url), timeout=10).json()
        assert answer["responseCode"] == 1


def medians(rounds: int, *works: Callable[[], object]) -> list[float]:
    """Return the median seconds of each; they take turns, so that noise affects all alike."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for number, work in enumerate(works):
            times[number].append(seconds(work))
    return [statistics.median(taken) for taken in times]


Row = tuple[str, str, str, float, str]


def warm(rounds: int, number: int) -> Iterator[Row]:
    """Resolve names that are in the store, in a file and in memory, and read where they lead."""
    dois = list(names(number))
    some = dois[: number // 10]  # only a part for the slow peer
    with Serving() as url, tempfile.TemporaryDirectory() as folder:
        file = Resolver(url, store=Path(folder) / "ours.sqlite3")
        memory = Resolver(url, store=MemoryStore())
        cached = requests_cache.CachedSession(str(Path(folder) / "theirs"), backend="sqlite")
        resolve(file, dois)
        resolve(memory, dois)
        loop(cached, url, some)
        *ours, theirs = medians(
            rounds,
            partial(resolve, file, dois),
            partial(read_urls, file, dois),
            partial(read_urls, memory, dois),
            partial(loop, cached, url, some),
        )
        cached.close()  # type: ignore[no-untyped-call]
        file.close()
    goals = {
        "SQLite": "≥ 50",
        "`record.url` read, SQLite": "≥ 45",
        "`record.url` read, in memory": "≥ 45",
    }
    theirs_each = theirs / len(some)
    for (what, goal), total in zip(goals.items(), ours, strict=True):
        each = total / number
        yield (
            f"warm `resolve_many` of {number:,} names, {what}",
            f"{1e6 * each:.1f} µs a name",
            f"requests-cache, SQLite: {1e6 * theirs_each:.0f} µs",
            theirs_each / each,
            goal,
        )


def cold(rounds: int, number: int, delay: float, goal: str) -> Iterator[Row]:
    """Resolve names that are not stored, at concurrency 3, and compare with a plain session in a loop."""
    dois = list(names(number))
    with Serving(delay) as url, requests.Session() as session:
        resolver = Resolver(url, store=None)
        ours, theirs = medians(
            rounds, partial(resolve, resolver, dois), partial(loop, session, url, dois)
        )
        resolver.close()
    where = f"{1e3 * delay:.0f} ms away" if delay else "on bare loopback"
    yield (
        f"cold `resolve_many` of {number:,} names, server {where}",
        f"{number / ours:.0f} names/s",
        f"requests.Session in a loop: {number / theirs:.0f} names/s",
        theirs / ours,
        goal,
    )


def existence(number: int) -> Iterator[Row]:
    """Count the requests that verifying names takes."""
    with Serving() as url:
        drain(Resolver(url, store=None).check(names(number), batch=True))
        requests_sent = requests.get(f"{url}/count", timeout=10).json()
    yield (
        f"cold `verify` of {number:,} names of 30 bytes",
        f"{requests_sent} requests",
        f"one each: {number:,}",
        requests_sent / number,
        "≤ 0.02",
    )


def stream(url: str, number: int, pipe: Connection) -> None:
    drain(Resolver(url, store=None, timeout=60).check(names(number), batch=True))
    pipe.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def peak(url: str, number: int) -> int:
    """Return the peak memory, in kB, of a process through which ``number`` names are streamed."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=stream, args=(url, number, there))
    process.start()
    result: int = here.recv()
    process.join()
    return result


def memory(number: int) -> Iterator[Row]:
    """A stream ten times as long."""
    with Serving() as url:
        short = peak(url, number // 10)
        long = peak(url, number)
    yield (
        f"peak memory of {number:,} names streamed",
        f"{long / 1000:.0f} MB",
        f"of {number // 10:,}: {short / 1000:.0f} MB",
        long / short,
        "≤ 1.2",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the names")
    quick = parser.parse_args().quick
    rounds = 3 if quick else 5
    scale = 10 if quick else 1
    print("| what | doiuri | beside | ratio | goal |\n| --- | --- | --- | --- | --- |")
    for work in (
        partial(warm, rounds, 10_000 // scale),
        partial(cold, rounds, 1000 // scale, 0.03, "≥ 2.5"),
        partial(cold, rounds, 5000 // scale, 0.0, "≥ 0.8"),
        partial(existence, 10_000),
        partial(memory, 1_000_000 // scale),
    ):
        for what, ours, beside, ratio, goal in work():
            print(f"| {what} | {ours} | {beside} | {ratio:.3g} | {goal} |")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
