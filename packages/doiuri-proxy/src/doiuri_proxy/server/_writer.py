"""Responses as bytes."""

from __future__ import annotations

import re
import time
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doiuri_proxy.app._http import Request, Response

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
UNAVAILABLE = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
)

_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_UNSAFE = re.compile("[\0\r\n]")


def closes(request: Request) -> bool:
    """Return whether the connection ends with the response (RFC 9112 §9.3)."""
    if request.version < "1.1":
        return True
    options = request.headers.get("connection")
    return options is not None and "close" in {option.strip().lower() for option in options.split(",")}


def write_response(request: Request, response: Response, *, close: bool) -> bytes:
    """Return a response's bytes. Raises ValueError if a header contains line breaks or NUL."""
    size = str(len(response.body))
    headers = [("Content-Type", response.content_type), ("Content-Length", size), *response.headers]
    if close:
        headers.append(("Connection", "close"))
    lines = [f"{name}: {value}" for name, value in headers]
    if _UNSAFE.search("".join(lines)):  # a line break would begin another header
        raise ValueError(f"line breaks or NUL in the headers of a response: {lines}")
    status = f"HTTP/1.1 {response.status} {_PHRASES[response.status]}"
    head = "\r\n".join([status, f"date: {_date(int(time.time()))}", *lines, "\r\n"]).encode("latin-1")
    return head if request.method == "HEAD" else head + response.body


def write_refusal(status: int, body: bytes) -> bytes:
    """Return the bytes of a response to what could not be read as a request."""
    head = f"HTTP/1.1 {status} {_PHRASES[status]}\r\nContent-Type: text/plain; charset=utf-8\r\n"
    return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
