"""The server: a listening socket, its connections, and how they end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import TYPE_CHECKING

from doiuri_proxy.server._protocol import Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from doiuri_proxy.app._app import App
    from doiuri_proxy.server._protocol import Limits

STOP_TIME = 10  # seconds that requests under way have to finish when the server stops
STOP_GRACE = 0.2  # seconds after the stop in which an idle connection may still deliver a request

_PAUSE = 0.005  # seconds
_BACKLOG = 2048  # connections that the system keeps until they are accepted


class Server:
    """Serves an application on a socket until it is stopped."""

    def __init__(
        self, app: App, limits: Limits, on_ready: Callable[[], None], stop_grace: float = STOP_GRACE
    ) -> None:
        """Prepare; ``on_ready`` is called when the server accepts connections."""
        self._app = app
        self._limits = limits
        self._on_ready = on_ready
        self._stop_grace = stop_grace
        self._connections: set[Protocol] = set()
        self._stop = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def serve(self, listener: socket.socket) -> None:
        """Serve until `stop` is called; then finish the requests under way, and close the socket."""
        self._loop = asyncio.get_running_loop()
        server = await self._loop.create_server(self._connect, sock=listener, backlog=_BACKLOG)
        self._on_ready()
        await self._stop.wait()
        self._loop.remove_reader(listener)
        await asyncio.sleep(_PAUSE)  # a connection just accepted would be lost if the server closed now
        server.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_TIME):
                while self._connections:
                    for connection in list(self._connections):
                        connection.shutdown(self._stop_grace)
                    await asyncio.sleep(_PAUSE)
        for connection in list(self._connections):
            connection.abort()

    def stop(self) -> None:
        """Stop gracefully. Thread-safe."""
        if self._loop is None:
            self._stop.set()
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed: the server has stopped already
            self._loop.call_soon_threadsafe(self._stop.set)

    def _connect(self) -> Protocol:
        return Protocol(self._app, self._limits, self._connections)


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 picks a free one. Raises OSError."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def url_of(listener: socket.socket) -> str:
    """Return the base URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
