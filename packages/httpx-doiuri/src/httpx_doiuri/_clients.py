"""The ``doi:`` URIs of the clients for httpx and httpx2."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

from doiuri import DOI, BadRecord, DOISyntaxError
from doiuri.plugins import user_agent
from doiuri.plugins.clients import ClientOptions, TargetError, carries_record, check_record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Literal

    from doiuri.plugins.clients import TargetCheck

    Server = tuple[str, int]

_DEFAULT_PORTS = {"http": 80, "https": 443}

RequestT = TypeVar("RequestT")
ResponseT = TypeVar("ResponseT")


class Chain(NamedTuple):
    """What is known about a request for a DOI: the first one, or one that follows a redirect."""

    doi: DOI
    wants_record: bool
    """Whether the request is for the record."""
    left_resolver: bool = False
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

    There is no authentication after a redirect to another host.

    :param options: those of ``send``.
    """

    def __init__(self, client: Any, request: Any, chain: Chain, options: dict[str, Any]) -> None:
        self.request = request  # the next one to send
        self.options = {**options, "stream": True, "follow_redirects": False}
        self._httpx = client._httpx
        self._chain = chain
        self._client = client
        self._check = client.doi_options.target_check()
        self._history: list[Any] = []

        default = self._httpx.USE_CLIENT_DEFAULT
        follow = options.get("follow_redirects", default)
        self._follow = client.follow_redirects if follow is default else follow
        if options.get("auth", default) is default:
            self._drop_authentication()

    @contextmanager
    def sending(self) -> Iterator[Any]:
        """Check the request, and the peer of its connection; yield what to send.

        :raises httpx.ConnectError: if ``offline`` is set, or if the target must not be requested.
        :raises httpx.RemoteProtocolError: if the URL of a redirect is invalid.
        """
        httpx = self._httpx
        request = self.request
        name = self._chain.doi.name
        if self._client.doi_options.offline:
            raise httpx.ConnectError(f"{name}: offline: request not sent", request=request)

        before = request.headers.copy()
        peers = GuardedPeers(self._client._private_peers, self._check, request.url)
        try:
            self._check.check_url(str(request.url))
            with self._client._traced(request, peers) as traced:
                yield traced
        except TargetError as error:
            raise httpx.ConnectError(f"{name}: {error}", request=request) from error
        # InvalidURL is not an HTTPError, since it usually means the caller's URL; UnicodeError comes from idna
        except (httpx.InvalidURL, UnicodeError) as error:
            message = f"{name}: redirected to an invalid URL: {error}"
            raise httpx.RemoteProtocolError(message, request=request) from error
        self._note_auth_headers(before)

    def _note_auth_headers(self, before: Any) -> None:
        """Note which headers an authentication has set on the request while it was sent."""
        after = self.request.headers.items()
        changed = {name for name, value in after if before.get(name) != value}
        changed -= {"cookie", "host"}  # set anew after each redirect
        auth_headers = self._chain.auth_headers | changed
        self._chain = self._chain._replace(auth_headers=auth_headers)

    def follow(self, response: Any) -> bool:
        """Take a response; return whether another request is to be sent, which is then ``request``.

        :raises httpx.TooManyRedirects: after ``max_redirects``.
        :raises httpx.RemoteProtocolError: if an invalid redirect is to be followed.
        """
        response.history = [*self._history, *response.history]
        following = response.next_request
        if following is None:
            if self._follow and response.has_redirect_location:
                # httpx2 ignores an invalid Location
                message = f"{self._chain.doi.name}: redirected to an invalid URL"
                raise self._httpx.RemoteProtocolError(message, request=self.request)
            return False
        self._protect(following)
        if not self._follow:
            return False  # the caller may send the response's next_request

        response.next_request = None
        self._history = [*response.history, response]
        self.request = following
        self._drop_authentication()
        if len(self._history) > self._client.max_redirects:
            message = f"{self._chain.doi.name}: Exceeded maximum allowed redirects."
            raise self._httpx.TooManyRedirects(message, request=following)
        return True

    def _protect(self, following: Any) -> None:
        """Remove from a request that follows a redirect what its host must not get, and hand on the chain."""
        following.extensions = {**self.request.extensions}  # without our trace
        if not self._client.doi_options.is_at_resolver(str(following.url)):
            self._chain = self._chain._replace(left_resolver=True)
            self._set_cookies(following)
        if self._chain.left_resolver:
            for name in ("Authorization", *self._chain.auth_headers):
                following.headers.pop(name, None)
        self._chain.set_on(following)

    def is_record(self, response: Any) -> bool:
        """Return whether a response should be the record, or the statement that there is none."""
        return self._chain.wants_record and carries_record(response.status_code)

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

    def _drop_authentication(self) -> None:
        """Send no credentials to other hosts, nor to the resolver with a request that another host chose."""
        at_resolver = self._client.doi_options.is_at_resolver(str(self.request.url))
        if self._chain.left_resolver or not at_resolver:
            self.options["auth"] = self._httpx.Auth()  # sends requests as they are

    def _set_cookies(self, following: Any) -> None:
        """Send only the cookies that have a domain; httpx sends the others to every host."""
        following.headers.pop("Cookie", None)
        cookies = self._httpx.Cookies()
        for cookie in self._client.cookies.jar:
            if cookie.domain:
                cookies.jar.set_cookie(cookie)
        cookies.set_cookie_header(following)


