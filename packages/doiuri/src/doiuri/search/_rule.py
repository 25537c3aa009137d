"""Which of the works that a search returned is the one that was searched for: proof, or nothing.

Works that share a title are common: a paper and its erratum, a preprint, a talk before the article, chapters of
two editions. So a title alone proves nothing. A candidate is sure if the title, the first author and the year
agree, volume, page or container agrees, nothing contradicts, and no other candidate agrees as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri._doi import DOI
from doiuri._errors import DOISyntaxError
from doiuri.search._traits import Traits
from doiuri.works._likeness import count_words, equal_authors, equal_titles, folded
from doiuri.works._work import Work

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_FEW_WORDS = 2
"""Words of a title that many works share, such as "Editorial"."""

_COMMON_WORDS = frozenset(
    folded(
        "a an and book books chair chairs comments contents editor editorial editors erratum first for foreword"
        " from general guest in index introduction introductory issue letter letters message news note notes"
        " notices obituary of on preface president program report reports review reviews section second special"
        " the this to track welcome with workshop"
    ).split()
)
"""Words of longer titles that many works share, such as "Introduction to the special issue"."""


class Candidate(NamedTuple):
    """A work that a search returned: perhaps the one that was searched for."""

    doi: DOI
    """Its DOI."""

    year: int | None
    """The year of its publication, or None."""

    container: str
    """The title of what it is part of, or ""."""

    evidence: tuple[str, ...]
    """What agrees, of title, first author, year, volume, page and container, in this order."""


def choose(
    wanted: Work, found: Iterable[Mapping[str, Any]]
) -> tuple[Candidate | None, tuple[Candidate, ...]]:
    """Return the candidate that is sure, or None and those that are likely.

    :param wanted: the work that was searched for
    :param found: what the search returned, as CSL-JSON with the members that Crossref adds
    """
    own = Traits.of(wanted, wanted.csl)
    agreeing: dict[str, Candidate] = {}
    for item in found:
        candidate = compare(own, item)
        if candidate is not None:
            agreeing.setdefault(candidate.doi.key, candidate)

    candidates = tuple(agreeing.values())
    for candidate in candidates:
        others = [other for other in candidates if other is not candidate]
        if _is_proved(own, candidate) and all(_agrees_better(candidate, other) for other in others):
            return candidate, ()
    return None, candidates


def compare(own: Traits, item: Mapping[str, Any], *, same_year: bool = True) -> Candidate | None:
    """Return what agrees of a work that was found; None if it is another one.

    :param own: the traits of the work that was searched for
    :param item: the work that was found, with its DOI
    :param same_year: whether the years have to be the same, or next to each other
    """
    try:
        doi = DOI.from_name(str(item.get("DOI") or ""))
    except DOISyntaxError:
        return None
    work = Work(doi, item)
    other = Traits.of(work, item)
    if not equal_titles(own.title, other.title) or own.contradicts(other):
        return None
    if own.first_name is None or other.first_name is None:
        return None
    if not equal_authors(own.first_name.family, other.first_name):
        return None

    evidence = list(own.agreements(other))
    if own.years & other.years:
        evidence.insert(0, "year")
    elif same_year and not _are_next_to(own.years, other.years):
        return None
    return Candidate(doi, work.year, work.container, ("title", "first author", *evidence))


def _are_next_to(years: Iterable[int], others: Iterable[int]) -> bool:
    return any(abs(year - other) <= 1 for year in years for other in others)


def _is_proved(own: Traits, candidate: Candidate) -> bool:
    """Return whether enough agrees for a work that no other competes with."""
    evidence = candidate.evidence
    if _is_common(own.title):
        # A page of a conference is enough, but each issue has its editorial on page 1
        begins_anywhere = "container" in evidence and not own.begins_on_page_one
        return "page" in evidence and ("volume" in evidence or begins_anywhere)
    if own.about:
        return "page" in evidence  # a journal may have several errata of one article
    if "year" not in evidence:
        return "volume" in evidence or "page" in evidence
    return evidence[-1] in {"volume", "page", "container"}


def _is_common(title: str) -> bool:
    """Return whether a title is one that many works share."""
    return count_words(title) <= _FEW_WORDS or _COMMON_WORDS.issuperset(folded(title).split())


def _agrees_better(candidate: Candidate, other: Candidate) -> bool:
    """Return whether all that agrees of another candidate agrees of this one, and more."""
    return set(other.evidence) < set(candidate.evidence)
