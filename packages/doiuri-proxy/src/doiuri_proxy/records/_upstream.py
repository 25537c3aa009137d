"""Records of another DOI proxy, requested when they are not here and cached in a store."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from doiuri import BadRecord, DOINotFound, DOISyntaxError, Handle, NoValues, Prefix, ResolutionError
from doiuri.plugins import Settings, user_agent
from doiuri.records import ascii_upper
from doiuri.resolver import MemoryStore, Resolver, SQLiteStore, open_store

from doiuri_proxy.records._metadata import citation_type
from doiuri_proxy.records._source import (
    WAIT_TIME,
    BusyError,
    PublicValues,
    Registration,
    SourceError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from concurrent.futures import Future

    from doiuri.resolver import Entry, Key, LockFile, Store

    from doiuri_proxy.records._source import Records

    T = TypeVar("T")

THREADS = 32  # look-ups at a time; the Resolver sends only a few of their requests at a time
MAX_LOOKUPS = 2000  # under way and waiting
LOOKUP_TIME = 60  # seconds for a look-up; clients that ask again get its answer


class UpstreamSource:
    """Local records first, then those of the proxy at ``base``, cached for their TTL.

    Cached answers do not wait for new names. Concurrent look-ups of one name share a request. If upstream
    does not answer, or the queue is full, a stale answer is served or SourceError is raised, never "not
    found".
    """

    def __init__(
        self,
        local: Records,
        base: str,
        cache: str | None,
        *,
        offline: bool = False,
    ) -> None:
        """Open the cache, a store's path or URL. Raises ValueError for a bad ``base`` or ``cache``.

        ``offline`` sends no requests: what the cache lacks is not known.
        """
        self.local = local
        self._offline = offline
        settings = Settings.from_environ()
        try:
            store = open_store(settings.cache if cache is None else cache)
        except ValueError as error:
            raise ValueError(f"DOIURI_CACHE: {error}" if cache is None else str(error)) from None
        agent = user_agent("doiuri-proxy", settings.mailto)
        self._resolver = Resolver(base, store=store, user_agent=agent)
        self._fresh = Resolver(base, store=_FreshEntries(store), offline=True)
        self._cached = Resolver(base, store=store, offline=True)  # stale answers, too
        self._close_store = store.close
        # these answer within microseconds, less than a thread takes to start
        self._is_fast = isinstance(store, MemoryStore | SQLiteStore)
        self._queue = Queue()

    def with_local(self, local: Records) -> UpstreamSource:
        """Use other local records from now on, with the same cache and queue."""
        self.local = local
        return self

    async def lookup(self, handle: str, *, auth: bool = False, cert: bool = False) -> PublicValues | None:
        """Return the values of a handle. Upstream is asked about DOIs and short DOIs only."""
        doi = _resolvable(handle)
        values = await self.local.lookup(handle)
        if values is not None or (doi is None and not self._offline):
            return values
        if doi is None:
            raise SourceError(f"{handle} is not in the cache")
        key = (ascii_upper(handle), auth, cert)
        return await self._answer(key, partial(_resolve, doi, auth, cert), bypass=auth or cert)

    async def metadata(self, handle: str, accept: str) -> Mapping[str, bytes]:
        """Return the metadata of a handle: all that local records have, or what upstream answers."""
        doi = _resolvable(handle)
        if doi is None or await self.local.lookup(handle) is not None:
            return await self.local.metadata(handle, accept)
        return await self._answer(("metadata", ascii_upper(handle), accept), partial(_negotiate, doi, accept))

    async def registrations(self, names: Sequence[str]) -> list[Registration]:
        """Return the registration of each DOI or bare prefix; ask upstream about those not known here."""
        known = dict(zip(names, await self.local.registrations(names), strict=True))
        missing = [name for name, registration in known.items() if not registration.exists]
        if missing:
            known.update(zip(missing, await self._ask_agencies(missing), strict=True))
        return [known[name] for name in names]

    def close(self) -> None:
        """Close the cache; requests under way end by themselves."""
        self._queue.close()
        self._close_store()

    async def _answer(
        self, key: Hashable, ask: Callable[[Resolver, float | None], T], *, bypass: bool = False
    ) -> T:
        """Return what ``ask`` returns for a Resolver and a budget: from the cache, else from upstream.

        :param key: look-ups of the same key share a request
        :param bypass: do not read the cache
        """
        if self._offline:
            try:
                return await self._read(partial(ask, self._cached, None))
            except BusyError as error:  # to ask again does not help
                raise SourceError(str(error)) from None
        if not bypass:
            with suppress(SourceError):  # not in the cache
                return await self._read(partial(ask, self._fresh, None))
        try:
            return await self._queue.run(key, partial(ask, self._resolver))
        except BusyError:
            if not bypass:
                with suppress(SourceError):  # no stale answer
                    return await self._read(partial(ask, self._cached, None))
            raise

    async def _read(self, read: Callable[[], T]) -> T:
        """Return what ``read`` returns, which reads the cache."""
        return read() if self._is_fast else await asyncio.to_thread(read)

    async def _ask_agencies(self, names: Sequence[str]) -> list[Registration]:
        """Return the registration of each name: from the cache, else from upstream, else a stale one."""
        handles = [Handle.from_name(name) for name in names]
        found = dict(zip(names, await asyncio.to_thread(_agencies, handles, self._fresh, None), strict=True))
        missing = [handle for handle in handles if found[handle.name].exists is None]
        if missing and self._offline:
            asked = await asyncio.to_thread(_agencies, missing, self._cached, None)
            found.update(zip((handle.name for handle in missing), asked, strict=True))
        elif missing:
            key = ("agencies", *(handle.name for handle in missing))
            try:
                asked = await self._queue.run(key, partial(_agencies, missing, self._resolver))
            except SourceError:
                asked = await asyncio.to_thread(_agencies, missing, self._cached, None)
            found.update(zip((handle.name for handle in missing), asked, strict=True))
        return [found[name] for name in names]


class _FreshEntries:
    """The entries of a store that have not expired."""

    def __init__(self, store: Store | LockFile) -> None:
        self._store = store

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        now = time.time()
        return {key: entry for key, entry in self._store.get_many(keys).items() if entry.expires > now}


def _resolve(
    doi: Handle, auth: bool, cert: bool, resolver: Resolver, budget: float | None
) -> PublicValues | None:
    try:
        record = resolver.resolve(doi, auth=auth, cert=cert, follow=False, budget=budget)
        return PublicValues.of(record.values)
    except DOINotFound:
        return None
    except NoValues:
        return PublicValues.of(())
    except ResolutionError as error:
        raise (SourceError if isinstance(error, BadRecord) else BusyError)(str(error)) from error


def _negotiate(doi: Handle, accept: str, resolver: Resolver, budget: float | None) -> Mapping[str, bytes]:
    media_type = citation_type(accept)
    if media_type is None:
        return {}
    try:
        metadata = resolver.metadata(doi, accept, budget=budget)
    except (DOINotFound, NoValues, BadRecord, ValueError):
        return {}
    except ResolutionError as error:
        raise BusyError(str(error)) from error
    own = citation_type(metadata.content_type)
    if own is None and "," not in accept:  # the answer has another name of the only type
        own = media_type
    return {} if own is None else {own: metadata.content}


def _agencies(handles: Sequence[Handle], resolver: Resolver, budget: float | None) -> list[Registration]:
    exists = {"found": True, "no-values": True, "not-found": False}
    outcomes = resolver.agencies(handles, budget=budget)
    return [Registration(exists.get(outcome.status), outcome.agency) for outcome in outcomes]


def _resolvable(handle: str) -> Handle | None:
    """Return the DOI or short DOI to ask upstream about, or None."""
    try:
        name = Handle.from_name(handle)
    except DOISyntaxError:
        return None
    return None if isinstance(name, Prefix) else name


class Queue:
    """Runs look-ups in threads: one for all clients that wait for the same answer.

    Look-ups that no client waits for any more are not begun, unless it was told to ask again.
    """

    def __init__(self, threads: int = THREADS, limit: int = MAX_LOOKUPS) -> None:
        """Prepare ``threads`` threads for at most ``limit`` look-ups, waiting ones included."""
        self._pool = ThreadPoolExecutor(threads, "upstream")
        self._limit = limit
        self._lookups: dict[Hashable, _Lookup] = {}
        self._deadlines: WeakKeyDictionary[asyncio.Task[Any], float] = WeakKeyDictionary()

    async def run(self, key: Hashable, function: Callable[[float], T]) -> T:
        """Return what ``function`` returns for the seconds that it may take.

        Look-ups of the same ``key`` share a call. Raises BusyError if the queue is full, or the client's
        time is up; then the call goes on, for the client will ask again.
        """
        lookup = self._lookups.get(key) or self._submit(key, function)
        lookup.clients += 1
        try:
            async with asyncio.timeout(self._time_left()):
                # The call goes on for the other clients if this one disconnects.
                answer: T = await asyncio.shield(lookup.answer)
        except TimeoutError:
            lookup.clients += 1  # never subtracted: the client will ask again
            raise BusyError(f"upstream did not answer within {WAIT_TIME} s") from None
        finally:
            lookup.clients -= 1
            if not lookup.clients and lookup.job.cancel():
                self._forget(key, lookup)
        return answer

    def close(self) -> None:
        """Begin no more calls; those under way end by themselves."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _submit(self, key: Hashable, function: Callable[[float], T]) -> _Lookup:
        if len(self._lookups) >= self._limit:
            raise BusyError("too many look-ups are waiting for upstream")
        deadline = time.monotonic() + LOOKUP_TIME
        job = self._pool.submit(lambda: function(max(deadline - time.monotonic(), 0.01)))
        lookup = self._lookups[key] = _Lookup(job)
        lookup.answer.add_done_callback(lambda _: self._forget(key, lookup))
        return lookup

    def _forget(self, key: Hashable, lookup: _Lookup) -> None:
        if self._lookups.get(key) is lookup:
            del self._lookups[key]
        if lookup.answer.done() and not lookup.answer.cancelled():
            lookup.answer.exception()  # nobody may be left to take it, which asyncio would log

    def _time_left(self) -> float:
        """Return the seconds that are left for this client: one request may need several look-ups."""
        now, task = time.monotonic(), asyncio.current_task()
        return WAIT_TIME if task is None else self._deadlines.setdefault(task, now + WAIT_TIME) - now


class _Lookup:
    """A call under way or waiting, its answer, and how many clients wait for it."""

    def __init__(self, job: Future[Any]) -> None:
        self.job = job
        self.answer = asyncio.wrap_future(job)
        self.clients = 0
