"""DOIAdapter: how requests gets a ``doi:`` URI."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from doiuri.plugins import Settings, user_agent, wants_record
from doiuri.rest import record_url
from requests import exceptions
from requests.adapters import BaseAdapter
from requests.models import Response
from requests.structures import CaseInsensitiveDict
from requests.utils import default_user_agent, to_native_string
from urllib3 import HTTPResponse

from requests_doiuri._address import Address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from requests import PreparedRequest

Follow = Literal["record", "target"]


class DOIAdapter(BaseAdapter):
    """Answers a ``doi:`` request with a redirect to the resolver, which the session then follows.

    So everything else is the session's: its adapters, proxies, certificates, timeouts, hooks, ``history``.
    ``resolver`` is the base URL to ask (``https://doi.org``), ``offline`` forbids asking, ``mailto`` is the
    contact named to servers; left out, they come from ``DOIURI_RESOLVER``, ``DOIURI_OFFLINE`` and
    ``DOIURI_MAILTO`` at this moment. ``follow`` says what to get: the DOI's ``"record"``
    (draft-lemieux-doi-uri-scheme-00 §3), or the ``"target"`` it points to.
    Raises ValueError for a setting that is not right.
    """

    def __init__(
        self,
        resolver: str | None = None,
        offline: bool | str | None = None,
        mailto: str | None = None,
        follow: Follow = "record",
    ) -> None:
        super().__init__()
        if follow not in ("record", "target"):
            raise ValueError(f'follow: {follow!r} is neither "record" nor "target"')
        self.settings = Settings.from_environ(resolver=resolver, offline=offline, mailto=mailto)
        self.follow = follow
        self._host = urlsplit(self.settings.base).hostname or ""
        self._agent = user_agent("requests-doiuri", self.settings.mailto)

    def send(
        self,
        request: PreparedRequest,
        stream: bool = False,  # noqa: ARG002 - these five are for the request that follows; the session keeps them
        timeout: object = None,  # noqa: ARG002
        verify: object = True,  # noqa: ARG002
        cert: object = None,  # noqa: ARG002
        proxies: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> Response:
        """Answer with a redirect, without any traffic.

        Raises requests' InvalidURL for a URI that is not right, InvalidSchema for methods other than GET and
        HEAD and for a body, ConnectionError when offline.
        """
        try:
            address = Address.of(request.url or "")
        except ValueError as error:
            raise exceptions.InvalidURL(str(error), request=request) from error
        if request.method not in {"GET", "HEAD"} or request.body is not None:
            reason = (
                f"{address.doi.name}: a DOI is read (GET or HEAD, no body), not written ({request.method})"
            )
            raise exceptions.InvalidSchema(reason, request=request)
        if self.settings.offline:
            raise exceptions.ConnectionError(
                f"{address.doi.name}: not asked, for this is offline", request=request
            )
        # Encoded, or requests would take a "#" for a fragment and append it to the target.
        request.url = address
        self._name_ourselves(request)
        _bind_cookies(request, self._host)
        return self._redirect(request, self.location(address, request.headers.get("Accept")))

    def close(self) -> None:
        """Do nothing: there is no connection of our own."""

    def location(self, address: Address, accept: str | bytes | None) -> str:
        """Return the URL to ask: the record's, or the link where another type or the target is wanted."""
        base = self.settings.base
        if self.follow == "record" and wants_record(accept):
            url = record_url(address.doi, base=base)
        else:
            url = address.doi.link(base)
        return f"{url}?{address.query}" if address.query else url

    def _name_ourselves(self, request: PreparedRequest) -> None:
        if request.headers.get("User-Agent") in {None, default_user_agent()}:
            request.headers["User-Agent"] = self._agent

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
        response.request = _asked(request, location)
        response.connection = self  # type: ignore[assignment]
        return response


def _bind_cookies(request: PreparedRequest, host: str) -> None:
    """Keep a request's own cookies for the resolver.

    At a redirect requests would send ``cookies=`` to every host, and a Cookie header to none.
    """
    jar = request._cookies  # type: ignore[attr-defined]
    domain = host if "." in host else f"{host}.local"  # what http.cookiejar calls such hosts
    for cookie in [cookie for cookie in jar if not cookie.domain]:
        jar.clear("", cookie.path, cookie.name)
        cookie.domain = domain
        jar.set_cookie(cookie)
    header = to_native_string(request.headers.get("Cookie", ""), "latin-1")  # type: ignore[no-untyped-call]
    for pair in header.split(";"):
        name, _, value = pair.strip().partition("=")
        if name and name not in jar.keys():  # noqa: SIM118 - a jar's "in" looks for cookies, not for names
            jar.set(name, value, domain=domain)


def _asked(request: PreparedRequest, location: str) -> PreparedRequest:
    """Return the request that the redirect answers.

    requests drops Authorization where the host of this request is not that of the next. A ``doi:`` URI has
    none, and its credentials are meant for the resolver: so this is the request as it goes there.
    """
    if "Authorization" not in request.headers:
        return request
    asked = request.copy()
    asked.url = location
    return asked
