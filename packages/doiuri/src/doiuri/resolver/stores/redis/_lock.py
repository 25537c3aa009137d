"""A lock on a Redis or Valkey server."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doiuri.resolver.stores.redis._connection import RedisConnection

RETRY = 0.2  # seconds between two attempts to get a lock


class RedisLock:
    """A lock that the processes of all machines respect. If its process dies, it is soon free again.

    :param server: where the lock is.
    :param key: the key that stands for it.
    :param seconds: time after which it is free, unless ``extend`` is called before.
    :raises OSError: if the server fails.
    """

    def __init__(self, server: RedisConnection, key: str, seconds: float) -> None:
        self._server = server

        with server.errors("lock"):
            self._lock = server.client().lock(key, timeout=seconds, sleep=RETRY, thread_local=False)
            self._lock.acquire()

    def extend(self) -> None:
        """Keep the lock for as many seconds again.

        :raises OSError: if it was not extended in time, or the server fails.
        """
        with self._server.errors("lock"):
            self._lock.reacquire()

    def close(self) -> None:
        """Free the lock."""
        with suppress(*self._server.failures):  # it is lost, or will be free after its time
            self._lock.release()
