"""Compare the entries of a bibliography with the works that their DOIs name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri.works import same_author, same_title

from doiuri_cli.rules import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from doiuri.works import Work

    from doiuri_cli.readers._bibliography import CitedWork

YEARS_APART = 1
"""Years between the publication online, which the registry often has, and that in print, which is cited."""

_LONGEST = 80  # characters of a title in a message


def work_findings(entries: Iterable[CitedWork], works: Mapping[str, Work]) -> Iterator[Finding]:
    """Yield a finding for each difference between an entry and the work that its DOI names."""
    for entry in entries:
        work = works.get(entry.doi.key)
        if work is not None:
            for code, message in _differences(entry, work):
                yield Finding(entry.location, code, message, entry.doi.name)


def _differences(entry: CitedWork, work: Work) -> Iterator[tuple[str, str]]:
    for notice in work.notices[:1]:  # the gravest
        if notice.type != "correction":
            yield "retracted" if work.retraction else "concern", f"{entry.doi.name}: {notice}"
    if work.published_version is not None:
        yield (
            "preprint-published",
            f"{entry.doi.name} is a preprint of {work.published_version.name}",
        )
    if entry.title and work.title and not same_title(entry.title, work.title):
        yield "title-differs", f"the title of {entry.doi.name} is {_quoted(work.title)}"
    if entry.year is not None and work.year is not None and not same_year(entry.year, work.year):
        yield "year-differs", f"the year of {entry.doi.name} is {work.year}, not {entry.year}"
    names = [*work.authors[:1], *work.editors]
    written = entry.first_author_family
    if written and names and not any(same_author(written, name) for name in names):
        yield "author-differs", f"the first author of {entry.doi.name} is {names[0]}, not {written}"


def _quoted(title: str) -> str:
    return f'"{title if len(title) <= _LONGEST else f"{title[:_LONGEST]}…"}"'


def same_year(one: int, other: int) -> bool:
    """Return whether two years may be those of one publication."""
    return abs(one - other) <= YEARS_APART
