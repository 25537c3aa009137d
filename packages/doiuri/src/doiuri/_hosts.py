"""Which hosts are on this machine or in a private network."""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata
from urllib.parse import unquote

_LOCAL_DOMAINS = (".local", ".internal", ".home.arpa")  # RFC 6762, RFC 8375, and ICANN's reservation of 2024
# Deprecated; Python takes them for global: IPv4-compatible (RFC 4291 §2.5.5.1) and site-local (RFC 3879)
_OLD_PRIVATE = (ipaddress.IPv6Network("::/96"), ipaddress.IPv6Network("fec0::/10"))
# First 96 bits of IPv6 addresses that reach an IPv4 one: mapped, translated (RFC 2765), NAT64 (RFC 6052)
_OF_IPV4 = frozenset({0xFFFF, 0xFFFF_0000, 0x0064_FF9B << 64})
_NOT_IN_HOSTS = re.compile(r"[%/\\?#@:<>\[\]^| ]")
# IDNA drops these printable characters
_DROPPED = re.compile("[\u034f\u1806\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def decoded_host(host: str | None) -> str:
    """Return the host that a URL's host means: clients decode escapes, and IDNA maps characters to ASCII.

    Returns "%", which is no host, if the result has a character that no host has. Clients and proxies
    disagree about such hosts: after ``127.0.0.1%3A80`` is decoded, it has a port.
    """
    decoded = _DROPPED.sub("", unicodedata.normalize("NFKC", unquote(host or "")))
    decoded = decoded.replace("\u3002", ".").lower()
    if not decoded.isprintable() or (_NOT_IN_HOSTS.search(decoded) and _address(decoded) is None):
        return "%"
    return decoded


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, judged by its name or address alone."""
    name = host.rstrip(".")
    address = _address(name)
    return f".{name}".endswith(".localhost") or (address is not None and address.is_loopback)


def is_private(host: str) -> bool:
    """Return whether a host is this machine or in a private network, judged by its name or address alone."""
    name = host.rstrip(".")  # some clients and proxies also read an address with a final dot
    address = _address(name)
    if address is not None:
        return not address.is_global or any(address in network for network in _OLD_PRIVATE)
    return "." not in name or is_loopback(name) or f".{name}".endswith(_LOCAL_DOMAINS)


def addresses_of(host: str, port: int | None) -> list[str]:
    """Return the addresses that a host's name resolves to; none if it does not resolve."""
    try:
        return [str(found[0]) for *_, found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, ValueError):
        return []


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    if " " in host:
        return None  # inet_aton ignores what follows
    try:
        # the system also reads 127.1, 0x7f.1 and 2130706433 as addresses
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        pass
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        return None
    return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF) if int(address) >> 32 in _OF_IPV4 else address
