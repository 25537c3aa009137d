"""One bounded GET: in bytes, in seconds, in redirects, and in who gets to see credentials."""

from __future__ import annotations

import ipaddress
import re
import socket
import zlib
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import SplitResult, urljoin, urlsplit

import requests
from urllib3 import HTTPResponse
from urllib3.exceptions import HTTPError, ProtocolError
from urllib3.exceptions import TimeoutError as PoolTimeout

from doiuri._urls import origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from doiuri.resolver.http._connection import Flight

REDIRECTS = 10
CHUNK = 65_536
MOVED = frozenset({301, 302, 303, 307, 308})


class Reply(NamedTuple):
    """What a server answered; ``url`` is the address that answered in the end."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str


class TransportError(Exception):
    """No reply that can be used.

    ``passing``: the same request may well get one in a moment.
    ``telling``: it says something about the server.
    """

    def __init__(self, reason: str, *, passing: bool = False, telling: bool = True) -> None:
        super().__init__(reason)
        self.passing = passing
        self.telling = telling


class Request(NamedTuple):
    """What to GET, and within which bounds."""

    url: str
    accept: str
    limit: int  # octets of the body, as sent and unpacked
    elsewhere: bool = False  # whether redirects may lead to another host


class Transport(Protocol):
    """How requests travel: over HTTP, or within the process."""

    def get(self, request: Request, flight: Flight) -> Reply:
        """Send the request; raises TransportError, TimeoutError."""


class HTTPTransport:
    """Requests over a `requests.Session`: the user's, or our own without cookies and netrc.

    What the user's session adds (authentication, headers, cookies) goes to the first host only.
    """

    def __init__(
        self, own: Callable[[], requests.Session], given: requests.Session | None, agent: str
    ) -> None:
        self._own = own
        self._given = given
        self._agent = agent
        self._settings: dict[tuple[str, str | None, int | None], Mapping[str, Any]] = {}

    def get(self, request: Request, flight: Flight) -> Reply:
        """Send the request and follow its redirects; raises TransportError, TimeoutError."""
        url = request.url
        for _ in range(REDIRECTS + 1):
            try:
                with flight.boarding():
                    reply, location = self._hop(url, request, flight)
            except (requests.Timeout, PoolTimeout) as error:
                raise TimeoutError from error
            except TimeoutError:
                raise
            except (requests.RequestException, HTTPError, OSError, ValueError) as error:
                raise _explained(error, url, telling=origin(url) == origin(request.url)) from error
            if location is None:
                return reply
            url = next_hop(url, location, request)
        raise TransportError(f"more than {REDIRECTS} redirects")

    def _hop(self, url: str, request: Request, flight: Flight) -> tuple[Reply, str | None]:
        """One reply, and where it redirects to."""
        response = self._sent(url, request, flight)
        try:
            location = response.headers.get("Location") if response.status_code in MOVED else None
            body = b"" if location is not None else b"".join(_body(response, request.limit, flight))
            return Reply(response.status_code, response.headers, body, url), location
        finally:
            response.close()

    def _sent(self, url: str, request: Request, flight: Flight) -> requests.Response:
        """One exchange; again at once where a kept connection was closed meanwhile (RFC 9112 §9.3.1)."""
        while True:
            try:
                return self._send(url, request, flight)
            except requests.ConnectionError:
                if not flight.reused:
                    raise

    def _send(self, url: str, request: Request, flight: Flight) -> requests.Response:
        """One exchange, up to the headers of the answer.

        Past Session.send, which keeps cookies, and reads the body of a redirect however long it is.
        """
        headers = {"User-Agent": self._agent, "Accept": request.accept, "Accept-Encoding": "identity"}
        plain = requests.Request("GET", url, headers)
        session = self._given or self._own()
        settings = self._settings_for(url)
        if self._given is None or origin(url) != origin(request.url):
            prepared, settings = plain.prepare(), {**settings, "cert": None}
        else:
            prepared = session.prepare_request(plain)
        options = {"timeout": flight.left(), **settings}
        response = session.get_adapter(url).send(prepared, **options)
        flight.board(getattr(response.raw, "connection", None))
        if response.status_code == 401 and prepared.hooks["response"]:
            response = _answered(response, request.limit, flight, options)
            flight.board(getattr(response.raw, "connection", None))
        return response

    def _settings_for(self, url: str) -> Mapping[str, Any]:
        """Proxies and CA bundles for a URL, from the environment and the user's session."""
        place = origin(url)
        settings = self._settings.get(place)
        if settings is None:
            source = self._given or requests.Session()  # a new one reads the environment
            settings = source.merge_environment_settings(url, {}, True, None, None)
            self._settings[place] = settings
        return settings


