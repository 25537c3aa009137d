"""When requests reach a server."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from support.servers.faults import Server
from support.servers.rest import handling


@contextmanager
def timed(handle: Callable[[str], bytes]) -> Iterator[tuple[Server, list[float]]]:
    """A server that answers with ``handle``, and the times of its requests, in seconds."""
    times: list[float] = []

    def answer(target: str) -> bytes:
        times.append(time.monotonic())
        return handle(target)

    with handling(answer) as server:
        yield server, times


def fullest_second(times: Sequence[float]) -> int:
    """The most requests in a second that may begin at any moment."""
    order = sorted(times)
    return max((bisect_left(order, begun + 1) - n for n, begun in enumerate(order)), default=0)
