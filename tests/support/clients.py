"""urllib, requests, httpx and httpx2 behind one face; of httpx' clients, the asynchronous ones block."""

from __future__ import annotations

import importlib
import inspect
import pickle
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple, Self, cast
from urllib.error import HTTPError, URLError
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

import httpx
import httpx_doiuri.httpx2
import requests
from anyio.from_thread import BlockingPortal, start_blocking_portal
from doiuri import DOISyntaxError
from httpx_doiuri import AsyncClient
from httpx_doiuri import Client as HTTPXClient
from requests_doiuri import mount
from support.servers.web import Answer
from urllib_doiuri import DOIHandler

TLS = httpx.create_ssl_context()  # takes longer than a test
LIBRARIES = {"httpx": httpx_doiuri, "httpx2": httpx_doiuri.httpx2}
"""What gets ``doi:`` URIs with each of the two, by its name."""

SYNC_KINDS = [f"{library} Client" for library in LIBRARIES]
KINDS = [*SYNC_KINDS, "httpx AsyncClient on asyncio", "httpx2 AsyncClient on trio"]
"""Each library and each event loop; the other two pairs get the same requests in ``test_agreement``."""

CLIENTS = ["urllib", "requests", *SYNC_KINDS]
URI = "doi:10.1000/1"
BIBTEX = "application/x-bibtex"
PAGE = Answer(200, {"Content-Type": "text/html"}, b"<p>the article")
REFUSED = r"10\.1000/1: redirected to .* in a private network; private=True allows it"
TARGETS = {"10.1000/1": "http://x.example/"}
"""Where the resolver of most tests redirects to."""

ALL_CLIENTS = ["urllib", "requests", *KINDS]


class Blocking:
    """An asynchronous client whose coroutines run to their end."""

    def __init__(self, portal: BlockingPortal, client: AsyncClient) -> None:
        vars(self).update(_portal=portal, _client=client)

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._client, name)
        if not inspect.iscoroutinefunction(member):
            return member
        return lambda *args, **options: self._portal.call(partial(member, *args, **options))

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._client, name, value)

    @contextmanager
    def stream(self, *args: Any, **options: Any) -> Iterator[httpx.Response]:
        context = self._client.stream(*args, **options)
        with self._portal.wrap_async_context_manager(context) as response:
            yield response

    def chunks(self, response: httpx.Response) -> Iterator[bytes]:
        chunks = response.aiter_bytes()

        async def following() -> bytes | None:
            return await anext(chunks, None)

        while (chunk := self._portal.call(following)) is not None:
            yield chunk


class HTTPXClients:
    """Opens clients of one kind, and closes them at the end.

    :param kind: one of KINDS.
    """

    def __init__(self, kind: str) -> None:
        library, self.kind = kind.split(" ", 1)
        self.httpx: Any = importlib.import_module(library)
        self.is_async = self.kind != "Client"
        ours: Any = LIBRARIES[library]
        self.type: Any = ours.AsyncClient if self.is_async else ours.Client
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if self.is_async:
            self._portal = self._stack.enter_context(start_blocking_portal(self.kind.split()[-1]))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def open(self, resolver: str | None = None, **options: Any) -> HTTPXClient:
        """Return a client that talks to this resolver."""
        options.setdefault("verify", TLS)
        client = self.type(resolver=resolver, **options)
        if not self.is_async:
            return cast("HTTPXClient", self._stack.enter_context(client))
        self._stack.enter_context(self._portal.wrap_async_context_manager(client))
        return cast("HTTPXClient", Blocking(self._portal, client))

    def transport(self, **options: Any) -> Any:
        """Return the library's transport for such a client."""
        if self.is_async:
            return self.httpx.AsyncHTTPTransport(**options)
        return self.httpx.HTTPTransport(**options)

    def callback(self, function: Callable[..., None]) -> Callable[..., Any]:
        """Return an event hook, or a callback of the trace extension, that calls a function."""
        if not self.is_async:
            return function

        async def call(*args: Any) -> None:
            function(*args)

        return call

    def chunks(self, client: HTTPXClient, response: httpx.Response) -> Iterator[bytes]:
        """Return the parts of a streamed response."""
        return cast("Blocking", client).chunks(response) if self.is_async else response.iter_bytes()


class Reply(NamedTuple):
    """A response after its redirects."""

    status: int
    url: str
    body: bytes
    headers: Mapping[str, str]


class Errors(NamedTuple):
    """What a client raises."""

    no_uri: type[Exception]
    """For what is not a strict ``doi:`` URI."""
    read_only: type[Exception]
    """For another method than GET and HEAD."""
    failed: type[Exception]
    """Without a usable response."""
    any: type[Exception]
    """Whatever the server does: the base class."""


