"""Asking one server with good manners: paced, bounded, patient, and not for ever."""

from __future__ import annotations

import time
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from doiuri._resolution_errors import ResolverUnavailable
from doiuri._urls import origin
from doiuri.resolver.http._connection import Flight
from doiuri.resolver.http._limiter import Resting
from doiuri.resolver.http._retry import LONGEST_WAIT, PASSING, pause
from doiuri.resolver.http._transport import TransportError
from doiuri.rest._client import retry_after

if TYPE_CHECKING:
    from collections.abc import Callable

    from doiuri._doi import Handle
    from doiuri.resolver._workers import Job
    from doiuri.resolver.http._limiter import Limiter, Turn
    from doiuri.resolver.http._transport import Reply, Request, Transport

PATIENCE = 1.0
"""A request that had less time, in seconds, says nothing about the server when it is not answered."""

SLACK = 0.05
"""Seconds between the reading of a clock and another: the end of a budget is that of its last requests."""


class _Trip:
    """A request in the air, as the crew sees it: when it is overdue, what to say then, how to give it up."""

    def __init__(self, turn: Turn, limiter: Limiter, timeout: float, host: str, *, telling: bool) -> None:
        self.flight = Flight(timeout)
        self.reason = f"no answer from {host} within {timeout:.3g} s"
        self.overdue = self.flight.overdue
        self._turn = turn
        self._limiter = limiter
        self._telling = telling

    def abandon(self) -> None:
        """Free its place for others; whoever hangs in it comes back too late."""
        self.flight.abandon()
        # a caller who leaves early says nothing about the server
        late = self._telling and time.monotonic() >= self.overdue - SLACK
        if self._turn.give_back() and late:
            self._limiter.refused()


class Client:
    """Sends requests to the server at ``base``.

    ``rate`` is how many a second, ``width`` how many at once, ``timeout`` the seconds that each may take.
    """

    def __init__(
        self,
        base: str,
        transport: Transport,
        limiter: Callable[[], Limiter],
        *,
        rate: float | None,
        width: int,
        timeout: float,
        offline: bool,
    ) -> None:
        self.base = base
        self._host = urlsplit(base).netloc
        self.width = width
        self.offline = offline
        self._transport = transport
        self._limiter = limiter  # a function: after a fork there is another
        self._rate = rate
        self._timeout = timeout

    def get(self, doi: Handle, request: Request, job: Job, deadline: float) -> Reply:
        """Send a request about ``doi``, again where the failure may pass; runs within a crew's job.

        Whatever the HTTP status, a reply is returned. Raises ResolverUnavailable where there is none.
        """
        for attempt in count(1):
            reply, error = self._try(doi, request, job, deadline)
            if job.lost:
                raise ResolverUnavailable(doi, "given up")
            asked = None if reply is None else retry_after(reply.headers, time.time())
            passing = reply.status in PASSING if reply else bool(error and error.passing)
            wait = pause(attempt, asked) if passing else None
            if wait is None or time.monotonic() + wait >= deadline:
                break
            if asked is None:
                time.sleep(wait)
            else:
                self._limiter().hold(wait)
        if error is None or error.telling:
            self._judge(reply, request, asked)
        if reply is None:
            raise ResolverUnavailable(doi, str(error))
        return reply

    def _try(
        self, doi: Handle, request: Request, job: Job, deadline: float
    ) -> tuple[Reply | None, TransportError | None]:
        if self.offline:
            raise ResolverUnavailable(doi, "offline, and not in the store")
        limiter = self._limiter()
        try:
            with limiter.turn(self._rate, self.width, deadline) as turn:
                if job.lost:
                    raise ResolverUnavailable(doi, "given up")
                left = min(self._timeout, deadline - time.monotonic())
                telling = left >= min(self._timeout, PATIENCE)
                trip = _Trip(turn, limiter, left, self._host, telling=telling)
                job.fly(trip)
                try:
                    return self._transport.get(request, trip.flight), None
                except TimeoutError:
                    return None, TransportError(trip.reason, telling=telling)
                except TransportError as error:
                    return None, error
                finally:
                    job.fly(None)
        except Resting as rest:
            reason = f"{self._host} refused before and is left alone for {rest.seconds:.0f} s"
            raise ResolverUnavailable(doi, reason, retry_after=rest.seconds) from None
        except TimeoutError:
            raise ResolverUnavailable(doi, "there was no time left to ask") from None

    def _judge(self, reply: Reply | None, request: Request, asked: float | None) -> None:
        """Tell the limiter whether the server answers at all."""
        doubt = 1.0 if reply is None else _doubt(reply, request)
        if doubt:
            self._limiter().refused(asked if asked is not None and asked > LONGEST_WAIT else None, doubt)
        else:
            self._limiter().answered()


def _doubt(reply: Reply, request: Request) -> float:
    """How much a reply speaks against asking on: 0 for an answer, 1 for a refusal."""
    if origin(reply.url)[1] != origin(request.url)[1]:
        return 0.0  # that is another server's business
    if reply.status in {401, 403, 407, 408, 429} or reply.status in PASSING:
        return 1.0
    if request.elsewhere or reply.body.lstrip()[:1] in {b"{", b"["}:
        return 0.25 if reply.status >= 500 else 0.0  # it may fail for a single name, but hardly for all
    return 1.0 if reply.status == 200 or reply.status >= 500 else 0.0
