"""The Resolver: records of DOIs from a store or a DOI proxy, with a rate limit and a budget."""

from __future__ import annotations

from collections.abc import Sized
from functools import partial
from typing import TYPE_CHECKING, Literal

from doiuri.resolver._arguments import DEFAULT, as_handle, as_handles, check_batch, check_callable
from doiuri.resolver._base import BaseResolver
from doiuri.resolver._check import check_records
from doiuri.resolver._lookups import ExistenceLookup, RecordLookup
from doiuri.resolver._metadata import Metadata, metadata
from doiuri.resolver._outcome import Outcome
from doiuri.resolver._resolution import Query
from doiuri.resolver.content._kinds import BIBTEX, WORK, reference_kind
from doiuri.resolver.content._lookup import ContentLookup, reference_outcome, work_outcome
from doiuri.resolver.content._negotiation import get_content

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from doiuri._doi import Handle
    from doiuri.records._record import Record
    from doiuri.records._work import Work
    from doiuri.resolver._arguments import Default
    from doiuri.resolver._base import Progress


class Resolver(BaseResolver):
    """Resolves DOIs: asks a DOI proxy, and keeps the answers in a store.

    All Resolvers of a process share one rate limit and one set of connections per server, and one store
    per address. A Resolver is safe to use in several threads and after a fork.

    :param base: URL of the DOI proxy; by default ``DOIURI_RESOLVER`` or https://doi.org.
    :param store: a Store or ReadStore; a path or an address as in ``DOIURI_CACHE``; None: no store. By
        default ``DOIURI_CACHE`` or an SQLite file in the user's cache folder.
    :param offline: send no requests, use the store only; by default ``DOIURI_OFFLINE`` or False.
    :param timeout: seconds for one request.
    :param budget: seconds for one call of a method; None: no limit.
    :param concurrency: requests in flight at the same time.
    :param rate: requests per second; None: no limit. By default 10, and no limit for a proxy on this machine.
    :param mailto: mail address for the User-Agent header; by default ``DOIURI_MAILTO``.
    :param private: whether the redirects that records choose, for metadata and references, may lead to this
        machine or into a private network; by default False. The resolver itself may always be there.
    :param session: a ``requests.Session`` to use instead of our own connections. What it adds to requests
        goes to no other host; its response hooks are called only for replies with status 401. An adapter that
        is not an ``HTTPAdapter`` has to observe the timeout itself.
    :param progress: called in a batch with the number of items done, and of all items if it is known.
    :param user_agent: the User-Agent header; by default the version of doiuri and ``mailto``.
    :param transport: sends the requests instead of HTTP; see ``Transport``.
    :param on_reply: called after each request, in the thread that sent it, with its ``Reply``, or with the
        TransportError or TimeoutError that it ended with. What it raises ends the call.
    :raises ValueError: if an argument has an impossible value.
    :raises TypeError: if an argument has the wrong type.

    >>> Resolver(store=None, offline=True).resolve("10.1000/182")
    Traceback (most recent call last):
      ...
    doiuri._resolution_errors.ResolverUnavailable: 10.1000/182: offline: request not sent
    """

    def resolve(
        self,
        doi: Handle | str,
        *,
        type: str | Sequence[str] = (),  # noqa: A002 - the API's own word
        index: int | Sequence[int] = (),
        auth: bool = False,
        cert: bool = False,
        follow: bool = True,
        budget: float | Default | None = DEFAULT,
    ) -> Record:
        """Return the record of a DOI; for an alias, such as a short DOI, the record it leads to.

        If there is no answer, a stale record from the store is returned.

        :param doi: a DOI, or text to parse.
        :param type: only values of these types; then aliases are not followed.
        :param index: only values with these indices, or of these types; then aliases are not followed.
        :param auth: bypass the store and the proxy's cache.
        :param cert: bypass the store, and request an authenticated answer.
        :param follow: follow aliases.
        :param budget: seconds for this call; by default that of the Resolver.
        :raises DOINotFound: if the DOI does not exist.
        :raises NoValues: if it has no values, or none of those requested.
        :raises BadRecord: if the answer is unusable.
        :raises ResolverUnavailable: if there is no answer.
        """
        handle = as_handle(doi)
        types = (type,) if isinstance(type, str) else tuple(type)
        indexes = (index,) if isinstance(index, int) else tuple(index)
        deadline = self._config.deadline(budget)
        return Query(types, indexes, auth, cert, follow).run(handle, self._records(), deadline)

    def resolve_many(
        self,
        dois: Iterable[Handle | str],
        *,
        budget: float | Default | None = DEFAULT,
        progress: Progress | None = None,
    ) -> Iterator[Outcome]:
        """Yield one Outcome with the record of each DOI, in input order, for streams of any length.

        Up to 256 items are read ahead; a name that is repeated meanwhile is requested once. No item raises an
        error: one that is not a DOI is ``"invalid"``, and what has no answer within the budget is
        ``"unknown"``.

        :param dois: DOIs, or text to parse.
        :param budget: seconds for the batch, from the first ``next``; by default that of the Resolver.
        :param progress: called instead of the Resolver's.
        :raises TypeError: if a single DOI is given.
        """
        return self._batch(RecordLookup, dois, budget, progress)

    def verify(
        self,
        dois: Iterable[Handle | str],
        *,
        budget: float | Default | None = DEFAULT,
        progress: Progress | None = None,
    ) -> Iterator[Outcome]:
        """Yield one Outcome for each DOI, like ``resolve_many``, but without records and with few requests.

        Which RA is asked about many names at once, and the REST API about those it does not know.
        """
        return self._batch(partial(ExistenceLookup, agency=False), dois, budget, progress)

    def agencies(
        self,
        dois: Iterable[Handle | str],
        *,
        budget: float | Default | None = DEFAULT,
        progress: Progress | None = None,
    ) -> Iterator[Outcome]:
        """Yield one Outcome with the registration agency of each DOI, like ``verify``.

        The agency of an existing DOI is None if Which RA does not know it.
        """
        return self._batch(partial(ExistenceLookup, agency=True), dois, budget, progress)

    def check(
        self,
        dois: Iterable[Handle | str],
        how: Literal["records", "existence", False] = "records",
        *,
        budget: float | Default | None = DEFAULT,
        progress: Progress | None = None,
    ) -> Iterator[Outcome]:
        """Call ``resolve_many`` or ``verify``, or do not resolve: then every DOI is ``"unknown"``.

        For ``"records"`` and a sized collection, such as a list: if it has more new names than the rate limit
        allows within the budget, ``verify`` comes first. A DOI that exists is then ``"found"``, and has a
        record if there was time for it.

        :param how: ``"records"``, ``"existence"`` or False, as in the plugins' option ``resolve``.
        :raises ValueError: for any other ``how``.
        """
        if how == "records" and isinstance(dois, Sized):
            return self._check_records(dois, budget, progress)
        if how == "records":
            return self.resolve_many(dois, budget=budget, progress=progress)
        if how == "existence":
            return self.verify(dois, budget=budget, progress=progress)
        if how is not False:
            raise ValueError(f'resolve must be "records", "existence" or False, not {how!r}')
        check_batch(dois, budget)
        unknown = partial(Outcome, status="unknown", reason="resolving is turned off")
        return (item if isinstance(item, Outcome) else unknown(item) for item in as_handles(dois))

    def _check_records(
        self, dois: Iterable[Handle | str], budget: float | Default | None, progress: Progress | None
    ) -> Iterator[Outcome]:
        check_batch(dois, budget)
        check_callable(progress=progress)

        def outcomes() -> Iterator[Outcome]:
            deadline = self._config.deadline(budget)  # counted from the first next()
            yield from check_records(self, self._records(), dois, deadline, progress)

        return outcomes()

    def metadata(
        self, doi: Handle | str, media_type: str, *, budget: float | Default | None = DEFAULT
    ) -> Metadata:
        """Return metadata or citation text from the registration agency.

        The DOI proxy redirects to the agency or, if that has no such metadata, to the landing page. Up to 10
        redirects are followed, to any host that is not in a private network, without credentials. Answers
        are stored for a day; if there is no new one, a stale one is returned.

        :param doi: a DOI, or text to parse.
        :param media_type: what to request, such as ``application/x-bibtex``.
        :param budget: seconds for this call; by default that of the Resolver.
        :returns: bytes with a ``content_type``.
        :raises NoValues: if the DOI has no metadata of that type.
        :raises BadRecord: if the answer is of another media type. Otherwise like ``resolve``.
        """
        deadline = self._config.deadline(budget)
        return metadata(as_handle(doi), media_type, self._records(), deadline)

    def work(self, doi: Handle | str, *, budget: float | Default | None = DEFAULT) -> Work:
        """Return the metadata of what a DOI names, from its registration agency.

        The DOI proxy is asked for CSL-JSON and redirects to the agency, without credentials. Answers are
        stored for 30 days, and for one day if the agency has no metadata; if there is no new answer, a stale
        one is returned.

        :param doi: a DOI, or text to parse.
        :param budget: seconds for this call; by default that of the Resolver.
        :raises DOINotFound: if the DOI does not exist.
        :raises NoValues: if the agency has no metadata: it answers 204, 404 or 406, or sends a web page.
        :raises BadRecord: if the answer is unusable.
        :raises ResolverUnavailable: if there is no answer.
        """
        deadline = self._config.deadline(budget)
        return get_content(WORK, as_handle(doi), self._records(), deadline)

    def works(
        self,
        dois: Iterable[Handle | str],
        *,
        budget: float | Default | None = DEFAULT,
        progress: Progress | None = None,
    ) -> Iterator[Outcome]:
        """Yield one Outcome with the work of each DOI, like ``resolve_many``.

        The status is ``"no-values"`` if the agency has no metadata.
        """
        return self._batch(partial(ContentLookup, kind=WORK, found=work_outcome), dois, budget, progress)

    def bibtex(self, doi: Handle | str, *, budget: float | Default | None = DEFAULT) -> str:
        """Return the BibTeX entry of a DOI as its registration agency writes it; otherwise like ``work``."""
        deadline = self._config.deadline(budget)
        return get_content(BIBTEX, as_handle(doi), self._records(), deadline)

    def reference(
        self,
        doi: Handle | str,
        style: str = "apa",
        locale: str = "en-US",
        *,
        budget: float | Default | None = DEFAULT,
    ) -> str:
        """Return the formatted reference of a DOI: one line of plain text from its registration agency.

        Markup is removed, and so is the number 1 with which numeric styles begin. Otherwise like ``work``.

        :param doi: a DOI, or text to parse.
        :param style: the name of a CSL style, such as ``apa``, ``ieee`` or ``chicago-author-date``.
        :param locale: the language of terms such as "and", such as ``en-US`` or ``de-DE``.
        :param budget: seconds for this call; by default that of the Resolver.
        :raises ValueError: if ``style`` or ``locale`` is not such a name.
        """
        kind, deadline = reference_kind(style, locale), self._config.deadline(budget)
        return get_content(kind, as_handle(doi), self._records(), deadline)

    def references(
        self,
        dois: Iterable[Handle | str],
        style: str = "apa",
        locale: str = "en-US",
        *,
        budget: float | Default | None = DEFAULT,
        progress: Progress | None = None,
    ) -> Iterator[Outcome]:
        """Yield one Outcome with the formatted reference of each DOI, like ``works``.

        :raises ValueError: as ``reference`` does.
        """
        lookup = partial(ContentLookup, kind=reference_kind(style, locale), found=reference_outcome)
        return self._batch(lookup, dois, budget, progress)
