"""A source: one search server that is asked within its limits, and whose answers are stored."""

from __future__ import annotations

import time
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from doiuri._errors import ResolutionError
from doiuri._json import Malformed, dump, load
from doiuri._targets import is_loopback
from doiuri._urls import host_of
from doiuri.resolver import _process
from doiuri.resolver._lock_file import LockFile
from doiuri.resolver._outcome import Cause
from doiuri.resolver.http import Reply, Request
from doiuri.resolver.stores._store import JSON, Key, new_entry, read, write
from doiuri.search._rule import compare
from doiuri.search._servers import MAX_SIZE
from doiuri.search._traits import Traits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doiuri.resolver import TransportError
    from doiuri.resolver._resolver import Resolver
    from doiuri.resolver.http._client import Budget
    from doiuri.search._servers import Item, SearchServer
    from doiuri.works._work import Work


class _Limits(NamedTuple):
    """How a server is asked."""

    rate: float | None  # requests a second; None: no limit
    concurrency: int  # requests at once


# The polite pool is for those who say whom to write to (Crossref, REST API, "Access and authentication")
_POLITE = _Limits(3.0, 3)
_PUBLIC = _Limits(1.0, 1)
_LOCAL = _Limits(None, 3)  # of a server on this machine

_FAILURES = 3
"""Failures in a row after which a server is not asked again."""

_DAY = 86400.0
_KEPT = 30 * _DAY
_KEPT_WITHOUT = 7 * _DAY  # if the work is not in the answer: it may be registered soon


class SearchAnswer(NamedTuple):
    """What a server answered about a work."""

    items: Sequence[Item] = ()
    sent: bool = False  # whether it was sent a request; not if the answer was stored
    cause: Cause | None = None  # why there is no answer


class Source:
    """A search server that is asked within its limits, and whose answers are stored.

    1. A stored answer that is not stale is taken (``_stored``).
    2. Otherwise the server is asked, at the rate that it wants (``_obey``).
    3. Its answer is stored. A few failures in a row, and it is not asked again.

    :param base: the base URL of its API
    :param resolver: whose settings and store are used
    """

    def __init__(self, server: SearchServer, base: str, resolver: Resolver) -> None:
        limits = _PUBLIC if resolver.settings.mailto is None else _POLITE
        if is_loopback(urlsplit(base).hostname or ""):
            limits = _LOCAL
        settings = replace(
            resolver.settings, base=base, rate=limits.rate, concurrency=limits.concurrency
        )

        self.name = server.name
        self.requests = 0
        self._server = server
        self._base = base
        self._host = host_of(base)
        # A lock file is for the answers about the DOIs of a project
        self._store = None if isinstance(resolver._store, LockFile) else resolver._store
        self._client = _process.new_client(settings, None, None, self._obey)
        self._failures = 0  # in a row
        self._given_up: Cause | None = None

    @property
    def rate(self) -> float | None:
        """Requests a second; None if there is no limit."""
        return self._client.rate

    @property
    def concurrency(self) -> int:
        """Requests at once."""
        return self._client.concurrency

    def ask(self, work: Work, budget: Budget) -> SearchAnswer:
        """Return the answer about a work: a stored one, or that of the server, which is stored.

        A server that failed several times in a row is not asked again.
        """
        path = self._server.path(work)
        digest = blake2b(path.encode(), digest_size=16).hexdigest()
        key = Key("search", self._base, digest)
        stored = self._stored(key)
        if stored is not None:
            return SearchAnswer(stored)
        if self._given_up is not None:
            return SearchAnswer(cause=self._given_up)

        request = Request(self._base + path, JSON, MAX_SIZE, redirects=False)
        before = self.requests
        try:
            items = self._client.get(budget, None, request, self._server.items)
        except ResolutionError as error:
            cause = Cause.of(error, self._host)
            self._failures += 1
            if self._failures >= _FAILURES:
                self._given_up = cause
            return SearchAnswer(sent=self.requests > before, cause=cause)

        self._failures = 0
        wanted = Traits.of(work)
        is_there = any(compare(wanted, item) for item in items)
        lifetime = _KEPT if is_there else _KEPT_WITHOUT
        write(self._store, {key: new_entry(dump(items).encode(), JSON, lifetime)})
        return SearchAnswer(items, sent=True)

    def _stored(self, key: Key) -> list[Item] | None:
        """Return a stored answer that is not stale, or None."""
        entry = read(self._store, [key]).get(key)
        if entry is None or entry.expires <= time.time():
            return None
        try:
            items: list[Item] = load(entry.body)
        except Malformed:
            return None
        return items

    def _obey(self, result: Reply | TransportError | TimeoutError) -> None:
        """Count a request, and keep to lower limits that the reply announces."""
        self.requests += 1
        if not isinstance(result, Reply):
            return
        requests = _number(result.headers.get("X-Rate-Limit-Limit"))
        seconds = _number(str(result.headers.get("X-Rate-Limit-Interval") or "1s").rstrip("s"))
        if requests and seconds and self._client.rate is not None:
            self._client.rate = min(self._client.rate, requests / seconds)
        at_once = _number(result.headers.get("X-Concurrency-Limit"))
        if at_once:
            self._client.concurrency = max(1, min(self._client.concurrency, int(at_once)))


def _number(text: str | None) -> float | None:
    """Return the number in a header; None if it is missing, or anything but a few digits."""
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 9:
        return None
    return float(text)
