"""httpx' clients, extended for ``doi:`` URIs."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
from doiuri import DOI, DOISyntaxError
from doiuri.plugins import user_agent
from doiuri.plugins.clients import ClientOptions, TargetCheck, TargetError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from httpx._client import BaseClient
else:
    BaseClient = object

_DEFAULT_AGENT = f"python-httpx/{httpx.__version__}"


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
        client: Client | AsyncClient,
        request: httpx.Request,
        chain: Chain,
        auth: Any,
        follow: bool | object,
    ) -> None:
        self.request = request  # the one to send next
        self.auth = auth
        self._chain = chain
        self._client = client
        self._options = client.doi_options
        self._check = self._options.target_check()
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
        trace = (_AsyncTrace if is_async else _Trace)(self._check, request.url, given.get("trace"))
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
    """A callback of httpcore's ``trace`` extension: it refuses a new connection before anything is sent.

    The peer of a connection to a proxy, or to a Unix socket, is not checked.
    """

    def __init__(self, check: TargetCheck, url: httpx.URL, given: Any) -> None:
        self._check = check
        self._url = url
        self._given = given  # the caller's own callback
        self._is_direct = False

    def __call__(self, name: str, info: dict[str, Any]) -> Any:
        try:
            self._note(name, info)
        except TargetError:
            info["return_value"].close()
            raise
        return None if self._given is None else self._given(name, info)

    def _note(self, name: str, info: dict[str, Any]) -> None:
        if name.endswith(".connect_tcp.started"):
            port = self._url.port or {"http": 80, "https": 443}.get(self._url.scheme)
            self._is_direct = (info["host"], info["port"]) == (self._url.raw_host.decode("ascii"), port)
        elif name.endswith(".connect_tcp.complete") and self._is_direct:
            peer = info["return_value"].get_extra_info("server_addr")
            self._check.check_peer(str(self._url), str(peer[0]))


class _AsyncTrace(_Trace):
    async def __call__(self, name: str, info: dict[str, Any]) -> None:
        try:
            self._note(name, info)
        except TargetError:
            await info["return_value"].aclose()
            raise
        if self._given is not None:
            await self._given(name, info)


class _DOIClient(BaseClient):
    """What both clients add to httpx' own."""

    def __init__(
        self,
        *,
        resolver: str | None = None,
        offline: bool | str | None = None,
        mailto: str | None = None,
        follow: Literal["record", "target"] = "record",
        private: bool | None = None,
        **options: Any,  # httpx does not export the types of its own
    ) -> None:
        self.doi_options = ClientOptions.read(resolver, offline, mailto, follow, private)
        """The options for DOIs in use, those from the environment included."""
        self._doi_params = options.get("params")
        super().__init__(**options)

    @property
    def params(self) -> httpx.QueryParams:
        """The parameters of all requests. For DOIs they are encoded as those of a single request."""
        return super().params

    @params.setter
    def params(self, params: Any) -> None:
        self._doi_params = params  # as the caller gave them: httpx turns True into "true"
        httpx.Client.params.fset(self, params)  # type: ignore[attr-defined]

    def build_request(self, method: str, url: httpx.URL | str, **options: Any) -> httpx.Request:
        """Return a request as httpx' client does; for a ``doi:`` URI, one to the resolver.

        :param url: any URL, or a strict ``doi:`` URI, as a string.
        :raises httpx.InvalidURL: if a ``doi:`` URI is not strict, with the position and the repaired form.
        :raises httpx.UnsupportedProtocol: if a DOI is requested by another method than GET or HEAD, or with a
            body.
        """
        if isinstance(url, httpx.URL) or str(url)[:4].lower() != "doi:":
            _refuse_doi(url)
            return super().build_request(method, url, **options)
        try:
            doi = DOI.from_uri(str(url))
        except DOISyntaxError as error:
            raise httpx.InvalidURL(str(error)) from error
        headers = httpx.Headers(self.headers)
        headers.update(options.get("headers"))
        query = self._query(options.pop("params", None))
        location = self.doi_options.request_url(doi, headers.get("Accept"), query)
        request = super().build_request(method, location, **options)
        has_body = request.headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in request.headers
        if request.method not in {"GET", "HEAD"} or has_body:
            message = f"{doi.name}: a DOI is read-only; use GET or HEAD without a body, not {request.method}"
            raise httpx.UnsupportedProtocol(message, request=request)
        request.url = httpx.URL(location)  # without the client's params, as httpx encodes them
        if request.headers.get("User-Agent") in {None, _DEFAULT_AGENT}:
            request.headers["User-Agent"] = user_agent("httpx-doiuri", self.doi_options.settings.mailto)
        Chain(doi).set_on(request)
        return request

    def _query(self, given: Any) -> str:
        """Return the query for the client's parameters, those ``given`` replacing them by name."""
        query, own = (
            ClientOptions.query(params.multi_items() if isinstance(params, httpx.QueryParams) else params)
            for params in (given, self._doi_params)
        )
        replaced = httpx.QueryParams(query).keys()
        kept = [part for part in own.split("&") if not httpx.QueryParams(part).keys() & replaced]
        return "&".join(part for part in (*kept, query) if part)


