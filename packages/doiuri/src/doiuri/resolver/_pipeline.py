"""The way of DOIs to their outcomes: the store, the server, the store again; in order, with a look-ahead."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from doiuri._options import deadline_in
from doiuri.resolver._outcome import BUDGET, Cause, Outcome
from doiuri.resolver._questions import AHEAD, fresh_entries
from doiuri.resolver._sources import Sources
from doiuri.resolver.http._client import Budget, CallbackError
from doiuri.resolver.stores._store import read, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from doiuri._doi import Handle
    from doiuri.resolver._questions import Ask, Question
    from doiuri.resolver.http._client import Client
    from doiuri.resolver.stores._store import Entry, Key, ReadStore, Store

    Answer = Outcome | BaseException | None
    """What came of asking about a name; None: ask about this name alone."""

REMEMBERED = 1024
"""Names that are remembered while a call runs, and items that are read ahead at most to count new names."""

FLUSH_INTERVAL = 0.5
"""Seconds after which new answers are stored."""


class _Pending:
    """A name whose outcome is not known yet."""

    __slots__ = ("doi", "entries", "fallback", "outcome")

    def __init__(
        self, doi: Handle, entries: dict[Key, Entry | None], fallback: Outcome | None
    ) -> None:
        self.doi = doi
        self.entries = entries  # what the store has, even if it is stale
        self.fallback = fallback  # a stale outcome
        self.outcome: Answer = None

    def settle(self, unknown: Outcome) -> None:
        """End without an answer: with the stale outcome, if there is one, which then says why it is stale."""
        stale = self.fallback
        self.outcome = stale._replace(cause=stale.cause or unknown.cause) if stale else unknown


def _after_error(dois: Sequence[Handle], error: Exception) -> Sequence[Answer]:
    """Return the answers about names after an unforeseen error: unknown, or each to be asked about alone.

    The message of the error is not repeated: it may contain credentials.
    """
    import logging  # slow, and rarely needed

    logging.getLogger("doiuri").debug("unforeseen error", exc_info=error)
    if len(dois) > 1:
        return [None] * len(dois)
    cause = Cause("error", detail=f"unforeseen {type(error).__name__}")
    return [Outcome(doi, "unknown", cause=cause) for doi in dois]


class Pipeline:
    """One call's way through a stream of names, with a budget of ``seconds`` from the first ``next``.

    Daemon threads ask about names, as many as there may be requests in flight; only the caller's thread reads
    and changes everything else. They are not those of ``ThreadPoolExecutor``, which are joined when the
    interpreter exits.
    """

    def __init__(
        self,
        question: Question,
        client: Client,
        store: Store | ReadStore | None,
        seconds: float | None,
    ) -> None:
        self._question = question
        self._client = client
        self._store = store
        self._seconds = seconds
        self._threads = 0
        self._process = os.getpid()
        self._tasks: SimpleQueue[tuple[Sequence[_Pending], Ask] | None] = SimpleQueue()
        self._answered: SimpleQueue[tuple[Sequence[_Pending], Sequence[Answer]]] = SimpleQueue()
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
        """Yield one outcome for each item, in order; some are outcomes already, as they are not DOIs.

        An error of the iterable is raised after the outcomes of the items before it.
        """
        self._budget = Budget(deadline_in(self._seconds))
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
            # when the interpreter exits, the threads are gone, maybe with a lock that we would wait for;
            # after a fork, the sockets are the parent's
            if not sys.is_finalizing() and self._process == os.getpid():
                self._close()
                self._flush()

    def _until_failure(self, items: Iterable[Handle | Outcome]) -> Iterator[Handle | Outcome]:
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
            stored = [entries.get(key) for key in own]
            outcome = self._question.read(doi, fresh_entries(own, stored, now))
            if outcome is None and doi.key not in self._recent:
                stale = self._question.read_stale(doi, stored)  # to use if there is no answer
                fallback = None if stale is None else stale._replace(stale=True)
                pending = _Pending(doi, dict(zip(own, stored, strict=True)), fallback)
                self._recent[doi.key] = self._held[doi] = pending
                if len(self._recent) > REMEMBERED:
                    del self._recent[next(iter(self._recent))]
            answers.append(self._recent[doi.key] if outcome is None else outcome)
        return answers

    def _ask(self) -> None:
        """Ask about the names that the store does not know."""
        new, self._held = self._held, {}
        if new:
            self._budget.deadline += self._client.load()
        for group, ask in self._question.groups(list(new)):
            self._submit([new[doi] for doi in group], ask)

    def _submit(self, names: Sequence[_Pending], ask: Ask) -> None:
        self._tasks.put((names, ask))
        if self._threads < self._client.concurrency:
            self._threads += 1
            threading.Thread(target=self._work, name="doiuri", daemon=True).start()

    def _close(self) -> None:
        """End the threads, and their requests; what is left of their tasks gets no request."""
        self._budget.end()
        for _ in range(self._threads):
            self._tasks.put(None)

    def _work(self) -> None:
        """Ask about names, in a thread."""
        for names, ask in iter(self._tasks.get, None):
            known = {key: entry for pending in names for key, entry in pending.entries.items()}
            sources = Sources(self._client, self._budget, self._store, known, self._fresh)
            answers: Sequence[Answer]
            try:
                answers = ask([pending.doi for pending in names], sources)
            except CallbackError as error:
                answers = [error.cause] * len(names)  # the caller's thread raises it
            except Exception as error:  # noqa: BLE001 - what is wrong with one name ends no batch
                answers = _after_error([pending.doi for pending in names], error)
            except BaseException as error:  # noqa: BLE001 - an exit: the caller's thread raises it
                answers = [error] * len(names)
            self._answered.put((names, answers))

    def _next(self) -> Outcome:
        item, answer = self._waiting.popleft()
        outcome = answer if isinstance(answer, Outcome) else self._settled(answer)
        if isinstance(item, Outcome) or outcome.doi is None or outcome.doi.name == item.name:
            return outcome
        return outcome._replace(doi=item)  # another spelling of a name that was asked before

    def _settled(self, pending: _Pending) -> Outcome:
        """Wait for an outcome, but not past the deadline."""
        while pending.outcome is None:
            if self._process != os.getpid():  # whose threads did not survive the fork
                raise RuntimeError("the batch belongs to the parent process; call the method again")
            left = min(max(self._budget.deadline - time.monotonic(), 0), threading.TIMEOUT_MAX)
            try:
                names, answers = self._answered.get(timeout=left)
            except Empty:
                pending.settle(Outcome(pending.doi, "unknown", cause=BUDGET))
            else:
                self._settle(names, answers)
        if isinstance(pending.outcome, BaseException):
            raise pending.outcome
        if time.monotonic() - self._flushed > FLUSH_INTERVAL:
            self._flush()
        return pending.outcome

    def _settle(self, names: Sequence[_Pending], answers: Sequence[Answer]) -> None:
        for pending, answer in zip(names, answers, strict=True):
            if answer is None:
                self._submit([pending], self._question.ask)
            elif isinstance(answer, Outcome) and answer.status == "unknown":
                pending.settle(answer)
            else:
                pending.outcome = answer

    def _flush(self) -> None:
        """Store new answers; threads may add more meanwhile."""
        entries: dict[Key, Entry] = {}
        while self._fresh:
            key, entry = self._fresh.popitem()
            entries[key] = entry
        write(self._store, entries)
        self._flushed = time.monotonic()
