"""Where the requests for a DOI may lead: a stranger's record must not choose a host of the user's network."""

from __future__ import annotations

from urllib.parse import urlsplit

from doiuri._hosts import decoded_host, is_private
from doiuri._urls import origin

_NOT_IN_NETLOC = frozenset("\\ ")  # clients disagree about where the host ends


class TargetError(ValueError):
    """A redirect is refused. ``str()`` says where it leads, and what to do."""


class TargetCheck:
    """Checks the requests for one DOI: the first, and those that follow redirects.

    A private network is this machine, an address that is not globally reachable, or a name of one label or
    below ``.local``, ``.internal``, ``.home.arpa`` or ``.localhost``. Requests to the resolver itself always
    pass.

    >>> check = TargetCheck("https://doi.org")
    >>> check.check_url("https://doi.org/10.1000/182")
    >>> check.check_url("http://127%2e0.0.1/")
    Traceback (most recent call last):
        ...
    doiuri.plugins._targets.TargetError: redirected to 127.0.0.1, in a private network; private=True allows it

    :param base: base URL of the resolver.
    :param private: whether redirects may lead into a private network. None: if the resolver is in one.
    """

    private: bool | None
    """Whether redirects may lead into a private network; None until the resolver's address is known."""

    def __init__(self, base: str, private: bool | None = None) -> None:
        self._resolver = origin(base)
        self.private = private
        if private is None and is_private(decoded_host(urlsplit(base).hostname)):
            self.private = True

    def check_url(self, url: str) -> None:
        """Check an http or https URL before it is requested, by the name or address of its host alone.

        :raises TargetError: if it is in a private network and must not be, or if it is not a URL.
        """
        if self.private:
            return
        try:
            parts, place = urlsplit(url), origin(url)
        except ValueError:
            raise TargetError(f"redirected to an invalid URL: {url[:80]!r}") from None
        if parts.scheme not in {"http", "https"}:
            return
        host = decoded_host(parts.hostname)
        if host == "%" or not parts.netloc.isprintable() or not _NOT_IN_NETLOC.isdisjoint(parts.netloc):
            raise TargetError(f"redirected to an invalid URL: {url[:80]!r}")
        if place != self._resolver and is_private(host):
            raise _refusal(host)

    def check_peer(self, url: str, address: str) -> None:
        """Check the address that a client is connected to for a request: names may resolve to any address.

        Call it for each connection, also for one to the resolver, but not for one to a proxy.

        :param url: the URL of the request.
        :param address: the IP address, as ``socket.getpeername`` returns it.
        :raises TargetError: if it is in a private network, and must not be.
        """
        if origin(url) == self._resolver:
            if self.private is None:
                self.private = is_private(address)
        elif is_private(address) and not self.private:
            host = decoded_host(urlsplit(url).hostname)
            raise _refusal(host if host == address else f"{host} ({address})")


def _refusal(place: str) -> TargetError:
    return TargetError(f"redirected to {place:.300}, in a private network; private=True allows it")
