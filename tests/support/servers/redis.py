"""A Redis server for a test."""

from __future__ import annotations

import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import redis
from support.ports import free_port
from support.programs import needs
from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Server:
    """A running server, which can be killed and restarted."""

    port: int
    folder: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        program = needs("redis-server", "valkey-server")
        options = [
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
        ]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [program, *options], cwd=self.folder, stdout=log, stderr=log
            )
        until(self._answers, f"redis-server does not answer at {self.port}")

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.folder / "log").read_text()
        try:
            with redis.Redis(port=self.port) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False


@contextmanager
def running() -> Iterator[Server]:
    """A server on a free loopback port."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(free_port(), Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.stop()
