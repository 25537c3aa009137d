"""The connection to a Redis or Valkey server or cluster."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from doiuri.resolver._fork import ForkSafe
from doiuri.resolver._workers import DeadlineError, run_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    T = TypeVar("T")


class RedisConnection(ForkSafe):
    """The connection to a server or cluster; it is opened when it is first used.

    :param url: a URL with the scheme redis, rediss, valkey, valkeys or unix.
    :param timeout: seconds to wait for a connection and for each answer.
    :raises ValueError: if the URL is invalid.
    :raises ImportError: if redis-py is not installed.
    """

    def __init__(self, url: str, timeout: float) -> None:
        super().__init__()
        self.library, self.failures = _library()
        self.public = _public(url)
        self._url = re.sub(r"^valkey", "redis", url, flags=re.IGNORECASE)
        self._timeout = timeout
        self._options: dict[str, Any] = {"socket_timeout": timeout, "socket_connect_timeout": timeout}
        try:
            self._single = self.library.Redis.from_url(self._url, **self._options)
            # not connected yet: it refuses options that it does not know
            options = self._single.connection_pool.connection_kwargs
            self._single.connection_pool.connection_class(**options)
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"not a URL of a Redis server: {self.public} ({_safe(error, url)})") from None
        if options.get("decode_responses"):
            raise ValueError(
                f"not a URL of a Redis server: {self.public} (answers are bytes: no decode_responses)"
            )
        self._client: Any = None

    def client(self) -> Any:
        """Return redis-py's client of the server or cluster; connect if that was not done yet."""
        client = self._client
        if client is None:  # without the lock: a server that hangs would block a fork
            cluster = self.library.RedisCluster if self._is_cluster() else None
            client = cluster.from_url(self._url, **self._options) if cluster else self._single
            self._client = client
        return client

    def run(self, work: Callable[[Any], T], answers: int) -> T:
        """Return what ``work`` returns, which is called with the client.

        When a node of a cluster does not answer, redis-py asks all of them again, one after another.

        :param answers: how many answers the work waits for.
        :raises TimeoutError: if a cluster takes longer than the timeout for each of them, and once more; then
            the work continues in the background.
        """
        client = self.client()
        if client is self._single:
            return work(client)
        limit = (answers + 1) * self._timeout
        try:
            return run_until(time.monotonic() + limit, lambda _task: work(client))
        except DeadlineError:
            raise TimeoutError(f"no answer within {limit:g} s") from None

    def refused(self, error: Exception) -> bool:
        """Return whether the server answers, but refuses: it is full, or read-only, or lacks a permission."""
        return isinstance(error, self.library.ResponseError)

    @contextmanager
    def errors(self, what: str) -> Iterator[None]:
        """Raise OSError if the server fails, with a message that says what cannot be done to the store."""
        try:
            yield
        except self.failures as error:
            raise OSError(f"cannot {what} the store at {self.public}: {error}") from None

    def close(self) -> None:
        """Close the connections; new ones are opened when needed."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._single.close()
            self._client = None

    def _is_cluster(self) -> bool:
        try:
            return bool(self._single.info("cluster").get("cluster_enabled"))
        except self.library.ResponseError:  # the user has no permission for INFO
            return False


def _library() -> tuple[Any, tuple[type[Exception], ...]]:
    """Return redis-py and the exceptions it raises if the server fails."""
    try:
        import redis
    except ImportError as error:
        raise ImportError("a store on Redis needs redis-py: pip install 'doiuri[redis]'") from error
    return redis, (redis.RedisError, redis.exceptions.RedisClusterException, OSError)


def _safe(error: Exception, url: str) -> str:
    """Return the text of an error, unless it may hold a part of the password."""
    text = str(error)
    return type(error).__name__ if "@" in url or "password" in url.lower() else text


def _public(url: str) -> str:
    """Return the URL without user, password and query; a password may have any character, if not escaped."""
    scheme, _, rest = url.partition("://")
    place, _, query = rest.partition("?")
    return f"{scheme}://{'…' if '@' in query else place.rpartition('@')[2]}"
