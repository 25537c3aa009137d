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
        running = Budget(deadline_in(seconds))
        done = 0
        try:
            while ahead := list(islice(source, _AHEAD)):
                for found in self._find_together(ahead, running):
                    done += 1
                    if progress is not None:
                        progress(done, total)
                    yield found
        finally:
            running.end()

    def _find_together(self, works: Sequence[Work], budget: Budget) -> list[Found]:
        """Return what is found about some works: what they name themselves, or what the servers answer."""
        named = self._named(works, budget)
        with ThreadPoolExecutor(self._crossref.concurrency) as pool:
            try:
                found = list(
                    pool.map(lambda work, own: own or self._search(work, budget), works, named)
                )
            except BaseException:
                budget.end()  # leaving the pool waits for its threads
                raise
        return self._confirmed(found, budget)

    def _named(self, works: Sequence[Work], budget: Budget) -> list[Found | None]:
        """Return for each work the DOI that it names itself, if the registry's title and author agree."""
        wanted = [work for work in works if work.doi is None]
        names = {id(work): list(named_dois(work)) for work in wanted}
        dois = dict.fromkeys(name.doi for named in names.values() for name in named)
        registered: dict[DOI, Work] = {}
        for outcome in self._resolver.works(dois, budget=time_left(budget.deadline)):
            if outcome.work is not None and isinstance(outcome.doi, DOI):
                registered[outcome.doi] = outcome.work

        found: list[Found | None] = []
        for work in works:
            candidates = (_agreeing(work, name, registered) for name in names.get(id(work), ()))
            sure = next(filter(None, candidates), None)
            found.append(None if sure is None else Found(work, sure))
        return found

    def _search(self, work: Work, budget: Budget) -> Found:
        """Return what the servers answer about a work, if it may be sent to them."""
        if work.doi is not None or not count_words(work.title) or says_unpublished(work):
            return Found(work, searched=False)
        sources = [self._crossref]
        if work.type in _AT_BOTH or _is_preprint(work):
            sources.append(self._datacite)
        if work.type in _AT_DATACITE:
            sources.reverse()

        items: list[Item] = []
        found = Found(work)
        for source in sources:
            answer = source.ask(work, budget)
            items += answer.items
            sure, likely = choose(work, items)
            sent_to = (*found.sent_to, source.name) if answer.sent else found.sent_to
            if sure is not None:
                return Found(work, sure, sent_to=sent_to)  # whether or not another server failed
            found = Found(work, None, likely, sent_to, cause=found.cause or answer.cause)
        return found

    def _confirmed(self, found: Sequence[Found], budget: Budget) -> list[Found]:
        """Return what was found with those DOIs as sure that the registry has."""
        dois = [each.doi for each in found if each.doi is not None]
        outcomes = self._resolver.check(dois, batch=True, budget=time_left(budget.deadline))
        confirmed = []
        for each in found:
            if each.sure is None:
                confirmed.append(each)
                continue
            outcome = next(outcomes)
            if outcome.status == "found":
                confirmed.append(each)
            elif outcome.status == "unknown":
                unconfirmed = each._replace(sure=None, likely=(each.sure,), cause=outcome.cause)
                confirmed.append(unconfirmed)
            else:
                confirmed.append(each._replace(sure=None))
        return confirmed


def _is_preprint(work: Work) -> bool:
    return bool(work.container) and Traits.of(work, work.csl).names_preprint_server


def _agreeing(work: Work, name: Named, registered: Mapping[DOI, Work]) -> Candidate | None:
    """Return a DOI that a description names if it is that of the work, and not of one that it builds upon."""
    other = registered.get(name.doi)
    if other is None:
        return None
    own = Traits.of(work, work.csl)
    is_deposit = name.doi.key.startswith(_DEPOSITS)
    if is_deposit and not own.names_preprint_server:
        return None  # a published work, of which arXiv or Zenodo has another version
    item = {**other.csl, "DOI": name.doi.name}
    candidate = compare(own, item, same_year=not name.is_identifier)
    if candidate is None:
        return None
    return candidate._replace(evidence=(name.where, *candidate.evidence))
