"""The urllib handler for ``doi:`` URIs."""

# doiuri.plugins and doiuri.rest are imported in the functions that need them: importing this package then
# takes little longer than importing urllib.request.

from __future__ import annotations

import io
from http.client import HTTPException
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import BaseHandler, Request

from doiuri import DOI, ResolutionError

from urllib_doiuri._peers import open_checked, refusals
from urllib_doiuri._redirects import CREDENTIALS, Redirects, redirects_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from email.message import Message
    from http.client import HTTPResponse
    from typing import IO
    from urllib.request import OpenerDirector

    from doiuri import Handle
    from doiuri.plugins import Follow

_MAX_ERROR_BODY = 65_536  # octets read of an error's body
_MAX_QUOTED = 1000  # characters of a Location header that a message repeats


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
    :param private: whether redirects may lead to this machine or into a private network; default only if the
        resolver itself is there.
    :raises ValueError: if an option or a variable is invalid. The environment is read here, not later.
    """

    handler_order = 90
    """Before ProxyHandler (100), which handles ``doi:`` too if the environment has a ``doi_proxy``."""

    def __init__(
        self,
        resolver: str | None = None,
        offline: bool | str | None = None,
        mailto: str | None = None,
        follow: Follow = "record",
        private: bool | None = None,
    ) -> None:
        from doiuri.plugins import ClientOptions, user_agent

        self.options = ClientOptions.read(resolver, offline, mailto, follow, private)
        """The options in use, those from the environment included."""
        settings = self.options.settings
        self._user_agent = user_agent("urllib-doiuri", settings.mailto)
        self._origin_req_host = Request(settings.base).origin_req_host  # noqa: S310 - http or https

    def doi_open(self, req: Request) -> HTTPResponse:
        """Open a ``doi:`` request: request the record, or the link, from the resolver.

        :raises ValueError: before any traffic, if the URI is not a strict ``doi:`` URI, the method is not
            GET or HEAD, or there is a body.
        :raises HTTPError: if the response is an HTTP error.
        :raises URLError: if there is no usable response.
        """
        doi = DOI.from_uri(_uri_as_written(req))
        method = req.get_method()
        if method not in {"GET", "HEAD"} or req.data is not None:
            raise ValueError(f"{doi.name}: a DOI is read-only; use GET or HEAD without a body, not {method}")
        accept = self._accept(req)
        try:
            response: HTTPResponse = self.parent.open(
                self._resolver_request(doi, req, accept), timeout=req.timeout
            )
        except URLError:
            raise
        except (OSError, HTTPException, UnicodeError) as error:  # urllib lets these through
            raise URLError(error) from error
        if self.options.follow == "target":
            self._check_target(doi, accept, response)
        return response

    def record_request(
        self,
        doi: Handle,
        *,
        type: str | Sequence[str] = (),  # noqa: A002 - the API's own word
        index: int | Sequence[int] = (),
        auth: bool = False,
        cert: bool = False,
    ) -> Request:
        """Return a request for the record of ``doi``, as :func:`urllib_doiuri.record_request` does."""
        from doiuri.rest import record_url

        base = self.options.settings.base
        url = record_url(doi, base=base, type=type, index=index, auth=auth, cert=cert)
        return self._request(Redirects(doi, url, record=True, check=self.options.target_check()))

    def _request(self, redirects: Redirects) -> Request:
        """Return the first request of a chain of ``redirects``."""
        request = Request(  # noqa: S310 - http or https
            redirects.url,
            headers={"User-agent": self._user_agent},
            origin_req_host=self._origin_req_host,
        )
        request.redirect_dict = redirects  # type: ignore[attr-defined]
        return request

    def _resolver_request(self, doi: DOI, req: Request, accept: str | bytes | None) -> Request:
        """Return the http or https request that replaces the ``doi:`` request ``req``."""
        url = self.options.request_url(doi, accept)
        record = self.options.wants_record(accept)
        redirects = Redirects(doi, url, record=record, check=self.options.target_check())
        request = self._request(redirects)
        request.method = req.get_method()
        request.unverifiable = req.unverifiable
        if _has_own_user_agent(self.parent):
            request.remove_header("User-agent")
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

    def _accept(self, req: Request) -> str | bytes | None:
        """Return the request's Accept header, or else the one that the opener adds to every request."""
        added = (value for name, value in self.parent.addheaders if name.lower() == "accept")
        accept: str | bytes | None = req.get_header("Accept", next(added, None))
        return accept

    def _check_target(self, doi: DOI, accept: str | bytes | None, response: HTTPResponse) -> None:
        """Raise URLError if the resolver answered with its own page about the DOI: there was no redirect."""
        from doiuri.plugins import DOI_ORG, wants_record

        base, url = self.options.settings.base + "/", response.geturl()
        # An opener may be set to return redirects and errors as responses.
        if not url.startswith(base) or response.status >= 300 or not wants_record(accept):
            return
        try:
            DOI.from_url(f"{DOI_ORG}/{url.removeprefix(base)}")
        except ValueError:
            return
        response.close()
        raise URLError(f"{doi.name}: the DOI has no URL to open")

    def http_request(self, req: Request) -> Request:
        """Refuse a request if it may not be sent; add credentials if it goes to the resolver."""
        redirects = redirects_of(req)
        if redirects is not None:
            if self.options.settings.offline:
                raise URLError(f"{redirects.doi.name}: offline: request not sent")
            with refusals(redirects):
                redirects.check.check_url(req.full_url)
            redirects.add_credentials(req)
        return req

    https_request = http_request

    def http_open(self, req: Request) -> HTTPResponse | None:
        """Open a request for a DOI with the opener's other handlers; leave any other to them.

        Credentials for other hosts are dropped, and the address that is connected to is checked.
        """
        redirects = redirects_of(req)
        if redirects is None:
            return None
        redirects.drop_credentials(req, self.parent.addheaders)
        return open_checked(self, req, redirects)

    https_open = http_open

    def http_response(self, req: Request, response: HTTPResponse) -> HTTPResponse:
        """Raise URLError for a page in place of a record (a captive portal) and for unsafe redirects."""
        redirects = redirects_of(req)
        if redirects is not None and (problem := _problem(redirects, response)):
            response.close()
            raise URLError(f"{redirects.doi.name}: {req.full_url} {problem}")
        return response

    https_response = http_response

    def http_error_default(self, req: Request, fp: IO[bytes], code: int, msg: str, hdrs: Message) -> None:
        """Raise an HTTPError that names the DOI, with the resolver's explanation as its cause."""
        redirects = redirects_of(req)
        if redirects is None:
            return
        if not redirects.record or not redirects.is_to_resolver(req):
            raise HTTPError(req.full_url, code, f"{msg} (for {redirects.doi})", hdrs, fp)
        with fp:
            body = fp.read(_MAX_ERROR_BODY)
        cause = _resolution_error(redirects.doi, code, body, hdrs)
        text = f"{msg} (for {redirects.doi})" if cause is None else str(cause)
        raise HTTPError(req.full_url, code, text, hdrs, io.BytesIO(body)) from cause


