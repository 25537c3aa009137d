"""The rules about entries of a bibliography: whether the registry's metadata say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_cli.rules._finding import Finding
from doiuri_cli.rules._same import same_author, same_title, same_year

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from doiuri.records import Work

    from doiuri_cli.files import Source
    from doiuri_cli.readers._entries import Entry

_LONGEST = 80  # characters of a title in a message
_MARGIN = 500  # characters of a line that an excerpt keeps before a finding, and half of those after it


def record_findings(source: Source, entries: Iterable[Entry], works: Mapping[str, Work]) -> Iterator[Finding]:
    """Yield a finding for each difference between an entry and the work that its DOI names.

    :param source: the file.
    :param entries: its entries.
    :param works: the works by the DOI's key; an entry without one is not compared.
    """
    for entry in entries:
        work = works.get(entry.doi.key)
        if work is not None:
            for code, message in _differences(entry, work):
                yield _finding(source, entry, code, message)


def _differences(entry: Entry, work: Work) -> Iterator[tuple[str, str]]:
    if work.is_retracted:
        yield "retracted", f"{entry.doi.name} is retracted"
    if entry.title and work.title and not same_title(entry.title, work.title):
        yield "title-differs", f"the title of {entry.doi.name} is {_quoted(work.title)}"
    if entry.year is not None and work.year is not None and not same_year(entry.year, work.year):
        yield "year-differs", f"the year of {entry.doi.name} is {work.year}, not {entry.year}"
    names = [*work.authors[:1], *work.editors]
    written = entry.first_author_family
    if written and names and not any(same_author(written, name.family, str(name)) for name in names):
        yield "author-differs", f"the first author of {entry.doi.name} is {names[0]}, not {written}"


def _quoted(title: str) -> str:
    return f'"{title if len(title) <= _LONGEST else f"{title[:_LONGEST]}…"}"'


def _finding(source: Source, entry: Entry, code: str, message: str) -> Finding:
    start, end = map(source.lines.position, entry.span)
    column = max(1, start.column - _MARGIN)
    return Finding(
        source.path,
        *start,
        *end,
        code,
        message,
        doi=entry.doi.name,
        entry=entry.key or None,
        excerpt=source.lines.line(start.line, column, start.column + 2 * _MARGIN),
        excerpt_column=column,
    )
