"""Loopback ports that no other process gets while a test uses them."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def refusing() -> Iterator[int]:
    """A port without a listener; it is bound, so that no other process can listen on it."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


def free_port() -> int:
    """A port that is free now, below those that the system hands out by itself."""
    while True:
        port = random.SystemRandom().randrange(10_000, 22_000)
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
