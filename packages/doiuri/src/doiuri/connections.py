"""Guarded connections of urllib3 and requests: peers, times, sizes, and errors in plain words."""

from __future__ import annotations

import io
import re
import socket
import threading
import zlib
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache, partial
from http.client import BadStatusLine, HTTPResponse, IncompleteRead
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from urllib3.exceptions import LocationParseError, LocationValueError, ProxyError
from urllib3.util import parse_url

from doiuri._json import printable
from doiuri._targets import TargetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from urllib3 import PoolManager
    from urllib3.connection import HTTPConnection
    from urllib3.connectionpool import HTTPConnectionPool
    from urllib3.response import BaseHTTPResponse

    from doiuri._targets import TargetCheck

    _Connection = HTTPConnection
else:
    # The class that a pool uses is added when a connection is made: if this module is imported while a
    # recorder such as vcrpy replaces HTTPConnection, its class would stay a base for ever.
    _Connection = object

__all__ = ["Guard", "TooLongError", "checked_proxy", "guarding", "pieces", "sentence"]

CHUNK = 16_384
"""Bytes of a body that are read or decoded at once."""

_INFLATED = frozenset({"gzip", "x-gzip", "deflate"})  # content codings that zlib undoes
_NOT_INFLATED = frozenset({"br", "zstd", "compress", "x-compress"})  # other codings
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS  # zlib tells the two formats apart by their headers


class TooLongError(ValueError):
    """An answer is longer than allowed."""


class CodingError(ValueError):
    """The content coding of an answer cannot be undone."""


class ProxyURLError(ValueError):
    """The URL of a proxy is invalid."""

    def __init__(self) -> None:
        super().__init__(
            "the URL of the proxy is invalid; see http_proxy and https_proxy in the environment,"
            ' and write "/", "?", "#" and "@" in a password as %2F, %3F, %23 and %40'
        )


_PROXY_SCHEMES = frozenset({"http", "https", "socks4", "socks4a", "socks5", "socks5h"})
# From the OSError of http.client: "Tunnel connection failed: 407 Proxy Authentication Required"
_REFUSED_TUNNEL = re.compile("Tunnel connection failed: ([0-9]{3})")


class Guard:
    """The connection that carries a request, and where it may lead; ``guarding`` makes it, and says from what."""

    reused: bool = False
    """Whether the connection was open before the request."""

    def __init__(
        self,
        url: str = "",
        check: TargetCheck | None = None,
        remaining: Callable[[], float] | None = None,
    ) -> None:
        self._url = url
        self._check = check
        self._remaining = remaining
        # The last one in use, from before it connects
        self._connection: HTTPConnection | None = None
        self._looked_up = False
        # Errors of what _in_time calls, and None when it has returned
        self._ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def close(self) -> None:
        """Abort the request, from another thread; its deadline must have passed, or been set to now."""
        self._ended.put(TimeoutError())
        sock = getattr(self._connection, "sock", None)
        if isinstance(sock, socket.socket):
            with suppress(OSError):
                # not SSLSocket.shutdown, which frees the TLS state while the other thread reads
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def _in_time(self, function: Callable[[], object]) -> None:
        """Call a function; with a deadline in a daemon thread, as no timeout applies to looking up a name.

        :raises TimeoutError: at the deadline, or when the guard is closed; the thread goes on.
        """
        if self._remaining is None:
            function()
            return

        def run() -> None:
            try:
                function()
            except BaseException as error:  # noqa: BLE001 - the waiting thread raises it
                self._ended.put(error)
            else:
                self._ended.put(None)

        threading.Thread(target=run, name="doiuri", daemon=True).start()
        try:
            error = self._ended.get(timeout=self._remaining())
        except Empty:
            raise TimeoutError from None
        if error is not None:
            raise error

    def _check_host(self, connection: HTTPConnection) -> None:
        """Check the addresses of the host, once, before anything is sent, a TLS handshake included.

        :raises TargetError: if the request may not lead to one of them.
        """
        self._connection = connection
        if self._check is not None and connection.proxy is None and not self._looked_up:
            self._looked_up = True
            self._check.check_addresses(self._url)

    def _check_peer(self, connection: HTTPConnection) -> None:
        """Check the peer, once it is connected, and close the connection to a wrong one.

        The socket of a recorder has no peer.

        :raises TargetError: if the request may not lead there.
        :raises TimeoutError: if it is connected too late.
        """
        peer = getattr(connection.sock, "getpeername", None)
        try:
            if self._remaining is not None:
                self._remaining()  # nobody else closes what is connected too late
            if self._check is not None and connection.proxy is None and peer is not None:
                self._check.check_peer(self._url, str(peer()[0]))
        except BaseException:
            connection.close()
            raise


_current: ContextVar[Guard | None] = ContextVar("guard", default=None)  # inside guarding()


