"""A store for one call, which must not use up its budget."""

from __future__ import annotations

import sys
import time
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from doiuri.resolver._workers import run_until

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeVar

    from doiuri.resolver.stores._store import Entry, ReadStore, Store

    T = TypeVar("T")

MIN_TIMEOUT = 0.2
"""Seconds that the store gets even after the deadline, so that new answers can be stored."""


class BoundedStore:
    """A store that may use half of the remaining time; if it takes longer, it is not used again.

    :param store: the store, if any; entries are only written to a Store.
    :param deadline: when the call ends, on the clock of ``time.monotonic``.
    """

    def __init__(self, store: Store | ReadStore | None, deadline: float) -> None:
        self._store = store
        self._deadline = deadline
        self._late = False

    def get(self, key: str) -> Entry | None:
        """Return the entry, even if it is stale."""
        return self.get_many([key]).get(key)

    def get_many(self, keys: Sequence[str]) -> Mapping[str, Entry]:
        """Return the entries that exist for these keys, stale ones included."""
        if self._store is None or self._late:
            return {}
        return self._in_time(partial(self._store.get_many, keys)) or {}

    def put_many(self, entries: Mapping[str, Entry]) -> None:
        """Store entries, if there is a store that can be written to."""
        put_many = getattr(self._store, "put_many", None)
        if put_many is not None and entries:
            self._in_time(partial(put_many, entries))

    def _in_time(self, operation: Callable[[], T]) -> T | None:
        """Run an operation of the store; if it takes too long, it continues in the background."""
        if sys.is_finalizing():  # nothing can be imported or started any more
            return None
        if self._deadline == inf:
            return operation()
        now = time.monotonic()
        share = 0.0 if self._late else (self._deadline - now) / 2
        try:
            return run_until(now + max(share, MIN_TIMEOUT), lambda _task: operation())
        except TimeoutError:
            self._late = True
            return None
        except RuntimeError:  # no thread can be started when the interpreter exits
            return operation()
