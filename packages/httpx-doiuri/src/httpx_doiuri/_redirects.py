"""The requests for one DOI: where they may lead, and what they may carry."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
from doiuri import DOI
from doiuri.plugins.clients import TargetError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri.plugins.clients import ClientOptions


class Chain(NamedTuple):
    """What is known of a request for a DOI: the first one, or one that follows a redirect."""

    doi: DOI
    left: bool = False
    """Whether a redirect has led to another host; a later one may have led back to the resolver."""

    def set_on(self, request: httpx.Request) -> None:
        vars(request)["_doiuri"] = self  # pickle keeps attributes, but not extensions

    @staticmethod
    def of(request: httpx.Request) -> Chain | None:
        return vars(request).get("_doiuri")


class Redirects:
    """The requests that one call of ``send`` makes for a DOI, one after the other.

    :param auth: the authentication at the resolver; there is none after a redirect to another host.
    :param follow: whether to follow redirects.
    """

    def __init__(
        self,
        client: httpx.Client | httpx.AsyncClient,
        options: ClientOptions,
        request: httpx.Request,
        chain: Chain,
        auth: Any,
        follow: bool | object,
    ) -> None:
        self.request = request  # the one to send next
        self.auth = auth
        self._chain = chain
        self._check = options.target_check()
        self._client = client
        self._options = options
        self._follow = client.follow_redirects if follow is httpx.USE_CLIENT_DEFAULT else follow
        self._history: list[httpx.Response] = []
        if auth is httpx.USE_CLIENT_DEFAULT:
            self._drop_auth()

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Check the request, and each connection that is opened for it.

        :raises httpx.ConnectError: if ``offline`` is set, or if the target must not be requested.
        """
        request, given = self.request, self.request.extensions
        if self._options.settings.offline:
            message = f"{self._chain.doi.name}: offline: request not sent"
            raise httpx.ConnectError(message, request=request)
        is_async = isinstance(self._client, httpx.AsyncClient)
        trace = (_AsyncTrace if is_async else _Trace)(self, given.get("trace"))
        try:
            self._check.check_url(str(request.url))
            request.extensions = {**given, "trace": trace}
            yield
        except TargetError as error:
            raise httpx.ConnectError(f"{self._chain.doi.name}: {error}", request=request) from error
        except httpx.InvalidURL as error:  # which is no HTTPError, as if the caller's URL were wrong
            message = f"{self._chain.doi.name}: redirected to an invalid URL: {error}"
            raise httpx.RemoteProtocolError(message, request=request) from error
        finally:
            request.extensions = given  # another client may send it later

    def follow(self, response: httpx.Response) -> bool:
        """Take a response; return whether another request is to be sent.

        :raises httpx.TooManyRedirects: after ``max_redirects``.
        """
        response.history = [*self._history, *response.history]
        following = response.next_request
        if following is None:
            return False
        following.extensions = {**self.request.extensions}  # without our trace
        at_resolver = self._options.is_at_resolver(str(following.url))
        self._chain = Chain(self._chain.doi, self._chain.left or not at_resolver)
        self._chain.set_on(following)
        if not at_resolver:
            self._keep_cookies(following)
        if not self._follow:
            return False
        response.next_request = None
        self._history = [*response.history, response]
        self.request = following
        self._drop_auth()
        if len(self._history) > self._client.max_redirects:
            message = f"{self._chain.doi.name}: Exceeded maximum allowed redirects."
            raise httpx.TooManyRedirects(message, request=following)
        return True

    def check_peer(self, place: tuple[str, int], stream: Any) -> None:
        """Check the peer of a new connection, unless it is a proxy's, or a Unix socket."""
        url, peer = self.request.url, stream.get_extra_info("server_addr")
        port = url.port or {"http": 80, "https": 443}.get(url.scheme)
        if isinstance(peer, tuple) and place == (url.raw_host.decode("ascii"), port):
            self._check.check_peer(str(url), str(peer[0]))

    def _drop_auth(self) -> None:
        """Send no credentials to other hosts, nor to the resolver with a request that such a host chose."""
        if self._chain.left or not self._options.is_at_resolver(str(self.request.url)):
            self.auth = httpx.Auth()  # sends requests as they are

    def _keep_cookies(self, following: httpx.Request) -> None:
        """Leave out cookies without a domain, which httpx sends to every host."""
        following.headers.pop("Cookie", None)
        cookies = httpx.Cookies()
        for cookie in self._client.cookies.jar:
            if cookie.domain:
                cookies.jar.set_cookie(cookie)
        cookies.set_cookie_header(following)


class _Trace:
    """A callback of httpcore's ``trace`` extension: it refuses a new connection before anything is sent."""

    def __init__(self, redirects: Redirects, given: Any) -> None:
        self._redirects = redirects
        self._given = given  # the caller's own callback
        self._place = ("", 0)

    def __call__(self, name: str, info: dict[str, Any]) -> Any:
        try:
            self._note(name, info)
        except TargetError:
            info["return_value"].close()
            raise
        return None if self._given is None else self._given(name, info)

    def _note(self, name: str, info: dict[str, Any]) -> None:
        if name.endswith(".connect_tcp.started"):
            self._place = info["host"], info["port"]
        elif name.endswith(".connect_tcp.complete"):
            self._redirects.check_peer(self._place, info["return_value"])


class _AsyncTrace(_Trace):
    async def __call__(self, name: str, info: dict[str, Any]) -> None:
        try:
            self._note(name, info)
        except TargetError:
            await info["return_value"].aclose()
            raise
        if self._given is not None:
            await self._given(name, info)
