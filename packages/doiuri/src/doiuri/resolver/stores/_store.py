"""What a store is: keys, entries, protocols, a mutex that survives a fork; and the stores in memory."""

from __future__ import annotations

import os
import threading
import time
import warnings
import weakref
from typing import TYPE_CHECKING, NamedTuple, Protocol

from doiuri._json import load, read_object
from doiuri.rest import ResponseCode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class StoreWarning(UserWarning):
    """A store cannot be read or written. Answers are requested again; nothing else is lost."""


class Key(NamedTuple):
    """What an entry of a store is about.

    >>> Key("record", "https://doi.org", "10.1000/182")
    Key(kind='record', base='https://doi.org', doi='10.1000/182', detail='')
    """

    kind: str
    """What the entry holds: ``"record"``, ``"exists"``, ``"work"``, ``"bibtex"``,
    ``"metadata"`` or, in a lock file, ``"files"``, the listing of a data set."""

    base: str
    """The base URL of the server that answered."""

    doi: str
    """The DOI, by its key: ``DOI.key``."""

    detail: str = ""
    """The media type of metadata; "" for other kinds."""


class Entry(NamedTuple):
    """A stored answer.

    >>> Entry(b'{"responseCode":1}', "application/json", 1767225600.0).expires
    1767225600.0
    """

    body: bytes
    """The answer."""

    media_type: str
    """The media type of ``body``."""

    expires: float
    """Unix time in seconds. A later entry is stale; the store may still return it."""

    @property
    def says_none(self) -> bool:
        """Whether the answer is that the agency has no such metadata."""
        return self.body == NOTHING

    @property
    def says_not_found(self) -> bool:
        """Whether the answer is that the DOI does not exist, as the REST API says it in place of a record."""
        if self.body.startswith(SUCCESS):  # without reading the record
            return False
        try:
            answer = read_object(load(self.body))
        except ValueError:
            return False
        return answer.get("responseCode") == ResponseCode.HANDLE_NOT_FOUND


JSON = "application/json"

SUCCESS = b'{"responseCode":1,'
"""How the body of an entry begins if it is a record."""

NOTHING = b"null"
"""The body of an entry which says that the agency has no such metadata."""

_OVERHEAD = 500  # approximate bytes that an entry takes besides its DOI and body

MAX_AGE = 30 * 86400.0
"""Seconds for which an answer is fresh at most; those of a work and of an agency, exactly."""


class Usage(NamedTuple):
    """How much a store holds: the number of entries, and their size in bytes or that of the file."""

    entries: int
    octets: int


def new_entry(body: bytes, media_type: str, lifetime: float) -> Entry:
    """Return an entry for an answer that was just received.

    :param lifetime: seconds for which it is fresh.
    """
    return Entry(body, media_type, time.time() + lifetime)


class ReadStore(Protocol):
    """A store to read from."""

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        """Return the entries that exist for these keys, stale ones included."""


class Store(ReadStore, Protocol):
    """A store to read from and write to.

    It is safe to use from several threads and after a fork. It may forget: if the medium fails, it warns with
    StoreWarning and does not raise.
    """

    def put_many(self, entries: Mapping[Key, Entry]) -> None:
        """Store the entries."""


def read(store: ReadStore | None, keys: Sequence[Key]) -> dict[Key, Entry]:
    """Return the entries that a store has, if there is one; none if it fails, with a StoreWarning."""
    if store is None or not keys:
        return {}
    try:
        return dict(store.get_many(keys))
    except StoreWarning:  # warnings are errors
        raise
    except Exception as error:  # noqa: BLE001 - a store may be anybody's
        _warn_of_failure(store, "read", error)
        return {}


def write(store: Store | ReadStore | None, entries: Mapping[Key, Entry]) -> None:
    """Store entries, if there is a store that can be written to; if it fails, issue a StoreWarning."""
    put_many = getattr(store, "put_many", None)  # a ReadStore has none
    if not entries or put_many is None:
        return
    try:
        put_many(entries)
    except StoreWarning:  # warnings are errors
        raise
    except Exception as error:  # noqa: BLE001 - a store may be anybody's
        _warn_of_failure(store, "written", error)


