"""Records of another DOI proxy, requested when they are not here and cached in a store."""

from __future__ import annotations

import time
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from doiuri import DOI, BadRecord, DOINotFound, DOISyntaxError, Handle, NoValues, Prefix, ResolutionError
from doiuri.plugins import Settings, user_agent
from doiuri.resolver import Reply, Resolver
from doiuri.rest import ascii_upper

from doiuri_proxy.records._queue import Queue
from doiuri_proxy.records._source import (
    CHECK_TIME,
    PublicValues,
    Registration,
    SourceError,
    bounded,
    citation_type,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from doiuri.resolver import TransportError

    from doiuri_proxy.records._source import LocalSource


CHECK_INTERVAL = 30  # seconds for which an answer of upstream shows that it works
FAILURE_LIFETIME = 5  # seconds for which a failed check is not repeated

_KNOWN = DOI("10.1000/182")  # the DOI Handbook


class UpstreamSource:
    """Local records first, then those of the proxy at ``base``, cached for their TTL.

    Concurrent look-ups of one name share a request. If upstream does not answer, a stale record is served or
    SourceError is raised, never "not found".
    """

    def __init__(
        self,
        local: LocalSource,
        base: str,
        cache: str | None,
        on_reply: Callable[[bool], None] = lambda _: None,
    ) -> None:
        """Open the cache, a store's path or URL. Raises ValueError for a bad ``base`` or ``cache``.

        ``on_reply`` is called after each request to upstream, with whether it failed.
        """
        self._local = local
        self._on_reply = on_reply
        self._last_answer = -inf  # when upstream last sent a usable one, on the clock of time.monotonic
        self._failed, self._problem = -inf, ""
        agent = user_agent("doiuri-proxy", Settings.from_environ().mailto)
        resolver = partial(Resolver, base, user_agent=agent, on_reply=self._note)
        self._resolver = resolver() if cache is None else resolver(store=cache)
        self._queue = Queue()

    async def lookup(self, handle: str, *, auth: bool = False, cert: bool = False) -> PublicValues | None:
        """Return the values of a handle. Upstream is asked about DOIs and short DOIs only."""
        doi = _resolvable(handle)
        values = await self._lookup_local(handle, doi)
        if values is not None or doi is None:
            return values
        key = (ascii_upper(handle), auth, cert)
        return await self._queue.run(key, lambda budget: self._resolve(doi, auth, cert, budget))

    async def metadata(self, handle: str, accept: str) -> Mapping[str, bytes]:
        """Return the metadata of a handle: all that local records have, or what upstream answers."""
        doi = _resolvable(handle)
        if doi is None or await self._lookup_local(handle, doi) is not None:
            return await self._local.metadata(handle, accept)
        key = ("metadata", ascii_upper(handle), accept)
        return await self._queue.run(key, lambda budget: self._negotiate(doi, accept, budget))

    async def knows_prefix(self, prefix: str) -> bool | None:
        """Return whether local records have the prefix; None if they do not."""
        return await self._local.knows_prefix(prefix) or None

    async def registrations(self, names: Sequence[str]) -> list[Registration]:
        """Return the registration of each DOI or bare prefix; ask upstream about those not known here."""
        known = dict(zip(names, await self._local.registrations(names), strict=True))
        missing = [name for name, registration in known.items() if not registration.exists]
        if missing:
            known.update(zip(missing, await self._ask_agencies(missing), strict=True))
        return [known[name] for name in names]

    async def count(self) -> int | None:
        """Return the number of local records."""
        return await self._local.count()

    async def check(self) -> Mapping[str, str]:
        """Return what is wrong with the local records and with upstream.

        Upstream is asked only if it has not answered another request lately.
        """
        return {**await self._local.check(), "upstream": await self._upstream_problem()}

    def close(self) -> None:
        """Close the stores; requests under way end by themselves."""
        self._local.close()
        self._queue.close()
        self._resolver.close()

    async def _upstream_problem(self) -> str:
        now = time.monotonic()
        if now <= self._last_answer + CHECK_INTERVAL:
            return ""
        if now > self._failed + FAILURE_LIFETIME:
            self._problem = await bounded(self._queue.run("check", self._ask))
            if self._problem:
                self._failed = time.monotonic()
        return self._problem

    async def _lookup_local(self, handle: str, doi: Handle | None) -> PublicValues | None:
        try:
            return await self._local.lookup(handle)
        except SourceError:
            if doi is None:
                raise
            return None  # upstream is asked

    def _resolve(self, doi: Handle, auth: bool, cert: bool, budget: float) -> PublicValues | None:
        try:
            record = self._resolver.resolve(doi, auth=auth, cert=cert, follow=False, budget=budget)
            return PublicValues.of(record.values)
        except DOINotFound:
            return None
        except NoValues:
            return PublicValues.of(())
        except ResolutionError as error:
            raise SourceError(str(error)) from error

    def _ask(self, budget: float) -> str:
        """Request a record and return what is wrong with upstream, "" after any usable answer."""
        start = time.monotonic()
        try:  # auth: not from the cache
            self._resolver.resolve(_KNOWN, auth=True, follow=False, budget=min(budget, CHECK_TIME))
        except (DOINotFound, NoValues):
            pass
        except ResolutionError as error:
            return str(error)
        return "upstream does not answer; the cache does" if self._last_answer < start else ""

    def _note(self, reply: Reply | TransportError | TimeoutError) -> None:
        """Note how a request to upstream ended."""
        failed = not isinstance(reply, Reply) or reply.status in {403, 429} or reply.status >= 500
        if not failed:
            self._last_answer = time.monotonic()
        self._on_reply(failed)

    def _negotiate(self, doi: Handle, accept: str, budget: float) -> Mapping[str, bytes]:
        media_type = citation_type(accept)
        if media_type is None:
            return {}
        try:
            metadata = self._resolver.metadata(doi, accept, budget=budget)
        except (DOINotFound, NoValues, BadRecord, ValueError):
            return {}
        except ResolutionError as error:
            raise SourceError(str(error)) from error
        own = citation_type(metadata.content_type)
        if own is None and "," not in accept:  # the answer has another name of the only type
            own = media_type
        return {} if own is None else {own: metadata.content}

    async def _ask_agencies(self, names: Sequence[str]) -> list[Registration]:
        handles = [Handle.from_name(name) for name in names]
        try:
            outcomes = await self._queue.run(
                ("agencies", *names), lambda budget: list(self._resolver.agencies(handles, budget=budget))
            )
        except SourceError:
            return [Registration(None)] * len(names)
        exists = {"found": True, "no-values": True, "not-found": False}
        return [Registration(exists.get(outcome.status), outcome.agency) for outcome in outcomes]


def _resolvable(handle: str) -> Handle | None:
    """Return the DOI or short DOI to ask upstream about, or None."""
    try:
        name = Handle.from_name(handle)
    except DOISyntaxError:
        return None
    return None if isinstance(name, Prefix) else name
