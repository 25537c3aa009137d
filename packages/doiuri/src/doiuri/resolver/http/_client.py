"""HTTP client for one server: rate limit, concurrency, retries, deadline, and a pause after failures."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from math import inf
from typing import TYPE_CHECKING

from doiuri._errors import BadRecord, ResolverUnavailable
from doiuri._json import load
from doiuri._urls import host_of
from doiuri.resolver._outcome import BUDGET, Cause, Unanswered
from doiuri.resolver.http import TransportError, is_elsewhere
from doiuri.rest import retry_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from doiuri._doi import Handle
    from doiuri.resolver._settings import Settings
    from doiuri.resolver.http import OnReply, Reply, Request, Transport

    T = TypeVar("T")

MIN_TIMEOUT = 1.0
"""Seconds; a request that had less time and got no answer says nothing about the server."""

MAX_URL = 16_000
"""Characters of a URL that we send; servers refuse longer ones."""

MAX_ATTEMPTS = 3
MAX_RETRY_WAIT = 30.0
"""Seconds of a Retry-After that we wait; after a longer one we give up."""

MAX_RETRY_AFTER = 86_400.0
"""Seconds of a Retry-After that are respected: a server must not silence a process forever."""

TRANSIENT = frozenset({429, 502, 503, 504})
"""HTTP statuses of a server that may soon answer. 403 is a refusal, and 500 tends to persist."""

REFUSALS = TRANSIENT | {401, 403, 407, 408}
"""HTTP statuses that say nothing about a DOI."""

REFUSED, RETRIED, UNUSABLE = 4, 2, 1
"""Weights of a failure: in full; if it is retried; if a single DOI may be to blame."""

MAX_FAILURES = 20
"""Weight of the failures in a row after which the server gets no requests for a while."""

PAUSE, MAX_PAUSE = 5.0, 900.0
"""Seconds of the first pause and of the longest; each pause that does not help doubles the next one."""

MAX_BLOCKS = 3
"""Answers in a row that block us, after which the server gets no more requests."""


class Paused(Exception):  # noqa: N818 - a state of the limiter, not an error of the caller
    """The server gets no requests for another ``seconds``, because of ``cause``."""

    def __init__(self, seconds: float, cause: Cause) -> None:
        super().__init__(seconds, cause)
        self.seconds = seconds
        self.cause = cause


class CallbackError(Exception):
    """The caller's ``on_reply`` raised ``cause``, which ends the call."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(cause)
        self.cause = cause


