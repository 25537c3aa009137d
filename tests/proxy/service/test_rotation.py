"""logrotate, with the configuration in the repository, while clients send requests."""

import contextlib
import gzip
import http.client
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support import browser
from support.command import Command, command
from support.http import ask
from support.servers.deploy import deployed

ROTATIONS = 6
CLIENTS = 4

pytestmark = pytest.mark.once


def records(folder: Path) -> Path:
    file = folder / "r.jsonl"
    file.write_text('{"handle":"10.1000/1","values":[]}\n')
    return file


def wait_for(what: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class Load:
    """Clients that send requests for names that they number, until they are told to stop."""

    def __init__(self, url: str) -> None:
        self.sent: list[str] = []
        self._url = urlsplit(url)
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._send, args=(client,)) for client in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def has_sent(self, count: int) -> bool:
        return len(self.sent) >= count

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _send(self, client: int) -> None:
        connection = http.client.HTTPConnection(self._url.netloc, timeout=20)
        number = 0
        while not self._stop.is_set():
            name = f"/10.{2000 + client}/{number}"
            connection.request("GET", name)
            connection.getresponse().read()
            self.sent.append(name)
            number += 1
            if number % 50 == 0:  # so that all workers get some
                connection.close()
        connection.close()


def logged(folder: Path) -> list[str]:
    """The paths in all log files."""
    texts = [
        gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        for file in folder.glob("access.log*")
    ]
    lines = [line for text in texts for line in text.decode().splitlines()]
    found = [re.fullmatch(r'\S+ - - \[[^]]+\] "GET (\S+) HTTP/1\.1" 404 \d+ [\d.]+', line) for line in lines]
    assert all(found)
    return [match[1] for match in found if match]


def opened(proxy: Command, log: Path) -> bool:
    """Whether every process has the log open under its name, and under no other."""
    return all(logs_of(pid, log) == [str(log)] for pid in proxy.children() or [proxy.process.pid])


def logs_of(pid: int, log: Path) -> list[str]:
    """The files that a process has open whose names begin with that of the log."""
    found = []
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            found.append(str(path.readlink()))
    return [name for name in found if name.startswith(str(log))]


@pytest.mark.newest
@pytest.mark.parametrize("workers", [1, 3])
def test_no_line_is_lost(tmp_path: Path, workers: int) -> None:
    logrotate = browser.command("logrotate")
    folder = tmp_path / "logs"
    folder.mkdir()
    log = folder / "access.log"
    words = ("--records", records(tmp_path), "--access-log", log, "--workers", workers)
    with command(tmp_path, *words) as proxy:
        config = tmp_path / "logrotate.conf"
        config.write_text(
            deployed(
                "doiuri-proxy.logrotate",
                {
                    "/var/log/doiuri-proxy/access.log": log,
                    "systemctl kill --signal=SIGUSR1 doiuri-proxy.service": f"kill -USR1 {proxy.process.pid}",
                },
            )
        )
        config.chmod(0o644)
        load = Load(proxy.url)
        try:
            for _ in range(ROTATIONS):
                wait_for(partial(load.has_sent, len(load.sent) + 100))
                subprocess.run([logrotate, "-f", "-s", tmp_path / "state", config], check=True)
                wait_for(lambda: log.exists() and opened(proxy, log))
        finally:
            load.stop()
        assert "reloaded" not in proxy.errors
    assert len([*folder.iterdir()]) == ROTATIONS + 1
    assert len([*folder.glob("*.gz")]) == ROTATIONS - 1
    assert sorted(logged(folder)) == sorted(load.sent)
    assert len(load.sent) > 100 * ROTATIONS


@pytest.mark.parametrize("workers", [1, 2])
def test_records_that_cannot_be_reloaded_do_not_keep_the_old_log(tmp_path: Path, workers: int) -> None:
    file, log = records(tmp_path), tmp_path / "access.log"
    with command(tmp_path, "--records", file, "--access-log", log, "--workers", workers) as proxy:
        ask(proxy.url, "/10.1000/before")
        file.write_text("{")
        log.rename(tmp_path / "access.log.1")
        proxy.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "records not reloaded" in proxy.errors)
        wait_for(lambda: log.exists() and opened(proxy, log))
        for _ in range(20):
            ask(proxy.url, "/10.1000/after")
        assert ask(proxy.url, "/api/handles/10.1000/1").status == 200
    assert log.read_text().count("/10.1000/after") == 20
    assert (tmp_path / "access.log.1").read_text().count("\n") == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_a_log_that_cannot_be_opened_again_is_kept(tmp_path: Path, workers: int) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    log = folder / "access.log"
    words = ("--records", records(tmp_path), "--access-log", log, "--workers", workers)
    with command(tmp_path, *words) as proxy:
        log.rename(tmp_path / "moved.log")
        folder.rmdir()
        proxy.process.send_signal(signal.SIGHUP)
        wait_for(lambda: proxy.errors.count("keeping the old one") >= workers)
        for _ in range(10):
            ask(proxy.url, "/10.1000/after")
    assert (tmp_path / "moved.log").read_text().count("/10.1000/after") == 10


def test_long_lines_of_several_workers_stay_whole(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    words = ("--records", records(tmp_path), "--access-log", log, "--workers", 3, "--max-url", 30_000)
    with command(tmp_path, *words) as proxy:

        def send(client: int) -> None:
            for _ in range(30):
                ask(proxy.url, f"/10.1000/{str(client) * 20_000}")

        threads = [threading.Thread(target=send, args=(client,)) for client in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(logged(tmp_path)) == 120
