"""Connections whose requests can be abandoned from another thread."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import requests
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.utils import prepend_scheme_if_needed, select_proxy
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool

from doiuri._hosts import addresses_of, is_private
from doiuri.resolver.http._redirects import private_network
from doiuri.resolver.http._request import TransportError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

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


class _Watched(HTTPConnection):
    """A connection that the request it carries can abandon."""

    _used = False

    def connect(self) -> None:
        self._used = False
        self._attach()
        self._check(lambda: addresses_of(self.host, self.port))  # before any TLS handshake
        super().connect()
        self._check_peer()

    def request(self, *args: Any, **kwargs: Any) -> None:
        self._attach()
        self._check_peer()
        super().request(*args, **kwargs)  # which may connect first
        self._used = True

    def _attach(self) -> None:
        request: Request | None = getattr(_current, "request", None)
        if request is not None:
            request._reused = self._used
            request._attach(self)

    def _check_peer(self) -> None:
        try:
            self._check(lambda: [] if self.sock is None else [_address(self.sock)])
        except TransportError:
            self.close()
            raise

    def _check(self, addresses: Callable[[], list[str]]) -> None:
        """Refuse a private network that a redirect leads to; names may resolve to one.

        Through a proxy the peer is the proxy, so only the names are checked.
        """
        request: Request | None = getattr(_current, "request", None)
        if request is None or self.proxy is not None or request._private or request._is_at_resolver:
            return
        if any(map(is_private, addresses())):
            raise private_network(request)


def _address(sock: socket.socket) -> str:
    return str(sock.getpeername()[0])


@cache
def _watched(kind: type[HTTPConnection]) -> type[HTTPConnection]:
    return kind if issubclass(kind, _Watched) else type(kind.__name__, (_Watched, kind), {})


def watch(adapter: BaseAdapter, url: str, proxies: Mapping[str, str]) -> None:
    """Have the connections that an adapter opens for a URL watched: a session's own, or one with a proxy.

    An adapter of another kind than ``HTTPAdapter`` has to keep to the timeout itself.
    """
    if not isinstance(adapter, HTTPAdapter):
        return
    proxy = select_proxy(url, proxies)
    manager = adapter.poolmanager
    if proxy:
        key: str = prepend_scheme_if_needed(proxy, "http")  # type: ignore[no-untyped-call]
        manager = adapter.proxy_manager_for(key)
    if not isinstance(manager.pool_classes_by_scheme, _Pools):
        manager.pool_classes_by_scheme = _Pools(manager.pool_classes_by_scheme)
        manager.clear()  # its idle connections are not watched


class _Pools(dict[str, type[HTTPConnectionPool]]):
    """The classes of pools by scheme, whose connections are watched."""

    def __init__(self, classes: Mapping[str, type[HTTPConnectionPool]]) -> None:
        for scheme, kind in classes.items():
            self[scheme] = type(kind.__name__, (kind,), {"ConnectionCls": _watched(kind.ConnectionCls)})


def new_session() -> requests.Session:
    """Return a session that does not read netrc."""
    session = requests.Session()
    session.trust_env = False  # the transport reads proxies and CA bundles from the environment
    adapter = HTTPAdapter(pool_connections=4, pool_maxsize=32)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session
