"""``doiuri check``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from doiuri_cli._run import Run, contents_of
from doiuri_cli.commands._options import (
    code_options,
    color_option,
    config_options,
    file_options,
    lock_options,
    make_config,
    registry_options,
)
from doiuri_cli.commands._outcome import PROBLEM, exit_code, show_progress, write_problems
from doiuri_cli.output import Counts, Report, output_option, summary_lines, write_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doiuri_cli._config import Config
    from doiuri_cli._run import Result
    from doiuri_cli.commands._options import FileOptions
    from doiuri_cli.files._select import Selection
    from doiuri_cli.output import Output
    from doiuri_cli.registry._lock import Lock
    from doiuri_cli.rules import Finding


@click.command()
@file_options
@code_options
@click.option("--records", is_flag=True, default=None, help="Compare entries with the registry's metadata.")
@registry_options
@lock_options
@config_options
@output_option
@color_option
@click.option("-q", "--quiet", is_flag=True, help="Write no progress and no summary.")
def check(
    files: FileOptions,
    outputs: Sequence[Output],
    *,
    quiet: bool,
    **options: object,
) -> int:
    """Report DOIs that do not exist or are written wrongly.

    Without PATHS, the current folder is checked. Exit codes: 0 nothing found, 1 something found, 2 a file or
    the configuration cannot be read.
    """
    config = make_config(**options)  # type: ignore[arg-type]
    lock = _read_lock(config)
    selection = files.select(config)
    contents = contents_of(selection.paths, files.stdin_filename)
    with show_progress(hidden=quiet) as progress:
        try:
            result = Run(config, files.jobs, progress).check(contents, lock)
        except ValueError as error:
            raise click.ClickException(str(error)) from None
    report = make_report(selection, result, _unused(selection, result, config, lock))
    write_report(report, outputs)
    if not (quiet or (selection.problems and not selection.paths)):
        sys.stderr.writelines(f"{line}\n" for line in summary_lines(report))
    return PROBLEM if write_problems(selection, result.reports) else exit_code(report.findings, config)


def _read_lock(config: Config) -> Lock | None:
    if config.lock is None:
        return None
    from doiuri_cli.registry._lock import Lock

    try:
        return Lock.read(config.lock)
    except ValueError as error:
        raise click.ClickException(str(error)) from None


def _unused(selection: Selection, result: Result, config: Config, lock: Lock | None) -> Sequence[Finding]:
    """Return what is only in the lock file; only if all files beside and below it were read."""
    if lock is None or "lock-unused" not in config.codes_for(lock.path):
        return ()
    place = Path(os.path.abspath(lock.path)).parent  # noqa: PTH100 - links are not followed
    if not any(place.is_relative_to(folder) for folder in selection.folders):
        return ()
    found = lock.unused(result.answers.statuses.keys() | result.answers.missing)
    return [finding for finding in found if not config.ignores(finding)]


def make_report(selection: Selection, result: Result, more: Sequence[Finding] = ()) -> Report:
    """Return the report on a run.

    :param selection: the files.
    :param result: what was found in them.
    :param more: findings that are in none of these files.
    """
    findings = [finding for report in result.reports for finding in report.findings] + [*more]
    skipped = selection.skipped.copy()
    skipped.update(report.skipped for report in result.reports if report.skipped is not None)
    answers = result.answers
    read = sum(report.skipped is None and report.problem is None for report in result.reports)
    unknown: dict[str, int] = {}
    if answers.unknown:
        from doiuri.plugins.survey import tally  # slow to import

        unknown = {str(cause): count for cause, count in tally(answers.unknown).items()}
    counts = Counts(
        files=read,
        dois=answers.dois,
        known=answers.known,
        asked=answers.asked,
        requests=answers.requests,
        unknown=unknown,
        skipped=skipped,
    )
    return Report(findings, counts)
