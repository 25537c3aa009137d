"""Requests over HTTP: connections that another thread can abandon, redirects, bodies."""

from __future__ import annotations

import re
import socket
import threading
import zlib
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urljoin, urlsplit

import requests
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.utils import prepend_scheme_if_needed, select_proxy
from urllib3 import HTTPResponse
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool
from urllib3.exceptions import HTTPError, ProtocolError
from urllib3.exceptions import TimeoutError as PoolTimeout

from doiuri._hosts import addresses_of, decoded_host, is_private
from doiuri._urls import origin
from doiuri.resolver.http._request import Reply, TransportError, is_elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from doiuri.resolver.http._request import Request

CHUNK = 65_536

MAX_REDIRECTS = 10
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})

_NOT_IN_HOSTS = frozenset("%/\\@?# ")

_current = threading.local()  # .request: the request that this thread sends


class HTTPTransport:
    """Sends requests over a ``requests.Session``: the user's, or our own without cookies and netrc.

    What the user's session adds (authentication, headers, cookies) goes to the first host only.

    :param own: returns our own session, which is replaced after a fork.
    :param given: the user's session.
    :param user_agent: the User-Agent header.
    :param private: whether redirects may lead into a private network.
    """

    def __init__(
        self,
        own: Callable[[], requests.Session],
        given: requests.Session | None,
        user_agent: str,
        *,
        private: bool = False,
    ) -> None:
        self._own = own
        self._given = given
        self._user_agent = user_agent
        self._private = private
        self._settings: dict[tuple[str, str | None, int | None], Mapping[str, Any]] = {}

    def get(self, request: Request) -> Reply:
        """Send the request and follow its redirects; see ``Transport.get``."""
        url = request.url
        request._private = self._private
        for _ in range(MAX_REDIRECTS + 1):
            request._hop = url
            try:
                with sending(request):
                    reply, location = self._hop(url, request)
            except (requests.Timeout, PoolTimeout) as error:
                raise TimeoutError from error
            except TimeoutError:
                raise
            except TransportError as error:
                error.counts = error.counts and not request._elsewhere
                raise
            except (requests.RequestException, HTTPError, OSError, ValueError) as error:
                raise _explained(error, url, counts=not request._elsewhere) from error
            if location is None:
                return reply
            url = redirect_target(url, location, request)
        # an address in a record may loop: then the server is not to blame
        raise TransportError(f"more than {MAX_REDIRECTS} redirects", counts=not request.any_host)

    def _hop(self, url: str, request: Request) -> tuple[Reply, str | None]:
        """Return one reply, and its Location if it is a redirect."""
        response = self._sent(url, request)
        try:
            location = response.headers.get("Location") if response.status_code in REDIRECT_STATUSES else None
            body = b"" if location is not None else b"".join(_body(response, request))
            return Reply(response.status_code, response.headers, body, url), location
        finally:
            response.close()

    def _sent(self, url: str, request: Request) -> requests.Response:
        """Send one request; again at once if the server had closed a kept connection (RFC 9112 §9.3.1)."""
        while True:
            try:
                return self._send(url, request)
            except requests.ConnectionError:
                if not request._reused:
                    raise

    def _send(self, url: str, request: Request) -> requests.Response:
        """Send one request and read the headers of the reply.

        Session.send is bypassed: it keeps cookies, and reads the body of a redirect without a limit.
        """
        headers = {"User-Agent": self._user_agent, "Accept": request.accept, "Accept-Encoding": "identity"}
        plain = requests.Request("GET", url, headers)
        session = self._given or self._own()
        settings = self._settings_for(url)
        if self._given is None or origin(url) != origin(request.url):
            prepared, settings = plain.prepare(), {**settings, "cert": None}
        else:
            prepared = session.prepare_request(plain)
        options = {"timeout": request.remaining(), **settings}
        adapter = session.get_adapter(url)
        watch(adapter, url, options["proxies"])
        response = adapter.send(prepared, **options)
        request._attach(getattr(response.raw, "connection", None))
        if response.status_code == 401 and prepared.hooks["response"]:
            response = _answer_challenge(response, request, options)
            request._attach(getattr(response.raw, "connection", None))
        return response

    def _settings_for(self, url: str) -> Mapping[str, Any]:
        """Return proxies and CA bundles for a URL, from the environment and the user's session."""
        place = origin(url)
        settings = self._settings.get(place)
        if settings is None:
            source = self._given or requests.Session()  # a new one reads the environment
            settings = source.merge_environment_settings(url, {}, True, None, None)
            self._settings[place] = settings
        return settings