def _warn_of_failure(store: object, access: str, error: Exception) -> None:
    """Warn that a store cannot be "read" or "written"."""
    cause = f"{type(error).__name__}: {error}".removesuffix(": ")
    warn(f"the store {type(store).__name__} cannot be {access} ({cause:.200})")


def warn(message: str) -> None:
    """Warn the user about a store."""
    warnings.warn(message, StoreWarning, stacklevel=3)


class ForkSafe:
    """Has a mutex that is free in the child of a fork, and a hook for what a child must not inherit.

    Another thread may fork right after ``__init__``: set what the hook needs before calling it.
    """

    def __init__(self) -> None:
        # re-entrant: the garbage collector may close an iteration in the thread that holds it
        self._mutex = threading.RLock()
        with _registration:
            _instances.add(self)

    def _disconnect(self) -> None:
        """Close what a child must not inherit; called before the fork with the mutex held."""


_instances: weakref.WeakSet[ForkSafe] = weakref.WeakSet()
_held: list[ForkSafe] = []  # those whose mutex is held during a fork
_registration = threading.RLock()  # held during a fork, too


def _before_fork() -> None:
    """Wait for the threads that use a store, so that no store is half changed in the child, and disconnect all."""
    _registration.acquire()
    for instance in tuple(_instances):
        instance._mutex.acquire()
        _held.append(instance)
        instance._disconnect()


def _after_fork() -> None:
    """Release, in the parent and in the child, what ``_before_fork`` holds."""
    while _held:
        _held.pop()._mutex.release()
    _registration.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


class MemoryStore(ForkSafe):
    """A store in the memory of this process. Beyond its limit it drops the oldest entries.

    :param limit: size of all entries, in bytes.

    >>> from doiuri.resolver import Entry, Key, MemoryStore
    >>> store, key = MemoryStore(), Key("record", "https://doi.org", "10.1000/182")
    >>> store.put_many({key: Entry(b"body", "text/plain", 0.0)})
    >>> store.get_many([key])[key]
    Entry(body=b'body', media_type='text/plain', expires=0.0)
    """

    def __init__(self, limit: int = 64_000_000) -> None:
        super().__init__()
        self._limit = limit
        self._size = 0
        self._entries: dict[Key, Entry] = {}

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        """Return the entries that exist for these keys, stale ones included."""
        with self._mutex:
            return {key: self._entries[key] for key in keys if key in self._entries}

    def put_many(self, entries: Mapping[Key, Entry]) -> None:
        """Store the entries; the oldest ones are dropped if there is no room."""
        with self._mutex:
            for key, entry in entries.items():
                self._drop(key)
                self._entries[key] = entry
                self._size += _size(key, entry)
            while self._size > self._limit:
                self._drop(next(iter(self._entries)))

    def usage(self) -> Usage:
        """Return how much the store holds."""
        with self._mutex:
            return Usage(len(self._entries), self._size)

    def clear(self) -> Usage:
        """Drop all entries; return how much that was."""
        with self._mutex:
            removed = self.usage()
            self._entries.clear()
            self._size = 0
            return removed

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _drop(self, key: Key) -> None:
        old = self._entries.pop(key, None)
        if old is not None:
            self._size -= _size(key, old)


class RecordingStore:
    """A store in front of another one, which records the entries that are read and written.

    :param store: the other store, if any.
    """

    entries: dict[Key, Entry]
    """The entries that were read and written so far."""

    def __init__(self, store: Store | ReadStore | None) -> None:
        self._store = store
        self.entries = {}

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        """Return the entries that the other store has."""
        entries = read(self._store, keys)
        self.entries.update(entries)
        return entries

    def put_many(self, entries: Mapping[Key, Entry]) -> None:
        """Add entries to the other store."""
        self.entries.update(entries)
        write(self._store, entries)


def _size(key: Key, entry: Entry) -> int:
    return _OVERHEAD + len(key.doi) + len(entry.body)


for _public in (Entry, Key, MemoryStore, Store, StoreWarning):
    _public.__module__ = "doiuri.resolver"  # for tracebacks and pickles
