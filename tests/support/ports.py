"""Loopback ports that no other process gets while a test uses them."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


IPV6 = _has_ipv6()


@contextmanager
def refusing() -> Iterator[int]:
    """A port without a listener; it is bound, so that no other process can listen on it."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


def free_port(*beside: int) -> int:
    """A port that is free now, and so are those that lie so far ``beside`` it, up to 10,000.

    All lie below those that the system hands out by itself, which may be taken in the next moment.
    """
    while True:
        port = random.SystemRandom().randrange(10_000, 22_000)
        try:
            with ExitStack() as stack:
                for each in (0, *beside):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port + each))
        except OSError:
            continue
        return port
