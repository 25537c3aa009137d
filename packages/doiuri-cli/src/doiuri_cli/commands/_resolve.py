"""``doiuri resolve``."""

from __future__ import annotations

import re
import sys
from itertools import tee
from json import dumps
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import click

from doiuri_cli.commands import Command
from doiuri_cli.commands._options import config_options, make_config, registry_options
from doiuri_cli.output._report import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import BinaryIO

    from doiuri.resolver import Outcome, Resolver
    from doiuri.works import Work


FORMS = ("url", "json", "agency", "csl", "bibtex", "ris", "citation")
SPARSE = frozenset({"bibtex", "json", "ris"})  # the forms that leave out names without an answer
RIS = "application/x-research-info-systems"
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_STDIN = "-"
_NOT_FOUND = 1  # the exit code if a DOI is not found or invalid
_UNKNOWN = 3  # that if a DOI is unknown
_NO_METADATA = "there is no metadata"
_LONGEST = 500  # characters of a name in a message


@click.command(cls=Command)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--as", "form", type=click.Choice(FORMS), default="url", help="What to look up (url)."
)
@click.option(
    "--style",
    default="author-date",
    metavar="NAME",
    help="The style of citations: author-date, numeric or a .csl file.",
)
@click.option(
    "--locale", default="en-US", metavar="NAME", help="The language of citations (en-US)."
)
@registry_options
@config_options
def resolve(names: tuple[str, ...], form: str, style: str, locale: str, **options: object) -> int:
    """Look DOIs up: their URLs, records, agencies, metadata or citations.

    NAME is a DOI in any form. With -, or without names, names are read from standard input, one per line. The
    output has a line for each name, in order; it is empty (csl: null) if there is no answer. Names without a
    record are left out of json, so that doiuri-proxy can serve the output. The entries of bibtex and ris are
    separated by empty lines. Exit codes: 0 all found, 1 one or more not found or invalid, 2 wrong use, 3 one
    or more unknown.
    """
    if not names and sys.stdin is not None and sys.stdin.isatty():
        raise click.UsageError("expected a DOI, or DOIs on standard input")
    from doiuri_cli.registry import open_resolver  # imports requests

    formatter = _formatter(style, locale) if form == "citation" else None
    with open_resolver(make_config(**options)) as resolver:  # type: ignore[arg-type]
        results = _look_up(resolver, _names(names), form, formatter)
        return _write(results, form)


def _names(names: Sequence[str]) -> Iterator[str]:
    """Yield the names on the command line; those on standard input for ``-``, or if there are none."""
    for name in names or (_STDIN,):
        if name != _STDIN:
            yield name
        elif sys.stdin is not None:
            yield from _lines(sys.stdin.buffer)


def _lines(stream: BinaryIO) -> Iterator[str]:
    """Yield the lines that are not blank, without the byte order mark that the first may have."""
    for number, line in enumerate(stream):
        if number == 0:
            line = line.removeprefix(b"\xef\xbb\xbf")  # noqa: PLW2901
        name = line.decode("utf-8", "surrogateescape").strip()
        if name:
            yield name


class LookupResult(NamedTuple):
    """What was looked up about a name."""

    name: str  # as it was given
    status: str  # as an Outcome has it
    text: str = ""  # what is written; "" if there is none
    reason: str = ""  # why there is none


Formatter: TypeAlias = "Callable[[Work], str]"


def _formatter(style_name: str, language: str) -> Formatter:
    """Return a function that returns the entry of a work in a list of references.

    :raises click.UsageError: if there is no such style or locale.
    """
    from doiuri.citations import Bibliography, ReferenceStyle, load_locale, text_of

    try:
        style = ReferenceStyle.load(style_name)
        locale = load_locale(language)
    except ValueError as error:
        raise click.UsageError(str(error)) from None

    def formatted(work: Work) -> str:
        (entry,) = Bibliography([work.key], {work.key: work}, style, locale).entries()
        return text_of(entry.spans)

    return formatted


