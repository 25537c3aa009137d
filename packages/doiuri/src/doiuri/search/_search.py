"""Search: from works without a DOI to the DOIs that they have."""

from __future__ import annotations

from collections.abc import Sized
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from doiuri._doi import DOI
from doiuri._options import Option, deadline_in, read_options, text, time_left
from doiuri._urls import read_base
from doiuri.resolver._resolver import Resolver
from doiuri.resolver.http._client import Budget
from doiuri.search._identifiers import named_dois
from doiuri.search._rule import Candidate, choose, compare
from doiuri.search._servers import CROSSREF, DATACITE
from doiuri.search._source import Source
from doiuri.search._traits import Traits
from doiuri.search._unsent import says_unpublished
from doiuri.works._likeness import count_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from doiuri._options import Default
    from doiuri.resolver._outcome import Cause
    from doiuri.search._identifiers import Named
    from doiuri.search._servers import Item
    from doiuri.works._work import Work

OPTIONS = (
    Option(
        "crossref",
        "https://api.crossref.org",
        "base URL of Crossref's API",
        lambda value: read_base(text(value)),
        variable="DOIURI_CROSSREF",
    ),
    Option(
        "datacite",
        "https://api.datacite.org",
        "base URL of DataCite's API",
        lambda value: read_base(text(value)),
        variable="DOIURI_DATACITE",
    ),
)
"""The addresses of the search servers."""

_AHEAD = 25
"""Works that are read ahead, whose DOIs are confirmed together."""

_AT_DATACITE = frozenset({"dataset", "software"})
"""Types of which DataCite has most works, so that it is asked first."""

_AT_BOTH = _AT_DATACITE | {"article", "document", "report", "thesis", "webpage"}
"""Types of which both have works; an entry of BibTeX that says nothing (``@misc``) is a document."""

_DEPOSITS = ("10.48550/", "10.5281/")
"""Prefixes of arXiv and Zenodo, to which authors also give other versions of what they publish."""


class Found(NamedTuple):
    """What a search found about a work."""

    work: Work
    """The work that was searched for."""

    sure: Candidate | None = None
    """The work that it is, which is registered; None if that is not certain."""

    likely: tuple[Candidate, ...] = ()
    """If none is sure, the works that it may be: the same title and first author, about the same year."""

    sent_to: tuple[str, ...] = ()
    """The servers that were sent its title, first author, year and so on; none if their answers were stored."""

    searched: bool = True
    """Whether it was searched for: not if it is said to be unpublished, has no title, or has a DOI already."""

    cause: Cause | None = None
    """Why it is not known whether it has a DOI; None if it is known."""

    @property
    def doi(self) -> DOI | None:
        """The DOI if it is sure, or None."""
        return None if self.sure is None else self.sure.doi

    @property
    def evidence(self) -> tuple[str, ...]:
        """Why the DOI is sure: what names it, if that is the work's own URL or the like, and what agrees."""
        return () if self.sure is None else self.sure.evidence


