"""For plugins that send requests with urllib3 or requests: connections that check their peers."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from urllib3.connection import HTTPConnection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from urllib3 import PoolManager
    from urllib3.connectionpool import HTTPConnectionPool

    from doiuri.plugins.clients import TargetCheck

__all__ = ["checking"]

_current = threading.local()  # .url and .check of this thread's request, inside checking()


@contextmanager
def checking(manager: PoolManager, url: str, check: TargetCheck | None) -> Iterator[None]:
    """Check the peer of each connection that this thread opens in the block, except a proxy's.

    :param manager: opens the connections; it makes checked ones from now on.
    :param url: the URL of the request that is sent.
    :param check: the check; None: any peer is allowed.
    :raises TargetError: in the block, if a peer must not be connected to.
    """
    classes: Mapping[str, type[HTTPConnectionPool]] = manager.pool_classes_by_scheme
    if not all(issubclass(kind.ConnectionCls, _Checked) for kind in classes.values()):
        manager.pool_classes_by_scheme = {
            scheme: _checked_pool(kind)  # type: ignore[arg-type]  # a class is hashable
            for scheme, kind in classes.items()
        }
        manager.clear()  # its pools make connections that do not check
    _current.url, _current.check = url, check
    try:
        yield
    finally:
        _current.check = None


class _Checked(HTTPConnection):
    """A connection that checks its peer before it sends a request."""

    def connect(self) -> None:
        super().connect()
        check: TargetCheck | None = getattr(_current, "check", None)
        if check is not None and self.proxy is None and self.sock is not None:
            try:
                check.check_peer(_current.url, str(self.sock.getpeername()[0]))
            except BaseException:
                self.close()
                raise


@cache
def _checked_pool(kind: type[HTTPConnectionPool]) -> type[HTTPConnectionPool]:
    own = kind.ConnectionCls
    connection = type(own.__name__, (_Checked, own), {})
    return type(kind.__name__, (kind,), {"ConnectionCls": connection})
