"""HTTP client for one server: rate limit, concurrency, retries, deadline."""

from __future__ import annotations

import time
from contextlib import contextmanager
from itertools import count
from math import inf
from typing import TYPE_CHECKING

from doiuri._errors import BadRecord, ResolverUnavailable
from doiuri._json import load
from doiuri._urls import host_of
from doiuri.resolver._outcome import BUDGET, Cause, Unanswered
from doiuri.resolver.http import Request, TransportError, is_elsewhere
from doiuri.resolver.http._limiter import REFUSED, RETRIED, UNUSABLE, Paused
from doiuri.rest import retry_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from doiuri._doi import Handle
    from doiuri._settings import ResolverSettings
    from doiuri.resolver.http import OnReply, Reply, Transport
    from doiuri.resolver.http._limiter import Limiter

    T = TypeVar("T")

MIN_TIMEOUT = 1.0
"""Seconds; a request that had less time and got no answer says nothing about the server."""

MAX_URL = 16_000
"""Characters of a URL that we send; servers refuse longer ones."""

MAX_ATTEMPTS = 3
MAX_RETRY_WAIT = 30.0
"""Seconds of a Retry-After that we wait; after a longer one we give up."""

TRANSIENT = frozenset({429, 502, 503, 504})
"""HTTP statuses of a server that may soon answer. 403 is a refusal, and 500 tends to persist."""

REFUSALS = TRANSIENT | {401, 403, 407, 408}
"""HTTP statuses that say nothing about a DOI."""


