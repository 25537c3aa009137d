"""HTTP client for one server: rate limit, concurrency, retries, deadline, and a pause after failures."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from doiuri._errors import BadRecord, ResolverUnavailable
from doiuri._json import load
from doiuri._urls import host_of
from doiuri.resolver._breaker import Breaker
from doiuri.resolver._outcome import BUDGET, Cause, Unanswered
from doiuri.resolver.http import TransportError, is_elsewhere
from doiuri.rest import retry_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from logging import Logger
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
"""Times that a request is sent, if each failure may be transient."""

MAX_RETRY_WAIT = 30.0
"""Seconds of a Retry-After that we wait; after a longer one we give up."""

MAX_RETRY_AFTER = 86_400.0
"""Seconds of a Retry-After that are respected: a server must not silence a process forever."""

TRANSIENT = frozenset({429, 502, 503, 504})
"""HTTP statuses of a server that may soon answer. 403 is a refusal, and 500 tends to persist."""

REFUSALS = TRANSIENT | {401, 403, 407, 408}
"""HTTP statuses that say nothing about a DOI."""

ANSWERED = 0
"""Weight of an answer, which is no failure."""

REFUSED = 4
"""Weight of a failure."""

RETRIED = 2
"""Weight of a failure if the request is sent again."""

UNUSABLE = 1
"""Weight of a failure if a single DOI may be to blame."""

MAX_FAILURES = 20
"""Weight of the failures in a row after which the server gets no requests for a while."""

PAUSE = 5.0
"""Seconds of the first pause; each one that does not help doubles the next."""

MAX_PAUSE = 900.0
"""Seconds of the longest pause."""

MAX_BLOCKS = 3
"""Answers in a row that block us, after which a build sends the server no more requests."""

BLOCK_PAUSE = 300.0
"""Seconds of the first pause after them if the process is long-running."""

LOGGED_WAIT = 1.0
"""Seconds of the shortest wait for a Retry-After that is logged: a build that stands still seems to hang."""


class Paused(Exception):  # noqa: N818 - a state of the limiter, not an error of the caller
    """The server gets no requests for another ``seconds``, because of ``cause``."""

    def __init__(self, seconds: float, cause: Cause) -> None:
        super().__init__(seconds, cause)
        self.seconds = seconds
        self.cause = cause


class NotSentError(Exception):
    """The budget of a call ended before its request was sent."""


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
        self._last_sent = -inf
        self._held_until = -inf
        self._breaker = Breaker(PAUSE, MAX_PAUSE)
        self._cause = Cause("connection")  # of the last pause
        self._was_paused = False  # at some time since the last answer
        self._failures = 0  # the weight of those in a row
        self._blocks = 0  # how many in a row

    @contextmanager
    def slot(
        self, rate: float | None, concurrency: int, deadline: Callable[[], float]
    ) -> Iterator[None]:
        """Wait for permission to send a request; within, the request is in flight.

        :param deadline: returns when to stop waiting: a call may end early.
        :raises Paused: if the server gets no requests now.
        :raises NotSentError: if there is no slot before the deadline.
        """
        interval = 1 / rate if rate else 0.0
        self._acquire(interval, concurrency, deadline)
        try:
            yield
        finally:
            with self._changed:
                self._in_flight -= 1
                self._changed.notify_all()

    def _acquire(self, interval: float, concurrency: int, deadline: Callable[[], float]) -> None:
        """Wait until a request may be sent, and count it as sent.

        What it waits for may change at any time: the deadline, a pause, a Retry-After, the requests in flight.
        """
        with self._changed:
            while True:
                if self._breaker.is_open:
                    raise Paused(self._breaker.left, self._cause)
                now = time.monotonic()
                end = deadline()
                earliest = max(now, self._last_sent + interval, self._held_until)
                if earliest >= end:
                    raise NotSentError

                if earliest > now:
                    wait = earliest - now
                elif self._in_flight < self._allowed(concurrency):
                    self._in_flight += 1
                    self._last_sent = now
                    return
                else:
                    wait = end - now  # or until a slot is free, which is notified
                self._changed.wait(min(wait, threading.TIMEOUT_MAX))

    def _allowed(self, concurrency: int) -> int:
        """Return how many requests may be in flight: after failures no more than may fail before the pause.

        One is always allowed: it shows whether the server is back.
        """
        if self._failures == 0:
            return concurrency
        left = (MAX_FAILURES - self._failures) // REFUSED
        return min(concurrency, max(left, 1))

    def hold(self, seconds: float) -> bool:
        """Send nothing for some seconds, as the server asked; return False if another such wait goes on."""
        with self._changed:
            now = time.monotonic()
            begins = now >= self._held_until
            self._held_until = max(self._held_until, now + seconds)
            return begins

    def succeeded(self) -> bool:
        """Note that the server answered: forget earlier failures; return whether there was a pause."""
        if not self._failures:
            return False
        with self._changed:
            was_paused = self._was_paused
            self._was_paused = False
            self._failures = 0
            self._blocks = 0
            self._breaker.forget()
            return was_paused

    def failed(
        self,
        cause: Cause,
        weight: int = REFUSED,
        requested_wait: float | None = None,
        *,
        blocks: bool = False,
        long_running: bool = False,
    ) -> Paused | None:
        """Note a failure, and pause if the server blocks us, asks for a wait, or has failed too often in a row.

        :param requested_wait: seconds of a Retry-After, if no request waits for them.
        :param blocks: whether the server blocks us; after a few in a row it gets no more requests.
        :param long_running: whether it gets one again after some minutes.
        :returns: the pause that begins, if any.
        """
        with self._changed:
            left_before = self._breaker.left
            self._failures += weight
            is_answer = cause.status is not None
            if is_answer:
                self._blocks = self._blocks + 1 if blocks else 0
            is_blocked = blocks and self._blocks >= MAX_BLOCKS

            if is_blocked and not long_running:
                self._pause(inf, cause)
            elif is_blocked and left_before == 0:
                self._pause(self._breaker.next_pause(at_least=BLOCK_PAUSE), cause)
            if requested_wait is not None:
                self._pause(min(requested_wait, MAX_RETRY_AFTER), cause)
            if self._failures >= MAX_FAILURES and not self._breaker.is_open:
                self._pause(self._breaker.next_pause(), cause)
                self._failures = MAX_FAILURES - REFUSED  # one more failure starts the next pause

            left = self._breaker.left
            begins = left_before == 0 and left > 0
            never_ends = left_before < left == inf  # which begins even during another
            return Paused(left, cause) if begins or never_ends else None

    def _pause(self, seconds: float, cause: Cause) -> None:
        """Send nothing for some seconds, unless a pause lasts longer already, and tell the threads that wait."""
        self._breaker.open(seconds)
        self._was_paused = True
        self._cause = cause
        self._changed.notify_all()


def _logger() -> Logger:
    import logging  # slow, and rarely needed

    return logging.getLogger("doiuri")


class Budget:
    """The time of one call, until a deadline that may be put off, and its requests in flight.

    At the deadline, requests end by themselves. If the caller is done before that, ``end`` ends them.
    """

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

        :raises NotSentError: if the call has ended.
        """
        attempt = replace(request, timeout=min(timeout, self.deadline - time.monotonic()))
        self._requests.add(attempt)
        try:
            if self.ended:
                raise NotSentError
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
        self.rate = settings.rate  # both may be lowered while the client is used
        self._settings = settings
        self._host = host_of(settings.base)
        self._transport = transport
        self._limiter = limiter
        self._on_reply = on_reply

    def load_transport(self) -> float:
        """Load the transport, if that was not done yet; return the seconds that it took.

        They are no part of a call's budget: on a slow disk they may be longer.
        """
        if self._settings.offline:
            return 0.0
        begun = time.monotonic()
        self._transport()
        return time.monotonic() - begun

    def get(
        self, budget: Budget, doi: Handle | None, request: Request, read: Callable[[Reply], T]
    ) -> T:
        """Send a request about ``doi``, repeated if the failure may be transient; return what ``read`` does.

        :param read: reads the reply, whatever its HTTP status; it may raise a ResolutionError.
        :raises ResolverUnavailable: if there is no reply.
        """
        if len(request.url) > MAX_URL:
            detail = f"name too long: its URL has {len(request.url):,} characters"
            raise Unanswered(doi, Cause("too-long", detail=detail))
        result = self._send(doi, request, budget)
        if isinstance(result, TransportError):
            self._note(result, request)
            raise Unanswered(doi, self._cause(result))

        usable = True  # also if the answer is that there is no such DOI
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
            self._note(result, request, _requested_wait(result), usable=usable)

    def _send(self, doi: Handle | None, request: Request, budget: Budget) -> Reply | TransportError:
        """Return the reply, or the error of the last attempt.

        Between attempts, the limiter holds back all requests if the server itself asked for it with a
        Retry-After; otherwise only this one waits.

        :raises ResolverUnavailable: if the request is not sent, or the call has ended.
        """
        attempts = 0
        while True:
            result = self._attempt(doi, request, budget)
            attempts += 1
            if budget.ended:
                raise Unanswered(doi, BUDGET)
            requested_wait = _requested_wait(result)
            delay = retry_delay(result, attempts, requested_wait)
            if delay is None or time.monotonic() + delay >= budget.deadline:
                return result

            self._note(result, request, retried=True)
            if requested_wait is not None and _is_of_server(result, request):
                begins = self._limiter().hold(delay)
                if begins and delay >= LOGGED_WAIT:
                    cause = self._cause(result)
                    _logger().warning("%s; waiting %.0f s, as it asks", cause, delay)
            else:
                time.sleep(delay)

    def _cause(self, result: Reply | TransportError) -> Cause:
        """Return why a DOI is unknown after a result that is no answer, such as "doi.org: HTTP status 503"."""
        if isinstance(result, TransportError):
            kind = "timeout" if isinstance(result, _NoReplyError) else "connection"
            return Cause(kind, result.host or self._host, detail=str(result))
        return Cause("status", host_of(result.url), result.status, f"HTTP status {result.status}")

    def _attempt(
        self, doi: Handle | None, request: Request, budget: Budget
    ) -> Reply | TransportError:
        """Send a request once, when the limiter permits it.

        :raises ResolverUnavailable: if it is not sent.
        :raises CallbackError: if ``on_reply`` raises an error.
        """
        settings = self._settings
        if settings.offline:
            raise Unanswered(doi, Cause("offline", detail="offline: request not sent"))
        transport = self._transport()  # before the timeout starts: it may have to be imported
        slot = self._limiter().slot(self.rate, self.concurrency, lambda: budget.deadline)

        try:
            with slot, budget.attempt(request, settings.timeout) as attempt:
                result = _reply_or_error(transport, attempt)
        except Paused as pause:
            raise Unanswered(doi, self._pause_cause(pause)) from None
        except NotSentError:
            cause = BUDGET._replace(detail=f"{BUDGET.detail}: request not sent")
            raise Unanswered(doi, cause) from None

        if self._on_reply is not None:
            try:
                self._on_reply(result)
            except BaseException as error:  # noqa: BLE001 - the caller's thread raises it
                raise CallbackError(error) from None
        if isinstance(result, TimeoutError):
            return self._no_reply(attempt)
        return result

    def _no_reply(self, attempt: Request) -> _NoReplyError:
        """Return the error for a request without a reply in time.

        It counts as a failure unless the server had less time than usual, or another one was asked last.
        """
        had_time = attempt.timeout >= min(self._settings.timeout, MIN_TIMEOUT)
        counts = had_time and not attempt._elsewhere
        return _NoReplyError(
            attempt.timeout_reason, counts=counts, host=host_of(attempt._sending.url)
        )

    def _pause_cause(self, pause: Paused) -> Cause:
        """Return why a request is not sent during a pause: what caused it, and how long it lasts.

        For example, "doi.org: Connection refused; not asked again for 5 s".
        """
        if pause.seconds == inf:
            detail = "not asked again for as long as this process runs"
            wait = None
        else:
            detail = f"not asked again for {pause.seconds:.0f} s"
            wait = pause.seconds
        cause = pause.cause
        if cause.detail:
            detail = f"{cause.detail}; {detail}"
        return Cause(cause.kind, cause.host or self._host, cause.status, detail, wait)

    def _note(
        self,
        result: Reply | TransportError,
        request: Request,
        requested_wait: float | None = None,
        *,
        usable: bool = True,
        retried: bool = False,
    ) -> None:
        """Tell the limiter what a result says about the server, which may have asked to be left alone.

        :param requested_wait: the seconds of a Retry-After that nobody waits for.
        :param usable: whether the body of a reply could be read.
        :param retried: whether the request is sent again.
        """
        weight = failure_weight(result, request, usable=usable)
        if weight is None:
            return
        long_running = self._settings.long_running
        if weight == ANSWERED:
            if self._limiter().succeeded() and long_running:
                _logger().info("%s answers again", self._host)
            return

        if retried:
            weight = RETRIED
        cause = self._cause(result)
        if cause.status == 200:
            cause = cause._replace(detail="HTTP status 200 with an unusable answer")
        pause = self._limiter().failed(
            cause, weight, requested_wait, blocks=is_blocking(result), long_running=long_running
        )
        if pause is not None and (long_running or pause.seconds == inf):
            _logger().warning("%s", self._pause_cause(pause))


