"""What a search found about the works of a bibliography that have no DOI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_cli.rules import Finding, Fix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from doiuri.search import Candidate, Found

    from doiuri_cli.files import SourceLocation
    from doiuri_cli.readers._without_doi import WorkWithoutDOI

_AGREEING = frozenset({"title", "first author", "year", "volume", "page", "container"})


def search_findings(
    works: Iterable[WorkWithoutDOI], results: Mapping[SourceLocation, Found]
) -> Iterator[Finding]:
    """Yield what a search found about works without a DOI.

    :param results: the results, each by the place of the entry.
    """
    for work in works:
        result = results.get(work.location)
        if result is None:
            continue
        if result.sure is not None:
            fix = _fix(work, result.sure)
            yield Finding(work.location, "doi-found", _why_sure(result.sure), fix=fix)
        elif result.likely:
            candidates = " or ".join(map(_described, result.likely))
            message = f"may be {candidates}: the same title and first author"
            yield Finding(work.location, "doi-likely", message)


def _why_sure(candidate: Candidate) -> str:
    """Return the message on a DOI that is sure.

    It is "is registered as 10.1000/1 (title, first author and year agree)"; if the entry names the DOI in another
    field, the parenthesis begins with "named by its URL; ".
    """
    agreeing = [trait for trait in candidate.evidence if trait in _AGREEING]
    fields = [field for field in candidate.evidence if field not in _AGREEING]
    where = f"named by its {fields[0]}; " if fields else ""
    *before, last = agreeing
    return f"is registered as {candidate.doi.name} ({where}{', '.join(before)} and {last} agree)"


def _described(candidate: Candidate) -> str:
    """Return a DOI with the year and the container of its work, as in "10.1000/1 (2020, in J. Bot.)"."""
    about = [str(candidate.year)] if candidate.year is not None else []
    if candidate.container:
        about.append(f"in {candidate.container}")
    return f"{candidate.doi.name} ({', '.join(about)})" if about else candidate.doi.name


def _fix(work: WorkWithoutDOI, candidate: Candidate) -> Fix | None:
    """Return the fix that adds a DOI to an entry; it is not safe, since the entry gets one that it had not."""
    insertion = work.insertion
    if insertion is None:
        return None
    text = insertion.text(candidate.doi.name)
    return Fix(insertion.start, insertion.start, text, safe=False, name=candidate.doi.name)
