"""The access log: its lines, and a file that another program moves."""

import json
import re
import shutil
from pathlib import Path

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
        ask(proxy.url, "/10.1000/y", headers={"X-Forwarded-For": '192.0.2.3" 200 1 é'})
        send(proxy.url, b"hello\r\n\r\n")  # not a request
    start, end = r" - - \[[^]]+\] ", r" \d+ \d+\.\d{6}"
    for line, (client, request, status) in zip(
        log.read_text().splitlines(),
        [
            ("127.0.0.1", r'"GET /10\.1000/%22%0A\\x22\?a=b HTTP/1\.1"', 404),
            ("192.0.2.1", r'"HEAD /10\.1000/x HTTP/1\.1"', 302),
            ("192.0.2.2", r'"GET /10\.1000/x HTTP/1\.0"', 302),
            ("192.0.2.3??200?1??", r'"GET /10\.1000/y HTTP/1\.1"', 404),
        ],
        strict=True,
    ):
        pattern = re.escape(client) + start + request + f" {status}" + end
        assert re.fullmatch(pattern, line), line


def test_a_log_that_is_moved_is_opened_anew(tmp_path: Path) -> None:
    file, folder = write(tmp_path / "r.json"), tmp_path / "logs"
    folder.mkdir()
    log, moved = folder / "access.log", tmp_path / "moved"
    with command(tmp_path, "--records", file, "--access-log", log) as proxy:
        ask(proxy.url, "/10.1000/first", headers={"X-Forwarded-For": "192.0.2.1"})
        log.rename(tmp_path / "old")
        ask(proxy.url, "/10.1000/second")
        assert log.read_text().count("/10.1000/second") == 1
        log.rename(moved)
        shutil.rmtree(folder)  # the log cannot be opened anew: lines are lost, but no requests
        assert ask(proxy.url, "/10.1000/third").status == 404
        until(lambda: "lines are lost" in proxy.errors)
        folder.mkdir()
        ask(proxy.url, "/10.1000/fourth")
        assert log.read_text().count("\n") == 1
    assert [file.read_text().count("\n") for file in (tmp_path / "old", moved)] == [1, 1]
    assert (tmp_path / "old").read_text().startswith("127.0.0.1 ")  # no peer is trusted


def test_lines_that_cannot_be_written_are_reported_once_and_counted(tmp_path: Path) -> None:
    words = ("--records", write(tmp_path / "r.json"), "--access-log", "/dev/full")
    with command(tmp_path, *words) as proxy:
        for _ in range(5):
            assert ask(proxy.url, "/10.1000/x").status == 302
        assert "doiuri_proxy_access_log_failures_total 5.0" in ask(proxy.url, "/metrics").text
        assert proxy.errors == (
            "doiuri-proxy: cannot write the access log: [Errno 28] No space left on device; lines are lost\n"
        )
