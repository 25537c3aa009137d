"""From DOIs to their outcomes: the store, the resolver, the store again; in order, with a look-ahead."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from itertools import chain, islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from doiuri._options import deadline_in
from doiuri.resolver._outcome import BUDGET, Cause, Outcome
from doiuri.resolver._questions import AHEAD, fresh_entries, uncontradicted
from doiuri.resolver._sources import Sources
from doiuri.resolver.http._client import Budget, CallbackError
from doiuri.resolver.stores._store import read, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from doiuri._doi import Handle
    from doiuri.resolver._questions import Ask, Question
    from doiuri.resolver.http._client import Client
    from doiuri.resolver.stores._store import Entry, Key, ReadStore, Store

    Result = Outcome | BaseException | None
    """The outcome of asking about a name, or what ended the call; None: ask about this name alone."""

REMEMBERED = 1024
"""Names that are remembered while a call runs, and items that are read ahead at most to count new names."""

FLUSH_INTERVAL = 0.5
"""Seconds after which new answers are stored."""


class _Pending:
    """A name whose outcome is not known yet.

    :param entries: what the store has about it, even if it is stale.
    :param fallback: a stale outcome.
    """

    __slots__ = ("doi", "entries", "fallback", "result")

    def __init__(
        self, doi: Handle, entries: dict[Key, Entry | None], fallback: Outcome | None
    ) -> None:
        self.doi = doi
        self.entries = entries
        self.fallback = fallback
        self.result: Outcome | BaseException | None = None  # None as long as it is not known

    def settle(self, result: Outcome | BaseException) -> None:
        """Note the outcome; if it is unknown, use the stale one, which then says why it is stale."""
        stale = self.fallback
        if stale is None or isinstance(result, BaseException) or result.status != "unknown":
            self.result = result
        else:
            self.result = stale._replace(cause=stale.cause or result.cause)


def _after_error(dois: Sequence[Handle], error: Exception) -> Sequence[Result]:
    """Return the results for names after an unforeseen error: unknown, or each to be asked about alone.

    The message of the error is not repeated: it may contain credentials.
    """
    import logging  # slow, and rarely needed

    logging.getLogger("doiuri").debug("unforeseen error", exc_info=error)
    if len(dois) > 1:
        return [None] * len(dois)
    cause = Cause("error", detail=f"unforeseen {type(error).__name__}")
    return [Outcome(doi, "unknown", cause=cause) for doi in dois]


class Pipeline:
    """Turns the names of one call into outcomes, with a budget of ``seconds`` from the first ``next``.

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
        self._results: SimpleQueue[tuple[Sequence[_Pending], Sequence[Result]]] = SimpleQueue()
        # the items whose outcomes come next: each name as it was given, None for what is not a DOI
        self._waiting: deque[tuple[Handle | None, Outcome | _Pending]] = deque()
        self._recent: dict[str, _Pending] = {}  # by the key of the DOI
        # to ask about, once it is known how many there are
        self._unasked: dict[Handle, _Pending] = {}
        self._new_entries: dict[Key, Entry] = {}
        self._flushed = time.monotonic()
        self._look_ahead = question.first_look_ahead
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
            # When the interpreter exits, a thread may be gone that holds a mutex, for which we would wait;
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
        if len(self._waiting) <= self._look_ahead // 2:
            self._read_ahead(source)
        self._ask()
        return bool(self._waiting)

    def _read_ahead(self, source: Iterator[Handle | Outcome]) -> None:
        """Read items and what the store knows of them, until the question need not wait for more names."""
        while items := list(islice(source, self._look_ahead)):
            self._flush()
            dois = [item for item in items if not isinstance(item, Outcome)]
            answers = iter(self._read_store(dois))
            for item in items:
                if isinstance(item, Outcome):
                    self._waiting.append((None, item))
                else:
                    self._waiting.append((item, next(answers)))

            self._look_ahead = min(2 * self._look_ahead, AHEAD)
            if len(self._waiting) >= REMEMBERED or not self._question.waits(len(self._unasked)):
                return

    def _read_store(self, dois: Sequence[Handle]) -> list[Outcome | _Pending]:
        """Return the outcome of each name that the store knows, and what to wait for of the others."""
        keys = [self._question.keys(doi) for doi in dois]
        entries = read(self._store, list(chain.from_iterable(keys)))
        now = time.time()
        answers: list[Outcome | _Pending] = []
        for doi, keys_of_doi in zip(dois, keys, strict=True):
            stored = uncontradicted(keys_of_doi, entries)
            outcome = self._question.read(doi, fresh_entries(keys_of_doi, stored, now))
            if outcome is not None:
                answers.append(outcome)
                continue
            if doi.key not in self._recent:
                self._add_pending(doi, keys_of_doi, stored)
            answers.append(self._recent[doi.key])
        return answers

    def _add_pending(
        self, doi: Handle, keys: Sequence[Key], stored: Sequence[Entry | None]
    ) -> None:
        """Remember a name that the store does not know, to ask about it."""
        fallback = self._question.read_stale(doi, stored)
        if fallback is not None:
            fallback = fallback._replace(stale=True)
        pending = _Pending(doi, dict(zip(keys, stored, strict=True)), fallback)
        self._unasked[doi] = pending
        self._recent[doi.key] = pending
        if len(self._recent) > REMEMBERED:
            oldest = next(iter(self._recent))
            del self._recent[oldest]

    def _ask(self) -> None:
        """Ask about the names that the store does not know."""
        unasked = self._unasked
        self._unasked = {}
        if unasked:
            loading_time = self._client.load_transport()
            self._budget.deadline += loading_time
        for group, ask in self._question.groups(list(unasked)):
            self._submit([unasked[doi] for doi in group], ask)

    def _submit(self, names: Sequence[_Pending], ask: Ask) -> None:
        self._tasks.put((names, ask))
        if self._threads < self._client.concurrency:
            self._threads += 1
            threading.Thread(target=self._work, name="doiuri", daemon=True).start()

    def _close(self) -> None:
        """End the threads, and their requests; the tasks that are left send none."""
        self._budget.end()
        for _ in range(self._threads):
            self._tasks.put(None)

    def _work(self) -> None:
        """Ask about names, in a thread."""
        for names, ask in iter(self._tasks.get, None):
            self._results.put((names, self._results_of(names, ask)))

    def _results_of(self, names: Sequence[_Pending], ask: Ask) -> Sequence[Result]:
        dois = [pending.doi for pending in names]
        known: dict[Key, Entry | None] = {}
        for pending in names:
            known |= pending.entries
        sources = Sources(self._client, self._budget, self._store, known, self._new_entries)
        try:
            return ask(dois, sources)
        except CallbackError as error:
            return [error.cause] * len(names)  # the caller's thread raises it
        except Exception as error:  # noqa: BLE001 - what is wrong with one name ends no batch
            return _after_error(dois, error)
        except BaseException as error:  # noqa: BLE001 - an exit: the caller's thread raises it
            return [error] * len(names)

    def _next(self) -> Outcome:
        doi, answer = self._waiting.popleft()
        outcome = self._wait_for(answer) if isinstance(answer, _Pending) else answer
        if doi is None or outcome.doi is None or outcome.doi.name == doi.name:
            return outcome
        return outcome._replace(doi=doi)  # another spelling of a name that was asked before

    def _wait_for(self, pending: _Pending) -> Outcome:
        """Wait for an outcome, but not past the deadline.

        :raises BaseException: what ended the call in a thread.
        """
        while pending.result is None:
            if self._process != os.getpid():  # whose threads did not survive the fork
                raise RuntimeError("the batch belongs to the parent process; call the method again")
            left = max(self._budget.deadline - time.monotonic(), 0)
            try:
                names, results = self._results.get(timeout=min(left, threading.TIMEOUT_MAX))
            except Empty:
                pending.settle(Outcome(pending.doi, "unknown", cause=BUDGET))
            else:
                self._settle(names, results)
        if isinstance(pending.result, BaseException):
            raise pending.result
        if time.monotonic() - self._flushed > FLUSH_INTERVAL:
            self._flush()
        return pending.result

    def _settle(self, names: Sequence[_Pending], results: Sequence[Result]) -> None:
        """Note what asking about names brought; ask again about each of which it brought nothing."""
        for pending, result in zip(names, results, strict=True):
            if result is None:
                self._submit([pending], self._question.ask)
            else:
                pending.settle(result)

    def _flush(self) -> None:
        """Store new answers; threads may add more meanwhile."""
        entries: dict[Key, Entry] = {}
        while self._new_entries:
            key, entry = self._new_entries.popitem()
            entries[key] = entry
        write(self._store, entries)
        self._flushed = time.monotonic()
