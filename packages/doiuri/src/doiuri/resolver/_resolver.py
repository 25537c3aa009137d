"""The Resolver: what DOIs resolve to, politely, from the store first, within a budget."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Sized
from enum import Enum
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

from doiuri._doi import DOI, Prefix, ShortDOI, parse_handle
from doiuri._errors import BadRecord, ResolverUnavailable
from doiuri._settings import Settings
from doiuri._settings import user_agent as default_agent
from doiuri.resolver import _shared
from doiuri.resolver._batch import Batch
from doiuri.resolver._client import Client
from doiuri.resolver._crew import Crew
from doiuri.resolver._limiter import Limiter
from doiuri.resolver._lookups import ExistenceLookup, RecordLookup
from doiuri.resolver._metadata import Metadata, metadata_entry, metadata_key, negotiate
from doiuri.resolver._outcome import Outcome, Question
from doiuri.resolver._query import Query
from doiuri.resolver._records import Records, stale
from doiuri.resolver._transport import HTTPTransport, is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Self, TypeVar

    import requests

    from doiuri._record import Handle, Record
    from doiuri.resolver._batch import Lookup
    from doiuri.resolver._crew import Job
    from doiuri.resolver._stores import ReadStore, Store
    from doiuri.resolver._transport import Transport

    T = TypeVar("T")
    Progress = Callable[[int, int | None], None]

POLITE = 10.0
"""Requests per second to a server that is not on this machine."""


class Default(Enum):
    """An argument that was left out."""

    DEFAULT = "default"


DEFAULT: Final = Default.DEFAULT


class Resolver:
    """Asks a DOI proxy what DOIs resolve to.

    ``base`` is the proxy's URL; ``store`` a Store, a path, a store's URL, or None for none; ``offline`` means
    that only the store is asked. Left out, these and ``mailto`` come from the environment (``Settings``).
    ``timeout`` is for one request, ``budget`` for one call of a method (None: no limit), both in seconds.
    ``concurrency`` is how many requests may be under way, ``rate`` how many are sent per second (None: any
    number; left out: 10, but any number to this machine). All Resolvers of a process share one limiter, one
    set of connections and one store. ``session`` is used in place of our own connections; what it adds to
    requests goes to no other host; ``transport`` is used in place of HTTP altogether. ``progress`` is called
    with the number of names done, and that of all where it is known.
    """

    def __init__(
        self,
        base: str | None = None,
        store: Store | ReadStore | str | os.PathLike[str] | Default | None = DEFAULT,
        offline: bool | None = None,
        timeout: float = 10,
        budget: float | None = None,
        concurrency: int = 3,
        rate: float | Default | None = DEFAULT,
        mailto: str | None = None,
        session: requests.Session | None = None,
        *,
        progress: Progress | None = None,
        user_agent: str | None = None,
        transport: Transport | None = None,
    ) -> None:
        settings = Settings.from_environ(resolver=base, offline=offline, mailto=mailto)
        _check(timeout=timeout, concurrency=concurrency)
        _check_optional(budget=budget, rate=rate)
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
            HTTPTransport(lambda: _shared.server(base).session, session, agent),
            lambda: _shared.server(base).limiter,
        )

    def _open(
        self, store: Store | ReadStore | str | os.PathLike[str] | Default | None, cache: str | None
    ) -> Store | ReadStore | None:
        """The store meant by an argument; one that we open is shared, and given back in ``close``."""
        if store is not DEFAULT and not isinstance(store, (str, os.PathLike)):
            return store
        try:
            shared = _shared.borrow_store(cache if store is DEFAULT else os.fspath(store))
        except ValueError as error:
            raise ValueError(f"DOIURI_CACHE: {error}" if store is DEFAULT else str(error)) from None
        self._release = weakref.finalize(self, shared.give_back)
        return shared.store

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
        handle, records = _handle(doi), self._records
        types = (type,) if isinstance(type, str) else tuple(type)
        indexes = (index,) if isinstance(index, int) else tuple(index)
        query = Query(types, indexes, auth, cert, follow)
        key = records.key(handle)
        entry = None if query.past_store else records.stored([key]).get(key)
        record = records.fresh(handle, entry)
        if record is not None and query.settled_by(record):
            return query.chosen(record)
        question = Question(handle)
        try:
            return self._alone(handle, partial(query.ask, question, entry, records))
        except ResolverUnavailable:
            record = stale(handle, entry)
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
        is ``"unknown"``. Text among ``dois`` is parsed: DOISyntaxError where it is no DOI.
        """
        return self._many(partial(RecordLookup, self._records), dois, budget, progress)

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

    def agency(
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
            return (Outcome(_handle(doi), "unknown", reason="resolving is off") for doi in dois)
        raise ValueError(f'resolve must be "records", "existence" or False, not {how!r}')

    def negotiate(self, doi: Handle | str, media_type: str) -> Metadata:
        """Metadata or citation text, such as BibTeX for ``application/x-bibtex``.

        Returns bytes with a ``content_type``. The registration agency answers, so redirects to other hosts
        are followed, without credentials; answers are stored for a day, an older one is returned when there
        is no new one. Raises NoValues where there is nothing of that type, else what ``resolve`` raises.
        """
        handle = _handle(doi)
        key = metadata_key(self.base, handle, media_type)
        entry = self._records.stored([key]).get(key)
        if entry is None or entry.expires <= time.time():
            ask = partial(negotiate, handle, media_type, self._client, self._records)
            try:
                answer = self._alone(handle, ask)
            except (ResolverUnavailable, BadRecord):
                if entry is None:
                    raise
            else:
                entry = metadata_entry(answer)
                self._records.put({key: entry})
        return Metadata(entry.body, entry.media_type)

    def close(self) -> None:
        """Give the store back; the last Resolver to do so closes it. Nothing else is needed."""
        if self._release is not None:
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _deadline(self, budget: float | None) -> float:
        return inf if budget is None else time.monotonic() + budget

    def _alone(self, doi: Handle, ask: Callable[[Job, float], T]) -> T:
        """Do one job, and wait for it no longer than allowed."""
        deadline = self._deadline(self.budget)
        crew = Crew(1, deadline)
        got: list[T] = []
        job = crew.submit(lambda job: got.append(ask(job, deadline)))
        try:
            crew.wait(lambda: job.done)
        finally:
            crew.close()
        if isinstance(job.error, TimeoutError):
            raise ResolverUnavailable(doi, str(job.error)) from None
        if job.error is not None:
            raise job.error
        return got[0]

    def _existence(
        self,
        dois: Iterable[Handle | str],
        budget: float | Default | None,
        progress: Progress | None,
        *,
        agency: bool,
    ) -> Iterator[Outcome]:
        lookup = partial(ExistenceLookup, self._records, self._client, agency=agency)
        return self._many(lookup, dois, budget, progress)

    def _many(
        self,
        lookup: Callable[[Crew], Lookup],
        dois: Iterable[Handle | str],
        budget: float | Default | None,
        progress: Progress | None,
    ) -> Iterator[Outcome]:
        _check_optional(budget=budget)
        if isinstance(dois, (str, bytes, DOI, ShortDOI, Prefix)):
            raise TypeError(f"many DOIs are asked for, [{dois!r}] where it is one")
        total = len(dois) if isinstance(dois, Sized) else None
        report = progress or self._progress
        counted = None if report is None else lambda done: report(done, total)

        def answers() -> Iterator[Outcome]:  # the time runs from the first question for an answer
            deadline = self._deadline(self.budget if budget is DEFAULT else budget)
            crew = Crew(self._client.width, deadline)
            yield from Batch(crew, self._records.put).run(map(_handle, dois), lookup(crew), counted)

        return answers()


def _handle(doi: Handle | str) -> Handle:
    if isinstance(doi, (DOI, ShortDOI, Prefix)):
        return doi
    if isinstance(doi, str):
        return parse_handle(doi)
    raise TypeError(f"neither a DOI nor text: {doi!r:.80}")


def _polite(base: str) -> float | None:
    return None if is_loopback(urlsplit(base).hostname or "") else POLITE


def _check(**numbers: float | None) -> None:
    """Refuse what is no number, and numbers that make no sense."""
    for name, number in numbers.items():
        if not isinstance(number, (int, float)) or not number > 0:
            raise ValueError(f"{name} must be a number of more than 0, not {number!r}")


def _check_optional(**numbers: float | Default | None) -> None:
    """The same where there need not be one."""
    for name, number in numbers.items():
        if number is not None and number is not DEFAULT:
            _check(**{name: number})
