"""Redirects and content negotiation: ``GET /<doi>``.

DOI resolution documentation §1 and §3; DOI Handbook, content negotiation.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import unquote

from doiuri.plugins import without_label
from doiuri.records import ascii_upper, choose, locations_of, select

from doiuri_proxy.http import _pages
from doiuri_proxy.http._http import BadRequestError, Response, unescape
from doiuri_proxy.http._targets import append, header_url, link_header, locations_xml
from doiuri_proxy.records._files import is_handle
from doiuri_proxy.records._metadata import accepts_page, citation_type
from doiuri_proxy.records._source import MAX_CACHED, BusyError, PublicValues, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

    from doiuri.records import Location, Locations, Value

    from doiuri_proxy.http._http import Params, Request
    from doiuri_proxy.records._metadata import MetadataAnswer
    from doiuri_proxy.records._open import Source

MAX_ALIASES = 20  # followed in a chain
MAX_LIFETIME = 2 * 86400  # seconds from Date to Expires

# Parameters that ask about the record itself
_RECORD_PARAMS = frozenset({"action", "index", "noredirect", "type"})
_ANYTHING = frozenset({"", "*/*"})  # Accept headers without a preference
_LOCATION_TYPES = frozenset({"URL", "10320/LOC"})
# Invalid in a header; another server's Content-Type may have it
_NOT_PRINTABLE = re.compile("[^ -~]")
# For every record: it may have metadata, or the answer is 406 because it has none
_VARY = ("Vary", "Accept")
_NEGOTIATION = {"ctype", "http_role", "media-type"}  # attributes of locations


@dataclass(frozen=True, slots=True)
class Choice:
    """How to choose among locations: those for ``country`` first, then by weight.

    ``pick`` is "highest" for the highest weight, or the generator for a random choice by weight.
    """

    pick: Literal["highest"] | Random = "highest"
    country: str | None = None


class _Redirect(NamedTuple):
    """A redirect, and the values of the record that it depends on."""

    response: Response
    values: Sequence[Value]


async def answer(request: Request, source: Source, choice: Choice) -> Response:
    """Return a redirect, or the page that the parameters ask for.

    The first of these that applies is the answer:

    1. without a name, the front page;
    2. for a name that is not registered, the page "not found";
    3. for an alias, a redirect to the end of the chain, whatever else is in the record, unless a parameter says
       ``ignore_aliases``;
    4. metadata, if the Accept header prefers them and no parameter asks about the record itself;
    5. a redirect to a location, or what the parameters ask for.

    Raises BadRequestError, SourceError.
    """
    params = request.read_params("&;")
    handle = _requested_handle(request, params)
    if not handle:
        return _pages.front()

    accept = request.headers.get("accept", "")
    try:
        record = await source.lookup(handle, auth="auth" in params, cert="cert" in params)
    except BusyError:  # upstream does not answer, so it would not send metadata either
        raise
    except (
        SourceError
    ):  # the record cannot be used; the metadata are another answer, which may be fine
        metadata = await _without_record(handle, params, accept, source)
        if metadata is None:
            raise
        return metadata
    if record is None:
        return _pages.not_found(handle)

    is_negotiated = _is_negotiated(accept, record)
    # Most requests have no parameters and are for a record with a single URL: that redirect is cached.
    if not is_negotiated and not params and len(record.body) <= MAX_CACHED:
        redirect = _fixed_redirect(handle, record.body)
        if redirect is not None:  # its date of expiry depends on the moment
            return _expiring(redirect.response, redirect.values).with_headers(_VARY)

    if "ignore_aliases" not in params and _first_alias(record) is not None:
        return await _follow(record, request, params, source)
    if is_negotiated and not params.keys() & _RECORD_PARAMS:
        content = await _negotiated(handle, record, accept, source)
        if content is not None:
            return content
    return _show(handle, record, request, params, choice).with_headers(_VARY)


def _requested_handle(request: Request, params: Params) -> str:
    """Return the name in the path, or in the front page's form; it is not checked."""
    handle = _without_label(unescape(request.path))
    if not handle and request.method == "POST":
        typed = params.get("hdl", [""])[0]
        return _without_label(_decode_typed(typed.strip()))
    return handle


def _decode_typed(text: str) -> str:
    """Return the name that somebody typed, with or without escapes. Raises BadRequestError.

    Handling of Special Characters, hex encoding: a form always reads "%" as the start of an escape. One that
    starts none stands for itself, as in ``DOI.parse``.
    """
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise BadRequestError(f"the escapes are not UTF-8: {text}") from None


def _without_label(path: str) -> str:
    return without_label(path.lstrip("/"))


def _is_negotiated(accept: str, record: PublicValues) -> bool:
    """Return whether metadata may be the answer to an Accept header.

    Upstream may have metadata of types that are not known here, and is asked about these unless the header
    accepts the web page.
    """
    if accept in _ANYTHING:
        return False
    if record.has_metadata or citation_type(accept) is not None:
        return True
    return record.is_upstreams and not accepts_page(accept)


