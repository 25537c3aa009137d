"""How a command ends: what it could not read, and its exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from doiuri_cli.output import visible
from doiuri_cli.rules import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri_cli._config import Config
    from doiuri_cli._examine import FileReport
    from doiuri_cli.files._select import Selection
    from doiuri_cli.rules import Finding

PROBLEM = 2
"""The exit code if a file cannot be read or written."""


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


def exit_code(findings: Iterable[Finding], config: Config) -> int:
    """Return 1 if a finding is as severe as ``--fail-on`` says, and 0 if none is."""
    if config.fail_on == "never":
        return 0
    limit = Severity[config.fail_on.upper()]
    return int(any(finding.severity >= limit for finding in findings))
