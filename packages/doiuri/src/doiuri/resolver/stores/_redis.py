"""The store on a Redis or Valkey server or cluster, shared by several machines."""

from __future__ import annotations

import json
import re
import time
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from doiuri.resolver._fork import ForkSafe
from doiuri.resolver.stores._memory import MemoryStore
from doiuri.resolver.stores._store import Entry, Usage, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    T = TypeVar("T")

FORMAT = 1  # of keys and values, part of every key
KEEP = 30 * 86400  # seconds for which a stale entry is kept
BATCH = 500  # commands in one pipeline
PAUSE = 30.0  # seconds without requests after a failure


class RedisStore(ForkSafe):
    """A store on a Redis or Valkey server or cluster.

    While the server does not answer or refuses to write, new entries are kept in memory and a StoreWarning
    is issued.

    :param url: a ``redis://`` or ``rediss://`` URL.
    :param timeout: seconds to wait for a connection and for each answer.
    :raises ValueError: if the URL is invalid.
    :raises ImportError: if redis-py is not installed.
    """

    def __init__(self, url: str, *, timeout: float = 2.0) -> None:
        super().__init__()
        self._library, self._failures = _library()
        self._url = re.sub(r"^valkey", "redis", url, flags=re.IGNORECASE)
        self._options: dict[str, Any] = {"socket_timeout": timeout, "socket_connect_timeout": timeout}
        try:
            self._single = self._library.Redis.from_url(self._url, **self._options)
            # not connected yet: it refuses options that it does not know
            self._single.connection_pool.connection_class(**self._single.connection_pool.connection_kwargs)
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"not a URL of a Redis server: {_public(url)} ({_safe(error, url)})") from None
        self._client: Any = None
        self._memory = MemoryStore()
        self._paused_until = {"read": 0.0, "written": 0.0}

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the entries that exist for these keys, stale ones included."""
        found = self._work("read", lambda client: _read(client, keys)) or {}
        return found | self._memory.get_many(keys)

    def put_many(self, entries: Mapping[str, Entry]) -> None:
        """Store the entries; they are kept for 30 days after they expire."""
        if self._work("written", lambda client: _write(client, entries)):
            self._memory.discard(entries)
        else:
            self._memory.put_many(entries)

    def usage(self) -> Usage | None:
        """Return how much the store holds; None if the server does not answer, with a StoreWarning."""
        return self._work("read", lambda client: _visit(client, remove=False))

    def clear(self) -> Usage | None:
        """Delete all entries; return how much that was; None if that failed, with a StoreWarning."""
        self._memory.clear()
        return self._work("written", lambda client: _visit(client, remove=True))

    def delete_many(self, keys: Sequence[str]) -> None:
        """Delete the entries for these keys."""
        self._work("written", lambda client: _delete(client, keys))
        self._memory.discard(keys)

    @contextmanager
    def snapshot(self) -> Iterator[RedisSnapshot]:
        """Return a context manager that yields a ``StoreSnapshot`` of the server.

        :raises OSError: on entering, if the server does not answer.
        """
        try:
            client = self._connected()
            client.ping()
            yield RedisSnapshot(client)
        except OSError:
            raise
        except self._failures as error:
            raise OSError(f"cannot read the store at {_public(self._url)}: {error}") from error

    def close(self) -> None:
        """Close the connections; the store opens new ones when used."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._single.close()
            self._client = None

    def _work(self, what: str, work: Callable[[Any], T]) -> T | None:
        if time.monotonic() < self._paused_until[what]:
            return None
        try:
            return work(self._connected())
        except self._failures as error:
            # a server that is full or read-only still answers reads
            refused = isinstance(error, self._library.ResponseError)
            for operation in [what] if refused else self._paused_until:
                self._paused_until[operation] = time.monotonic() + PAUSE
            trouble = f"cannot be {what}" if refused else "does not answer"
            warn(f"the DOI store at {_public(self._url)} {trouble} ({error}); answers are kept in memory")
            return None

    def _connected(self) -> Any:
        client = self._client
        if client is None:  # without the lock: a server that hangs would block a fork
            cluster = self._library.RedisCluster if self._is_cluster() else None
            client = cluster.from_url(self._url, **self._options) if cluster else self._single
            self._client = client
        return client

    def _is_cluster(self) -> bool:
        try:
            return bool(self._single.info("cluster").get("cluster_enabled"))
        except self._library.ResponseError:  # the user has no permission for INFO
            return False


