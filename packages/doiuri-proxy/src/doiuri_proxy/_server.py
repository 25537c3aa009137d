"""Serve the application with uvicorn: as a command, or in a thread of this process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import random
import signal
import socket
import threading
from errno import EADDRINUSE
from typing import TYPE_CHECKING, Literal

import uvicorn

from doiuri_proxy.http._app import App
from doiuri_proxy.http._redirect import Choice
from doiuri_proxy.records._files import RecordsError
from doiuri_proxy.records._open import is_cache, open_source
from doiuri_proxy.records._source import Records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from doiuri_proxy.http._http import Request
    from doiuri_proxy.records._files import PathOrData

_MAX_CONNECTIONS = 10_000  # further ones get status 503
_MAX_HEAD = 32_768  # bytes of a request line with its headers; longer ones get status 400
_BACKLOG = 2048  # connections that the system keeps until they are accepted
_KEEP_ALIVE = 20  # seconds that an idle connection is kept open
_STOP_TIME = 10  # seconds that requests under way have to finish when the server stops
_STOP_SIGNALS = ("SIGINT", "SIGTERM", "SIGBREAK")  # the last on Windows only

_log = logging.getLogger("doiuri_proxy")


def app_of_environ() -> App:
    """Return the application with the source that environment variables name, for uvicorn's own command."""
    records = os.environ.get("DOIURI_PROXY_RECORDS") or None
    upstream = os.environ.get("DOIURI_PROXY_UPSTREAM") or None
    choice = Choice(random.Random())  # noqa: S311
    try:
        return App(open_source(records, upstream=upstream), choice)
    except (ValueError, OSError) as error:
        raise SystemExit(f"doiuri-proxy: {error}") from None  # uvicorn would write a traceback


def configure(app: App, *, access_log: bool = False) -> uvicorn.Config:
    """Return uvicorn's settings."""
    return uvicorn.Config(
        app,
        http="h11",  # httptools drops a raw "#" and what follows, which can be part of a DOI
        ws="none",
        lifespan="off",
        interface="asgi3",
        workers=1,
        log_config=None,
        access_log=access_log,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_MAX_CONNECTIONS,
        h11_max_incomplete_event_size=_MAX_HEAD,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_STOP_TIME,
    )


def serve(
    app: App, listener: socket.socket, config: uvicorn.Config, reload: Callable[[], None]
) -> None:
    """Serve until SIGTERM or SIGINT; print the ready line when connections are accepted."""

    async def run() -> None:
        """Serve, and meanwhile print the ready line and reload at SIGHUP."""
        server = uvicorn.Server(config)
        tasks = [
            asyncio.create_task(announce(server)),
            asyncio.create_task(reload_at_hang_ups(reload)),
        ]
        for name in _STOP_SIGNALS:
            # uvicorn raises the signal again after a stop, which is not a failure
            if hasattr(signal, name):
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


def reload(app: App, records: PathOrData | None) -> None:
    """Read records files again; if that fails, log why and keep the old ones. A cache needs no reload."""
    if records is None:
        records = []
    if is_cache(records):
        return
    try:
        app.source = app.source.with_local(Records(records))
    except (RecordsError, OSError) as error:
        _log.error("records not reloaded, keeping the old ones: %s", error)
    else:
        _log.info("records reloaded")


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 picks a free one. Raises OSError."""
    # asyncio sets TCP_NODELAY only if the socket's protocol is IPPROTO_TCP, not 0
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    family, kind, protocol, _, address = addresses[0]
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # on Windows, it would let two servers share a port
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
        app.on_answer = self.log.append

    def load(self, records: PathOrData) -> None:
        """Serve other records from the next request on.

        :param records: as for `running`
        :raises RecordsError: if the records are not valid; then the proxy keeps the old ones
        """
        self._app.source = self._app.source.with_local(Records(records))


@contextlib.contextmanager
def running(
    records: PathOrData | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    upstream: str | None = None,
    cache: str | None = None,
    pick: Literal["highest"] | random.Random = "highest",
    country: str | None = None,
) -> Iterator[Running]:
    """Run a proxy in a thread of this process, on a real socket, until the ``with`` block ends.

    >>> from urllib.request import urlopen
    >>> url = {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"}}
    >>> with running([{"handle": "10.1000/1", "values": [url]}]) as proxy:
    ...     with urlopen(f"{proxy.url}/api/handles/10.1000/1") as response:
    ...         response.status
    200

    :param records: the path of a records file, a folder of them or a build's cache, or Python data in the
        form of a records file; None is no records
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
    app = App(open_source(records, upstream=upstream, cache=cache), Choice(pick, country))
    listener = bind(host, port)  # the system keeps connections until the thread accepts them
    server = uvicorn.Server(configure(app))
    thread = threading.Thread(
        target=lambda: asyncio.run(server.serve(sockets=[listener])),
        name="doiuri-proxy",
        daemon=True,
    )
    thread.start()
    try:
        yield Running(url_of(listener), app)
    finally:
        server.should_exit = True
        thread.join(_STOP_TIME + 5)
        if not thread.is_alive():  # a thread that still runs would fail when it closes the socket
            listener.close()  # uvicorn leaves it open if it has not begun to serve
        app.source.close()


Running.__module__ = "doiuri_proxy"  # for tracebacks and pickles