class Search:
    """Searches Crossref and DataCite for the DOIs of works that have none.

    A DOI is sure if the title, the first author and the year agree, volume, page or container agrees, nothing
    contradicts, and no other work agrees as well. Title, first author, year, container, volume and page of a work
    are sent to the servers, unless its own description names its DOI, such as in its URL. Works that are said to
    be unpublished are not searched for.

    If the resolver has a mail address, three requests are sent a second, three at once; otherwise one. Lower
    limits that a server announces are kept. Answers are stored for 30 days, or for 7 if the work is not in them.

    :param resolver: asked whether found DOIs are registered. Its settings are those of the search, too: the mail
        address, the timeout, the store, whether it is offline. By default ``Resolver()``.
    :param crossref: base URL of Crossref's API; by default ``DOIURI_CROSSREF`` or https://api.crossref.org.
    :param datacite: base URL of DataCite's API; by default ``DOIURI_DATACITE`` or https://api.datacite.org.
    :raises ValueError: if a URL is invalid
    """

    def __init__(
        self,
        resolver: Resolver | None = None,
        *,
        crossref: str | None = None,
        datacite: str | None = None,
    ) -> None:
        self._resolver = Resolver() if resolver is None else resolver
        bases = read_options(OPTIONS, {"crossref": crossref, "datacite": datacite})
        self._crossref = Source(CROSSREF, bases["crossref"], self._resolver)
        self._datacite = Source(DATACITE, bases["datacite"], self._resolver)

    @property
    def requests(self) -> int:
        """The number of requests that were sent to the search servers so far."""
        return self._crossref.requests + self._datacite.requests

    @property
    def rate(self) -> float | None:
        """The most requests a second to each of them; None if there is no limit."""
        return self._crossref.rate

    def find(
        self,
        works: Iterable[Work],
        *,
        budget: float | Default | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Iterator[Found]:
        """Yield what is found about each work, in order; no work raises an error.

        Up to 25 works are read ahead.

        :param works: works without a DOI, such as those of ``doiuri.citations.read_works``; one that has a DOI is
            not searched for
        :param budget: seconds for all of them, from the first ``next``; by default there is no limit
        :param progress: called with the number of works that are done, and of all if it is known
        """
        seconds = self._resolver.settings.seconds(budget)
        total = len(works) if isinstance(works, Sized) else None
        source = iter(works)
        time_budget = Budget(deadline_in(seconds))
        done = 0
        try:
            while ahead := list(islice(source, _AHEAD)):
                for result in self._find_together(ahead, time_budget):
                    done += 1
                    if progress is not None:
                        progress(done, total)
                    yield result
        finally:
            time_budget.end()

    def _find_together(self, works: Sequence[Work], budget: Budget) -> list[Found]:
        """Return what is found about some works.

        1. A work may name its DOI itself, as in its URL. The metadata of all such DOIs is fetched together, and a
           DOI counts if title and author agree.
        2. The other works are searched for, several at once.
        3. DOIs that are sure are confirmed together, as a search server may name one that is not registered.
        """
        named: list[list[Named]] = []
        for work in works:
            names = named_dois(work) if work.doi is None else ()
            named.append(list(names))
        dois = dict.fromkeys(name.doi for names in named for name in names)
        registered: dict[DOI, Work] = {}
        for outcome in self._resolver.works(dois, budget=time_left(budget.deadline)):
            if outcome.work is not None and isinstance(outcome.doi, DOI):
                registered[outcome.doi] = outcome.work

        def find_one(work: Work, names: list[Named]) -> Found:
            for name in names:
                candidate = _agreeing(work, name, registered)
                if candidate is not None:
                    return Found(work, candidate)
            return self._search(work, budget)

        with ThreadPoolExecutor(self._crossref.concurrency) as pool:
            try:
                results = list(pool.map(find_one, works, named))
            except BaseException:
                budget.end()  # leaving the pool waits for its threads
                raise
        return self._confirmed(results, budget)

    def _search(self, work: Work, budget: Budget) -> Found:
        """Return what the servers answer about a work, if it may be sent to them.

        The second server is asked only if the first one does not have the work.
        """
        if work.doi is not None or not count_words(work.title) or says_unpublished(work):
            return Found(work, searched=False)
        sources = [self._crossref]
        if work.type in _AT_BOTH or _is_preprint(work):
            sources.append(self._datacite)
        if work.type in _AT_DATACITE:
            sources.reverse()

        items: list[Item] = []
        likely: tuple[Candidate, ...] = ()
        sent_to: list[str] = []
        cause: Cause | None = None
        for source in sources:
            answer = source.ask(work, budget)
            items += answer.items
            if answer.sent:
                sent_to.append(source.name)
            sure, likely = choose(work, items)
            if sure is not None:
                # whether or not another server failed
                return Found(work, sure, sent_to=tuple(sent_to))
            cause = cause or answer.cause
        return Found(work, None, likely, tuple(sent_to), cause=cause)

    def _confirmed(self, results: Sequence[Found], budget: Budget) -> list[Found]:
        """Return the results; a DOI is still sure if it is registered, and likely if that is not known."""
        dois = [result.doi for result in results if result.doi is not None]
        outcomes = self._resolver.check(dois, batch=True, budget=time_left(budget.deadline))
        confirmed = []
        for result in results:
            if result.sure is None:
                confirmed.append(result)
                continue
            outcome = next(outcomes)
            if outcome.status == "found":
                confirmed.append(result)
            elif outcome.status == "unknown":
                likely = (result.sure,)
                confirmed.append(result._replace(sure=None, likely=likely, cause=outcome.cause))
            else:
                confirmed.append(result._replace(sure=None))
        return confirmed


def _is_preprint(work: Work) -> bool:
    return bool(work.container) and Traits.of(work).names_preprint_server


def _agreeing(work: Work, name: Named, registered: Mapping[DOI, Work]) -> Candidate | None:
    """Return a DOI that a description names if it is the work's own, and not that of one that it builds upon."""
    registered_work = registered.get(name.doi)
    if registered_work is None:
        return None
    wanted = Traits.of(work)
    is_deposit = name.doi.key.startswith(_DEPOSITS)
    if is_deposit and not wanted.names_preprint_server:
        return None  # a published work, of which arXiv or Zenodo has another version
    item = {**registered_work.csl, "DOI": name.doi.name}
    candidate = compare(wanted, item, same_year=not name.is_identifier)
    if candidate is None:
        return None
    return candidate._replace(evidence=(name.where, *candidate.evidence))
