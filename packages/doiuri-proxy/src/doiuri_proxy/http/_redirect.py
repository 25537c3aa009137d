"""Redirects and content negotiation: ``GET /<doi>``.

DOI resolution documentation §1 and §3; DOI Handbook, content negotiation.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from doiuri.plugins import without_label
from doiuri.records import ascii_upper, choose, locations_of, select

from doiuri_proxy.http import _pages
from doiuri_proxy.http._http import Response, unescape
from doiuri_proxy.http._targets import append, header_url, link_header, locations_xml
from doiuri_proxy.records._files import is_handle
from doiuri_proxy.records._metadata import accepts_page, citation_type
from doiuri_proxy.records._source import MAX_CACHED, BusyError, PublicValues, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from random import Random

    from doiuri.records import Location, Locations, Value

    from doiuri_proxy.http._http import Params, Request
    from doiuri_proxy.records._metadata import Content
    from doiuri_proxy.records._open import Source

MAX_ALIASES = 20  # followed in a chain
MAX_LIFETIME = 2 * 86400  # seconds from Date to Expires

_RECORD_PARAMS = frozenset({"action", "index", "noredirect", "type"})  # ask about the record itself
_ANYTHING = frozenset({"", "*/*"})  # Accept headers that prefer nothing
_LOCATION_TYPES = frozenset({"URL", "10320/LOC"})
_NOT_PRINTABLE = re.compile("[^ -~]")  # what another server sends need not be valid in our headers
_VARY = (
    "Vary",
    "Accept",
)  # every record may have metadata, or be refused as metadata that it lacks
_NEGOTIATION = {"ctype", "http_role", "media-type"}  # attributes of locations


@dataclass(frozen=True, slots=True)
class Choice:
    """How to choose among locations: those for ``country`` first, then by weight.

    ``pick`` is "highest" for the highest weight, or the generator for a random choice by weight.
    """

    pick: Literal["highest"] | Random = "highest"
    country: str | None = None


async def answer(request: Request, source: Source, choice: Choice) -> Response:
    """Return a redirect, or the page that the parameters ask for. Raises BadRequestError, SourceError."""
    params = request.read_params("&;")
    handle = _requested_handle(request, params)
    if not handle:
        return _pages.front()
    accept = request.headers.get("accept", "")
    try:
        record = await source.lookup(handle, auth="auth" in params, cert="cert" in params)
    except BusyError:
        raise
    except SourceError:  # what is wrong with the record need not be wrong with the metadata
        metadata = await _without_record(handle, params, accept, source)
        if metadata is None:
            raise
        return metadata
    if record is None:
        return _pages.not_found(handle)
    negotiated = _is_negotiated(accept, record)
    if not negotiated and not params and len(record.body) <= MAX_CACHED:
        fixed = _fixed_redirect(handle, record.body)
        if fixed is not None:
            return _expiring(*fixed).with_headers(_VARY)
    if "ignore_aliases" not in params and any(_aliases(record.values)):
        return await _follow(record, request, params, source)
    indexes = {int(text) for text in params.get("index", ()) if re.fullmatch("[0-9]{1,10}", text)}
    values = select(record.values, params.get("type", ()), indexes)
    if negotiated and not params.keys() & _RECORD_PARAMS:
        content = await _negotiated(handle, record, accept, source)
        if content is not None:
            return content
    page = _show(handle, values, request, params, choice) if values else _pages.no_values(handle)
    return page.with_headers(_VARY)


def _requested_handle(request: Request, params: Params) -> str:
    """Return the name in the path, or in the front page's form; it is not checked."""
    handle = _without_label(unescape(request.path))
    if not handle and request.method == "POST":
        return _without_label(params.get("hdl", [""])[0].strip())
    return handle


def _without_label(path: str) -> str:
    return without_label(path.lstrip("/"))


def _is_negotiated(accept: str, record: PublicValues) -> bool:
    """Return whether metadata may be the answer to an Accept header."""
    if accept in _ANYTHING:
        return False
    if record.has_metadata or citation_type(accept) is not None:
        return True
    return record.is_upstreams and not accepts_page(accept)


async def _without_record(
    handle: str, params: Params, accept: str, source: Source
) -> Response | None:
    """Return metadata of a DOI whose record cannot be had; None if it is not what the client asks for."""
    if params.keys() & _RECORD_PARAMS or (citation_type(accept) is None and accepts_page(accept)):
        return None
    content = await source.metadata(handle, accept)
    if content.status != 200:
        return None
    return _with_content(content, ())


