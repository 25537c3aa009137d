"""Which hosts are on this machine or in a private network, and which of them a redirect may lead to."""

from __future__ import annotations

import re
import socket
import unicodedata
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_network
from urllib.parse import unquote, urljoin, urlsplit

from doiuri._urls import host_of, server_of

# RFC 6762, RFC 8375, and ICANN's reservation of 2024
_LOCAL_DOMAINS = (".local", ".internal", ".home.arpa")

# Not global, though Python says so, or some of its releases do (CPython's gh-113171): they knew other states of
# IANA's special-purpose registries.
_NOT_GLOBAL = (
    ip_network("192.0.0.0/24"),  # IETF protocol assignments (RFC 6890), with anycast addresses
    ip_network("::/96"),  # IPv4-compatible, deprecated (RFC 4291 section 2.5.5.1)
    ip_network("fec0::/10"),  # site-local, deprecated (RFC 3879)
    ip_network("64:ff9b:1::/48"),  # NAT64 for local use (RFC 8215)
    ip_network("2001::/23"),  # IETF protocol assignments (RFC 2928), among them Teredo
    ip_network("2002::/16"),  # 6to4 (RFC 3056), which leads to any IPv4 address
    ip_network("3fff::/20"),  # documentation (RFC 9637)
    ip_network("5f00::/16"),  # identifiers of segment routing (RFC 9602)
)

# First 96 bits of IPv6 addresses that reach an IPv4 one: mapped, translated (RFC 2765), NAT64 (RFC 6052)
_OF_IPV4 = frozenset({0xFFFF, 0xFFFF_0000, 0x0064_FF9B << 64})

_NOT_IN_NETLOC = frozenset("\\ ")  # clients disagree about where the host ends
_NOT_IN_HOSTS = re.compile(r"[%/\\?#@:<>\[\]^| ]")
_NO_HOST = "%"

