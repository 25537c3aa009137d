"""Where the requests for a DOI may lead: a stranger's record must not choose a host of the user's network."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from doiuri._hosts import addresses_of, decoded_host, is_private
from doiuri._urls import server_of

_NOT_IN_NETLOC = frozenset("\\ ")  # clients disagree about where the host ends


class TargetError(ValueError):
    """A redirect is refused. ``str()`` says where it leads, and what to do."""


@dataclass(frozen=True, slots=True)
class TargetCheck:
    """Checks where the requests for DOIs lead: each URL by its name, and each new connection by its address.

    A private network is this machine, an address that is not globally reachable, or a name of one label or
    below ``.local``, ``.internal``, ``.home.arpa`` or ``.localhost``. The resolver itself may be in one; what
    its records point to may not, for strangers write them.

    >>> check = TargetCheck("http://127.0.0.1:8000")
    >>> check.check_url("http://127.0.0.1:8000/10.1000/182")
    >>> check.check_url("http://127%2e0.0.1/")
    Traceback (most recent call last):
        ...
    doiuri.plugins._targets.TargetError: redirected to 127.0.0.1, in a private network; private=True allows it
    """

    base: str
    """Base URL of the resolver."""
    private: bool = False
    """Whether redirects may lead into a private network."""

    def check_url(self, url: str) -> None:
        """Check the URL of a request before it is sent, by the name or address of its host alone.

        :raises TargetError: if it is in a private network and must not be, or is not an http or https URL.
        """
        try:
            parts, server = urlsplit(url), server_of(url)
            host = decoded_host(parts.hostname)
            if host.isascii():
                host.encode("idna")  # checks the lengths of the labels
        except ValueError:
            raise TargetError(f"redirected to an invalid URL: {url[:80]!r}") from None
        if parts.scheme not in {"http", "https"}:
            raise TargetError(f"redirected to {url[:80]!r}, which is not an http or https URL")
        if self.private:
            return
        if host == "%" or not parts.netloc.isprintable() or not _NOT_IN_NETLOC.isdisjoint(parts.netloc):
            raise TargetError(f"redirected to an invalid URL: {url[:80]!r}")
        if is_private(host) and server != server_of(self.base):
            raise _refusal(host)

    def check_addresses(self, url: str) -> None:
        """Look up the host of a URL before it is requested, and check its addresses.

        Do not call it for a request that goes through a proxy, which looks the host up itself.

        :raises TargetError: if one is in a private network, and must not be.
        """
        parts = urlsplit(url)
        for address in [] if self.private else addresses_of(decoded_host(parts.hostname), parts.port):
            self.check_peer(url, address)

    def check_peer(self, url: str, address: str) -> None:
        """Check the address of a new connection: a name may resolve to any.

        Do not call it for a connection to a proxy.

        :param url: the URL of the request that the connection is made for.
        :param address: the IP address, as ``socket.getpeername`` returns it.
        :raises TargetError: if it is in a private network, and must not be.
        """
        if is_private(address) and not self.private and server_of(url) != server_of(self.base):
            host = decoded_host(urlsplit(url).hostname)
            raise _refusal(host if host == address else f"{host} ({address})")


def _refusal(place: str) -> TargetError:
    return TargetError(f"redirected to {place:.300}, in a private network; private=True allows it")
