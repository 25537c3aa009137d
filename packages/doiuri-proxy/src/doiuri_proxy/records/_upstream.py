"""Records of another DOI proxy, requested when they are not here and cached in a store."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from doiuri import (
    DOINotFound,
    DOISyntaxError,
    Handle,
    NoValues,
    Prefix,
    ResolutionError,
)
from doiuri.plugins import user_agent
from doiuri.plugins.options import option
from doiuri.records import ascii_upper
from doiuri.resolver import Outcome, Resolver, open_store

from doiuri_proxy.records._files import is_handle
from doiuri_proxy.records._metadata import MetadataAnswer, accepts_page, is_page
from doiuri_proxy.records._source import (
    RETRY_AFTER,
    WAIT_TIME,
    AcceptError,
    BusyError,
    PublicValues,
    Registration,
    SourceError,
)

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable, Hashable, Sequence

    from doiuri.resolver import Cause, Entry, Key, LockFile, Store

    from doiuri_proxy.records._source import Records

    T = TypeVar("T")

THREADS = 32  # look-ups at a time; the Resolver sends only a few of their requests at a time
MAX_LOOKUPS = 2000  # under way and waiting
REFUSAL_TIME = (
    60  # seconds for which a failure counts: without requests nobody learns that it is over
)
LOOKUP_TIME = 60  # seconds for a look-up: clients that ask again get its answer

# HTTP statuses of a server that may soon answer; 500 and 403 tend to persist
_TRANSIENT = frozenset({429, 502, 503, 504})
_OF_ONE_NAME = frozenset({"unusable", "too-long"})  # kinds of causes
_EXISTS = {"found": True, "no-values": True, "not-found": False}

_log = logging.getLogger("doiuri_proxy")
_deadline: ContextVar[float] = ContextVar("deadline")  # of a request, with all its look-ups


class UpstreamSource:
    """Local records first, then those of the proxy at ``base``, cached for their TTL.

    A look-up is answered by the first of these that can:

    1. the local records;
    2. fresh answers in the cache, so that these do not wait for new names;
    3. a request to upstream, in a thread; concurrent look-ups of one name share it;
    4. stale answers in the cache, if upstream is busy.

    If none can, SourceError is raised: that upstream does not answer never means "not found".
    """

    def __init__(
        self, local: Records, base: str, cache: str | None, *, offline: bool = False
    ) -> None:
        """Open the cache, a store's path or URL. Raises ValueError for a bad ``base`` or ``cache``.

        ``offline`` sends no requests: what the cache lacks is not known.
        """
        self.local = local
        self._offline = offline
        store = open_store(option("cache").read({"cache": cache}))
        agent = user_agent("doiuri-proxy", option("mailto").read({}))
        self._resolver = Resolver(base, store=store, user_agent=agent, long_running=True)
        self._cached = Resolver(base, store=store, offline=True)  # stale answers, too
        self._fresh = self._cached  # offline, no answer is too old
        if not offline:
            self._fresh = Resolver(base, store=_FreshEntries(store), offline=True)
        self._close_store = store.close
        self._pool = ThreadPoolExecutor(THREADS, "upstream")
        self._waiting: dict[Hashable, Future[Any]] = {}  # look-ups under way, by what is asked
        self._last_failure = ""  # of upstream, unless it has answered since
        self._failed_at = 0.0

    @property
    def refusal(self) -> str:
        """Why upstream did not answer in the last minute; empty if it did, or was not asked."""
        is_recent = time.monotonic() - self._failed_at < REFUSAL_TIME
        return self._last_failure if is_recent else ""

    def with_local(self, local: Records) -> UpstreamSource:
        """Use other local records from now on, with the same cache and queue."""
        self.local = local
        return self

    async def lookup(
        self, handle: str, *, auth: bool = False, cert: bool = False
    ) -> PublicValues | None:
        """Return the values of a handle. Upstream is asked about DOIs and short DOIs only.

        Raises SourceError for any other handle that is not a local one: it may exist elsewhere.
        """
        values = await self.local.lookup(handle)
        if values is not None or not is_handle(handle):
            return values
        doi = _resolvable(handle)
        if doi is None:
            raise SourceError(f"{handle} is not a DOI, so upstream is not asked about it")
        if self._offline:  # there is nothing behind a build's cache
            auth = cert = False
        key = (ascii_upper(handle), auth, cert)
        return await self._answer(key, partial(_resolve, doi, auth, cert))

    async def metadata(self, handle: str, accept: str) -> MetadataAnswer:
        """Return the metadata of a local record, or what upstream sends, whatever its media type."""
        doi = _resolvable(handle)
        if doi is None or await self.local.lookup(handle) is not None:
            return await self.local.metadata(handle, accept)
        wanted = accept.replace("\t", " ").strip(" ,")  # RFC 9110 §5.6.1: an element may be empty
        key = ("metadata", ascii_upper(handle), wanted)
        return await self._answer(key, partial(_negotiate, doi, wanted))

    async def registrations(self, names: Sequence[str]) -> list[Registration]:
        """Return the registration of each DOI or bare prefix; upstream is asked about those not known here.

        Raises SourceError if nothing is known about any of them.
        """
        known = dict(zip(names, await self.local.registrations(names), strict=True))
        missing = [name for name, registration in known.items() if not registration.exists]
        if not missing:
            return [known[name] for name in names]

        try:
            answers = await self._ask_agencies(missing)
        except SourceError:
            if len(missing) == len(known):
                raise
            answers = [Registration(None)] * len(missing)
        known.update(zip(missing, answers, strict=True))
        return [known[name] for name in names]

    def close(self) -> None:
        """Close the cache; requests under way end by themselves."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._close_store()

    async def _answer(self, key: Hashable, ask: Callable[[Resolver], T]) -> T:
        """Return what ``ask`` returns for a Resolver: from the cache, else from upstream, else a stale one.

        :param key: look-ups of the same key share a request
        """
        try:
            return await asyncio.to_thread(ask, self._fresh)
        except SourceError:  # not in the cache, which "auth" and "cert" bypass
            if self._offline:
                raise
        try:
            return await self._request(key, ask)
        except BusyError:
            with suppress(SourceError):  # no stale answer
                return await asyncio.to_thread(ask, self._cached)
            raise

    async def _request(self, key: Hashable, ask: Callable[[Resolver], T]) -> T:
        """Return upstream's answer; clients that wait for the same ``key`` share it.

        Raises BusyError if too many look-ups wait, or WAIT_TIME after the first one of a request; then the
        look-up continues, and clients that ask again get its answer.
        """
        answer: Future[T] | None = self._waiting.get(key)
        if answer is None:
            if len(self._waiting) >= MAX_LOOKUPS:
                raise BusyError("too many look-ups are waiting for upstream")
            answer = asyncio.wrap_future(self._pool.submit(ask, self._resolver))
            self._waiting[key] = answer
            answer.add_done_callback(partial(self._forget, key))

        # The first look-up of a request sets the deadline; those that follow, as for aliases, share it.
        now = time.monotonic()
        deadline = _deadline.get(now + WAIT_TIME)
        _deadline.set(deadline)
        done, _ = await asyncio.wait([answer], timeout=max(deadline - now, 0))
        if not done:
            raise BusyError(f"upstream did not answer within {WAIT_TIME} s")
        return answer.result()

    def _forget(self, key: Hashable, answer: Future[Any]) -> None:
        """Remove a look-up that has ended, and note whether upstream answers."""
        del self._waiting[key]
        if answer.cancelled():
            return
        error = answer.exception()  # nobody may be left to take it, which asyncio would log
        if error is None:
            if self._last_failure:
                _log.info("upstream answers again")
            self._last_failure = ""
        elif isinstance(error, SourceError) and error.refusal:
            if not self._last_failure:
                _log.warning("upstream: %s; names in the cache are still answered", error.refusal)
            self._last_failure = error.refusal
            self._failed_at = time.monotonic()

    async def _ask_agencies(self, names: Sequence[str]) -> list[Registration]:
        """Return the registration of each name: from the cache, else from upstream, else a stale one.

        Raises SourceError if nothing is known about any of them.
        """
        ask = partial(_agencies, names)
        if self._offline:
            return await asyncio.to_thread(ask, self._cached)
        with suppress(SourceError):  # nothing fresh
            fresh = await asyncio.to_thread(ask, self._fresh)
            if all(registration.exists is not None for registration in fresh):
                return fresh
        try:
            return await self._request(("agencies", *names), ask)
        except SourceError:
            with suppress(SourceError):  # no stale answer
                return await asyncio.to_thread(ask, self._cached)
            raise


