"""Thread pool for one call; never waits past the deadline."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Protocol

from doiuri.resolver._fork import ForkSafe

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")
    Function = Callable[["Task"], None]

EXHAUSTED = "budget exhausted"
GRACE = 0.1  # seconds after its deadline at which a request is abandoned from outside


class InFlight(Protocol):
    """A request in flight, as the pool sees it."""

    deadline: float

    @property
    def timeout_reason(self) -> str:
        """The error message after the deadline."""

    def abandon(self) -> None:
        """Abort the request, from another thread."""


class DeadlineError(TimeoutError):
    """A task was not done in time. A TimeoutError of any other class is one that the task raised."""


class Task:
    """A function that a worker runs, and how it ended."""

    __slots__ = ("_changed", "cancelled", "deadline", "done", "error", "function", "request")

    def __init__(self, function: Function, deadline: float, changed: threading.Condition) -> None:
        self.function = function
        self.deadline = deadline
        self.done = False
        self.cancelled = False  # the result of its thread is not used
        self.error: BaseException | None = None
        self.request: InFlight | None = None
        self._changed = changed

    def cancel(self, reason: str) -> None:
        """End it with a DeadlineError."""
        self.cancelled = self.done = True
        self.error = DeadlineError(reason)

    def watch(self, request: InFlight | None) -> None:
        """Note the request that the task waits for: it is abandoned after its deadline."""
        with self._changed:
            self.request = request
            self._changed.notify_all()


class WorkerPool(ForkSafe):
    """A pool of at most ``size`` daemon threads that start tasks in the order of submission.

    A thread that hangs where no timeout applies (DNS) is abandoned and replaced; since threads are daemons,
    the interpreter does not wait for it either. In the child of a fork the running tasks start again.

    :param size: number of threads.
    :param deadline: when the call ends, on the clock of ``time.monotonic``.
    """

    def __init__(self, size: int, deadline: float) -> None:
        self.deadline = deadline
        self._size = size
        self._waiting: deque[Task] = deque()
        self._running: set[Task] = set()
        self._threads = 0
        self._closed = False
        super().__init__()
        self._changed = threading.Condition(self._lock)

    def submit(self, function: Function) -> Task:
        """Run ``function(task)`` in a worker, if there is time left. Any thread may call this."""
        task = Task(function, self.deadline, self._changed)
        with self._changed:
            if self._closed or time.monotonic() >= self.deadline:
                task.cancel(EXHAUSTED)
            else:
                self._waiting.append(task)
                self._start_worker()
        return task

    def wait(self, predicate: Callable[[], bool]) -> bool:
        """Wait until ``predicate()`` is true; return False if the deadline passed before."""
        with self._changed:
            self._start_worker()  # after a fork there are none
            while not predicate():
                now = time.monotonic()
                if now >= self.deadline:
                    return False
                self._abandon_overdue(now)
                if not predicate():
                    self._changed.wait(self._next_check(now))
            return True

    def close(self) -> None:
        """Cancel the tasks that have not started and abandon those that run."""
        with self._changed:
            self._closed = True
            for task in self._waiting:
                task.cancel(EXHAUSTED)
            self._waiting.clear()
            for task in list(self._running):
                self._abandon(task, EXHAUSTED)
            self._changed.notify_all()

    def _start_worker(self) -> None:
        if self._threads < self._size and self._waiting:
            self._threads += 1
            threading.Thread(target=self._worker, name="doiuri", daemon=True).start()

    def _worker(self) -> None:
        task: Task | None = None
        while (task := self._next(task)) is not None:
            error: BaseException | None = None
            try:
                task.function(task)
            except BaseException as caught:  # noqa: BLE001 - the waiting thread handles it
                error = caught
            self._finish(task, error)

    def _next(self, last: Task | None) -> Task | None:
        with self._changed:
            if last is not None and last.cancelled:
                return None  # this thread was replaced
            if not self._waiting:
                self._threads -= 1
                return None
            task = self._waiting.popleft()
            self._running.add(task)
            return task

    def _finish(self, task: Task, error: BaseException | None) -> None:
        with self._changed:
            if not task.cancelled:
                task.error, task.done = error, True
                self._running.discard(task)
                self._changed.notify_all()

    def _next_check(self, now: float) -> float:
        """Return the seconds until a request is overdue or the call ends."""
        ends = [request.deadline + GRACE for task in self._running if (request := task.request)]
        return min(max(min([*ends, self.deadline]) - now, 0.001), threading.TIMEOUT_MAX)

    def _abandon_overdue(self, now: float) -> None:
        for task in list(self._running):
            if (request := task.request) and request.deadline + GRACE <= now:
                self._abandon(task, request.timeout_reason)

    def _abandon(self, task: Task, reason: str) -> None:
        task.cancel(reason)
        self._running.discard(task)
        self._threads -= 1
        if task.request is not None:
            task.request.abandon()
        self._start_worker()

    def _restart(self) -> None:
        for task in self._running:
            task.request = None
        self._waiting.extendleft(self._running)
        self._running.clear()
        self._threads = 0


def run_until(deadline: float, function: Callable[[Task], T]) -> T:
    """Return what ``function(task)`` returns.

    :raises DeadlineError: if it is not done by the deadline; it then continues in the background.
    """
    pool = WorkerPool(1, deadline)
    results: list[T] = []
    task = pool.submit(lambda task: results.append(function(task)))
    try:
        pool.wait(lambda: task.done)
    finally:
        pool.close()
    if task.error is not None:
        raise task.error
    return results[0]
