"""The command: options, signals, workers; stops and reloads lose no request."""

import asyncio
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
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from doiuri_proxy import running
from doiuri_proxy._cli import main
from doiuri_proxy.app._app import App
from doiuri_proxy.records._memory import MemorySource
from doiuri_proxy.server import _service
from support.command import command, run
from support.http import ask
from support.proxy_records import link
from support.waiting import until

OLD, NEW = link("10.1000/x", "https://example.org/old"), link("10.1000/x", "https://example.org/new")


def write(path: Path, *records: object) -> Path:
    new = path.with_suffix(".new")
    new.write_text(json.dumps(records))
    new.replace(path)
    return path


def target(url: str) -> str:
    return ask(url, "/10.1000/x").headers["location"]


def connect(url: str) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=30)


@pytest.mark.parametrize(("stop", "workers"), [(signal.SIGTERM, 1), (signal.SIGINT, 2)])
def test_ready_serve_stop(tmp_path: Path, stop: signal.Signals, workers: int) -> None:
    words = ("--records", write(tmp_path / "r.json", OLD), "--host", "localhost", "--workers", workers)
    with command(tmp_path, *words) as proxy:
        assert re.fullmatch(r"http://(127\.0\.0\.1|\[::1\]):\d+", proxy.url)
        assert target(proxy.url) == "https://example.org/old"
        assert len(proxy.children()) == (2 if workers == 2 else 0)
        proxy.process.send_signal(stop)
        assert proxy.process.wait(60) == 0
        assert proxy.process.stdout is not None
        assert (proxy.process.stdout.read(), proxy.errors) == ("", "")


def test_ready_in_time(tmp_path: Path) -> None:
    """Starting takes little more processor time than importing the libraries."""
    before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    subprocess.run([sys.executable, "-c", "import asyncio, h11, requests"], check=True)
    libraries = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before
    with command(tmp_path, "--records", write(tmp_path / "r.json", OLD)) as proxy:
        assert proxy.processor_time() < 4 * libraries


