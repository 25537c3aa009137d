"""``doiuri fix``."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from doiuri_cli._config import Config
from doiuri_cli.fixes._diff import diff
from doiuri_cli.fixes._files import STDIN, Files
from doiuri_cli.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TextIO

    from doiuri_cli.fixes._files import Fixed


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=str))
@click.option("--diff", "show", is_flag=True, help="Show the changes as a diff; write nothing.")
@click.option("--check", "only", is_flag=True, help="Only say how many changes are due; write nothing.")
@click.option(
    "--unsafe-fixes",
    "unsafe",
    is_flag=True,
    help="Also correct DOIs that are not registered, if the corrected one is. Asks the registry.",
)
@click.option("--stdin-filename", default=STDIN, help="The name of the file that - stands for.")
@click.option("--resolver", help="URL of the DOI proxy to ask.")
def fix(
    paths: tuple[str, ...], *, show: bool, only: bool, unsafe: bool, stdin_filename: str, resolver: str | None
) -> int:
    """Correct how DOIs are written.

    What is left is reported. Without --unsafe-fixes, all DOIs stay the same and nothing is asked.
    """
    config = Config(resolver=resolver)
    config = config if unsafe else replace(config, offline=True)
    files = Files(config, unsafe, show or only, stdin_filename)
    results = []
    for path, fixed in zip(paths, files.fix(paths), strict=True):
        results.append(fixed)
        _show(path, fixed, show=show, only=only)
    _report(results, sys.stderr if show or STDIN in paths else sys.stdout)
    _summarize(results, due=show or only)
    return _code(results, due=show or only)


def _show(path: str, fixed: Fixed, *, show: bool, only: bool) -> None:
    """Write the diff, or the text from standard input."""
    if fixed.problem is not None:
        click.echo(f"doiuri: {fixed.report.path}: {fixed.problem}", err=True)
    if fixed.before is None or fixed.mended is None:
        return
    if show:
        sys.stdout.flush()
        sys.stdout.buffer.write(diff(fixed.before, fixed.mended.text))
    elif path == STDIN and not only:
        sys.stdout.flush()
        sys.stdout.buffer.write(fixed.mended.to_bytes(fixed.mended.text))


def _report(results: Iterable[Fixed], stream: TextIO) -> None:
    for fixed in results:
        for finding in fixed.report.findings:
            severity = RULES[finding.code].severity.label
            place = f"{finding.path}:{finding.line}:{finding.column}"
            stream.write(f"{place}: {severity}[{finding.code}] {finding.message}\n")


def _summarize(results: Sequence[Fixed], *, due: bool) -> None:
    count = sum(fixed.applied for fixed in results)
    files = sum(fixed.applied > 0 for fixed in results)
    left = sum(len(fixed.report.findings) for fixed in results)
    word = "Would fix" if due else "Fixed"
    click.echo(f"{word} {count} in {files} file{'' if files == 1 else 's'}; {left} left.", err=True)


def _code(results: Sequence[Fixed], *, due: bool) -> int:
    if any(fixed.problem is not None for fixed in results):
        return 2
    if due and any(fixed.applied for fixed in results):
        return 1
    errors = (finding for fixed in results for finding in fixed.report.findings)
    return int(any(RULES[finding.code].severity.label == "error" for finding in errors))
