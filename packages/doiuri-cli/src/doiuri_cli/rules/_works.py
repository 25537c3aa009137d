"""Compare the entries of a bibliography with the works that their DOIs name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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
        if work is None:
            continue
        for compare in (_status, _preprint, _title, _year, _author):
            difference = compare(entry, work)
            if difference is not None:
                yield Finding(entry.location, difference.code, difference.message, entry.doi.name)


class _Difference(NamedTuple):
    """What is different in the registry."""

    code: str
    message: str


def _status(entry: CitedWork, work: Work) -> _Difference | None:
    """Return the gravest notice on a work, such as a retraction, unless it is a correction."""
    if not work.notices:
        return None
    gravest = work.notices[0]
    if gravest.type == "correction":
        return None
    code = "retracted" if work.retraction else "concern"
    return _Difference(code, f"{entry.doi.name}: {gravest}")


def _preprint(entry: CitedWork, work: Work) -> _Difference | None:
    """Return the difference if a work is a preprint of one that has been published."""
    published = work.published_version
    if published is None:
        return None
    message = f"{entry.doi.name} is a preprint of {published.name}"
    return _Difference("preprint-published", message)


def _title(entry: CitedWork, work: Work) -> _Difference | None:
    if not entry.title or not work.title or same_title(entry.title, work.title):
        return None
    return _Difference("title-differs", f"the title of {entry.doi.name} is {_quoted(work.title)}")


def _year(entry: CitedWork, work: Work) -> _Difference | None:
    if entry.year is None or work.year is None or abs(entry.year - work.year) <= YEARS_APART:
        return None
    message = f"the year of {entry.doi.name} is {work.year}, not {entry.year}"
    return _Difference("year-differs", message)


def _author(entry: CitedWork, work: Work) -> _Difference | None:
    """Return the difference if the first author is another; an editor may be cited as the author."""
    family = entry.first_author_family
    names = [*work.authors[:1], *work.editors]
    if not family or not names or any(same_author(family, name) for name in names):
        return None
    message = f"the first author of {entry.doi.name} is {names[0]}, not {family}"
    return _Difference("author-differs", message)


def _quoted(title: str) -> str:
    if len(title) > _LONGEST:
        title = f"{title[:_LONGEST]}…"
    return f'"{title}"'
