"""The output formats, and the options ``-o FORMAT`` and ``-o FORMAT:FILE``: which are written where."""

from __future__ import annotations

import os
import sys
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from doiuri_cli.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TextIO

    from doiuri_cli.output._report import FindingsReport

    Writer = Callable[[FindingsReport, TextIO], None]

_WITH_MARKS = frozenset({"full", "concise", "markdown"})  # of findings that have a safe fix
FORMATS = ("full", "concise", "json", "jsonl", "github", "gitlab", "sarif", "junit", "markdown")


class Output(NamedTuple):
    """A format, and the file that it is written to; None for standard output."""

    format: str
    path: str | None = None


def parse_outputs(
    _ctx: click.Context, _param: click.Parameter, values: Sequence[str]
) -> list[Output]:
    """Return the outputs that the values of the option name.

    :raises click.BadParameter: if one names no format, or two are for one place.
    """
    outputs = [_parse_output(value) for value in values]
    # None is standard output
    places = [output.path and os.path.realpath(output.path) for output in outputs]
    for output, place in zip(outputs, places, strict=True):
        if places.count(place) > 1:
            where = output.path or "standard output"
            raise click.BadParameter(
                f"two formats for {where}; write FORMAT:FILE, each with its own file"
            )
    return outputs


def _parse_output(value: str) -> Output:
    """Return the output that ``FORMAT`` or ``FORMAT:FILE`` names.

    :raises click.BadParameter: if there is no such format, or the file cannot be written.
    """
    name, colon, path = value.partition(":")
    if name not in FORMATS:
        raise click.BadParameter(f"{name!r} is not a format; choose from {', '.join(FORMATS)}")
    if colon and not path:
        raise click.BadParameter(
            f"{value!r} names no file; write {name}:FILE, or {name} for standard output"
        )
    if not path:
        return Output(name)
    folder = Path(path).resolve().parent
    if not folder.is_dir():  # known before the long work
        raise click.BadParameter(f"cannot write {path}: there is no folder {folder}")
    if Path(path).is_dir():
        raise click.BadParameter(f"cannot write {path}: it is a folder")
    return Output(name, path)


def check_outputs(outputs: Iterable[Output], paths: Iterable[str], folders: Iterable[str]) -> None:
    """Refuse output files that are not safe to write: an untrusted tree may contain a link to any file.

    :raises click.ClickException: if a path leads over a link in the tree, or to a file that is checked.
    """
    trees = {Path.cwd(), *map(Path, folders)}
    output_paths = [output.path for output in outputs if output.path is not None]
    for path in output_paths:
        full = Path(os.path.abspath(path))  # noqa: PTH100
        # A link above the trees, such as /tmp on macOS, was not made by a stranger
        for place in (full, *full.parents):
            if place.is_symlink() and not trees.isdisjoint(place.parents):
                raise click.ClickException(
                    f"cannot write {path}: {place} is a symbolic link; name its target"
                )
        if full.is_file() and any(map(full.samefile, filter(os.path.isfile, paths))):
            raise click.ClickException(
                f"cannot write {path}: it is one of the files to check; name another file, or --exclude it"
            )


def _complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in FORMATS if name.startswith(incomplete)]


output_option = click.option(
    "-o",
    "--output-format",
    "outputs",
    metavar="FORMAT[:FILE]",
    multiple=True,
    callback=parse_outputs,
    shell_complete=_complete,
    help=f"Format of the findings: {', '.join(FORMATS)}. With a FILE, they are also written to it.",
)
"""The option; the command gets a list of outputs as ``outputs``."""

all_option = click.option(
    "--all",
    "shows_all",
    is_flag=True,
    help="In full, concise and markdown, also list the findings in test data.",
)


def write_report(report: FindingsReport, outputs: Sequence[Output]) -> None:
    """Write a report in each format; ``full`` on standard output if no other format goes there.

    :raises click.ClickException: if a file cannot be written.
    """
    for output in outputs:
        if output.path is not None:
            _write_file(report, _writer(output.format), output.path)
    write = _writer(_format_of_standard_output(outputs))
    write(report, sys.stdout)
    sys.stdout.flush()


def _format_of_standard_output(outputs: Sequence[Output]) -> str:
    return next((output.format for output in outputs if output.path is None), "full")


def has_marks(outputs: Sequence[Output]) -> bool:
    """Return whether the findings on standard output are marked if ``doiuri fix`` corrects them."""
    return _format_of_standard_output(outputs) in _WITH_MARKS


def _writer(name: str) -> Writer:
    """Return the function that writes a format, loaded on first use."""
    from doiuri_cli.output import _programs, _terminal

    function = f"write_{name}"
    module = _terminal if hasattr(_terminal, function) else _programs
    write: Writer = getattr(module, function)
    return write


def _write_file(report: FindingsReport, write: Writer, path: str) -> None:
    """Write a report to a file, whole or not at all.

    :raises click.ClickException: if it cannot be written.
    """
    text = StringIO(newline="\n")
    try:
        write(report, text)
        replace_file(path, text.getvalue().encode(errors="backslashreplace"))
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror or error}") from error
