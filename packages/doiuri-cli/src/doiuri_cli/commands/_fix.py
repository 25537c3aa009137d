"""``doiuri fix``."""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import click

from doiuri_cli._examine import FileReport
from doiuri_cli._fixes import Fixed, FixPolicy, fix_content, write_fixes
from doiuri_cli._run import Runner, inputs_of, with_entry_keys
from doiuri_cli.commands import PROBLEM, Command, exit_code, teller, write_message, write_problems
from doiuri_cli.commands._options import (
    code_options,
    columns_option,
    config_options,
    file_options,
    make_config,
    option,
    registry_options,
)
from doiuri_cli.output import all_option, check_outputs, output_option, write_report
from doiuri_cli.output._report import (
    IF_CONFIRMED,
    Counts,
    FindingsReport,
    count_corrections,
    number,
    outside_test_data,
    severities,
    unsafe_lines,
)
from doiuri_cli.rules import SEARCH_CODES, WORK_CODES

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence

    from doiuri_cli._run import InputFile
    from doiuri_cli.commands._options import FileOptions
    from doiuri_cli.files import Source
    from doiuri_cli.output import Output
    from doiuri_cli.registry import Answers
    from doiuri_cli.rules import Finding

_NO_LINE_END = b"\n\\ No newline at end of file\n"


@click.command(cls=Command)
@file_options
@columns_option
@click.option(
    "--diff", "writes_diff", is_flag=True, help="Write the changes as a diff; change no file."
)
@click.option(
    "--check",
    "only_counts",
    is_flag=True,
    help="Only say how many changes are due; change no file.",
)
@click.option(
    "--unsafe-fixes",
    "unsafe",
    is_flag=True,
    help="Also correct DOIs that are not registered, if the corrected DOI is, and fix test data and "
    "generated files and templates. Asks the registry.",
)
@option("search")
@code_options
@registry_options
@config_options
@output_option
@all_option
@click.option("-q", "--quiet", is_flag=True, help="Write no summary.")
def fix(
    files: FileOptions,
    outputs: Sequence[Output],
    *,
    writes_diff: bool,
    only_counts: bool,
    unsafe: bool,
    shows_all: bool,
    quiet: bool,
    **options: object,
) -> int:
    """Correct how DOIs are written, and report what is left.

    Without --unsafe-fixes, all DOIs stay the same, and no requests are sent. The text from standard input (-)
    is written to standard output. The exit code is 1 if errors are left (with --fail-on warning, also for
    warnings) or, with --check and --diff, if changes are due; 2 if a file or the configuration cannot be read
    or a file cannot be written; else 0.
    """
    config = make_config(**options)  # type: ignore[arg-type]
    if config.search and not unsafe:
        raise click.UsageError(
            "--search needs --unsafe-fixes, which writes the DOIs that are found"
        )
    # Differences from the registry's metadata have no fixes, so that none is asked for
    config = config._replace(ignore=config.ignore | WORK_CODES)
    selection = files.select(config)
    config = files.located(config, selection)
    check_outputs(outputs, selection.paths, selection.folders)
    inputs = inputs_of(selection.paths, files.stdin_filename, selection.named)
    runner = Runner(with_entry_keys(config, inputs), files.jobs, say=teller(quiet=quiet))
    plan = _plan_unsafe(runner, inputs) if unsafe else _plan_safe(runner, inputs)

    dry = writes_diff or only_counts
    results: list[Fixed] = []
    # Closed, so that its processes end if a file or the output cannot be written
    with contextlib.closing(plan.fixed_files(inputs)) as all_fixed:
        for file, result in zip(inputs, all_fixed, strict=True):
            # Of a file that cannot be read, there is only a report
            fixed = Fixed(result, result) if isinstance(result, FileReport) else result
            if writes_diff:
                _write_diff(fixed)
            written = fixed if dry else _write_fixed(file, fixed)
            # Without the texts: those of all files may not fit into memory
            results.append(written._replace(before=None, after=None))

    reports = [fixed.report for fixed in results]
    # With --check, what is wrong by now; else what the fixes leave, or would leave
    reported = [fixed.first for fixed in results] if only_counts else reports
    # Standard output may have the diff or the fixed text
    uses_output = writes_diff or any(file.content is not None for file in inputs)
    output = sys.stderr if uses_output else sys.stdout
    with contextlib.redirect_stdout(output):
        write_report(_report(reported)._replace(shows_all=shows_all), outputs)
    # If nothing could be read, the problems below say all there is to say
    if not (quiet or (selection.problems and not selection.paths)):
        for line in [*plan.summary, *_summary(results, dry=dry, unsafe=unsafe)]:
            click.echo(line, err=True)
    _write_remarks(results)

    if write_problems(selection, reports):
        return PROBLEM
    is_due = dry and any(fixed.applied for fixed in results)
    return 1 if is_due else exit_code(_findings(reports), config)


def _write_diff(fixed: Fixed) -> None:
    """Write what would change in a file to standard output."""
    if fixed.before is not None and fixed.after is not None:
        _write(diff(fixed.before, fixed.after.text))


def _write_fixed(file: InputFile, fixed: Fixed) -> Fixed:
    """Replace a file by the one with its fixes, and return what became of it.

    The text from standard input is written to standard output, with its fixes or as it is.
    """
    content = file.content
    if content is None:
        return write_fixes(fixed)
    after = fixed.after
    _write(content if after is None else after.to_bytes(after.text))
    return fixed


