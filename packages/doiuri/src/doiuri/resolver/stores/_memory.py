"""The store in memory."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from doiuri.resolver._fork import ForkSafe
from doiuri.resolver.stores._store import NewEntry, Usage, dated

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from doiuri.resolver.stores._store import Entry

_OVERHEAD = 300  # approximate bytes that an entry takes besides its key and body


class MemoryStore(ForkSafe):
    """A store in the memory of this process. It drops the least recently used entries beyond its limit.

    :param limit: size of all entries, in bytes.

    >>> from doiuri.resolver import Entry, MemoryStore
    >>> store = MemoryStore()
    >>> store.put_many({"key": Entry(b"body", "text/plain", 0.0)})
    >>> store.get_many(["key", "another"])
    {'key': Entry(body=b'body', media_type='text/plain', expires=0.0)}
    """

    def __init__(self, limit: int = 64_000_000) -> None:
        super().__init__()
        self._limit = limit
        self._size = 0
        self._entries: OrderedDict[str, Entry] = OrderedDict()

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the entries that exist for these keys, stale ones included."""
        found = {}
        with self._lock:
            for key in keys:
                if key in self._entries:
                    self._entries.move_to_end(key)
                    found[key] = self._entries[key]
        return found

    def put_many(self, entries: Mapping[str, Entry]) -> None:
        """Store the entries; the least recently used ones are dropped if there is no room."""
        with self._lock:
            for key, entry in entries.items():
                self._drop(key)
                self._entries[key] = entry
                self._size += _size(key, entry)
            while self._size > self._limit:
                self._drop(next(iter(self._entries)))

    def discard(self, keys: Iterable[str]) -> None:
        """Drop the entries of these keys."""
        with self._lock:
            for key in keys:
                self._drop(key)

    def usage(self) -> Usage:
        """Return how much the store holds."""
        with self._lock:
            return Usage(len(self._entries), self._size)

    def clear(self) -> Usage:
        """Drop all entries; return how much that was."""
        with self._lock:
            removed = self.usage()
            self._entries.clear()
            self._size = 0
            return removed

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _drop(self, key: str) -> None:
        old = self._entries.pop(key, None)
        if old is not None:
            self._size -= _size(key, old)


class UnsavedEntries(MemoryStore):
    """The entries that another store could not write, until it has newer ones."""

    def put_many(self, entries: Mapping[str, Entry]) -> None:
        """Store the entries, each with the time at which its answer was received."""
        super().put_many({key: dated(entry) for key, entry in entries.items()})

    def discard_older(self, dates: Mapping[str, float]) -> None:
        """Drop the entries whose answers were received before these dates, by key, in Unix time."""
        with self._lock:
            for key, date in dates.items():
                entry = self._entries.get(key)
                if isinstance(entry, NewEntry) and entry.received < date:
                    self._drop(key)


def _size(key: str, entry: Entry) -> int:
    return _OVERHEAD + len(key) + len(entry.body)
