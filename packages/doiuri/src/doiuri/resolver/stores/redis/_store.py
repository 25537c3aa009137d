"""The store on a Redis or Valkey server or cluster, shared by several machines."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from doiuri.resolver.stores._memory import UnsavedEntries
from doiuri.resolver.stores._store import Entry, NewEntry, Usage, warn
from doiuri.resolver.stores.redis._connection import RedisConnection
from doiuri.resolver.stores.redis._format import FORMAT, date_in, head_of, name_of, pack, unpack
from doiuri.resolver.stores.redis._lock import RedisLock

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    T = TypeVar("T")

KEEP = 30 * 86400  # seconds for which a stale entry is kept
BATCH = 500  # commands in one pipeline
PAUSE = 30.0  # seconds without requests after a failure


# KEYS[1]: the entry's key. ARGV: media type and expiry as JSON, the body, seconds since the answer came, and
# seconds to keep it. An answer is dated by the server's clock: those of the machines may differ.
# What is not an entry is replaced.
_PUT = """
local old = redis.pcall('GETRANGE', KEYS[1], 0, 999)
if type(old) == 'table' then
  if not string.find(old.err, 'WRONGTYPE', 1, true) then return old end
  old = ''
end
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local answered = now - ARGV[3]
local known = tonumber(string.match(old, '^[^\\n]*", [^,"]+, ([%d.]+)%]\\n'))
if known and known > answered and known <= now then return 1 end
local head = string.format('%s, %.6f]\\n', string.sub(ARGV[1], 1, -2), answered)
redis.call('SET', KEYS[1], head .. ARGV[2], 'EX', ARGV[4])
return 1
"""


class RedisStore:
    """A store on a Redis or Valkey server or cluster.

    Of two answers for one key the newer one is kept, whichever is written last. While the server does not
    answer or refuses to write, new entries are kept in memory, until the server has newer ones, and a
    StoreWarning is issued.

    :param url: a ``redis://`` or ``rediss://`` URL.
    :param timeout: seconds to wait for a connection and for each answer.
    :raises ValueError: if the URL is invalid.
    :raises ImportError: if redis-py is not installed.
    """

    def __init__(self, url: str, *, timeout: float = 2.0) -> None:
        self._server = RedisConnection(url, timeout)
        self._memory = UnsavedEntries()
        self._paused_until = {"read": 0.0, "written": 0.0}

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the entries that exist for these keys, stale ones included."""
        if unsaved := list(self._memory.get_many(keys)):
            self._memory.discard_older(
                self._work("read", unsaved, lambda client: self._dates(client, unsaved)) or {}
            )
        found = self._work("read", keys, lambda client: _read(client, keys)) or {}
        return found | self._memory.get_many(keys)

    def put_many(self, entries: Mapping[str, Entry]) -> None:
        """Store the entries; they are kept for 30 days after they expire."""
        if self._work("written", entries, lambda client: self._write(client, entries)):
            self._memory.discard(entries)
        else:
            self._memory.put_many(entries)

    def usage(self) -> Usage:
        """Return how much the store holds.

        :raises OSError: if the server does not answer, or refuses.
        """
        with self._server.errors("read"):
            return _visit(self._server.client(), remove=False)

    def clear(self) -> Usage:
        """Delete all entries; return how much that was.

        :raises OSError: if the server does not answer, or refuses.
        """
        self._memory.clear()
        with self._server.errors("clear"):
            return _visit(self._server.client(), remove=True)

    def delete_many(self, keys: Sequence[str]) -> None:
        """Delete the entries for these keys.

        :raises OSError: if the server does not answer, or refuses.
        """
        self._memory.discard(keys)
        with self._server.errors("delete entries of"):
            _delete(self._server.client(), keys)

    @contextmanager
    def snapshot(self) -> Iterator[RedisSnapshot]:
        """Return a context manager that yields a ``StoreSnapshot`` of the server.

        :raises OSError: on entering, if the server does not answer.
        """
        with self._server.errors("read"):
            self._server.client().ping()
        yield RedisSnapshot(self._server)

    def lock(self, name: str, *, seconds: float = 60.0) -> RedisLock:
        """Return an exclusive lock on the server; wait until it is free.

        Its method ``extend`` keeps it for as many seconds again, ``close`` frees it.

        :param name: what is locked.
        :param seconds: after that time it is free again, unless it is extended.
        :raises OSError: if the server fails.
        """
        return RedisLock(self._server, f"doiuri:lock:{FORMAT}:{name}", seconds)

    @property
    def address(self) -> str:
        """The URL of the server, without user, password and options."""
        return self._server.public

    def close(self) -> None:
        """Close the connections; the store opens new ones when used."""
        self._server.close()

    def _work(self, what: str, keys: Collection[str], work: Callable[[Any], T]) -> T | None:
        if time.monotonic() < self._paused_until[what]:
            return None
        try:
            return self._server.run(work, len(keys) // BATCH + 1)
        except self._server.failures as error:
            # a server that is full or read-only still answers reads
            refused = self._server.refused(error)
            for operation in [what] if refused else self._paused_until:
                self._paused_until[operation] = time.monotonic() + PAUSE
            trouble = f"cannot be {what}" if refused else "does not answer"
            warn(f"the DOI store at {self._server.public} {trouble} ({error}); answers are kept in memory")
            return None

    def _dates(self, client: Any, keys: Sequence[str]) -> dict[str, float]:
        """Return when the stored answers for these keys came, by this machine's clock."""
        here = time.time()
        try:
            seconds, microseconds = client.time()
            there = seconds + microseconds / 1e6
        except self._server.library.ResponseError:  # the user has no permission for TIME
            there = here
        dates = {key: date_in(stored) for key, stored in _values(client, keys)}
        return {key: date - there + here for key, date in dates.items() if date is not None and date <= there}

    def _write(self, client: Any, entries: Mapping[str, Entry]) -> bool:
        try:
            return _write(client, entries, _newest)
        except self._server.library.exceptions.NoPermissionError:  # no scripts for this user
            return _write(client, entries, _last)


class RedisSnapshot:
    """The entries of a Redis store; see ``StoreSnapshot``."""

    def __init__(self, server: RedisConnection) -> None:
        self._server = server

    def keys(self, prefix: str) -> Iterator[str]:
        """Yield the keys that begin with ``prefix``, in the order of their code points."""
        yield from sorted(self._names(prefix))

    def count(self, prefix: str) -> int:
        """Return how many keys begin with ``prefix``."""
        return len(self._names(prefix))

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the entries that exist for these keys."""
        with self._server.errors("read"):
            return _read(self._server.client(), keys)

    def _names(self, prefix: str) -> set[str]:
        pattern = re.sub(r"([*?\[\]\\])", r"\\\1", name_of(prefix)) + "*"
        start = len(name_of(""))
        # SCAN may return a key more than once
        with self._server.errors("read"):
            found = self._server.client().scan_iter(match=pattern, count=1000)
            return {name.decode(errors="replace")[start:] for name in found}


def _read(client: Any, keys: Sequence[str]) -> dict[str, Entry]:
    entries = ((key, unpack(stored)) for key, stored in _values(client, keys))
    return {key: entry for key, entry in entries if entry is not None}


def _values(client: Any, keys: Sequence[str]) -> Iterator[tuple[str, object]]:
    """Yield each key with the value that the server has for it."""
    for start in range(0, len(keys), BATCH):
        batch = keys[start : start + BATCH]
        # no transaction: in a cluster each key has its own node
        pipeline = client.pipeline(transaction=False)
        for key in batch:
            pipeline.get(name_of(key))
        yield from zip(batch, _replies(pipeline), strict=True)


def _write(client: Any, entries: Mapping[str, Entry], put: Callable[[Any, str, Entry], None]) -> bool:
    items = list(entries.items())
    for start in range(0, len(items), BATCH):
        pipeline = client.pipeline(transaction=False)
        for key, entry in items[start : start + BATCH]:
            put(pipeline, key, entry)
        _replies(pipeline)
    return True


def _newest(pipeline: Any, key: str, entry: Entry) -> None:
    """Store an entry, unless the stored one is newer."""
    age = max(time.time() - entry.received, 0.0) if isinstance(entry, NewEntry) else 0.0
    # not eval(), which the pipeline of a cluster lacks
    pipeline.execute_command(
        "EVAL", _PUT, 1, name_of(key), head_of(entry), entry.body, f"{age:.6f}", _seconds(entry)
    )


def _last(pipeline: Any, key: str, entry: Entry) -> None:
    """Store an entry, whatever is there."""
    pipeline.set(name_of(key), pack(entry), ex=_seconds(entry))


def _seconds(entry: Entry) -> int:
    """Return for how long the server keeps an entry."""
    return int(min(max(entry.expires - time.time(), 0), 10 * 365 * 86400)) + KEEP


def _visit(client: Any, *, remove: bool) -> Usage:
    """Count our entries, and delete them if that is wanted."""
    entries = octets = 0
    names = client.scan_iter(match=name_of("*"), count=1000)
    while batch := list(islice(names, BATCH)):
        pipeline = client.pipeline(transaction=False)
        for name in batch:
            pipeline.strlen(name)
            if remove:
                pipeline.delete(name)
        for size in _replies(pipeline)[:: 2 if remove else 1]:
            if isinstance(size, int) and size:  # 0: deleted meanwhile
                entries, octets = entries + 1, octets + size
    return Usage(entries, octets)


def _delete(client: Any, keys: Sequence[str]) -> None:
    for start in range(0, len(keys), BATCH):
        pipeline = client.pipeline(transaction=False)
        for key in keys[start : start + BATCH]:
            pipeline.delete(name_of(key))
        _replies(pipeline)


def _replies(pipeline: Any) -> list[object]:
    """Return the replies, of which an exception says that a key is not an entry: another program's."""
    replies: list[object] = pipeline.execute(raise_on_error=False)  # an error raised there quotes the script
    for reply in replies:
        if isinstance(reply, Exception) and not str(reply).startswith("WRONGTYPE"):
            raise reply
    return replies
