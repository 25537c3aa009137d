"""10320/loc: the places a DOI may lead to, parsed safely and chosen as the DOI proxy documents it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit
from xml.parsers import expat

from doiuri._encoding import PATH, encode
from doiuri.records._accept import media_ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from random import Random

MAX_XML = 1_000_000
"""Longest 10320/loc value that is read, in characters or octets: real ones have a few thousand."""

DEFAULT_STEPS = ("locatt", "country", "weighted")

_HEAVIEST = 1e100  # a sum of weights must stay finite
_BLANK = " \t\n\r\f\v"
_ANY_TYPE = "*/*"
_BROWSER_TYPES = frozenset({_ANY_TYPE, "text/*", "text/html", "application/xhtml+xml"})
_WEB = re.compile(r"https?://[^\s/?#\\]", re.IGNORECASE | re.ASCII)
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # no page and no header can hold these
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Location:
    """One place: ``href`` is the address, templates filled in; ``attributes`` are those of the record."""

    href: str
    weight: float = 1.0
    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Locations:
    """The candidates in record order, and how to choose among them; iterable.

    ``attributes`` are those of the ``<locations>`` element; ``problem`` says why a 10320/loc value could not
    be read ("" if all could).
    """

    candidates: tuple[Location, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)
    problem: str = ""

    def __iter__(self) -> Iterator[Location]:
        return iter(self.candidates)

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the choice in their order: ``chooseby``, which older records spell ``choose_by``."""
        text = self.attributes.get("chooseby") or self.attributes.get("choose_by") or ""
        return tuple(step for part in text.split(",") if (step := part.strip())) or DEFAULT_STEPS

    @property
    def negotiable(self) -> bool:
        """Whether the choice depends on the Accept header."""
        return any("conneg" in place.attributes.get("http_role", "") for place in self)

    def status(self, location: Location) -> int:
        """The redirect's HTTP status: the location's ``http_sc``, else that of all locations, else 302."""
        for attributes in (location.attributes, self.attributes):
            if attributes.get("http_sc") in {"301", "302", "303", "307", "308"}:
                return int(attributes["http_sc"])
        return 302

    def with_legacy(self, urls: Iterable[str], *, overruled: bool | None = None) -> Locations:
        """Append a record's plain URL values as ``mode="legacy"``.

        Their weight is 0 where the record has a 10320/loc value (``overruled``; by default: where there
        are candidates), else 1 for the first and 0 for the rest.
        """
        first = "0" if (bool(self.candidates) if overruled is None else overruled) else "1"
        legacy = tuple(
            _location({"href": url, "weight": "0" if number else first, "mode": "legacy"}, "")
            for number, url in enumerate(urls)
        )
        return Locations(self.candidates + legacy, self.attributes, self.problem)


def parse_locations(xml: str | bytes, handle: str = "") -> Locations:
    """Read one 10320/loc value; ``handle`` is the name that fills ``href_template``.

    Bytes are decoded as their XML declaration says. Raises ValueError for XML that is malformed, too large or
    not ``<locations>``, and for any document type declaration: so no entity is ever expanded or fetched.
    """
    if len(xml) > MAX_XML:
        raise ValueError(f"10320/loc is too large: {len(xml)}, at most {MAX_XML} are read")
    reader = _Reader()
    try:
        reader.read(xml)
    except (expat.ExpatError, UnicodeError, LookupError) as error:
        raise ValueError(f"10320/loc is not well-formed XML: {error}") from None
    candidates = tuple(_location(attributes, handle) for attributes in reader.locations)
    return Locations(candidates, reader.attributes)


class _Reader:
    """Expat without a tree: keeps the attributes of ``<locations>`` and of the ``<location>`` in it."""

    def __init__(self) -> None:
        self.attributes: dict[str, str] = {}
        self.locations: list[dict[str, str]] = []
        self._depth = 0

    def read(self, xml: str | bytes) -> None:
        parser = expat.ParserCreate()
        parser.buffer_text = False
        parser.StartDoctypeDeclHandler = self._refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.Parse(xml.lstrip() if isinstance(xml, str) else xml, True)

    @staticmethod
    def _refuse(*_declaration: object) -> None:
        raise ValueError("10320/loc has a document type declaration: entities are refused")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        local = name.rpartition(":")[2]  # a record may put the elements in a namespace
        if self._depth == 1:
            if local != "locations":
                raise ValueError(f"10320/loc holds <{local}>, not <locations>")
            self.attributes = attributes
        elif self._depth == 2 and local == "location":
            self.locations.append(attributes)

    def _end(self, _name: str) -> None:
        self._depth -= 1