Get = Callable[..., Reply]
"""Takes a URI, ``method``, ``headers`` and ``timeout``, and follows redirects."""


class Client:
    """Opens clients of one of ALL_CLIENTS; ``options`` reads their options."""

    def __init__(self, kind: str, stack: ExitStack) -> None:
        self.kind = kind
        self.package = "httpx-doiuri" if kind in KINDS else f"{kind}-doiuri"
        self.options: Callable[..., object]
        self.digest: Callable[[str, str], object]
        self._stack = stack
        if kind == "urllib":
            self.options = DOIHandler
            self.errors = Errors(DOISyntaxError, ValueError, URLError, URLError)
        elif kind == "requests":
            wrong = requests.exceptions
            self.errors = Errors(
                wrong.InvalidURL,
                wrong.InvalidSchema,
                requests.ConnectionError,
                requests.RequestException,
            )
            self.options = partial(mount, requests.Session())
            self.digest = requests.auth.HTTPDigestAuth
        else:
            self._clients = stack.enter_context(HTTPXClients(kind))
            library = self._clients.httpx
            self.options = self._clients.type
            self.digest = library.DigestAuth
            self.errors = Errors(
                library.InvalidURL,
                library.UnsupportedProtocol,
                library.TransportError,
                library.HTTPError,
            )

    def open(
        self,
        resolver: str | None = None,
        *,
        proxy: str | None = None,
        insecure: bool = False,
        cookie: str | None = None,
        own: Mapping[str, str] | None = None,
        by_hand: bool = False,
        auth: Any = None,
        **options: Any,
    ) -> Get:
        """Return a function that gets a URI.

        :param proxy: an HTTP proxy for http and https.
        :param insecure: accept any certificate.
        :param cookie: the value of a cookie ``own`` of the client, which has no domain.
        :param own: headers of the client, sent with each of its requests.
        :param auth: the client's own authentication.
        :param by_hand: send the request of each redirect in a call of its own, and pickle it before.
        :param options: the client's own ones for DOIs.
        """
        cookies = {"own": cookie} if cookie else {}
        if self.kind == "urllib":
            return _with_urllib(DOIHandler(resolver, **options), proxy, insecure, own or {})
        send: Callable[..., Any]
        follow: Callable[..., Any]
        if self.kind == "requests":
            session = self._stack.enter_context(requests.Session())
            mount(session, resolver, **options)
            session.proxies = {"http": proxy, "https": proxy} if proxy else {}
            session.verify = not insecure
            session.cookies.update(cookies)
            session.headers.update(own or {})
            session.auth = auth
            send = partial(session.request, allow_redirects=not by_hand)
            follow = partial(session.send, allow_redirects=False)
        else:
            options |= {"auth": auth} | ({"proxy": proxy} if proxy else {})
            verify = False if insecure else TLS
            opened = self._clients.open(
                resolver,
                follow_redirects=not by_hand,
                verify=verify,
                cookies=cookies,
                headers=own,
                **options,
            )
            send = opened.request
            follow = opened.send

        def get(uri: str, method: str = "GET", timeout: float = 20, **given: Any) -> Reply:
            response = send(method, uri, timeout=timeout, **given)
            following = "next" if self.kind == "requests" else "next_request"
            while (request := getattr(response, following)) is not None:
                request = pickle.loads(pickle.dumps(request))
                if self.kind != "requests":
                    request.stream = self._clients.httpx.ByteStream(b"")  # httpx does not pickle it
                response = follow(request)
            return Reply(
                response.status_code, str(response.url), response.content, response.headers
            )

        return get


def _with_urllib(
    handler: DOIHandler, proxy: str | None, insecure: bool, own: Mapping[str, str]
) -> Get:
    handlers: list[Any] = [handler]
    if insecure:
        handlers.append(HTTPSHandler(context=httpx.create_ssl_context(verify=False)))
    if proxy:
        handlers.append(ProxyHandler({"http": proxy, "https": proxy}))
    opener = build_opener(*handlers)
    opener.addheaders = [(name.upper(), value) for name, value in own.items()] or opener.addheaders

    def get(
        uri: str, method: str = "GET", headers: Any = (), timeout: float = 20, data: Any = None
    ) -> Reply:
        try:
            response = opener.open(
                Request(uri, data, dict(headers), method=method), timeout=timeout
            )
        except HTTPError as error:
            if error.code < 400:  # a redirect that urllib refuses
                error.close()
                raise
            response = error
        with response:
            return Reply(response.status or 0, response.url, response.read(), response.headers)

    return get


@contextmanager
def client_of(kind: str) -> Iterator[Client]:
    """Yield what opens clients of a kind, and close them at the end."""
    with ExitStack() as stack:
        yield Client(kind, stack)