def test_a_port_that_is_taken_is_said_with_a_hint(tmp_path: Path) -> None:
    with running([]) as other:
        port = urlsplit(other.url).port
        done = run("--records", write(tmp_path / "r.json", OLD), "--port", port)
    assert (done.returncode, done.stdout) == (1, "")
    used = f"cannot listen at 127.0.0.1:{port}: Address already in use; choose another with --port"
    assert done.stderr == f"doiuri-proxy: {used}\n"


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
        (["--records", "good.json", "--access-log", "."], "cannot write the access log .: Is a directory"),
    ],
)
def test_what_cannot_be_served_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "good.json", OLD)
    (tmp_path / "bad.jsonl").write_text(json.dumps(OLD) + '\n{"handle": "10.1000/x"}\n')
    done = run(*words)
    assert (done.returncode, done.stdout) == (1, "")
    assert reason in done.stderr


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
    "words",
    [
        "--upstream http://127.0.0.1:1 --cache redis://127.0.0.1:1",
        "list --store redis://127.0.0.1:1",
    ],
)
def test_a_missing_redis_py_is_told(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    assert main(words.split()) == 1
    assert "a store on Redis needs redis-py: pip install 'doiuri[redis]'" in capsys.readouterr().err


def test_reload_on_sighup(tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", OLD)
    with command(tmp_path, "--records", file) as proxy:
        write(file, NEW)
        proxy.process.send_signal(signal.SIGHUP)
        until(lambda: "reloaded" in proxy.errors)
        assert target(proxy.url) == "https://example.org/new"
        file.write_text("[\n{]")
        proxy.process.send_signal(signal.SIGHUP)
        until(lambda: f"{file}:2: not JSON" in proxy.errors)
        assert target(proxy.url) == "https://example.org/new"


def test_workers_are_replaced_by_others_that_have_the_new_records(tmp_path: Path) -> None:
    """One that is killed, and one that is stopped: it would hold its connections for ever."""
    file = write(tmp_path / "r.json", OLD)
    with command(tmp_path, "--records", file, "--workers", 2) as proxy:
        write(file, NEW)
        proxy.process.send_signal(signal.SIGHUP)
        until(lambda: proxy.errors.count("reloaded") == 3)
        assert {target(proxy.url) for _ in range(10)} == {"https://example.org/new"}
        before = proxy.children()
        for pid, number in zip(before, (signal.SIGKILL, signal.SIGSTOP), strict=True):
            os.kill(pid, number)
        until(lambda: len({*proxy.children()} - {*before}) == 2)
        until(lambda: {target(proxy.url) for _ in range(10)} == {"https://example.org/new"})


def test_many_hangups_reload_once_more_at_most() -> None:
    """Not once each: the reload that has not begun reads what has changed until then."""
    go_on, reloaded = threading.Event(), list[App]()

    def reload(app: App) -> bool:
        reloaded.append(app)
        return go_on.wait(60)

    async def hang_up() -> None:
        reloads = _service._Reloads(App(MemorySource([])), reload)
        for _ in range(100):
            reloads.request()
        go_on.set()
        await asyncio.gather(*reloads._tasks)

    asyncio.run(hang_up())
    assert len(reloaded) == 2


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    with command(tmp_path, "--records", write(tmp_path / "r.json", OLD), "--workers", 2) as proxy:
        workers = proxy.children()
        proxy.process.kill()
        proxy.process.wait()
        until(lambda: not [pid for pid in workers if alive(pid)])
        with pytest.raises(ConnectionRefusedError):
            ask(proxy.url, "/healthz")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_requests_under_way_are_finished_at_the_stop(tmp_path: Path) -> None:
    with command(tmp_path, "--records", write(tmp_path / "r.json", OLD)) as proxy:
        with connect(proxy.url) as connection:
            connection.sendall(
                b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 13\r\n\r\n"
            )
            assert b" 100 " in connection.recv(65536)
            proxy.process.send_signal(signal.SIGTERM)
            until(lambda: refused(proxy.url))
            connection.sendall(b"hdl=10.1000/x")
            assert b" 302 " in connection.recv(65536)
        assert proxy.process.wait(60) == 0


def refused(url: str) -> bool:
    try:
        connect(url).close()
    except ConnectionRefusedError:
        return True
    return False


def test_reload_and_stop_under_load_lose_no_request(tmp_path: Path) -> None:
    file, seen = write(tmp_path / "r.json", OLD), list[bytes]()

    def ask_until_the_end(netloc: str) -> None:
        connection = http.client.HTTPConnection(netloc, timeout=60)
        with contextlib.suppress(ConnectionRefusedError):
            while True:
                connection.request("GET", "/api/handles/10.1000/x")
                seen.append(connection.getresponse().read()[:18])

    with command(tmp_path, "--records", file) as proxy, ThreadPoolExecutor(20) as pool:
        clients = [pool.submit(ask_until_the_end, urlsplit(proxy.url).netloc) for _ in range(20)]
        for count in range(1, 4):
            write(file, NEW if count % 2 else OLD)
            before = len(seen)
            proxy.process.send_signal(signal.SIGHUP)
            until(lambda: proxy.errors.count("reloaded") == count and len(seen) > before + 50)  # noqa: B023
        proxy.process.send_signal(signal.SIGTERM)
        assert [client.exception(60) for client in clients] == [None] * 20
        assert {*seen} == {b'{"responseCode":1,'}
        assert proxy.process.wait(60) == 0


@pytest.mark.parametrize(("hard", "expected"), [(4000, (1200, 4000)), (1100, (1100, 1100))])
def test_the_limit_of_open_files_is_raised_for_all_connections(
    hard: int, expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    raised: list[tuple[int, int]] = []
    system = SimpleNamespace(
        RLIMIT_NOFILE=resource.RLIMIT_NOFILE,
        RLIM_INFINITY=resource.RLIM_INFINITY,
        getrlimit=lambda _: (1024, hard),
        setrlimit=lambda _, limits: raised.append(limits),
    )
    monkeypatch.setattr(_service, "resource", system)
    _service._raise_file_limit(1000)
    assert raised == [expected]


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
