"""The redirects of a request for a DOI: where they may lead, and what they may carry."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
from doiuri import DOI
from doiuri.plugins import TargetError, origin

from httpx_doiuri._peers import address_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from doiuri.plugins import ClientOptions, TargetCheck

    from httpx_doiuri._peers import Peers, Trace

_EXTENSION = "doiuri"  # httpx copies the extensions of a request to the one that follows its redirect
_ATTRIBUTE = "_doiuri"  # pickle keeps the attributes of a request, but not its extensions
_MAX_QUOTED = 200  # characters of a URL that a message repeats


@dataclass(frozen=True, slots=True)
class Chain:
    """What is known of a request for a DOI: the first one, or one that follows a redirect."""

    doi: DOI
    left: bool = False
    """Whether a redirect has led to another host; a later one may have led back to the resolver."""
    check: TargetCheck | None = None
    """The check of the whole chain; None for its first request, and for one that was pickled."""

    def set_on(self, request: httpx.Request) -> None:
        """Make a request part of the chain."""
        request.extensions = {**request.extensions, _EXTENSION: self}
        vars(request)[_ATTRIBUTE] = (self.doi.name, self.left)

    @classmethod
    def of(cls, request: httpx.Request) -> Chain | None:
        """Return the chain of a request; None if it is not for a DOI."""
        chain = request.extensions.get(_EXTENSION)
        if isinstance(chain, cls):
            return chain
        name, left = vars(request).get(_ATTRIBUTE, (None, False))
        return None if name is None else cls(DOI(name), left)


class Redirects:
    """The requests that one call of ``send`` makes for a DOI, one after the other."""

    request: httpx.Request
    """The request to send next."""
    auth: Any
    """Its authentication: the caller's at the resolver, none after a redirect to another host."""

    def __init__(
        self,
        client: httpx.Client | httpx.AsyncClient,
        options: ClientOptions,
        peers: Peers,
        request: httpx.Request,
        auth: Any,
        follow: bool,
    ) -> None:
        chain = Chain.of(request)
        assert chain is not None  # noqa: S101 - the caller asked is_for_doi
        self.request = request
        self.auth = auth
        self._doi = chain.doi
        self._left = chain.left
        self._check = chain.check or options.target_check()
        self._client = client
        self._options = options
        self._peers = peers
        self._follow = follow
        self._history: list[httpx.Response] = []
        if auth is httpx.USE_CLIENT_DEFAULT:
            self._drop_auth()

    @contextmanager
    def sending(self) -> Iterator[Trace]:
        """Check the request, and trace it while it is sent.

        :raises httpx.ConnectError: if ``offline`` is set, or if the target must not be requested.
        :raises httpx.UnsupportedProtocol: if the target is not an http or https URL.
        """
        name, url = self._doi.name, self.request.url
        if self._options.settings.offline:
            raise httpx.ConnectError(f"{name}: offline: request not sent", request=self.request)
        if url.scheme not in {"http", "https"}:
            message = f"{name}: redirected to {_quoted(url)}, which is not an http or https URL"
            raise httpx.UnsupportedProtocol(message, request=self.request)
        with self._refusals():
            self._check.check_url(str(url))
        with self._peers.traced(self.request, self._check_connections) as trace:
            yield trace

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
        self._left = self._left or not self._is_at_resolver(following.url)
        Chain(self._doi, self._left, self._check).set_on(following)
        self._keep_cookies(following)
        if not self._follow:
            return False
        response.next_request = None
        self._history = [*response.history, response]
        self.request = following
        self._drop_auth()
        if len(self._history) > self._client.max_redirects:
            message = f"{self._doi.name}: Exceeded maximum allowed redirects."
            raise httpx.TooManyRedirects(message, request=following)
        return True

    def _is_at_resolver(self, url: httpx.URL) -> bool:
        return origin(str(url)) == origin(self._options.settings.base)

    def _drop_auth(self) -> None:
        """Send no credentials to other hosts, nor to the resolver with a request that such a host chose."""
        if self._left or not self._is_at_resolver(self.request.url):
            self.auth = httpx.Auth()  # sends requests as they are

    def _keep_cookies(self, following: httpx.Request) -> None:
        """Leave out cookies without a domain, which httpx sends to every host."""
        if self._is_at_resolver(following.url):
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
            message = f"{self._doi.name}: {error}"
            raise httpx.ConnectError(message, request=self.request) from error

    def _check_connections(self) -> None:
        """Check the connections that the request may use: httpcore does not tell which one it will be."""
        url = self.request.url
        if not self._is_at_resolver(url):
            with self._refusals():
                for address in self._peers.addresses_of(url):
                    self._check.check_peer(str(url), address)

    def _check_response(self, response: httpx.Response) -> None:
        """Check the peer of a response, since now it is certain.

        If the client did not open the connection, the peer may be a proxy: that does not make the resolver
        private, but a target is refused.
        """
        url = response.request.url
        peer = self._peers.of(response)
        if self._is_at_resolver(url):
            address = peer.address if peer is not None and peer.serves(url) else None
        elif peer is None:
            address = address_of(response.extensions.get("network_stream"))
        else:
            return  # a proxy, or checked before
        if address is not None:
            with self._refusals():
                self._check.check_peer(str(url), address)


def following_request(
    build: Callable[[httpx.Request, httpx.Response], httpx.Request],
    request: httpx.Request,
    response: httpx.Response,
) -> httpx.Request:
    """Return the request that follows a redirect, as httpx builds it.

    :param build: httpx' method.
    :raises httpx.RemoteProtocolError: if the Location header of a response for a DOI is not a URL. httpx
        raises ``httpx.InvalidURL`` for some, as if the caller's URL were wrong, and lets ValueErrors through.
    """
    chain = Chain.of(request)
    if chain is None:
        return build(request, response)
    try:
        following = build(request, response)
        origin(str(following.url))  # httpx does not check the range of the port,
        following.url.raw_host.decode("ascii").encode("idna")  # nor the labels of the host
    except (httpx.InvalidURL, ValueError) as error:
        location = _quoted(response.headers["Location"])
        message = f"{chain.doi.name}: redirected to an invalid URL: {location}: {error}"
        raise httpx.RemoteProtocolError(message, request=request) from error
    return following


def _quoted(url: httpx.URL | str) -> str:
    return f"{str(url)[:_MAX_QUOTED]!r}"
