"""urllib, requests, httpx and httpx2 behind one face, for the tests of what all of them promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

import httpx
import requests
from doiuri import DOISyntaxError
from requests_doiuri import DOIAdapter, mount
from support.clients.httpx import KINDS, SYNC_KINDS, TLS, Clients
from support.servers.web import Answer
from urllib_doiuri import DOIHandler

CLIENTS = ["urllib", "requests", *SYNC_KINDS]
URI = "doi:10.1000/182"
BIBTEX = "application/x-bibtex"
PAGE = Answer(200, {"Content-Type": "text/html"}, b"<p>the article")
SECRETS = {"Authorization": "Bearer s3cret", "Cookie": "session=s3cret"}
REFUSED = r"10\.1000/1: redirected to .* in a private network; private=True allows it"
TARGETS = {"10.1000/182": "http://x.example/"}
"""Where the resolver of most tests redirects to."""

PARAMS: list[tuple[Any, str]] = [
    (None, ""),
    ({}, ""),
    ({"type": "URL"}, "?type=URL"),
    ({"type": ["URL", "EMAIL"], "index": (1, 2)}, "?type=URL&type=EMAIL&index=1&index=2"),
    ([("type", "URL"), ("type", "10320/loc")], "?type=URL&type=10320%2Floc"),
    ({"auth": True, "cert": False, "type": None}, "?auth"),
    ({"type": "a b+c&d=e#f"}, "?type=a%20b%2Bc%26d%3De%23f"),
    ({"type": "Á"}, "?type=%C3%81"),
    ("type=URL&index=1", "?type=URL&index=1"),
    (b"type=a b", "?type=a%20b"),
    ("", ""),
]
"""The ``params=`` of a request, in the forms that requests and httpx take, and the query for the proxy."""

ALL_CLIENTS = ["urllib", "requests", *KINDS]


class Reply(NamedTuple):
    """A response after its redirects."""

    status: int
    url: str
    body: bytes
    headers: Mapping[str, str]


class Errors(NamedTuple):
    """What a client raises."""

    no_uri: type[Exception]
    """For anything but a strict ``doi:`` URI."""
    read_only: type[Exception]
    """For other methods than GET and HEAD."""
    failed: type[Exception]
    """If there is no response that may be used."""


Get = Callable[..., Reply]
"""Takes a URI, ``method``, ``headers`` and ``timeout``, and follows redirects."""


class Client:
    """Opens clients of one kind.

    :param kind: one of ALL_CLIENTS.
    """

    def __init__(self, kind: str, stack: ExitStack) -> None:
        self.kind = kind
        self.package = "httpx-doiuri" if kind in KINDS else f"{kind}-doiuri"
        self._stack = stack
        self.errors: Errors
        self.options: Callable[..., object]
        """What reads the options."""
        if kind == "urllib":
            self.errors, self.options = Errors(DOISyntaxError, ValueError, URLError), DOIHandler
        elif kind == "requests":
            wrong = requests.exceptions
            self.errors = Errors(wrong.InvalidURL, wrong.InvalidSchema, requests.ConnectionError)
            self.options = DOIAdapter
        else:
            self._clients = clients = stack.enter_context(Clients(kind))
            library = clients.httpx
            self.errors = Errors(library.InvalidURL, library.UnsupportedProtocol, library.TransportError)
            self.options = clients.type

    def open(
        self,
        resolver: str | None = None,
        *,
        proxy: str | None = None,
        insecure: bool = False,
        cookie: str | None = None,
        **options: Any,
    ) -> Get:
        """Return a function that gets a URI.

        :param proxy: an HTTP proxy for http and https.
        :param insecure: accept any certificate.
        :param cookie: the value of a cookie ``own`` of the client, which has no domain.
        :param options: the client's own ones for DOIs.
        """
        if self.kind == "urllib":
            return self._urllib(DOIHandler(resolver, **options), proxy, insecure)
        if self.kind == "requests":
            return self._requests(mount(requests.Session(), resolver, **options), proxy, insecure, cookie)
        transport = {"proxy": proxy} if proxy else {}
        cookies = {"cookies": {"own": cookie}} if cookie else {}
        client = self._clients.open(
            resolver,
            follow_redirects=True,
            verify=False if insecure else TLS,
            **transport,
            **cookies,
            **options,
        )

        def get(uri: str, method: str = "GET", timeout: float = 20, **given: Any) -> Reply:
            response = client.request(method, uri, timeout=timeout, **given)
            return Reply(response.status_code, str(response.url), response.content, response.headers)

        return get

    def _urllib(self, handler: DOIHandler, proxy: str | None, insecure: bool) -> Get:
        handlers: list[Any] = [handler]
        if insecure:
            handlers.append(HTTPSHandler(context=httpx.create_ssl_context(verify=False)))
        if proxy:
            handlers.append(ProxyHandler({"http": proxy, "https": proxy}))
        opener = build_opener(*handlers)

        def get(
            uri: str,
            method: str = "GET",
            headers: Mapping[str, str] = {},
            timeout: float = 20,
            data: Any = None,
        ) -> Reply:
            try:
                request = Request(uri, data, dict(headers), method=method)
                response = opener.open(request, timeout=timeout)
            except HTTPError as error:
                if error.code < 400:  # a redirect that urllib refuses
                    error.close()
                    raise
                response = error
            with response:
                return Reply(response.status or 0, response.url, response.read(), response.headers)

        return get

    def _requests(
        self, session: requests.Session, proxy: str | None, insecure: bool, cookie: str | None
    ) -> Get:
        self._stack.enter_context(session)
        session.proxies = {"http": proxy, "https": proxy} if proxy else {}
        session.verify = not insecure
        if cookie:
            session.cookies.set("own", cookie)

        def get(uri: str, method: str = "GET", timeout: float = 20, **given: Any) -> Reply:
            response = session.request(method, uri, timeout=timeout, allow_redirects=True, **given)
            return Reply(response.status_code, response.url, response.content, response.headers)

        return get


@contextmanager
def client_of(kind: str) -> Iterator[Client]:
    """Yield what opens clients of a kind, and close them at the end."""
    with ExitStack() as stack:
        yield Client(kind, stack)
