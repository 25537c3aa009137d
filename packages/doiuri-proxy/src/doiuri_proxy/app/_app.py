"""The application: refuses a request, or dispatches it by path and returns the response."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from doiuri.rest import JSON_TYPE

from doiuri_proxy.app import _pages, _redirect, _rest
from doiuri_proxy.app._http import FORM, BadRequestError, Request, Response
from doiuri_proxy.app._redirect import Choice
from doiuri_proxy.records._source import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from doiuri_proxy.records._source import Source

_log = logging.getLogger("doiuri_proxy")
_METHODS = "GET,POST,HEAD"


@dataclass(slots=True)
class App:
    """The proxy's answers.

    Assign ``source`` to serve other records from the next request on.
    """

    source: Source
    choice: Choice = field(default_factory=Choice)
    #: called with each request, its response and the client's address
    on_response: Callable[[Request, Response, str], None] | None = None
    #: limit of path and query in bytes
    max_target: int = 8192
    #: limit of a POST request's body in bytes
    max_form: int = 65536
    #: called with status, size and client's address when the server refuses a request that it cannot read
    on_refusal: Callable[[int, int, str], None] | None = None

    async def answer(self, request: Request) -> Response:
        """Return the response to a request that was read in full; never raises."""
        try:
            if request.method == "OPTIONS":
                return _with_cors(request, Response(200, headers=(("Allow", "GET,HEAD,POST,OPTIONS"),)))
            if _is_rest(request):
                return _with_cors(request, await _rest.answer(request, self.source))
            if request.path.startswith((b"/doiRA/", b"/ra/")):
                return _with_cors(request, await _rest.which_ra(request, self.source))
            if request.path == b"/healthz":
                return Response(200, b'{"status":"ok"}', JSON_TYPE)
            return await _redirect.answer(request, self.source, self.choice)
        except BadRequestError as error:
            return _pages.error(400, "Bad Request", str(error))
        except SourceError as error:
            return _pages.error(500, "Server Error", str(error))
        except Exception:  # noqa: BLE001 - a bug: the client gets a response, the log the traceback
            _log.exception("cannot answer %s", request.target)
            return _error(request, 500, "Internal error")

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


def _is_rest(request: Request) -> bool:
    return request.path == b"/api" or request.path.startswith(b"/api/")


def _error(request: Request, status: int, message: str) -> Response:
    if _is_rest(request):
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
