"""The application: an ASGI callable around the function that answers requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from doiuri_proxy.http._answer import error, refusal, respond
from doiuri_proxy.http._http import FORM, Request, Response, origin_form
from doiuri_proxy.http._redirect import Choice

if TYPE_CHECKING:
    from doiuri_proxy.records._open import Source

MAX_FORM = 65_536  # bytes of a POST request's body

Message = MutableMapping[str, Any]  # as ASGI defines them
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_CLOSE = ("connection", "close")  # the rest of the request is not read


@dataclass(slots=True)
class App:
    """The proxy as an ASGI application.

    Assign ``source`` to serve other records from the next request on.
    """

    source: Source
    choice: Choice = field(default_factory=Choice)
    #: called with each request that is answered
    on_answer: Callable[[Request], None] | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer an HTTP request (ASGI, HTTP connection scope). It is recorded before its response is sent."""
        request = Request(
            scope["method"],
            origin_form(scope["raw_path"]),
            scope["query_string"],
            _join(scope["headers"]),
            version=scope["http_version"],
        )
        response = await self._respond(request, receive)
        if response is None:
            return
        if self.on_answer is not None:
            self.on_answer(request)
        await send(_start(response))
        await send({"type": "http.response.body", "body": response.body})

    async def _respond(self, request: Request, receive: Receive) -> Response | None:
        """Return the response to a request, after its form was read; None if the client leaves meanwhile."""
        refused = refusal(request)
        if refused is not None:
            return refused.with_headers(_CLOSE)
        if request.method == "POST":
            body = await _read_body(receive)
            if body is None:
                return None
            if len(body) > MAX_FORM:
                too_long = error(request, 413, f"the body is longer than {MAX_FORM} bytes")
                return too_long.with_headers(_CLOSE)
            if _is_form(request):
                request = replace(request, form=body)

        response = await respond(request, self.source, self.choice)
        if request.method != "POST" and "expect" in request.headers:
            # RFC 9110 §10.1.1: the client may leave out the body, so where the next request starts is unknown
            return response.with_headers(_CLOSE)
        return response


def _is_form(request: Request) -> bool:
    """Return whether a POST request has an HTML form as its body; it has if it does not say."""
    content_type = request.headers.get("content-type", FORM)
    media_type, _, _ = content_type.partition(";")
    return media_type.strip().lower() == FORM


def _join(fields: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by name; the values of a repeated one become a list (RFC 9110 §5.3)."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in fields:
        name = raw_name.decode("latin-1")
        value = raw_value.decode("latin-1")
        if headers.get(name):
            value = f"{headers[name]}, {value}"
        headers[name] = value
    return headers


def _start(response: Response) -> Message:
    """Return ASGI's message with the status and the headers of a response."""
    fields: list[tuple[str, str]] = []
    if response.content_type:
        fields.append(("Content-Type", response.content_type))
    fields.append(("Content-Length", str(len(response.body))))
    fields += response.headers
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields]
    return {"type": "http.response.start", "status": response.status, "headers": headers}


async def _read_body(receive: Receive) -> bytes | None:
    """Return the body, or its beginning if it is longer than a form may be; None if the client left."""
    body = b""
    while len(body) <= MAX_FORM:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return body
