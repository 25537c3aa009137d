"""A relay on loopback that delays what it passes on, like a long way through the network."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def delaying(port: int, seconds: float) -> Iterator[int]:
    """The port of a relay to another port; each way takes so many seconds."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_accept, args=(listener, port, seconds), daemon=True).start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, port: int, seconds: float) -> None:
    with suppress(OSError):
        while True:
            near = listener.accept()[0]
            far = socket.create_connection(("127.0.0.1", port))
            for ends in ((near, far), (far, near)):
                threading.Thread(target=_pass_on, args=(*ends, seconds), daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket, seconds: float) -> None:
    with suppress(OSError), source:
        while data := source.recv(65536):
            time.sleep(seconds)
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
