"""Serve the application with uvicorn: as a command, or in a thread of this process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import signal
import socket
import sys
import threading
import time
from errno import EADDRINUSE
from logging.handlers import WatchedFileHandler
from typing import TYPE_CHECKING, Literal

import uvicorn

from doiuri_proxy.app._app import App
from doiuri_proxy.app._http import CLIENT_LEFT
from doiuri_proxy.app._metrics import Metrics
from doiuri_proxy.app._redirect import Choice
from doiuri_proxy.records._files import RecordsError
from doiuri_proxy.records._open import MemorySource, open_local, open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from doiuri_proxy.app._app import OnResponse
    from doiuri_proxy.app._http import Request, Response
    from doiuri_proxy.records._files import RecordsInput
    from doiuri_proxy.records._source import LocalSource

_BACKLOG = 2048  # connections that the system keeps until they are accepted
_KEEP_ALIVE = 20  # seconds that an idle connection is kept open
_STOP_TIME = 10  # seconds that requests under way have to finish when the server stops
_STOP_SIGNALS = ("SIGINT", "SIGTERM", "SIGBREAK")  # the last on Windows only

_log = logging.getLogger("doiuri_proxy")


def configure(
    app: App, *, connections: int | None = None, header: int | None = None, trusted: str | None = None
) -> uvicorn.Config:
    """Return uvicorn's settings.

    :param connections: limit of connections; None is no limit
    :param header: limit of a request line with its headers, in bytes; None is h11's
    :param trusted: reverse proxies whose X-Forwarded-For is believed; None is none
    """
    return uvicorn.Config(
        app,
        http="h11",  # httptools drops a raw "#" and what follows, which can be part of a DOI
        ws="none",
        lifespan="off",
        interface="asgi3",
        workers=1,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=trusted is not None,
        forwarded_allow_ips=trusted,
        limit_concurrency=connections,
        h11_max_incomplete_event_size=header,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_STOP_TIME,
    )


def serve(app: App, listener: socket.socket, config: uvicorn.Config, reload: Callable[[], None]) -> None:
    """Serve until SIGTERM or SIGINT; print the ready line when connections are accepted."""

    async def run() -> None:
        server = uvicorn.Server(config)
        tasks = [asyncio.create_task(announce(server)), asyncio.create_task(reload_at_hang_ups(reload))]
        for name in _STOP_SIGNALS:
            if hasattr(signal, name):  # uvicorn raises it again after the stop, which is no failure
                signal.signal(getattr(signal, name), signal.SIG_IGN)
        await server.serve(sockets=[listener])
        for task in tasks:
            task.cancel()
        app.source.close()

    async def announce(server: uvicorn.Server) -> None:
        while not server.started:
            await asyncio.sleep(0.001)
        print(f"doiuri-proxy ready at {url_of(listener)}", flush=True)  # noqa: T201 - callers wait for it

    asyncio.run(run())


def hold_hang_ups() -> None:
    """Keep SIGHUP pending while the proxy starts; its default would end the process."""
    if hasattr(signal, "SIGHUP"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})


async def reload_at_hang_ups(reload: Callable[[], None]) -> None:
    """Call ``reload`` in a thread at SIGHUP, once for all signals that arrived since its last start."""
    pending = asyncio.Event()
    if hasattr(signal, "SIGHUP"):
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, pending.set)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})
    while await pending.wait():
        pending.clear()
        await asyncio.to_thread(reload)


def reload(app: App, open_records: Callable[[], LocalSource]) -> None:
    """Read records files again; if that fails, log why and keep the old ones. A store needs no reload."""
    if not isinstance(app.source.local, MemorySource):
        return
    try:
        app.source = app.source.with_local(open_records())
    except (RecordsError, ValueError, OSError) as error:
        _log.error("records not reloaded, keeping the old ones: %s", error)
    else:
        _log.info("records reloaded")


def access_log(name: str, on_failure: Callable[[], None] = lambda: None) -> OnResponse:
    """Return the function that appends a line for each request to a file; ``-`` is standard error.

    The lines are in the common log format, and end with the seconds that the answer took. A file that another
    program moves is opened anew.

    :param on_failure: called for each line that is lost
    :raises OSError: if the file cannot be opened
    """
    handler = logging.StreamHandler() if name == "-" else _LogFile(name, on_failure)

    def write(request: Request, response: Response, client: str, seconds: float) -> None:
        now = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime())
        client = re.sub(r"[^A-Za-z0-9.:%-]", "?", client)  # X-Forwarded-For may hold anything
        target = request.target.replace("\\", "\\x5C").replace('"', "\\x22")
        line = f'{client} - - [{now}] "{request.method} {target} HTTP/{request.version}"'
        line += f" {response.status} {len(response.body)} {seconds:.6f}"
        handler.handle(logging.LogRecord("doiuri_proxy.access", logging.INFO, "", 0, line, None, None))

    return write


class _LogFile(WatchedFileHandler):
    """Counts the lines that cannot be written, and reports the first; a full disk must not stop the proxy."""

    def __init__(self, name: str, on_failure: Callable[[], None]) -> None:
        super().__init__(name, encoding="utf-8")
        self._on_failure = on_failure
        self._is_reported = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        try:
            super().emit(record)
        except OSError:  # the file was moved, and a new one cannot be opened
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - logging's names
        """Count a lost line."""
        self._on_failure()
        if not self._is_reported:
            self._is_reported = True
            _log.error("cannot write the access log: %s; lines are lost", sys.exception())


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 picks a free one. Raises OSError."""
    # asyncio sets TCP_NODELAY only if the socket's protocol is IPPROTO_TCP, not 0
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere it would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        hint = "; choose another with --port" if error.errno == EADDRINUSE else ""
        raise OSError(f"cannot listen at {host}:{port}: {error.strerror}{hint}") from None
    listener.setblocking(False)
    return listener


