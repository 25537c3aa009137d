"""The Resolver: records of DOIs from a store or a DOI proxy, with a rate limit and a budget."""

from __future__ import annotations

import os
import time
from collections.abc import Sized
from math import inf
from typing import TYPE_CHECKING

from doiuri._doi import Handle, parse_name
from doiuri._errors import DOISyntaxError
from doiuri._options import DEFAULT, Default
from doiuri.resolver import _process
from doiuri.resolver._outcome import Cause, Outcome
from doiuri.resolver._pipeline import Pipeline
from doiuri.resolver._settings import Settings
from doiuri.resolver.questions._content import BibTeXQuestion, MetadataQuestion, WorkQuestion
from doiuri.resolver.questions._existence import FEW, ExistenceQuestion
from doiuri.resolver.questions._records import RecordQuestion
from doiuri.resolver.stores._store import RecordingStore
from doiuri.rest import agency_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import NoReturn, Self

    import requests

    from doiuri.records._record import Record
    from doiuri.resolver._outcome import Metadata
    from doiuri.resolver.http import OnReply, Transport
    from doiuri.resolver.questions._question import Question
    from doiuri.resolver.stores._store import Entry, Key, ReadStore, Store
    from doiuri.works._work import Work

    Progress = Callable[[int, int | None], None]


