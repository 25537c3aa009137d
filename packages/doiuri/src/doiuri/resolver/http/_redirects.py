"""Where redirects may lead, and which hosts are on this machine or in a private network."""

from __future__ import annotations

import ipaddress
import socket
import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from doiuri.resolver.http._request import TransportError

if TYPE_CHECKING:
    from doiuri.resolver.http._request import Request

MAX_REDIRECTS = 10
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})

_NOT_IN_HOSTS = frozenset("%/\\@?# ")
_LOCAL_DOMAINS = (".local", ".internal", ".home.arpa")  # RFC 6762, RFC 8375, and ICANN's reservation of 2024


def redirect_target(url: str, location: str, request: Request) -> str:
    """Return the URL that a redirect from ``url`` leads to.

    :raises TransportError: if the redirect must not be followed.
    """
    target = _parsed(url, location, request)
    if target.scheme not in {"http", "https"} or not target.hostname or "@" in target.netloc:
        raise _refusal(f"redirected to something other than an http or https URL: {location[:80]!r}", request)
    before = urlsplit(url)
    if target.hostname != before.hostname:
        _check_other_host(target, before, request)
    if before.scheme == "https" and target.scheme == "http" and not request.any_host:
        raise _refusal("redirected from https to http", request)
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
    if not target.netloc.isprintable() or not _NOT_IN_HOSTS.isdisjoint(_decoded(target)):
        raise _refusal("redirected to an invalid URL", request)
    return target


def _decoded(url: SplitResult) -> str:
    """Return the host that is connected to: requests decodes escapes, and IDNA maps characters to ASCII."""
    host = unicodedata.normalize("NFKC", unquote(url.hostname or "")).replace("\u3002", ".").lower()
    return host if host.isprintable() else "%"


def _check_other_host(target: SplitResult, before: SplitResult, request: Request) -> None:
    if not request.any_host:
        place = f"{target.scheme}://{target.netloc:.260}"
        raise _refusal(f"redirected to {place}; if this is intended, set it as the resolver", request)
    # A record on a public server must not make us send requests to the user's own network
    if is_private(_decoded(target)) and not (request._private or is_private(_decoded(before))):
        raise private_network(request)


def private_network(request: Request) -> TransportError:
    """Return the error of a redirect from a public server into the user's own network."""
    return _refusal("redirected into a private network", request)


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, judged by its name or address alone."""
    address = _address(host)
    return f".{host.rstrip('.')}".endswith(".localhost") or (address is not None and address.is_loopback)


def is_private(host: str) -> bool:
    """Return whether a host is this machine or in a private network, judged by its name or address alone."""
    address = _address(host)
    if address is not None:
        return not address.is_global
    name = host.rstrip(".")
    return "." not in name or is_loopback(name) or f".{name}".endswith(_LOCAL_DOMAINS)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        # the system also reads 127.1, 0x7f.1 and 2130706433 as addresses
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        pass
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        return None
    return address.ipv4_mapped or address