def _with_content(content: Content, values: Iterable[Value]) -> Response:
    """Return metadata, which expires with the values of the record."""
    content_type = _NOT_PRINTABLE.sub("?", content.content_type)
    response = Response(200, content.body, content_type, (*_pages.CONTENT_HEADERS, _VARY))
    return _expiring(response, values)


async def _negotiated(
    handle: str, record: PublicValues, accept: str, source: Source
) -> Response | None:
    """Return metadata, or 406 if none of it is accepted; None if the answer is a redirect.

    Raises SourceError.
    """
    redirects = any(
        _NEGOTIATION & location.attributes.keys()
        for location in locations_of(record.values, handle)
    )
    if redirects and not record.has_metadata:
        return None
    content = await source.metadata(handle, accept)
    if content.status == 302 or (content.status == 406 and redirects):
        return None
    if content.status == 406:
        return _pages.not_acceptable(handle, content.available).with_headers(_VARY)
    return _with_content(content, record.values)


async def _follow(
    record: PublicValues, request: Request, params: Params, source: Source
) -> Response:
    """Return a redirect to the end of a chain of aliases, on this proxy and with the same query."""
    used: list[Value] = []
    handle = ""
    end: PublicValues | None = record
    for _ in range(MAX_ALIASES + 1):
        alias = next(_aliases(end.values), None) if end is not None else None
        if alias is None:
            target = _pages.path_of(handle) + (
                f"?{request.query.decode('latin-1')}" if request.query else ""
            )
            return _expiring(_pages.moved(301, target), used)
        used.append(alias)
        handle = alias.data.text or ""
        end = await source.lookup(handle, auth="auth" in params, cert="cert" in params)
    message = f"alias chain too long: more than {MAX_ALIASES} aliases"
    return _pages.error(404, "Alias Chain Too Long", message)


def _aliases(values: Iterable[Value]) -> Iterator[Value]:
    return (value for value in values if value.has_type("HS_ALIAS") and is_handle(value.data.text))


def _show(
    handle: str, values: Sequence[Value], request: Request, params: Params, choice: Choice
) -> Response:
    """Return a redirect to a location, the list of locations, or the table of values."""
    show_urls = "showurls" in params.get("action", ())
    if "noredirect" in params and not show_urls:
        return _pages.values_table(handle, values)
    locations = locations_of(values, handle)
    if locations.problem:
        raise SourceError(locations.problem)
    if show_urls:
        return Response(200, locations_xml(locations), "text/xml;charset=utf-8", _pages.HEADERS)
    accept, locatt = request.headers.get("accept"), params.get("locatt", ())
    location = choose(
        locations, accept=accept, locatt=locatt, country=choice.country, pick=choice.pick
    )
    redirect = _redirect(values, locations, location, params.get("urlappend", [""])[0])
    return _expiring(*redirect) if redirect else _pages.values_table(handle, values)


@lru_cache(maxsize=1024)  # a few names get most of the requests
def _fixed_redirect(handle: str, body: bytes) -> tuple[Response, Sequence[Value]] | None:
    """Return the redirect of a record with a single location, and the values that it depends on.

    Such a redirect is the same for all clients. None for any other record.
    """
    values = PublicValues(body).values
    locations = locations_of(values, handle)
    if any(_aliases(values)) or locations.problem or len(locations) != 1:
        return None
    return _redirect(values, locations, choose(locations))


def _redirect(
    values: Iterable[Value], locations: Locations, location: Location | None, added: str = ""
) -> tuple[Response, Sequence[Value]] | None:
    """Return the redirect to a location, and the values that it depends on; None without a URL."""
    target = header_url(append(location.href, added)) if location else None
    if location is None or target is None:
        return None
    used = [value for value in values if ascii_upper(value.type) in _LOCATION_TYPES]
    return _pages.moved(locations.status(location), target, link_header(locations)), used


def _expiring(redirect: Response, used: Iterable[Value]) -> Response:
    """Return a redirect that expires with the first of the values that it depends on."""
    now = time.time()
    lifetimes = [MAX_LIFETIME if (left := value.lifetime(now)) is None else left for value in used]
    expires = formatdate(int(now) + min([*lifetimes, MAX_LIFETIME]), usegmt=True)
    return redirect.with_headers(("Expires", expires))
