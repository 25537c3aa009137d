"""What the Resolvers of a process share: a limiter and connections per server, and the stores.

The child of a fork starts with new ones: locks, threads and sockets do not survive a fork.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri._options import MEMORY, store_kind
from doiuri._urls import origin
from doiuri.resolver._lock_file import LockFile
from doiuri.resolver.http._client import Client, Limiter
from doiuri.resolver.stores._redis import RedisStore
from doiuri.resolver.stores._sqlite import SQLiteStore
from doiuri.resolver.stores._store import MemoryStore, warn

if TYPE_CHECKING:
    import requests

    from doiuri._urls import Origin
    from doiuri.resolver._settings import Settings
    from doiuri.resolver.http import OnReply, Transport

    AnyStore = MemoryStore | SQLiteStore | LockFile | RedisStore


class Server:
    """One server: the limiter of the requests to it, and our own connections."""

    def __init__(self) -> None:
        self.limiter = Limiter()
        self._session: requests.Session | None = None

    @property
    def session(self) -> requests.Session:
        """Our own connections."""
        from doiuri.resolver.http._transport import new_session  # imports requests

        with _mutex:
            if self._session is None:
                self._session = new_session()
            return self._session


_mutex = threading.RLock()
_servers: dict[Origin, Server] = {}
_stores: dict[str, AnyStore] = {}


def server(base: str) -> Server:
    """Return the server at a base URL, one per process."""
    address = origin(base)
    with _mutex:
        if address not in _servers:
            _servers[address] = Server()
        return _servers[address]


def new_client(
    settings: Settings,
    session: requests.Session | None,
    transport: Transport | None,
    on_reply: OnReply | None,
) -> Client:
    """Return a client for the server of a Resolver.

    Limiter and transport are looked up for each request: the child of a fork has its own. All clients of a server
    share its limiter, but with a transport of the user's a client has a limiter of its own.
    """
    limiters: dict[int, Limiter] = {}  # by process: the child of a fork has no requests in flight
    made_in = os.getpid()

    def limiter() -> Limiter:
        """Return the limiter of the server, or of the user's transport in this process."""
        if transport is None:
            return server(settings.base).limiter
        return limiters.setdefault(os.getpid(), Limiter())  # threads may come at the same time

    @cache
    def loaded_transport() -> Transport:
        """Return the user's transport, or else one for HTTP, which is made when the first request is due."""
        if transport is not None:
            return transport
        # imports requests, which takes long
        from doiuri.resolver.http._transport import HTTPTransport

        return HTTPTransport(
            lambda: server(settings.base).session,
            session,
            settings.user_agent,
            private=settings.private,
        )

    def usable_transport() -> Transport:
        """Return the transport; raise RuntimeError if it has a session that belongs to another process."""
        if session is not None and os.getpid() != made_in:
            # its connections belong to both processes, and each would read the other's answers
            raise RuntimeError(
                "the session of this Resolver belongs to the parent process;"
                " make the session and the Resolver after the fork"
            )
        return loaded_transport()

    return Client(settings, usable_transport, limiter, on_reply)


def shared_store(where: str | os.PathLike[str] | None) -> AnyStore:
    """Return the store at an address (see ``open_store``), one per process."""
    name = "" if where is None else os.fspath(where)
    if name and name != MEMORY and "://" not in name:
        name = os.path.abspath(name)  # noqa: PTH100
    with _mutex:
        if name not in _stores:
            _stores[name] = open_store(where)
        return _stores[name]


def open_store(where: str | os.PathLike[str] | None = None) -> AnyStore:
    """Open the store at an address.

    :param where: an address as in ``DOIURI_CACHE``: ``:memory:``, a ``redis://`` or ``rediss://`` URL, or a
        path. A path that ends in ``.json`` or ``.lock`` is a lock file; a folder gets an SQLite file; any
        other path is an SQLite file. None is the SQLite file in the user's cache folder or, for a user
        without a home folder, a store in memory.
    :raises ValueError: for any other address, or if redis-py is needed and not installed.

    >>> from doiuri.resolver import open_store
    >>> type(open_store(":memory:")).__name__
    'MemoryStore'
    """
    if where is None:
        return _default_store()
    kind, text = store_kind(os.fspath(where))
    if kind == "memory":
        return MemoryStore()
    if kind == "redis":
        return RedisStore(text)
    path = Path(text).expanduser()
    if kind == "lock":
        return LockFile(path)
    # not Path.is_dir, which raises if a parent folder may not be read
    if os.path.isdir(path) or text.endswith(("/", os.sep)):  # noqa: PTH112
        path = path / "doiuri.sqlite3"
    return SQLiteStore(path)


def _default_store() -> SQLiteStore | MemoryStore:
    """Return the store in the user's cache folder; one in memory, with a StoreWarning, if there is none."""
    try:
        return SQLiteStore()
    except RuntimeError:  # as in a container whose user has no entry in /etc/passwd
        warn(
            "no home folder, so answers are only kept in memory; set DOIURI_CACHE to the path of a cache"
        )
        return MemoryStore()


def _after_fork() -> None:
    global _mutex  # noqa: PLW0603
    _mutex = threading.RLock()
    _servers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
