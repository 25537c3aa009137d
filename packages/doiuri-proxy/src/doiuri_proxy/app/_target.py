"""The address in a Location or Link header: legal, ASCII, on the host that the record names."""

from __future__ import annotations

import re

import idna

from doiuri_proxy.app._http import BadRequestError

_WEB = re.compile(r"(https?://)([^/?#\\\s]+)([/?#\\].*|)", re.IGNORECASE | re.ASCII | re.DOTALL)
_ILLEGAL = re.compile(rb"[^A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]")  # RFC 3986 §2; what is escaped stays so


def header_url(href: str) -> str | None:
    """Write an http or https address for a header: IDNA host, illegal bytes as %XX; None if it is none."""
    match = _WEB.fullmatch(href.strip())
    if match is None:
        return None
    scheme, authority, rest = match.groups()
    host = _host(authority)
    return None if host is None else scheme + host + _escape(rest)


def append(href: str, text: str) -> str:
    """Put ``urlappend`` at the very end of the target; raises BadRequestError if that changed the host."""
    before, after = _WEB.fullmatch(href), _WEB.fullmatch(href + text)
    if before is None or after is None or before[2] != after[2]:
        raise BadRequestError("urlappend would lead to another host")
    return href + text


def _host(authority: str) -> str | None:
    user, at, host = authority.rpartition("@")
    if not host.isascii():
        name, colon, port = host.partition(":")
        try:
            host = idna.encode(name, uts46=True).decode("ascii") + colon + port
        except idna.IDNAError:
            return None
    return _escape(user + at + host)


def _escape(text: str) -> str:
    return _ILLEGAL.sub(lambda match: b"%%%02X" % match[0][0], text.encode("utf-8", "replace")).decode()
