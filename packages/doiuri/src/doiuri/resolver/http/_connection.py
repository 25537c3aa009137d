"""Connections whose requests can be abandoned from another thread."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from doiuri._hosts import is_private
from doiuri.resolver.http._redirects import private_network

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from doiuri.resolver.http._request import Request

_current = threading.local()  # .request: the request that this thread sends


@contextmanager
def sending(request: Request) -> Iterator[None]:
    """Attach the connections that this thread uses to a request, so that it can be abandoned."""
    _current.request = request
    try:
        yield
    finally:
        _current.request = None


class _Connection(HTTPConnection):
    _used = False

    def connect(self) -> None:
        self._used = False
        self._attach()
        super().connect()

    def _new_conn(self) -> socket.socket:
        sock = super()._new_conn()
        try:
            self._check_peer(sock)  # before TLS: nothing is sent to a private network
        except BaseException:
            sock.close()
            raise
        return sock

    def request(self, *args: Any, **kwargs: Any) -> None:
        self._attach()
        if self.sock is not None:
            self._check_peer(self.sock)
        super().request(*args, **kwargs)  # which may connect first
        self._used = True

    def _attach(self) -> None:
        request: Request | None = getattr(_current, "request", None)
        if request is not None:
            request._reused = self._used
            request._attach(self)

    def _check_peer(self, sock: socket.socket) -> None:
        """Refuse a private network that a redirect from a public server leads to; names may resolve to one.

        Through a proxy the peer is the proxy, so only the names are checked.
        """
        request: Request | None = getattr(_current, "request", None)
        if request is None or self.proxy is not None:
            return
        if request._hop == request.url:
            request._private = is_private(_address(sock))
        elif not request._private and not request._same_host and is_private(_address(sock)):
            raise private_network(request)


def _address(sock: socket.socket) -> str:
    return str(sock.getpeername()[0])


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
    """Return a session that does not read netrc and whose requests can be abandoned."""
    session = requests.Session()
    session.trust_env = False  # the transport reads proxies and CA bundles from the environment
    adapter = _Adapter(pool_connections=4, pool_maxsize=32)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session
