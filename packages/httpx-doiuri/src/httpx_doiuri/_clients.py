"""What the clients of httpx and httpx2 need for ``doi:`` URIs."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

from doiuri import DOI, BadRecord, DOISyntaxError
from doiuri.plugins import user_agent
from doiuri.plugins.clients import ClientOptions, TargetError, check_record, is_about_the_doi

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Literal

    from doiuri.plugins.clients import TargetCheck

    Server = tuple[str, int]

RequestT = TypeVar("RequestT")
ResponseT = TypeVar("ResponseT")


class Chain(NamedTuple):
    """What is known of a request for a DOI: the first one, or one that follows a redirect."""

    doi: DOI
    record: bool
    """Whether the request is for the record."""
    left: bool = False
    """Whether a redirect has led to another host; a later one may have led back to the resolver."""
    auth_headers: frozenset[str] = frozenset()
    """The names of the headers that an authentication has set, for the resolver."""

    def set_on(self, request: Any) -> None:
        vars(request)["_doiuri"] = self  # pickle keeps attributes, but not extensions

    @staticmethod
    def of(request: object) -> Chain | None:
        return vars(request).get("_doiuri")


class Redirects:
    """The requests that one call of ``send`` makes for a DOI, one after the other.

    :param options: those of ``send``. There is no authentication after a redirect to another host.
    """

    def __init__(self, client: Any, request: Any, chain: Chain, options: dict[str, Any]) -> None:
        self.request = request  # the one to send next
        self.options = {**options, "stream": True, "follow_redirects": False}
        self._httpx = client._httpx
        self._chain = chain
        self._client = client
        self._check = client.doi_options.target_check()
        default = self._httpx.USE_CLIENT_DEFAULT
        follow = options.get("follow_redirects", default)
        self._follow = client.follow_redirects if follow is default else follow
        self._history: list[Any] = []
        if options.get("auth", default) is default:
            self._drop_auth()

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Check the request, and the peer of its connection.

        :raises httpx.ConnectError: if ``offline`` is set, or if the target must not be requested.
        :raises httpx.RemoteProtocolError: if the URL of a redirect is invalid.
        """
        httpx, request = self._httpx, self.request
        name = self._chain.doi.name
        if self._client.doi_options.offline:
            raise httpx.ConnectError(f"{name}: offline: request not sent", request=request)
        headers = request.headers.copy()
        watch = GuardedPeers(self._client._private_peers, self._check, request.url)
        try:
            self._check.check_url(str(request.url))
            with self._client._traced(request, watch):
                yield
        except TargetError as error:
            raise httpx.ConnectError(f"{name}: {error}", request=request) from error
        # InvalidURL is no HTTPError, as if the caller's URL were wrong; UnicodeError comes from idna
        except (httpx.InvalidURL, UnicodeError) as error:
            message = f"{name}: redirected to an invalid URL: {error}"
            raise httpx.RemoteProtocolError(message, request=request) from error
        changed = {key for key, value in request.headers.items() if headers.get(key) != value}
        changed -= {"cookie", "host"}  # which each redirect sets anew
        self._chain = self._chain._replace(auth_headers=self._chain.auth_headers | changed)

    def follow(self, response: Any) -> bool:
        """Take a response; return whether another request is to be sent.

        :raises httpx.TooManyRedirects: after ``max_redirects``.
        :raises httpx.RemoteProtocolError: if an invalid redirect is to be followed.
        """
        response.history = [*self._history, *response.history]
        following = response.next_request
        if following is None:
            if (
                self._follow and response.has_redirect_location
            ):  # httpx2 ignores an invalid Location
                message = f"{self._chain.doi.name}: redirected to an invalid URL"
                raise self._httpx.RemoteProtocolError(message, request=self.request)
            return False
        following.extensions = {**self.request.extensions}  # without our trace
        at_resolver = self._client.doi_options.is_at_resolver(str(following.url))
        if not at_resolver:
            self._chain = self._chain._replace(left=True)
            self._keep_cookies(following)
        if self._chain.left:
            for name in ("Authorization", *self._chain.auth_headers):
                following.headers.pop(name, None)
        self._chain.set_on(following)
        if not self._follow:
            return False
        response.next_request = None
        self._history = [*response.history, response]
        self.request = following
        self._drop_auth()
        if len(self._history) > self._client.max_redirects:
            message = f"{self._chain.doi.name}: Exceeded maximum allowed redirects."
            raise self._httpx.TooManyRedirects(message, request=following)
        return True

    def is_record(self, response: Any) -> bool:
        """Return whether a response should be the record, or the statement that there is none."""
        return self._chain.record and is_about_the_doi(response.status_code)

    def check_record(self, response: Any) -> None:
        """Check the response that should be the record, whose body has been read.

        :raises httpx.RemoteProtocolError: if it is not; the message names the host.
        """
        try:
            check_record(
                self._chain.doi,
                url=str(response.url),
                method=self.request.method,
                status=response.status_code,
                content_type=response.headers.get("Content-Type", ""),
                body=response.content,
            )
        except BadRecord as error:
            raise self._httpx.RemoteProtocolError(str(error), request=self.request) from error

    def _drop_auth(self) -> None:
        """Send no credentials to other hosts, nor to the resolver with a request that such a host chose."""
        if self._chain.left or not self._client.doi_options.is_at_resolver(str(self.request.url)):
            self.options["auth"] = self._httpx.Auth()  # sends requests as they are

    def _keep_cookies(self, following: Any) -> None:
        """Leave out cookies without a domain, which httpx sends to every host."""
        following.headers.pop("Cookie", None)
        cookies = self._httpx.Cookies()
        for cookie in self._client.cookies.jar:
            if cookie.domain:
                cookies.jar.set_cookie(cookie)
        cookies.set_cookie_header(following)


