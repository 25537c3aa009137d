"""The requests adapter for ``doi:`` URIs."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from doiuri.plugins import ClientOptions, user_agent
from requests import exceptions
from requests.adapters import BaseAdapter
from requests.models import Response
from requests.structures import CaseInsensitiveDict
from requests.utils import default_user_agent
from urllib3 import HTTPResponse

from requests_doiuri._cookies import bind_cookies, cookie_host
from requests_doiuri._targets import TargetHook
from requests_doiuri._url import DOIURL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doiuri.plugins import Follow
    from requests import PreparedRequest


class DOIAdapter(BaseAdapter):
    """A transport adapter that answers a ``doi:`` request with a redirect to the resolver.

    The session follows the redirect with its own adapters, proxies, certificates, timeouts and hooks, and
    shows it in ``history``. :func:`mount` is the usual way to add one to a session; with
    ``session.mount("doi:", DOIAdapter())`` alone, requests drops ``params=``.

    :param resolver: base URL of the DOI resolver; default ``DOIURI_RESOLVER``, else ``https://doi.org``.
    :param offline: send no requests for DOIs; default ``DOIURI_OFFLINE``, else false.
    :param mailto: mail address for the User-Agent header; default ``DOIURI_MAILTO``, else none.
    :param follow: what to get: the DOI's ``"record"`` (draft-lemieux-doi-uri-scheme-00 §3), or the
        ``"target"`` that it points to. An ``Accept`` header that prefers another type than JSON asks for
        content negotiation instead of the record.
    :param private: whether redirects may lead to this machine or into a private network; default only if the
        resolver itself is there.
    :raises ValueError: if an option or a variable is invalid. The environment is read here, not later.
    """

    def __init__(
        self,
        resolver: str | None = None,
        offline: bool | str | None = None,
        mailto: str | None = None,
        follow: Follow = "record",
        private: bool | None = None,
    ) -> None:
        super().__init__()
        self.options = ClientOptions.read(resolver, offline, mailto, follow, private)
        """The options in use, those from the environment included."""
        settings = self.options.settings
        self._host = cookie_host(settings.base)
        self._user_agent = user_agent("requests-doiuri", settings.mailto)

    def send(
        self,
        request: PreparedRequest,
        stream: bool = False,  # noqa: ARG002 - the session passes these five on to the request that follows
        timeout: object = None,  # noqa: ARG002
        verify: object = True,  # noqa: ARG002
        cert: object = None,  # noqa: ARG002
        proxies: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> Response:
        """Return a redirect to the resolver, without any traffic.

        :raises requests.exceptions.InvalidURL: if the URL is not a strict ``doi:`` URI.
        :raises requests.exceptions.InvalidSchema: if the method is not GET or HEAD, or there is a body.
        :raises requests.exceptions.ConnectionError: if ``offline`` is set.
        """
        try:
            url = DOIURL.of(request)
        except ValueError as error:
            raise exceptions.InvalidURL(str(error), request=request) from error
        name, method = url.doi.name, request.method
        if method not in {"GET", "HEAD"} or request.body is not None:
            message = f"{name}: a DOI is read-only; use GET or HEAD without a body, not {method}"
            raise exceptions.InvalidSchema(message, request=request)
        if self.options.settings.offline:
            raise exceptions.ConnectionError(f"{name}: offline: request not sent", request=request)
        # The encoded form: requests appends the fragment of a request's URL to the target.
        request.url = url
        if request.headers.get("User-Agent") in {None, default_user_agent()}:
            request.headers["User-Agent"] = self._user_agent
        bind_cookies(request, self._host)
        TargetHook.set_on(request, url.doi, self.options.target_check(), self._host)
        return self._redirect(request, self._location(url, request.headers.get("Accept")))

    def close(self) -> None:
        """Do nothing: the adapter has no connections."""

    def _location(self, url: DOIURL, accept: str | bytes | None) -> str:
        location = self.options.request_url(url.doi, accept)
        return f"{location}?{url.query}" if url.query else location

    def _redirect(self, request: PreparedRequest, location: str) -> Response:
        headers = {"Location": location, "Content-Length": "0"}
        response = Response()
        response.status_code = 302
        response.reason = "Found"
        response.url = str(request.url)
        response.headers = CaseInsensitiveDict(headers)
        response.raw = HTTPResponse(
            io.BytesIO(), headers, status=302, version=11, reason="Found", preload_content=False
        )
        response.request = _answered_request(request, location)
        response.connection = self  # type: ignore[assignment]
        return response


def _answered_request(request: PreparedRequest, location: str) -> PreparedRequest:
    """Return the request that the redirect is said to answer.

    requests drops Authorization if a redirect leads to another host. A ``doi:`` URI has no host, and the
    credentials are meant for the resolver, so this is the request with the resolver's URL.
    """
    if "Authorization" not in request.headers:
        return request
    answered = request.copy()
    answered.url = location
    return answered
