"""The store on a Redis or Valkey server, shared by several machines."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from doiuri.resolver._breaker import Breaker
from doiuri.resolver.stores._store import MAX_AGE, Entry, Usage, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from doiuri.resolver.stores._store import Key

    Command = Callable[[Any, str], object]  # adds a command about a name to a pipeline

T = TypeVar("T")

KEEP = 30 * 86400  # seconds for which a stale entry is kept
PAUSE = 30.0  # seconds without requests after a failure
_LONGEST_LIFETIME = 10 * 365 * 86400  # seconds; an entry may be fresh for ever

_PREFIX = "doiuri:2:"  # of every key on the server; the number is that of the format


class RedisStore:
    """A store on a Redis or Valkey server.

    While the server does not answer, answers with something else or refuses to write, a StoreWarning is
    issued, nothing is found, and new entries are dropped.

    :param url: a ``redis://`` or ``rediss://`` URL.
    :param timeout: seconds that reading or writing many entries may take, with the connection.
    :raises ValueError: if the URL is invalid.
    """

    def __init__(self, url: str, *, timeout: float = 1.0) -> None:
        import redis

        self._refusal = redis.ResponseError
        self._timeout = timeout
        scheme, _, rest = url.partition(":")
        self.address = _public(url)  #: the URL of the server, without user, password and options
        try:
            self._client = redis.Redis.from_url(
                f"{scheme.lower().replace('valkey', 'redis')}:{rest}",  # as redis-py knows it
                socket_timeout=timeout,
                socket_connect_timeout=timeout,
            )
            pool = self._client.connection_pool
            # answers are bytes, whatever the URL says
            pool.connection_kwargs["decode_responses"] = False
            pool.connection_class(**pool.connection_kwargs)  # refuses options that it does not know
        except (ValueError, TypeError, AttributeError):  # its text may quote the password
            raise ValueError(f"not a URL of a Redis server: {self.address}") from None
        self._breakers = {"read": Breaker(PAUSE), "written": Breaker(PAUSE)}

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        """Return the entries that exist for these keys, stale ones included."""
        keys_by_name = {_name(key): key for key in keys}
        replies = self._try("read", keys_by_name, lambda pipe, name: pipe.get(name))
        entries = {}
        for name, reply in replies.items():
            entry = _unpack(reply)
            if entry is not None:
                entries[keys_by_name[name]] = entry
        return entries

    def put_many(self, entries: Mapping[Key, Entry]) -> None:
        """Store the entries; they are kept for 30 days after they expire, and for 60 days at least.

        That a DOI does not exist must not be forgotten before earlier answers, which it makes void.
        """
        entries_by_name = {_name(key): entry for key, entry in entries.items()}
        now = time.time()

        def put(pipe: Any, name: str) -> None:
            entry = entries_by_name[name]
            lifetime = min(max(entry.expires - now, MAX_AGE), _LONGEST_LIFETIME)
            head = json.dumps([entry.media_type, entry.expires]).encode()
            pipe.set(name, head + b"\n" + entry.body, ex=int(lifetime) + KEEP)

        self._try("written", entries_by_name, put)

    def usage(self) -> Usage:
        """Return how much the store holds; raises OSError if the server does not answer, or refuses."""
        return self._visit("read", remove=False)

    def clear(self) -> Usage:
        """Delete all entries; return how much that was. Raises OSError as ``usage`` does."""
        return self._visit("clear", remove=True)

    def close(self) -> None:
        """Close the connections; the store opens new ones when used."""
        self._client.connection_pool.disconnect(inuse_connections=False)

    def _try(self, access: str, names: Collection[str], command: Command) -> dict[str, object]:
        """Return the replies; none if the server fails, with a StoreWarning, and for a while after that.

        :param access: "read" or "written", for the message, too.
        """
        if self._breakers[access].is_open:
            return {}
        try:
            return _within(self._timeout, lambda: self._send(names, command))
        except Exception as error:  # noqa: BLE001 - what redis-py raises for answers that are not Redis'
            # a server that is full or read-only still answers reads
            failed = [access] if isinstance(error, self._refusal) else ["read", "written"]
            for failed_access in failed:
                self._breakers[failed_access].trip()
            warn(
                f"the DOI store at {self.address} cannot be {access} ({error}); not used for {PAUSE:g} s"
            )
            return {}

    def _visit(self, verb: str, *, remove: bool) -> Usage:
        """Count our entries, and delete them if that is wanted.

        :param verb: "read" or "clear", for the message.
        :raises OSError: if the server does not answer, or refuses.
        """
        try:
            names = set(self._client.scan_iter(match=f"{_PREFIX}*", count=1000))
            sizes = self._send(names, lambda pipe, name: pipe.strlen(name))
            if remove:
                self._send(names, lambda pipe, name: pipe.delete(name))
        except Exception as error:  # noqa: BLE001 - as in _try
            raise OSError(f"cannot {verb} the store at {self.address}: {error}") from None
        lengths = [size for size in sizes.values() if isinstance(size, int)]
        present = [length for length in lengths if length > 0]  # 0: deleted meanwhile
        return Usage(len(present), sum(present))

    def _send(self, names: Collection[str], command: Command) -> dict[str, object]:
        """Return the reply to a command for each name: an exception if the key is another program's.

        :raises Exception: of redis-py, if the server does not answer, or refuses.
        """
        pipe = self._client.pipeline(transaction=False)
        for name in names:
            command(pipe, name)
        replies = dict(zip(names, pipe.execute(raise_on_error=False), strict=True))
        for reply in replies.values():
            if isinstance(reply, Exception) and not str(reply).startswith("WRONGTYPE"):
                raise reply
        return replies


def _within(seconds: float, work: Callable[[], T]) -> T:
    """Return what a function returns, or raise TimeoutError if that takes longer.

    It runs in a thread: the timeouts of a socket are for each piece of an answer, not for the whole, and
    looking up the host's name has none.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except Exception as error:  # noqa: BLE001 - the caller's thread raises it
            future.set_exception(error)

    threading.Thread(target=run, name="doiuri-redis", daemon=True).start()
    try:
        return future.result(seconds)
    except TimeoutError as error:
        reason = str(error) or f"no complete answer within {seconds:g} s"
        raise TimeoutError(reason) from None


def _public(url: str) -> str:
    """Return the URL without user, password and query, for messages.

    A password may have any character that somebody forgot to escape: after "@" in the query, nothing is shown.
    """
    scheme, _, rest = url.partition("://")
    server, _, query = rest.partition("?")
    if "@" in query:
        return f"{scheme}://…"
    return f"{scheme}://{server.rpartition('@')[2]}"


def _name(key: Key) -> str:
    """Return the name of a key on the server: ``doiuri:2:["record", "https://doi.org", "10.1000/182", ""]``."""
    return _PREFIX + json.dumps(key, ensure_ascii=False)


def _unpack(stored: object) -> Entry | None:
    """Return the entry in a value; None if there is no value or it is another program's.

    The value is a line of JSON with the media type and the expiry, and then the body.
    """
    if not isinstance(stored, bytes):
        return None
    head, _, body = stored.partition(b"\n")
    try:
        media_type, expires = json.loads(head)
        expires = float(expires)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None
    if not isinstance(media_type, str):
        return None
    return Entry(body, media_type, expires)


RedisStore.__module__ = "doiuri.resolver"  # for tracebacks and pickles