class Budget:
    """The time of one call, and its requests in flight.

    :param deadline: when the call ends, on the clock of ``time.monotonic``.
    """

    deadline: float
    """When the call ends; it may be put off."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self._requests: set[Request] = set()

    @property
    def ended(self) -> bool:
        """Whether the call ended early: what its requests bring is not used, and says nothing."""
        return self.deadline == -inf

    @contextmanager
    def attempt(self, request: Request, timeout: float) -> Iterator[Request]:
        """Yield a copy of a request, which is in flight for at most ``timeout`` seconds, or until the end.

        :raises TimeoutError: if the call ended early.
        """
        timeout = min(timeout, self.deadline - time.monotonic())
        attempt = Request(request.url, request.accept, request.max_size, request.any_host, timeout)
        self._requests.add(attempt)
        try:
            if self.ended:
                raise TimeoutError
            yield attempt
        finally:
            self._requests.discard(attempt)

    def end(self) -> None:
        """End the call. If it is early, requests in flight end at once; later, they do so by themselves."""
        if time.monotonic() < self.deadline:
            self.deadline = -inf
            for request in tuple(self._requests):
                request._end()


class Client:
    """Sends requests to one server.

    :param settings: the server, and the limits of requests to it.
    :param transport: returns the transport; called when the first request is due.
    :param limiter: returns the limiter, which is replaced after a fork.
    :param on_reply: called with what came of each request, if given.
    """

    def __init__(
        self,
        settings: ResolverSettings,
        transport: Callable[[], Transport],
        limiter: Callable[[], Limiter],
        on_reply: OnReply | None,
    ) -> None:
        self.concurrency = settings.concurrency
        self._settings = settings
        self._host = host_of(settings.base)
        self._transport = transport
        self._limiter = limiter
        self._on_reply = on_reply
        self._loaded = settings.offline

    def load(self) -> float:
        """Load what sends requests, if it is not there yet; return the seconds that it took.

        They are no part of a call's budget: on a slow disk they may be longer.
        """
        if self._loaded:
            return 0.0
        begun = time.monotonic()
        self._transport()
        self._loaded = True
        return time.monotonic() - begun

    def get(self, budget: Budget, doi: Handle, request: Request, read: Callable[[Reply], T]) -> T:
        """Send a request about ``doi``, and repeat it if the failure may be transient.

        :param budget: the time of the call.
        :param read: reads the reply, whatever its HTTP status; it may raise a ResolutionError.
        :returns: what ``read`` returns.
        :raises ResolverUnavailable: if there is no reply.
        """
        if len(request.url) > MAX_URL:
            detail = f"name too long: its URL has {len(request.url):,} characters"
            raise Unanswered(doi, Cause("too-long", detail=detail))
        for attempt in count(1):
            result = self._attempt(doi, request, budget)
            if budget.ended:
                raise Unanswered(doi, BUDGET)
            asked = None if isinstance(result, TransportError) else retry_after(result.headers, time.time())
            delay = retry_delay(result, attempt, asked)
            if delay is None or time.monotonic() + delay >= budget.deadline:
                break
            self._note(result, request, retried=True)
            if isinstance(result, TransportError) or asked is None or is_elsewhere(result.url, request.url):
                time.sleep(delay)
            else:
                self._limiter().hold(delay)
        if isinstance(result, TransportError):
            self._note(result, request)
            raise Unanswered(doi, self._cause(result))
        usable = True
        try:
            return read(result)
        except ResolverUnavailable as error:
            usable = False
            raise Unanswered(doi, Cause.of(error, host_of(result.url))) from None
        except BadRecord:
            usable = False
            raise
        finally:
            self._note(result, request, asked, usable=usable)

    def _cause(self, result: Reply | TransportError) -> Cause:
        if isinstance(result, TransportError):
            kind = "timeout" if isinstance(result, _NoReplyError) else "connection"
            return Cause(kind, result.host or self._host, detail=str(result))
        return Cause("status", host_of(result.url), result.status, f"HTTP status {result.status}")

    def _attempt(self, doi: Handle, request: Request, budget: Budget) -> Reply | TransportError:
        if self._settings.offline:
            raise Unanswered(doi, Cause("offline", detail="offline: request not sent"))
        transport = self._transport()  # before the timeout starts: it may have to be imported
        try:
            with (
                self._limiter().slot(self._settings.rate, self.concurrency, lambda: budget.deadline),
                budget.attempt(request, self._settings.timeout) as attempt,
            ):
                result = _send(transport, attempt)
        except Paused as pause:
            raise Unanswered(doi, self._pause_cause(pause)) from None
        except TimeoutError:
            cause = BUDGET._replace(detail=f"{BUDGET.detail}: request not sent")
            raise Unanswered(doi, cause) from None
        if self._on_reply is not None:  # not above: a TimeoutError that it raises is the caller's
            self._on_reply(result)
        if isinstance(result, TimeoutError):
            # a server that had less time than usual did not fail
            long_enough = attempt.timeout >= min(self._settings.timeout, MIN_TIMEOUT)
            counts = long_enough and not attempt._elsewhere
            return _NoReplyError(attempt.timeout_reason, counts=counts, host=host_of(attempt._hop))
        return result

    def _pause_cause(self, pause: Paused) -> Cause:
        lasts = pause.seconds < inf
        how_long = f"{pause.seconds:.0f} s" if lasts else "as long as this process runs"
        return pause.cause._replace(
            host=pause.cause.host or self._host,
            detail="; ".join(filter(None, (pause.cause.detail, f"not asked again for {how_long}"))),
            retry_after=pause.seconds if lasts else None,
        )

    def _note(
        self,
        result: Reply | TransportError,
        request: Request,
        asked: float | None = None,
        *,
        usable: bool = True,
        retried: bool = False,
    ) -> None:
        """Tell the limiter what the result says about the server.

        :param asked: seconds that the server asked to wait.
        :param usable: whether it could be read.
        :param retried: whether it is followed by another attempt.
        """
        weight = failure_weight(result, request, usable=usable)
        too_long = asked if asked is not None and asked > MAX_RETRY_WAIT else None
        if weight is None:
            return
        if not weight:
            self._limiter().succeeded()
        elif not isinstance(result, TransportError) and is_blocking(result):
            self._limiter().blocked(self._cause(result), too_long)
        else:
            self._limiter().failed(self._cause(result), RETRIED if retried else weight, too_long)


class _NoReplyError(TransportError):
    """There was no reply in time."""


def _send(transport: Transport, request: Request) -> Reply | TransportError | TimeoutError:
    try:
        return transport.get(request)
    except (TransportError, TimeoutError) as error:
        return error


def retry_delay(result: Reply | TransportError, attempt: int, asked: float | None) -> float | None:
    """Return the seconds to wait before the next attempt; None to give up.

    :param attempt: number of attempts so far.
    :param asked: seconds that the server asked for; never cut short.
    """
    transient = result.transient if isinstance(result, TransportError) else result.status in TRANSIENT
    if not transient or attempt >= MAX_ATTEMPTS:
        return None
    if asked is None:
        import random  # slow to import

        return float(0.5 * 2 ** (attempt - 1) * random.uniform(0.5, 1.0))  # noqa: S311 - jitter
    return asked if asked <= MAX_RETRY_WAIT else None


def failure_weight(result: Reply | TransportError, request: Request, *, usable: bool = True) -> int | None:
    """Return how much a result counts as a failure of the server; 0 for an answer.

    None: the result says nothing about the server.

    :param usable: whether the reply could be read.
    """
    if isinstance(result, TransportError):
        return REFUSED if result.counts else None
    if is_elsewhere(result.url, request.url):
        return 0  # our server answered with a redirect; the rest is up to another one
    if result.status in REFUSALS:
        return REFUSED
    if usable and result.status < 500:
        return 0
    # JSON comes from the API, which may fail for one name, but hardly for all
    of_server = result.status == 200 or result.status >= 500
    return REFUSED if of_server and not request.any_host and not _is_json(result) else UNUSABLE


def is_blocking(reply: Reply) -> bool:
    """Return whether a refusal comes from what guards the server, and not from its API."""
    try:
        return reply.status == 403 and "responseCode" not in load(reply.body)
    except (ValueError, TypeError):
        return True


def _is_json(reply: Reply) -> bool:
    try:
        load(reply.body)
    except ValueError:
        return False
    return True
