"""The pace of the requests to one server, shared by the processes of all machines through Redis."""

from __future__ import annotations

import random
import threading
import time
import warnings
from contextlib import contextmanager, suppress
from hashlib import sha1
from itertools import count
from math import inf
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple, cast

from doiuri.resolver.http._limiter import Limiter, Paused
from doiuri.resolver.http._pace_script import MEMORY, SCRIPT
from doiuri.resolver.stores.redis._connection import RedisConnection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri._urls import Origin

FORMAT = 1
"""Of the keys, and part of each."""

TIMEOUT = 2.0
"""Seconds to wait for a connection to Redis and for each of its answers."""

RETRY = 5.0
"""Seconds without requests to Redis after it failed."""

FOREVER = 10 * 365 * 86400.0

UNKNOWN_FLEET = 100
"""Processes on a pace that was not reached lately, as we assume."""

SLOW_SHARE = 0.05
"""The part of its share of the rate that a process uses without Redis.

However many processes lose Redis while the others go on at the full rate, the sum exceeds it by no more.
"""

SLOW_RATE = 1.0
"""Requests per second without Redis, if there is no rate."""

_SHA = sha1(SCRIPT.encode(), usedforsecurity=False).hexdigest()


class PaceWarning(UserWarning):
    """The shared pace cannot be reached or used. Until it can, this process sends few requests."""


class PaceLost(Exception):  # noqa: N818 - a state of the pace, not an error of the caller
    """Redis does not answer, or refuses; nothing is asked of it for a while."""


class Answer(NamedTuple):
    """What Redis says to a process that wants to send a request."""

    what: str
    wait: float
    slot: int
    reason: str