class Peers:
    """The servers in a private network that a client has connected to, for its later requests.

    It gets the events of httpcore's ``trace`` extension. httpcore keeps connections open, and no event shows
    the peer of a kept one.

    :param private: the address of each such server, by its host and port.
    """

    def __init__(self, private: dict[Server, str], check: TargetCheck) -> None:
        self._private = private
        self._check = check
        self._server = ("", 0)  # of the connection that is being made

    def __call__(self, name: str, info: dict[str, Any]) -> None:
        """Take an event, such as ``connection.connect_tcp.complete``, whose ``info`` has the new connection."""
        if name.endswith(".connect_tcp.started"):
            self._server = (info["host"], info["port"])
        elif name.endswith(".connect_tcp.complete"):
            peer = info["return_value"].get_extra_info("server_addr")
            self.connected(self._server, str(peer[0]))

    def connected(self, server: Server, address: str) -> None:
        """Note a server whose address is in a private network."""
        host, port = server
        place = f"[{host}]" if ":" in host else host
        try:
            self._check.check_peer(f"http://{place}:{port}", address)
        except TargetError:
            self._private[server] = address


class GuardedPeers(Peers):
    """The same for a request for a DOI: it also refuses its connection, before anything is sent.

    The peer of a connection to a proxy, or to a Unix socket, is not checked.

    :param url: the URL of the request.
    """

    def __init__(self, private: dict[Server, str], check: TargetCheck, url: Any) -> None:
        super().__init__(private, check)
        self._url = str(url)
        port = url.port or _DEFAULT_PORTS.get(url.scheme)
        self._target = (url.raw_host.decode("ascii"), port)

    def __call__(self, name: str, info: dict[str, Any]) -> None:
        super().__call__(name, info)
        if name.endswith(".send_request_headers.started") and self._target in self._private:
            self._check.check_peer(self._url, self._private[self._target])

    def connected(self, server: Server, address: str) -> None:
        """Refuse the server of the request if its address is in a private network; note any other."""
        if server == self._target:
            self._check.check_peer(self._url, address)
        else:
            super().connected(server, address)


class _Trace:
    """A callback of httpcore's ``trace`` extension; it closes a new connection that is refused."""

    def __init__(self, peers: Peers, callback: Any) -> None:
        self._peers = peers
        self._callback = callback  # the caller's own; None if there is none

    def __call__(self, name: str, info: dict[str, Any]) -> Any:
        """Check the event, then pass it to the caller's callback; raise TargetError if its server is refused."""
        try:
            self._peers(name, info)
        except TargetError:
            if "return_value" in info:
                info["return_value"].close()
            raise
        if self._callback is None:
            return None
        return self._callback(name, info)  # httpcore refuses a coroutine from a synchronous client


class _AsyncTrace(_Trace):
    """The same for an asynchronous client."""

    async def __call__(self, name: str, info: dict[str, Any]) -> None:
        """Check the event, then pass it to the caller's callback; raise TargetError if its server is refused."""
        try:
            self._peers(name, info)
        except TargetError:
            if "return_value" in info:
                await info["return_value"].aclose()
            raise
        if self._callback is not None:
            await self._callback(name, info)


def _has_body(request: Any) -> bool:
    length = request.headers.get("Content-Length", "0")
    return length != "0" or "Transfer-Encoding" in request.headers


