"""The connections of our own sessions: a request on them can be broken off from another thread."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 86_400.0
"""Seconds that a request may take at most: sockets refuse timeouts of any length."""

_here = threading.local()


class Flight:
    """A request on its way: when it is overdue (monotonic seconds), and how to break it off.

    ``reused`` tells whether it went over a connection that was there before.
    """

    def __init__(self, timeout: float) -> None:
        self.overdue = time.monotonic() + min(timeout, LONGEST)
        self.abandoned = False
        self.reused = False
        self._connection: HTTPConnection | None = None

    def left(self) -> float:
        """Seconds that the request may still take; raises TimeoutError when there are none."""
        left = self.overdue - time.monotonic()
        if left <= 0 or self.abandoned:
            raise TimeoutError
        return left

    @contextmanager
    def boarding(self) -> Iterator[None]:
        """Within, the connections that this thread uses carry this flight."""
        _here.flight = self
        try:
            yield
        finally:
            _here.flight = None

    def board(self, connection: HTTPConnection | None) -> None:
        """Note the connection that carries the flight."""
        self._connection = connection or self._connection

    def abandon(self) -> None:
        """Break it off from another thread: a blocked read ends at once."""
        self.abandoned = True
        sock = getattr(self._connection, "sock", None)
        if isinstance(sock, socket.socket):
            with suppress(OSError):
                # not SSLSocket.shutdown: that would free the TLS state under the reader's feet
                socket.socket.shutdown(sock, socket.SHUT_RDWR)


class _Connection(HTTPConnection):
    _used = False

    def connect(self) -> None:
        self._used = False
        self._board()
        super().connect()

    def request(self, *args: Any, **kwargs: Any) -> None:
        self._board()
        super().request(*args, **kwargs)  # which may connect first
        self._used = True

    def _board(self) -> None:
        flight: Flight | None = getattr(_here, "flight", None)
        if flight is not None:
            flight.reused = self._used
            flight.board(self)


class _TLSConnection(_Connection, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = _TLSConnection


_POOLS = {"http": _Pool, "https": _TLSPool}


class _Adapter(HTTPAdapter):
    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = _POOLS
        return manager


def new_session() -> requests.Session:
    """Make a session that reads no netrc, whose requests can be broken off."""
    session = requests.Session()
    session.trust_env = False  # the transport itself reads proxies and CA bundles from the environment
    adapter = _Adapter(pool_connections=4, pool_maxsize=32)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session
