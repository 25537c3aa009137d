"""The urllib handler for ``doi:`` URIs."""

# doiuri.plugins and doiuri.rest are imported in the functions that need them: importing this package then
# takes little longer than importing urllib.request.

from __future__ import annotations

import copy
import io
from contextlib import contextmanager
from functools import partial
from http.client import HTTPException
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.request import AbstractHTTPHandler, BaseHandler, Request

from doiuri import DOI, ResolutionError

from urllib_doiuri._redirects import CREDENTIALS, Redirects, redirects_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message
    from http.client import HTTPResponse
    from typing import IO, Unpack

    from doiuri.plugins.clients import ClientArguments

_MAX_ERROR_BODY = 65_536  # octets read of an error's body


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
        doi = DOI.from_uri(req.full_url + ("#" if vars(req)["fragment"] == "" else ""))  # urllib drops it
        method = req.get_method()
        if method not in {"GET", "HEAD"} or req.data is not None:
            raise ValueError(f"{doi.name}: a DOI is read-only; use GET or HEAD without a body, not {method}")
        added = (value for name, value in self.parent.addheaders if name.lower() == "accept")
        accept: str | bytes | None = req.get_header("Accept", next(added, None))
        try:
            response: HTTPResponse = self.parent.open(self._replacing(req, doi, accept), timeout=req.timeout)
        except URLError:
            raise
        except (OSError, HTTPException) as error:  # urllib lets these through
            raise URLError(error) from error
        except ValueError as error:
            raise URLError(f"{doi.name}: redirected to an invalid URL: {error}") from error
        return response

    def _request(self, redirects: Redirects) -> Request:
        """Return the first request of a chain of ``redirects``."""
        from doiuri.plugins import user_agent

        headers = {"User-agent": user_agent("urllib-doiuri", self.options.settings.mailto)}
        request = Request(redirects.url, headers=headers)  # noqa: S310 - http or https
        request.redirect_dict = redirects  # type: ignore[attr-defined]
        return request

    def _replacing(self, req: Request, doi: DOI, accept: str | bytes | None) -> Request:
        """Return the http or https request that replaces the ``doi:`` request ``req``."""
        url, record = self.options.request_url(doi, accept), self.options.wants_record(accept)
        redirects = Redirects(doi, url, record=record, options=self.options)
        request = self._request(redirects)
        request.method = req.get_method()
        request.unverifiable = req.unverifiable
        agents = (value for name, value in self.parent.addheaders if name.lower() == "user-agent")
        if not all(agent.startswith("Python-urllib/") for agent in agents):
            request.remove_header("User-agent")  # the opener's own
        for headers, add in (
            (req.unredirected_hdrs, request.add_unredirected_header),
            (req.headers, request.add_header),
        ):
            for name, value in headers.items():
                if name in CREDENTIALS:
                    redirects.credentials[name] = value
                elif name != "Host":
                    add(name, value)
        req.redirect_dict = redirects  # type: ignore[attr-defined]
        return request

    def http_request(self, req: Request) -> Request:
        """Refuse a request if it may not be sent; add credentials if it goes to the resolver."""
        redirects = redirects_of(req)
        if redirects is not None:
            from doiuri.plugins.clients import TargetCheck

            if self.options.settings.offline:
                raise URLError(f"{redirects.doi.name}: offline: request not sent")
            redirects.check = TargetCheck(redirects.check.base, self.options.private)
            with _refusals(redirects):
                redirects.check.check_url(req.full_url)
            redirects.add_credentials(req)
        return req

    https_request = ftp_request = http_request  # urllib follows redirects to ftp, too

    def http_open(self, req: Request) -> HTTPResponse | None:
        """Open a request for a DOI with the opener's other handlers; leave any other to them.

        Credentials for other hosts are dropped, and the address that is connected to is checked.
        """
        redirects = redirects_of(req)
        if redirects is None:
            return None
        redirects.drop_credentials(req, self.parent.addheaders)
        handlers: list[BaseHandler] = self.parent.handlers  # type: ignore[attr-defined]
        for handler in handlers[handlers.index(self) + 1 :]:
            if isinstance(handler, AbstractHTTPHandler) and not redirects.is_at_resolver(req.full_url):
                plain, handler = handler, copy.copy(handler)  # noqa: PLW2901
                handler.do_open = partial(redirects.do_open, plain.do_open)  # type: ignore[method-assign]
            method = getattr(handler, f"{req.type}_open", None)
            with _refusals(redirects):
                response: HTTPResponse | None = method and method(req)
            if response is not None:
                return response
        return None

    https_open = http_open

    def http_response(self, req: Request, response: HTTPResponse) -> HTTPResponse:
        """Raise URLError for a web page in place of a record, as a captive portal sends."""
        redirects = redirects_of(req)
        is_page = response.status == 200 and "html" in response.headers.get_content_subtype()
        if redirects is not None and redirects.record and is_page:
            response.close()
            message = f"{req.full_url} returned an HTML page instead of a DOI record"
            raise URLError(f"{redirects.doi.name}: {message}")
        return response

    https_response = http_response

    def http_error_default(self, req: Request, fp: IO[bytes], code: int, msg: str, hdrs: Message) -> None:
        """Raise an HTTPError that names the DOI, with the resolver's explanation as its cause."""
        redirects = redirects_of(req)
        if redirects is None:
            return
        if not redirects.record or not redirects.is_at_resolver(req.full_url):
            raise HTTPError(req.full_url, code, f"{msg} (for {redirects.doi})", hdrs, fp)
        from doiuri.rest import read_record

        with fp:
            body = fp.read(_MAX_ERROR_BODY)
        text, cause = f"{msg} (for {redirects.doi})", None
        try:
            if body:  # HEAD has none
                read_record(redirects.doi, code, body, dict(hdrs.items()))
        except ResolutionError as error:
            text, cause = str(error), error
        raise HTTPError(req.full_url, code, text, hdrs, io.BytesIO(body)) from cause


@contextmanager
def _refusals(redirects: Redirects) -> Iterator[None]:
    """Raise URLError, which names the DOI, for a target that is refused."""
    from doiuri.plugins.clients import TargetError

    try:
        yield
    except TargetError as error:
        raise URLError(f"{redirects.doi.name}: {error}") from error
