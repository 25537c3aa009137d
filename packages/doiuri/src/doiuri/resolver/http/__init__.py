"""HTTP for the Resolver; here the interface of transports: a request, its reply, an error."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, NamedTuple, Protocol

from doiuri._urls import host_of, server_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from doiuri.connections import Guard

    OnReply = Callable[["Reply | TransportError | TimeoutError"], object]

MAX_TIMEOUT = 86_400.0
"""Seconds that a request may take at most: sockets refuse timeouts of any length."""


class Reply(NamedTuple):
    """The reply to a request.

    >>> Reply(200, {"Content-Type": "application/json"}, b"[]", "https://doi.org/doiRA/").status
    200
    """

    status: int
    """The HTTP status."""

    headers: Mapping[str, str]
    """The headers; names are compared without regard to case."""

    body: bytes
    """The body, decoded according to its Content-Encoding."""

    url: str
    """The URL that answered, after redirects."""


class TransportError(Exception):
    """A request got no usable reply.

    :param reason: what went wrong; the reason of the ResolverUnavailable that the user gets.
    :param transient: whether the same request may succeed when it is repeated.
    :param counts: whether this is a failure of the server; after several in a row it gets no requests for
        a while.
    :param host: the host that failed, if it is not the server.
    """

    def __init__(
        self, reason: str, *, transient: bool = False, counts: bool = True, host: str = ""
    ) -> None:
        super().__init__(reason)
        self.transient = transient
        self.counts = counts
        self.host = host


@dataclass
class Sending:
    """Where a request has got to."""

    url: str
    """The URL that it is sent to, after the redirects so far."""

    proxy: str = ""
    """The host of the HTTP proxy that it goes through, if any."""

    left_host: bool = False
    """Whether a redirect has led to another host; a later one may have led back."""

    guard: Guard | None = None
    """The guard of the connection that carries it."""


@dataclass(eq=False)
class Request:
    """One GET request."""

    url: str
    """The URL."""

    accept: str
    """The Accept header."""

    max_size: int
    """Bytes that the body may have, as sent and decoded."""

    any_host: bool = False
    """Whether redirects to another host may be followed."""

    redirects: bool = True
    """Whether redirects are followed at all; if not, the reply is the redirect."""

    timeout: float = inf
    """Seconds that the request may take, from when it was made."""

    def __post_init__(self) -> None:
        self._deadline = time.monotonic() + min(self.timeout, MAX_TIMEOUT)
        self._sending = Sending(self.url)

    def remaining(self) -> float:
        """Return the seconds that are left.

        :raises TimeoutError: if there are none.
        """
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError(self.timeout_reason)
        return left

    def _end(self) -> None:
        """End the request now; called from another thread."""
        self._deadline = -inf
        if self._sending.guard is not None:
            self._sending.guard.close()

    @property
    def timeout_reason(self) -> str:
        """What to say when no time is left."""
        server = host_of(self._sending.url)
        if self._sending.proxy:
            server = f"{server} through the proxy {self._sending.proxy}"
        return f"no answer from {server} within {self.timeout:.3g} s"

    @property
    def _elsewhere(self) -> bool:
        """Whether a redirect led to another server, whose behaviour says nothing about the first one."""
        return is_elsewhere(self._sending.url, self.url)


def is_elsewhere(url: str, first: str) -> bool:
    """Return whether two URLs are on different servers; http and https on their default ports are one."""
    return server_of(url) != server_of(first)


class Transport(Protocol):
    """An object that sends a Resolver's requests instead of HTTP.

    >>> from doiuri.resolver import Reply, Resolver
    >>> class Canned:
    ...     def get(self, request):
    ...         name = request.url.partition("/api/handles/")[2]
    ...         body = b'{"responseCode":100,"handle":"%b"}' % name.encode()
    ...         return Reply(404, {"Content-Type": "application/json"}, body, request.url)
    >>> resolver = Resolver(store=None, transport=Canned(), rate=None)
    >>> [outcome.status for outcome in resolver.resolve_many(["10.1000/1"])]
    ['not-found']
    """

    def get(self, request: Request) -> Reply:
        """Send the request and return the reply, whatever its HTTP status.

        It is called in several threads at once. It must return within ``request.remaining()`` seconds, and
        respect ``request.max_size`` and ``request.any_host``.

        :raises TransportError: if there is no usable reply.
        :raises TimeoutError: if there is no reply in time.
        """


for _public in (Reply, Request, Transport, TransportError):
    _public.__module__ = "doiuri.resolver"  # for tracebacks and pickles
