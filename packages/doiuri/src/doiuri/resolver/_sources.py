"""Where the answers about some names come from, and where new ones go."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from doiuri.resolver.stores._store import read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from doiuri._doi import Handle
    from doiuri.resolver.http import Reply, Request
    from doiuri.resolver.http._client import Budget, Client
    from doiuri.resolver.stores._store import Entry, Key, ReadStore, Store

T = TypeVar("T")


class Sources:
    """The server, and the store: what it had about some names before, and what is new.

    :param known: the entries that were read from the store already, None for those that it does not have.
    :param new_entries: the entries that the caller's thread will store; ``keep`` adds to them.
    """

    def __init__(
        self,
        client: Client,
        budget: Budget,
        store: Store | ReadStore | None,
        known: Mapping[Key, Entry | None],
        new_entries: dict[Key, Entry],
    ) -> None:
        self._client = client
        self._budget = budget
        self._store = store
        self._known = known
        self._new_entries = new_entries

    def get(self, doi: Handle, request: Request, read_reply: Callable[[Reply], T]) -> T:
        """Send a request, and return what ``read_reply`` makes of the reply; see ``Client.get``."""
        return self._client.get(self._budget, doi, request, read_reply)

    def stored(self, key: Key) -> Entry | None:
        """Return an entry of the store, which may be stale; None if there is none."""
        if key in self._known:
            return self._known[key]
        return read(self._store, [key]).get(key)

    def keep(self, key: Key, entry: Entry) -> None:
        """Have a new entry stored; ``stored`` does not see it."""
        self._new_entries[key] = entry
