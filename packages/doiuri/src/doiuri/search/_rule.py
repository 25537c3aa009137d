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


class Verdict(NamedTuple):
    """What the works that a search returned prove."""

    sure: Candidate | None
    """The work that was searched for, or None if no candidate is proved."""

    likely: tuple[Candidate, ...]
    """If none is sure, all candidates."""


def choose(work: Work, items: Iterable[Mapping[str, Any]]) -> Verdict:
    """Return the candidate that is sure, or else those that are likely.

    :param work: the work that was searched for
    :param items: what the search returned, as CSL-JSON with the members that Crossref adds
    """
    wanted = Traits.of(work)
    by_doi: dict[str, Candidate] = {}
    for item in items:
        candidate = compare(wanted, item)
        if candidate is not None:
            by_doi.setdefault(candidate.doi.key, candidate)

    candidates = tuple(by_doi.values())
    for candidate in candidates:
        rivals = [rival for rival in candidates if rival is not candidate]
        agrees_best = all(_agrees_better(candidate, rival) for rival in rivals)
        if agrees_best and _is_proved(wanted, candidate):
            return Verdict(candidate, ())
    return Verdict(None, candidates)


def compare(wanted: Traits, item: Mapping[str, Any], *, same_year: bool = True) -> Candidate | None:
    """Return a work that a search returned, with what agrees; None if it is not the one that is wanted.

    Title and first author have to agree, and nothing may contradict.

    :param wanted: the traits of the work that was searched for
    :param item: the work that the search returned, with its DOI
    :param same_year: whether the years have to be the same, or next to each other
    """
    try:
        doi = DOI.from_name(str(item.get("DOI") or ""))
    except DOISyntaxError:
        return None
    work = Work(doi, item)
    traits = Traits.of_item(work, item)
    if not equal_titles(wanted.title, traits.title) or wanted.contradicts(traits):
        return None
    if wanted.first_name is None or traits.first_name is None:
        return None
    if not equal_authors(wanted.first_name.family, traits.first_name):
        return None

    evidence = list(wanted.agreements(traits))
    if wanted.years & traits.years:
        evidence.insert(0, "year")
    elif same_year and not _are_next_to(wanted.years, traits.years):
        return None
    return Candidate(doi, work.year, work.container, ("title", "first author", *evidence))


def _are_next_to(years: Iterable[int], other_years: Iterable[int]) -> bool:
    return any(abs(year - other) <= 1 for year in years for other in other_years)


def _is_proved(wanted: Traits, candidate: Candidate) -> bool:
    """Return whether so much agrees that a candidate is the wanted work, unless another one agrees as well.

    Title and first author agree. What else has to agree is

    - for a title that many works share, the page, and with it the volume or the container;
    - for a correction or the like, the page;
    - if the year does not agree, the volume or the page;
    - otherwise the volume, the page or the container.
    """
    evidence = candidate.evidence
    if _is_common(wanted.title):
        # A page of a conference is enough, but each issue has its editorial on page 1
        is_page_of_container = "container" in evidence and not wanted.begins_on_page_one
        return "page" in evidence and ("volume" in evidence or is_page_of_container)
    if wanted.about:
        return "page" in evidence  # a journal may have several errata of one article
    if "year" not in evidence:
        return "volume" in evidence or "page" in evidence
    return not {"volume", "page", "container"}.isdisjoint(evidence)


def _is_common(title: str) -> bool:
    """Return whether a title is one that many works share."""
    return count_words(title) <= _FEW_WORDS or _COMMON_WORDS.issuperset(folded(title).split())


def _agrees_better(candidate: Candidate, rival: Candidate) -> bool:
    """Return whether all that agrees of a rival agrees of this candidate, and more."""
    return set(rival.evidence) < set(candidate.evidence)
