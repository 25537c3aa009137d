"""The requests adapter for ``doi:`` URIs."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from doiuri import DOI
from doiuri.plugins import user_agent
from doiuri.plugins.clients import ClientOptions
from requests import exceptions
from requests.adapters import BaseAdapter
from requests.models import Response
from requests.structures import CaseInsensitiveDict
from requests.utils import default_user_agent
from urllib3 import HTTPResponse

from requests_doiuri._redirects import Redirects, own_cookies

if TYPE_CHECKING:
    from typing import Unpack

    from doiuri.plugins.clients import ClientArguments
    from requests import PreparedRequest


class DOIAdapter(BaseAdapter):
    """A transport adapter that answers a ``doi:`` request with a redirect to the resolver.

    The session follows the redirect with its own adapters, proxies, certificates, timeouts and hooks, and
    shows it in ``history``. :func:`mount` is the usual way to add one to a session;
    ``session.mount("doi:", DOIAdapter())`` alone lacks what that adds.

    :param resolver: base URL of the DOI resolver; default ``DOIURI_RESOLVER``, else ``https://doi.org``.
    :param offline: send no requests for DOIs; default ``DOIURI_OFFLINE``, else false.
    :param mailto: mail address for the User-Agent header; default ``DOIURI_MAILTO``, else none.
    :param follow: what to get: the DOI's ``"record"`` (draft-lemieux-doi-uri-scheme-00 §3), or the
        ``"target"`` that it points to. An ``Accept`` header that prefers another type than JSON asks for
        content negotiation instead of the record.
    :param private: whether redirects may lead to this machine or into a private network; default false.
    :raises ValueError: if an option or a variable is invalid. The environment is read here, not later.
    """

    def __init__(self, resolver: str | None = None, **options: Unpack[ClientArguments]) -> None:
        super().__init__()
        self.options = ClientOptions.read(resolver, **options)
        """The options in use, those from the environment included."""

    def send(self, request: PreparedRequest, *_: object, **_options: object) -> Response:
        """Return a redirect to the resolver, without any traffic.

        :raises requests.exceptions.InvalidURL: if the URL is not a strict ``doi:`` URI.
        :raises requests.exceptions.InvalidSchema: if the method is not GET or HEAD, or there is a body.
        :raises requests.exceptions.ConnectionError: if ``offline`` is set.
        """
        prepared = Redirects.of(request)
        try:
            doi = DOI.from_uri(request.url or "")
        except ValueError as error:
            raise exceptions.InvalidURL(str(error), request=request) from error
        if request.method not in {"GET", "HEAD"} or request.body is not None:
            message = f"{doi.name}: a DOI is read-only; use GET or HEAD without a body, not {request.method}"
            raise exceptions.InvalidSchema(message, request=request)
        settings = self.options.settings
        if settings.offline:
            raise exceptions.ConnectionError(f"{doi.name}: offline: request not sent", request=request)
        if request.headers.get("User-Agent") in {None, default_user_agent()}:
            request.headers["User-Agent"] = user_agent("requests-doiuri", settings.mailto)
        # the encoded form: requests appends the fragment of a request's URL to the target
        request.url = doi.uri
        query = prepared.query if prepared is not None and prepared.doi == doi else ""
        redirects = Redirects(doi, query, self.options.target_check(), own_cookies(request, settings.base))
        redirects.set_on(request)
        # At a redirect requests would send cookies without a domain to every host, and a header to none
        request.headers.pop("Cookie", None)
        request.prepare_cookies(redirects.cookies)
        location = self.options.request_url(doi, request.headers.get("Accept"), query)
        return self._redirect(request, {"Location": location, "Content-Length": "0"})

    def close(self) -> None:
        """Do nothing: the adapter has no connections."""

    def _redirect(self, request: PreparedRequest, headers: dict[str, str]) -> Response:
        response, body = Response(), io.BytesIO()
        response.status_code, response.reason = 302, "Found"
        response.url = str(request.url)
        response.headers = CaseInsensitiveDict(headers)
        response.raw = HTTPResponse(body, headers, 302, 11, reason="Found", preload_content=False)
        response.request = request
        if "Authorization" in request.headers:
            # requests drops it if a redirect leads to another host; a doi: URI has none
            response.request = request.copy()
            response.request.url = headers["Location"]
        response.connection = self  # type: ignore[assignment]
        return response
