"""The store that records what a look-up uses, for the lock file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from doiuri.resolver.stores._store import Entry, Key, Store


class RecordingStore:
    """A store in front of another one, which records the entries that are read and written.

    :param store: the other store.

    >>> from doiuri.resolver import Entry, Key, MemoryStore, RecordingStore
    >>> store = RecordingStore(MemoryStore())
    >>> store.put_many({Key("record", "https://doi.org", "10.1000/182"): Entry(b"body", "text/plain", 0.0)})
    >>> [key.doi for key in store.entries]
    ['10.1000/182']
    """

    entries: dict[Key, Entry]
    """The entries that were read and written so far, by key."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.entries = {}

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        """Return the entries that the other store has."""
        found = self._store.get_many(keys)
        self.entries.update(found)
        return found

    def put_many(self, entries: Mapping[Key, Entry]) -> None:
        """Add entries to the other store."""
        self.entries.update(entries)
        self._store.put_many(entries)