def url_of(listener: socket.socket) -> str:
    """Return the base URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Running:
    """A running proxy, as `running` yields it.

    :ivar url: its base URL, such as ``http://127.0.0.1:49152``.
    :ivar log: the requests that it has answered, in order; `Request` objects.
    """

    def __init__(self, url: str, app: App) -> None:
        """Record the requests to ``app``."""
        self.url = url
        self.log: list[Request] = []
        self._app = app
        app.on_response = self._record

    def load(self, records: RecordsInput) -> None:
        """Serve other records from the next request on.

        :param records: as for `running`
        :raises RecordsError: if the records are not valid; then the proxy keeps the old ones
        """
        self._app.source = self._app.source.with_local(open_local(records))

    def _record(self, request: Request, response: Response, _client: str, _seconds: float) -> None:
        if response.status != CLIENT_LEFT:
            self.log.append(request)


@contextlib.contextmanager
def running(
    records: RecordsInput | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    upstream: str | None = None,
    cache: str | None = None,
    pick: Literal["highest"] | Random = "highest",
    country: str | None = None,
) -> Iterator[Running]:
    """Run a proxy in a thread of this process, on a real socket, until the ``with`` block ends.

    >>> from urllib.request import urlopen
    >>> url = {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"}}
    >>> with running([{"handle": "10.1000/1", "values": [url]}]) as proxy:
    ...     with urlopen(f"{proxy.url}/api/handles/10.1000/1") as response:
    ...         response.status
    200

    :param records: the path of a records file, a folder of them or a store, or Python data in the form of a
        records file; None is no records
    :param host: the address to listen on
    :param port: the port to listen on; 0 picks a free one
    :param upstream: the base URL of a proxy to ask for DOIs that are not in the records
    :param cache: the store for upstream's answers, a path or URL; None is the Resolver's default, which
        ``DOIURI_CACHE`` sets
    :param pick: how to choose among weighted locations: "highest" takes the highest weight, a `random.Random`
        chooses by weight
    :param country: a country code of two letters: prefer locations for this country
    :returns: a context manager that yields a `Running`
    :raises RecordsError: if the records cannot be read or are not valid
    :raises ValueError: if ``upstream`` or ``cache`` is not valid
    :raises OSError: if the port cannot be bound
    """
    metrics = Metrics()
    source = open_source(records, upstream=upstream, cache=cache, on_reply=metrics.count_upstream)
    app = App(source, Choice(pick, country), metrics=metrics)
    listener = bind(host, port)  # the system keeps connections until the thread accepts them
    server = uvicorn.Server(configure(app))
    thread = threading.Thread(
        target=lambda: asyncio.run(server.serve(sockets=[listener])), name="doiuri-proxy", daemon=True
    )
    thread.start()
    try:
        yield Running(url_of(listener), app)
    finally:
        server.should_exit = True
        thread.join(_STOP_TIME + 5)
        listener.close()  # uvicorn leaves it open if it has not begun to serve
        app.source.close()