class _FreshEntries:
    """The entries of a store that have not expired, and the expired answers that a DOI does not exist.

    The latter are newer than other answers about the DOI that may still be fresh, such as metadata, and make
    these void.
    """

    def __init__(self, store: Store | LockFile) -> None:
        self._store = store

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        """Return the entries of keys, without those that the class leaves out."""
        now = time.time()
        entries = self._store.get_many(keys)
        return {
            key: entry
            for key, entry in entries.items()
            if entry.expires > now or entry.says_not_found
        }


def _resolve(doi: Handle, auth: bool, cert: bool, resolver: Resolver) -> PublicValues | None:
    """Return the values of a DOI; None if it does not exist."""
    try:
        record = resolver.resolve(doi, auth=auth, cert=cert, follow=False, budget=LOOKUP_TIME)
        return PublicValues.of(record.values, is_upstreams=True)
    except DOINotFound:
        return None
    except NoValues:
        return PublicValues.of((), is_upstreams=True)
    except ResolutionError as error:
        raise _failure(Outcome.from_error(doi, error), resolver) from error


def _negotiate(doi: Handle, accept: str, resolver: Resolver) -> MetadataAnswer:
    """Return what upstream sends for an Accept header, whatever its media type."""
    try:
        outcomes = resolver.metadata_many([doi], accept, budget=LOOKUP_TIME)
    except ValueError as error:
        raise AcceptError(f"Accept header: {error}") from None
    (outcome,) = outcomes

    metadata = outcome.metadata
    if metadata is None and outcome.status == "unknown":
        raise _failure(outcome, resolver)
    has_no_metadata = metadata is None or is_page(metadata.content_type)
    if has_no_metadata and accepts_page(accept):
        return MetadataAnswer(302)
    if metadata is None:
        return MetadataAnswer(406)
    return MetadataAnswer(200, metadata.content_type, metadata.content)


