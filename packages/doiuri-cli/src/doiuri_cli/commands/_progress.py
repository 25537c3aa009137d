"""Progress on a terminal, if a command takes long."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, TaskID

_DELAY = 1.0
"""Seconds before any progress is shown."""


@contextmanager
def show_progress(*, hidden: bool = False) -> Iterator[Callable[[str, int, int | None], None]]:
    """Return a function that shows progress on standard error; call it with the work, the done and the total.

    :param hidden: show nothing.
    """
    if hidden or not sys.stderr.isatty():
        yield lambda _what, _done, _total: None
        return
    bars = _Bars()
    try:
        yield bars.update
    finally:
        bars.close()


class _Bars:
    """A bar for each kind of work."""

    def __init__(self) -> None:
        self._due = time.monotonic() + _DELAY
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def update(self, what: str, done: int, total: int | None) -> None:
        """Show how much is done."""
        if self._progress is None:
            if time.monotonic() < self._due:
                return
            from rich.console import Console  # slow to import
            from rich.progress import Progress

            # without a thread: processes may be started meanwhile
            self._progress = Progress(console=Console(stderr=True), transient=True, auto_refresh=False)
            self._progress.start()
        if what not in self._tasks:
            for task in self._tasks.values():
                self._progress.update(task, visible=False)
            self._tasks[what] = self._progress.add_task(what, total=total)
        self._progress.update(self._tasks[what], completed=done)
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + 0.1
            self._progress.refresh()

    def close(self) -> None:
        """Remove the bars."""
        if self._progress is not None:
            self._progress.stop()
