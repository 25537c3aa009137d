"""The access log: its lines, and a file that another program moves."""

import json
import re
import signal
import time
from pathlib import Path

import pytest
from support.command import command
from support.http import ask, send
from support.proxy_records import link

pytestmark = pytest.mark.once


def write(path: Path) -> Path:
    path.write_text(json.dumps([link("10.1000/x", "https://example.org/")]))
    return path


def test_access_log(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    with command(tmp_path, "--records", write(tmp_path / "r.json"), "--access-log", log) as proxy:
        ask(proxy.url, '/10.1000/%22%0A"?a=b')
        ask(proxy.url, "/10.1000/x", "HEAD")
    lines = log.read_text().splitlines()
    assert len(lines) == 2
    assert re.fullmatch(
        r'127\.0\.0\.1 - - \[[^]]+\] "GET /10\.1000/%22%0A\\x22\?a=b HTTP/1\.1" 404 \d+ 0\.\d{6}', lines[0]
    )
    assert re.fullmatch(r'127\.0\.0\.1 - - \[[^]]+\] "HEAD /10\.1000/x HTTP/1\.1" 302 \d+ 0\.\d{6}', lines[1])


def test_refusals_and_versions_are_logged(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    words = ("--records", write(tmp_path / "r.json"), "--access-log", log)
    with command(tmp_path, *words) as proxy:
        send(proxy.url, b"GET /10.1000/x HTTP/1.0\r\n\r\n")
        send(proxy.url, b"hello\r\n\r\n")
        send(proxy.url, b"GET /" + b"x" * 70_000)
    lines = [line.partition("] ")[2] for line in log.read_text().splitlines()]
    assert re.sub("[0-9]+ (0[.][0-9]{6}|-)$", "", "\n".join(lines), flags=re.MULTILINE).split("\n") == [
        '"GET /10.1000/x HTTP/1.0" 302 ',
        '"-" 400 ',
        '"-" 414 ',
    ]


@pytest.mark.parametrize("workers", [1, 2])
def test_sighup_opens_the_log_again(tmp_path: Path, workers: int) -> None:
    log = tmp_path / "access.log"
    words = ("--records", write(tmp_path / "r.json"), "--access-log", log, "--workers", workers)
    with command(tmp_path, *words) as proxy:
        ask(proxy.url, "/10.1000/x")
        log.rename(tmp_path / "access.log.1")
        proxy.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + 60
        while proxy.errors.count("reloaded") < (3 if workers == 2 else 1):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        for _ in range(10):
            ask(proxy.url, "/10.1000/x")
    assert (tmp_path / "access.log.1").read_text().count("302") == 1
    assert log.read_text().count("302") == 10


def test_lines_that_cannot_be_written_are_reported_once_and_counted(tmp_path: Path) -> None:
    words = ("--records", write(tmp_path / "r.json"), "--access-log", "/dev/full")
    with command(tmp_path, *words) as proxy:
        for _ in range(5):
            assert ask(proxy.url, "/10.1000/x").status == 302
        assert "doiuri_proxy_access_log_failures_total 5.0" in ask(proxy.url, "/metrics").text
        assert proxy.errors == (
            "doiuri-proxy: cannot write the access log /dev/full: No space left on device; lines are lost\n"
        )
