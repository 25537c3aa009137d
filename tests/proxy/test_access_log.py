"""The access log: its lines, and a file that another program moves."""

import json
import re
import shutil
import signal
from pathlib import Path

from doiuri_proxy import running
from doiuri_proxy.server._access_log import AccessLog
from support.command import command
from support.http import ask, send
from support.proxy_records import link
from support.waiting import until


def write(path: Path) -> Path:
    path.write_text(json.dumps([link("10.1000/x", "https://example.org/")]))
    return path


def test_lines_name_client_request_status_size_and_seconds(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    words = ("--records", write(tmp_path / "r.json"), "--access-log", log)
    with command(tmp_path, *words, "--forwarded-allow-ips", "127.0.0.1") as proxy:
        ask(proxy.url, '/10.1000/%22%0A"?a=b')
        ask(proxy.url, "/10.1000/x", "HEAD", headers={"X-Forwarded-For": "192.0.2.1"})
        two = b"X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-For: 192.0.2.2\r\n"
        send(proxy.url, b"GET /10.1000/x HTTP/1.0\r\n" + two + b"\r\n")
        send(proxy.url, b"hello\r\n\r\n")
    start, end = r" - - \[[^]]+\] ", r" \d+ \d+\.\d{6}"
    for line, (client, request, status) in zip(
        log.read_text().splitlines(),
        [
            ("127.0.0.1", r'"GET /10\.1000/%22%0A\\x22\?a=b HTTP/1\.1"', 404),
            ("192.0.2.1", r'"HEAD /10\.1000/x HTTP/1\.1"', 302),
            ("192.0.2.2", r'"GET /10\.1000/x HTTP/1\.0"', 302),
            ("127.0.0.1", r'"-"', 400),
        ],
        strict=True,
    ):
        pattern = re.escape(client) + start + request + f" {status}" + (end if status != 400 else r" \d+ -")
        assert re.fullmatch(pattern, line), line


def test_headers_of_a_peer_that_is_not_trusted_do_not_name_the_client(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    with running([]) as proxy:
        proxy._app.on_response = AccessLog(str(log)).write
        ask(proxy.url, "/10.1000/x", headers={"X-Forwarded-For": "192.0.2.1"})
    assert log.read_text().startswith("127.0.0.1 - - ")


def test_sighup_opens_the_log_again_whatever_becomes_of_the_records(tmp_path: Path) -> None:
    file, folder = write(tmp_path / "r.json"), tmp_path / "logs"
    folder.mkdir()
    log, moved = folder / "access.log", tmp_path / "moved"
    with command(tmp_path, "--records", file, "--access-log", log) as proxy:
        ask(proxy.url, "/10.1000/first")
        file.write_text("{")
        log.rename(tmp_path / "old")
        proxy.process.send_signal(signal.SIGHUP)
        until(lambda: "records not reloaded" in proxy.errors)
        ask(proxy.url, "/10.1000/second")
        assert log.read_text().count("/10.1000/second") == 1
        log.rename(moved)
        shutil.rmtree(folder)  # the log cannot be opened again: the file that is open is kept
        proxy.process.send_signal(signal.SIGHUP)
        until(lambda: "keeping the old one" in proxy.errors)
        ask(proxy.url, "/10.1000/third")
    assert (tmp_path / "old").read_text().count("\n") == 1
    assert moved.read_text().count("/10.1000/third") == 1


def test_lines_that_cannot_be_written_are_reported_once_and_counted(tmp_path: Path) -> None:
    words = ("--records", write(tmp_path / "r.json"), "--access-log", "/dev/full")
    with command(tmp_path, *words) as proxy:
        for _ in range(5):
            assert ask(proxy.url, "/10.1000/x").status == 302
        assert "doiuri_proxy_access_log_failures_total 5.0" in ask(proxy.url, "/metrics").text
        assert proxy.errors == (
            "doiuri-proxy: cannot write the access log /dev/full: No space left on device; lines are lost\n"
        )
