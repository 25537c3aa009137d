"""Daemon threads for the requests of one call, which never wait past their deadline."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from doiuri.resolver._outcome import Cause

if TYPE_CHECKING:
    from collections.abc import Callable

    from doiuri.resolver.http._request import Request

EXHAUSTED = "budget exhausted"
BUDGET = Cause("budget", detail=EXHAUSTED)
GRACE = 0.1  # seconds after its deadline at which a request is abandoned from outside


class Task:
    """A function that a worker runs, and how it ended."""

    __slots__ = ("_changed", "cause", "deadline", "done", "error", "function", "request")

    def __init__(
        self, function: Callable[[Task], object], deadline: float, changed: threading.Condition
    ) -> None:
        self.deadline = deadline
        self.done = False
        self.cause: Cause | None = None  # why it was abandoned
        self.error: BaseException | None = None
        self.request: Request | None = None
        self.function = function
        self._changed = changed

    @property
    def cancelled(self) -> bool:
        """Whether it was abandoned: what its thread returns or raises is not used."""
        return self.cause is not None

    def cancel(self, cause: Cause) -> None:
        """End it without an outcome."""
        self.cause, self.done = cause, True

    def watch(self, request: Request | None) -> None:
        """From now on the task waits for a request, which is abandoned after its deadline, or for none."""
        with self._changed:
            self.request = request
            self._changed.notify_all()


class Workers:
    """At most ``size`` daemon threads, which run tasks in the order of submission.

    They are daemons, and not those of ``ThreadPoolExecutor``, because no timeout applies to looking up a
    host's name: the interpreter would wait for such a thread when it exits.

    :param size: number of threads.
    :param deadline: when the call ends, on the clock of ``time.monotonic``.
    """

    def __init__(self, size: int, deadline: float) -> None:
        self.deadline = deadline
        self._size = size
        self._closed = False
        self._waiting: deque[Task] = deque()
        self._running: set[Task] = set()
        self._threads = 0
        # re-entrant: the garbage collector may close an iteration in the thread that holds it
        self._changed = threading.Condition()

    def submit(self, function: Callable[[Task], object]) -> Task:
        """Run ``function(task)`` in a worker, if there is time left. Any thread may call this."""
        task = Task(function, self.deadline, self._changed)
        with self._changed:
            if self._closed or time.monotonic() >= self.deadline:
                task.cancel(BUDGET)
            else:
                self._waiting.append(task)
                self._start_thread()
        return task

    def wait(self, is_over: Callable[[], bool]) -> None:
        """Wait until ``is_over()`` is true or the deadline has passed; abandon requests that are overdue."""
        with self._changed:
            while not is_over():
                now = time.monotonic()
                if now >= self.deadline:
                    return
                for task in [task for task in self._running if _overdue(task) <= now]:
                    assert task.request is not None  # noqa: S101 - it is overdue
                    reason = task.request.timeout_reason
                    self._abandon(task, Cause("timeout", task.request._host, detail=reason))
                if not is_over():
                    ends = min([self.deadline, *map(_overdue, self._running)])
                    self._changed.wait(min(max(ends - now, 0.001), threading.TIMEOUT_MAX))

    def close(self) -> None:
        """Cancel the tasks that have not started and abandon those that run."""
        with self._changed:
            self._closed = True
            for task in self._waiting:
                task.cancel(BUDGET)
            self._waiting.clear()
            for task in list(self._running):
                self._abandon(task, BUDGET)

    def _start_thread(self) -> None:
        if self._threads < self._size and self._waiting:
            self._threads += 1
            threading.Thread(target=self._work, name="doiuri", daemon=True).start()

    def _work(self) -> None:
        while (task := self._next()) is not None:
            error: BaseException | None = None
            try:
                task.function(task)
            except BaseException as raised:  # noqa: BLE001 - the waiting thread handles it
                error = raised
            with self._changed:
                if task.cancelled:
                    return  # this thread was replaced
                task.error, task.done = error, True
                self._running.discard(task)
                self._changed.notify_all()

    def _next(self) -> Task | None:
        with self._changed:
            if not self._waiting:
                self._threads -= 1
                return None
            task = self._waiting.popleft()
            self._running.add(task)
            return task

    def _abandon(self, task: Task, cause: Cause) -> None:
        """End a task whose thread may hang; another one takes its place."""
        task.cancel(cause)
        self._running.discard(task)
        self._threads -= 1
        if task.request is not None:
            task.request.abandon()
        self._start_thread()
        self._changed.notify_all()


def _overdue(task: Task) -> float:
    """Return when the task's request is overdue, if it waits for one."""
    return task.request.deadline + GRACE if task.request is not None else float("inf")