class SharedPace:
    """Paces the requests of many processes to one server.

    :param url: the URL of the Redis server.
    :param place: the server that gets the requests.
    :raises ValueError: if the URL is invalid.
    :raises ImportError: if redis-py is not installed.
    """

    def __init__(self, url: str, place: Origin) -> None:
        self._server = RedisConnection(url, TIMEOUT, "a shared pace", retries=1)
        scheme, host, port = place
        tag = f"doiuri:pace:{FORMAT}:{{{scheme}://{host}:{port}}}"
        self._keys = [f"{tag}:{name}" for name in ("state", "leases", "processes", "queue", "silent")]
        self._process = token_hex(8)
        self._numbers = count()
        self._state = threading.Lock()
        self._lost = False
        self._failures = False
        self._untold: list[tuple[str | float, ...]] = []
        self._rate: float | None = None
        self._processes = UNKNOWN_FLEET
        self._answered = -inf
        self.slow = Limiter()
        """The limiter to use while Redis fails; it knows the pauses that Redis told us."""
        self.retry_at = -inf
        """When Redis is asked again after a failure, on the clock of ``time.monotonic``."""

    def slow_rate(self, rate: float | None) -> float:
        """Return the requests per second that this process may send while Redis fails."""
        return rate * SLOW_SHARE / self._processes if rate else SLOW_RATE

    @contextmanager
    def lease(self, rate: float | None, concurrency: int, timeout: float, deadline: float) -> Iterator[None]:
        """Wait for permission to send a request; within, the request counts as in flight.

        :param rate: requests per second; None: no limit.
        :param concurrency: requests in flight, of all processes.
        :param timeout: seconds after which the request is over; then its lease ends, even if we died.
        :param deadline: how long to wait, on the clock of ``time.monotonic``.
        :raises Paused: if the server gets no requests now.
        :raises TimeoutError: if there is no permission before the deadline.
        :raises PaceLost: if Redis fails.
        """
        self._rate = rate
        lease = f"{self._process}-{next(self._numbers)}"
        try:
            self._acquire(lease, 1 / rate if rate else 0.0, concurrency, timeout, deadline)
            yield
        finally:
            self._tell("release", lease)

    def hold(self, seconds: float) -> None:
        """Let no process send anything for so many seconds."""
        self._tell("hold", _microseconds(seconds))

    def succeeded(self) -> None:
        """Note that the server answered: forget earlier failures of all processes."""
        if self._failures:
            self._failures = False
            self._tell("succeeded")

    def failed(self, reason: str, weight: float, retry_after: float | None, pause: float) -> None:
        """Note a failure, as ``Limiter.failed`` does.

        :param pause: seconds of the first pause.
        """
        self.failed_later(reason, weight, retry_after, pause)
        self._tell_failures()

    def failed_later(self, reason: str, weight: float, retry_after: float | None, pause: float) -> None:
        """Note a failure without waiting for Redis, which is told with the next request."""
        why = f"after repeated failures (last: {reason})"
        if retry_after is not None:
            why = f"as its Retry-After asked ({reason})"
        asked = -1 if retry_after is None else _microseconds(retry_after)
        with self._state:
            self._failures = True
            self._untold.append((why[:300], weight, asked, _microseconds(pause)))

    def _acquire(
        self, lease: str, interval: float, concurrency: int, timeout: float, deadline: float
    ) -> None:
        self._tell_failures()
        slot = 0
        while True:
            patience = deadline - time.monotonic()
            if patience <= 0:
                raise TimeoutError
            times = map(_microseconds, (timeout, patience))
            answer = self._ask(lease, _microseconds(interval), concurrency, *times, slot)
            if answer.what == "paused":
                self.slow.pause(answer.wait, answer.reason)
                raise Paused(answer.wait, answer.reason)
            if answer.what == "held":
                self.slow.hold(answer.wait)
            if answer.what == "late" or (answer.what == "held" and answer.wait >= patience):
                raise TimeoutError
            time.sleep(min(answer.wait, patience))
            if answer.what == "send":
                return
            slot = answer.slot

    def _ask(self, lease: str, *arguments: int) -> Answer:
        reply = self._run("acquire", lease, self._process, *arguments)
        what, wait, slot, processes, failures, reason = cast("tuple[bytes, int, int, int, int, bytes]", reply)
        with self._state:
            self._lost = False
            self.retry_at = -inf
            self._answered = time.monotonic()
            self._processes = processes
            self._failures = bool(failures or self._untold)
        text = "".join(filter(str.isprintable, reason.decode(errors="replace")))  # others may have written it
        return Answer(what.decode(), wait / 1e6, slot, text)

    def _tell_failures(self) -> None:
        with self._state:
            untold, self._untold = self._untold, []
        for failure in untold:
            self._tell("failed", *failure)

    def _tell(self, operation: str, *arguments: str | float) -> None:
        """Run an operation unless Redis fails: then what it would have noted is lost, or ends by itself."""
        if not self._lost:
            with suppress(PaceLost):
                self._run(operation, *arguments)

    def _run(self, operation: str, *arguments: str | float) -> object:
        """Return the script's reply; after a failure of Redis one thread tries again from time to time."""
        with self._state:
            now = time.monotonic()
            if self._lost:
                if now < self.retry_at:
                    raise PaceLost
                self.retry_at = now + RETRY
        words = (len(self._keys), *self._keys, operation, *arguments)
        try:
            try:
                return self._server.client().evalsha(_SHA, *words)
            except self._server.library.exceptions.NoScriptError:
                return self._server.client().eval(SCRIPT, *words)
        except self._server.failures as error:
            self._lose(error)
            raise PaceLost from None

    def _lose(self, error: Exception) -> None:
        with self._state:
            now = time.monotonic()
            self.retry_at = now + RETRY
            known, self._lost = self._lost, True
            if not known and now > self._answered + MEMORY:  # others may have started since
                self._processes = max(self._processes, UNKNOWN_FLEET)
        if not known:
            self.slow.hold(random.random() / self.slow_rate(self._rate))  # noqa: S311 - not all at once
            trouble = "cannot be used" if self._server.refused(error) else "does not answer"
            warnings.warn(
                f"the shared pace at {self._server.public} {trouble} ({error}); meanwhile this"
                " process sends few requests",
                PaceWarning,
                stacklevel=2,
            )


def _microseconds(seconds: float) -> int:
    return int(min(max(seconds, 0.0), FOREVER) * 1e6)