def _answer_challenge(
    challenge: requests.Response, request: Request, options: Mapping[str, Any]
) -> requests.Response:
    """Let the session's authentication (Digest, for instance) answer a challenge; return the final reply."""
    try:
        body = b"".join(_body(challenge, request))  # the hooks would read it without a limit
    finally:
        challenge.close()
    challenge.raw = HTTPResponse(BytesIO(body), preload_content=False)
    response = challenge
    for hook in challenge.request.hooks["response"]:
        answer = hook(response, **options)
        response = response if answer is None else answer
    return response


def _body(response: requests.Response, request: Request) -> Iterator[bytes]:
    """Yield the decoded body in pieces.

    :raises TransportError: if it is longer than ``request.max_size`` bytes.
    """
    unpacker = _Unpacker(response.headers.get("Content-Encoding", ""))
    left = sent = request.max_size
    while piece := response.raw.read(CHUNK, decode_content=False):
        request.remaining()
        sent -= len(piece)
        piece = unpacker.unpack(piece, left + 1)
        left -= len(piece)
        if left < 0 or sent < 0:
            # some record is the longest: that says nothing about the server
            raise TransportError(f"the answer is longer than {request.max_size:,} bytes", counts=False)
        yield piece
    if not unpacker.complete:
        raise TransportError("the answer was cut off", transient=True)


class _Unpacker:
    """Decodes a body of gzip members (RFC 1952 section 2.2), or one in the zlib format.

    Servers may encode although we ask for ``identity``.
    """

    def __init__(self, encoding: str) -> None:
        name = encoding.strip().lower()
        if name not in {"", "identity", "gzip", "x-gzip", "deflate"}:
            raise TransportError(f"the answer has an unknown Content-Encoding: {name[:40]!r}")
        self._is_plain = name in {"", "identity"}
        self._member: zlib._Decompress | None = None

    @property
    def complete(self) -> bool:
        """Whether what was decoded so far ends where a member does."""
        return self._member is None or self._member.eof

    def unpack(self, piece: bytes, limit: int) -> bytes:
        """Return a piece decoded, or the first ``limit`` bytes or more of it."""
        if self._is_plain:
            return piece
        decoded = b""
        try:
            while piece and len(decoded) < limit:
                if self._member is None or self._member.eof:
                    self._member = zlib.decompressobj(zlib.MAX_WBITS | 32)
                decoded += self._member.decompress(piece, limit - len(decoded))
                piece = self._member.unused_data
        except zlib.error:
            raise TransportError("the answer is damaged") from None
        return decoded


def _explained(error: BaseException, url: str, *, counts: bool) -> TransportError:
    """Return an error with the root cause of an error of requests or urllib3."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    transient = any(isinstance(e, (ProtocolError, ConnectionResetError, BrokenPipeError)) for e in chain)
    words = [e.strerror for e in chain if isinstance(e, OSError) and e.strerror]
    proxy = "through a proxy: " if isinstance(error, requests.exceptions.ProxyError) else ""
    reason = f"{proxy}{words[-1] if words else _one_line(chain[-1])}"
    return TransportError(reason, transient=transient, counts=counts, host=f"{urlsplit(url).netloc:.260}")


def _one_line(error: BaseException) -> str:
    """Return an error on one line of printable text, without passwords in URLs."""
    text = " ".join(re.sub(r"//[^/\s]*@", "//", str(error)).split())
    return f"{type(error).__name__}: {text if text.isprintable() else ascii(text):.200}"


def redirect_target(url: str, location: str, request: Request) -> str:
    """Return the URL that a redirect from ``url`` leads to.

    :raises TransportError: if the redirect must not be followed.
    """
    target = _parsed(url, location, request)
    if target.scheme not in {"http", "https"} or not target.hostname or "@" in target.netloc:
        raise _refusal(f"redirected to something other than an http or https URL: {location[:80]!r}", request)
    if not request.any_host:
        _check_same_host(target, urlsplit(url), request)
    elif (
        not request._private
        and is_elsewhere(target.geturl(), request.url)
        and is_private(decoded_host(target.hostname))
    ):
        raise private_network(request)
    return target._replace(fragment="").geturl()


def _refusal(reason: str, request: Request) -> TransportError:
    """Return the error of a redirect. If it may lead anywhere, the record chose it, not the server."""
    return TransportError(reason, counts=not request.any_host)


def _parsed(url: str, location: str, request: Request) -> SplitResult:
    try:
        text = location.encode("latin-1").decode("utf-8", "replace")  # as requests reads it
        target = urlsplit(urljoin(url, text))
        _ = target.hostname, target.port
    except ValueError:
        raise _refusal("redirected to an invalid URL", request) from None
    if not target.netloc.isprintable() or not _NOT_IN_HOSTS.isdisjoint(decoded_host(target.hostname)):
        raise _refusal("redirected to an invalid URL", request)
    return target


def _check_same_host(target: SplitResult, before: SplitResult, request: Request) -> None:
    if target.hostname != before.hostname:
        place = f"{target.scheme}://{target.netloc:.260}"
        raise _refusal(f"redirected to {place}; if this is intended, set it as the resolver", request)
    if before.scheme == "https" and target.scheme == "http":
        raise _refusal("redirected from https to http", request)


def private_network(request: Request) -> TransportError:
    """Return the error of a redirect into the user's own network, which a record must not choose."""
    return _refusal("redirected into a private network; private=True allows it", request)


