"""``doiuri resolve``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from doiuri_cli.commands._options import config_options, make_config, registry_options
from doiuri_cli.output import visible
from doiuri_cli.registry._answers import ENTRIES, FORMS, answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import BinaryIO

    from doiuri.resolver import Resolver

    from doiuri_cli._config import Config
    from doiuri_cli.registry._answers import Answer

_STDIN = "-"
_NOT_FOUND, _UNKNOWN = 1, 3
_LONGEST = 500  # characters of a name in a message
_NOTHING = {"json": "null", "csl": "null"}
"""The line for a name without an answer, by the form; of the others it is empty."""


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--as", "form", type=click.Choice(FORMS), default="url", help="What to look up (url).")
@click.option("--style", default="apa", metavar="NAME", help="The CSL style of citations (apa).")
@click.option("--locale", default="en-US", metavar="NAME", help="The language of citations (en-US).")
@registry_options
@config_options
def resolve(names: tuple[str, ...], form: str, style: str, locale: str, **options: object) -> int:
    """Look DOIs up: their URLs, records, agencies, metadata or citations.

    NAME is a DOI in any form. With -, or without names, names are read from standard input, one per line. The
    output has a line for each name, in order; it is empty or null if there is no answer. The entries of
    bibtex and ris are separated by empty lines. Exit codes: 0 all found, 1 one or more not found or invalid,
    2 wrong use, 3 one or more unknown.
    """
    if not names and sys.stdin is not None and sys.stdin.isatty():
        raise click.UsageError("expected a DOI, or DOIs on standard input")
    with _open(make_config(**options)) as resolver:  # type: ignore[arg-type]
        try:
            found = answers(resolver, _names(names), form, style, locale)
        except ValueError as error:
            raise click.ClickException(str(error)) from None
        return _write(found, form)


def _open(config: Config) -> Resolver:
    from doiuri_cli.registry._check import open_resolver  # imports requests

    try:
        return open_resolver(config)
    except ValueError as error:
        raise click.ClickException(str(error)) from None


def _names(names: Sequence[str]) -> Iterator[str]:
    for name in names or (_STDIN,):
        if name != _STDIN:
            yield name
        elif sys.stdin is not None:
            yield from _lines(sys.stdin.buffer)


def _lines(stream: BinaryIO) -> Iterator[str]:
    for number, line in enumerate(stream):
        text = line.removeprefix(b"\xef\xbb\xbf") if not number else line
        name = text.decode("utf-8", "surrogateescape").strip()
        if name:
            yield name


def _write(found: Iterable[Answer], form: str) -> int:
    """Write the answers; return the exit code."""
    statuses, separator = set(), ""
    for answer in found:
        statuses.add(answer.status)
        if answer.status != "found":
            click.echo(f"doiuri: {visible(_problem(answer))}", err=True)
        if form not in ENTRIES:
            line = answer.text or _NOTHING.get(form, "")
            sys.stdout.write(f"{line if form in _NOTHING else visible(line)}\n")
        elif answer.text:
            sys.stdout.write(f"{separator}{answer.text}\n")
            separator = "\n"
        sys.stdout.flush()
    if statuses & {"not-found", "no-values", "invalid"}:
        return _NOT_FOUND
    return _UNKNOWN if "unknown" in statuses else 0


def _problem(answer: Answer) -> str:
    name = answer.name if len(answer.name) <= _LONGEST else f"{answer.name[:_LONGEST]}…"
    name = name if name.strip() else repr(name)
    match answer.status:
        case "not-found":
            return f"{name}: not found"
        case "invalid":
            return f"{name}: not a DOI: {answer.reason}"
        case "unknown":
            return f"{name}: unknown: {answer.reason}"
    return f"{name}: {answer.reason}"
