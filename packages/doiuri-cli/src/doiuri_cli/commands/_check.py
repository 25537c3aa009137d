"""``doiuri check``."""

from __future__ import annotations

import os
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click
from doiuri import DOI

from doiuri_cli._run import Runner, inputs_of, with_entry_keys
from doiuri_cli.commands import (
    PROBLEM,
    Command,
    exit_code,
    problems_in,
    show_progress,
    teller,
    write_problems,
)
from doiuri_cli.commands._options import (
    code_options,
    columns_option,
    config_options,
    file_options,
    lock_options,
    make_config,
    option,
    registry_options,
)
from doiuri_cli.output import all_option, check_outputs, has_marks, output_option, write_report
from doiuri_cli.output._report import Bibliographies, Counts, FindingsReport, summary_lines
from doiuri_cli.readers import reads_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doiuri.resolver import Cause, LockContent

    from doiuri_cli._config import Config
    from doiuri_cli._examine import FileReport
    from doiuri_cli._run import CheckResult
    from doiuri_cli.commands._options import FileOptions
    from doiuri_cli.files._select import Selection
    from doiuri_cli.output import Output
    from doiuri_cli.registry import Answers
    from doiuri_cli.rules import Finding


@click.command(cls=Command)
@file_options
@columns_option
@code_options
@option("compare")
@option("search")
@registry_options
@lock_options
@config_options
@output_option
@all_option
@click.option("-q", "--quiet", is_flag=True, help="Write no progress and no summary.")
def check(
    files: FileOptions,
    outputs: Sequence[Output],
    *,
    shows_all: bool,
    quiet: bool,
    **options: object,
) -> int:
    """Report DOIs that do not exist or are written wrongly.

    Without PATHS, the current folder is checked. Exit codes: 0 no errors, 1 errors (with --fail-on warning,
    also for warnings; with never, 0 in any case), 2 a file or the configuration cannot be read.
    """
    config = make_config(**options)  # type: ignore[arg-type]
    lock = None
    if config.lock is not None:
        from doiuri_cli.registry._locked import read_lock  # slow to import

        lock = read_lock(config.lock)

    selection = files.select(config)
    config = files.located(config, selection)
    check_outputs(outputs, selection.paths, selection.folders)
    inputs = inputs_of(selection.paths, files.stdin_filename, selection.named)
    config = with_entry_keys(config, inputs)
    with show_progress(hidden=quiet) as progress:
        result = Runner(config, files.jobs, progress, teller(quiet=quiet)).check(inputs, lock)

    # A file that cannot be read may mention what seems to be in the lock file only
    is_broken = bool(problems_in(selection, result.reports))
    unused = () if is_broken else _unused(selection, result, config, lock)
    report = make_report(selection, result, unused, shows_all=shows_all)
    write_report(report, outputs)

    # If nothing could be read, the problems below say all there is to say
    has_read = report.counts.files > 0 or bool(report.counts.skipped)
    if not quiet and (has_read or not is_broken):
        lines = summary_lines(report, has_marks=has_marks(outputs))
        sys.stderr.writelines(f"{line}\n" for line in lines)
    if write_problems(selection, result.reports):
        return PROBLEM
    return exit_code(report.findings, config)


def _unused(
    selection: Selection, result: CheckResult, config: Config, lock: LockContent | None
) -> Sequence[Finding]:
    """Return the findings on DOIs that are only in the lock file.

    There are none unless all files beside and below it were read: one that was not may mention them.
    """
    if lock is None or config.lock is None or "lock-unused" not in config.codes_for(config.lock):
        return ()
    if any(report.note for report in result.reports):
        return ()  # what a file mentions is not known for certain
    lock_folder = Path(os.path.abspath(config.lock)).parent  # noqa: PTH100 - links are not followed
    if not any(lock_folder.is_relative_to(folder) for folder in selection.folders):
        return ()
    from doiuri_cli.registry._locked import unused_findings

    findings = unused_findings(lock, config.lock, result.locked)
    return [finding for finding in findings if not config.ignores(finding)]


def make_report(
    selection: Selection, result: CheckResult, unused: Sequence[Finding], *, shows_all: bool
) -> FindingsReport:
    """Return the report on a run.

    :param unused: the findings on the lock file.
    :param shows_all: whether people see what is in test data, too.
    """
    findings = list(chain.from_iterable(report.findings for report in result.reports))
    findings += unused

    skipped = selection.skipped.copy()
    skipped.update(report.skipped for report in result.reports if report.skipped is not None)
    # With --columns, other types are left out on purpose, and no hint tells how to read them
    unread = [] if reads_columns() else selection.unread.types_with_dois()
    read = sum(report.skipped is None and report.problem is None for report in result.reports)
    lookups = result.counts
    counts = Counts(
        files=read,
        dois=lookups.dois,
        known=lookups.known,
        asked=lookups.asked,
        requests=lookups.requests,
        unknown=_tallied(lookups.unknown),
        old=_tallied(lookups.old),
        skipped=skipped,
        recorded=result.recorded,
        unread=unread,
    )

    visible_reports = [report for report in result.reports if shows_all or not report.in_test_data]
    references = _references(visible_reports, result.answers)
    searched = None if result.searched is None else result.searched.line()
    return FindingsReport(findings, counts, references, shows_all, searched)


def _tallied(causes: Sequence[Cause]) -> dict[str, int]:
    """Return how often each cause occurs, by its text."""
    if not causes:
        return {}
    from doiuri.plugins.survey import tally  # slow to import

    return {str(cause): count for cause, count in tally(causes).items()}


def _references(reports: Sequence[FileReport], answers: Answers | None) -> Bibliographies | None:
    """Return the entries of bibliographies; None if there are none, or they were not compared."""
    if answers is None:
        return None
    cited = dict.fromkeys(entry.doi.name for report in reports for entry in report.entries)
    lacking = list(chain.from_iterable(report.lacking for report in reports))
    if not cited and not lacking:
        return None
    registered = [name for name in cited if answers.statuses.get(DOI(name).key) == "found"]
    return Bibliographies(registered, lacking)
