"""Check where the redirects of a request for a DOI lead, with any session and any adapters.

requests has no hook between connecting and sending. So the addresses of a host are looked up before a
redirect is followed, and the peer's address is checked before the response is handed on.
"""

from __future__ import annotations

import socket
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit

from doiuri.plugins import TargetError
from requests import exceptions
from requests.hooks import dispatch_hook
from requests.utils import select_proxy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doiuri import Handle
    from doiuri.plugins import TargetCheck
    from requests import PreparedRequest, Response


class TargetHook:
    """A response hook of the requests for one DOI."""

    def __init__(self, doi: Handle, check: TargetCheck) -> None:
        self._doi = doi
        self._check = check

    @classmethod
    def set_on(cls, request: PreparedRequest, doi: Handle, check: TargetCheck) -> None:
        """Add the hook to a ``doi:`` request; requests copies it to those that follow."""
        others = [hook for hook in request.hooks.get("response", ()) if not isinstance(hook, cls)]
        request.hooks = {**request.hooks, "response": [*others, cls(doi, check)]}

    def __call__(
        self, response: Response, *, proxies: Mapping[str, str] | None = None, **_options: object
    ) -> None:
        """Check the peer of a response, and where it leads to if it is a redirect.

        :raises requests.exceptions.ConnectionError: if one of them is in a private network, and must not be.
        """
        try:
            url = str(response.request.url)
            # A SOCKS proxy cannot be told from its connection: that looks like one to the target
            peer = [] if select_proxy(url, proxies) else _peer(response)
            for address in peer or _addresses(url, proxies):
                self._check.check_peer(url, address)
            if response.is_redirect and not self._check.private:
                target = _target(response)
                self._check.check_url(target)
                for address in _addresses(target, proxies):
                    self._check.check_peer(target, address)
        except TargetError as error:
            response.close()
            message = f"{self._doi.name}: {error}"
            raise exceptions.ConnectionError(message, request=response.request, response=response) from error

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as a hook that does nothing: a cache may be read where this package is not installed."""
        return partial, (dispatch_hook, "response", {})


def _target(response: Response) -> str:
    """Return the URL that a redirect leads to; requests reads the header as UTF-8 too."""
    location = response.headers["Location"].encode("latin-1", "replace").decode("utf-8", "replace")
    try:
        return urljoin(response.url, location)
    except ValueError:
        return location


def _peer(response: Response) -> list[str]:
    """Return the address that a response comes from, if it can be told and is not a proxy's."""
    connection = getattr(response.raw, "connection", None)
    if getattr(connection, "proxy", None) is not None:
        return []
    stream = getattr(getattr(response.raw, "_fp", None), "fp", None)
    file = getattr(stream, "raw", None)  # it has the socket if the connection ends with the response
    sock = getattr(connection, "sock", None) or getattr(file, "_sock", None)
    return [str(sock.getpeername()[0])] if isinstance(sock, socket.socket) else []


def _addresses(url: str, proxies: Mapping[str, str] | None) -> list[str]:
    """Return the addresses of a URL's host; none if a proxy looks them up."""
    if select_proxy(url, proxies):
        return []
    parts = urlsplit(url)
    if not parts.hostname:
        return []
    try:
        found = socket.getaddrinfo(unquote(parts.hostname), parts.port, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return []
    return [str(address[0]) for *_, address in found]
