"""uvicorn on a listening socket that is already bound."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
from typing import TYPE_CHECKING

import uvicorn

from doiuri_proxy.server._protocol import protocol_class

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from doiuri_proxy.app._app import App
    from doiuri_proxy.server._protocol import Limits

STOP_TIME = 10  # seconds that requests under way have to finish when the server stops


class Server(uvicorn.Server):
    """A uvicorn server that leaves signals to its caller."""

    def __init__(self, app: App, limits: Limits, on_ready: Callable[[], None]) -> None:
        """Configure the server; ``on_ready`` is called when it accepts connections."""
        config = uvicorn.Config(
            app,
            http=protocol_class(limits),
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            log_level="error",  # keeps invalid requests out of the log
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=limits.keep_alive,
            timeout_graceful_shutdown=STOP_TIME,
            h11_max_incomplete_event_size=limits.head,
        )
        super().__init__(config)
        self._on_ready = on_ready
        self._stop = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def stop(self) -> None:
        """Stop gracefully. Thread-safe."""
        self.should_exit = True
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the server has stopped already
                self._loop.call_soon_threadsafe(self._stop.set)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Install no signal handlers."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call ``on_ready``."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self._on_ready()

    async def main_loop(self) -> None:
        """Wait for `stop`, and refresh the Date header every second."""
        for second in itertools.count():
            if await self.on_tick(second * 10):  # uvicorn counts tenths of a second
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), 1)


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 picks a free one. Raises OSError."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def url_of(listener: socket.socket) -> str:
    """Return the base URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
