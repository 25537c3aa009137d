"""The urllib handler for ``doi:`` URIs, and the requests for one DOI."""

# doiuri.plugins and doiuri.rest are imported in the functions that need them: importing this package then
# takes little longer than importing urllib.request.

from __future__ import annotations

import copy
import io
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.request import AbstractHTTPHandler, BaseHandler, Request

from doiuri import DOI, BadRecord, ResolutionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from email.message import Message
    from typing import IO, Any, Unpack

    from doiuri import Handle
    from doiuri.plugins.clients import ClientArguments, ClientOptions, TargetCheck

_MAX_ERROR_BODY = 65_536  # octets read of an error's body
_CREDENTIALS = ("Authorization", "Cookie")


class Redirects(dict[str, int]):
    """The URLs requested for one DOI, in order, each with the number of requests.

    It is the ``redirect_dict`` of each request: urllib counts visits in it, and hands it on to the request that
    follows a redirect. So each request knows its DOI, and the caller's request shows the URLs. The first URL
    is that of the DOI's ``record``, or the link, which redirects to its target.
    """

    def __init__(
        self, doi: Handle, url: str, options: ClientOptions, *, wants_record: bool
    ) -> None:
        super().__init__({url: 1})
        self.doi = doi
        self.options = options
        self.wants_record = wants_record  # whether the request is for the record
        self._credentials: dict[str, str] = {}
        self.at_resolver = True  # whether the latest request goes to the resolver
        # Whether a redirect has led to another host; a later one may have led back to the resolver
        self._left_resolver = False

    @staticmethod
    def of(request: Request) -> Redirects | None:
        """Return the redirects that ``request`` is part of, or None if it is not for a DOI."""
        redirects = getattr(request, "redirect_dict", None)
        return redirects if isinstance(redirects, Redirects) else None

    def request(self) -> Request:
        """Return the first request."""
        from doiuri.plugins import user_agent

        url = next(iter(self))
        headers = {"User-agent": user_agent("urllib-doiuri", self.options.mailto)}
        request = Request(url, headers=headers)  # noqa: S310 - http or https
        request.redirect_dict = self  # type: ignore[attr-defined]
        return request

    def add_credentials(self, request: Request) -> None:
        """Send the caller's credentials to the resolver only, in headers that are not redirected."""
        self.at_resolver = self.options.is_at_resolver(request.full_url)
        # urllib makes the requests that follow redirects unverifiable; a first one may be opened again
        self._left_resolver = not self.at_resolver or (self._left_resolver and request.unverifiable)
        if not self.at_resolver:
            return
        for name in _CREDENTIALS:
            if name in request.headers:
                self._credentials[name] = request.headers.pop(name)
            if name in self._credentials and self.may_send(name):
                request.add_unredirected_header(name, self._credentials[name])

    def may_send(self, name: str) -> bool:
        """Return whether the request goes to the resolver and, except for cookies, was chosen by it."""
        return self.at_resolver and (name == "Cookie" or not self._left_resolver)