@contextmanager
def guarding(
    manager: PoolManager,
    url: str,
    check: TargetCheck | None,
    remaining: Callable[[], float] | None = None,
) -> Iterator[Guard]:
    """Check where the connections that this thread uses in the block lead, except those to a proxy.

    :param manager: opens the connections; it makes guarded ones from now on, of the class that its pools have
        at that time: recorders such as vcrpy replace it for a while.
    :param url: the URL of the request that is sent.
    :param check: the check; None: the request may lead anywhere.
    :param remaining: returns the seconds that are left for the request as a whole, and raises TimeoutError if
        there are none. By default a connection has only the timeouts of its socket: one for each address that
        it tries, and one for each piece of an answer.
    :raises TargetError: in the block, if a peer must not be connected to.
    """
    guarded_classes = {
        scheme: _guarded_pool(pool_class)
        for scheme, pool_class in manager.pool_classes_by_scheme.items()
    }
    if guarded_classes != manager.pool_classes_by_scheme:
        manager.pool_classes_by_scheme = guarded_classes
        manager.clear()  # its pools make connections that are not guarded

    guard = Guard(url, check, remaining)
    token = _current.set(guard)
    try:
        yield guard
    finally:
        _current.reset(token)


@lru_cache
def _guarded_pool(pool_class: type[HTTPConnectionPool]) -> type[HTTPConnectionPool]:
    """Return a subclass of a pool class whose connections are guarded; the class itself if they are already.

    Its connection class is a property, as a recorder may replace that of ``pool_class`` for a while.
    """
    is_guarded = isinstance(vars(pool_class).get("ConnectionCls"), property)
    if is_guarded:
        return pool_class
    connection_class = property(lambda _: _guarded_connection(pool_class.ConnectionCls))
    return type(pool_class.__name__, (pool_class,), {"ConnectionCls": connection_class})


@lru_cache
def _guarded_connection(connection_class: type[HTTPConnection]) -> type[HTTPConnection]:
    return type(connection_class.__name__, (_GuardedConnection, connection_class), {})


class _GuardedConnection(_Connection):
    """A connection that checks its peer before it sends a request.

    ``guarding`` makes a guard for each request, which the connections that it uses ask on their way:

    1. Before a connection looks up its host, all addresses of that are checked (``_check_host``).
    2. Looking up and connecting end at the deadline, though no timeout of a socket applies (``_in_time``).
    3. Once it is connected, before anything is sent, the address of the peer is checked (``_check_peer``); again
       when a connection that was kept open is used.
    4. Each piece of the answer is read within the time that is left (``_Timed``).

    Connections to a proxy are not checked. Another thread may ``close`` the guard at any time.
    """

    _guard: Guard  # of the current request

    def connect(self) -> None:
        guard = self._guard = _current.get() or Guard()
        guard._in_time(partial(self._connect, guard))

    def _connect(self, guard: Guard) -> None:
        guard._check_host(self)
        super().connect()
        guard._check_peer(self)

    def request(self, *args: Any, **kwargs: Any) -> None:
        """Send a request over this connection, which may be a kept one, or not open yet."""
        guard = self._guard = _current.get() or Guard()
        was_opened_for_it = guard._connection is self  # by connect(), which urllib3 may call before
        guard.reused = self.sock is not None and not was_opened_for_it
        if self.sock is None:
            # not only in connect(): a recorder may call that too late
            guard._in_time(partial(guard._check_host, self))
        else:
            guard._connection = self
            guard._check_peer(self)
        super().request(*args, **kwargs)  # which may connect first

    def response_class(self, sock: Any, *args: Any, **kwargs: Any) -> HTTPResponse:  # type: ignore[override]
        """Return a response that is read within the time that is left."""
        response = super().response_class(sock, *args, **kwargs)
        if self._guard._remaining is not None:
            raw = _Timed(response.fp.detach(), sock, self._guard._remaining)
            response.fp = io.BufferedReader(raw)
        return response


class _Timed(io.RawIOBase):
    """What a socket receives within the time that is left."""

    def __init__(
        self, raw: io.RawIOBase, sock: socket.socket, remaining: Callable[[], float]
    ) -> None:
        self._raw = raw
        self._sock = sock
        self._remaining = remaining

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(self._remaining())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def pieces(raw: BaseHTTPResponse, limit: int) -> Iterator[bytes]:
    """Yield the body of an answer in pieces, decoded if it is compressed once, as some servers do unasked.

    :param limit: bytes that it may have, as sent and decoded.
    :raises TooLongError: if it has more.
    :raises CodingError: if it is compressed twice, or in a way that was not asked for, or damaged.
    """
    decoded = _decoded(raw, raw.headers.get("Content-Encoding", ""))
    size = 0
    for piece in decoded:
        size += len(piece)
        # also the bytes as sent: what decodes to nothing would never be too long
        if max(size, raw.tell()) > limit:
            raise TooLongError(f"the answer is longer than {limit:,} bytes")
        yield piece