class _NoReplyError(TransportError):
    """There was no reply in time."""


def _reply_or_error(
    transport: Transport, request: Request
) -> Reply | TransportError | TimeoutError:
    """Send a request; return its reply, or the error that says why there is none."""
    try:
        return transport.get(request)
    except (TransportError, TimeoutError) as error:
        return error


def _requested_wait(result: Reply | TransportError) -> float | None:
    """Return the seconds of a reply's Retry-After, or None if it has none."""
    if isinstance(result, TransportError):
        return None
    return retry_after(result.headers, time.time())


def _is_of_server(result: Reply | TransportError, request: Request) -> bool:
    """Return whether a result is a reply of the server that the request was sent to, not redirected."""
    return not isinstance(result, TransportError) and not is_elsewhere(result.url, request.url)


def retry_delay(
    result: Reply | TransportError, attempts: int, requested_wait: float | None
) -> float | None:
    """Return the seconds before the next attempt, or None to give up.

    Without a Retry-After they are at most 0.5 after the first attempt, and 1 after the second.

    :param attempts: how often the request was sent.
    :param requested_wait: the seconds of a Retry-After, if there is one.
    """
    if attempts >= MAX_ATTEMPTS or not _is_transient(result):
        return None
    if requested_wait is not None:
        return requested_wait if requested_wait <= MAX_RETRY_WAIT else None

    import random  # slow to import

    return float(0.5 * 2 ** (attempts - 1) * random.uniform(0.5, 1.0))  # noqa: S311 - jitter


