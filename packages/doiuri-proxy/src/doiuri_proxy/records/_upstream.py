"""Records of another DOI proxy, requested when they are not here and cached in a store."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from doiuri import DOINotFound, DOISyntaxError, Handle, NoValues, Prefix, ResolutionError
from doiuri.plugins import Settings, user_agent
from doiuri.resolver import Resolver
from doiuri.rest import ascii_upper

from doiuri_proxy.records._source import PublicValues, Registration, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from doiuri_proxy.records._source import LocalSource

    T = TypeVar("T")

BUDGET = 20  # seconds that a client may wait for upstream
THREADS = 32  # look-ups at a time; the Resolver sends only a few of their requests at a time


class UpstreamSource:
    """Local records first, then those of the proxy at ``base``, cached for their TTL.

    Concurrent look-ups of one name share a request. If upstream does not answer, a stale record is served or
    SourceError is raised, never "not found".
    """

    def __init__(self, local: LocalSource, base: str, cache: str | None) -> None:
        """Open the cache, a store's path or URL. Raises ValueError for a bad ``base`` or ``cache``."""
        self._local = local
        agent = user_agent("doiuri-proxy", Settings.from_environ().mailto)
        resolver = partial(Resolver, base, budget=BUDGET, user_agent=agent)
        self._resolver = resolver() if cache is None else resolver(store=cache)
        self._pool = ThreadPoolExecutor(THREADS, "upstream")
        self._requests: dict[tuple[str, bool, bool], asyncio.Future[PublicValues | None]] = {}

    async def lookup(self, handle: str, *, auth: bool = False, cert: bool = False) -> PublicValues | None:
        """Return the values of a handle. Upstream is asked about DOIs and short DOIs only."""
        doi = _resolvable(handle)
        values = await self._lookup_local(handle, doi)
        if values is not None or doi is None:
            return values
        key = (ascii_upper(handle), auth, cert)
        if key not in self._requests:
            self._requests[key] = self._in_thread(lambda: self._resolve(doi, auth, cert))
            self._requests[key].add_done_callback(lambda _: self._requests.pop(key))
        # The request goes on for the other clients if this one disconnects.
        return await asyncio.shield(self._requests[key])

    async def knows_prefix(self, prefix: str) -> bool | None:
        """Return whether local records have the prefix; None if they do not."""
        return await self._local.knows_prefix(prefix) or None

    async def registrations(self, names: Sequence[str]) -> list[Registration]:
        """Return the registration of each DOI or bare prefix; ask upstream about those not known here."""
        known = dict(zip(names, await self._local.registrations(names), strict=True))
        missing = [name for name, registration in known.items() if not registration.exists]
        if missing:
            answers = await self._in_thread(lambda: self._ask_agencies(missing))
            known.update(zip(missing, answers, strict=True))
        return [known[name] for name in names]

    def close(self) -> None:
        """Close the stores; requests under way end by themselves."""
        self._local.close()
        self._pool.shutdown(wait=False)
        self._resolver.close()

    async def _lookup_local(self, handle: str, doi: Handle | None) -> PublicValues | None:
        try:
            return await self._local.lookup(handle)
        except SourceError:
            if doi is None:
                raise
            return None  # upstream is asked

    def _resolve(self, doi: Handle, auth: bool, cert: bool) -> PublicValues | None:
        try:
            return PublicValues.of(self._resolver.resolve(doi, auth=auth, cert=cert, follow=False).values)
        except DOINotFound:
            return None
        except NoValues:
            return PublicValues.of(())
        except ResolutionError as error:
            raise SourceError(str(error)) from error

    def _ask_agencies(self, names: Sequence[str]) -> list[Registration]:
        outcomes = self._resolver.agencies(map(Handle.from_name, names))
        exists = {"found": True, "no-values": True, "not-found": False}
        return [Registration(exists.get(outcome.status), outcome.agency) for outcome in outcomes]

    def _in_thread(self, function: Callable[[], T]) -> asyncio.Future[T]:
        return asyncio.get_running_loop().run_in_executor(self._pool, function)


def _resolvable(handle: str) -> Handle | None:
    """Return the DOI or short DOI to ask upstream about, or None."""
    try:
        name = Handle.from_name(handle)
    except DOISyntaxError:
        return None
    return None if isinstance(name, Prefix) else name
