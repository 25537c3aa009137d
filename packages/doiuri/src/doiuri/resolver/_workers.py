"""Few daemon threads that do the jobs of one call, and a caller who never waits too long for them."""

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
    Work = Callable[["Job"], None]

LATE = "the time for all is used up"
GRACE = 0.1  # seconds that a request may be late before it is given up from outside


class Watched(Protocol):
    """A request on its way, as the crew sees it."""

    overdue: float
    reason: str  # what to say when it is overdue

    def abandon(self) -> None:
        """Break it off from another thread, as far as that is possible."""


class Job:
    """Something to do, and what became of it."""

    __slots__ = ("_changed", "done", "error", "flight", "lost", "work")

    def __init__(self, work: Work, changed: threading.Condition) -> None:
        self.work = work
        self.done = False
        self.lost = False  # given up: whatever its thread still brings comes too late
        self.error: BaseException | None = None
        self.flight: Watched | None = None
        self._changed = changed

    def give_up(self, reason: str) -> None:
        """End it without a result."""
        self.lost = self.done = True
        self.error = TimeoutError(reason)

    def fly(self, flight: Watched | None) -> None:
        """Name the request that the job waits for, so that its end can be watched."""
        with self._changed:
            self.flight = flight
            self._changed.notify_all()


class Crew(ForkSafe):
    """At most ``width`` threads at work; jobs start in the order in which they came.

    A thread that hangs where no timeout reaches (the system's DNS look-up) is left behind: threads
    are daemons and end when there is nothing to do, so neither the caller nor the exit of the
    interpreter waits for one. In the child of a fork what was under way begins again.
    """

    def __init__(self, width: int, deadline: float) -> None:
        self.deadline = deadline
        self._width = width
        self._waiting: deque[Job] = deque()
        self._running: set[Job] = set()
        self._threads = 0
        self._closed = False
        super().__init__()
        self._changed = threading.Condition(self._lock)

    def submit(self, work: Work) -> Job:
        """Have ``work`` done, if there is time left for it; any thread may call this."""
        job = Job(work, self._changed)
        with self._changed:
            if self._closed or time.monotonic() >= self.deadline:
                job.give_up(LATE)
            else:
                self._waiting.append(job)
                self._man()
        return job

    def _man(self) -> None:
        if self._threads < self._width and self._waiting:
            self._threads += 1
            threading.Thread(target=self._work, name="doiuri", daemon=True).start()

    def _restart(self) -> None:
        for job in self._running:
            job.flight = None
        self._waiting.extendleft(self._running)
        self._running.clear()
        self._threads = 0

    def _work(self) -> None:
        job: Job | None = None
        while (job := self._next(job)) is not None:
            error: BaseException | None = None
            try:
                job.work(job)
            except BaseException as caught:  # noqa: BLE001 (handed to whoever waits)
                error = caught
            self._finish(job, error)

    def _next(self, last: Job | None) -> Job | None:
        with self._changed:
            if last is not None and last.lost:
                return None  # this thread was replaced long ago
            if not self._waiting:
                self._threads -= 1
                return None
            job = self._waiting.popleft()
            self._running.add(job)
            return job

    def _finish(self, job: Job, error: BaseException | None) -> None:
        with self._changed:
            if not job.lost:
                job.error, job.done = error, True
                self._running.discard(job)
                self._changed.notify_all()

    def wait(self, done: Callable[[], bool]) -> bool:
        """Wait until ``done()``; False when the call's deadline passed before."""
        with self._changed:
            self._man()  # after a fork nobody is at work
            while not done():
                now = time.monotonic()
                if now >= self.deadline:
                    return False
                self._sweep(now)
                if not done():
                    self._changed.wait(self._patience(now))
            return True

    def _patience(self, now: float) -> float:
        ends = [flight.overdue + GRACE for job in self._running if (flight := job.flight)]
        return min(max(min([*ends, self.deadline]) - now, 0.001), threading.TIMEOUT_MAX)

    def _sweep(self, now: float) -> None:
        late = [(job, f) for job in self._running if (f := job.flight) and f.overdue + GRACE <= now]
        for job, flight in late:
            self._lose(job, flight.reason)

    def _lose(self, job: Job, reason: str) -> None:
        job.give_up(reason)
        self._running.discard(job)
        self._threads -= 1
        if job.flight is not None:
            job.flight.abandon()
        self._man()

    def close(self) -> None:
        """Drop what has not begun and leave behind what has not ended."""
        with self._changed:
            self._closed = True
            for job in self._waiting:
                job.give_up(LATE)
            self._waiting.clear()
            for job in list(self._running):
                self._lose(job, LATE)
            self._changed.notify_all()


def in_time(work: Callable[[Job], T], deadline: float) -> T:
    """What ``work`` returns; where it is not done by ``deadline`` it is left behind: TimeoutError."""
    crew = Crew(1, deadline)
    got: list[T] = []
    job = crew.submit(lambda job: got.append(work(job)))
    try:
        crew.wait(lambda: job.done)
    finally:
        crew.close()
    if job.error is not None:
        raise job.error
    return got[0]