@contextmanager
def sending(request: Request) -> Iterator[None]:
    """Attach the connections that this thread uses to a request, so that it can be abandoned."""
    _current.request = request
    try:
        yield
    finally:
        _current.request = None


class _Watched(HTTPConnection):
    """A connection that the request it carries can abandon."""

    _used = False

    def connect(self) -> None:
        self._used = False
        self._attach()
        self._check(lambda: addresses_of(self.host, self.port))  # before any TLS handshake
        super().connect()
        self._check_peer()

    def request(self, *args: Any, **kwargs: Any) -> None:
        self._attach()
        self._check_peer()
        super().request(*args, **kwargs)  # which may connect first
        self._used = True

    def _attach(self) -> None:
        request: Request | None = getattr(_current, "request", None)
        if request is not None:
            request._reused = self._used
            request._attach(self)

    def _check_peer(self) -> None:
        try:
            self._check(lambda: [] if self.sock is None else [_address(self.sock)])
        except TransportError:
            self.close()
            raise

    def _check(self, addresses: Callable[[], list[str]]) -> None:
        """Refuse a private network that a redirect leads to; names may resolve to one.

        Through a proxy the peer is the proxy, so only the names are checked.
        """
        request: Request | None = getattr(_current, "request", None)
        if request is None or self.proxy is not None or request._private or request._is_at_resolver:
            return
        if any(map(is_private, addresses())):
            raise private_network(request)


def _address(sock: socket.socket) -> str:
    return str(sock.getpeername()[0])


@cache
def _watched(kind: type[HTTPConnection]) -> type[HTTPConnection]:
    return kind if issubclass(kind, _Watched) else type(kind.__name__, (_Watched, kind), {})


def watch(adapter: BaseAdapter, url: str, proxies: Mapping[str, str]) -> None:
    """Have the connections that an adapter opens for a URL watched: a session's own, or one with a proxy.

    An adapter of another kind than ``HTTPAdapter`` has to keep to the timeout itself.
    """
    if not isinstance(adapter, HTTPAdapter):
        return
    proxy = select_proxy(url, proxies)
    manager = adapter.poolmanager
    if proxy:
        key: str = prepend_scheme_if_needed(proxy, "http")  # type: ignore[no-untyped-call]
        manager = adapter.proxy_manager_for(key)
    if not isinstance(manager.pool_classes_by_scheme, _Pools):
        manager.pool_classes_by_scheme = _Pools(manager.pool_classes_by_scheme)
        manager.clear()  # its idle connections are not watched


class _Pools(dict[str, type[HTTPConnectionPool]]):
    """The classes of pools by scheme, whose connections are watched."""

    def __init__(self, classes: Mapping[str, type[HTTPConnectionPool]]) -> None:
        for scheme, kind in classes.items():
            self[scheme] = type(kind.__name__, (kind,), {"ConnectionCls": _watched(kind.ConnectionCls)})


def new_session() -> requests.Session:
    """Return a session that does not read netrc."""
    session = requests.Session()
    session.trust_env = False  # the transport reads proxies and CA bundles from the environment
    adapter = HTTPAdapter(pool_connections=4, pool_maxsize=32)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session
