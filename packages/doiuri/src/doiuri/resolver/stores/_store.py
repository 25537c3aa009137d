"""What a store is: the protocols, its entries, and its warning."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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


class NewEntry(Entry):
    """An entry that knows when its answer was received, in Unix time."""

    received: float = 0.0


def new_entry(body: bytes, media_type: str, lifetime: float) -> NewEntry:
    """Return an entry for an answer that was just received.

    :param lifetime: seconds for which it is fresh.
    """
    now = time.time()
    entry = NewEntry(body, media_type, now + lifetime)
    entry.received = now
    return entry


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


def warn(message: str) -> None:
    """Warn the user about a store."""
    warnings.warn(message, StoreWarning, stacklevel=3)