class RedisSnapshot:
    """The entries of a Redis store; see ``StoreSnapshot``."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def keys(self, prefix: str) -> Iterator[str]:
        """Yield the keys that begin with ``prefix``, in the order of their code points."""
        yield from sorted(self._names(prefix))

    def count(self, prefix: str) -> int:
        """Return how many keys begin with ``prefix``."""
        return len(self._names(prefix))

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the entries that exist for these keys."""
        return _read(self._client, keys)

    def _names(self, prefix: str) -> set[str]:
        pattern = re.sub(r"([*?\[\]\\])", r"\\\1", _name(prefix)) + "*"
        start = len(_name(""))
        # SCAN may return a key more than once
        found = self._client.scan_iter(match=pattern, count=1000)
        return {name.decode(errors="replace")[start:] for name in found}


def _library() -> tuple[Any, tuple[type[Exception], ...]]:
    """Return redis-py and the exceptions it raises if the server fails."""
    try:
        import redis
    except ImportError as error:
        raise ImportError("a store on Redis needs redis-py: pip install 'doiuri[redis]'") from error
    return redis, (redis.RedisError, redis.exceptions.RedisClusterException, OSError)


def _read(client: Any, keys: Sequence[str]) -> dict[str, Entry]:
    found = {}
    for start in range(0, len(keys), BATCH):
        batch = keys[start : start + BATCH]
        # no transaction: in a cluster each key has its own node
        pipeline = client.pipeline(transaction=False)
        for key in batch:
            pipeline.get(_name(key))
        replies = pipeline.execute(raise_on_error=False)
        for reply in replies:
            # a key of another type is somebody else's, and says nothing about the others
            if isinstance(reply, Exception) and not str(reply).startswith("WRONGTYPE"):
                raise reply
        for key, stored in zip(batch, replies, strict=True):
            entry = _unpack(stored)
            if entry is not None:
                found[key] = entry
    return found


def _write(client: Any, entries: Mapping[str, Entry]) -> bool:
    items = list(entries.items())
    now = time.time()
    for start in range(0, len(items), BATCH):
        pipeline = client.pipeline(transaction=False)
        for key, entry in items[start : start + BATCH]:
            seconds = min(max(entry.expires - now, 0), 10 * 365 * 86400)
            pipeline.set(_name(key), _pack(entry), ex=int(seconds) + KEEP)
        pipeline.execute()
    return True


def _visit(client: Any, *, remove: bool) -> Usage:
    """Count our entries, and delete them if that is wanted."""
    entries = octets = 0
    names = client.scan_iter(match=_name("*"), count=1000)
    while batch := list(islice(names, BATCH)):
        pipeline = client.pipeline(transaction=False)
        for name in batch:
            pipeline.strlen(name)
            if remove:
                pipeline.delete(name)
        replies = pipeline.execute(raise_on_error=False)
        for size in replies[:: 2 if remove else 1]:
            if isinstance(size, int) and size:  # 0: deleted meanwhile
                entries, octets = entries + 1, octets + size
    return Usage(entries, octets)


def _delete(client: Any, keys: Sequence[str]) -> bool:
    for start in range(0, len(keys), BATCH):
        pipeline = client.pipeline(transaction=False)
        for key in keys[start : start + BATCH]:
            pipeline.delete(_name(key))
        pipeline.execute()
    return True


def _name(key: str) -> str:
    return f"doiuri:{FORMAT}:{key}"


def _pack(entry: Entry) -> bytes:
    return json.dumps([entry.media_type, entry.expires]).encode() + b"\n" + entry.body


def _unpack(stored: object) -> Entry | None:
    """Return the entry in a value; None if there is no value or it has another format."""
    if not isinstance(stored, bytes):
        return None
    head, _, body = stored.partition(b"\n")
    try:
        media_type, expires = json.loads(head)
        return Entry(body, str(media_type), float(expires))
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None


def _safe(error: Exception, url: str) -> str:
    """Return the text of an error, unless it may hold a part of the password."""
    text = str(error)
    return type(error).__name__ if "@" in url or "password" in url.lower() else text


def _public(url: str) -> str:
    """Return the URL without user and password."""
    return re.sub(r"//[^/]*@", "//", url.partition("?")[0])
