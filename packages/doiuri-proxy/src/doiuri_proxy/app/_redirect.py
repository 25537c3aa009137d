"""Redirects: ``GET /<doi>`` (DOI resolution documentation §1 and §3)."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from doiuri.records import choose, locations_of

from doiuri_proxy.app import _pages
from doiuri_proxy.app._http import Response, unescape
from doiuri_proxy.app._locations import header_links, show_urls
from doiuri_proxy.app._rest import wanted
from doiuri_proxy.app._target import append, header_url
from doiuri_proxy.records._records import is_handle
from doiuri_proxy.records._source import Found, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from random import Random

    from doiuri.records import Locations, Value

    from doiuri_proxy.app._http import Headers, Params, Request
    from doiuri_proxy.records._source import Source

MAX_HOPS = 20  # aliases followed in one chain
MAX_EXPIRES = 2 * 86400  # seconds

_LABEL = re.compile(r"(?:doi:|hdl:|info:doi/|info:hdl/|urn:doi:)", re.ASCII | re.IGNORECASE)
_URN = re.compile(r"(10\.[0-9.]+):")


@dataclass(frozen=True, slots=True)
class Choice:
    """How to choose among locations: by ``country`` of the asker, then by weight, ``pick`` says how."""

    pick: Literal["highest"] | Random = "highest"
    country: str | None = None


def handle_of(path: bytes) -> str:
    """Read the handle from a path in any accepted spelling; raises BadRequestError."""
    return _unlabelled(unescape(path).lstrip("/"))


def _unlabelled(handle: str) -> str:
    label = _LABEL.match(handle)
    if label is None:
        return handle
    handle = handle[label.end() :]
    # Encoding rules for URL presentation, note on URNs: the first colon stands for the slash.
    return _URN.sub(r"\1/", handle, count=1) if label[0].lower() == "urn:doi:" else handle


async def answer(request: Request, source: Source, choice: Choice) -> Response:
    """Redirect to what the DOI stands for, or show what there is; raises BadRequestError, SourceError."""
    params = request.read_params("&;")
    handle = handle_of(request.path)
    if not handle and request.method == "POST":
        handle = _unlabelled(params.get("hdl", [""])[0].strip())
    if not handle:
        return _pages.front()
    found = await source.find(handle, auth="auth" in params, cert="cert" in params)
    if found is None:
        return _pages.not_found(handle)
    if not params and (way := _only_way(handle, found.body)):
        return _expiring(*way)
    values = found.values
    if "ignore_aliases" not in params and any(_aliases(values)):
        return await _follow(found, request, params, source)
    indices = [int(text) for text in params.get("index", ()) if re.fullmatch("[0-9]{1,10}", text)]
    asked = wanted(values, params.get("type", ()), indices)
    return _show(handle, asked, request, params, choice) if asked else _pages.no_values(handle)


async def _follow(found: Found, request: Request, params: Params, source: Source) -> Response:
    """Redirect to the end of a chain of aliases, on this proxy and with the same query."""
    used: list[Value] = []
    handle = ""
    end: Found | None = found
    for _ in range(MAX_HOPS + 1):
        alias = next(_aliases(end.values), None) if end is not None else None
        if alias is None:
            target = _pages.path_of(handle) + (f"?{request.query.decode('latin-1')}" if request.query else "")
            return _expiring(_pages.moved(301, target), used)
        used.append(alias)
        handle = alias.data.text or ""
        end = await source.find(handle, auth="auth" in params, cert="cert" in params)
    return _pages.error(404, "Alias Chain Too Long", f"alias chain too long: more than {MAX_HOPS} aliases")


def _aliases(values: Iterable[Value]) -> Iterator[Value]:
    return (value for value in values if value.has_type("HS_ALIAS") and is_handle(value.data.text))


def _show(handle: str, values: Sequence[Value], request: Request, params: Params, choice: Choice) -> Response:
    """Redirect to a location, or show the locations or the values."""
    listing = "showurls" in params.get("action", ())
    if "noredirect" in params and not listing:
        return _pages.values_table(handle, values)
    locations = locations_of(values, handle)
    if locations.problem:
        raise SourceError(locations.problem)
    if listing:
        return Response(200, show_urls(locations), "text/xml;charset=utf-8", _pages.SECURITY)
    accept, locatt = request.headers.get("accept"), params.get("locatt", ())
    place = choose(locations, accept=accept, locatt=locatt, country=choice.country, pick=choice.pick)
    target = header_url(append(place.href, params.get("urlappend", [""])[0])) if place else None
    if place is None or target is None:
        return _pages.values_table(handle, values)
    return _expiring(_pages.moved(locations.status(place), target, _headers(locations)), _used(values))


@lru_cache(maxsize=1024)  # some names are asked for again and again
def _only_way(handle: str, body: bytes) -> tuple[Response, Sequence[Value]] | None:
    """Make the redirect of a record that leads all who ask to one place, and say on which values it rests."""
    values = Found(body).values
    locations = locations_of(values, handle)
    if any(_aliases(values)) or locations.problem or len(locations) != 1:
        return None
    place = choose(locations)
    target = header_url(place.href) if place else None
    if place is None or target is None:
        return None
    return _pages.moved(locations.status(place), target, _headers(locations)), _used(values)


def _headers(locations: Locations) -> Headers:
    links = header_links(locations)
    return (
        *((("Vary", "Accept"),) if locations.negotiable else ()),
        *((("Link", links),) if links else ()),
    )


def _used(values: Iterable[Value]) -> list[Value]:
    return [value for value in values if value.has_type("URL") or value.has_type("10320/loc")]


def _expiring(redirect: Response, used: Iterable[Value]) -> Response:
    """Say until when a redirect holds: as long as the shortest of the values that it rests on."""
    now = time.time()
    lifetimes = [MAX_EXPIRES if (left := value.lifetime(now)) is None else left for value in used]
    return redirect.plus(("Expires", _date(int(now) + min([*lifetimes, MAX_EXPIRES]))))


@lru_cache(maxsize=64)  # within one second, few are different
def _date(moment: int) -> str:
    return formatdate(moment, usegmt=True)