def _uri_as_written(request: Request) -> str:
    """Return the URI with its fragment: urllib splits it off, and ``full_url`` lacks an empty one."""
    return request.full_url + ("#" if vars(request)["fragment"] == "" else "")


def _has_own_user_agent(opener: OpenerDirector) -> bool:
    """Return whether ``addheaders`` has another User-Agent than urllib's default."""
    return any(
        name.lower() == "user-agent" and not value.startswith("Python-urllib/")
        for name, value in opener.addheaders
    )


def _problem(redirects: Redirects, response: HTTPResponse) -> str:
    """Return why a response is unusable, or ""."""
    if response.status == 200:
        media_type = response.headers.get("Content-Type", "").partition(";")[0].lower()
        is_page = redirects.record and "html" in media_type
        return "returned an HTML page instead of a DOI record" if is_page else ""
    if not 300 <= response.status < 400:
        return ""
    location = response.headers.get("Location") or response.headers.get("URI") or ""
    if _can_follow(location):
        return ""
    return f"redirects to {location[:_MAX_QUOTED]!r}, which is not an http or https URL"


def _can_follow(location: str) -> bool:
    """Return whether a redirect stays on the web; urllib would follow one to ftp, or fail on a bad URL."""
    try:
        parts = urlsplit(location)
        _ = parts.port  # raises ValueError if it is invalid
    except ValueError:
        return False
    return not parts.scheme or (parts.scheme in {"http", "https"} and bool(parts.hostname))


def _resolution_error(doi: Handle, status: int, body: bytes, headers: Message) -> ResolutionError | None:
    """Return what the resolver's error says about ``doi``; None if the body is empty, as for HEAD."""
    from doiuri.rest import read_record

    if not body:
        return None
    try:
        read_record(doi, status, body, dict(headers.items()))
    except ResolutionError as error:
        return error
    return None