async def _without_record(
    handle: str, params: Params, accept: str, source: Source
) -> Response | None:
    """Return metadata of a DOI whose record is not available; None if the client does not ask for metadata."""
    if params.keys() & _RECORD_PARAMS:  # they ask about the record itself
        return None
    # A header with media types that are not known here, and without a page, may ask for other metadata.
    if citation_type(accept) is None and accepts_page(accept):
        return None
    content = await source.metadata(handle, accept)
    if content.status != 200:
        return None
    return _with_content(content, ())  # no values, so the answer expires after MAX_LIFETIME


def _with_content(content: MetadataAnswer, values: Iterable[Value]) -> Response:
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
    locations = locations_of(record.values, handle)
    # Such a location leads to metadata: the redirect to it is the answer, unless there is some here
    has_location = any(_NEGOTIATION & location.attributes.keys() for location in locations)
    if has_location and not record.has_metadata:
        return None
    content = await source.metadata(handle, accept)
    # 302: the header accepts the page. 406: a location may have the media type that the metadata lack.
    if content.status == 302 or (content.status == 406 and has_location):
        return None
    if content.status == 406:
        return _pages.not_acceptable(handle, content.available).with_headers(_VARY)
    return _with_content(content, record.values)


async def _follow(
    record: PublicValues, request: Request, params: Params, source: Source
) -> Response:
    """Return a redirect to the end of a chain of aliases, on this proxy and with the same query."""
    aliases: list[Value] = []
    alias = _first_alias(record)
    while alias is not None:
        aliases.append(alias)
        handle = alias.data.text or ""
        aliased = await source.lookup(handle, auth="auth" in params, cert="cert" in params)
        if len(aliases) > MAX_ALIASES:
            message = f"alias chain too long: more than {MAX_ALIASES} aliases"
            return _pages.error(404, "Alias Chain Too Long", message)
        alias = None if aliased is None else _first_alias(aliased)

    # The end of the chain need not be registered
    target = _pages.path_of(handle)
    if request.query:
        target += "?" + request.query.decode("latin-1")
    return _expiring(_pages.moved(301, target), aliases)


def _first_alias(record: PublicValues) -> Value | None:
    """Return the first value that makes a record an alias of another handle, if there is one."""
    for value in record.values:
        if value.has_type("HS_ALIAS") and is_handle(value.data.text):
            return value
    return None


def _show(
    handle: str, record: PublicValues, request: Request, params: Params, choice: Choice
) -> Response:
    """Return a redirect to a location, the list of locations, or the table of values."""
    indexes = {int(text) for text in params.get("index", ()) if re.fullmatch("[0-9]{1,10}", text)}
    values = select(record.values, params.get("type", ()), indexes)
    if not values:
        return _pages.no_values(handle)
    # Three forms, in this order: the list of locations, the table of values, the redirect.
    show_urls = "showurls" in params.get("action", ())
    if "noredirect" in params and not show_urls:
        return _pages.values_table(handle, values)

    locations = locations_of(values, handle)
    if locations.problem:
        raise SourceError(locations.problem)
    if show_urls:
        return Response(200, locations_xml(locations), "text/xml;charset=utf-8", _pages.HEADERS)

    location = choose(
        locations,
        accept=request.headers.get("accept"),
        locatt=params.get("locatt", ()),
        country=choice.country,
        pick=choice.pick,
    )
    added = params.get("urlappend", [""])[0]
    redirect = _redirect(values, locations, location, added)
    if redirect is None:  # nowhere to redirect to: the table, as with "noredirect"
        return _pages.values_table(handle, values)
    return _expiring(redirect.response, redirect.values)


@lru_cache(maxsize=1024)  # a few names get most of the requests
def _fixed_redirect(handle: str, body: bytes) -> _Redirect | None:
    """Return the redirect of a record with a single location, which is the same for all clients.

    None for any other record: its answer depends on the request, or is an error or an alias. The parameter is
    the record's JSON because a record that has changed must not get the old redirect.
    """
    record = PublicValues(body)
    locations = locations_of(record.values, handle)
    if locations.problem or len(locations) != 1 or _first_alias(record) is not None:
        return None
    return _redirect(record.values, locations, choose(locations))


def _redirect(
    values: Iterable[Value], locations: Locations, location: Location | None, added: str = ""
) -> _Redirect | None:
    """Return the redirect to a location; None if there is no location, or its URL cannot be in a header.

    :param added: the text to append to the URL.
    """
    if location is None:
        return None
    target = header_url(append(location.href, added))
    if target is None:
        return None
    response = _pages.moved(locations.status(location), target, link_header(locations))
    used = [value for value in values if ascii_upper(value.type) in _LOCATION_TYPES]
    return _Redirect(response, used)


def _expiring(response: Response, values: Iterable[Value]) -> Response:
    """Return a response that expires with the first of the values that it depends on, after two days at most."""
    now = time.time()
    seconds: float = MAX_LIFETIME
    for value in values:
        lifetime = value.lifetime(now)
        if lifetime is not None:
            seconds = min(seconds, lifetime)
    return response.with_headers(("Expires", formatdate(int(now) + seconds, usegmt=True)))
