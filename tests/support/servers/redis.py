"""A Redis server for a test, alone or as a cluster of two."""

from __future__ import annotations

import subprocess
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
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
    cluster: bool
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        mode = ["--cluster-enabled", "yes", "--cluster-node-timeout", "30000"] if self.cluster else []
        command = [
            needs("redis-server", "valkey-server"),
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
            self.process = subprocess.Popen([*command, *mode], cwd=self.folder, stdout=log, stderr=log)
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
def running(*, cluster: bool = False) -> Iterator[Server]:
    """A server on a free loopback port; in a cluster it also takes the port 10,000 above."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(free_port(10_000), Path(folder), cluster)
        try:
            server.start()
            yield server
        finally:
            server.stop()


@contextmanager
def running_cluster() -> Iterator[list[Server]]:
    """Two servers that share the slots of a cluster."""
    with ExitStack() as stack:
        servers = [stack.enter_context(running(cluster=True)) for _ in range(2)]
        clients = [stack.enter_context(redis.Redis(port=server.port)) for server in servers]
        clients[0].execute_command("CLUSTER", "MEET", "127.0.0.1", servers[1].port)
        for client, first in zip(clients, (0, 8192), strict=True):
            client.execute_command("CLUSTER", "ADDSLOTS", *range(first, first + 8192))
        for client in clients:
            until(partial(_complete, client), "the cluster does not come up")
        yield servers


def _complete(client: redis.Redis) -> bool:
    info = client.cluster("info")
    return bool(info["cluster_state"] == "ok")
