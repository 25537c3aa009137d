"""The state of one call: deadline, new entries, staleness."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from doiuri._resolution_errors import ResolverUnavailable
from doiuri.resolver._workers import DeadlineError, run_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from doiuri._doi import Handle
    from doiuri.resolver._workers import InFlight, Task
    from doiuri.resolver.stores._store import Entry, Key

    T = TypeVar("T")


class Call:
    """A call of the resolver: its deadline, the entries to store, and whether its answer is stale.

    In a batch each task has its own; they share ``fresh``.
    """

    __slots__ = ("_task", "fresh", "stale")

    def __init__(self, task: Task, fresh: dict[Key, Entry]) -> None:
        self._task = task
        self.fresh = fresh
        self.stale = False

    @property
    def deadline(self) -> float:
        """When the call ends, on the clock of ``time.monotonic``."""
        return self._task.deadline

    @property
    def cancelled(self) -> bool:
        """Whether the call was abandoned: its answer is not used."""
        return self._task.cancelled

    @contextmanager
    def in_flight(self, request: InFlight) -> Iterator[None]:
        """Within, the call waits for a request, which is abandoned after its deadline."""
        self._task.watch(request)
        try:
            yield
        finally:
            self._task.watch(None)


def run_call(
    doi: Handle, lookup: Callable[[Call], T], deadline: float, fresh: dict[Key, Entry] | None = None
) -> T:
    """Return what ``lookup`` returns.

    :raises ResolverUnavailable: if it is not done by the deadline.
    """
    entries = {} if fresh is None else fresh
    try:
        return run_until(deadline, lambda task: lookup(Call(task, entries)))
    except DeadlineError as error:
        raise ResolverUnavailable(doi, str(error)) from None
