"""Where answers are kept: what a store is, and the one in memory."""

from __future__ import annotations

import os
import time
import warnings
from collections import OrderedDict
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from doiuri.resolver._fork import ForkSafe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

_OVERHEAD = 300  # octets that an entry takes besides its key and body, roughly


class StoreWarning(UserWarning):
    """A store that cannot do its work: answers are asked again, nothing else is lost."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored answer. ``expires`` is in Unix seconds: later the entry is stale, not gone."""

    body: bytes
    media_type: str
    expires: float


class ReadStore(Protocol):
    """Where stored answers come from."""

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        """The entries of those of the keys that are stored, stale ones too."""


class WriteStore(Protocol):
    """Where answers go."""

    def put_many(self, entries: Mapping[str, Entry]) -> None:
        """Store the entries; whoever gets an answer to that finds them again, in this process or the next."""


class Store(ReadStore, WriteStore, Protocol):
    """Both: safe for threads and forks, and a medium in trouble makes them warn, not raise."""


class MemoryStore(ForkSafe):
    """A store for this process alone; beyond ``limit`` octets it forgets what was not used for longest."""

    def __init__(self, limit: int = 64_000_000) -> None:
        super().__init__()
        self._limit = limit
        self._size = 0
        self._entries: OrderedDict[str, Entry] = OrderedDict()

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        """The entries of those of the keys that are stored, stale ones too."""
        found = {}
        with self._lock:
            for key in keys:
                if key in self._entries:
                    self._entries.move_to_end(key)
                    found[key] = self._entries[key]
        return found

    def put_many(self, entries: Mapping[str, Entry]) -> None:
        """Store the entries, as many as there is room for."""
        with self._lock:
            for key, entry in entries.items():
                self._forget(key)
                self._entries[key] = entry
                self._size += _size(key, entry)
            while self._size > self._limit:
                self._forget(next(iter(self._entries)))

    def discard(self, keys: Iterable[str]) -> None:
        """Forget the entries of these keys."""
        with self._lock:
            for key in keys:
                self._forget(key)

    def close(self) -> None:
        """Nothing to close: as the other stores have it."""

    def _forget(self, key: str) -> None:
        old = self._entries.pop(key, None)
        if old is not None:
            self._size -= _size(key, old)


def _size(key: str, entry: Entry) -> int:
    return _OVERHEAD + len(key) + len(entry.body)


def warn(message: str) -> None:
    """Tell the user what is wrong with a store."""
    warnings.warn(message, StoreWarning, stacklevel=3)


@contextmanager
def alone_in(folder: Path, patience: float = 60.0) -> Iterator[None]:
    """Keep other processes from doing the same in a folder; the folder is what is locked: no file is.

    After ``patience`` seconds we go on nevertheless: a process that has the lock may be stopped. They are
    many, for who goes on without it may lose answers, and among busy processes it is a matter of luck.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if os.name == "nt":  # the last of two writers wins: a folder cannot be opened there
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # not every network file system has locks
            _lock(handle, patience)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, patience: float) -> None:
    import fcntl

    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return
            time.sleep(0.002)
        else:
            return
