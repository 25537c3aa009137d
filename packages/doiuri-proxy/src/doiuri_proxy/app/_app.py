"""The ASGI application: reads a request, dispatches it by path, sends the response."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from doiuri.rest import JSON_TYPE

from doiuri_proxy.app import _pages, _redirect, _rest
from doiuri_proxy.app._http import FORM, BadRequestError, Request, Response
from doiuri_proxy.app._redirect import Choice
from doiuri_proxy.records._source import SourceError

if TYPE_CHECKING:
    from doiuri_proxy.records._source import Source

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_log = logging.getLogger("doiuri_proxy")
_METHODS = "GET,POST,HEAD"


@dataclass(slots=True)
class App:
    """The proxy as an ASGI application.

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

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        if scope["type"] != "http":
            raise RuntimeError(f"unsupported protocol: {scope['type']}")
        request = _read_head(scope)
        response = self._refusal(request, scope["http_version"])
        if response is None and request.method == "POST":
            request, response = await self._read_form(request, receive)
        if response is None:
            response = await self.answer(request)
        if self.on_response is not None:
            self.on_response(request, response, (scope.get("client") or ("-",))[0])
        await _send(response, send)

    async def answer(self, request: Request) -> Response:
        """Return the response to a request that was read in full; never raises."""
        try:
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

    def _refusal(self, request: Request, version: str) -> Response | None:
        """Return the response to a request that needs no records: preflight, unknown method, over a limit."""
        if "transfer-encoding" in request.headers and (
            "content-length" in request.headers or version < "1.1"
        ):
            # RFC 9112 §6.1: request smuggling
            return _close(_error(request, 400, "Transfer-Encoding with Content-Length or HTTP/1.0"))
        if request.method == "OPTIONS":
            return _with_cors(request, Response(200, headers=(("Allow", "GET,HEAD,POST,OPTIONS"),)))
        if request.method not in {"GET", "HEAD", "POST"}:
            return _close(_error(request, 501, f"method {request.method} is not supported"))
        if len(request.target) > self.max_target:
            return _close(_error(request, 414, f"path and query are longer than {self.max_target} bytes"))
        return None

    async def _read_form(self, request: Request, receive: Receive) -> tuple[Request, Response | None]:
        """Return the request with its body if that is a form; a response, too, if it is too long."""
        body = bytearray()
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self.max_form:
                return request, _close(_error(request, 413, f"the body is longer than {self.max_form} bytes"))
        media_type = request.headers.get("content-type", FORM).partition(";")[0].strip().lower()
        form = bytes(body) if media_type == FORM else b""
        return replace(request, form=form), None


def _is_rest(request: Request) -> bool:
    return request.path == b"/api" or request.path.startswith(b"/api/")


def _read_head(scope: Message) -> Request:
    path: bytes = scope["raw_path"]
    if not path.startswith(b"/"):  # RFC 9112 §3.2.2: the target may be a whole URL
        _, separator, rest = path.partition(b"://")
        path = b"/" + rest.partition(b"/")[2] if separator else path
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value  # RFC 9110 §5.3
    return Request(scope["method"], path, scope["query_string"], headers, version=scope["http_version"])


def _error(request: Request, status: int, message: str) -> Response:
    if _is_rest(request):
        return _with_cors(request, _rest.error(status, message))
    return _pages.error(status, "Error", message)


def _close(response: Response) -> Response:
    """Return the response with ``Connection: close``: the rest of the request is not read."""
    return response.with_headers(("Connection", "close"))


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


async def _send(response: Response, send: Send) -> None:
    headers = (
        ("Content-Type", response.content_type),
        ("Content-Length", str(len(response.body))),
        *response.headers,
    )
    encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    await send({"type": "http.response.start", "status": response.status, "headers": encoded})
    await send({"type": "http.response.body", "body": response.body})
