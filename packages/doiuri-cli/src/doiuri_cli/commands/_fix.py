"""``doiuri fix``."""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from doiuri_cli._fixes import FixPolicy, fix_file
from doiuri_cli._run import Run, contents_of
from doiuri_cli.commands import PROBLEM, exit_code, write_message, write_problems
from doiuri_cli.commands._options import (
    code_options,
    columns_option,
    config_options,
    file_options,
    make_config,
    registry_options,
)
from doiuri_cli.output import check_outputs, output_option, write_report
from doiuri_cli.output._report import (
    IF_CONFIRMED,
    Counts,
    Report,
    count_corrections,
    number,
    severities,
    test_data_lines,
)
from doiuri_cli.rules import WORK_CODES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doiuri_cli._config import Config
    from doiuri_cli._examine import FileReport
    from doiuri_cli._fixes import Fixed
    from doiuri_cli._run import Content
    from doiuri_cli.commands._options import FileOptions
    from doiuri_cli.files import Source
    from doiuri_cli.output import Output

_NO_LINE_END = b"\n\\ No newline at end of file\n"


@click.command()
@file_options
@columns_option
@click.option("--diff", "show", is_flag=True, help="Write the changes as a diff; change no file.")
@click.option(
    "--check", "only", is_flag=True, help="Only say how many changes are due; change no file."
)
@click.option(
    "--unsafe-fixes",
    "unsafe",
    is_flag=True,
    help="Also correct DOIs that are not registered, if the corrected DOI is. Asks the registry.",
)
@code_options
@registry_options
@config_options
@output_option
@click.option("-q", "--quiet", is_flag=True, help="Write no summary.")
def fix(
    files: FileOptions,
    outputs: Sequence[Output],
    *,
    show: bool,
    only: bool,
    unsafe: bool,
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
    config = config._replace(ignore=config.ignore | WORK_CODES)  # they have no fixes
    dry = show or only
    selection = files.select(config)
    config = files.located(config, selection)
    check_outputs(outputs, selection.paths, selection.folders)
    contents = contents_of(selection.paths, files.stdin_filename)
    uses_output = show or any(content.content is not None for content in contents)
    results = []
    for content, fixed in zip(
        contents, _fixed(config, files.jobs, contents, unsafe, dry, uses_output), strict=True
    ):
        results.append(fixed._replace(before=None, after=None))
        before, after = fixed.before, fixed.after
        if show and before is not None and after is not None:
            _write(diff(before, after.text))
        elif content.content is not None and not dry:  # standard input, with its fixes or as it is
            _write(content.content if after is None else after.to_bytes(after.text))
    with contextlib.redirect_stdout(sys.stderr) if uses_output else contextlib.nullcontext():
        write_report(_report([one.first if only else one.report for one in results]), outputs)
    if not (quiet or (selection.problems and not selection.paths)):
        for line in _summary(results, dry=dry, unsafe=unsafe):
            click.echo(line, err=True)
    for one in results:
        if one.refused:
            write_message(one.report.path, f"a fix was left out: {one.refused}")
        if one.links > 1:
            write_message(
                one.report.path,
                f"no longer one of {one.links} hard links; the others stay as they were",
            )
    if write_problems(selection, (one.report for one in results)):
        return PROBLEM
    is_due = dry and any(one.applied for one in results)
    return (
        1
        if is_due
        else exit_code((left for one in results for left in one.report.findings), config)
    )


def _fixed(
    config: Config,
    jobs: int | None,
    contents: Sequence[Content],
    unsafe: bool,
    dry: bool,
    keep: bool,
) -> Iterator[Fixed]:
    """Yield what became of each file, in order; for unsafe fixes, the registry is asked about all at once."""
    answers, policy, run = None, FixPolicy(), Run(config, jobs)
    if unsafe:
        from doiuri_cli.registry import check_names

        reports, answers = run.check(contents)
        policy = FixPolicy(lambda names: check_names(names, config).statuses)
        policy.look_up(finding for report in reports for finding in report.findings)
        run = run._replace(jobs=1)  # all ask through one policy
    elif config.columns:
        run.read(
            contents
        )  # before any file is changed: raises an error for a column that no file has
    return run.map(
        partial(fix_file, config, answers, policy, dry=dry, keep=keep), contents, "Fixing files"
    )


def _write(octets: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(octets)
    sys.stdout.buffer.flush()


def diff(source: Source, text: str) -> bytes:
    """Return the diff, in the encoding of the file, so that ``patch`` and ``git apply`` take it.

    For UTF-16 and UTF-32, which diffs cannot hold, it is in UTF-8.
    """
    mark = "\ufeff" if source.mark and source.encoding == "utf-8" else ""
    encoding = "utf-8" if source.encoding.startswith(("utf-16", "utf-32")) else source.encoding
    old, new = (_lines(mark + version, encoding) for version in (source.text, text))
    path = source.path.removeprefix("./").lstrip("/")
    lines = difflib.diff_bytes(
        difflib.unified_diff, old, new, _name(f"a/{path}"), _name(f"b/{path}")
    )
    return b"".join(line if line.endswith(b"\n") else line + _NO_LINE_END for line in lines)


def _lines(text: str, encoding: str) -> list[bytes]:
    *lines, last = text.split("\n")
    whole = [f"{line}\n".encode(encoding) for line in lines]
    return [*whole, last.encode(encoding)] if last else whole


def _name(path: str) -> bytes:
    """Return a path as git writes it: in quotes if a character of it would end the line or the quotes."""
    plain = path.isprintable() and not set('"\\') & set(path)
    return os.fsencode(path) if plain else b'"%s"' % b"".join(map(_octet, os.fsencode(path)))


def _octet(octet: int) -> bytes:
    character = bytes([octet])
    return character if 0x20 <= octet < 0x7F and character not in b'"\\' else b"\\%03o" % octet


def _report(reports: Sequence[FileReport]) -> Report:
    findings = [finding for report in reports for finding in report.findings]
    names = {name for report in reports for name in report.names}
    return Report(findings, Counts(files=len(reports), dois=len(names)))


def _summary(results: Sequence[Fixed], *, dry: bool, unsafe: bool) -> list[str]:
    """Return the lines of the summary, with what ``--unsafe-fixes`` may do if it was not given."""
    left = [finding for fixed in results for finding in fixed.report.findings]
    count = sum(fixed.applied for fixed in results)
    files = number(sum(fixed.applied > 0 for fixed in results), "file")
    verb = "Would fix" if dry else "Fixed"
    summary = f"{verb} {count} in {files}; {severities(left) or '0'} left."
    if unsafe:
        return [summary]

    corrections = count_corrections(left)
    if corrections:
        summary += f" {corrections} can be fixed with --unsafe-fixes {IF_CONFIRMED}."
    return [summary, *test_data_lines(left)]
