"""Measure the cost of a ``doi:`` URI in urllib, requests and httpx, beside the https URL of the REST API.

python benchmarks/scripts.py [--quick]

Prints a Markdown table: medians in milliseconds, and how many times as long the ``doi:`` URI takes. Both are
asked in turn of a local DOI proxy in a process of its own. What counts is the best of five calls, many times
over: on a busy machine a single call tells how long it waited for the other process to run.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import httpx_doiuri
import requests
import requests_doiuri
import urllib_doiuri

READY = "doiuri-proxy ready at "
VALUE = {
    "index": 1,
    "type": "URL",
    "data": {"format": "string", "value": "https://x.example/"},
    "ttl": 86400,
}
RECORD = {"handle": "10.1000/182", "values": [VALUE]}


@contextmanager
def local_proxy() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder, "records.json")
        records.write_text(json.dumps([RECORD]), encoding="utf-8")
        command = [sys.executable, "-m", "doiuri_proxy", "--records", str(records), "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                yield server.stdout.readline().removeprefix(READY).strip()
            finally:
                server.terminate()


def compare(plain: Callable[[], object], ours: Callable[[], object], rounds: int) -> list[float]:
    """Return the medians over ``rounds`` of the best time of each, in seconds, and of their ratio.

    In a round both are called in turn, five times, so that they meet the same machine.
    """
    timed(plain)
    timed(ours)
    results = []
    for _ in range(rounds):
        plain_times = []
        our_times = []
        for _ in range(5):
            plain_times.append(timed(plain))
            our_times.append(timed(ours))
        best = min(plain_times)
        best_of_ours = min(our_times)
        results.append((best, best_of_ours, best_of_ours / best))
    return [statistics.median(column) for column in zip(*results, strict=True)]


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def opening(url: str) -> Callable[[], object]:
    def call() -> bytes:
        with urlopen(url) as response:
            return bytes(response.read())

    return call


def getting(client: Any, url: str) -> Callable[[], object]:
    """Return a call that gets a URL with a session of requests or a client of httpx."""
    return lambda: client.get(url).content


def starting(module: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, "-I", "-c", f"import {module}"], check=True)


def main(rounds: int) -> None:
    with (
        local_proxy() as base,
        requests_doiuri.mount(requests.Session(), base) as session,
        httpx_doiuri.Client(resolver=base) as client,
    ):
        urllib_doiuri.install(base)
        url = f"{base}/api/handles/10.1000/182"
        uri = "doi:10.1000/182"
        opened = compare(opening(url), opening(uri), rounds)
        by_session = compare(getting(session, url), getting(session, uri), rounds)
        by_client = compare(getting(client, url), getting(client, uri), rounds)
        started = compare(starting("urllib.request"), starting("urllib_doiuri"), rounds // 20)
        rows = [
            ("urlopen", 1.10, opened),
            ("session.get", 1.30, by_session),
            ("client.get", 1.30, by_client),
            ("start-up", 1.40, started),
        ]
        urllib_doiuri.uninstall()
    print("| what | plain (ms) | doi: (ms) | ratio | goal |")
    print("| --- | --- | --- | --- | --- |")
    for what, goal, (plain, ours, ratio) in rows:
        print(f"| {what} | {plain * 1000:.2f} | {ours * 1000:.2f} | {ratio:.2f} | {goal:.2f} |")


if __name__ == "__main__":
    quick = "--quick" in sys.argv[1:]
    chosen_rounds = 40 if quick else 200
    main(chosen_rounds)
