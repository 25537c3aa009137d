"""``doiuri find``."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from doiuri_cli._examine import FileReport
from doiuri_cli._run import Runner, examined, inputs_of, with_entry_keys
from doiuri_cli.commands import PROBLEM, Command, write_notes, write_problems
from doiuri_cli.commands._options import config_options, file_options, make_config
from doiuri_cli.output._report import (
    indented,
    inert,
    location_text,
    members,
    to_json,
    write_json_list,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri_cli._mentions import LocatedMention
    from doiuri_cli.commands._options import FileOptions

FORMATS = ("concise", "json", "jsonl")


@click.command(cls=Command)
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
    inputs = inputs_of(selection.paths, files.stdin_filename, selection.named)
    config = with_entry_keys(config, inputs)
    reports = Runner(config, files.jobs).map(partial(examined, config), inputs, "Reading files")
    remarks: list[FileReport] = []
    mentions = _mentions(reports, remarks)
    if unique:
        mentions = _unique(mentions)
    _write(mentions, output, unique=unique)
    write_notes(remarks)
    return PROBLEM if write_problems(selection, remarks) else 0


def _mentions(reports: Iterable[FileReport], remarks: list[FileReport]) -> Iterator[LocatedMention]:
    """Yield where the files mention DOIs, one file at a time: the reports on all may not fit into memory.

    :param remarks: a list to which a report without mentions is added for each file with a problem or a note.
    """
    for report in reports:
        if report.problem is not None or report.note is not None:
            remarks.append(FileReport(report.path, problem=report.problem, note=report.note))
        # Readers yield code after the prose around it, so that mentions are not in order
        for mention in sorted(report.mentions, key=lambda mention: mention.start):
            # Neither invalid DOIs, nor links such as https://doi.org/f3sz4k: it is a short DOI or a page of the
            # site, which only the registry knows, and this command does not ask it
            if mention.name is not None and not mention.may_be_page:
                yield mention


def _unique(mentions: Iterable[LocatedMention]) -> Iterator[LocatedMention]:
    """Yield the first mention of each DOI."""
    seen = set()
    for mention in mentions:
        if mention.key not in seen:
            seen.add(mention.key)
            yield mention


def _write(mentions: Iterable[LocatedMention], output: str, *, unique: bool) -> None:
    """Write the mentions in a format; a concise list has a place for each, unless it is one of unique DOIs."""
    if output == "json":
        write_json_list((indented(_members(mention)) for mention in mentions), sys.stdout)
        return
    for mention in mentions:
        if output == "jsonl":
            line = to_json(_members(mention))
        elif unique:
            line = inert(str(mention.name))
        else:
            line = f"{location_text(mention.location)}: {inert(str(mention.name))}"
        sys.stdout.write(f"{line}\n")


def _members(mention: LocatedMention) -> dict[str, object]:
    return members(mention.location, text=mention.text, doi=mention.name)