class Resolver:
    """Resolves DOIs: asks a DOI proxy, and keeps the answers in a store.

    All Resolvers of a process share one rate limit and one set of connections per server, and one store
    per address. A Resolver is safe to use in several threads and, without a ``session``, after a fork.

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
        machine or into a private network; by default False. The DOI proxy itself may always be there.
    :param session: a ``requests.Session`` to use instead of our own connections. What it adds to requests
        goes to no other host; its response hooks, such as that of Digest authentication, are not called. An
        adapter that is not an ``HTTPAdapter`` has to observe the timeout itself. In the child of a fork, a
        request raises RuntimeError: the session's connections are those of the parent.
    :param progress: called in a batch with the number of items done, and of all items if it is known.
    :param user_agent: the User-Agent header; by default the version of doiuri and ``mailto``.
    :param transport: sends the requests instead of HTTP; see ``Transport``.
    :param on_reply: called after each request, in the thread that sent it, with its ``Reply``, or with the
        TransportError or TimeoutError that it ended with. What it raises ends the call.
    :param long_running: whether this process is a server. If the DOI proxy blocks it, with three answers in a row
        that have status 403 and are not the API's, it asks again after 5, 10 and then every 15 minutes; by
        default it does not. The pauses, and that the DOI proxy answers again, are logged.
    :raises ValueError: if an argument or variable is invalid; the message begins with its name.
    :raises TypeError: if ``store``, ``session`` or a callback has the wrong type.

    >>> Resolver(store=None, offline=True).resolve("10.1000/182")
    Traceback (most recent call last):
      ...
    doiuri.ResolverUnavailable: 10.1000/182: offline: request not sent
    """

    settings: Settings
    """The settings, with the defaults of those that were left out."""

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
        private: bool | None = None,
        session: requests.Session | None = None,
        progress: Progress | None = None,
        user_agent: str | None = None,
        transport: Transport | None = None,
        on_reply: OnReply | None = None,
        long_running: bool = False,
    ) -> None:
        given: dict[str, object] = {}
        if rate is not DEFAULT:
            given["rate"] = rate
        is_address = store is DEFAULT or isinstance(store, (str, os.PathLike))
        if is_address:
            given["store"] = None if store is DEFAULT else store

        self.settings = Settings.of_resolver(
            base=base,
            offline=offline,
            timeout=timeout,
            budget=budget,
            concurrency=concurrency,
            mailto=mailto,
            private=private,
            user_agent=user_agent,
            long_running=long_running,
            **given,
        )
        check_method("prepare_request", session=session)
        check_method("get", transport=transport)
        check_callable(progress=progress, on_reply=on_reply)
        self._progress = progress
        self._client = _process.new_client(self.settings, session, transport, on_reply)
        self._store: Store | ReadStore | None
        self._shared = None  # a store that is opened by its address
        if is_address:
            self._shared = _process.shared_store(self.settings.cache)
            self._store = self._shared
        else:
            check_method("get_many", store=store)
            self._store = store  # type: ignore[assignment]

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse to change an argument, such as ``offline``: nothing would read the attribute."""
        arguments = {"base", *(Resolver.__init__.__kwdefaults__ or ())}
        if name in arguments:
            raise AttributeError(
                f"a Resolver keeps the {name} that it was made with; make another one: Resolver({name}=…)"
            )
        super().__setattr__(name, value)

    def close(self) -> None:
        """Close the store, unless you passed one. It opens again when used; nothing else needs closing."""
        if self._shared is not None:
            self._shared.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Resolver cannot be pickled: make one in each process")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
        types = (type,) if isinstance(type, str) else tuple(type)
        indexes = (index,) if isinstance(index, int) else tuple(index)
        question = RecordQuestion(
            self.settings.base, types=types, indexes=indexes, auth=auth, cert=cert, follow=follow
        )
        record = self._outcome(question, doi, budget).record
        assert record is not None  # noqa: S101 - it is found
        return record

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
        return self._outcomes(RecordQuestion(self.settings.base), dois, budget, progress)

    def check(
        self,
        dois: Iterable[Handle | str],
        *,
        batch: bool = False,
        confirm: bool = True,
        budget: float | Default | None = DEFAULT,
        progress: Progress | None = None,
    ) -> Iterator[Outcome]:
        """Yield one Outcome for each DOI: whether it exists, with few requests and without its record.

        The records of up to 16 new names are requested one by one. If there are more, all of them are sent to
        Which RA, about a hundred at once, and to the REST API only those that it does not know. A name is new
        if the store has neither its record nor an answer of Which RA; to count new names, up to 1024 items
        are read ahead. An alias exists, wherever it leads, and so does a name without values.

        :param batch: whether Which RA is asked about few new names, too.
        :param confirm: whether the REST API is asked about the names that do not exist according to Which RA.
        :param budget: seconds for this call; by default that of the Resolver.
        :param progress: called instead of the Resolver's.
        :raises TypeError: if a single DOI is given.
        """
        few = 0 if batch else FEW
        question = ExistenceQuestion(self.settings.base, confirm=confirm, few=few)
        return self._outcomes(question, dois, budget, progress)

    def agencies(
        self,
        dois: Iterable[Handle | str],
        *,
        budget: float | Default | None = DEFAULT,
        progress: Progress | None = None,
    ) -> Iterator[Outcome]:
        """Yield one Outcome with the registration agency of each DOI, like ``check``.

        The agency of an existing DOI is None if Which RA does not know it.
        """
        return self._outcomes(
            ExistenceQuestion(self.settings.base, agency=True), dois, budget, progress
        )

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
        :raises ValueError: if it is not a media type.
        :raises NoValues: if the DOI has no metadata of that type.
        :raises BadRecord: if the answer is of another media type. Otherwise like ``resolve``.
        """
        metadata = self._outcome(
            MetadataQuestion(self.settings.base, media_type), doi, budget
        ).metadata
        assert metadata is not None  # noqa: S101 - it is found
        return metadata

    def metadata_many(
        self,
        dois: Iterable[Handle | str],
        media_type: str,
        *,
        budget: float | Default | None = DEFAULT,
        progress: Progress | None = None,
    ) -> Iterator[Outcome]:
        """Yield one Outcome with the ``metadata`` of each DOI, like ``works``.

        :raises ValueError: as ``metadata`` does.
        """
        return self._outcomes(
            MetadataQuestion(self.settings.base, media_type), dois, budget, progress
        )

    def work(self, doi: Handle | str, *, budget: float | Default | None = DEFAULT) -> Work:
        """Return the metadata of what a DOI names, from its registration agency.

        The DOI proxy is asked for CSL-JSON and redirects to the agency, without credentials. Answers are
        stored for 30 days, and for one day if the agency has no metadata; if there is no new answer, a stale
        one is returned.

        :param doi: a DOI, or text to parse.
        :param budget: seconds for this call; by default that of the Resolver.
        :raises DOINotFound: if the DOI does not exist.
        :raises NoValues: if its agency has no metadata (it answers 204, 404 or 406, or sends a web page) and
            the DOI proxy, which is then asked for the record, says that the DOI exists.
        :raises BadRecord: if the answer is unusable, or about another DOI that is no alias of this one, or does
            not show that it is CSL-JSON: by its media type, a DOI or a type of CSL.
        :raises ResolverUnavailable: if there is no answer.
        """
        work = self._outcome(WorkQuestion(self.settings.base), doi, budget).work
        assert work is not None  # noqa: S101 - it is found
        return work

    def works(
        self,
        dois: Iterable[Handle | str],
        *,
        budget: float | Default | None = DEFAULT,
        progress: Progress | None = None,
    ) -> Iterator[Outcome]:
        """Yield one Outcome with the work of each DOI, like ``resolve_many``.

        The status is ``"no-values"`` if the agency has no metadata, and the record that is then requested says
        that the DOI exists.
        """
        return self._outcomes(WorkQuestion(self.settings.base), dois, budget, progress)

    def bibtex(self, doi: Handle | str, *, budget: float | Default | None = DEFAULT) -> str:
        """Return the BibTeX entry of a DOI as its registration agency writes it; otherwise like ``work``."""
        metadata = self._outcome(BibTeXQuestion(self.settings.base), doi, budget).metadata
        assert metadata is not None  # noqa: S101 - it is found
        return metadata.text

    def bibtex_many(
        self,
        dois: Iterable[Handle | str],
        *,
        budget: float | Default | None = DEFAULT,
        progress: Progress | None = None,
    ) -> Iterator[Outcome]:
        """Yield one Outcome with the BibTeX entry of each DOI as its ``metadata``, like ``works``."""
        return self._outcomes(BibTeXQuestion(self.settings.base), dois, budget, progress)

    def _recorded(self) -> dict[Key, Entry]:
        """Return the entries that are read and written from now on; it grows with them."""
        store = RecordingStore(self._store)
        self._store = store
        return store.entries

    def _outcome(
        self, question: Question, doi: Handle | str, budget: float | Default | None
    ) -> Outcome:
        """Return the outcome for one DOI, a batch of one.

        :raises ResolutionError: unless it is found.
        """
        handle = as_handle(doi)
        (outcome,) = self._pipeline(question, budget).outcomes([handle])
        outcome.raise_for_status()
        return outcome

    def _outcomes(
        self,
        question: Question,
        dois: Iterable[Handle | str],
        budget: float | Default | None,
        progress: Progress | None,
    ) -> Iterator[Outcome]:
        """Return the outcomes for several DOIs; arguments are checked now, and requests sent when it is read.

        :raises TypeError: if a single DOI is given, or a progress that cannot be called.
        """
        check_batch(dois)
        pipeline = self._pipeline(question, budget)
        check_callable(progress=progress)
        report = progress or self._progress
        total = len(dois) if isinstance(dois, Sized) else None
        handles = as_handles(dois)
        if report is None:
            return pipeline.outcomes(handles)
        return pipeline.outcomes(handles, lambda done: report(done, total))

    def _pipeline(self, question: Question, budget: float | Default | None) -> Pipeline:
        seconds = self.settings.seconds(budget)
        return Pipeline(question, self._client, self._store, seconds)

    def _too_many_works(
        self, dois: Sequence[Handle], others: Collection[Handle], deadline: float
    ) -> bool:
        """Return whether the metadata of DOIs, and checking others, take more requests than the rate allows.

        :param deadline: when the requests have to be sent, as ``time.monotonic`` counts.
        """
        rate = self.settings.rate
        if rate is None or deadline == inf or self.settings.offline:
            return False

        checks = len(others)
        if checks > FEW:
            checks = sum(1 for _ in agency_batches(others, base=self.settings.base))
        allowed = max((deadline - time.monotonic()) * rate - checks, 0)
        if len(dois) <= allowed:  # whatever the store has
            return False

        stored = WorkQuestion(self.settings.base).look_up(dois, self._store)
        return sum(1 for known in stored if known.answer is None) > allowed


