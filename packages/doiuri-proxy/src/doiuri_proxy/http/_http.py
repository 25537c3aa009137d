"""Requests and responses as plain values, independent of the server."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

HTML = "text/html;charset=utf-8"
FORM = "application/x-www-form-urlencoded"

_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")

Params = Mapping[str, Sequence[str]]
Headers = tuple[tuple[str, str], ...]


class BadRequestError(ValueError):
    """A request is not valid: a malformed escape, for instance, or bytes that are not UTF-8."""


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request that a proxy received; `Running.log` lists them.

    >>> Request("GET", b"/10.1000/182", b"noredirect").target
    '/10.1000/182?noredirect'
    """

    #: the method, in upper case
    method: str
    #: the path as sent, not decoded
    path: bytes
    #: the query as sent, without the question mark
    query: bytes = b""
    #: the headers by name in lower case; repeated ones are joined by ``", "``
    headers: Mapping[str, str] = field(default_factory=dict)
    #: the body of a POST request if it is an HTML form, else empty
    form: bytes = b""
    #: the version of HTTP
    version: str = "1.1"

    @property
    def target(self) -> str:
        """The path and the query as sent."""
        target = self.path
        if self.query:
            target += b"?" + self.query
        return target.decode("latin-1")

    @property
    def params(self) -> dict[str, list[str]]:
        """The parameters of the query and of the form, decoded: name → values.

        Raises ValueError if an escape is malformed or the bytes are not UTF-8.
        """
        return self.read_params("&")

    def read_params(self, separators: str) -> dict[str, list[str]]:
        """Return ``params`` with the query split at any of the characters in ``separators``."""
        in_query = re.split(f"[{separators}]".encode(), self.query)
        # In a form, "+" is a blank; in a query, it stands for itself
        in_form = self.form.replace(b"+", b" ").split(b"&")
        params: dict[str, list[str]] = {}
        for part in in_query + in_form:
            if not part:
                continue
            name, _, value = part.partition(b"=")
            params.setdefault(unescape(name), []).append(unescape(value))
        return params


@dataclass(slots=True)
class Response:
    """The response to a request, as `answer` returns it."""  # not frozen: that would be slower to create

    #: the HTTP status
    status: int
    #: the body
    body: bytes = b""
    #: the header Content-Type; "" to send none
    content_type: str = HTML
    #: the names and values of the other headers, without Content-Length
    headers: Headers = ()

    def with_headers(self, *headers: tuple[str, str]) -> Response:
        """Return the response with more headers."""
        return Response(self.status, self.body, self.content_type, (*self.headers, *headers))


def origin_form(path: bytes) -> bytes:
    """Return the path of a target, which may be a whole URL (RFC 9112 §3.2.2)."""
    if path.startswith(b"/"):
        return path
    _, separator, after_scheme = path.partition(b"://")
    if not separator:
        return path
    _, _, after_authority = after_scheme.partition(b"/")
    return b"/" + after_authority


def unescape(raw: bytes) -> str:
    """Decode percent-escapes once, and the result as UTF-8. Raises BadRequestError."""
    malformed = _BAD_ESCAPE.search(raw)
    if malformed is not None:
        raise BadRequestError(f"malformed percent-escape at byte {malformed.start()}")
    try:
        return unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequestError(f"not UTF-8: byte {error.start} after decoding escapes") from None


for _public in (Request, Response):
    _public.__module__ = "doiuri_proxy"  # for tracebacks and pickles
