"""The address of a client behind reverse proxies: X-Forwarded-For, and Forwarded (RFC 7239)."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from ipaddress import IPv4Network, IPv6Network

    from doiuri_proxy.app._http import Request

# One element of Forwarded: quoted strings may contain commas and semicolons (RFC 7239 §4). One without an end
# goes to the end of the header; no repetition gives characters back, so that both take linear time.
_ELEMENT = re.compile(r'(?:[^,"]|"(?>(?:[^"\\]|\\.?)*)(?:"|\Z))+', re.DOTALL)
_FOR = re.compile(
    r'(?:^|;)\s*+for\s*+=\s*+("(?>(?:[^"\\]|\\.)*)"|[^;,\s]*+)\s*+(?=;|$)', re.IGNORECASE | re.DOTALL
)
_MAX_HOPS = 50  # that are looked at, from the last one on


class TrustedPeers:
    """Finds the client of a request that trusted reverse proxies passed on.

    :param text: addresses and networks that are trusted, separated by commas; ``*`` is all
    :raises ValueError: if one is neither
    """

    def __init__(self, text: str) -> None:
        self._networks = [_network(part.strip()) for part in text.split(",") if part.strip()]
        self._trusts = lru_cache(maxsize=1024)(self._is_trusted)

    def client_of(self, request: Request, peer: str) -> str:
        """Return the address of the client, as the nearest peer that is not trusted is seen by a trusted one.

        What an untrusted peer says does not count, nor do the headers if X-Forwarded-For and Forwarded do not
        agree: a reverse proxy sets one of them, and passes on the other as the client made it up.
        """
        if not self._trusts(peer):
            return peer
        found = {
            self._walk(hops, peer)
            for hops in (
                _list(request.headers.get("x-forwarded-for")),
                _forwarded(request.headers.get("forwarded")),
            )
            if hops
        }
        return found.pop() if len(found) == 1 else peer

    def _walk(self, hops: list[str], peer: str) -> str:
        """Return the last hop that is not trusted; the first one if all are trusted."""
        client = peer
        for hop in reversed(hops[-_MAX_HOPS:]):
            address = _address(hop)
            if address is None:  # hidden, unknown or made up: what comes before it counts even less
                return client
            client = str(address)
            if not self._trusts(client):
                return client
        return client

    def _is_trusted(self, peer: str) -> bool:
        address = _address(peer)
        return address is not None and any(address in network for network in self._networks)


def _network(text: str) -> IPv4Network | IPv6Network | _Everything:
    if text == "*":
        return _Everything()
    try:
        return ip_network(text)
    except ValueError:
        raise ValueError(
            f"{text!r} is neither an IP address nor a network, such as 10.0.0.0/8 (without host bits)"
        ) from None


class _Everything:
    """A network that contains all addresses."""

    def __contains__(self, address: object) -> bool:
        return True


def _list(header: str | None) -> list[str]:
    return [] if header is None else header.split(",")


def _forwarded(header: str | None) -> list[str]:
    """Return the parameter ``for`` of each element of Forwarded, "" if it has none."""
    return [] if header is None else [_for(element) for element in _elements(header)]


def _elements(header: str) -> Iterable[str]:
    return _ELEMENT.findall(header)


def _for(element: str) -> str:
    found = _FOR.search(element)
    if found is None:
        return ""
    return re.sub(r"\\(.)", r"\1", found[1][1:-1]) if found[1].startswith('"') else found[1]


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Return an IP address, which may have a port; IPv6 addresses with a port are in brackets."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
