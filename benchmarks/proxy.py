"""Measure the local DOI proxy under load, beside nginx and a minimal application on uvicorn.

    python benchmarks/proxy.py [--quick]

Needs wrk and nginx. Prints Markdown tables: requests per second and latency, for 5,000 names at
random and for a single one; then what many records cost.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from doiuri_proxy.records._source import Records

CLIENTS = 32
NAMES = 5_000  # more than any of the proxy's caches holds, so that most requests miss them
MILLISECONDS = {"us": 0.001, "ms": 1, "s": 1000}
# wrk's script: GET the PREFIX with a name, taken at random from the first COUNT records
SCRIPT = """
math.randomseed(1)
request = function()
  local n = math.random(0, {count} - 1)
  return wrk.format("GET", "{prefix}10." .. (1000 + n % 500) .. "/article." .. n)
end
"""
MINIMAL = """
body = open({path!r}, "rb").read()
headers = [(b"content-type", b"application/json;charset=utf-8"), (b"content-length", b"%d" % len(body))]
async def app(scope, receive, send):
    await send({{"type": "http.response.start", "status": 200, "headers": headers}})
    await send({{"type": "http.response.body", "body": body}})
"""
NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log /dev/null;
events {{ worker_connections 1024; }}
http {{ access_log off; default_type application/json;
client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
uwsgi_temp_path {folder}; scgi_temp_path {folder}; keepalive_requests 1000000000;
server {{ listen 127.0.0.1:{port}; root {folder}; }} }}
"""


def record(number: int) -> dict[str, Any]:
    """Return a typical record: a URL and its administrator."""
    admin = {"handle": "0.na/10.1000", "index": 200, "permissions": "111111110010"}
    more = {"ttl": 86400, "timestamp": "2020-01-02T03:04:05Z"}
    url = {"format": "string", "value": f"https://example.org/articles/{number}"}
    return {
        "handle": f"10.{1000 + number % 500}/article.{number}",
        "values": [
            {"index": 1, "type": "URL", "data": url, **more},
            {"index": 100, "type": "HS_ADMIN", "data": {"format": "admin", "value": admin}, **more},
        ],
    }


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextlib.contextmanager
def serving(words: list[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the block ends."""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + 30
            while True:
                with (
                    contextlib.suppress(OSError),
                    socket.create_connection(("127.0.0.1", port), timeout=1),
                ):
                    break
                if time.monotonic() > deadline or process.poll() is not None:
                    raise RuntimeError(f"{words[0]} does not serve")
                time.sleep(0.001)
            yield process
        finally:
            process.terminate()


def proxy_words(records: Path, port: int) -> list[str]:
    return [sys.executable, "-m", "doiuri_proxy", "--records", str(records), "--port", str(port)]


def random_names(folder: Path, prefix: str, count: int) -> list[str]:
    """wrk's options for requests of many names."""
    subject = prefix.strip("/").replace("/", "-") or "redirect"
    script = folder / f"{subject}-{count}.lua"
    script.write_text(SCRIPT.format(prefix=prefix, count=count))
    return ["-s", str(script)]


def load(port: int, path: str, options: list[str], seconds: int) -> tuple[float, float]:
    """Requests per second, and the latency that 99 % stay below, in milliseconds."""
    url = f"http://127.0.0.1:{port}{path}"
    words = ["wrk", "-t1", f"-c{CLIENTS}", f"-d{seconds}s", "--latency", *options, url]
    out = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    rate = re.search(r"Requests/sec:\s*([\d.]+)", out)
    latency = re.search(r"99%\s*([\d.]+)(us|ms|s)", out)
    if rate is None or latency is None or "Non-2xx" in out:
        raise RuntimeError(out)
    return float(rate[1]), float(latency[1]) * MILLISECONDS[latency[2]]


def rates(folder: Path, records: Path, rounds: int, seconds: int) -> None:
    """Print the rate of each server; rounds alternate, so that noise affects all alike."""
    name = f"/{record(7)['handle']}"
    body = {"responseCode": 1, **record(7)}
    (folder / "body.json").write_text(json.dumps(body, separators=(",", ":")))
    (folder / "minimal.py").write_text(MINIMAL.format(path=str(folder / "body.json")))
    ports = [free_port() for _ in range(3)]
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=ports[0]))
    uvicorn = [sys.executable, "-m", "uvicorn", "minimal:app", "--app-dir", str(folder)]
    uvicorn += ["--port", str(ports[1])]
    uvicorn += ["--http", "h11", "--loop", "asyncio", "--no-access-log"]
    servers = [
        (["nginx", "-c", str(folder / "nginx.conf")], ports[0]),
        (uvicorn, ports[1]),
        (proxy_words(records, ports[2]), ports[2]),
    ]
    rest = random_names(folder, "/api/handles/", NAMES)
    redirect = random_names(folder, "/", NAMES)
    subjects: list[tuple[str, int, str, list[str]]] = [
        ("nginx, a file", ports[0], "/body.json", []),
        ("minimal application", ports[1], "/", []),
        (f"REST API, {NAMES:,} names", ports[2], "", rest),
        (f"redirect, {NAMES:,} names", ports[2], "", redirect),
        ("REST API, one name", ports[2], f"/api/handles{name}", []),
        ("redirect, one name", ports[2], name, []),
    ]
    with contextlib.ExitStack() as stack:
        for words, port in servers:
            stack.enter_context(serving(words, port))
        loads: dict[str, list[tuple[float, float]]] = {title: [] for title, *_ in subjects}
        for _ in range(rounds):
            for title, port, path, options in subjects:
                loads[title].append(load(port, path, options, seconds))
    print_rates(loads)