def _agencies(names: Sequence[str], resolver: Resolver) -> list[Registration]:
    """Return the registration of each name. Raises SourceError if nothing is known about any of them."""
    handles = map(Handle.from_name, names)
    outcomes = list(resolver.agencies(handles, budget=LOOKUP_TIME))
    if all(outcome.status == "unknown" for outcome in outcomes):
        raise _failure(outcomes[0], resolver)
    return [Registration(_EXISTS.get(outcome.status), outcome.agency) for outcome in outcomes]


def _failure(unknown: Outcome, resolver: Resolver) -> SourceError:
    """Return the error for a DOI about which nothing is known.

    BusyError if upstream may soon answer: clients then wait, and ask again.
    """
    assert unknown.doi is not None  # noqa: S101 - only text that is not a DOI has none
    message = f"{unknown.doi.name}: {unknown.reason}"
    error: SourceError = BusyError(message)
    if resolver.settings.offline or _is_lasting(unknown.cause):
        error = SourceError(message)
    if unknown.cause is not None and unknown.cause.kind not in _OF_ONE_NAME:
        error.refusal = unknown.reason
    return error


def _is_lasting(cause: Cause | None) -> bool:
    """Return whether a client that asks again after ``RETRY_AFTER`` seconds would get the same answer."""
    if cause is None:
        return False
    if cause.kind in _OF_ONE_NAME:
        return True
    if cause.status is None or cause.status in _TRANSIENT:
        return False
    return cause.retry_after is None or cause.retry_after > RETRY_AFTER


def _resolvable(handle: str) -> Handle | None:
    """Return the DOI or short DOI to ask upstream about; None for a bare prefix and any other handle."""
    try:
        name = Handle.from_name(handle)
    except DOISyntaxError:
        return None
    if isinstance(name, Prefix):
        return None
    return name