def _location(attributes: dict[str, str], handle: str) -> Location:
    href = attributes.get("href", "")
    template = attributes.get("href_template")
    if template is not None:
        whole = encode(handle, PATH)
        href = template.replace("{hdl:path}", whole).replace("{hdl}", whole.replace("/", "%2F"))
    return Location(href.strip(_BLANK), _weight(attributes.get("weight")), attributes)


def _weight(text: str | None) -> float:
    """Weights are numbers, 1 where there is none; what is no finite number counts as missing."""
    if text is None or not _NUMBER.fullmatch(text.strip()):
        return 1.0
    number = float(text)
    return min(max(number, 0.0), _HEAVIEST) if math.isfinite(number) else 1.0


def is_web(url: str) -> bool:
    """Whether a link may lead there: http or https, a host, a legal port, nothing that breaks a page."""
    if not _WEB.match(url) or _UNSAFE.search(url):
        return False
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0 and not re.search(r"\s", parts.netloc)
    except ValueError:
        return False


def choose(
    locations: Locations,
    *,
    accept: str | None = None,
    locatt: str | Sequence[str] = (),
    country: str | None = None,
    pick: Literal["highest"] | Random = "highest",
) -> Location | None:
    """Choose where to go: a location whose address is http or https, or None.

    ``accept`` is an Accept header, ``locatt`` one ``key:value`` or ``key`` or several, ``country`` a code of
    two letters. ``pick`` decides between weights: the highest first, or at random in proportion to them.
    """
    code = (country or "").lower()
    candidates = [place for place in locations if is_web(place.href)]
    for step in locations.steps:
        if len(candidates) < 2 or step == "weighted":
            break
        if step == "locatt":
            for pair in (locatt,) if isinstance(locatt, str) else locatt:
                candidates = _narrow(candidates, partial(_has, pair))
            candidates = _negotiate(candidates, accept)
        elif step == "country" and code:
            candidates = _narrow(
                candidates, lambda place: place.attributes.get("country", "").lower() == code
            )
    return _by_weight(candidates, pick) if candidates else None


def _has(pair: str, place: Location) -> bool:
    """Whether a location has the attribute of ``locatt=key:value``, or any such with ``locatt=key``."""
    key, colon, value = pair.partition(":")
    return key in place.attributes and (not colon or place.attributes[key] == value)


def _narrow(candidates: list[Location], wanted: Callable[[Location], bool]) -> list[Location]:
    """A step that matches none changes nothing."""
    return [place for place in candidates if wanted(place)] or candidates


def _negotiate(candidates: list[Location], accept: str | None) -> list[Location]:
    for key, value in _roles(accept):
        found = [place for place in candidates if place.attributes.get(key, "").lower() == value]
        if found:
            return found
    return candidates


def _roles(accept: str | None) -> list[tuple[str, str]]:
    """The attributes that content negotiation looks for, best first."""
    types = _accepted(accept or _ANY_TYPE)
    if not types or types[0] in _BROWSER_TYPES:
        return [("http_role", "browser"), ("http_role", "no_conneg")]
    return [(key, name) for name in types for key in ("ctype", "media-type")] + [("http_role", "conneg")]


def _accepted(accept: str) -> list[str]:
    """The media types of an Accept header, the most wanted first, refused ones left out."""
    wanted = [(name, quality) for name, quality in media_ranges(accept) if quality > 0]
    return [name for name, _ in sorted(wanted, key=lambda entry: -entry[1])]


def _by_weight(candidates: list[Location], pick: Literal["highest"] | Random) -> Location:
    if not any(place.weight for place in candidates):
        # "any" may be chosen: then rather a page than what is there for content negotiation
        candidates = _narrow(candidates, lambda place: not _has("http_role:conneg", place))
        return candidates[0] if pick == "highest" else pick.choice(candidates)
    if pick == "highest":
        return max(candidates, key=lambda place: place.weight)
    return pick.choices(candidates, [place.weight for place in candidates])[0]
