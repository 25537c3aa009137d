"""Requests as the proxy reads them and the answers that it gives: plain values, no server in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

JSON = "application/json;charset=utf-8"
HTML = "text/html;charset=utf-8"
FORM = "application/x-www-form-urlencoded"

_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")

Params = Mapping[str, Sequence[str]]
Headers = tuple[tuple[str, str], ...]


class BadRequestError(ValueError):
    """What was sent cannot be read: a broken escape, say, or bytes that are not UTF-8."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request; ``path``, ``query`` and ``form`` are raw, as sent, header names are in lower case."""

    method: str
    path: bytes
    query: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    form: bytes = b""

    @property
    def target(self) -> str:
        """The path and the query, raw, as sent."""
        return (self.path + (b"?" + self.query if self.query else b"")).decode("latin-1")

    @property
    def params(self) -> dict[str, list[str]]:
        """The query's parameters, and a form's; raises BadRequestError."""
        return self.read_params("&")

    def read_params(self, separators: str) -> dict[str, list[str]]:
        """Read the parameters of the query, split at any of ``separators``, and of a form."""
        params = read_params(self.query, separators)
        for name, values in read_params(self.form, form=True).items():
            params.setdefault(name, []).extend(values)
        return params


@dataclass(frozen=True, slots=True)
class Response:
    """An answer: status, body and headers (the length is added when it is sent)."""

    status: int
    body: bytes = b""
    content_type: str = HTML
    headers: Headers = ()

    def plus(self, *headers: tuple[str, str]) -> Response:
        """Give the same answer with more headers."""
        return Response(self.status, self.body, self.content_type, (*self.headers, *headers))


def unescape(raw: bytes) -> str:
    """Decode percent-escapes once and read the bytes as UTF-8; raises BadRequestError where either fails."""
    if b"%" not in raw:
        return _utf8(raw)
    if bad := _BAD_ESCAPE.search(raw):
        raise BadRequestError(f"a % that starts no escape, at byte {bad.start()}")
    return _utf8(unquote_to_bytes(raw))


def read_params(raw: bytes, separators: str = "&", *, form: bool = False) -> dict[str, list[str]]:
    """Read a query, or a form's body, in which ``+`` stands for a space: name → its values in order."""
    params: dict[str, list[str]] = {}
    for part in re.split(f"[{separators}]".encode(), raw) if raw else ():
        if part:
            name, _, value = (part.replace(b"+", b" ") if form else part).partition(b"=")
            params.setdefault(unescape(name), []).append(unescape(value))
    return params


def _utf8(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequestError(f"not UTF-8, at byte {error.start} of the decoded text") from None
