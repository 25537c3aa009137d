"""The proxy as a service: signals, reloading, workers, the access log."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import signal
from dataclasses import dataclass, field
from errno import EADDRINUSE
from typing import TYPE_CHECKING

from doiuri.plugins import DOI_ORG

from doiuri_proxy.app._app import App
from doiuri_proxy.app._metrics import Metrics
from doiuri_proxy.app._redirect import Choice
from doiuri_proxy.records._memory import MemorySource
from doiuri_proxy.records._open import open_local, open_source
from doiuri_proxy.records._validation import RecordsError
from doiuri_proxy.server._protocol import Limits
from doiuri_proxy.server._server import STOP_TIME, Server, bind, url_of
from doiuri_proxy.server._workers import HELD_SIGNALS, WORKER_SIGNALS, Workers

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket

    from doiuri_proxy.records._source import Source
    from doiuri_proxy.server._access_log import AccessLog
    from doiuri_proxy.server._forwarded import TrustedPeers

CLOSE_DELAY = 60  # seconds after which a replaced source is closed; its last look-ups have ended by then

_OTHER_FILES = 200  # file descriptors besides those of connections
_log = logging.getLogger("doiuri_proxy")


@dataclass(frozen=True, slots=True)
class Service:
    """The options of a service, and the service itself."""

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
    access_log: AccessLog | None = None
    trusted: TrustedPeers | None = None
    metrics: Metrics = field(init=False)

    def __post_init__(self) -> None:
        """Allocate the metrics, which the workers share."""
        object.__setattr__(self, "metrics", Metrics(self.workers))

    def run(self) -> int:
        """Serve until SIGTERM or SIGINT; return the exit status. Raises RecordsError, ValueError, OSError."""
        old = signal.pthread_sigmask(signal.SIG_BLOCK, HELD_SIGNALS)
        try:
            return self._run()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, old)

    def _run(self) -> int:
        app = App(self._open(), self.choice, max_target=self.max_target, metrics=self.metrics)
        if self.trusted is not None:
            app.client_of = self.trusted.client_of
        if self.access_log is not None:
            self.access_log.on_failure = self.metrics.count_log_failure
            app.on_response, app.on_refusal = self.access_log.write, self.access_log.write_refusal
        listener = self._listen()
        _raise_file_limit(self.limits.connections)

        def announce() -> None:
            print(f"doiuri-proxy ready at {url_of(listener)}", flush=True)  # noqa: T201 - callers wait for it

        def serve(on_ready: Callable[[], None], number: int = 0, lifeline: int | None = None) -> None:
            self.metrics.start_worker(number)
            asyncio.run(self._serve(app, listener, on_ready, lifeline))

        if self.workers == 1:
            serve(announce)
            return 0
        # Workers share the memory of the records loaded here; each opens its own connection to a store.
        workers = Workers(self.workers, serve, self._reopen_log, lambda: self._reload(app))
        # Close this process's copy of the socket first, so that the system refuses new connections.
        return workers.run(announce, listener.close, STOP_TIME + 2)

    def _open(self) -> Source:
        def on_reply(failed: bool) -> None:
            self.metrics.count_upstream(failed=failed)

        return open_source(
            self.records,
            base=self.base,
            upstream=self.upstream,
            cache=self.cache,
            on_reply=on_reply,
        )

    def _listen(self) -> socket:
        try:
            return bind(self.host, self.port)
        except OSError as error:
            hint = "; choose another with --port" if error.errno == EADDRINUSE else ""
            raise OSError(f"cannot listen at {self.host}:{self.port}: {error.strerror}{hint}") from None

    def _reload(self, app: App) -> bool:
        """Load the records again; if that fails, log why and keep the old ones."""
        try:
            app.source = app.source.with_local(open_local(self.records, self.base))
        except (RecordsError, ValueError, OSError) as error:
            _log.error("records not reloaded, keeping the old ones: %s", error)
            return False
        _log.info("records reloaded")
        return True

    def _hang_up(self, reloads: _Reloads) -> None:
        self._reopen_log()  # at once: a reload may take long, and others may be waiting
        reloads.request()

    def _reopen_log(self) -> None:
        if self.access_log is not None:
            try:
                self.access_log.reopen()
            except OSError as error:
                _log.error("%s; keeping the old one", error)

    async def _serve(
        self, app: App, listener: socket, on_ready: Callable[[], None], lifeline: int | None
    ) -> None:
        """Serve in this process until SIGTERM, SIGINT, or the end of file on ``lifeline``."""
        server = Server(app, self.limits, on_ready)
        reloads = _Reloads(app, self._reload)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, server.stop)
        loop.add_signal_handler(signal.SIGUSR1, self._reopen_log)
        loop.add_signal_handler(signal.SIGHUP, self._hang_up, reloads)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WORKER_SIGNALS)
        if lifeline is not None:
            loop.add_reader(lifeline, server.stop)
        await server.serve(listener)
        reloads.cancel()
        app.source.close()


class _Reloads:
    """Reloads in a thread, one at a time, while the event loop answers from the old records."""

    def __init__(self, app: App, reload: Callable[[App], bool]) -> None:
        self._app = app
        self._reload = reload
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    def request(self) -> None:
        """Reload once more, unless a reload is waiting to start already: it reads the newest records."""
        if len(self._tasks) < 2:
            task = asyncio.get_running_loop().create_task(self._run())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def cancel(self) -> None:
        """Cancel all reloads."""
        for task in self._tasks:
            task.cancel()

    async def _run(self) -> None:
        async with self._lock:
            old = self._app.source.local
            reloaded = await asyncio.to_thread(self._reload, self._app)
            if reloaded and not isinstance(old, MemorySource):
                asyncio.get_running_loop().call_later(CLOSE_DELAY, old.close)


def _raise_file_limit(connections: int) -> None:
    """Raise the limit of open files so that all connections fit, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = connections + _OTHER_FILES
    wanted = files if hard == resource.RLIM_INFINITY else min(files, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
