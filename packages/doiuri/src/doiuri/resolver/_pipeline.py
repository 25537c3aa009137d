"""The way of DOIs to their outcomes: the store, the server, the store again; in order, with a look-ahead."""

from __future__ import annotations

import sys
import time
from collections import deque
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from doiuri.resolver._outcome import Outcome
from doiuri.resolver._questions import AHEAD, Call
from doiuri.resolver._workers import BUDGET, Workers
from doiuri.resolver.stores._store import read, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from doiuri._doi import Handle
    from doiuri.resolver._questions import Ask, Question
    from doiuri.resolver._workers import Task
    from doiuri.resolver.http._client import Client
    from doiuri.resolver.stores._store import Entry, Key, ReadStore, Store

REMEMBERED = 1024
"""Names that are remembered while a call runs, and items that are read ahead at most to count new names."""

FLUSH_INTERVAL = 0.5
"""Seconds after which new answers are stored."""


class _Pending:
    """A name whose outcome is not known yet."""

    __slots__ = ("doi", "entries", "fallback", "outcome", "task")

    def __init__(self, doi: Handle, entries: dict[Key, Entry | None], fallback: Outcome | None) -> None:
        self.doi = doi
        self.entries = entries  # what the store has, even if it is stale
        self.fallback = fallback  # a stale outcome
        self.outcome: Outcome | None = None
        self.task: Task | None = None  # if it ends without an outcome, there is none

    def is_settled(self) -> bool:
        """Return whether there is nothing more to wait for."""
        return self.outcome is not None or (self.task is not None and self.task.done)


class Pipeline:
    """One call's way through a stream of names.

    :param question: what is asked.
    :param client: the client of the server.
    :param store: where answers are kept, if anywhere; a ReadStore is only read.
    :param deadline: when the call ends, on the clock of ``time.monotonic``.
    """

    def __init__(
        self, question: Question, client: Client, store: Store | ReadStore | None, deadline: float
    ) -> None:
        self._question = question
        self._client = client
        self._store = store
        self._workers = Workers(client.concurrency, deadline)
        self._waiting: deque[tuple[Handle | Outcome, Outcome | _Pending]] = deque()
        self._recent: dict[str, _Pending] = {}  # by key
        self._held: dict[Handle, _Pending] = {}  # to ask about when it is known how many there are
        self._fresh: dict[Key, Entry] = {}  # entries to store
        self._flushed = time.monotonic()
        self._size = question.first
        self._failure: Exception | None = None  # of the iterable of names

    def outcomes(
        self, items: Iterable[Handle | Outcome], progress: Callable[[int], None] | None = None
    ) -> Iterator[Outcome]:
        """Yield one outcome for each item, in order.

        :param items: DOIs, and outcomes of items that are not DOIs. Its error is raised after the outcomes of
            the items before it.
        :param progress: called with the number of items done.
        """
        source = self._until_failure(items)
        done = 0
        try:
            while self._fill(source):
                outcome = self._next()
                done += 1
                if progress is not None:
                    progress(done)
                yield outcome
            if self._failure is not None:
                raise self._failure
        finally:
            # when the interpreter exits, the workers are gone, maybe with a lock that we would wait for
            if not sys.is_finalizing():
                self._workers.close()
                self._flush()

    def _until_failure(self, items: Iterable[Handle | Outcome]) -> Iterator[Handle | Outcome]:
        """Yield the items, and keep an error of theirs: those before it still get their outcomes."""
        try:
            yield from items
        except Exception as error:  # noqa: BLE001 - outcomes() raises it
            self._failure = error

    def _fill(self, source: Iterator[Handle | Outcome]) -> bool:
        """Read ahead if half of the names are answered; return whether any are waiting."""
        reads = len(self._waiting) <= self._size // 2
        while reads and (items := list(islice(source, self._size))):
            self._flush()
            answers = iter(self._answers([item for item in items if not isinstance(item, Outcome)]))
            for item in items:
                self._waiting.append((item, item if isinstance(item, Outcome) else next(answers)))
            self._size = min(2 * self._size, AHEAD)
            reads = len(self._waiting) < REMEMBERED and self._question.waits(len(self._held))
        self._ask()
        return bool(self._waiting)

    def _answers(self, dois: Sequence[Handle]) -> list[Outcome | _Pending]:
        """Return the outcome of each name that the store knows, and what to wait for of the others."""
        keys = [self._question.keys(doi) for doi in dois]
        entries = read(self._store, [key for own in keys for key in own])
        now = time.time()
        answers: list[Outcome | _Pending] = []
        for doi, own in zip(dois, keys, strict=True):
            outcome = self._question.read(doi, entries, now)
            if outcome is None and doi.key not in self._recent:
                known = {key: entries.get(key) for key in own}
                self._recent[doi.key] = self._held[doi] = _Pending(doi, known, self._stale(doi, entries))
                if len(self._recent) > REMEMBERED:
                    del self._recent[next(iter(self._recent))]
            answers.append(self._recent[doi.key] if outcome is None else outcome)
        return answers

    def _ask(self) -> None:
        """Ask about the names that the store does not know."""
        new, self._held = self._held, {}
        if new:
            self._workers.deadline += self._client.load()
        for group, ask in self._question.groups(list(new)):
            names = [new[doi] for doi in group]
            task = self._workers.submit(partial(self._run, names, ask))
            for pending in names:
                pending.task = pending.task or task  # a fast worker may have submitted another one

    def _stale(self, doi: Handle, entries: dict[Key, Entry]) -> Outcome | None:
        """Return the outcome to use if there is no answer; a stale negative one is ignored."""
        outcome = self._question.read(doi, entries, 0.0)
        return outcome._replace(stale=True) if outcome is not None and outcome.found else None

    def _run(self, names: Sequence[_Pending], ask: Ask, task: Task) -> None:
        """Ask about some names, in a worker."""
        known = {key: entry for pending in names for key, entry in pending.entries.items()}

        def stored(key: Key) -> Entry | None:
            return known[key] if key in known else read(self._store, [key]).get(key)

        call = Call(partial(self._client.get, task), stored, self._fresh)
        outcomes = ask([pending.doi for pending in names], call)
        if task.cancelled:
            return
        for pending, outcome in zip(names, outcomes, strict=True):
            if outcome is None:
                pending.task = self._workers.submit(partial(self._run, [pending], self._question.ask))
            else:
                stale = pending.fallback if outcome.status == "unknown" else None
                pending.outcome = stale or outcome

    def _next(self) -> Outcome:
        item, answer = self._waiting.popleft()
        outcome = answer if isinstance(answer, Outcome) else self._settled(answer)
        if isinstance(item, Outcome) or outcome.doi is None or outcome.doi.name == item.name:
            return outcome
        return outcome._replace(doi=item)  # another spelling of a name that was asked before

    def _settled(self, pending: _Pending) -> Outcome:
        """Wait for an outcome, but not past the deadline."""
        if pending.outcome is None:
            self._workers.wait(pending.is_settled)
        if pending.outcome is None:
            task = pending.task
            if task is not None and task.error is not None:
                raise task.error
            cause = task.cause if task is not None and task.cause is not None else BUDGET
            pending.outcome = pending.fallback or Outcome(pending.doi, "unknown", cause=cause)
        if time.monotonic() - self._flushed > FLUSH_INTERVAL:
            self._flush()
        return pending.outcome

    def _flush(self) -> None:
        """Store new answers; workers may add more meanwhile."""
        entries: dict[Key, Entry] = {}
        while self._fresh:
            key, entry = self._fresh.popitem()
            entries[key] = entry
        write(self._store, entries)
        self._flushed = time.monotonic()
