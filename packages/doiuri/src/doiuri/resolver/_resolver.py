"""The Resolver: what DOIs resolve to, politely, from the store first, within a budget."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Sized
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from doiuri._doi import DOI, Prefix, ShortDOI
from doiuri._resolution_errors import BadRecord, ResolverUnavailable
from doiuri._settings import Settings
from doiuri._settings import user_agent as default_agent
from doiuri.resolver import _check as check
from doiuri.resolver import _process
from doiuri.resolver._arguments import DEFAULT, Default, handle, handles
from doiuri.resolver._batch import Batch
from doiuri.resolver._lookups import ExistenceLookup, RecordLookup
from doiuri.resolver._metadata import Metadata, metadata_entry, metadata_key, negotiate
from doiuri.resolver._outcome import Outcome, Question
from doiuri.resolver._query import Query
from doiuri.resolver._records import Records, stale
from doiuri.resolver._workers import Crew, in_time
from doiuri.resolver.http._client import Client
from doiuri.resolver.http._limiter import Limiter
from doiuri.resolver.http._transport import HTTPTransport, is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from typing import Self, TypeVar

    import requests

    from doiuri._doi import Handle
    from doiuri.records._record import Record
    from doiuri.resolver._batch import Lookup
    from doiuri.resolver._workers import Job
    from doiuri.resolver.http._transport import Transport
    from doiuri.resolver.stores._store import ReadStore, Store

    T = TypeVar("T")
    Progress = Callable[[int, int | None], None]

POLITE = 10.0
"""Requests per second to a server that is not on this machine."""


class Resolver:
    """Asks a DOI proxy what DOIs resolve to.

    ``base`` is the proxy's URL; ``store`` a Store, a path, a store's URL, or None for none; ``offline`` means
    that only the store is asked. Left out, these and ``mailto`` come from the environment (``Settings``).
    ``timeout`` is for one request, ``budget`` for one call of a method (None: no limit), both in seconds.
    ``concurrency`` is how many requests may be under way, ``rate`` how many are sent per second (None: any
    number; left out: 10, but any number to this machine). All Resolvers of a process share one limiter, one
    set of connections and one store. ``session`` is used in place of our own connections; what it adds to
    requests goes to no other host, and its response hooks are called for a 401 only; ``transport`` is used in
    place of HTTP altogether. ``progress`` is called with the number of names done, and that of all where it
    is known. Raises ValueError and TypeError for what an argument cannot be.
    """

    def __init__(
        self,
        base: str | None = None,
        *,
        store: Store | ReadStore | str | os.PathLike[str] | Default | None = DEFAULT,
        offline: bool | None = None,
        timeout: float = 10,
        budget: float | None = None,
        concurrency: int = 3,
        rate: float | Default | None = DEFAULT,
        mailto: str | None = None,
        session: requests.Session | None = None,
        progress: Progress | None = None,
        user_agent: str | None = None,
        transport: Transport | None = None,
    ) -> None:
        check.texts(base=base, mailto=mailto)
        settings = Settings.from_environ(resolver=base, offline=offline, mailto=mailto)
        check.numbers(timeout=timeout)
        check.optional(budget=budget, rate=rate)
        check.count("concurrency", concurrency)
        check.header("user_agent", user_agent)
        check.able("session", session, "prepare_request")
        check.able("transport", transport, "get")
        check.able("progress", progress, "__call__")
        self.base = settings.base
        self.offline = settings.offline
        self.timeout = timeout
        self.budget = budget
        self._progress = progress
        self._client = Client(
            self.base,
            *self._ways(transport, session, user_agent or default_agent(mailto=settings.mailto)),
            rate=_polite(self.base) if rate is DEFAULT else rate,
            width=concurrency,
            timeout=timeout,
            offline=self.offline,
        )
        self._shared: _process.SharedStore | None = None
        self._release: weakref.finalize[[], Resolver] | None = None
        self._records = Records(self._client, self._open(store, settings.cache))

    def _ways(
        self, transport: Transport | None, session: requests.Session | None, agent: str
    ) -> tuple[Transport, Callable[[], Limiter]]:
        """How requests travel, and who paces them."""
        if transport is not None:
            limiter = Limiter()
            return transport, lambda: limiter
        base = self.base
        return (
            HTTPTransport(lambda: _process.server(base).session, session, agent),
            lambda: _process.server(base).limiter,
        )

    def _open(
        self, store: Store | ReadStore | str | os.PathLike[str] | Default | None, cache: str | None
    ) -> Store | ReadStore | None:
        """The store meant by an argument; one that we open is shared, and given back in ``close``."""
        if store is not DEFAULT and not isinstance(store, (str, os.PathLike)):
            check.able("store", store, "get_many")
            return store
        try:
            self._shared = _process.borrow_store(cache if store is DEFAULT else os.fspath(store))
        except ValueError as error:
            raise ValueError(f"DOIURI_CACHE: {error}" if store is DEFAULT else str(error)) from None
        self._release = weakref.finalize(self, self._shared.give_back)
        return self._shared.store

    def resolve(
        self,
        doi: Handle | str,
        type: str | Sequence[str] = (),  # noqa: A002 (the API's own word)
        index: int | Sequence[int] = (),
        auth: bool = False,
        cert: bool = False,
        *,
        follow: bool = True,
    ) -> Record:
        """The record of ``doi``; for an alias (a short DOI, say) that at the end of the chain.

        ``type`` and ``index`` ask only for values that have any of them; then aliases are not followed.
        ``auth`` asks past the store and the proxy's cache, ``cert`` for an authenticated answer; without
        ``follow`` the record of an alias is given as it is. A stored record whose time is over is returned
        when the server is away. Raises DOINotFound, NoValues, BadRecord or ResolverUnavailable.
        """
        name = handle(doi)
        deadline = _deadline(self.budget)
        records = self._records.until(deadline)
        types = (type,) if isinstance(type, str) else tuple(type)
        indexes = (index,) if isinstance(index, int) else tuple(index)
        query = Query(types, indexes, auth, cert, follow)
        key = records.key(name)
        entry = None if query.past_store else records.stored([key]).get(key)
        record = records.fresh(name, entry)
        if record is not None and query.settled_by(record):
            return query.chosen(record)
        question = Question(name)
        try:
            return _asked(name, partial(query.ask, question, entry, records), deadline)
        except ResolverUnavailable:
            record = stale(name, entry)
            if record is None or not query.settled_by(record):
                raise
            return query.chosen(record)
        finally:
            records.put(question.fresh)

    def resolve_many(
        self,
        dois: Iterable[Handle | str],
        *,
        budget: float | Default | None = DEFAULT,
        progress: Progress | None = None,
    ) -> Iterator[Outcome]:
        """The records of ``dois``, one Outcome each, in their order, for streams of any length.

        Some 256 names are read ahead; a name that comes again meanwhile is asked about once. Nothing is
        raised for a DOI; what cannot be answered within ``budget`` seconds, counted from the first ``next``,
        is ``"unknown"``. Text among ``dois`` is parsed: where it is no DOI, DOISyntaxError ends the batch in
        its turn, when all before it are answered; a note says which item it was.
        """
        return self._many(RecordLookup, dois, budget, progress)

    def verify(
        self,
        dois: Iterable[Handle | str],
        *,
        budget: float | Default | None = DEFAULT,
        progress: Progress | None = None,
    ) -> Iterator[Outcome]:
        """Whether ``dois`` exist, as ``resolve_many`` answers, but without records and with few requests.

        Which RA is asked about many at once; only what it does not know is asked at the REST API.
        """
        return self._existence(dois, budget, progress, agency=False)

    def agencies(
        self,
        dois: Iterable[Handle | str],
        *,
        budget: float | Default | None = DEFAULT,
        progress: Progress | None = None,
    ) -> Iterator[Outcome]:
        """The registration agencies of ``dois``, as ``verify`` answers; None where Which RA names none."""
        return self._existence(dois, budget, progress, agency=True)

    def check(
        self,
        dois: Iterable[Handle | str],
        how: Literal["records", "existence", False] = "records",
        *,
        budget: float | Default | None = DEFAULT,
        progress: Progress | None = None,
    ) -> Iterator[Outcome]:
        """``resolve_many``, ``verify``, or nothing: then all is ``"unknown"``.

        ``how`` is the plugins' option ``resolve``; raises ValueError for what it cannot be.
        """
        if how == "records":
            return self.resolve_many(dois, budget=budget, progress=progress)
        if how == "existence":
            return self.verify(dois, budget=budget, progress=progress)
        if how is False:
            return (Outcome(doi, "unknown", reason="resolving is off") for doi in handles(dois))
        raise ValueError(f'resolve must be "records", "existence" or False, not {how!r}')

    def metadata(self, doi: Handle | str, media_type: str) -> Metadata:
        """Metadata or citation text, such as BibTeX for ``application/x-bibtex``.

        Returns bytes with a ``content_type``. The registration agency answers, so redirects to other hosts
        are followed, without credentials; answers are stored for a day, an older one is returned when there
        is no new one. Raises NoValues where there is nothing of that type, else what ``resolve`` raises.
        """
        name = handle(doi)
        deadline = _deadline(self.budget)
        records = self._records.until(deadline)
        key = metadata_key(self.base, name, media_type)
        entry = records.stored([key]).get(key)
        if entry is None or entry.expires <= time.time():
            try:
                answer = _asked(name, partial(negotiate, name, media_type, self._client, records), deadline)
            except (ResolverUnavailable, BadRecord):
                if entry is None:
                    raise
            else:
                entry = metadata_entry(answer)
                records.put({key: entry})
        return Metadata(entry.body, entry.media_type)

    def close(self) -> None:
        """Give the store back; the last Resolver to do so closes it. Nothing else is needed."""
        if self._release is not None:
            self._release()

    def __enter__(self) -> Self:
        if self._shared is not None and not (self._release and self._release.alive):  # closed before
            self._release = weakref.finalize(self, self._shared.borrow().give_back)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _existence(
        self,
        dois: Iterable[Handle | str],
        budget: float | Default | None,
        progress: Progress | None,
        *,
        agency: bool,
    ) -> Iterator[Outcome]:
        lookup = partial(ExistenceLookup, client=self._client, agency=agency)
        return self._many(lookup, dois, budget, progress)

    def _many(
        self,
        lookup: Callable[[Records, Crew], Lookup],
        dois: Iterable[Handle | str],
        budget: float | Default | None,
        progress: Progress | None,
    ) -> Iterator[Outcome]:
        check.optional(budget=budget)
        if isinstance(dois, (str, bytes, DOI, ShortDOI, Prefix)):
            raise TypeError(f"many DOIs are asked for, [{dois!r}] where it is one")
        total = len(dois) if isinstance(dois, Sized) else None
        report = progress or self._progress
        counted = None if report is None else lambda done: report(done, total)

        def answers() -> Generator[Outcome]:  # the time runs from the first question for an answer
            deadline = _deadline(self.budget if budget is DEFAULT else budget)
            crew, records = Crew(self._client.width, deadline), self._records.until(deadline)
            yield from Batch(crew, records.put).run(handles(dois), lookup(records, crew), counted)

        batch = answers()
        _process.batches.add(batch)
        return batch


def _polite(base: str) -> float | None:
    return None if is_loopback(urlsplit(base).hostname or "") else POLITE


def _deadline(budget: float | None) -> float:
    return inf if budget is None else time.monotonic() + budget


def _asked(doi: Handle, ask: Callable[[Job, float], T], deadline: float) -> T:
    """Do one job, and wait for it no longer than allowed."""
    try:
        return in_time(lambda job: ask(job, deadline), deadline)
    except TimeoutError as error:
        raise ResolverUnavailable(doi, str(error)) from None
