"""The command: options, signals, workers; stops and reloads lose no request."""

import contextlib
import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from doiuri_proxy._cli import main
from support.command import Command, command, run_apart
from support.http import ask
from support.ports import IPV6
from support.proxy_records import link

OLD, NEW = link("10.1000/x", "https://example.org/old"), link("10.1000/x", "https://example.org/new")


def write(path: Path, *records: object) -> Path:
    new = path.with_suffix(".new")
    new.write_text(json.dumps(records))
    new.replace(path)
    return path


def wait_for(what: Callable[[], object], seconds: float = 100) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def target(url: str) -> str:
    return ask(url, "/10.1000/x").headers["location"]


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("workers", [1, 2])
def test_ready_serve_stop(tmp_path: Path, stop: signal.Signals, workers: int) -> None:
    file = write(tmp_path / "r.json", OLD)
    with command(tmp_path, "--records", file, "--workers", workers) as proxy:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", proxy.url)
        assert target(proxy.url) == "https://example.org/old"
        assert len(proxy.children()) == (2 if workers == 2 else 0)
        proxy.process.send_signal(stop)
        assert proxy.process.wait(30) == 0
        assert proxy.process.stdout is not None
        assert (proxy.process.stdout.read(), proxy.errors) == ("", "")


@pytest.mark.once
def test_ready_in_time(tmp_path: Path) -> None:
    """Starting takes little more processor time than importing the libraries."""
    before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    subprocess.run([sys.executable, "-c", "import asyncio, h11, requests"], check=True)
    libraries = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before
    with command(tmp_path, "--records", write(tmp_path / "r.json", OLD)) as proxy:
        assert proxy.processor_time() < 4 * libraries


@pytest.mark.once
def test_host_and_port(tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", OLD)
    with command(tmp_path, "--records", file, "--host", "127.0.0.1") as proxy:
        port = urlsplit(proxy.url).port
        taken = run_apart("--records", file, "--port", port)
        assert (taken.returncode, taken.stdout) == (1, "")
        used = f"cannot listen at 127.0.0.1:{port}: Address already in use; choose another with --port"
        assert taken.stderr == f"doiuri-proxy: {used}\n"
    for host in ("localhost", "::1") if IPV6 else ("localhost",):
        with command(tmp_path, "--records", file, "--host", host) as proxy:
            assert target(proxy.url) == "https://example.org/old"


@pytest.mark.once
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "nothing to serve"),
        (["--records", ""], "nothing to serve"),
        (["--records", "none.json"], "none.json: No such file"),
        (["--records", "bad.jsonl"], "bad.jsonl:2: 10.1000/x: no list"),
        (["--records", "good.json", "--workers", "0"], "--workers is 0; give at least 1"),
        (
            ["--records", "good.json", "--host", "192.0.2.1"],  # TEST-NET-1, RFC 5737; no DNS look-up
            "cannot listen at 192.0.2.1:8053: ",
        ),
        (["--records", "good.json", "--upstream", "doi.org"], "doi.org"),
        (["--records", "ftp://example.org/x"], "ftp"),
        (
            ["--records", "good.json", "--cache", "c.sqlite3"],
            "--cache stores the answers of --upstream: give",
        ),
        (["--records", "good.json", "--pace", "redis://h"], "--pace limits the requests to --upstream: give"),
        (["--upstream", "https://doi.org", "--pace", "h:6379"], "pace: not a URL of a Redis server"),
        (["--records", "good.json", "--access-log", "."], "cannot write the access log .: Is a directory"),
    ],
)
def test_what_cannot_be_served_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "good.json", OLD)
    (tmp_path / "bad.jsonl").write_text(json.dumps(OLD) + '\n{"handle": "10.1000/x"}\n')
    done = run_apart(*words)
    assert (done.returncode, done.stdout) == (1, "")
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_port_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(["--port", "x"]) == 2
    assert "'x' is not a port number, 0 to 65535" in capsys.readouterr().err


def test_usage() -> None:
    assert ended(["--help"]) == 0
    assert [ended(["--port", text]) for text in ("x", "-1", "65536")] == [2, 2, 2]
    for size in ("0", "x", "-1"):
        assert [ended([f"--max-{what}", size]) for what in ("connections", "header", "url")] == [2, 2, 2]
    assert [ended(["--country", text]) for text in ("", "GBR", "1a")] == [2, 2, 2]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(["--version"]) == 0
    assert capsys.readouterr().out == f"doiuri-proxy {version('doiuri-proxy')}\n"