def _answered(
    challenge: requests.Response, limit: int, flight: Flight, options: Mapping[str, Any]
) -> requests.Response:
    """What comes when a session's authentication (Digest, say) answers a challenge, which it reads first."""
    try:
        body = b"".join(_body(challenge, limit, flight))  # for it would do so without bounds
    finally:
        challenge.close()
    challenge.raw = HTTPResponse(BytesIO(body), preload_content=False)
    response = challenge
    for hook in challenge.request.hooks["response"]:
        answer = hook(response, **options)
        response = response if answer is None else answer
    return response


def next_hop(url: str, location: str, request: Request) -> str:
    """Where a redirect from ``url`` leads; raises TransportError where we do not go."""
    try:
        text = location.encode("latin-1").decode("utf-8", "replace")  # as requests reads it
        target = urlsplit(urljoin(url, text))
        host = target.hostname or ""
        _ = target.port
    except ValueError:
        raise TransportError("redirected to what is no address") from None
    if not target.netloc.isprintable():
        raise TransportError("redirected to what is no address")
    if target.scheme not in {"http", "https"} or not host or "@" in target.netloc:
        raise TransportError(f"redirected to what is no plain http or https address: {text[:80]!r}")
    before = urlsplit(url)
    if host != before.hostname:
        _check_elsewhere(target, before, request)
    if before.scheme == "https" and target.scheme == "http" and not request.elsewhere:
        raise TransportError("redirected from https to http")
    return target._replace(fragment="").geturl()


def _check_elsewhere(target: SplitResult, before: SplitResult, request: Request) -> None:
    if not request.elsewhere:
        raise TransportError(
            f"redirected to {target.scheme}://{target.netloc:.260}; if that is meant, set it as the resolver"
        )
    # a record on a public server must not make us ask within the user's own network
    if is_private(target.hostname or "") and not is_private(before.hostname or ""):
        raise TransportError("redirected into a private network")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its name alone."""
    address = _address(host)
    return f".{host.rstrip('.')}".endswith(".localhost") or (address is not None and address.is_loopback)


def is_private(host: str) -> bool:
    """Whether a host is this machine or in a private network, by its name alone."""
    address = _address(host)
    return is_loopback(host) or (address is not None and not address.is_global)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        # the system's look-up also takes 127.1, 0x7f.1 and 2130706433 for addresses
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        pass
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        return None
    return address.ipv4_mapped or address


def _body(response: requests.Response, limit: int, flight: Flight) -> Iterator[bytes]:
    """The body in pieces, unpacked; TransportError where it is longer than ``limit`` octets."""
    unpack = _unpacker(response.headers.get("Content-Encoding", ""))
    left = limit
    while piece := response.raw.read(CHUNK, decode_content=False):
        flight.left()
        # we ask for the identity encoding, but who answers may do as he likes
        piece = unpack(piece, left + 1)
        left -= len(piece)
        if left < 0:
            raise TransportError(f"the answer is longer than {limit:,} octets")
        yield piece


def _unpacker(encoding: str) -> Callable[[bytes, int], bytes]:
    name = encoding.strip().lower()
    if name in {"", "identity"}:
        return lambda piece, _most: piece
    if name not in {"gzip", "x-gzip", "deflate"}:
        raise TransportError(f"the answer is in the encoding {name[:40]!r}, which was not asked for")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def unpack(piece: bytes, most: int) -> bytes:
        try:
            return unpacker.decompress(piece, most)
        except zlib.error:
            raise TransportError("the answer is damaged") from None

    return unpack


def _explained(error: BaseException, url: str, *, telling: bool) -> TransportError:
    """Who was asked, and the cause at the bottom of requests' and urllib3's errors, in the system's words."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    passing = any(isinstance(e, (ProtocolError, ConnectionResetError, BrokenPipeError)) for e in chain)
    words = [e.strerror for e in chain if isinstance(e, OSError) and e.strerror]
    way = " by way of a proxy" if isinstance(error, requests.exceptions.ProxyError) else ""
    reason = f"{urlsplit(url).netloc:.260}{way}: {words[-1] if words else _shown(chain[-1])}"
    return TransportError(reason, passing=passing, telling=telling)


def _shown(error: BaseException) -> str:
    """An error in a line, without the passwords in addresses, whatever the server made it say."""
    text = " ".join(re.sub(r"//[^/\s]*@", "//", str(error)).split())
    return f"{type(error).__name__}: {text if text.isprintable() else ascii(text):.200}"
