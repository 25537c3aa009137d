"""logrotate, with the configuration in the repository, while clients send requests."""

import gzip
import http.client
import re
import subprocess
import threading
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from support.command import command
from support.programs import needs
from support.servers.deploy import deployed
from support.waiting import until

ROTATIONS = 3
CLIENTS = 4


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


def test_logrotate_loses_no_line(tmp_path: Path) -> None:
    logrotate = needs("logrotate")
    file, folder = tmp_path / "r.jsonl", tmp_path / "logs"
    file.write_text('{"handle":"10.1000/1","values":[]}\n')
    folder.mkdir()
    log = folder / "access.log"
    with command(tmp_path, "--records", file, "--access-log", log) as proxy:
        config = tmp_path / "logrotate.conf"
        config.write_text(deployed("doiuri-proxy.logrotate", {"/var/log/doiuri-proxy/access.log": log}))
        config.chmod(0o644)
        load = Load(proxy.url)
        try:
            for _ in range(ROTATIONS):
                until(partial(load.has_sent, len(load.sent) + 100))
                subprocess.run([logrotate, "-f", "-s", tmp_path / "state", config], check=True)
                until(log.exists)
        finally:
            load.stop()
        assert "reloaded" not in proxy.errors
    assert len([*folder.iterdir()]) == ROTATIONS + 1
    assert len([*folder.glob("*.gz")]) == ROTATIONS - 1
    assert sorted(logged(folder)) == sorted(load.sent)
    assert len(load.sent) > 100 * ROTATIONS