def ended(words: list[str]) -> object:
    with pytest.raises(SystemExit) as end:
        main(words)
    return end.value.code


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("--upstream http://127.0.0.1:1 --cache redis://127.0.0.1:1", "a store"),
        ("--upstream http://127.0.0.1:1 --cache :memory: --pace redis://127.0.0.1:1", "a shared pace"),
        ("--records redis://127.0.0.1:1", "a store"),
        ("list --store redis://127.0.0.1:1", "a store"),
    ],
)
def test_a_missing_redis_py_is_told(
    words: str, what: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    assert main(words.split()) == 1
    assert f"{what} on Redis needs redis-py: pip install 'doiuri[redis]'" in capsys.readouterr().err


@pytest.mark.parametrize("workers", [1, 2])
def test_reload_on_sighup(tmp_path: Path, workers: int) -> None:
    file = write(tmp_path / "r.json", OLD)
    with command(tmp_path, "--records", file, "--workers", workers) as proxy:
        write(file, NEW)
        proxy.process.send_signal(signal.SIGHUP)
        wait_for(lambda: proxy.errors.count("reloaded") == (3 if workers == 2 else 1))
        assert {target(proxy.url) for _ in range(10)} == {"https://example.org/new"}
        file.write_text("[\n{]")
        proxy.process.send_signal(signal.SIGHUP)
        wait_for(lambda: f"{file}:2: not JSON" in proxy.errors)
        assert target(proxy.url) == "https://example.org/new"
        assert proxy.process.poll() is None


def test_a_worker_born_after_a_reload_has_the_new_records(tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", OLD)
    with command(tmp_path, "--records", file, "--workers", 2) as proxy:
        write(file, NEW)
        proxy.process.send_signal(signal.SIGHUP)
        wait_for(lambda: proxy.errors.count("reloaded") == 3)
        before = set(proxy.children())
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: len(set(proxy.children()) - before) == 2)
        wait_for(lambda: {target(proxy.url) for _ in range(10)} == {"https://example.org/new"})


@pytest.mark.once
@pytest.mark.parametrize("workers", [1, 2])
def test_many_hangups_are_as_one_and_do_not_delay_the_stop(tmp_path: Path, workers: int) -> None:
    many = [link(f"10.1000/{number}", "https://example.org/") for number in range(2000)]
    file = write(tmp_path / "r.json", OLD, *many)
    with command(tmp_path, "--records", file, "--workers", workers) as proxy:
        for _ in range(500):
            proxy.process.send_signal(signal.SIGHUP)
            time.sleep(0.002)
        write(file, NEW)
        proxy.process.send_signal(signal.SIGHUP)
        wait_for(lambda: {target(proxy.url) for _ in range(10)} == {"https://example.org/new"})
        assert proxy.errors.count("reloaded") < 100
        proxy.process.send_signal(signal.SIGTERM)
        assert proxy.process.wait(20) == 0


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    with command(tmp_path, "--records", write(tmp_path / "r.json", OLD), "--workers", 2) as proxy:
        workers = proxy.children()
        proxy.process.kill()
        proxy.process.wait()
        wait_for(lambda: not [pid for pid in workers if alive(pid)])
        with pytest.raises(ConnectionRefusedError):
            ask(proxy.url, "/healthz")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_requests_under_way_are_finished_at_the_stop(tmp_path: Path) -> None:
    with command(tmp_path, "--records", write(tmp_path / "r.json", OLD)) as proxy:
        parts = urlsplit(proxy.url)
        with socket.create_connection((parts.hostname, parts.port), timeout=30) as connection:
            connection.sendall(
                b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 13\r\n\r\n"
            )
            assert b" 100 " in connection.recv(65536)
            proxy.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            connection.sendall(b"hdl=10.1000/x")
            assert b" 302 " in connection.recv(65536)
        assert proxy.process.wait(30) == 0


class Load(threading.Thread):
    """A client that sends requests over one connection and counts successes and failures."""

    def __init__(self, url: str, stop: threading.Event) -> None:
        super().__init__()
        self.netloc = urlsplit(url).netloc
        self.stop = stop
        self.done = 0
        self.lost = 0
        self.start()

    def run(self) -> None:
        connection = http.client.HTTPConnection(self.netloc, timeout=100)
        while not self.stop.is_set():
            try:
                connection.request("GET", "/api/handles/10.1000/x")
                assert connection.getresponse().read().startswith(b'{"responseCode":1,')
                self.done += 1
            except (OSError, http.client.HTTPException, AssertionError):
                self.lost += 1
                connection.close()
            time.sleep(0.01)
        connection.close()


@pytest.fixture
def _many_files() -> Iterator[None]:
    """Raise the limit of open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2500:
        pytest.skip(f"the hard limit of open files is {hard}")
    if soft != resource.RLIM_INFINITY and soft < 2500:
        resource.setrlimit(resource.RLIMIT_NOFILE, (2500, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def under_load(proxy: Command, clients: int, work: Callable[[], None]) -> tuple[int, int]:
    stop = threading.Event()
    loads = [Load(proxy.url, stop) for _ in range(clients)]
    try:
        wait_for(lambda: all(load.done for load in loads))
        work()
        before = [load.done for load in loads]
        wait_for(lambda: all(load.done > count for load, count in zip(loads, before, strict=True)))
    finally:
        stop.set()
        for load in loads:
            load.join()
    return sum(load.done for load in loads), sum(load.lost for load in loads)


@pytest.mark.newest
@pytest.mark.parametrize("workers", [1, 2])
def test_reload_under_load_loses_no_request(tmp_path: Path, workers: int) -> None:
    file = write(tmp_path / "r.json", OLD)
    with command(tmp_path, "--records", file, "--workers", workers) as proxy:

        def reload() -> None:
            for count in range(5):
                write(file, NEW if count % 2 else OLD)
                proxy.process.send_signal(signal.SIGHUP)
                time.sleep(0.2)

        done, lost = under_load(proxy, 200, reload)
        assert done > 200
        assert lost == 0
        wait_for(lambda: "reloaded" in proxy.errors)


@pytest.mark.newest
def test_the_stop_under_load_answers_what_was_sent_in_time(tmp_path: Path) -> None:
    seen: list[bytes] = []

    def ask_until_the_end(netloc: str) -> None:
        connection = http.client.HTTPConnection(netloc, timeout=20)
        with contextlib.suppress(ConnectionRefusedError):
            while True:
                connection.request("GET", "/api/handles/10.1000/x")
                seen.append(connection.getresponse().read()[:18])

    with (
        command(tmp_path, "--records", write(tmp_path / "r.json", OLD)) as proxy,
        ThreadPoolExecutor(30) as pool,
    ):
        clients = [pool.submit(ask_until_the_end, urlsplit(proxy.url).netloc) for _ in range(30)]
        wait_for(lambda: len(seen) > 300)
        proxy.process.send_signal(signal.SIGTERM)
        assert [client.exception(30) for client in clients] == [None] * 30
        assert set(seen) == {b'{"responseCode":1,'}
        assert proxy.process.wait(30) == 0


@pytest.mark.newest
def test_a_killed_worker_loses_what_it_had_in_hand_and_is_replaced(tmp_path: Path) -> None:
    with command(tmp_path, "--records", write(tmp_path / "r.json", OLD), "--workers", 2) as proxy:
        victims = proxy.children()[:1]
        done, lost = under_load(proxy, 200, lambda: os.kill(victims[0], signal.SIGKILL))
        assert done > 200
        assert lost <= 200  # one request for each connection
        wait_for(lambda: len(proxy.children()) == 2)
        assert victims[0] not in proxy.children()


@pytest.mark.newest
@pytest.mark.usefixtures("_many_files")
def test_two_thousand_idle_connections_do_not_matter(tmp_path: Path) -> None:
    with command(tmp_path, "--records", write(tmp_path / "r.json", OLD)) as proxy:
        parts = urlsplit(proxy.url)
        idle: list[socket.socket] = []
        try:
            idle.extend(
                socket.create_connection((parts.hostname, parts.port), timeout=10) for _ in range(2000)
            )
            for _ in range(50):
                assert ask(proxy.url, "/api/handles/10.1000/x").status == 200
        finally:
            for connection in idle:
                connection.close()


def test_limits_country_and_pick(tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", OLD)
    words = (
        "--max-url",
        30,
        "--max-header",
        2000,
        "--max-connections",
        50,
        "--country",
        "gb",
        "--pick",
        "highest",
    )
    with command(tmp_path, "--records", file, *words) as proxy:
        assert ask(proxy.url, "/10.1000/x").status == 302
        assert ask(proxy.url, "/10.1000/" + "x" * 30).status == 414
        assert ask(proxy.url, "/10.1000/x", headers={"X": "x" * 6000}).status == 431