def _is_transient(result: Reply | TransportError) -> bool:
    """Return whether the same request may soon succeed."""
    if isinstance(result, TransportError):
        return result.transient
    return result.status in TRANSIENT


def failure_weight(
    result: Reply | TransportError, request: Request, *, usable: bool = True
) -> int | None:
    """Return the weight of a result, or None if it says nothing about the server.

    :param request: the request as it was sent first, to the server in question.
    :param usable: whether the body of a reply could be read.
    """
    if isinstance(result, TransportError):
        return REFUSED if result.counts else None
    if is_elsewhere(result.url, request.url):
        return ANSWERED  # with a redirect; the rest is up to another server
    if result.status in REFUSALS:
        return REFUSED
    if usable and result.status < 500:
        return ANSWERED

    return REFUSED if _is_servers_fault(result, request) else UNUSABLE


def _is_servers_fault(reply: Reply, request: Request) -> bool:
    """Return whether the server is to blame for an unusable answer, and not a single DOI.

    JSON comes from the API, which may fail for one name, but hardly for all. Where a request may be redirected to
    any host, the DOI decides which server answers.
    """
    if request.any_host or _is_json(reply):
        return False
    return reply.status == 200 or reply.status >= 500


def is_blocking(result: Reply | TransportError) -> bool:
    """Return whether a result is a refusal by what guards the server, and not by its API.

    The API's own 403 is JSON with a ``responseCode``.
    """
    if isinstance(result, TransportError) or result.status != 403:
        return False
    try:
        return "responseCode" not in load(result.body)
    except (ValueError, TypeError):
        return True


def _is_json(reply: Reply) -> bool:
    try:
        load(reply.body)
    except ValueError:
        return False
    return True