def check_method(method: str, **arguments: object) -> None:
    """Raise TypeError unless the arguments have a method or are None."""
    for name, value in arguments.items():
        if value is not None and not callable(getattr(value, method, None)):
            raise TypeError(f"{name} cannot be {value!r:.80}: it has no {method}()")


def check_callable(**arguments: object) -> None:
    """Raise TypeError unless the arguments are callable or None."""
    for name, value in arguments.items():
        if value is not None and not callable(value):
            raise TypeError(f"{name} must be callable, not {value!r:.80}")


def check_batch(dois: object) -> None:
    """Raise TypeError unless ``dois`` is an iterable of DOIs."""
    if isinstance(dois, (str, bytes, Handle)):
        raise TypeError(f"expected an iterable of DOIs; pass [{dois!r}]")
    if not hasattr(dois, "__iter__") and not hasattr(dois, "__getitem__"):
        raise TypeError(f"expected an iterable of DOIs, not {dois!r:.80}")


def as_handle(doi: object) -> Handle:
    """Return a DOI as it is, or parsed from text; raise DOISyntaxError or TypeError."""
    if isinstance(doi, Handle):
        return doi
    if isinstance(doi, str):
        return parse_name(doi)
    raise TypeError(f"expected a DOI or a str, not {doi!r:.80}")


def as_handles(dois: Iterable[object]) -> Iterator[Handle | Outcome]:
    """Yield a DOI, or an outcome with the status ``"invalid"``, for each item."""
    for doi in dois:
        try:
            yield as_handle(doi)
        except DOISyntaxError as error:
            yield _invalid(error.text, error.reason)
        except TypeError as error:
            yield _invalid(repr(doi), str(error))


def _invalid(text: str, reason: str) -> Outcome:
    """Return the outcome for an item that is not a DOI."""
    return Outcome(None, "invalid", text=text, cause=Cause("invalid", detail=reason))


Resolver.__module__ = "doiuri.resolver"  # for tracebacks and pickles
