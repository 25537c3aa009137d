"""What all Resolvers of a process share: a limiter and connections per server, and the stores.

A forked child starts afresh: locks, threads and sockets do not survive a fork.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING

from doiuri._settings import MEMORY
from doiuri._urls import origin
from doiuri.resolver.http._connection import new_session
from doiuri.resolver.http._limiter import REST, REST_AT_HOME, Limiter
from doiuri.resolver.http._transport import is_loopback
from doiuri.resolver.stores._open import open_store

if TYPE_CHECKING:
    from collections.abc import Generator

    from doiuri.resolver._outcome import Outcome
    from doiuri.resolver.stores._lock_file import LockFile
    from doiuri.resolver.stores._memory import MemoryStore
    from doiuri.resolver.stores._redis import RedisStore
    from doiuri.resolver.stores._sqlite import SQLiteStore


class Server:
    """What there is once per process for a server: who paces the requests, and our own connections."""

    def __init__(self, host: str) -> None:
        self.limiter = Limiter(rest=REST_AT_HOME if is_loopback(host) else REST)
        self.session = new_session()


class SharedStore:
    """A store, and how many use it."""

    def __init__(self, store: MemoryStore | SQLiteStore | LockFile | RedisStore) -> None:
        self.store = store
        self.users = 0

    def borrow(self) -> SharedStore:
        """Say that it is needed."""
        with _lock:
            self.users += 1
        return self

    def give_back(self) -> None:
        """Say that it is not needed any more: the last one closes it; what is in memory stays."""
        with _lock:
            self.users -= 1
            unused = not self.users
        if unused:
            self.store.close()


_lock = threading.RLock()  # the garbage collector may give a store back at any moment
_servers: dict[tuple[str, str | None, int | None], Server] = {}
_stores: dict[str, SharedStore] = {}

batches: weakref.WeakSet[Generator[Outcome]] = weakref.WeakSet()
"""The iterations under way, for what came to be stored while the interpreter still can."""


@atexit.register
def _leave() -> None:
    with suppress(ValueError, RuntimeError):  # another thread is in one, or makes one
        for batch in tuple(batches):
            batch.close()


def server(base: str) -> Server:
    """The server at ``base``, the same for all of this process."""
    place = origin(base)
    with _lock:
        if place not in _servers:
            _servers[place] = Server(place[1] or "")
        return _servers[place]


def borrow_store(where: str | None) -> SharedStore:
    """The store at an address (see ``open_store``), the same for all of this process."""
    with _lock:
        name = _store_name(where)
        if name not in _stores:
            _stores[name] = SharedStore(open_store(where))
        return _stores[name].borrow()


def _store_name(where: str | None) -> str:
    if where is None:
        return ""
    return where if where == MEMORY or "://" in where else os.path.abspath(where)  # noqa: PTH100


def _after_fork() -> None:
    global _lock  # noqa: PLW0603
    _lock = threading.RLock()
    _servers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