def _write_remarks(results: Iterable[Fixed]) -> None:
    """Write to standard error which files have fixes that were left out, or were hard-linked."""
    for fixed in results:
        path = fixed.report.path
        if fixed.refused:
            write_message(path, f"a fix was left out: {fixed.refused}")
        if fixed.links > 1:
            reason = f"was one of {fixed.links} hard links: the other names keep the old content"
            write_message(path, reason)


def _findings(reports: Iterable[FileReport]) -> list[Finding]:
    return list(chain.from_iterable(report.findings for report in reports))


class _Plan(NamedTuple):
    """How files are fixed, and what is known before: nothing, unless unsafe fixes are allowed."""

    runner: Runner
    answers: Answers | None = None  # about the DOIs; None if the registry was not asked
    policy: FixPolicy = FixPolicy()  # allows safe fixes only
    searched: Mapping[str, Sequence[Finding]] = {}  # what a search found, by the path of the file
    summary: Sequence[str] = ()  # the line on the search, if there was one

    def fixed_files(self, inputs: Sequence[InputFile]) -> Generator[Fixed | FileReport, None, None]:
        """Yield each file with its fixes, or a report that says why it cannot be read; no file is changed."""
        fix_one = partial(fix_content, self.runner.config, self.answers, self.policy, self.searched)
        return self.runner.map(fix_one, inputs, "Fixing files")


def _plan_safe(runner: Runner, inputs: Sequence[InputFile]) -> _Plan:
    """Return the plan for safe fixes.

    :raises ValueError: if a column is unknown: before any file is changed.
    """
    if runner.config.columns:
        runner.read(inputs)
    return _Plan(runner)


def _plan_unsafe(runner: Runner, inputs: Sequence[InputFile]) -> _Plan:
    """Return the plan for all fixes, after asking the registry about the DOIs of all files and the corrections."""
    from doiuri_cli.registry import check_names

    result = runner.check(inputs, at_once=True)
    policy = FixPolicy(lambda names: check_names(names, runner.config).statuses)
    policy.look_up(_findings(result.reports))
    searched = {
        report.path: [finding for finding in report.findings if finding.code in SEARCH_CODES]
        for report in result.reports
    }
    summary = [] if result.searched is None else [result.searched.line()]
    # In one process, as all files ask through one policy
    return _Plan(runner._replace(jobs=1), result.answers, policy, searched, summary)


def _write(octets: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(octets)
    sys.stdout.buffer.flush()


def diff(source: Source, text: str) -> bytes:
    """Return the diff, in the encoding of the file, so that ``patch`` and ``git apply`` take it.

    For UTF-16 and UTF-32, which diffs cannot hold, it is in UTF-8.
    """
    encoding = source.encoding
    mark = "\ufeff" if source.mark and encoding == "utf-8" else ""
    if encoding.startswith(("utf-16", "utf-32")):
        encoding = "utf-8"
    old = _lines(mark + source.text, encoding)
    new = _lines(mark + text, encoding)

    # git apply refuses an absolute path, and one with "." in it
    path = source.path.removeprefix("./").lstrip("/")
    names = _name(f"a/{path}"), _name(f"b/{path}")
    lines = list(difflib.diff_bytes(difflib.unified_diff, old, new, *names))
    # difflib leaves out the mark that says that the last line of a file has no line end
    for number_of_line, line in enumerate(lines):
        if not line.endswith(b"\n"):
            lines[number_of_line] = line + _NO_LINE_END
    return b"".join(lines)


def _lines(text: str, encoding: str) -> list[bytes]:
    """Return the lines of a text, each with its end; a line feed alone ends one."""
    *lines, last = text.split("\n")
    encoded = [f"{line}\n".encode(encoding) for line in lines]
    if last:
        encoded.append(last.encode(encoding))
    return encoded


def _name(path: str) -> bytes:
    """Return a path as git writes it: in quotes if a character of it would end the line or the quotes."""
    is_plain = path.isprintable() and '"' not in path and "\\" not in path
    octets = os.fsencode(path)
    if is_plain:
        return octets
    return b'"%s"' % b"".join(map(_octet, octets))


def _octet(octet: int) -> bytes:
    r"""Return an octet as git writes it in quotes, such as ``\303`` for one that is not ASCII."""
    character = bytes([octet])
    is_plain = 0x20 <= octet < 0x7F and character not in b'"\\'
    return character if is_plain else b"\\%03o" % octet


def _report(reports: Sequence[FileReport]) -> FindingsReport:
    """Return the report on the findings that are left; its figures are only those of the files."""
    names = set(chain.from_iterable(report.names for report in reports))
    return FindingsReport(_findings(reports), Counts(files=len(reports), dois=len(names)))


def _summary(results: Sequence[Fixed], *, dry: bool, unsafe: bool) -> list[str]:
    """Return the lines of the summary, with what ``--unsafe-fixes`` may do if it was not given.

    The first is such as "Fixed 2 in 1 file; 1 error left. 1 can be fixed with --unsafe-fixes if only the corrected
    DOI exists."
    """
    # What is left in test data changes no exit code, and is not counted; ``unsafe_lines`` counts its fixes
    all_left = _findings(fixed.report for fixed in results)
    left = outside_test_data(all_left)
    fixes = sum(fixed.applied for fixed in results)
    fixed_files = [fixed for fixed in results if fixed.applied]
    verb = "Would fix" if dry else "Fixed"
    summary = (
        f"{verb} {fixes} in {number(len(fixed_files), 'file')}; {severities(left) or '0'} left."
    )
    if unsafe:
        return [summary]

    corrections = count_corrections(left)
    if corrections:
        summary += f" {corrections} can be fixed with --unsafe-fixes {IF_CONFIRMED}."
    return [summary, *unsafe_lines(all_left)]
