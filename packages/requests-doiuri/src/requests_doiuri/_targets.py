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

    cookie_host: str
    """The resolver's host, as http.cookiejar writes it."""

    def __init__(self, doi: Handle, check: TargetCheck, cookie_host: str) -> None:
        self.cookie_host = cookie_host
        self._doi = doi
        self._check = check

    @classmethod
    def set_on(cls, request: PreparedRequest, doi: Handle, check: TargetCheck, cookie_host: str) -> None:
        """Add the hook to a ``doi:`` request; requests copies it to those that follow."""
        others = [hook for hook in request.hooks.get("response", ()) if not isinstance(hook, cls)]
        request.hooks = {**request.hooks, "response": [*others, cls(doi, check, cookie_host)]}

    @classmethod
    def of(cls, request: PreparedRequest) -> TargetHook | None:
        """Return the hook of a request; None if it is not for a DOI."""
        return next((hook for hook in request.hooks.get("response", ()) if isinstance(hook, cls)), None)

    def __call__(
        self, response: Response, *, proxies: Mapping[str, str] | None = None, **_options: object
    ) -> None:
        """Check the peer of a response, and where it leads to if it is a redirect.

        :raises requests.exceptions.ConnectionError: if one of them is in a private network, and must not be,
            or if the redirect does not lead to a URL.
        :raises requests.exceptions.InvalidSchema: if it leads to a URL that is not http or https.
        """
        try:
            url = str(response.request.url)
            # A SOCKS proxy cannot be told from its connection: that looks like one to the target
            peer = [] if select_proxy(url, proxies) else _peer(response)
            for address in peer or _addresses(url, proxies):
                self._check.check_peer(url, address)
            if response.is_redirect:
                self._check_target(response, proxies)
        except TargetError as error:
            response.close()
            message = f"{self._doi.name}: {error}"
            raise exceptions.ConnectionError(message, request=response.request, response=response) from error

    def _check_target(self, response: Response, proxies: Mapping[str, str] | None) -> None:
        target = _target(response)
        if urlsplit(target).scheme not in {"http", "https"}:  # the session may have an adapter for it
            response.close()
            message = f"{self._doi.name}: redirected to {target[:80]!r}, which is not an http or https URL"
            raise exceptions.InvalidSchema(message, request=response.request, response=response)
        if not self._check.private:
            self._check.check_url(target)
            for address in _addresses(target, proxies):
                self._check.check_peer(target, address)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as a hook that does nothing: a cache may be read where this package is not installed."""
        return partial, (dispatch_hook, "response", {})


def _target(response: Response) -> str:
    """Return the URL that a redirect leads to; requests reads the header as UTF-8 too.

    :raises TargetError: if it is not a URL. requests lets some of these errors through as they are.
    """
    header = response.headers["Location"]
    try:
        target = urljoin(response.url, header.encode("latin-1").decode("utf-8"))
        parts = urlsplit(target)
        _ = parts.port
        if parts.netloc.isascii():
            (parts.hostname or "").encode("idna")  # checks the lengths of the labels
    except ValueError as error:
        raise TargetError(f"redirected to an invalid URL: {header[:80]!r}") from error
    return target


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
