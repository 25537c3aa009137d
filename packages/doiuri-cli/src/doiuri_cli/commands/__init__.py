"""The subcommands, one a file, and what they say on standard error: progress, and what cannot be read."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from doiuri_cli.output._report import outside_test_data, visible
from doiuri_cli.rules import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from doiuri_cli._config import Config
    from doiuri_cli._examine import FileReport
    from doiuri_cli._run import ShowProgress
    from doiuri_cli.files._select import Selection
    from doiuri_cli.rules import Finding


PROBLEM = 2  # the exit code if a file cannot be read or written
_DELAY = 1.0  # seconds before any progress is shown
_INTERVAL = 0.1  # seconds before it is redrawn


class Command(click.Command):
    """A subcommand, which refuses what click would take for the last value: an option that is given twice."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments.

        :raises click.UsageError: if an option with one value is given twice. Flags may be repeated.
        """
        # While a shell completes the line, nothing is refused
        if not ctx.resilient_parsing:
            # A copy, for the parser takes what it reads out of the list
            _, _, given = self.make_parser(ctx).parse_args(args.copy())
            for parameter in set(given):
                if not isinstance(parameter, click.Option):
                    continue
                takes_one = not (parameter.multiple or parameter.is_flag)
                if takes_one and given.count(parameter) > 1:
                    name = parameter.opts[-1]
                    raise click.UsageError(f"{name} is given more than once; give it once", ctx)
        return super().parse_args(ctx, args)


def teller(*, quiet: bool) -> Callable[[str], object]:
    """Return a function that writes a line to standard error; with ``--quiet``, it writes nothing."""
    return lambda text: None if quiet else click.echo(text, err=True)


def write_message(path: str, reason: str) -> None:
    """Write a message about a file to standard error."""
    click.echo(f"doiuri: {visible(path)}: {visible(reason)}", err=True)


def problems_in(selection: Selection, reports: Iterable[FileReport]) -> list[tuple[str, str]]:
    """Return the files and folders that cannot be read or written, each with the reason."""
    problems = [*selection.problems]
    problems += [(report.path, report.problem) for report in reports if report.problem is not None]
    return problems


def write_problems(selection: Selection, reports: Iterable[FileReport]) -> bool:
    """Write which files cannot be read or written to standard error; return whether there are any."""
    problems = problems_in(selection, reports)
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
    """Return 1 if a finding outside of test data is as severe as ``--fail-on`` says, and 0 if none is."""
    if config.fail_on == "never":
        return 0
    limit = Severity[config.fail_on.upper()]
    return int(any(finding.severity >= limit for finding in outside_test_data(findings)))


@contextmanager
def show_progress(*, hidden: bool = False) -> Iterator[ShowProgress]:
    """Return a function that shows progress: a line on standard error, redrawn, if that is a terminal.

    Call it with the task, how many are done, and the total.
    """
    if hidden or not sys.stderr.isatty():
        yield lambda _what, _done, _total: None
        return
    from shutil import get_terminal_size  # slow to import

    due = time.monotonic() + _DELAY
    width = 0  # of the line that is drawn

    def draw(line: str) -> None:
        nonlocal width
        line = line[: get_terminal_size().columns - 1]  # one that wraps could not be redrawn
        # Blanks hide the last one, and a message, such as a warning, takes the place of this one
        click.echo(f"\r{line:{width}}\r", nl=False, err=True)
        width = len(line)

    def show(what: str, done: int, total: int | None) -> None:
        """Draw the line, unless it was drawn a moment ago."""
        nonlocal due
        now = time.monotonic()
        if now < due:
            return
        due = now + _INTERVAL
        count = f"{done:,}" if total is None else f"{done:,} of {total:,}"
        draw(f"{what}: {count}")

    try:
        yield show
    finally:
        if width:
            draw("")
