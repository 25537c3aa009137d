"""What commands say on standard error: progress, and what cannot be read; and their exit code."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from doiuri_cli.output import visible
from doiuri_cli.rules import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.progress import Progress, TaskID

    from doiuri_cli._config import Config
    from doiuri_cli._examine import FileReport
    from doiuri_cli._run import ShowProgress
    from doiuri_cli.files._select import Selection
    from doiuri_cli.rules import Finding

PROBLEM = 2
"""The exit code if a file cannot be read or written."""

_DELAY = 1.0
"""Seconds before any progress is shown."""


def write_message(path: str, reason: str) -> None:
    """Write a message about a file to standard error."""
    click.echo(f"doiuri: {visible(path)}: {visible(reason)}", err=True)


def write_problems(selection: Selection, reports: Iterable[FileReport]) -> bool:
    """Write which files cannot be read to standard error; return whether there are any."""
    problems = [*selection.problems]
    problems += [(report.path, report.problem) for report in reports if report.problem is not None]
    for path, reason in problems:
        write_message(path, reason)
    return bool(problems)


def write_notes(reports: Iterable[FileReport]) -> bool:
    """Write which files were read as plain text to standard error; return whether there are any."""
    notes = [(report.path, report.note) for report in reports if report.note is not None]
    for path, note in notes:
        write_message(path, note)
    return bool(notes)


def exit_code(findings: Iterable[Finding], config: Config) -> int:
    """Return 1 if a finding is as severe as ``--fail-on`` says, and 0 if none is."""
    if config.fail_on == "never":
        return 0
    limit = Severity[config.fail_on.upper()]
    return int(any(finding.severity >= limit for finding in findings))


@contextmanager
def show_progress(*, hidden: bool = False) -> Iterator[ShowProgress]:
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
