"""The protocol: one function from a request and a source of records to the response."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from doiuri.rest import write_json

from doiuri_proxy.http import _pages, _redirect, _rest
from doiuri_proxy.http._http import BadRequestError, Request, Response, origin_form
from doiuri_proxy.http._redirect import Choice
from doiuri_proxy.http._rest import JSON_TYPE
from doiuri_proxy.records._source import SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doiuri_proxy.records._open import Source
    from doiuri_proxy.records._source import Records

MAX_TARGET = 8192  # bytes of path and query

_log = logging.getLogger("doiuri_proxy")
_METHODS = "GET,POST,HEAD"


def answer(
    records: Records, method: str, target: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Answer a request as a proxy with these records does, without a server.

    :param records: the records
    :param method: the method, in upper case
    :param target: the path and the query as sent, not decoded
    :param headers: the headers

    >>> from doiuri_proxy import Records
    >>> url = {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"}}
    >>> response = answer(Records([{"handle": "10.1000/1", "values": [url]}]), "GET", "/10.1000/1")
    >>> response.status, dict(response.headers)["Location"]
    (302, 'https://example.org/')
    """
    path, _, query = target.encode("latin-1").partition(b"?")
    headers_by_name = {name.lower(): value for name, value in (headers or {}).items()}
    request = Request(method, origin_form(path), query, headers_by_name)
    refused = refusal(request)
    if refused is not None:
        return refused
    try:
        # The coroutine of records in memory waits for nothing, so that it ends at once, without an event loop.
        respond(request, records, Choice()).send(None)
    except StopIteration as end:
        response: Response = end.value
        return response
    raise RuntimeError("records in memory wait for nothing")


async def respond(request: Request, source: Source, choice: Choice) -> Response:
    """Return the response to a request that was read in full; never raises."""
    endpoint = _endpoint(request.path)
    try:
        if request.method == "OPTIONS":
            allow = ("Allow", "GET,HEAD,POST,OPTIONS")
            return _with_cors(request, Response(200, headers=(allow,)))
        if endpoint == "api":
            return _with_cors(request, await _rest.answer(request, source))
        if endpoint == "doira":
            return _with_cors(request, await _rest.which_ra(request, source))
        if endpoint == "redirect":
            return await _redirect.answer(request, source, choice)
        if endpoint == "readyz" and source.refusal:
            return _state(503, {"status": "unavailable", "reason": source.refusal})
        return _state(200, {"status": "ok"})
    except BadRequestError as problem:
        return _pages.error(400, "Bad Request", str(problem))
    except SourceError as problem:
        page = _pages.error(problem.status, problem.title, str(problem))
        return page.with_headers(*problem.headers)
    except Exception:  # noqa: BLE001 - a bug: the client gets a response, the log the traceback
        _log.exception("cannot answer %s", request.target)
        return error(request, 500, "Internal error")


def _state(status: int, members: dict[str, str]) -> Response:
    """Return the response of an endpoint for those who watch the proxy."""
    return Response(status, write_json(members), JSON_TYPE, (("Cache-Control", "no-store"),))


def refusal(request: Request) -> Response | None:
    """Return the response to a request that is refused, whatever it asks for; None for any other request."""
    if _may_be_smuggled(request):
        return error(request, 400, "Transfer-Encoding with Content-Length or HTTP/1.0")
    if request.method not in {"GET", "HEAD", "POST", "OPTIONS"}:
        return error(request, 501, f"method {request.method} is not supported")
    if len(request.target) > MAX_TARGET:
        return error(request, 414, f"path and query are longer than {MAX_TARGET} bytes")
    return None


def _may_be_smuggled(request: Request) -> bool:
    """Return whether servers may disagree on where the request ends (RFC 9112 §6.1)."""
    if "transfer-encoding" not in request.headers:
        return False
    return "content-length" in request.headers or request.version < "1.1"


def _endpoint(path: bytes) -> str:
    """Return which endpoint answers requests for a path: "healthz", "readyz", "api", "doira" or "redirect".

    A path without a second slash is not that of a handle, so "/healthz" takes no name from anyone.
    """
    if path in {b"/healthz", b"/readyz"}:
        return path[1:].decode()
    if path == b"/api" or path.startswith(b"/api/"):
        return "api"
    if path.startswith((b"/doiRA/", b"/ra/")):
        return "doira"
    return "redirect"


def error(request: Request, status: int, message: str) -> Response:
    """Return an error in the form that the endpoint's clients expect."""
    if _endpoint(request.path) == "api":
        return _with_cors(request, _rest.error(status, message, _rest.valid_params(request)))
    return _pages.error(status, "Error", message)


def _with_cors(request: Request, response: Response) -> Response:
    """Return the response with the headers that let scripts of other origins read it."""
    headers = [("Vary", "Origin"), ("X-Content-Type-Options", "nosniff")]
    origin = request.headers.get("origin")
    if origin:
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
