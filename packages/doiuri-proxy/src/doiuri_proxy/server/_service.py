"""The proxy as a service: signals, workers, reloading, the access log."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import signal
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from doiuri.plugins import DOI_ORG

from doiuri_proxy.app._app import App
from doiuri_proxy.app._redirect import Choice
from doiuri_proxy.records._open import open_source
from doiuri_proxy.records._records import RecordsError
from doiuri_proxy.records._source import MemorySource
from doiuri_proxy.server._protocol import Limits
from doiuri_proxy.server._server import STOP_TIME, Server, bind, url_of
from doiuri_proxy.server._workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket
    from typing import TextIO

    from doiuri_proxy.app._http import Request, Response
    from doiuri_proxy.records._source import Source

_log = logging.getLogger("doiuri_proxy")
LINGER = 60  # seconds after which a store that was replaced is closed: none uses it by then
_SPARE = 200  # file descriptors besides those of connections


@dataclass(frozen=True, slots=True)
class Service:
    """All that a service needs to know; ``access_log`` is a file open for appending."""

    records: str | None
    host: str = "127.0.0.1"
    port: int = 0
    workers: int = 1
    base: str = DOI_ORG
    upstream: str | None = None
    cache: str | None = None
    choice: Choice = field(default_factory=Choice)
    limits: Limits = field(default_factory=Limits)
    max_target: int = 8192
    access_log: TextIO | None = None

    def load(self) -> Source:
        """Open the records; raises RecordsError, ValueError."""
        return open_source(self.records, base=self.base, upstream=self.upstream, cache=self.cache)

    def run(self) -> int:
        """Serve until SIGTERM or SIGINT, return the exit status; raises RecordsError, ValueError, OSError."""
        app = App(self.load(), self.choice, _logger(self.access_log), self.max_target)
        try:
            listener = bind(self.host, self.port)
        except OSError as error:
            raise OSError(f"cannot listen at {self.host}:{self.port}: {error.strerror}") from None
        _allow_files(self.limits.connections)

        def say_ready() -> None:
            print(f"doiuri-proxy ready at {url_of(listener)}", flush=True)  # noqa: T201 - for who started us

        if self.workers == 1:
            asyncio.run(self._serve(app, listener, say_ready))
            return 0

        def work(ready: Callable[[], None], lifeline: int) -> None:
            asyncio.run(self._serve(app, listener, ready, lifeline))

        # What is loaded here is shared with the workers; a store, each opens by itself.
        workers = Workers(self.workers, work, lambda: self._reload(app))
        # At the stop the socket is closed here first: none is to connect whom no worker will serve.
        return workers.run(say_ready, listener.close, STOP_TIME + 2)

    def _reload(self, app: App) -> bool:
        """Load the records anew; bad ones are reported, and the old ones stay."""
        try:
            new = self.load()
        except (RecordsError, ValueError, OSError) as error:
            _log.error("not reloaded, the old records stay: %s", error)
            return False
        app.source = new
        _log.info("records reloaded")
        return True

    async def _serve(
        self, app: App, listener: socket, on_ready: Callable[[], None], lifeline: int | None = None
    ) -> None:
        """Serve in this process until a signal, or until the process at the lifeline's other end is gone."""
        server = Server(app, self.limits, on_ready)
        loop = asyncio.get_running_loop()
        reloading = asyncio.Lock()
        reloads: set[asyncio.Task[None]] = set()

        async def reload() -> None:
            async with reloading:  # one after another, so that the last signal's records stay
                old = app.source
                # Loading goes on beside the answers, which come from the old records until then.
                if await asyncio.to_thread(self._reload, app) and not isinstance(old, MemorySource):
                    loop.call_later(LINGER, old.close)

        def on_hangup() -> None:
            if len(reloads) < 2:  # one is under way, the next begins after this signal: that is enough
                task = loop.create_task(reload())
                reloads.add(task)
                task.add_done_callback(reloads.discard)

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, server.stop)
        loop.add_signal_handler(signal.SIGHUP, on_hangup)
        if lifeline is not None:
            loop.add_reader(lifeline, server.stop)
        await server.serve(sockets=[listener])
        for task in reloads:
            task.cancel()
        app.source.close()


def _allow_files(connections: int) -> None:
    """Raise the limit of open files, as far as allowed, so that all connections fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _SPARE if hard == resource.RLIM_INFINITY else min(connections + _SPARE, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _logger(file: TextIO | None) -> Callable[[Request, Response, str], None] | None:
    """Make what writes one line for each request, in the common log format."""
    if file is None:
        return None

    def write(request: Request, response: Response, client: str) -> None:
        moment = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime())
        target = request.target.replace("\\", "\\x5C").replace('"', "\\x22")
        line = f'"{request.method} {target} HTTP/1.1" {response.status} {len(response.body)}'
        with contextlib.suppress(OSError):  # a full disk is no reason not to answer
            file.write(f"{client} - - [{moment}] {line}\n")
            file.flush()

    return write
