"""The redirects of a request for a DOI: where they may lead, and what they may carry."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
from doiuri.plugins import TargetError, origin

from httpx_doiuri._peers import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri import DOI
    from doiuri.plugins import ClientOptions, TargetCheck

    from httpx_doiuri._peers import Peers, Place, Trace

_EXTENSION = "doiuri"  # httpx copies the extensions of a request to the one that follows its redirect


@dataclass(frozen=True, slots=True)
class Chain:
    """What the requests for one DOI have in common."""

    doi: DOI
    options: ClientOptions
    check: TargetCheck

    @classmethod
    def set_on(cls, request: httpx.Request, doi: DOI, options: ClientOptions) -> None:
        """Make ``request`` the first of a chain."""
        chain = cls(doi, options, options.target_check())
        request.extensions = {**request.extensions, _EXTENSION: chain}

    @classmethod
    def of(cls, request: httpx.Request) -> Chain | None:
        """Return the chain of a request; None if it is not for a DOI."""
        chain = request.extensions.get(_EXTENSION)
        return chain if isinstance(chain, cls) else None

    def is_at_resolver(self, url: httpx.URL) -> bool:
        """Return whether a URL is one of the resolver."""
        return origin(str(url)) == origin(self.options.settings.base)


class Redirects:
    """The requests that one call of ``send`` makes for a DOI, one after the other."""

    request: httpx.Request
    """The request to send next."""
    auth: Any
    """Its authentication: the caller's at the resolver, none after a redirect to another host."""

    def __init__(
        self,
        client: httpx.Client | httpx.AsyncClient,
        request: httpx.Request,
        auth: Any,
        follow: bool,
        peers: Peers,
        trace: type[Trace],
    ) -> None:
        chain = Chain.of(request)
        assert chain is not None  # noqa: S101 - the caller asked is_for_doi
        self.request = request
        self.auth = auth
        self._chain = chain
        self._client = client
        self._follow = follow
        self._peers = peers
        self._trace = trace
        self._history: list[httpx.Response] = []
        if auth is httpx.USE_CLIENT_DEFAULT:
            self._keep_auth()

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Check the request before it is sent, and make httpx' errors about redirects say which DOI it is.

        :raises httpx.ConnectError: if ``offline`` is set, or if the target must not be requested.
        """
        name, url = self._chain.doi.name, self.request.url
        if self._chain.options.settings.offline:
            raise httpx.ConnectError(f"{name}: offline: request not sent", request=self.request)
        with self._refusals():
            self._chain.check.check_url(str(url))
            address = self._peers.of(url)
            if address is not None:
                self._chain.check.check_peer(str(url), address)
        if not self._chain.check.private:
            self._trace.set_on(self.request, self._peers, self._check_connection)
        try:
            yield
        except httpx.InvalidURL as error:
            message = f"{name}: redirected to an invalid URL: {error}"
            raise httpx.RemoteProtocolError(message, request=self.request) from error

    def follow(self, response: httpx.Response) -> bool:
        """Take a response; return whether another request is to be sent.

        :raises httpx.ConnectError: if the response comes from a private network and must not.
        :raises httpx.TooManyRedirects: after ``max_redirects``.
        """
        self._check_response(response)
        response.history = [*self._history, *response.history]
        following = response.next_request
        if following is None:
            return False
        self._keep_cookies(following)
        if not self._follow:
            return False
        response.next_request = None
        self._history = [*response.history, response]
        self.request = following
        self._keep_auth()
        if len(self._history) > self._client.max_redirects:
            message = f"{self._chain.doi.name}: Exceeded maximum allowed redirects."
            raise httpx.TooManyRedirects(message, request=following)
        return True

    def _keep_auth(self) -> None:
        if not self._chain.is_at_resolver(self.request.url):
            self.auth = httpx.Auth()  # sends requests as they are

    def _keep_cookies(self, following: httpx.Request) -> None:
        """Leave out cookies without a domain, which httpx sends to every host."""
        if self._chain.is_at_resolver(following.url):
            return
        following.headers.pop("Cookie", None)
        cookies = httpx.Cookies()
        for cookie in self._client.cookies.jar:
            if cookie.domain:
                cookies.jar.set_cookie(cookie)
        cookies.set_cookie_header(following)

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except TargetError as error:
            message = f"{self._chain.doi.name}: {error}"
            raise httpx.ConnectError(message, request=self.request) from error

    def _check_connection(self, place: Place, address: str) -> None:
        """Check the peer of a new connection, unless it is a proxy."""
        url = self.request.url
        if place == place_of(url):
            with self._refusals():
                self._chain.check.check_peer(str(url), address)

    def _check_response(self, response: httpx.Response) -> None:
        """Check the peer of a connection that another client opened: it may be a proxy, but nobody knows."""
        url = response.request.url
        address = self._peers.untraced(response)
        if address is not None and not self._chain.is_at_resolver(url):
            with self._refusals():
                self._chain.check.check_peer(str(url), address)
