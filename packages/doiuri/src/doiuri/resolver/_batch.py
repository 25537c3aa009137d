"""Many DOIs: answered in input order, with a bounded look-ahead."""

from __future__ import annotations

import time
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from doiuri.resolver._outcome import Outcome
from doiuri.resolver._workers import EXHAUSTED, DeadlineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from doiuri._doi import Handle
    from doiuri.resolver._workers import Task, WorkerPool
    from doiuri.resolver.stores._store import Entry, Key

AHEAD = 256
"""Names that are read, and requested, ahead of the next answer."""

FLUSH_INTERVAL = 0.5
"""Seconds after which new answers are stored."""


class Pending:
    """A name of a batch whose outcome is not known yet."""

    __slots__ = ("doi", "fallback", "outcome", "task")

    def __init__(self, doi: Handle) -> None:
        self.doi = doi
        self.outcome: Outcome | None = None
        self.task: Task | None = None  # if it ends without an outcome, there is none
        self.fallback: Outcome | None = None  # a stale one

    def settled(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self.outcome is not None or (self.task is not None and self.task.done)


class Lookup(Protocol):
    """A way to look names up."""

    first: int  # names in the first look-ahead; it doubles from then on
    fresh: dict[Key, Entry]  # entries to store

    def prepare(self, dois: list[Handle]) -> list[Outcome | Pending]:
        """Return the outcome of each name, or what to wait for."""


class Batch:
    """One call's way through a stream of names.

    :param source: DOIs, and outcomes of items that are not DOIs.
    """

    def __init__(
        self,
        source: Iterator[Handle | Outcome],
        lookup: Lookup,
        pool: WorkerPool,
        write: Callable[[Mapping[Key, Entry]], None],
    ) -> None:
        self._source = source
        self._lookup = lookup
        self._pool = pool
        self._write = write
        self._waiting: deque[tuple[Handle | Outcome, Outcome | Pending]] = deque()
        self._size = lookup.first
        self._error: Exception | None = None
        self._flushed = time.monotonic()

    def outcomes(self, progress: Callable[[int], None] | None) -> Iterator[Outcome]:
        """Yield one outcome for each item, in order.

        :param progress: called with the number of items done.
        """
        done = 0
        try:
            while self._fill():
                outcome = self._next()
                done += 1
                if progress is not None:
                    progress(done)
                yield outcome
            if self._error is not None:
                raise self._error
        finally:
            self._pool.close()
            self._flush()

    def _fill(self) -> bool:
        """Read ahead if half of the names are answered; return whether any are waiting."""
        if len(self._waiting) <= self._size // 2 and (items := self._read()):
            self._flush()
            answers = iter(self._lookup.prepare([item for item in items if not isinstance(item, Outcome)]))
            for item in items:
                self._waiting.append((item, item if isinstance(item, Outcome) else next(answers)))
            self._size = min(2 * self._size, AHEAD)
        return bool(self._waiting)

    def _read(self) -> list[Handle | Outcome]:
        """Return the next items. An error of the caller's iterable is raised after those before it."""
        items: list[Handle | Outcome] = []
        try:
            items.extend(islice(self._source, self._size))
        except Exception as error:  # noqa: BLE001 - raised later
            self._error = error
            self._source = iter(())
        return items

    def _next(self) -> Outcome:
        item, answer = self._waiting.popleft()
        outcome = answer if isinstance(answer, Outcome) else self._settle(answer)
        if isinstance(item, Outcome) or outcome.doi is None or outcome.doi.name == item.name:
            return outcome
        return outcome._replace(doi=item)  # another spelling of a name that was asked before

    def _settle(self, pending: Pending) -> Outcome:
        """Wait for an outcome, but not past the deadline."""
        if pending.outcome is None:
            self._pool.wait(pending.settled)
        if pending.outcome is None:
            error = pending.task.error if pending.task is not None else None
            if error is not None and not isinstance(error, DeadlineError):
                raise error
            unknown = Outcome(pending.doi, "unknown", reason=str(error or EXHAUSTED))
            pending.outcome = pending.fallback or unknown
        if time.monotonic() - self._flushed > FLUSH_INTERVAL:
            self._flush()
        return pending.outcome

    def _flush(self) -> None:
        """Store new answers; workers may add more meanwhile."""
        fresh, entries = self._lookup.fresh, {}
        while fresh:
            key, entry = fresh.popitem()
            entries[key] = entry
        self._write(entries)
        self._flushed = time.monotonic()