class Limiter:
    """Limits all requests of this process to one server.

    It spaces requests evenly, limits how many are in flight, holds all of them back for as long as the
    server asks (Retry-After), and pauses after repeated failures.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._in_flight = 0
        self._last_sent = self._held_until = self._paused_until = -inf
        self._cause = Cause("connection")  # of the last pause
        self._failures = self._blocks = 0  # in a row: their weight; their number
        self._next_pause = PAUSE

    @contextmanager
    def slot(
        self, rate: float | None, concurrency: int, deadline: Callable[[], float]
    ) -> Iterator[None]:
        """Wait for permission to send a request; within, the request is in flight.

        :param deadline: returns when to stop waiting: a call may end early.
        :raises Paused: if the server gets no requests now.
        :raises TimeoutError: if there is no slot before the deadline.
        """
        self._acquire(1 / rate if rate else 0.0, concurrency, deadline)
        try:
            yield
        finally:
            with self._changed:
                self._in_flight -= 1
                self._changed.notify_all()

    def _acquire(self, interval: float, concurrency: int, deadline: Callable[[], float]) -> None:
        with self._changed:
            while True:
                now, end = time.monotonic(), deadline()
                if now < self._paused_until:
                    raise Paused(self._paused_until - now, self._cause)
                wait = max(self._last_sent + interval, self._held_until) - now
                if now + max(wait, 0) >= end:
                    raise TimeoutError
                # no more requests than failures that are left; one before the pause, and after it
                left = max((MAX_FAILURES - self._failures) // REFUSED, 1)
                allowed = min(concurrency, left) if self._failures else concurrency
                if wait <= 0 and self._in_flight < allowed:
                    self._in_flight += 1
                    self._last_sent = now
                    return
                # a free slot is notified; the rate and a Retry-After end by time alone
                self._changed.wait(min(wait if wait > 0 else end - now, threading.TIMEOUT_MAX))

    def hold(self, seconds: float) -> None:
        """Send nothing for so many seconds, as the server asked."""
        with self._changed:
            self._held_until = max(self._held_until, time.monotonic() + seconds)

    def succeeded(self) -> None:
        """Note that the server answered: forget earlier failures."""
        if self._failures:
            with self._changed:
                self._failures = self._blocks = 0
                self._next_pause = PAUSE

    def failed(
        self,
        cause: Cause,
        weight: int = REFUSED,
        asked: float | None = None,
        *,
        blocks: bool = False,
    ) -> None:
        """Note a failure; after several in a row the server gets no requests for a while.

        :param asked: seconds that the server asked for, if nobody waits for them.
        :param blocks: whether the server blocks us; after a few in a row it gets no more requests.
        """
        with self._changed:
            self._failures += weight
            if cause.status is not None:  # an answer
                self._blocks = self._blocks + 1 if blocks else 0
            if blocks and self._blocks == MAX_BLOCKS:
                self._pause(inf, cause)
                import logging  # slow, and rarely needed

                message = (
                    "%s: HTTP status %s, %d times in a row: this process sends it no more requests"
                )
                logging.getLogger("doiuri").warning(message, cause.host, cause.status, MAX_BLOCKS)
                return
            if asked is not None:
                self._pause(min(asked, MAX_RETRY_AFTER), cause)
            if self._failures >= MAX_FAILURES and time.monotonic() >= self._paused_until:
                self._pause(self._next_pause, cause)
                self._next_pause = min(2 * self._next_pause, MAX_PAUSE)
                self._failures = MAX_FAILURES - REFUSED  # one more failure starts the next pause

    def _pause(self, seconds: float, cause: Cause) -> None:
        """Refuse requests for so many seconds; a pause that lasts longer is kept."""
        self._paused_until = max(self._paused_until, time.monotonic() + seconds)
        self._cause = cause
        self._changed.notify_all()


class Budget:
    """The time of one call, until a deadline that may be put off, and its requests in flight."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self._requests: set[Request] = set()

    @property
    def ended(self) -> bool:
        """Whether the call ended early: what its requests bring is not used, and says nothing."""
        return self.deadline == -inf

    @contextmanager
    def attempt(self, request: Request, timeout: float) -> Iterator[Request]:
        """Yield a copy of a request, which is in flight for at most ``timeout`` seconds, or until the end."""
        attempt = replace(request, timeout=min(timeout, self.deadline - time.monotonic()))
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

    :param transport: returns the transport; called when the first request is due.
    :param limiter: returns the limiter, which is replaced after a fork.
    """

    def __init__(
        self,
        settings: Settings,
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

    def load(self) -> float:
        """Load what sends requests, if it is not there yet; return the seconds that it took.

        They are no part of a call's budget: on a slow disk they may be longer.
        """
        if self._settings.offline:
            return 0.0
        begun = time.monotonic()
        self._transport()
        return time.monotonic() - begun

    def get(self, budget: Budget, doi: Handle, request: Request, read: Callable[[Reply], T]) -> T:
        """Send a request about ``doi``, repeated if the failure may be transient; return what ``read`` does.

        :param read: reads the reply, whatever its HTTP status; it may raise a ResolutionError.
        :raises ResolverUnavailable: if there is no reply.
        """
        if len(request.url) > MAX_URL:
            detail = f"name too long: its URL has {len(request.url):,} characters"
            raise Unanswered(doi, Cause("too-long", detail=detail))
        for attempt in count(1):
            result = self._attempt(doi, request, budget)
            if budget.ended:
                raise Unanswered(doi, BUDGET)
            asked = (
                None
                if isinstance(result, TransportError)
                else retry_after(result.headers, time.time())
            )
            delay = retry_delay(result, attempt, asked)
            if delay is None or time.monotonic() + delay >= budget.deadline:
                break
            self._note(result, request, retried=True)
            if (
                isinstance(result, TransportError)
                or asked is None
                or is_elsewhere(result.url, request.url)
            ):
                time.sleep(delay)
            else:
                self._limiter().hold(delay)
        if isinstance(result, TransportError):
            self._note(result, request)
            raise Unanswered(doi, self._cause(result))
        usable = True
        try:
            return read(result)
        except BadRecord as error:
            usable = False
            reason = f"{host_of(result.url)}: {error.reason or error._default}"
            raise BadRecord(error.doi, reason) from None
        except ResolverUnavailable as error:
            usable = False
            raise Unanswered(doi, Cause.of(error, host_of(result.url))) from None
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
        result: Reply | TransportError | TimeoutError
        try:
            with (
                self._limiter().slot(
                    self._settings.rate, self.concurrency, lambda: budget.deadline
                ),
                budget.attempt(request, self._settings.timeout) as attempt,
            ):
                try:
                    result = transport.get(attempt)
                except (TransportError, TimeoutError) as error:
                    result = error
        except Paused as pause:
            raise Unanswered(doi, self._pause_cause(pause)) from None
        except TimeoutError:
            cause = BUDGET._replace(detail=f"{BUDGET.detail}: request not sent")
            raise Unanswered(doi, cause) from None
        if self._on_reply is not None:  # not above: a TimeoutError that it raises is the caller's
            try:
                self._on_reply(result)
            except BaseException as error:  # noqa: BLE001 - the caller's thread raises it
                raise CallbackError(error) from None
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
        """Tell the limiter what a result says about the server, which may have asked to be left alone."""
        weight = failure_weight(result, request, usable=usable)
        if weight == 0:
            self._limiter().succeeded()
        elif weight is not None:
            blocks = not isinstance(result, TransportError) and is_blocking(result)
            weight = RETRIED if retried else weight
            cause = self._cause(result)
            if cause.status == 200:
                cause = cause._replace(detail="HTTP status 200 with an unusable answer")
            self._limiter().failed(cause, weight, asked, blocks=blocks)


class _NoReplyError(TransportError):
    """There was no reply in time."""


def retry_delay(result: Reply | TransportError, attempt: int, asked: float | None) -> float | None:
    """Return the seconds before the next attempt: at least those that the server asked for; None: give up."""
    transient = (
        result.transient if isinstance(result, TransportError) else result.status in TRANSIENT
    )
    if not transient or attempt >= MAX_ATTEMPTS:
        return None
    if asked is None:
        import random  # slow to import

        return float(0.5 * 2 ** (attempt - 1) * random.uniform(0.5, 1.0))  # noqa: S311 - jitter
    return asked if asked <= MAX_RETRY_WAIT else None


def failure_weight(
    result: Reply | TransportError, request: Request, *, usable: bool = True
) -> int | None:
    """Return how much a result counts as a failure; 0: it is an answer; None: it says nothing."""
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