def _refuse_doi(url: httpx.URL | str) -> None:
    if isinstance(url, httpx.URL) and url.scheme == "doi":
        advice = "pass the doi: URI to the client as a string: httpx.URL changes names such as 10.1000/../x"
        raise httpx.InvalidURL(f"{str(url)!r:.200}: {advice}")


class Client(_DOIClient, httpx.Client):
    """An ``httpx.Client`` that gets ``doi:`` URIs. Other arguments than these are those of ``httpx.Client``.

    A ``doi:`` request is sent to the resolver. As with any URL, redirects are followed only with
    ``follow_redirects=True``: without it, a request that is not for the record returns the resolver's
    redirect, whose ``next_request`` leads to the target.

    >>> client = Client(resolver="https://doi.org", follow="target", follow_redirects=True)
    >>> client.build_request("GET", "doi:10.1000/456%23789").url
    URL('https://doi.org/10.1000/456%23789')

    :param resolver: base URL of the DOI resolver; default ``DOIURI_RESOLVER``, else ``https://doi.org``.
    :param offline: send no requests for DOIs; default ``DOIURI_OFFLINE``, else false.
    :param mailto: mail address for the User-Agent header; default ``DOIURI_MAILTO``, else none.
    :param follow: what to get: the DOI's ``"record"`` (draft-lemieux-doi-uri-scheme-00 §3), or the
        ``"target"`` that it points to. An ``Accept`` header that prefers another type than JSON asks for
        content negotiation instead of the record.
    :param private: whether redirects may lead to this machine or into a private network; default false.
    :raises ValueError: if an option or a variable is invalid. The environment is read here, not later.
    """

    def send(
        self,
        request: httpx.Request,
        *,
        stream: bool = False,
        auth: Any = httpx.USE_CLIENT_DEFAULT,
        follow_redirects: Any = httpx.USE_CLIENT_DEFAULT,
    ) -> httpx.Response:
        """Return the response to a request; for a DOI, credentials are sent to the resolver only.

        :raises httpx.ConnectError: for a DOI, if ``offline`` is set, or if a redirect must not be followed.
        """
        chain = Chain.of(request)
        if chain is None:
            _refuse_doi(request.url)
            return super().send(request, stream=stream, auth=auth, follow_redirects=follow_redirects)
        redirects = Redirects(self, request, chain, auth, follow_redirects)
        while True:
            with redirects.sending():
                response = super().send(
                    redirects.request, stream=True, auth=redirects.auth, follow_redirects=False
                )
            try:
                goes_on = redirects.follow(response)
                if goes_on or not stream:
                    response.read()
            except BaseException:
                response.close()
                raise
            if not goes_on:
                return response


class AsyncClient(_DOIClient, httpx.AsyncClient):
    """An ``httpx.AsyncClient`` that gets ``doi:`` URIs; for the arguments and options see :class:`Client`.

    It runs on asyncio and on trio, as httpx does.
    """

    async def send(
        self,
        request: httpx.Request,
        *,
        stream: bool = False,
        auth: Any = httpx.USE_CLIENT_DEFAULT,
        follow_redirects: Any = httpx.USE_CLIENT_DEFAULT,
    ) -> httpx.Response:
        """Return the response to a request; see :meth:`Client.send`."""
        chain = Chain.of(request)
        if chain is None:
            _refuse_doi(request.url)
            return await super().send(request, stream=stream, auth=auth, follow_redirects=follow_redirects)
        redirects = Redirects(self, request, chain, auth, follow_redirects)
        while True:
            with redirects.sending():
                response = await super().send(
                    redirects.request, stream=True, auth=redirects.auth, follow_redirects=False
                )
            try:
                goes_on = redirects.follow(response)
                if goes_on or not stream:
                    await response.aread()
            except BaseException:
                await response.aclose()
                raise
            if not goes_on:
                return response
