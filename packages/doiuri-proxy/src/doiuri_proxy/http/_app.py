"""The application: an ASGI callable that refuses a request, or dispatches it by path."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from doiuri.rest.server import JSON_TYPE

from doiuri_proxy.http import _pages, _redirect, _rest
from doiuri_proxy.http._http import FORM, BadRequestError, Request, Response
from doiuri_proxy.http._redirect import Choice
from doiuri_proxy.records._source import SourceError

if TYPE_CHECKING:
    from doiuri_proxy.records._open import Source

MAX_TARGET = 8192  # bytes of path and query
MAX_FORM = 65_536  # bytes of a POST request's body

Message = MutableMapping[str, Any]  # as ASGI defines them
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_log = logging.getLogger("doiuri_proxy")
_METHODS = "GET,POST,HEAD"
_CLOSE = ("connection", "close")  # the rest of the request is not read
if sys.version_info >= (3, 12):
    # Answers that wait for nothing need no other turn of the event loop.
    _start_task = partial(asyncio.Task, eager_start=True)
else:
    _start_task = asyncio.Task


@dataclass(slots=True)
class App:
    """The proxy's answers.

    Assign ``source`` to serve other records from the next request on.
    """

    source: Source
    choice: Choice = field(default_factory=Choice)
    #: called with each request that is answered
    on_answer: Callable[[Request], None] | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer an HTTP request, as ASGI says. It is recorded before its response is sent."""
        request = _request(scope)
        response = await self._respond(request, receive)
        if response is None:
            return
        if self.on_answer is not None:
            self.on_answer(request)
        await send(_start(response))
        await send({"type": "http.response.body", "body": response.body})

    async def answer(self, request: Request) -> Response:
        """Return the response to a request that was read in full; never raises."""
        endpoint = _endpoint(request.path)
        try:
            if request.method == "OPTIONS":
                return _with_cors(request, Response(200, headers=(("Allow", "GET,HEAD,POST,OPTIONS"),)))
            if endpoint == "api":
                return _with_cors(request, await _rest.answer(request, self.source))
            if endpoint == "doira":
                return _with_cors(request, await _rest.which_ra(request, self.source))
            if endpoint == "redirect":
                return await _redirect.answer(request, self.source, self.choice)
            return Response(200, b'{"status":"ok"}', JSON_TYPE, (("Cache-Control", "no-store"),))
        except BadRequestError as error:
            return _pages.error(400, "Bad Request", str(error))
        except SourceError as error:
            return _pages.error(error.status, error.title, str(error)).with_headers(*error.headers)
        except Exception:  # noqa: BLE001 - a bug: the client gets a response, the log the traceback
            _log.exception("cannot answer %s", request.target)
            return _error(request, 500, "Internal error")

    async def _respond(self, request: Request, receive: Receive) -> Response | None:
        """Read a form, and return the response; None if the client leaves meanwhile."""
        refusal = self._refusal(request)
        if refusal is not None:
            return refusal.with_headers(_CLOSE)
        if request.method == "POST":
            body = await _read_body(receive)
            if body is None:
                return None
            if len(body) > MAX_FORM:
                return _error(request, 413, f"the body is longer than {MAX_FORM} bytes").with_headers(_CLOSE)
            return await self._wait(_with_form(request, body), receive)
        response = await self._wait(request, receive)
        if response is not None and "expect" in request.headers:
            # RFC 9110 §10.1.1: the client may leave out the body, so where the next request starts is unknown
            return response.with_headers(_CLOSE)
        return response

    async def _wait(self, request: Request, receive: Receive) -> Response | None:
        """Return the response, or None if the client leaves; then its look-ups are cancelled."""
        task = _start_task(self.answer(request), loop=asyncio.get_running_loop())
        if task.done():
            return task.result()
        left = asyncio.create_task(_wait_for_end(receive))
        try:
            await asyncio.wait((task, left), return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else None
        finally:
            task.cancel()
            left.cancel()

    def _refusal(self, request: Request) -> Response | None:
        """Return the response to a request that is not looked at further, else None."""
        if "transfer-encoding" in request.headers and (
            "content-length" in request.headers or request.version < "1.1"
        ):
            # RFC 9112 §6.1: request smuggling
            return _error(request, 400, "Transfer-Encoding with Content-Length or HTTP/1.0")
        if request.method not in {"GET", "HEAD", "POST", "OPTIONS"}:
            return _error(request, 501, f"method {request.method} is not supported")
        size = len(request.path) + len(request.query) + bool(request.query)
        if request.method != "OPTIONS" and size > MAX_TARGET:
            return _error(request, 414, f"path and query are longer than {MAX_TARGET} bytes")
        return None


def _request(scope: Message) -> Request:
    path: bytes = scope["raw_path"]
    if not path.startswith(b"/"):  # RFC 9112 §3.2.2: the target may be a whole URL
        _, separator, rest = path.partition(b"://")
        path = b"/" + rest.partition(b"/")[2] if separator else path
    return Request(
        scope["method"], path, scope["query_string"], _join(scope["headers"]), version=scope["http_version"]
    )


def _join(fields: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by name; repeated ones become a list (RFC 9110 §5.3)."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in fields}
    if len(headers) < len(fields):
        headers = dict.fromkeys(headers, "")
        for raw_name, raw_value in fields:
            name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
            headers[name] = f"{headers[name]}, {value}" if headers[name] else value
    return headers


def _start(response: Response) -> Message:
    fields = (
        ("Content-Type", response.content_type),
        ("Content-Length", str(len(response.body))),
        *response.headers,
    )
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields]
    return {"type": "http.response.start", "status": response.status, "headers": headers}


async def _read_body(receive: Receive) -> bytes | None:
    """Return the body, or its beginning if it is longer than a form may be; None if the client left."""
    body, more = b"", True
    while more and len(body) <= MAX_FORM:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


async def _wait_for_end(receive: Receive) -> None:
    """Return when the client has closed the connection; ignore the body."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _with_form(request: Request, body: bytes) -> Request:
    """Return the request with its body if that is a form."""
    media_type = request.headers.get("content-type", FORM).partition(";")[0].strip().lower()
    return replace(request, form=body) if body and media_type == FORM else request


def _endpoint(path: bytes) -> str:
    """Return which endpoint answers requests for a path.

    A path without a second slash is not that of a DOI or another handle, so the proxy's own has only one.
    """
    if path == b"/healthz":
        return "healthz"
    if path == b"/api" or path.startswith(b"/api/"):
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