# IDNA drops these printable characters
_DROPPED = re.compile("[\u034f\u1806\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def decoded_host(host: str | None) -> str:
    """Return the host that a URL's host means: clients decode escapes, and IDNA maps characters to ASCII.

    >>> decoded_host("127%2E0.0.1"), decoded_host("EXAMPLE．org")
    ('127.0.0.1', 'example.org')

    Returns "%", which is no host, if the result has a character that no host has. Clients and proxies
    disagree about such hosts: after ``127.0.0.1%3A80`` is decoded, it has a port.
    """
    decoded = unicodedata.normalize("NFKC", unquote(host or ""))
    decoded = _DROPPED.sub("", decoded).replace("\u3002", ".").lower()
    is_name = _NOT_IN_HOSTS.search(decoded) is None
    if decoded.isprintable() and (is_name or _address(decoded) is not None):
        return decoded
    return _NO_HOST


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, judged by its name or address alone."""
    name = host.rstrip(".")
    address = _address(name)
    if address is not None:
        return address.is_loopback
    return f".{name}".endswith(".localhost")


def is_private(host: str) -> bool:
    """Return whether a host is this machine or in a private network, judged by its name or address alone.

    >>> [is_private(host) for host in ("127.1", "10.0.0.1", "nas.local", "doi.org")]
    [True, True, True, False]
    """
    name = host.rstrip(".")  # some clients and proxies also read an address with a final dot
    address = _address(name)
    if address is not None:
        return not address.is_global or any(address in network for network in _NOT_GLOBAL)
    return "." not in name or is_loopback(name) or f".{name}".endswith(_LOCAL_DOMAINS)


def addresses_of(host: str, port: int | None) -> list[str]:
    """Return the addresses that a host's name resolves to; none if it does not resolve."""
    try:
        sockets = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return []
    return [str(address[0]) for *_, address in sockets]


def _address(host: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a host is, as the system reads it; None if it is a name.

    An IPv6 address that reaches an IPv4 one, such as ::ffff:127.0.0.1, is returned as that.
    """
    if " " in host:
        return None  # inet_aton ignores what follows
    try:
        # the system also reads 127.1, 0x7f.1 and 2130706433 as addresses
        return IPv4Address(socket.inet_aton(host))
    except OSError:
        pass
    try:
        address = IPv6Address(host)
    except ValueError:
        return None
    if int(address) >> 32 in _OF_IPV4:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


class TargetError(ValueError):
    """A redirect is refused. ``str()`` says where it leads, and what to do."""


def _host_to_request(url: str) -> str:
    """Return the host that a URL means.

    :raises TargetError: if it is not an http or https URL that all clients read alike.
    """
    try:
        server_of(url)  # raises ValueError if its port is invalid
        parts = urlsplit(url)
        host = decoded_host(parts.hostname)
        if host.isascii():
            host.encode("idna")  # checks the lengths of the labels
    except ValueError:
        raise TargetError(f"redirected to an invalid URL: {url[:80]!r}") from None
    if parts.scheme not in {"http", "https"}:
        raise TargetError(f"redirected to {url[:80]!r}, which is not an http or https URL")
    is_plain = parts.netloc.isprintable() and _NOT_IN_NETLOC.isdisjoint(parts.netloc)
    if host in {"", _NO_HOST} or not is_plain:
        raise TargetError(f"redirected to an invalid URL: {url[:80]!r}")
    return host


@dataclass(frozen=True, slots=True)
class TargetCheck:
    """Checks where the requests for DOIs lead: each URL by its name, and each new connection by its address.

    A private network is this machine, an address that is not globally reachable, or a name of one label or
    below ``.local``, ``.internal``, ``.home.arpa`` or ``.localhost``. The resolver itself may be in one; what
    its records point to may not, because it is untrusted input.

    >>> check = TargetCheck("http://127.0.0.1:8000")
    >>> check.check_url("http://127.0.0.1:8000/10.1000/182")
    >>> check.check_url("http://127%2e0.0.1/")
    Traceback (most recent call last):
        ...
    doiuri.plugins.clients.TargetError: redirected to 127.0.0.1, in a private network; private=True allows it
    """

    base: str
    """Base URL of the resolver."""
    private: bool = False
    """Whether redirects may lead into a private network."""

    def check_url(self, url: str) -> None:
        """Check the URL of a request before it is sent; a name is not looked up.

        :raises TargetError: if its host must not be requested, as it is in a private network, or if it is
            not an http or https URL.
        """
        host = _host_to_request(url)
        if self._is_refused(host, url):
            raise _private(host)

    def redirect_target(
        self, url: str, location: str, *, same_host: bool = False, downgrade: bool = False
    ) -> str:
        """Return the URL that a redirect leads to.

        :param url: the URL that answered with the redirect.
        :param location: its header ``Location``.
        :param same_host: whether it must stay on the host.
        :param downgrade: whether it may lead from https to http.
        :raises TargetError: if it must not be followed.
        """
        try:
            target = urljoin(url, location.encode("latin-1").decode())  # as requests reads it
            parts = urlsplit(target)
            origin = urlsplit(url)
        except ValueError:
            raise TargetError(f"redirected to an invalid URL: {location[:80]!r}") from None
        host = _host_to_request(target)
        if "@" in parts.netloc:
            raise TargetError("redirected to a URL with a user")
        if same_host and parts.hostname != origin.hostname:
            place = f"{parts.scheme}://{parts.netloc:.260}"
            raise TargetError(f"redirected to {place}; if this is intended, set it as the resolver")
        if not downgrade and origin.scheme == "https" and parts.scheme == "http":
            raise TargetError(f"redirected from https to http, to {host_of(target)}")
        if self._is_refused(host, target):
            raise _private(host)
        return parts._replace(fragment="").geturl()

    def check_addresses(self, url: str) -> None:
        """Look up the host of a URL before it is requested, and check its addresses.

        Do not call it for a request that goes through a proxy, which looks the host up itself.

        :raises TargetError: if one is in a private network, and must not be.
        """
        if not self._allows(url):
            parts = urlsplit(url)
            for address in addresses_of(decoded_host(parts.hostname), parts.port):
                self.check_peer(url, address)

    def check_peer(self, url: str, address: str) -> None:
        """Check the address of a new connection: a name may resolve to any.

        Do not call it for a connection to a proxy.

        :param url: the URL of the request that the connection is made for.
        :param address: the IP address, as ``socket.getpeername`` returns it.
        :raises TargetError: if it is in a private network, and must not be.
        """
        if not self._is_refused(address, url):
            return
        host = decoded_host(urlsplit(url).hostname)
        if host == address:
            raise _private(host)
        raise _private(f"{host} ({address})")

    def _is_refused(self, host: str, url: str) -> bool:
        """Return whether the host of a URL, given by name or address, is private and must not be requested."""
        return is_private(host) and not self._allows(url)

    def _allows(self, url: str) -> bool:
        """Return whether a URL may be in a private network."""
        return self.private or server_of(url) == server_of(self.base)


def _private(place: str) -> TargetError:
    """Return the error for a place in a private network."""
    return TargetError(f"redirected to {place:.300}, in a private network; private=True allows it")


for _public in (TargetCheck, TargetError):
    _public.__module__ = "doiuri.plugins.clients"  # for tracebacks and pickles
