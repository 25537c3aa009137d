"""What a store is: the protocols, its entries, and its warning."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Self


class StoreWarning(UserWarning):
    """A store cannot be read or written. Answers are requested again; nothing else is lost."""


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


class Usage(NamedTuple):
    """How much a store holds."""

    entries: int
    """The number of entries."""

    octets: int
    """Their size in bytes, or that of the file."""


class NewEntry(Entry):
    """An entry that knows when its answer was received, in Unix time."""

    received: float = 0.0

    def _replace(self, **changes: Any) -> Self:
        entry = super()._replace(**changes)
        entry.received = self.received
        return entry


def new_entry(body: bytes, media_type: str, lifetime: float) -> NewEntry:
    """Return an entry for an answer that was just received.

    :param lifetime: seconds for which it is fresh.
    """
    now = time.time()
    entry = NewEntry(body, media_type, now + lifetime)
    entry.received = now
    return entry


def dated(entry: Entry) -> NewEntry:
    """Return the entry as one that knows when its answer was received: now, if it does not know."""
    if isinstance(entry, NewEntry):
        return entry
    new = NewEntry(*entry)
    new.received = time.time()
    return new


class ReadStore(Protocol):
    """A store to read from."""

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the entries that exist for these keys, stale ones included."""


class WriteStore(Protocol):
    """A store to write to."""

    def put_many(self, entries: Mapping[str, Entry]) -> None:
        """Store the entries. Once this returns, this process and later ones can read them."""


class Store(ReadStore, WriteStore, Protocol):
    """A store to read from and write to.

    It is safe to use from several threads and after a fork. If the medium fails, it warns with StoreWarning
    and does not raise.
    """


class StoreSnapshot(Protocol):
    """The entries of a store, in the order of their keys.

    In an SQLite file they are those of one moment, whatever is written meanwhile; a Redis server is read as
    it goes, and the keys are held in memory. If the store cannot be read, methods raise OSError.
    """

    def keys(self, prefix: str) -> Iterator[str]:
        """Yield the keys that begin with ``prefix``."""

    def count(self, prefix: str) -> int:
        """Return how many keys begin with ``prefix``."""

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the entries that exist for these keys, stale ones included."""


def warn(message: str) -> None:
    """Warn the user about a store."""
    warnings.warn(message, StoreWarning, stacklevel=3)