def _look_up(
    resolver: Resolver, names: Iterable[str], form: str, formatter: Formatter | None
) -> Iterator[LookupResult]:
    """Return a result for each name, in order; names are read as they are needed."""
    given, asked = tee(names)  # an outcome does not have its name as it was given
    match form:
        case "url" | "json":
            outcomes = resolver.resolve_many(asked)
        case "agency":
            outcomes = resolver.agencies(asked)
        case "csl" | "citation":
            outcomes = resolver.works(asked)
        case "bibtex":
            outcomes = resolver.bibtex_many(asked)
        case _:
            outcomes = resolver.metadata_many(asked, RIS)
    return (
        _result(name, outcome, form, formatter)
        for name, outcome in zip(given, outcomes, strict=True)
    )


def _result(name: str, outcome: Outcome, form: str, formatter: Formatter | None) -> LookupResult:
    """Return what was looked up; the status is "no-values" if a registered DOI lacks what was asked for."""
    if outcome.status != "found":
        return LookupResult(name, outcome.status, reason=outcome.reason)
    if formatter and outcome.work:
        return LookupResult(name, "found", formatter(outcome.work))
    try:
        text = _text(outcome, form)
    except _NoTextError as error:
        return LookupResult(name, "no-values", reason=str(error))
    return LookupResult(name, "found", text)


class _NoTextError(Exception):
    """A registered DOI lacks what is asked for; the text says what."""


def _text(outcome: Outcome, form: str) -> str:
    """Return the text of an answer.

    :raises _NoTextError: if there is none.
    """
    if form == "url":
        url = outcome.record.url if outcome.record else None
        return _required(url, "the record has no URL")
    if form == "json":
        record = outcome.record.to_json() if outcome.record else None
        return _required(record, "there is no record")
    if form == "agency":
        return _required(outcome.agency, "the registration agency is not known")
    if form == "csl":
        return _csl(outcome.work)

    metadata = outcome.metadata.text if outcome.metadata else ""
    if form == "bibtex":
        return _bibtex(metadata)
    if form == "ris":
        return _ris(metadata)
    # The form is "citation", and the work is not known
    raise _NoTextError(_NO_METADATA)


def _required(text: str | None, reason: str) -> str:
    """Return a text. Raises _NoTextError, with a reason, if there is none or it is empty."""
    if not text:
        raise _NoTextError(reason)
    return text


def _csl(work: Work | None) -> str:
    """Return CSL-JSON in one line; members of the work take precedence over the id and the DOI."""
    if work is None or work.doi is None:
        raise _NoTextError(_NO_METADATA)
    name = work.doi.name
    return dumps({"id": name, "DOI": name, **work.csl}, ensure_ascii=False)


def _bibtex(answer: str) -> str:
    """Return a BibTeX entry as TeX may read it."""
    from doiuri_cli.registry._bib import readable

    return _required(readable(answer), "its BibTeX entry cannot be read")


def _ris(answer: str) -> str:
    """Return RIS without control characters and blank lines around it."""
    text = _CONTROLS.sub("", answer).strip("\ufeff \n")
    if not text.startswith("TY  -"):
        raise _NoTextError(f"the answer is not RIS: {text[:40]!r}")
    return text


def _write(results: Iterable[LookupResult], form: str) -> int:
    """Write the results as they come; return the exit code.

    The sparse forms omit names without a text; the others have a line for each.
    """
    statuses = set()
    separator = ""  # written before an entry: an empty line between those of BibTeX and RIS
    for result in results:
        statuses.add(result.status)
        if result.status != "found":
            click.echo(f"doiuri: {visible(_problem(result))}", err=True)
        if form in SPARSE:
            if result.text:
                sys.stdout.write(f"{separator}{result.text}\n")
                separator = "" if form == "json" else "\n"
        elif form == "csl":
            sys.stdout.write(f"{result.text or 'null'}\n")
        else:
            sys.stdout.write(f"{visible(result.text)}\n")
        sys.stdout.flush()
    # What is wrong for certain decides, whatever could not be looked up
    if statuses & {"not-found", "no-values", "invalid"}:
        return _NOT_FOUND
    return _UNKNOWN if "unknown" in statuses else 0


def _problem(result: LookupResult) -> str:
    """Return what to say about a name without an answer."""
    name = result.name
    if len(name) > _LONGEST:
        name = f"{name[:_LONGEST]}…"
    if not name.strip():  # blanks, which nobody would see
        name = repr(name)
    match result.status:
        case "not-found":
            return f"{name}: not found"
        case "invalid":
            return f"{name}: not a DOI: {result.reason}"
        case "unknown":
            return f"{name}: unknown: {result.reason}"
    return f"{name}: {result.reason}"