class DOIClient(Generic[RequestT, ResponseT]):
    """The base of all clients: it adds ``doi:`` URIs to those of httpx or httpx2."""

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
        httpx = self._httpx
        above: Any = super()
        if isinstance(url, httpx.URL) or str(url)[:4].lower() != "doi:":
            self._refuse_doi(url)
            return cast("RequestT", above.build_request(method, url, **options))
        try:
            doi = DOI.from_uri(str(url))
        except DOISyntaxError as error:
            raise httpx.InvalidURL(str(error)) from error

        headers = httpx.Headers(cast("Any", self).headers)
        headers.update(options.get("headers"))
        query = self._query(options.pop("params", None))
        accept = headers.get("Accept")
        location = self.doi_options.request_url(doi, accept, query)
        request = above.build_request(method, location, **options)
        if request.method not in {"GET", "HEAD"} or _has_body(request):
            reason = f"a DOI is read-only; use GET or HEAD without a body, not {request.method}"
            raise httpx.UnsupportedProtocol(f"{doi.name}: {reason}", request=request)

        request.url = httpx.URL(location)  # without the client's params, as httpx encodes them
        request.headers["Host"] = request.url.netloc.decode("ascii")  # a doi: URI has no other
        default_agent = f"python-{httpx.__name__}/{httpx.__version__}"
        if request.headers.get("User-Agent") in {None, default_agent}:
            request.headers["User-Agent"] = user_agent("httpx-doiuri", self.doi_options.mailto)
        Chain(doi, self.doi_options.wants_record(accept)).set_on(request)
        return cast("RequestT", request)

    def _query(self, given: Any) -> str:
        """Return the query with the client's parameters, except for those replaced by a ``given`` one.

        ``type=URL&index=1`` of the client and a given ``index=2`` are ``type=URL&index=2``.
        """
        query_params = self._httpx.QueryParams
        query = self._encoded(given)
        replaced = query_params(query).keys()
        parts = []
        for part in self._encoded(self._doi_params).split("&"):
            if query_params(part).keys().isdisjoint(replaced):
                parts.append(part)
        parts.append(query)
        return "&".join(filter(None, parts))

    def _encoded(self, params: Any) -> str:
        if isinstance(params, self._httpx.QueryParams):
            params = params.multi_items()
        return ClientOptions.query(params)

    def _refuse_doi(self, url: Any) -> None:
        """Raise InvalidURL if a ``doi:`` URI was given as an ``httpx.URL``."""
        if isinstance(url, self._httpx.URL) and url.scheme == "doi":
            how = "pass the doi: URI to the client as a string: httpx.URL changes names such as 10.1000/../x"
            raise self._httpx.InvalidURL(f"{str(url)!r:.200}: {how}")

    @contextmanager
    def _traced(self, request: Any, peers: Peers) -> Iterator[Any]:
        """Yield a copy of a request to send, whose ``trace`` extension calls our callback until it is sent.

        Afterwards the copy, which the response keeps, has the caller's extensions. The caller's own request is
        left as it is: several threads may send it at once.
        """
        extensions = request.extensions
        traced = object.__new__(type(request))
        vars(traced).update(vars(request))  # copy.copy drops the stream, as pickle does
        traced.extensions = {**extensions, "trace": self._trace(peers, extensions.get("trace"))}
        try:
            yield traced
        finally:
            traced.extensions = extensions

    def _peers(self) -> Peers:
        """Return the peers of a request that is not for a DOI, which are noted but not refused."""
        return Peers(self._private_peers, self.doi_options.target_check())

    @staticmethod
    def _untraced(response: Any, request: Any) -> Any:
        """Return a response; the requests that followed redirects get the extensions of the first one."""
        for answered in (*response.history, response):
            answered.request.extensions = {**request.extensions}
        if response.next_request is not None:
            response.next_request.extensions = {**request.extensions}
        return response

    def _redirects(self, request: Any, options: dict[str, Any]) -> Redirects | None:
        """Return the requests to send for a DOI; None if the request is for something else."""
        chain = Chain.of(request)
        if chain is not None:
            return Redirects(self, request, chain, options)
        self._refuse_doi(request.url)
        return None


class SyncDOIClient(DOIClient[RequestT, ResponseT]):
    """The base of the synchronous clients."""

    _trace = _Trace

    def send(self, request: RequestT, *, stream: bool = False, **options: Any) -> ResponseT:
        """Return the response to a request; for a DOI, credentials are sent to the resolver only.

        :param options: ``auth`` and ``follow_redirects``, as httpx takes them.
        :raises httpx.ConnectError: for a DOI, if ``offline`` is set, or if a redirect must not be followed.
        """
        above: Any = super()
        redirects = self._redirects(request, options)
        if redirects is None:
            with self._traced(request, self._peers()) as traced:
                response = above.send(traced, stream=stream, **options)
            return cast("ResponseT", self._untraced(response, request))
        while True:
            with redirects.sending() as traced:
                response = above.send(traced, **redirects.options)
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
    """The base of the asynchronous clients."""

    _trace = _AsyncTrace

    async def send(self, request: RequestT, *, stream: bool = False, **options: Any) -> ResponseT:
        """Return the response to a request; see :meth:`httpx_doiuri.Client.send`."""
        above: Any = super()
        redirects = self._redirects(request, options)
        if redirects is None:
            with self._traced(request, self._peers()) as traced:
                response = await above.send(traced, stream=stream, **options)
            return cast("ResponseT", self._untraced(response, request))
        while True:
            with redirects.sending() as traced:
                response = await above.send(traced, **redirects.options)
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
