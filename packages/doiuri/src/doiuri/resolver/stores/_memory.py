"""The stores in memory: one that keeps entries, one that records those of another store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri.resolver.stores._store import ForkSafe, Usage, read, write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from doiuri.resolver.stores._store import Entry, Key, ReadStore, Store

_OVERHEAD = 500  # approximate bytes that an entry takes besides its DOI and body


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
        with self._lock:
            return {key: self._entries[key] for key in keys if key in self._entries}

    def put_many(self, entries: Mapping[Key, Entry]) -> None:
        """Store the entries; the oldest ones are dropped if there is no room."""
        with self._lock:
            for key, entry in entries.items():
                self._drop(key)
                self._entries[key] = entry
                self._size += _size(key, entry)
            while self._size > self._limit:
                self._drop(next(iter(self._entries)))

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
        found = read(self._store, keys)
        self.entries.update(found)
        return found

    def put_many(self, entries: Mapping[Key, Entry]) -> None:
        """Add entries to the other store."""
        self.entries.update(entries)
        write(self._store, entries)


def _size(key: Key, entry: Entry) -> int:
    return _OVERHEAD + len(key.doi) + len(entry.body)