def _checked(handler: Any, check: Callable[[str], None]) -> Any:
    """Return a copy of a handler that checks the peer of a connection before TLS and before the request."""

    class Checked(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            check(str(self.sock.getpeername()[0]))  # urllib closes the connection after an error

    def do_open(http_class: Any, request: Request, **options: object) -> HTTPResponse:
        """Open a request with a checked connection, unless a proxy or the user makes the connection."""
        # urllib makes a proxy the request's host; a function in place of a class is the user's own connection
        has_proxy = request.host != Request(request.full_url).host  # noqa: S310
        if http_class is HTTPConnection and not has_proxy:
            http_class = Checked
        elif isinstance(http_class, type) and not has_proxy:
            # HTTPSConnection.connect calls that of its superclass, and then starts TLS
            http_class = type(http_class.__name__, (http_class, Checked), {})
        return handler.do_open(http_class, request, **options)  # type: ignore[no-any-return]

    copied = copy.copy(handler)
    copied.do_open = do_open
    return copied


class _ReadResponse(HTTPResponse):
    """A response whose body was received already, and can be read by the caller."""

    def __init__(self, response: HTTPResponse, body: bytes) -> None:
        super().__init__(_Body(body))  # type: ignore[arg-type]
        # a handler of the user may have returned an object without some of these attributes
        for name in ("headers", "msg", "status", "code", "reason", "version", "url"):
            setattr(self, name, getattr(response, name, None))
        self.chunked = False
        self.length = len(body)
        self.will_close = True


class _Body:
    """The part of a socket that HTTPResponse needs."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(io.BytesIO(self._body))


class DOIHandler(BaseHandler):
    """A urllib handler that opens ``doi:`` URIs: ``build_opener(DOIHandler())``.

    A request for a DOI goes through the opener's own http and https handlers, with its proxies,
    certificates, cookies and the timeout of the call.

    :param resolver: base URL of the DOI resolver; default ``DOIURI_RESOLVER``, else ``https://doi.org``.
    :param offline: send no requests for DOIs; default ``DOIURI_OFFLINE``, else false.
    :param mailto: mail address for the User-Agent header; default ``DOIURI_MAILTO``, else none.
    :param follow: what to open: the DOI's ``"record"`` (draft-lemieux-doi-uri-scheme-00 §3), or the
        ``"target"`` that it points to. An ``Accept`` header that prefers another type than JSON asks for
        content negotiation instead of the record.
    :param private: whether redirects may lead to this machine or into a private network; default false.
    :raises ValueError: if an option or a variable is invalid. The environment is read here, not later.
    """

    handler_order = 90
    """Before ProxyHandler (100), which handles ``doi:`` too if the environment has a ``doi_proxy``."""

    def __init__(self, resolver: str | None = None, **options: Unpack[ClientArguments]) -> None:
        from doiuri.plugins.clients import ClientOptions

        self.options = ClientOptions.read(resolver, **options)
        """The options in use, those from the environment included."""

    def doi_open(self, req: Request) -> HTTPResponse | None:
        """Open a ``doi:`` request: request the record, or the link, from the resolver.

        :raises ValueError: before any traffic, if the URI is not a strict ``doi:`` URI, the method is not
            GET or HEAD, or there is a body.
        :raises HTTPError: if the response is an HTTP error.
        :raises URLError: if there is no usable response.
        """
        uri = req.full_url
        if vars(req)["fragment"] == "":
            uri += "#"  # urllib drops it
        doi = DOI.from_uri(uri)
        method = req.get_method()
        if method not in {"GET", "HEAD"} or req.data:
            reason = f"a DOI is read-only; use GET or HEAD without a body, not {method}"
            raise ValueError(f"{doi.name}: {reason}")
        request = self._replacing(req, doi)
        try:
            return self.parent.open(request, timeout=req.timeout)  # type: ignore[no-any-return]
        except URLError:
            raise
        except (OSError, HTTPException) as error:  # urllib does not wrap these
            raise URLError(error) from error
        except ValueError as error:
            raise URLError(f"{doi.name}: redirected to an invalid URL: {error}") from error

    def _replacing(self, req: Request, doi: DOI) -> Request:
        """Return the http or https request that replaces the ``doi:`` request ``req``, with its headers."""
        added = {name.capitalize(): value for name, value in self.parent.addheaders}
        accept: str | bytes | None = req.get_header("Accept", added.get("Accept"))
        url = self.options.request_url(doi, accept)
        wants_record = self.options.wants_record(accept)
        redirects = Redirects(doi, url, self.options, wants_record=wants_record)
        req.redirect_dict = redirects  # type: ignore[attr-defined]

        request = redirects.request()
        request.method = req.get_method()
        request.unverifiable = req.unverifiable
        opener_agent = added.get("User-agent", "Python-urllib/")
        if not opener_agent.startswith("Python-urllib/"):
            request.remove_header("User-agent")  # urllib then sends that of the opener
        request.headers.update(req.headers)
        request.unredirected_hdrs.update(req.unredirected_hdrs)
        request.remove_header("Host")
        return request

    def http_request(self, req: Request) -> Request:
        """Refuse a request if it may not be sent; add credentials if it goes to the resolver."""
        redirects = Redirects.of(req)
        if redirects is not None:
            if self.options.offline:
                raise URLError(f"{redirects.doi.name}: offline: request not sent")
            with self._refusals(redirects) as check:
                check.check_url(req.full_url)
            redirects.add_credentials(req)
        return req

    https_request = ftp_request = http_request  # urllib follows redirects to ftp, too

    def http_open(self, req: Request) -> HTTPResponse | None:
        """Open a request for a DOI with the opener's other handlers; leave any other to them.

        Credentials for other hosts are dropped, and the address that is connected to is checked.
        """
        redirects = Redirects.of(req)
        if redirects is None:
            return None

        for added_name, value in self.parent.addheaders:
            name = added_name.capitalize()
            if name not in _CREDENTIALS or redirects.may_send(name):
                continue
            if req.get_header(name) == value:
                req.remove_header(name)
        if redirects.at_resolver:
            return None  # the user has chosen this host, so its address is not checked

        handlers: list[Any] = self.parent.handlers  # type: ignore[attr-defined]
        with self._refusals(redirects) as check:
            check_peer = partial(check.check_peer, req.full_url)
            for other in handlers[handlers.index(self) + 1 :]:
                is_http = isinstance(other, AbstractHTTPHandler)
                handler = _checked(other, check_peer) if is_http else other
                method = getattr(handler, f"{req.type}_open", None)
                if method is None:
                    continue
                response: HTTPResponse | None = method(req)
                if response is not None:
                    return response
        return None

    https_open = http_open

    def http_response(self, req: Request, response: HTTPResponse) -> HTTPResponse:
        """Raise URLError for an answer that is not a record, such as the page of a captive portal."""
        from doiuri.plugins.clients import MAX_RECORD, carries_record, check_record

        redirects = Redirects.of(req)
        if redirects is None or not redirects.wants_record or not carries_record(response.status):
            return response
        try:
            with response:
                body = response.read(MAX_RECORD + 1)
        except (OSError, HTTPException) as error:
            raise URLError(error) from error
        try:
            check_record(
                redirects.doi,
                url=req.full_url,
                method=req.get_method(),
                status=response.status,
                content_type=response.headers.get("Content-Type", ""),
                body=body,
            )
        except BadRecord as error:
            raise URLError(str(error)) from error
        return _ReadResponse(response, body)

    https_response = http_response

    @contextmanager
    def _refusals(self, redirects: Redirects) -> Iterator[TargetCheck]:
        """Yield the check of targets; raise URLError, which names the DOI, for a target that is refused."""
        from doiuri.plugins.clients import TargetCheck, TargetError

        try:
            yield TargetCheck(redirects.options.resolver, self.options.private)
        except TargetError as error:
            raise URLError(f"{redirects.doi.name}: {error}") from error

    def http_error_default(
        self, req: Request, fp: IO[bytes], code: int, msg: str, hdrs: Message
    ) -> None:
        """Raise an HTTPError that names the DOI, with the resolver's explanation as its cause."""
        redirects = Redirects.of(req)
        if redirects is None:
            return

        text = f"{msg} (for {redirects.doi})"
        cause = None
        if redirects.wants_record:
            from doiuri.rest import read_record

            with fp:
                body = fp.read(_MAX_ERROR_BODY)
            fp = io.BytesIO(body)
            try:
                if body:  # HEAD has none
                    read_record(redirects.doi, code, body, dict(hdrs.items()))
            except ResolutionError as error:
                text = str(error)
                cause = error
        raise HTTPError(req.full_url, code, text, hdrs, fp) from cause
