"""From DOIs to their outcomes: the store, the server, the store again; in order, with a look-ahead."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from doiuri._options import deadline_in
from doiuri.resolver._outcome import BUDGET, Cause, Outcome
from doiuri.resolver._sources import Sources
from doiuri.resolver.http._client import Budget, CallbackError
from doiuri.resolver.questions._question import AHEAD, Alone
from doiuri.resolver.stores._store import write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from doiuri._doi import Handle
    from doiuri.resolver.http._client import Client
    from doiuri.resolver.questions._question import Question, Stored, Task
    from doiuri.resolver.stores._store import Entry, Key, ReadStore, Store

REMEMBERED = 1024
"""Names that are remembered while a call runs, and items that are read ahead at most to count new names."""

FLUSH_INTERVAL = 0.5
"""Seconds after which new answers are stored."""


class _Pending:
    """A name whose outcome is not known yet, whatever its spelling.

    :param entries: what the store has about it, even if it is stale.
    :param fallback: a stale outcome, or None.
    """

    __slots__ = ("doi", "entries", "error", "fallback", "outcome")

    def __init__(
        self, doi: Handle, entries: dict[Key, Entry | None], fallback: Outcome | None
    ) -> None:
        self.doi = doi
        self.entries = entries
        self.fallback = fallback
        self.outcome: Outcome | None = None
        # What ended the call while the name was asked about
        self.error: BaseException | None = None

    @property
    def is_settled(self) -> bool:
        return self.outcome is not None or self.error is not None

    def settle(self, outcome: Outcome) -> None:
        """Note the outcome; if it is unknown, use the stale one, which then says why it is stale."""
        if outcome.status == "unknown" and self.fallback is not None:
            cause = self.fallback.cause or outcome.cause
            outcome = self.fallback._replace(cause=cause, stale=True)
        self.outcome = outcome


class _Waiting(NamedTuple):
    """A DOI as it was given, and the name that it waits for."""

    doi: Handle
    pending: _Pending


class _Job:
    """A task, the names that wait for it, and what it brings."""

    def __init__(self, task: Task, names: Sequence[_Pending]) -> None:
        self._task = task
        self.names = names
        self.outcomes: Mapping[Handle, Outcome] = {}
        self.error: BaseException | None = None

    def run(self, sources: Sources) -> None:
        """Run the task, in a thread; note its outcomes, or the error that the caller's thread has to raise.

        After an unforeseen error, a name that was asked about alone is unknown, and several have no outcomes.
        The message of the error is not repeated: it may contain credentials.
        """
        try:
            self.outcomes = self._task.run(sources)
        except CallbackError as error:
            self.error = error.cause
        except Exception as error:  # what is wrong with one name ends no batch
            import logging  # slow, and rarely needed

            logging.getLogger("doiuri").debug("unforeseen error", exc_info=error)
            if len(self.names) == 1:
                (doi,) = self._task.dois
                cause = Cause("error", detail=f"unforeseen {type(error).__name__}")
                self.outcomes = {doi: Outcome(doi, "unknown", cause=cause)}
        except BaseException as error:  # noqa: BLE001 - an exit
            self.error = error


class Pipeline:
    """Turns the names of one call into outcomes, with a budget of ``seconds`` from the first ``next``.

    Daemon threads run the tasks of the question, as many as there may be requests in flight; only the
    caller's thread reads and changes everything else. They are not those of ``ThreadPoolExecutor``, which are
    joined when the interpreter exits.
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
        self._process = os.getpid()

        # The items whose outcomes come next, and the names that were asked about lately, by their keys
        self._waiting: deque[Outcome | _Waiting] = deque()
        self._recent: dict[str, _Pending] = {}
        self._look_ahead = question.first_look_ahead
        self._failure: Exception | None = None  # of the iterable of items

        # What the threads get and bring
        self._threads = 0
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._done: SimpleQueue[_Job] = SimpleQueue()
        self._new_entries: dict[Key, Entry] = {}
        self._flushed = time.monotonic()

    def outcomes(
        self, items: Iterable[Handle | Outcome], progress: Callable[[int], None] | None = None
    ) -> Iterator[Outcome]:
        """Yield one outcome for each item, in order; some are outcomes already, as they are not DOIs.

        An error of the iterable is raised after the outcomes of the items before it.
        """
        self._budget = Budget(deadline_in(self._seconds))
        try:
            for done, item in enumerate(self._in_turn(items), 1):
                outcome = item if isinstance(item, Outcome) else self._wait_for(item)
                if progress is not None:
                    progress(done)
                yield outcome
        finally:
            # When the interpreter exits, a thread may be gone that holds a mutex, for which we would wait;
            # after a fork, the sockets are the parent's
            if not sys.is_finalizing() and self._process == os.getpid():
                self._budget.end()  # the jobs that are left send no requests
                for _ in range(self._threads):
                    self._jobs.put(None)
                self._flush()

    # In the caller's thread: from items to jobs

    def _in_turn(self, items: Iterable[Handle | Outcome]) -> Iterator[Outcome | _Waiting]:
        """Yield the items in order; when one is yielded, the names after it are being asked about.

        An error of the iterable is raised after the items before it.
        """
        source = self._until_failure(items)
        while True:
            if len(self._waiting) <= self._look_ahead // 2:
                self._read_ahead(source)
            if not self._waiting:
                break
            yield self._waiting.popleft()
        if self._failure is not None:
            raise self._failure

    def _until_failure(self, items: Iterable[Handle | Outcome]) -> Iterator[Handle | Outcome]:
        try:
            yield from items
        except Exception as error:  # noqa: BLE001 - _in_turn() raises it
            self._failure = error

    def _read_ahead(self, source: Iterator[Handle | Outcome]) -> None:
        """Read items until the question need not wait for more, and ask about the new names among them."""
        new: dict[Handle, _Pending] = {}
        while items := list(islice(source, self._look_ahead)):
            self._flush()
            new |= self._enqueue(items)
            self._look_ahead = min(2 * self._look_ahead, AHEAD)
            if len(self._waiting) >= REMEMBERED or not self._question.waits(len(new)):
                break

        if new:
            loading_time = self._client.load_transport()
            self._budget.deadline += loading_time  # which is no part of the budget
        for task in self._question.tasks(list(new)):
            self._submit(_Job(task, [new[doi] for doi in task.dois]))

    def _enqueue(self, items: Sequence[Handle | Outcome]) -> dict[Handle, _Pending]:
        """Let items wait for their turn; return the new names, which the store does not answer."""
        new: dict[Handle, _Pending] = {}
        dois = [item for item in items if not isinstance(item, Outcome)]
        stored = iter(self._question.look_up(dois, self._store))
        for item in items:
            if isinstance(item, Outcome):
                self._waiting.append(item)
                continue
            known = next(stored)
            if known.answer is not None:
                self._waiting.append(known.answer)
                continue
            if item.key not in self._recent:
                new[item] = self._remember(item, known)
            self._waiting.append(_Waiting(item, self._recent[item.key]))
        return new

    def _remember(self, doi: Handle, stored: Stored) -> _Pending:
        """Return a name that is now asked about; if it is repeated soon, it is not asked about again."""
        fallback = self._question.read_stale(doi, list(stored.entries.values()))
        pending = _Pending(doi, stored.entries, fallback)
        self._recent[doi.key] = pending
        if len(self._recent) > REMEMBERED:
            oldest = next(iter(self._recent))
            del self._recent[oldest]
        return pending

    def _submit(self, job: _Job) -> None:
        """Have a thread run a job; start another thread, unless there are enough."""
        self._jobs.put(job)
        if self._threads < self._client.concurrency:
            self._threads += 1
            threading.Thread(target=self._work, name="doiuri", daemon=True).start()

    # In the other threads

    def _work(self) -> None:
        """Run jobs until there is None."""
        for job in iter(self._jobs.get, None):
            known: dict[Key, Entry | None] = {}
            for pending in job.names:
                known |= pending.entries
            job.run(Sources(self._client, self._budget, self._store, known, self._new_entries))
            self._done.put(job)

    # In the caller's thread: from jobs to outcomes

    def _wait_for(self, item: _Waiting) -> Outcome:
        """Return the outcome of a DOI, in the spelling in which it was given; wait, but not past the deadline.

        Jobs that end meanwhile are settled, whichever names they are about.

        :raises BaseException: what ended the call in a thread.
        """
        pending = item.pending
        while not pending.is_settled:
            if self._process != os.getpid():  # whose threads did not survive the fork
                raise RuntimeError("the batch belongs to the parent process; call the method again")
            left = max(self._budget.deadline - time.monotonic(), 0)
            try:
                job = self._done.get(timeout=min(left, threading.TIMEOUT_MAX))
            except Empty:
                pending.settle(Outcome(pending.doi, "unknown", cause=BUDGET))
            else:
                self._settle(job)

        if pending.error is not None:
            raise pending.error
        assert pending.outcome is not None  # noqa: S101 - it is settled
        if time.monotonic() - self._flushed > FLUSH_INTERVAL:
            self._flush()
        if pending.outcome.doi is item.doi:  # the usual case
            return pending.outcome
        return pending.outcome._replace(doi=item.doi)

    def _settle(self, job: _Job) -> None:
        """Note what a job brought; ask alone about each name of which it brought nothing."""
        for pending in job.names:
            if job.error is not None:
                pending.error = job.error
            elif pending.doi in job.outcomes:
                pending.settle(job.outcomes[pending.doi])
            else:
                self._submit(_Job(Alone(self._question, pending.doi), [pending]))

    def _flush(self) -> None:
        """Store new answers; threads may add more meanwhile."""
        entries: dict[Key, Entry] = {}
        while self._new_entries:
            key, entry = self._new_entries.popitem()
            entries[key] = entry
        write(self._store, entries)
        self._flushed = time.monotonic()
