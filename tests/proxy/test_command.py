"""The command: options, signals; reloads lose no request, and stops finish those under way."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from doiuri_proxy import running
from doiuri_proxy.pytest_plugin import Proxies
from support.command import READY, command, run
from support.http import ask, connect, send
from support.ports import free_port
from support.proxy_records import link, loc
from support.waiting import until

OLD = link("10.1000/x", "https://example.org/old")
NEW = link("10.1000/x", "https://example.org/new")


def write(path: Path, *records: object) -> Path:
    new = path.with_suffix(".new")
    new.write_text(json.dumps(records))
    new.replace(path)
    return path


def is_open_in(process: int, path: Path) -> bool:
    """Return whether a process has a file open."""
    return str(path) in map(os.path.realpath, Path(f"/proc/{process}/fd").iterdir())


def target(url: str, name: str = "x") -> str:
    return ask(url, f"/10.1000/{name}").headers["location"].removeprefix("https://example.org/")


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_requests_under_way_are_finished_at_the_stop(tmp_path: Path, stop: signal.Signals) -> None:
    words = ("--records", write(tmp_path / "r.json", OLD), "--host", "localhost")
    with command(tmp_path, *words) as proxy:
        assert re.fullmatch(r"http://(127\.0\.0\.1|\[::1\]):\d+", proxy.url)
        with connect(proxy.url) as connection:
            connection.sendall(
                b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 13\r\n\r\n"
            )
            assert b" 100 " in connection.recv(65536)
            proxy.process.send_signal(stop)
            until(lambda: refused(proxy.url))
            connection.sendall(b"hdl=10.1000/x")
            assert b"\r\nLocation: https://example.org/old\r\n" in connection.recv(65536)
        assert proxy.process.wait(60) == 0
        assert proxy.process.stdout is not None
        assert (proxy.process.stdout.read(), proxy.errors) == ("", "")


def test_a_port_that_is_taken_is_said_with_a_hint(tmp_path: Path) -> None:
    with running([]) as other:
        port = urlsplit(other.url).port
        done = run("--records", write(tmp_path / "r.json", OLD), "--port", port)
    assert (done.returncode, done.stdout) == (1, "")
    used = f"cannot listen at 127.0.0.1:{port}: Address already in use; choose another with --port"
    assert done.stderr == f"doiuri-proxy: {used}\n"


ONE_VALUE = {
    "--records": "good.json",
    "--base": "https://doi.org",
    "--upstream": "https://doi.org",
    "--cache": ":memory:",
    "--pick": "highest",
    "--country": "de",
    "--host": "127.0.0.1",
    "--port": "0",
}


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (["--version"], 0, f"doiuri-proxy {version('doiuri-proxy')}"),
        (["--records", "none.json"], 1, "none.json: No such file"),
        (["--records", "bad.jsonl"], 1, "bad.jsonl:2: 10.1000/x: no list"),
        # TEST-NET-1, RFC 5737; no DNS look-up
        (["--records", "good.json", "--host", "192.0.2.1"], 1, "cannot listen at 192.0.2.1:8053: "),
        (["--cache", ":memory:", "--upstream", "doi.org"], 1, "upstream: 'doi.org' is not an http"),
        (
            ["--upstream", "http://127.0.0.1:9", "--cache", "bad.jsonl"],
            1,
            "bad.jsonl is not a store but some other file; choose another path",
        ),
        (
            ["--upstream", "http://127.0.0.1:9", "--cache", "good.json"],
            1,
            "good.json is not a lock file of format 1",
        ),
        (["--records", "ftp://example.org/x"], 1, "not from a URL"),
        (
            ["--upstream", "http://127.0.0.1:9", "--cache", "redis://127.0.0.1:9"],
            1,
            "a store on Redis needs redis-py: pip install 'doiuri[redis]'",
        ),
        (
            ["--upstream", "http://127.0.0.1:9"],
            1,
            "doiuri-proxy: DOIURI_CACHE: no store is known for foo:",
        ),
        ([], 2, "nothing to serve: give --records FILE, --upstream URL or both"),
        (["--records", ""], 2, "nothing to serve: give --records FILE, --upstream URL or both"),
        (
            ["--records", "r", "--cache", "c"],
            2,
            "--cache stores the answers of --upstream: give --upstream",
        ),
        *(
            ([name, value, name, value], 2, f"{name} is given more than once; give it once")
            for name, value in ONE_VALUE.items()
        ),
        *((["--port", text], 2, f"{text!r} is not a port number") for text in ("x", "-1", "65536")),
        *(
            (["--country", text], 2, f"{text!r} is not a country code")
            for text in ("", "GBR", "1a")
        ),
    ],
)
def test_what_cannot_be_served_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], status: int, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "redis", None)
    write(tmp_path / "good.json", OLD)
    (tmp_path / "bad.jsonl").write_text(json.dumps(OLD) + '\n{"handle": "10.1000/x"}\n')
    files = {path: path.read_bytes() for path in tmp_path.iterdir()}
    done = run(*words, DOIURI_CACHE="foo://x")  # --cache wins
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == files
    assert (done.returncode, reason in (done.stderr if status else done.stdout)) == (
        status,
        True,
    ), done


def refused(url: str) -> bool:
    try:
        connect(url).close()
    except ConnectionRefusedError:
        return True
    return False


def test_reloads_under_load_lose_no_request(tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", OLD)
    seen = list[bytes]()
    stop = threading.Event()
    wrong = {
        "[\n{]": ":2: not JSON",
        json.dumps([NEW, NEW]): ": record 2: 10.1000/x already exists",
        None: ": No such file",
    }

    def ask_until_the_end(netloc: str) -> None:
        connection = http.client.HTTPConnection(netloc, timeout=60)
        while not stop.is_set():
            connection.request("GET", "/api/handles/10.1000/x")
            seen.append(connection.getresponse().read()[:18])
        connection.close()

    with command(tmp_path, "--records", file) as proxy, ThreadPoolExecutor(8) as pool:
        clients = [pool.submit(ask_until_the_end, urlsplit(proxy.url).netloc) for _ in range(8)]

        def reload(said: str, count: int, expected: str) -> None:
            before = len(seen)
            proxy.process.send_signal(signal.SIGHUP)

            def is_reloaded() -> bool:
                return proxy.errors.count(said) == count and len(seen) > before + 30

            until(is_reloaded)
            assert target(proxy.url) == expected

        try:
            write(file, NEW)
            reload(": records reloaded", 1, "new")
            for content, reason in wrong.items():
                file.write_text(content) if content else file.unlink()
                reload(f"keeping the old ones: {file}{reason}", 1, "new")
            write(file, OLD)
            reload(": records reloaded", 2, "old")
        finally:
            stop.set()
        assert [client.exception(60) for client in clients] == [None] * 8
    assert {*seen} == {b'{"responseCode":1,'}


def test_uvicorn_runs_the_application_that_the_environment_configures(
    tmp_path: Path, doi_proxy: Proxies
) -> None:
    port = free_port()
    words = [
        sys.executable,
        "-m",
        "uvicorn",
        "--http",
        "h11",
        "--port",
        str(port),
        "doiuri_proxy:app",
    ]
    there = doi_proxy([link("10.1000/y", "https://example.org/there")])
    records = str(write(tmp_path / "r.json", OLD))
    environ = {"DOIURI_PROXY_UPSTREAM": there.url, "DOIURI_PROXY_RECORDS": records}
    with subprocess.Popen(words, env=os.environ | environ, stderr=subprocess.PIPE) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            until(lambda: not refused(url))
            assert [target(url, name) for name in "xy"] == ["old", "there"]
        finally:
            process.terminate()


def test_uvicorn_says_what_is_wrong_with_the_records(tmp_path: Path) -> None:
    environ = {**os.environ, "DOIURI_PROXY_RECORDS": str(tmp_path / "none.json")}
    words = [sys.executable, "-m", "uvicorn", "doiuri_proxy:app"]
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        f"doiuri-proxy: {tmp_path}/none.json: No such file or directory\n",
    )


A, B = (f'<location href="https://example.org/{name}"' for name in "ab")


def test_upstream_alone_and_the_choice_is_random_by_default(
    tmp_path: Path, doi_proxy: Proxies
) -> None:
    there = doi_proxy([loc("10.1000/x", f"<locations>{A}/>{B}/></locations>")])
    cache = tmp_path / "cache.sqlite3"
    with command(tmp_path, "--upstream", there.url, "--cache", cache) as proxy:
        assert {target(proxy.url) for _ in range(50)} == {"a", "b"}
    assert cache.exists()


def test_country_pick_and_access_log(tmp_path: Path) -> None:
    places = (
        loc("10.1000/x", f"<locations>{A}/>{B}/></locations>"),
        loc("10.1000/y", f"<locations>{A}/>{B} country='gb'/></locations>"),
    )
    words = "--country gb --pick highest --access-log"
    with command(
        tmp_path, "--records", write(tmp_path / "r.json", *places), *words.split()
    ) as proxy:
        assert (
            "".join(target(proxy.url, name) for name in "x" * 20 + "y" * 20) == "a" * 20 + "b" * 20
        )
        ask(proxy.url, '/10.1000/%22%0A"?a=b')
        ask(proxy.url, "/10.1000/x", "HEAD", headers={"X-Forwarded-For": "192.0.2.1"})
        send(proxy.url, b"hello\r\n\r\n")  # not a request
        lines = [re.sub(r":\d+ - ", " - ", line) for line in proxy.errors.splitlines()[40:]]
    assert lines == [
        'doiuri-proxy: 127.0.0.1 - "GET /10.1000/%22%0A%22?a=b HTTP/1.1" 404',
        'doiuri-proxy: 127.0.0.1 - "HEAD /10.1000/x HTTP/1.1" 302',
    ]


def test_a_hang_up_waits_until_the_proxy_has_started(tmp_path: Path) -> None:
    records = tmp_path / "r.jsonl"
    lines = (json.dumps(link(f"10.1000/{n}", "https://example.org/")) for n in range(4000))
    records.write_text("\n".join(lines))
    words = ["--port", "0", "--records", records]
    command = [sys.executable, "-m", "doiuri_proxy", *map(str, words)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            until(partial(is_open_in, process.pid, records))
            process.send_signal(signal.SIGHUP)
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith(READY)
            assert ask(line.removeprefix(READY).strip(), "/10.1000/1").status == 302
        finally:
            process.terminate()
        assert process.wait(30) == 0
