"""The ASGI application: reads a request, lets the right part answer, sends the answer."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from doiuri_proxy.app import _pages, _redirect, _rest, _which_ra
from doiuri_proxy.app._http import FORM, JSON, BadRequestError, Request, Response
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
    """The proxy as an ASGI application over a source of records.

    ``on_answer`` is called with each request, its answer and the client's address; ``max_target`` is in
    bytes of path and query, ``max_form`` in bytes of a POST's body.
    """

    source: Source
    choice: Choice = field(default_factory=Choice)
    on_answer: Callable[[Request, Response, str], None] | None = None
    max_target: int = 8192
    max_form: int = 65536

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        if scope["type"] != "http":
            raise RuntimeError(f"{scope['type']} is not spoken here")
        request = _head(scope)
        response = self._refusal(request, scope["http_version"])
        if response is None and request.method == "POST":
            request, response = await self._with_form(request, receive)
        if response is None:
            response = await self.answer(request)
        if self.on_answer is not None:
            self.on_answer(request, response, (scope.get("client") or ("-",))[0])
        await _send(response, send)

    async def answer(self, request: Request) -> Response:
        """Answer a request that was read in full, whatever it holds."""
        try:
            if is_api(request):
                return _shared(request, await _rest.answer(request, self.source))
            if request.path.startswith((b"/doiRA/", b"/ra/")):
                return _shared(request, await _which_ra.answer(request, self.source))
            if request.path == b"/healthz":
                return Response(200, b'{"status":"ok"}', JSON)
            return await _redirect.answer(request, self.source, self.choice)
        except BadRequestError as error:
            return _pages.error(400, "Bad Request", str(error))
        except SourceError as error:
            return _pages.error(500, "Server Error", str(error))
        except Exception:  # noqa: BLE001 - a mistake of ours: the client gets an answer, the log the whole story
            _log.exception("cannot answer %s", request.target)
            return _error(request, 500, "Internal error")

    def _refusal(self, request: Request, version: str) -> Response | None:
        """Answer what needs no records: preflights, unknown methods, requests beyond the limits."""
        if "transfer-encoding" in request.headers and (
            "content-length" in request.headers or version < "1.1"
        ):
            # RFC 9112 §6.1: somebody before us may have seen another end of the request
            return _close(_error(request, 400, "Transfer-Encoding beside Content-Length or in HTTP/1.0"))
        if request.method == "OPTIONS":
            return _shared(request, Response(200, headers=(("Allow", "GET,HEAD,POST,OPTIONS"),)))
        if request.method not in {"GET", "HEAD", "POST"}:
            return _close(_error(request, 501, f"method {request.method} is not supported"))
        if len(request.target) > self.max_target:
            return _close(_error(request, 414, f"path and query are longer than {self.max_target} bytes"))
        return None

    async def _with_form(self, request: Request, receive: Receive) -> tuple[Request, Response | None]:
        """Read a POST's body; only a form's is looked at."""
        body = bytearray()
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self.max_form:
                return request, _close(_error(request, 413, f"a form of more than {self.max_form} bytes"))
        kind = request.headers.get("content-type", FORM).partition(";")[0].strip().lower()
        form = bytes(body) if kind == FORM else b""
        return Request(request.method, request.path, request.query, request.headers, form), None


def is_api(request: Request) -> bool:
    """Tell whether a request is one of the REST API."""
    return request.path == b"/api" or request.path.startswith(b"/api/")


def _head(scope: Message) -> Request:
    path: bytes = scope["raw_path"]
    if not path.startswith(b"/"):  # RFC 9112 §3.2.2: the target may be a whole URL
        _, found, rest = path.partition(b"://")
        path = b"/" + rest.partition(b"/")[2] if found else path
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value  # RFC 9110 §5.3
    return Request(scope["method"], path, scope["query_string"], headers)


def _error(request: Request, status: int, message: str) -> Response:
    if is_api(request):
        return _shared(request, _rest.error(status, message, code=2 if status == 500 else 4))
    return _pages.error(status, "Error", message)


def _close(response: Response) -> Response:
    """Close the connection after an answer that did not read the whole request."""
    return response.plus(("Connection", "close"))


def _shared(request: Request, response: Response) -> Response:
    """Let scripts of other origins read an answer (CORS)."""
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
    return response.plus(*headers)


async def _send(response: Response, send: Send) -> None:
    headers = (
        ("Content-Type", response.content_type),
        ("Content-Length", str(len(response.body))),
        *response.headers,
    )
    encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    await send({"type": "http.response.start", "status": response.status, "headers": encoded})
    await send({"type": "http.response.body", "body": response.body})