def print_rates(loads: dict[str, list[tuple[float, float]]]) -> None:
    rounds = len(loads["nginx, a file"])
    print(f"{CLIENTS} connections, one process each, medians of {rounds} rounds\n")
    print("| | requests/s | × minimal | p99 ms | × minimal |\n| --- | --- | --- | --- | --- |")
    base_rate, base_latency = medians(loads["minimal application"])
    for title, figures in loads.items():
        rate, latency = medians(figures)
        rates = f"{rate:,.0f} | {rate / base_rate:.2f}"
        latencies = f"{latency:.1f} | {latency / base_latency:.2f}"
        print(f"| {title} | {rates} | {latencies} |")


def medians(figures: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the median rate and the median latency."""
    rates, latencies = zip(*figures, strict=True)
    return statistics.median(rates), statistics.median(latencies)


def lookup(records: Path, count: int) -> float:
    """The median microseconds of processor time of one look-up, names taken at random."""
    source = Records(records)
    rng = random.Random(1)

    async def times() -> list[float]:
        taken = []
        for _ in range(20):
            names = [record(rng.randrange(count))["handle"] for _ in range(200)]
            start = time.process_time()
            for name in names:
                assert await source.lookup(name) is not None
            taken.append((time.process_time() - start) / len(names) * 1e6)
        return taken

    return statistics.median(asyncio.run(times()))


def size(records: Path, count: int) -> None:
    """Print start-up time, memory after many different requests, and look-up time with many records."""
    port = free_port()
    start = time.perf_counter()
    with serving(proxy_words(records, port), port) as process:
        ready = time.perf_counter() - start
        load(port, "", random_names(records.parent, "/api/handles/", count), seconds=5)
        status = Path(f"/proc/{process.pid}/status").read_text()
        kilobytes = re.search(r"VmHWM:\s*(\d+)", status)
        assert kilobytes is not None
        memory = int(kilobytes[1]) / 1024
    print(f"| {count:,} | {ready:.2f} | {memory:.0f} | {lookup(records, count):.1f} |")


def make(records: Path, count: int) -> None:
    with records.open("w") as file:
        file.writelines(json.dumps(record(number)) + "\n" for number in range(count))


def main() -> None:
    parser = argparse.ArgumentParser(description="the local DOI proxy under load")
    parser.add_argument(
        "--quick", action="store_true", help="fewer rounds, and 20,000 records in place of 100,000"
    )
    quick = parser.parse_args().quick
    for program in ("wrk", "nginx"):
        if shutil.which(program) is None:
            raise SystemExit(f"{program} is not installed")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large = 20_000 if quick else 100_000
        files = [(folder / f"{count}.jsonl", count) for count in (1000, NAMES, large)]
        for records, count in files:
            make(records, count)
        repeats = 2 if quick else 5  # rounds, and seconds of each
        rates(folder, folder / f"{NAMES}.jsonl", rounds=repeats, seconds=repeats)
        print("\n| records | ready s | peak MB | look-up µs |\n| --- | --- | --- | --- |")
        for records, count in files:
            size(records, count)


if __name__ == "__main__":
    main()
