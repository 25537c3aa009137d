"""Requests over HTTP: connections that another thread can abandon, redirects, bodies."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.utils import prepend_scheme_if_needed, select_proxy
from urllib3 import HTTPResponse
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool
from urllib3.exceptions import HTTPError, ProtocolError
from urllib3.exceptions import TimeoutError as PoolTimeout

from doiuri._hosts import TargetCheck, TargetError
from doiuri._urls import origin
from doiuri.resolver.http._request import Reply, TransportError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from doiuri.resolver.http._request import Request

CHUNK = 16_384
"""Bytes of a body that are read at once; compressed, they may be a thousand times as many."""

MAX_REDIRECTS = 10
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})

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
        # the resolver's own redirects stay on its host
        request._check = TargetCheck(request.url, self._private or not request.any_host)
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
            except TargetError as error:
                raise _refusal(str(error), request) from error
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
    size = 0
    while piece := response.raw.read(CHUNK, decode_content=True):
        request.remaining()
        size += len(piece)
        # also the bytes as sent: what decodes to nothing would never be too long
        if max(size, response.raw.tell()) > request.max_size:
            # some record is the longest: that says nothing about the server
            raise TransportError(f"the answer is longer than {request.max_size:,} bytes", counts=False)
        yield piece


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
    try:
        target = urljoin(url, location.encode("latin-1").decode("utf-8", "replace"))  # as requests reads it
        request._check.check_url(target)
        parts, before = urlsplit(target), urlsplit(url)
    except TargetError as error:
        raise _refusal(str(error), request) from None
    except ValueError:
        raise _refusal("redirected to an invalid URL", request) from None
    if "@" in parts.netloc:
        raise _refusal("redirected to a URL with a user", request)
    if not request.any_host and parts.hostname != before.hostname:
        place = f"{parts.scheme}://{parts.netloc:.260}"
        raise _refusal(f"redirected to {place}; if this is intended, set it as the resolver", request)
    if not request.any_host and before.scheme == "https" and parts.scheme == "http":
        raise _refusal("redirected from https to http", request)
    return parts._replace(fragment="").geturl()


def _refusal(reason: str, request: Request) -> TransportError:
    """Return the error of a redirect. If it may lead anywhere, the record chose it, not the server."""
    return TransportError(reason, counts=not request.any_host)


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
        request = self._checked_request()
        if request is not None:
            request._check.check_addresses(request._hop)  # before any TLS handshake
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

    def _checked_request(self) -> Request | None:
        """Return the request that is sent, unless the peer is a proxy: then only the names are checked."""
        return None if self.proxy is not None else getattr(_current, "request", None)

    def _check_peer(self) -> None:
        request = self._checked_request()
        if request is None or self.sock is None:
            return
        try:
            request._check.check_peer(request._hop, str(self.sock.getpeername()[0]))
        except TargetError:
            self.close()
            raise


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
