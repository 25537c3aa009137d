"""Records of another proxy, asked for politely and kept in a store: for what is not here."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from doiuri import DOI, DOINotFound, DOISyntaxError, NoValues, Prefix, ResolutionError, ShortDOI
from doiuri.plugins import Settings, user_agent
from doiuri.resolver import Resolver

from doiuri_proxy.records._records import handle_key
from doiuri_proxy.records._source import Found, SourceError, Standing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Sequence

    from doiuri_proxy.records._source import LocalSource

    T = TypeVar("T")

BUDGET = 20  # seconds that a client may have to wait for upstream
THREADS = 32  # names asked for at once; the Resolver lets a few of them through at a time


class UpstreamSource:
    """Local records first, then those of the proxy at ``base``, from the store while they are fresh.

    Many clients that wait for the same name wait for one request. Where upstream gives no answer, an old one
    is served, or SourceError raised: never "not found".
    """

    def __init__(self, local: LocalSource, base: str, cache: str | None) -> None:
        """Prepare to ask ``base``; ``cache`` is the store's path or URL. Raises ValueError for a bad one."""
        self._local = local
        mailto = Settings.from_environ().mailto
        agent = user_agent("doiuri-proxy", mailto)
        resolver = partial(Resolver, base, budget=BUDGET, user_agent=agent)
        self._resolver = resolver() if cache is None else resolver(store=cache)
        self._pool = ThreadPoolExecutor(THREADS, "upstream")
        self._flights: dict[Hashable, asyncio.Task[Found | None]] = {}

    async def find(self, handle: str, *, auth: bool = False, cert: bool = False) -> Found | None:
        """Look a handle up here, then there; what is no DOI is not asked for."""
        found = await self._local_find(handle)
        doi = _askable(handle)
        if found is not None or doi is None:
            return found
        key = (handle_key(handle), auth, cert)
        if key not in self._flights:
            self._flights[key] = asyncio.create_task(self._fetch(doi, auth, cert))
            self._flights[key].add_done_callback(lambda _: self._flights.pop(key))
        return await asyncio.shield(self._flights[key])

    async def knows_prefix(self, prefix: str) -> bool | None:
        """Tell whether a prefix is known here."""
        return await self._local.knows_prefix(prefix) or None

    async def standings(self, names: Sequence[str]) -> list[Standing]:
        """Say what is known here, and ask upstream about all the rest at once."""
        standings = dict(zip(names, await self._local.standings(names), strict=True))
        rest = [name for name, standing in standings.items() if not standing.exists]
        if rest:
            standings.update(zip(rest, await self._thread(lambda: self._ask_agencies(rest)), strict=True))
        return [standings[name] for name in names]

    def close(self) -> None:
        """Let go of the store; what is under way ends by itself."""
        self._local.close()
        self._pool.shutdown(wait=False)
        self._resolver.close()

    async def _local_find(self, handle: str) -> Found | None:
        try:
            return await self._local.find(handle)
        except SourceError:
            if _askable(handle) is None:
                raise
            return None  # upstream knows

    async def _fetch(self, doi: DOI | ShortDOI, auth: bool, cert: bool) -> Found | None:
        return await self._thread(lambda: self._resolve(doi, auth, cert))

    def _resolve(self, doi: DOI | ShortDOI, auth: bool, cert: bool) -> Found | None:
        try:
            return Found.of(self._resolver.resolve(doi, auth=auth, cert=cert, follow=False).values)
        except DOINotFound:
            return None
        except NoValues:
            return Found.of(())
        except ResolutionError as error:
            raise SourceError(str(error)) from error

    def _ask_agencies(self, names: Sequence[str]) -> list[Standing]:
        handles = [DOI(name) if "/" in name else Prefix(name) for name in names]
        found = {"found": True, "no-values": True, "not-found": False}
        return [Standing(found.get(said.status), said.agency) for said in self._resolver.agencies(handles)]

    def _thread(self, work: Callable[[], T]) -> Awaitable[T]:
        return asyncio.get_running_loop().run_in_executor(self._pool, work)


def _askable(handle: str) -> DOI | ShortDOI | None:
    """Read what may be asked upstream: a DOI or a short DOI."""
    try:
        return ShortDOI(handle) if handle.startswith("10/") else DOI(handle)
    except DOISyntaxError:
        return None