class Peers:
    """Notes which servers a client has connected to in a private network, for its later requests.

    It takes the events of httpcore's ``trace`` extension. httpcore keeps connections, and has no event that
    shows the peer of a kept one.

    :param private: the address of each such server, by its host and port.
    """

    def __init__(self, private: dict[Server, str], check: TargetCheck) -> None:
        self._private = private
        self._check = check
        self._server = ("", 0)  # of the connection that is being made

    def __call__(self, name: str, info: dict[str, Any]) -> None:
        if name.endswith(".connect_tcp.started"):
            self._server = info["host"], info["port"]
        elif name.endswith(".connect_tcp.complete"):
            peer = info["return_value"].get_extra_info("server_addr")
            self.connected(self._server, str(peer[0]))

    def connected(self, server: Server, address: str) -> None:
        host, port = server
        place = f"[{host}]" if ":" in host else host
        try:
            self._check.check_peer(f"http://{place}:{port}", address)
        except TargetError:
            self._private[server] = address


class GuardedPeers(Peers):
    """Also refuses the connection of a request for a DOI, before anything is sent.

    The peer of a connection to a proxy, or to a Unix socket, is not checked.

    :param url: the URL of the request.
    """

    def __init__(self, private: dict[Server, str], check: TargetCheck, url: Any) -> None:
        super().__init__(private, check)
        self._url = str(url)
        port = url.port or {"http": 80, "https": 443}.get(url.scheme)
        self._target = url.raw_host.decode("ascii"), port

    def __call__(self, name: str, info: dict[str, Any]) -> None:
        super().__call__(name, info)
        if name.endswith(".send_request_headers.started") and self._target in self._private:
            self._check.check_peer(self._url, self._private[self._target])

    def connected(self, server: Server, address: str) -> None:
        if server == self._target:
            self._check.check_peer(self._url, address)
        else:
            super().connected(server, address)


class _Trace:
    """A callback of httpcore's ``trace`` extension; it closes a new connection that is refused."""

    def __init__(self, peers: Peers, given: Any) -> None:
        self._peers = peers
        self._given = given  # the caller's own callback

    def __call__(self, name: str, info: dict[str, Any]) -> Any:
        try:
            self._peers(name, info)
        except TargetError:
            if "return_value" in info:
                info["return_value"].close()
            raise
        return None if self._given is None else self._given(name, info)


class _AsyncTrace(_Trace):
    async def __call__(self, name: str, info: dict[str, Any]) -> None:
        try:
            self._peers(name, info)
        except TargetError:
            if "return_value" in info:
                await info["return_value"].aclose()
            raise
        if self._given is not None:
            await self._given(name, info)


