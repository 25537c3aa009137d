"""The application: refuses a request, or dispatches it by path and returns the response."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from doiuri_proxy.app import _pages, _redirect, _rest, _status
from doiuri_proxy.app._http import FORM, BadRequestError, Request, Response
from doiuri_proxy.app._metrics import Metrics
from doiuri_proxy.app._redirect import Choice
from doiuri_proxy.records._source import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from doiuri_proxy.records._source import Source

_log = logging.getLogger("doiuri_proxy")
_METHODS = "GET,POST,HEAD"
_OWN_PATHS = {b"/api": "api", b"/healthz": "healthz", b"/readyz": "readyz", b"/metrics": "metrics"}


@dataclass(slots=True)
class App:
    """The proxy's answers.

    Assign ``source`` to serve other records from the next request on.
    """

    source: Source
    choice: Choice = field(default_factory=Choice)
    #: called with each request, its response, the client's address and the seconds that the answer took
    on_response: Callable[[Request, Response, str, float], None] | None = None
    #: limit of path and query in bytes
    max_target: int = 8192
    #: limit of a POST request's body in bytes
    max_form: int = 65536
    #: called with status, size and client's address when the server refuses a request that it cannot read
    on_refusal: Callable[[int, int, str], None] | None = None
    #: returns a client's address for a request and the address of the peer that sent it
    client_of: Callable[[Request, str], str] | None = None
    metrics: Metrics = field(default_factory=Metrics)

    async def answer(self, request: Request) -> Response:
        """Return the response to a request that was read in full; never raises."""
        try:
            return await self._answer(request)
        except BadRequestError as error:
            return _pages.error(400, "Bad Request", str(error))
        except SourceError as error:
            return _pages.error(error.status, error.title, str(error)).with_headers(*error.headers)
        except Exception:  # noqa: BLE001 - a bug: the client gets a response, the log the traceback
            _log.exception("cannot answer %s", request.target)
            return _error(request, 500, "Internal error")

    async def _answer(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            return _with_cors(request, Response(200, headers=(("Allow", "GET,HEAD,POST,OPTIONS"),)))
        endpoint = _endpoint(request.path)
        if endpoint == "api":
            return _with_cors(request, await _rest.answer(request, self.source))
        if endpoint == "doira":
            return _with_cors(request, await _rest.which_ra(request, self.source))
        if endpoint == "redirect":
            return await _redirect.answer(request, self.source, self.choice)
        return await _status.answer(endpoint, request, self.source, self.metrics)

    def record(self, request: Request, response: Response, peer: str, seconds: float) -> None:
        """Count and log a response, or with status ``CLIENT_LEFT`` that there was nobody to send one to.

        :param peer: the address at the other end of the connection
        :param seconds: the time from the request's head to the response
        """
        self.metrics.count_request(_endpoint(request.path), response.status, seconds)
        if self.on_response is not None:
            client = peer if self.client_of is None else self.client_of(request, peer)
            self.on_response(request, response, client, seconds)

    def record_refusal(self, status: int, size: int, peer: str) -> None:
        """Count and log a response of ``size`` bytes to what could not be read as a request."""
        self.metrics.count_request("none", status, None)
        if self.on_refusal is not None:
            self.on_refusal(status, size, peer)

    def refusal(self, request: Request) -> Response | None:
        """Return the response to a request whose body need not be read; then the connection is closed.

        None for any other request.
        """
        if "transfer-encoding" in request.headers and (
            "content-length" in request.headers or request.version < "1.1"
        ):
            # RFC 9112 §6.1: request smuggling
            return _error(request, 400, "Transfer-Encoding with Content-Length or HTTP/1.0")
        if request.method not in {"GET", "HEAD", "POST", "OPTIONS"}:
            return _error(request, 501, f"method {request.method} is not supported")
        if request.method != "OPTIONS" and len(request.target) > self.max_target:
            return _error(request, 414, f"path and query are longer than {self.max_target} bytes")
        return None

    def form_refusal(self, request: Request, size: int) -> Response | None:
        """Return the response to a request with a body of ``size`` bytes or more if that is too long."""
        if size > self.max_form:
            return _error(request, 413, f"the body is longer than {self.max_form} bytes")
        return None

    def with_form(self, request: Request, body: bytes) -> Request:
        """Return the request with its body if that is a form."""
        media_type = request.headers.get("content-type", FORM).partition(";")[0].strip().lower()
        return replace(request, form=body) if body and media_type == FORM else request


def _endpoint(path: bytes) -> str:
    """Return which endpoint answers requests for a path, one of ``ENDPOINTS``.

    A path without a second slash is not that of a DOI or another handle, so the proxy's own have only one.
    """
    if path in _OWN_PATHS:
        return _OWN_PATHS[path]
    if path.startswith(b"/api/"):
        return "api"
    return "doira" if path.startswith((b"/doiRA/", b"/ra/")) else "redirect"


def _error(request: Request, status: int, message: str) -> Response:
    if _endpoint(request.path) == "api":
        return _with_cors(request, _rest.error(status, message))
    return _pages.error(status, "Error", message)


def _with_cors(request: Request, response: Response) -> Response:
    """Return the response with the headers that let scripts of other origins read it."""
    headers = [("Vary", "Origin"), ("X-Content-Type-Options", "nosniff")]
    if origin := request.headers.get("origin"):
        headers.append(("Access-Control-Allow-Origin", origin))
        if request.method == "OPTIONS":
            headers += [
                ("Access-Control-Allow-Methods", _METHODS),
                ("Access-Control-Allow-Headers", "X-Requested-With,Content-Type,Accept,Origin"),
                ("Access-Control-Max-Age", "1800"),
            ]
        else:
            headers.append(("Access-Control-Expose-Headers", "Content-Length"))
    return response.with_headers(*headers)
