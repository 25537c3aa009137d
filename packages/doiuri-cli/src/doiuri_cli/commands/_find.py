"""``doiuri find``."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click
from doiuri import Handle

from doiuri_cli._examine import FileReport
from doiuri_cli._run import Run, contents_of, examined
from doiuri_cli.commands import PROBLEM, write_notes, write_problems
from doiuri_cli.commands._options import config_options, file_options, make_config
from doiuri_cli.output._report import members, to_json, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri_cli.commands._options import FileOptions
    from doiuri_cli.rules import Finding

FORMATS = ("concise", "json", "jsonl")


@click.command()
@file_options
@config_options
@click.option(
    "--unique", is_flag=True, help="List each DOI once; in the concise format, without its place."
)
@click.option(
    "-o",
    "--output-format",
    "output",
    type=click.Choice(FORMATS),
    default="concise",
    help="Format of the list.",
)
def find(files: FileOptions, output: str, *, unique: bool, **options: object) -> int:
    """List the DOIs in files and folders.

    Without PATHS, the current folder is searched.
    """
    config = make_config(**options)  # type: ignore[arg-type]
    selection = files.select(config)
    run, contents = Run(config, files.jobs), contents_of(selection.paths, files.stdin_filename)
    read: list[FileReport] = []
    places = _places(run.map(partial(examined, config), contents, "Reading files"), read)
    _write(_unique(places) if unique else places, output, unique=unique)
    write_notes(read)
    return PROBLEM if write_problems(selection, read) else 0


def _places(reports: Iterable[FileReport], read: list[FileReport]) -> Iterator[Finding]:
    """Yield where the files mention DOIs; add the reports, without what may be large, to a list."""
    for report in reports:
        read.append(FileReport(report.path, problem=report.problem, note=report.note))
        for place in sorted(report.places, key=lambda place: place.start):
            if place.at.doi is not None:
                yield place.at


def _unique(places: Iterable[Finding]) -> Iterator[Finding]:
    seen = set()
    for place in places:
        key = Handle.from_name(place.doi or "").key
        if key not in seen:
            seen.add(key)
            yield place


def _write(places: Iterable[Finding], output: str, *, unique: bool) -> None:
    if output == "json":
        listed = [members(place, text=place.message, doi=place.doi) for place in places]
        sys.stdout.write(f"{to_json(listed, indent=2)}\n")
        return
    for place in places:
        if output == "jsonl":
            line = to_json(members(place, text=place.message, doi=place.doi))
        elif unique:
            line = str(place.doi)
        else:
            cell = "" if place.cell is None else f"cell {place.cell}:"
            line = f"{visible(place.path)}:{cell}{place.line}:{place.column}: {place.doi}"
        sys.stdout.write(f"{line}\n")
