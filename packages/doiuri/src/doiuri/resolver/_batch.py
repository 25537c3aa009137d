"""Many DOIs: answered in the order of the question, asked a bounded number ahead."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from doiuri.resolver._outcome import Outcome, Question
from doiuri.resolver._workers import LATE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from doiuri._doi import Handle
    from doiuri.resolver._workers import Crew
    from doiuri.resolver.stores._store import Entry

AHEAD = 256
"""How many names are read, and asked for, ahead of the one that is answered next."""

FLUSH = 0.5
"""Seconds after which what came is stored."""


class Lookup(Protocol):
    """Finds out about names."""

    first: int  # how many names it gets at the beginning; then it gets more and more

    def prepare(self, dois: list[Handle]) -> list[Outcome | Question]:
        """For each name an outcome, or a question whose job the crew has."""


class Batch:
    """One call's way through a stream of names.

    ``put`` stores what is new.
    """

    def __init__(self, crew: Crew, put: Callable[[dict[str, Entry]], None]) -> None:
        self.crew = crew
        self._put = put
        self._source: Iterator[Handle] = iter(())
        self._error: Exception | None = None
        self._fresh: dict[str, Entry] = {}
        self._flushed = time.monotonic()

    def run(
        self, dois: Iterable[Handle], lookup: Lookup, progress: Callable[[int], None] | None
    ) -> Iterator[Outcome]:
        """Answer all, in their order."""
        self._source = iter(dois)
        waiting: deque[tuple[Handle, Outcome | Question]] = deque()
        done, size = 0, lookup.first
        try:
            while True:
                if len(waiting) <= size // 2 and (some := self._read(size)):
                    self._flush()
                    waiting.extend(zip(some, lookup.prepare(some), strict=True))
                    size = min(2 * size, AHEAD)
                if not waiting:
                    if self._error is not None:
                        raise self._error
                    return
                doi, item = waiting.popleft()
                outcome = item if isinstance(item, Outcome) else self._settle(item)
                done += 1
                if progress is not None:
                    progress(done)
                yield outcome if outcome.doi.name == doi.name else replace(outcome, doi=doi)
        finally:
            self.crew.close()
            for _, item in waiting:  # what came for names that nobody waits for any more
                if isinstance(item, Question):
                    self._fresh |= item.fresh
            self._flush()

    def _read(self, size: int) -> list[Handle]:
        """The next names; what the caller's iterable raises is kept until those before it are answered."""
        some: list[Handle] = []
        try:
            some.extend(islice(self._source, size))
        except Exception as error:  # noqa: BLE001 (raised in its turn)
            self._error = error
            self._source = iter(())
        return some

    def _settle(self, question: Question) -> Outcome:
        """Wait for a question's outcome, but not beyond the deadline."""
        self.crew.wait(question.settled)
        if question.outcome is None:
            error = question.job.error if question.job is not None else None
            if error is not None and not isinstance(error, TimeoutError):
                raise error
            reason = str(error or LATE)
            question.outcome = question.spare or Outcome(question.doi, "unknown", reason=reason)
        self._fresh |= question.fresh
        question.fresh = {}
        if time.monotonic() - self._flushed > FLUSH:
            self._flush()
        return question.outcome

    def _flush(self) -> None:
        if self._fresh:
            self._put(self._fresh)
            self._fresh = {}
        self._flushed = time.monotonic()
