"""Which hosts are on this machine or in a private network."""

from __future__ import annotations

import ipaddress
import socket
import unicodedata
from urllib.parse import unquote

_LOCAL_DOMAINS = (".local", ".internal", ".home.arpa")  # RFC 6762, RFC 8375, and ICANN's reservation of 2024


def decoded_host(host: str | None) -> str:
    """Return the host that a URL's host means: clients decode escapes, and IDNA maps characters to ASCII.

    Returns "%", which is no host, if the result has a control character.
    """
    decoded = unicodedata.normalize("NFKC", unquote(host or "")).replace("\u3002", ".").lower()
    return decoded if decoded.isprintable() else "%"


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