class DOIClient(Generic[RequestT, ResponseT]):
    """What all clients add to those of httpx or httpx2."""

    _httpx: ModuleType
    _trace: type[_Trace]

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
        self._private_peers: dict[Server, str] = {}
        super().__init__(**options)

    if not TYPE_CHECKING:  # each library has its own type

        @property
        def params(self):
            """The parameters of all requests. For DOIs they are encoded as those of a single request."""
            return super().params

        @params.setter
        def params(self, params):
            self._doi_params = params  # as the caller gave them: httpx turns True into "true"
            self._httpx.Client.params.fset(self, params)

    def build_request(self, method: str, url: object, **options: Any) -> RequestT:
        """Return a request as httpx' client does; for a ``doi:`` URI, one to the resolver.

        :param url: any URL, or a strict ``doi:`` URI, as a string.
        :raises httpx.InvalidURL: if a ``doi:`` URI is not strict, with the position and the repaired form.
        :raises httpx.UnsupportedProtocol: if a DOI is requested by another method than GET or HEAD, or with a
            body.
        """
        httpx, client, above = self._httpx, cast("Any", self), cast("Any", super())
        if isinstance(url, httpx.URL) or str(url)[:4].lower() != "doi:":
            self._refuse_doi(url)
            return cast("RequestT", above.build_request(method, url, **options))
        try:
            doi = DOI.from_uri(str(url))
        except DOISyntaxError as error:
            raise httpx.InvalidURL(str(error)) from error
        headers = httpx.Headers(client.headers)
        headers.update(options.get("headers"))
        query = self._query(options.pop("params", None))
        location = self.doi_options.request_url(doi, headers.get("Accept"), query)
        request = above.build_request(method, location, **options)
        has_body = (
            request.headers.get("Content-Length", "0") != "0"
            or "Transfer-Encoding" in request.headers
        )
        if request.method not in {"GET", "HEAD"} or has_body:
            message = f"{doi.name}: a DOI is read-only; use GET or HEAD without a body, not {request.method}"
            raise httpx.UnsupportedProtocol(message, request=request)
        request.url = httpx.URL(location)  # without the client's params, as httpx encodes them
        request.headers["Host"] = request.url.netloc.decode("ascii")  # a doi: URI has no other
        if request.headers.get("User-Agent") in {
            None,
            f"python-{httpx.__name__}/{httpx.__version__}",
        }:
            request.headers["User-Agent"] = user_agent("httpx-doiuri", self.doi_options.mailto)
        Chain(doi, self.doi_options.wants_record(headers.get("Accept"))).set_on(request)
        return cast("RequestT", request)

    def _query(self, given: Any) -> str:
        """Return the query for the client's parameters, those ``given`` replacing them by name."""
        params_type = self._httpx.QueryParams
        query, own = (
            ClientOptions.query(params.multi_items() if isinstance(params, params_type) else params)
            for params in (given, self._doi_params)
        )
        replaced = params_type(query).keys()
        kept = [part for part in own.split("&") if not params_type(part).keys() & replaced]
        return "&".join(part for part in (*kept, query) if part)

    def _refuse_doi(self, url: Any) -> None:
        if isinstance(url, self._httpx.URL) and url.scheme == "doi":
            how = "pass the doi: URI to the client as a string: httpx.URL changes names such as 10.1000/../x"
            raise self._httpx.InvalidURL(f"{str(url)!r:.200}: {how}")

    @contextmanager
    def _traced(self, request: Any, peers: Peers) -> Iterator[None]:
        """Give a request our callback of the trace extension while it is sent: others may send it later."""
        given = request.extensions
        request.extensions = {**given, "trace": self._trace(peers, given.get("trace"))}
        try:
            yield
        finally:
            request.extensions = given

    def _peers(self) -> Peers:
        """Return what notes the peers of a request that is not for a DOI."""
        return Peers(self._private_peers, self.doi_options.target_check())

    @staticmethod
    def _untraced(response: Any, request: Any) -> Any:
        """Return a response; the requests that followed redirects get the extensions of the first one."""
        for earlier in (*response.history, response):
            earlier.request.extensions = {**request.extensions}
        if response.next_request is not None:
            response.next_request.extensions = {**request.extensions}
        return response

    def _redirects(self, request: Any, options: dict[str, Any]) -> Redirects | None:
        """Return the requests to send for a DOI; None if the request is for something else."""
        if (chain := Chain.of(request)) is not None:
            return Redirects(self, request, chain, options)
        self._refuse_doi(request.url)
        return None


class SyncDOIClient(DOIClient[RequestT, ResponseT]):
    """What the synchronous clients add."""

    _trace = _Trace

    def send(self, request: RequestT, *, stream: bool = False, **options: Any) -> ResponseT:
        """Return the response to a request; for a DOI, credentials are sent to the resolver only.

        :param options: ``auth`` and ``follow_redirects``, as httpx takes them.
        :raises httpx.ConnectError: for a DOI, if ``offline`` is set, or if a redirect must not be followed.
        """
        above: Any = super()
        redirects = self._redirects(request, options)
        if redirects is None:
            with self._traced(request, self._peers()):
                response = above.send(request, stream=stream, **options)
            return cast("ResponseT", self._untraced(response, request))
        while True:
            with redirects.sending():
                response = above.send(redirects.request, **redirects.options)
            try:
                goes_on = redirects.follow(response)
                is_record = redirects.is_record(response)
                if goes_on or is_record or not stream:
                    response.read()
                if is_record:
                    redirects.check_record(response)
            except BaseException:
                response.close()
                raise
            if not goes_on:
                return cast("ResponseT", response)


class AsyncDOIClient(DOIClient[RequestT, ResponseT]):
    """What the asynchronous clients add."""

    _trace = _AsyncTrace

    async def send(self, request: RequestT, *, stream: bool = False, **options: Any) -> ResponseT:
        """Return the response to a request; see :meth:`httpx_doiuri.Client.send`."""
        above: Any = super()
        redirects = self._redirects(request, options)
        if redirects is None:
            with self._traced(request, self._peers()):
                response = await above.send(request, stream=stream, **options)
            return cast("ResponseT", self._untraced(response, request))
        while True:
            with redirects.sending():
                response = await above.send(redirects.request, **redirects.options)
            try:
                goes_on = redirects.follow(response)
                is_record = redirects.is_record(response)
                if goes_on or is_record or not stream:
                    await response.aread()
                if is_record:
                    redirects.check_record(response)
            except BaseException:
                await response.aclose()
                raise
            if not goes_on:
                return cast("ResponseT", response)
