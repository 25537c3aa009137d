"""Records of another DOI proxy, requested when they are not here and cached in a store."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from doiuri import BadRecord, DOINotFound, DOISyntaxError, Handle, NoValues, Prefix, ResolutionError
from doiuri.plugins import Settings, user_agent
from doiuri.records import ascii_upper
from doiuri.resolver import Resolver, open_store

from doiuri_proxy.records._metadata import citation_type
from doiuri_proxy.records._source import (
    WAIT_TIME,
    BusyError,
    PublicValues,
    Registration,
    SourceError,
)

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from doiuri.resolver import Entry, Key, LockFile, Store

    from doiuri_proxy.records._source import Records

    T = TypeVar("T")

THREADS = 32  # look-ups at a time; the Resolver sends only a few of their requests at a time
MAX_LOOKUPS = 2000  # under way and waiting
LOOKUP_TIME = 60  # seconds for a look-up; clients that ask again get its answer

_deadline: ContextVar[float] = ContextVar("deadline")  # of a request, with all its look-ups


class UpstreamSource:
    """Local records first, then those of the proxy at ``base``, cached for their TTL.

    Cached answers do not wait for new names. Concurrent look-ups of one name share a request. If upstream
    does not answer, or the queue is full, a stale answer is served or SourceError is raised, never "not
    found".
    """

    def __init__(
        self, local: Records, base: str, cache: str | None, *, offline: bool = False
    ) -> None:
        """Open the cache, a store's path or URL. Raises ValueError for a bad ``base`` or ``cache``.

        ``offline`` sends no requests: what the cache lacks is not known.
        """
        self.local = local
        self._offline = offline
        settings = Settings.from_environ(cache=cache)
        store = open_store(settings.cache)
        agent = user_agent("doiuri-proxy", settings.mailto)
        self._resolver = Resolver(base, store=store, user_agent=agent)
        self._cached = Resolver(base, store=store, offline=True)  # stale answers, too
        self._fresh = (
            self._cached if offline else Resolver(base, store=_FreshEntries(store), offline=True)
        )
        self._close_store = store.close
        self._pool = ThreadPoolExecutor(THREADS, "upstream")
        self._waiting: dict[Hashable, Future[Any]] = {}

    def with_local(self, local: Records) -> UpstreamSource:
        """Use other local records from now on, with the same cache and queue."""
        self.local = local
        return self

    async def lookup(
        self, handle: str, *, auth: bool = False, cert: bool = False
    ) -> PublicValues | None:
        """Return the values of a handle. Upstream is asked about DOIs and short DOIs only."""
        doi = _resolvable(handle)
        values = await self.local.lookup(handle)
        if values is not None or (doi is None and not self._offline):
            return values
        if doi is None:
            raise SourceError(f"{handle} is not in the cache")
        flags = (
            (False, False) if self._offline else (auth, cert)
        )  # past a build's cache there is nothing
        return await self._answer((ascii_upper(handle), *flags), partial(_resolve, doi, *flags))

    async def metadata(self, handle: str, accept: str) -> Mapping[str, bytes]:
        """Return the metadata of a handle: all that local records have, or what upstream answers."""
        doi = _resolvable(handle)
        if doi is None or await self.local.lookup(handle) is not None:
            return await self.local.metadata(handle, accept)
        return await self._answer(
            ("metadata", ascii_upper(handle), accept), partial(_negotiate, doi, accept)
        )

    async def registrations(self, names: Sequence[str]) -> list[Registration]:
        """Return the registration of each DOI or bare prefix; ask upstream about those not known here."""
        known = dict(zip(names, await self.local.registrations(names), strict=True))
        missing = [name for name, registration in known.items() if not registration.exists]
        if missing:
            known.update(zip(missing, await self._ask_agencies(missing), strict=True))
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
        except SourceError as error:  # not in the cache, which "auth" and "cert" bypass
            if self._offline:  # to ask again does not help, as a BusyError would say
                raise SourceError(str(error)) from None
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
            job = self._pool.submit(ask, self._resolver)
            answer = self._waiting[key] = asyncio.wrap_future(job)
            answer.add_done_callback(partial(self._forget, key))
        now = time.monotonic()
        _deadline.set(deadline := _deadline.get(now + WAIT_TIME))
        done, _ = await asyncio.wait([answer], timeout=max(deadline - now, 0))
        if not done:
            raise BusyError(f"upstream did not answer within {WAIT_TIME} s")
        return answer.result()

    def _forget(self, key: Hashable, answer: Future[Any]) -> None:
        del self._waiting[key]
        if not answer.cancelled():
            answer.exception()  # nobody may be left to take it, which asyncio would log

    async def _ask_agencies(self, names: Sequence[str]) -> list[Registration]:
        """Return the registration of each name: from the cache, else from upstream, else a stale one."""
        ask = partial(_agencies, names)
        fresh = await asyncio.to_thread(ask, self._fresh)
        if self._offline or all(registration.exists is not None for registration in fresh):
            return fresh
        try:
            return await self._request(("agencies", *names), ask)
        except SourceError:
            return await asyncio.to_thread(ask, self._cached)


class _FreshEntries:
    """The entries of a store that have not expired."""

    def __init__(self, store: Store | LockFile) -> None:
        self._store = store

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        now = time.time()
        return {
            key: entry for key, entry in self._store.get_many(keys).items() if entry.expires > now
        }


def _resolve(doi: Handle, auth: bool, cert: bool, resolver: Resolver) -> PublicValues | None:
    try:
        record = resolver.resolve(doi, auth=auth, cert=cert, follow=False, budget=LOOKUP_TIME)
        return PublicValues.of(record.values)
    except DOINotFound:
        return None
    except NoValues:
        return PublicValues.of(())
    except ResolutionError as error:
        raise (SourceError if isinstance(error, BadRecord) else BusyError)(str(error)) from error


def _negotiate(doi: Handle, accept: str, resolver: Resolver) -> Mapping[str, bytes]:
    media_type = citation_type(accept)
    if media_type is None:
        return {}
    try:
        metadata = resolver.metadata(doi, accept, budget=LOOKUP_TIME)
    except (DOINotFound, NoValues, BadRecord, ValueError):
        return {}
    except ResolutionError as error:
        raise BusyError(str(error)) from error
    own = citation_type(metadata.content_type)
    if own is None and "," not in accept:  # the answer has another name of the only type
        own = media_type
    return {} if own is None else {own: metadata.content}


def _agencies(names: Sequence[str], resolver: Resolver) -> list[Registration]:
    exists = {"found": True, "no-values": True, "not-found": False}
    outcomes = resolver.agencies(map(Handle.from_name, names), budget=LOOKUP_TIME)
    return [Registration(exists.get(outcome.status), outcome.agency) for outcome in outcomes]


def _resolvable(handle: str) -> Handle | None:
    """Return the DOI or short DOI to ask upstream about, or None."""
    try:
        name = Handle.from_name(handle)
    except DOISyntaxError:
        return None
    return None if isinstance(name, Prefix) else name
