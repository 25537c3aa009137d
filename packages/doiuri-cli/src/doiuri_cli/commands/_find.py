"""``doiuri find``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from doiuri_cli._mentions import mentions_in
from doiuri_cli.files import Source
from doiuri_cli.readers import reader_for
from doiuri_cli.readers._text import read as read_text
from doiuri_cli.rules import finding_at


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=str))
def find(paths: tuple[str, ...]) -> None:
    """List the DOIs in files and folders."""
    for path in paths:
        source = Source.from_bytes(path, Path(path).read_bytes())
        for part in (reader_for(path) or read_text)(source):
            for mention in mentions_in(part):
                if mention.doi is not None:
                    place = finding_at(source, part, (mention.start, mention.end), "", "")
                    sys.stdout.write(f"{path}:{place.line}:{place.column}: {mention.doi.name}\n")
