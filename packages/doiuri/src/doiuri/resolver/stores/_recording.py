"""The store that records what a look-up uses, for the lock file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from doiuri.resolver.stores._store import Entry, Key, ReadStore, Store


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
        found = {} if self._store is None else self._store.get_many(keys)
        self.entries.update(found)
        return found

    def put_many(self, entries: Mapping[Key, Entry]) -> None:
        """Add entries to the other store."""
        self.entries.update(entries)
        put_many = getattr(self._store, "put_many", None)
        if put_many is not None:
            put_many(entries)
