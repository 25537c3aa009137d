"""The URLs of a record in responses: Location and Link headers, the list of ``action=showurls``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import idna

from doiuri_proxy.http._http import BadRequestError

if TYPE_CHECKING:
    from doiuri.records import Location, Locations

MAX_LINK_HEADER = 4096  # characters: clients refuse long header lines

_HTTP_URL = re.compile(
    r"""
    ( https?:// )
    ( [^/?#\\\s]+ )         # the authority
    ( [/?#\\] .* | )        # the path, the query and the fragment
    """,
    re.IGNORECASE | re.ASCII | re.DOTALL | re.VERBOSE,
)
_BROWSER_AUTHORITY = re.compile(r"https?:[/\\]*([^/\\?#]*)", re.IGNORECASE | re.ASCII)
_CONTROLS = "".join(map(chr, range(0x21)))  # browsers drop these around a URL
_ILLEGAL = re.compile(rb"[^A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]")  # RFC 3986 §2; escapes are kept
_XML_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def header_url(href: str) -> str | None:
    """Return an http or https URL in ASCII: IDNA host, illegal bytes escaped. None for any other text.

    None also if browsers would read another host than we do.

    >>> header_url("https://BÜcher.example/ü?q=a b")
    'https://xn--bcher-kva.example/%C3%BC?q=a%20b'
    """
    match = _HTTP_URL.fullmatch(href.strip().strip(_CONTROLS))
    if match is None:
        return None
    scheme, authority, rest = match.groups()
    host = _host(authority)
    if host is None:
        return None
    if rest.startswith("\\"):
        rest = f"/{rest[1:]}"  # to browsers, a backslash ends the host, but "%5C" is a part of it
    url = scheme + host + _escape(rest)
    return url if _authority(url) == host else None


def append(href: str, text: str) -> str:
    """Return ``href`` with the text of ``urlappend``. Raises BadRequestError if that changes the host."""
    if not text:
        return href
    before = header_url(href)
    after = header_url(href + text)
    if before is None or after is None or _authority(before) != _authority(after):
        raise BadRequestError("urlappend would change the host")
    return href + text


def link_header(locations: Locations) -> str:
    """Return the value of the Link header (RFC 8288): the locations with a ``rel``; "" if there are none."""
    header = ""
    for location in locations.candidates:
        link = _link(location)
        if link is None:
            continue
        with_link = f"{header}, {link}" if header else link
        if len(with_link) > MAX_LINK_HEADER:
            break
        header = with_link
    return header


def locations_xml(locations: Locations) -> bytes:
    """Return all locations to which the proxy could redirect, as XML."""
    elements = "".join(
        f"<location {_xml_attributes(location)} />" for location in locations.candidates
    )
    return f"<locations>{elements}</locations>".encode()


def _authority(url: str) -> str | None:
    """Return user, host and port of a URL that `header_url` wrote, as browsers read it (WHATWG URL §4.4)."""
    match = _BROWSER_AUTHORITY.match(url)
    return match[1] if match else None


def _host(authority: str) -> str | None:
    """Return user, host and port in ASCII; None if the host is not valid (IDNA 2008)."""
    user, at, host = authority.rpartition("@")
    if not host.isascii():
        name, colon, port = host.partition(":")
        try:
            host = idna.encode(name, uts46=True).decode("ascii") + colon + port
        except idna.IDNAError:
            return None
    return _escape(user + at + host)


def _escape(text: str) -> str:
    raw = text.encode("utf-8", "replace")
    return _ILLEGAL.sub(_percent_escape, raw).decode()


def _percent_escape(byte: re.Match[bytes]) -> bytes:
    return b"%%%02X" % ord(byte[0])


def _link(location: Location) -> str | None:
    """Return the link to a location (RFC 8288); None if it has no ``rel`` or no URL that a header can have."""
    rel = location.attributes.get("rel", "")
    if not _is_quotable(rel):
        return None
    url = header_url(location.href)
    if url is None:
        return None
    link = f'<{url}>; rel="{rel}"'
    media_type = location.attributes.get("media-type") or location.attributes.get("type", "")
    if _is_quotable(media_type):
        link += f'; type="{media_type}"'
    return link


def _is_quotable(text: str) -> bool:
    """Return whether a header's quoted string may contain ``text`` without escapes."""
    if not text or '"' in text or "\\" in text:
        return False
    return text.isascii() and text.isprintable()


def _xml_attributes(location: Location) -> str:
    """Return the attributes of a location as XML writes them, without those that it has no way to name."""
    attributes = []
    for name, value in {**location.attributes, "href": location.href}.items():
        if _XML_NAME.fullmatch(name) and name != "xmlns":
            quoted = quoteattr(_NOT_XML.sub("?", value))
            attributes.append(f"{name}={quoted}")
    return " ".join(attributes)