def _decoded(raw: BaseHTTPResponse, codings: str) -> Iterator[bytes]:
    """Yield a body in pieces of a bounded size, decoded as a Content-Encoding says (RFC 9110 section 8.4.1).

    Not by urllib3: it decodes any number of codings, and a few kilobytes become gigabytes at once. Like
    urllib3, it ignores what is not a coding: some servers send a character set.
    """
    names = [name.strip().lower() for name in codings.split(",")]
    used = [name for name in names if name in _INFLATED or name in _NOT_INFLATED]
    if not used:
        return _read(raw)
    if len(used) > 1 or used[0] in _NOT_INFLATED:
        raise CodingError(f"the answer is compressed as {codings!r:.80}, which was not asked for")
    return _inflated(_read(raw))


def _read(raw: BaseHTTPResponse) -> Iterator[bytes]:
    """Yield a body in pieces, as it was sent."""
    while piece := raw.read(CHUNK, decode_content=False):
        yield piece


def _inflated(sent: Iterator[bytes]) -> Iterator[bytes]:
    """Yield what gzip, zlib or deflate compressed; gzip may have several members (RFC 1952 section 2.2)."""
    member = None  # the one that is being read
    for piece in sent:
        compressed = piece
        while compressed:
            if member is None:
                member = zlib.decompressobj(_window_bits(compressed))
            try:
                yield member.decompress(compressed, CHUNK)
            except zlib.error as error:
                raise CodingError(f"the answer is damaged: {error}") from None

            if member.eof:
                compressed = member.unused_data
                member = None
            else:
                compressed = member.unconsumed_tail
    if member is not None:
        raise CodingError("the answer was cut off")


def _window_bits(beginning: bytes) -> int:
    """Return the window bits with which zlib reads data, judged by its first bytes.

    Some servers send deflate without the header that RFC 1950 asks for.
    """
    if beginning[:1] == b"\x1f":  # of gzip (RFC 1952 section 2.3.1)
        return _GZIP_OR_ZLIB
    # RFC 1950 section 2.2: the method is in the lower four bits, and the first two bytes are a multiple of 31
    is_deflated = beginning[0] & 0x0F == zlib.DEFLATED
    if is_deflated and int.from_bytes(beginning[:2]) % 31 == 0:
        return _GZIP_OR_ZLIB
    return -zlib.MAX_WBITS


def chain_of(error: BaseException) -> list[BaseException]:
    """Return an error, its cause, and so on."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    return chain


def is_of_proxy(error: BaseException) -> bool:
    """Return whether an error is about the way to a proxy, and not about the server behind it."""
    return any(isinstance(each, ProxyError) for each in chain_of(error))


def sentence(error: BaseException) -> str:
    """Return what went wrong: the root cause, on a line of printable text.

    For an error whose text may contain a URL, and so a password, it is only the type.

    >>> sentence(ConnectionRefusedError(111, "Connection refused"))
    'Connection refused'
    """
    chain = chain_of(error)
    for cause in chain:
        if isinstance(cause, TargetError | TooLongError | CodingError | ProxyURLError):
            return str(cause)

    proxy = "proxy: " if is_of_proxy(error) else ""
    reasons = [cause.strerror for cause in chain if isinstance(cause, OSError) and cause.strerror]
    if reasons:
        return f"{proxy}{reasons[-1]}"
    if any(isinstance(cause, IncompleteRead) for cause in chain):
        return f"{proxy}the answer was cut off"

    root = chain[-1]
    if isinstance(root, TimeoutError):
        return f"{proxy}no answer in time"
    refusal = _REFUSED_TUNNEL.match(str(root))
    if refusal is not None:
        return f"{proxy}HTTP status {refusal[1]}"
    if isinstance(root, BadStatusLine):
        return f"{proxy}the answer is not HTTP: {str(root).strip()!a:.200}"
    if any(isinstance(cause, LocationValueError | UnicodeError) for cause in chain):
        return f"{proxy}the URL is invalid"

    kind = type(root).__name__
    text = " ".join(str(root).split())
    if text == "" or "//" in text or "@" in text:
        return f"{proxy}{kind}"
    return f"{proxy}{kind}: {printable(text):.200}"


def checked_proxy(url: str) -> str:
    """Return the URL of a proxy with its scheme.

    :raises ProxyURLError: if it cannot be read for certain: a "/", "?" or "#" in a password ends the host.
    """
    if "://" not in url:
        url = f"http://{url}"
    without_scheme = url.partition("://")[2]
    # urllib3 also ends the host at a backslash
    host = re.split(r"[/?#\\]", without_scheme, maxsplit=1)[0]
    after_host = without_scheme[len(host) :]
    if "@" in after_host:  # "user:pass/word@proxy.example", whose host would be "user"
        raise ProxyURLError
    try:
        parts = parse_url(url)
    except LocationParseError:
        raise ProxyURLError from None
    if not parts.host or parts.scheme not in _PROXY_SCHEMES:
        raise ProxyURLError
    return url
