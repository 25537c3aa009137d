"""The queue of look-ups that wait for upstream."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from doiuri_proxy.records._source import WAIT_TIME, BusyError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from concurrent.futures import Future

    T = TypeVar("T")

THREADS = 32  # look-ups at a time; the Resolver sends only a few of their requests at a time
MAX_LOOKUPS = 2000  # under way and waiting


class Queue:
    """Runs look-ups in threads: one for all clients that wait for the same answer.

    Look-ups that no client waits for any more are not begun.
    """

    def __init__(self, threads: int = THREADS, limit: int = MAX_LOOKUPS) -> None:
        """Prepare ``threads`` threads for at most ``limit`` look-ups, waiting ones included."""
        self._pool = ThreadPoolExecutor(threads, "upstream")
        self._limit = limit
        self._lookups: dict[Hashable, _Lookup] = {}
        self._deadlines: WeakKeyDictionary[asyncio.Task[Any], float] = WeakKeyDictionary()

    async def run(self, key: Hashable, function: Callable[[float], T]) -> T:
        """Return what ``function`` returns for the seconds that it may take.

        Look-ups of the same ``key`` share a call. Raises BusyError if the queue is full, or the client's
        time is up before the call begins.
        """
        lookup = self._lookups.get(key) or self._submit(key, function)
        lookup.clients += 1
        try:
            # The call goes on for the other clients if this one disconnects.
            answer: T = await asyncio.shield(lookup.answer)
            return answer
        finally:
            lookup.clients -= 1
            if not lookup.clients and lookup.job.cancel():
                self._forget(key, lookup)

    def close(self) -> None:
        """Begin no more calls; those under way end by themselves."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _submit(self, key: Hashable, function: Callable[[float], T]) -> _Lookup:
        if len(self._lookups) >= self._limit:
            raise BusyError("too many look-ups are waiting for upstream")
        deadline = self._deadline()
        lookup = self._lookups[key] = _Lookup(self._pool.submit(lambda: function(_time_left(deadline))))
        lookup.answer.add_done_callback(lambda _: self._forget(key, lookup))
        return lookup

    def _forget(self, key: Hashable, lookup: _Lookup) -> None:
        if self._lookups.get(key) is lookup:
            del self._lookups[key]
        if lookup.answer.done() and not lookup.answer.cancelled():
            lookup.answer.exception()  # nobody may be left to take it, which asyncio would log

    def _deadline(self) -> float:
        """Return when the time of this client is up: one request may need several look-ups."""
        deadline = time.monotonic() + WAIT_TIME
        task = asyncio.current_task()
        return deadline if task is None else self._deadlines.setdefault(task, deadline)


class _Lookup:
    """A call under way or waiting, its answer, and how many clients wait for it."""

    __slots__ = ("answer", "clients", "job")

    def __init__(self, job: Future[Any]) -> None:
        self.job = job
        self.answer = asyncio.wrap_future(job)
        self.clients = 0


def _time_left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise BusyError(f"upstream did not answer within {WAIT_TIME} s")
    return left
