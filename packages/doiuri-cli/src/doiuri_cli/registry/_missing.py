"""The DOIs of works that have none, by a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doiuri.plugins.survey import tally

from doiuri_cli.output._report import number, reasons
from doiuri_cli.registry import open_resolver

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from doiuri.search import Found

    from doiuri_cli._config import Config
    from doiuri_cli.files import SourceLocation
    from doiuri_cli.readers._without_doi import WorkWithoutDOI
    from doiuri_cli.registry import Progress

_LONG = 60.0  # seconds; a search that takes longer is announced


class Searched(NamedTuple):
    """What a search found."""

    found: Mapping[SourceLocation, Found]  # by the place of the entry

    def line(self) -> str:
        """Return the line of the summary: what was found, and what was sent to whom.

        For example, "Searched for 2 works without a DOI at Crossref (their titles, authors and years were sent):
        1 found, 0 likely, 1 not found."
        """
        if not self.found:
            return "No works without a DOI to search for."
        results = self.found.values()
        works = f"{number(len(results), 'work')} without a DOI"

        servers = sorted({name for result in results for name in result.sent_to})
        # No server was sent anything if all answers were in the cache
        where = " in what is known (nothing was sent)"
        if servers:
            where = f" at {' and '.join(servers)} (their titles, authors and years were sent)"

        # Each work counts once: a sure result has no likely ones, and no cause why it is unknown. A likely one may
        # have a cause, such as that the second server failed, and counts as likely
        sure = sum(result.sure is not None for result in results)
        likely = sum(bool(result.likely) for result in results)
        causes = [result.cause for result in results if result.cause and not result.likely]
        not_found = len(results) - sure - likely - len(causes)
        counts = f"{sure} found, {likely} likely, {not_found} not found"
        if causes:
            by_cause = {str(cause): count for cause, count in tally(causes).items()}
            counts += f", {len(causes)} unknown: {reasons(by_cause)}"
        return f"Searched for {works}{where}: {counts}."


def search_for(
    works: Sequence[WorkWithoutDOI],
    config: Config,
    say: Callable[[str], object],
    progress: Progress | None = None,
) -> Searched:
    """Return what a search finds about works without a DOI.

    :param say: called with what to tell people before a long search.
    :raises ValueError: if the resolver, the cache or the address of a server is wrong.
    """
    from doiuri.search import Search

    results_by_place: dict[SourceLocation, Found] = {}
    with open_resolver(config) as resolver:
        search = Search(resolver)
        if search.rate is not None and len(works) / search.rate > _LONG and not config.offline:
            say(_announcement(len(works), search.rate, config))
        metadata = [work.work for work in works]
        results = search.find(metadata, budget=config.budget, progress=progress)
        for work, result in zip(works, results, strict=True):
            if result.searched:
                results_by_place[work.location] = result
    return Searched(results_by_place)


def _announcement(works: int, rate: float, config: Config) -> str:
    minutes = round(works / rate / 60)
    text = f"Searching for {works:,} works takes up to {minutes} minutes"
    if config.mailto is None:  # then one request is sent a second, and not three
        text += "; a third of that with a mail address (DOIURI_MAILTO)"
    return f"{text}."
