"""Files that cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri_cli._examine import FileReport
    from doiuri_cli.files._select import Selection

PROBLEM = 2
"""The exit code if a file cannot be read."""


def write_problems(selection: Selection, reports: Iterable[FileReport]) -> bool:
    """Write what cannot be read to standard error; return whether there is something."""
    problems = [*selection.problems]
    problems += [(report.path, report.problem) for report in reports if report.problem is not None]
    for path, reason in problems:
        click.echo(f"doiuri: {path}: {reason}", err=True)
    return bool(problems)
