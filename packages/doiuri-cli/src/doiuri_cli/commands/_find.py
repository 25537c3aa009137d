"""``doiuri find``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import click
from doiuri import Handle

from doiuri_cli._examine import FileReport, read_mentions
from doiuri_cli._run import Question, Run, attempt, contents_of
from doiuri_cli.commands._options import config_options, file_options, make_config
from doiuri_cli.commands._outcome import PROBLEM, write_problems
from doiuri_cli.output import visible
from doiuri_cli.output._report import encodable, to_json
from doiuri_cli.rules import finding_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri_cli.commands._options import FileOptions
    from doiuri_cli.files import Source

FORMATS = ("concise", "json", "jsonl")


class Found(NamedTuple):
    """A DOI in a file. Lines and columns count from 1, in a notebook within the cell."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None
    entry: str | None
    text: str
    doi: str

    def shown(self) -> dict[str, object]:
        """Return the members, without the lone surrogates of file names and texts."""
        members = self._asdict().items()
        return {name: encodable(value) if isinstance(value, str) else value for name, value in members}


@click.command()
@file_options
@config_options
@click.option("--unique", is_flag=True, help="List each DOI once; in the concise format, without its place.")
@click.option(
    "-o",
    "--output-format",
    "output",
    type=click.Choice(FORMATS),
    default="concise",
    help="Format of the list.",
)
def find(
    files: FileOptions,
    output: str,
    *,
    unique: bool,
    **options: object,
) -> int:
    """List the DOIs in files and folders.

    Without PATHS, the current folder is searched.
    """
    config = make_config(**options)  # type: ignore[arg-type]
    selection = files.select(config)
    questions = map(Question, contents_of(selection.paths, files.stdin_filename))
    failed: list[FileReport] = []
    places = _places(Run(config, files.jobs).map(_places_in, questions, "Reading files"), failed)
    _write(_unique(places) if unique else places, output, unique=unique)
    return PROBLEM if write_problems(selection, failed) else 0


def _places_in(question: Question) -> list[Found] | FileReport:
    return attempt(question.content, _listed)


def _listed(source: Source) -> list[Found]:
    found = []
    for mention in read_mentions(source):
        if (doi := mention.handle) is not None:
            at = finding_at(source, mention.part, mention.span, "", "")
            area = at.line, at.column, at.end_line, at.end_column
            found.append(Found(at.path, *area, at.cell, at.entry, mention.text, doi.name))
    return found


def _places(results: Iterable[list[Found] | FileReport], failed: list[FileReport]) -> Iterator[Found]:
    for result in results:
        if isinstance(result, FileReport):
            failed.append(result)
        else:
            yield from result


def _unique(places: Iterable[Found]) -> Iterator[Found]:
    seen = set()
    for place in places:
        key = Handle.from_name(place.doi).key
        if key not in seen:
            seen.add(key)
            yield place


def _write(places: Iterable[Found], output: str, *, unique: bool) -> None:
    if output == "json":
        sys.stdout.write(f"{to_json([place.shown() for place in places], indent=2)}\n")
        return
    for place in places:
        if output == "jsonl":
            line = to_json(place.shown())
        elif unique:
            line = place.doi
        else:
            cell = "" if place.cell is None else f"cell {place.cell}:"
            line = f"{visible(place.path)}:{cell}{place.line}:{place.column}: {place.doi}"
        sys.stdout.write(f"{line}\n")
