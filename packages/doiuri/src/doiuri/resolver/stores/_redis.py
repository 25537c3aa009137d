"""The store on a Redis or Valkey server, shared by several machines."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, TypeVar

from doiuri.resolver.stores._store import Entry, Usage, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from doiuri.resolver.stores._store import Key

    T = TypeVar("T")

KEEP = 30 * 86400  # seconds for which a stale entry is kept
BATCH = 500  # commands in one pipeline
PAUSE = 30.0  # seconds without requests after a failure

_PREFIX = "doiuri:2:"  # of every key on the server; the number is that of the format


class RedisStore:
    """A store on a Redis or Valkey server.

    While the server does not answer or refuses to write, a StoreWarning is issued, nothing is found, and new
    entries are dropped.

    :param url: a ``redis://`` or ``rediss://`` URL.
    :param timeout: seconds to wait for a connection and for each answer.
    :raises ValueError: if the URL is invalid.
    :raises ImportError: if redis-py is not installed.
    """

    def __init__(self, url: str, *, timeout: float = 1.0) -> None:
        try:
            import redis
        except ImportError as error:
            raise ImportError("a store on Redis needs redis-py: pip install 'doiuri[redis]'") from error
        self._library = redis
        self._failures = (redis.RedisError, OSError)
        self.address = _public(url)  #: the URL of the server, without user, password and options
        refusal = f"not a URL of a Redis server: {self.address}"
        try:
            self._client = redis.Redis.from_url(
                f"redis{url[6:]}" if url.lower().startswith("valkey") else url,
                socket_timeout=timeout,
                socket_connect_timeout=timeout,
            )
            pool = self._client.connection_pool
            pool.connection_class(**pool.connection_kwargs)  # refuses options that it does not know
        except (ValueError, TypeError, AttributeError) as error:  # its text may quote the password
            raise ValueError(f"{refusal} ({type(error).__name__})") from None
        if pool.connection_kwargs.get("decode_responses"):
            raise ValueError(f"{refusal} (answers are bytes: no decode_responses)")
        self._paused_until = {"read": 0.0, "written": 0.0}

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        """Return the entries that exist for these keys, stale ones included."""
        return self._try("read", lambda client: _read(client, keys)) or {}

    def put_many(self, entries: Mapping[Key, Entry]) -> None:
        """Store the entries; they are kept for 30 days after they expire."""
        if entries:
            self._try("written", lambda client: _write(client, entries))

    def usage(self) -> Usage:
        """Return how much the store holds.

        :raises OSError: if the server does not answer, or refuses.
        """
        return self._visit("read", remove=False)

    def clear(self) -> Usage:
        """Delete all entries; return how much that was.

        :raises OSError: if the server does not answer, or refuses.
        """
        return self._visit("clear", remove=True)

    def close(self) -> None:
        """Close the connections; the store opens new ones when used."""
        self._client.connection_pool.disconnect(inuse_connections=False)

    def _try(self, what: str, work: Callable[[Any], T]) -> T | None:
        """Return what ``work`` returns; None if the server fails, and for a while after that."""
        if time.monotonic() < self._paused_until[what]:
            return None
        try:
            return work(self._client)
        except self._failures as error:
            # a server that is full or read-only still answers reads
            refused = isinstance(error, self._library.ResponseError)
            for operation in [what] if refused else self._paused_until:
                self._paused_until[operation] = time.monotonic() + PAUSE
            trouble = f"cannot be {what}" if refused else "does not answer"
            if isinstance(error, self._library.AuthenticationError):
                trouble = "refused the credentials"
            warn(f"the DOI store at {self.address} {trouble} ({error}); it is not used for {PAUSE:g} s")
            return None

    def _visit(self, what: str, *, remove: bool) -> Usage:
        """Count our entries, and delete them if that is wanted."""
        try:
            client = self._client
            names = {*client.scan_iter(match=f"{_PREFIX}*", count=1000)}
            sizes = _replies(client, names, lambda pipeline, name: pipeline.strlen(name))
            if remove:
                _replies(client, names, lambda pipeline, name: pipeline.delete(name))
        except self._failures as error:
            raise OSError(f"cannot {what} the store at {self.address}: {error}") from None
        known = [size for size in sizes.values() if isinstance(size, int) and size]  # 0: deleted meanwhile
        return Usage(len(known), sum(known))


def _public(url: str) -> str:
    """Return the URL without user, password and query; a password may have any character, if not escaped."""
    scheme, _, rest = url.partition("://")
    place, _, query = rest.partition("?")
    return f"{scheme}://{'…' if '@' in query else place.rpartition('@')[2]}"


def _name(key: Key) -> str:
    return _PREFIX + json.dumps(key, ensure_ascii=False)


def _unpack(stored: object) -> Entry | None:
    """Return the entry in a value; None if there is no value or it is another program's."""
    if not isinstance(stored, bytes):
        return None
    head, _, body = stored.partition(b"\n")
    try:
        media_type, expires = json.loads(head)
        return Entry(body, media_type, float(expires)) if isinstance(media_type, str) else None
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None


def _read(client: Any, keys: Sequence[Key]) -> dict[Key, Entry]:
    names = {_name(key): key for key in keys}
    replies = _replies(client, names, lambda pipeline, name: pipeline.get(name))
    found = {names[name]: _unpack(stored) for name, stored in replies.items()}
    return {key: entry for key, entry in found.items() if entry is not None}


def _write(client: Any, entries: Mapping[Key, Entry]) -> None:
    stored = {_name(key): entry for key, entry in entries.items()}
    now = time.time()

    def put(pipeline: Any, name: str) -> None:
        body, media_type, expires = stored[name]
        seconds = int(min(max(expires - now, 0), 10 * 365 * 86400)) + KEEP
        pipeline.set(name, json.dumps([media_type, expires]).encode() + b"\n" + body, ex=seconds)

    _replies(client, stored, put)


def _replies(client: Any, names: Iterable[T], send: Callable[[Any, T], object]) -> dict[T, object]:
    """Return the reply to a command for each name: an exception if the key is another program's."""
    every = list(names)
    replies: dict[T, object] = {}
    for start in range(0, len(every), BATCH):
        pipeline = client.pipeline(transaction=False)
        for name in every[start : start + BATCH]:
            send(pipeline, name)
        replies |= zip(every[start : start + BATCH], pipeline.execute(raise_on_error=False), strict=True)
    for reply in replies.values():
        if isinstance(reply, Exception) and not str(reply).startswith("WRONGTYPE"):
            raise reply
    return replies
