"""10320/loc: the locations of a DOI, parsed safely, and the choice that the DOI proxy documents."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from xml.parsers import expat

from doiuri._encoding import PATH, encode
from doiuri._text import is_web
from doiuri.records._negotiation import media_ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from random import Random

_MAX_XML = 1_000_000  # characters or bytes of a 10320/loc value; real ones have a few thousand
_MAX_FILLED = 1_000_000  # characters of all addresses of a record that templates expand to
_MAX_WEIGHT = 1e100  # the sum of weights must stay finite
_DEFAULT_STEPS = ("locatt", "country", "weighted")
BLANK = " \t\n\r\f\v"
_ANY_TYPE = "*/*"
_BROWSER_TYPES = frozenset({_ANY_TYPE, "text/*", "text/html", "application/xhtml+xml"})
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Location:
    """One location that a DOI may resolve to.

    >>> Location("https://example.org/", attributes={"country": "gb"}).weight
    1.0
    """

    href: str
    """The address, with templates filled in; any text (``choose`` returns http and https URLs only)."""

    weight: float = 1.0
    """The weight, 0 or more; 1 if the record has none or not a number."""

    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The attributes of the ``<location>`` element."""


@dataclass(frozen=True, slots=True)
class Locations:
    """The candidates among which a redirect is chosen, in record order; iterable.

    >>> locations = parse_locations('<locations><location href="https://example.org/"/></locations>')
    >>> [location.href for location in locations]
    ['https://example.org/']
    """

    candidates: tuple[Location, ...] = ()
    """The locations."""

    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The attributes of the ``<locations>`` element."""

    problem: str = ""
    """Why a 10320/loc value of the record could not be parsed; empty if all could."""

    def __iter__(self) -> Iterator[Location]:
        return iter(self.candidates)

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the choice, each once, from ``chooseby`` or, in older records, ``choose_by``."""
        text = self.attributes.get("chooseby") or self.attributes.get("choose_by") or ""
        steps = (step for part in text.split(",") if (step := part.strip()))
        return tuple(dict.fromkeys(steps)) or _DEFAULT_STEPS  # a repeated step changes nothing

    def status(self, location: Location) -> int:
        """Return the HTTP status of a redirect: ``http_sc`` of the location or of all locations, else 302.

        >>> Locations().status(Location("https://example.org/", attributes={"http_sc": "303"}))
        303
        """
        for attributes in (location.attributes, self.attributes):
            if attributes.get("http_sc") in {"301", "302", "303", "307", "308"}:
                return int(attributes["http_sc"])
        return 302


def parse_locations(xml: str | bytes, handle: str = "") -> Locations:
    """Parse one 10320/loc value.

    :param xml: the XML; bytes are decoded as the XML declaration says
    :param handle: the record's handle, which fills in ``href_template``
    :raises ValueError: if the XML is malformed, longer than a million characters, not ``<locations>``, or has
        a document type declaration: entities are never expanded or fetched. Also if the templates expand to
        more than a million characters

    >>> (location,) = parse_locations(
    ...     '<locations><location href_template="https://example.org/?id={hdl}"/></locations>', "10.1000/1"
    ... )
    >>> location.href
    'https://example.org/?id=10.1000%2F1'
    """
    return read_locations(xml, Templates(handle))


class Templates:
    """Fills in ``href_template`` for one handle, up to ``_MAX_FILLED`` characters in all."""

    def __init__(self, handle: str) -> None:
        self._path = encode(handle, PATH)
        self._name = self._path.replace("/", "%2F")
        self._room = _MAX_FILLED

    def expand(self, template: str) -> str:
        paths, names = template.count("{hdl:path}"), template.count("{hdl}")
        self._room -= len(template) + paths * len(self._path) + names * len(self._name)
        if self._room < 0:
            raise ValueError(
                f"10320/loc is too large: at most {_MAX_FILLED} characters in filled templates"
            )
        return template.replace("{hdl:path}", self._path).replace("{hdl}", self._name)


def read_locations(xml: str | bytes, templates: Templates) -> Locations:
    """Parse one 10320/loc value; ``templates`` is shared by all values of a record."""
    if len(xml) > _MAX_XML:
        raise ValueError(f"10320/loc is too large: length {len(xml)}, at most {_MAX_XML} allowed")
    found: list[dict[str, str]] = []  # the attributes of <locations>, then those of each <location>
    depth = 0

    def refuse(*_declaration: object) -> None:
        raise ValueError("10320/loc has a document type declaration; entities are refused")

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        local = name.rpartition(":")[2]  # some records use a namespace
        if depth == 1 and local != "locations":
            raise ValueError(f"10320/loc holds <{local}>, not <locations>")
        if depth == 1 or (depth == 2 and local == "location"):
            found.append(attributes)

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()  # no tree is built: values may be deep
    parser.StartDoctypeDeclHandler, parser.StartElementHandler, parser.EndElementHandler = (
        refuse,
        start,
        end,
    )
    try:
        parser.Parse(xml.lstrip() if isinstance(xml, str) else xml, True)
    except (expat.ExpatError, UnicodeError, LookupError) as error:
        raise ValueError(f"10320/loc is not well-formed XML: {error}") from None
    common, *places = found
    return Locations(tuple(_location(place, templates) for place in places), common)


def _location(attributes: dict[str, str], templates: Templates) -> Location:
    template = attributes.get("href_template")
    href = attributes.get("href", "") if template is None else templates.expand(template)
    return Location(href.strip(BLANK), _weight(attributes.get("weight")), attributes)


def _weight(text: str | None) -> float:
    """Return a weight as a number; 1 if it is missing or not a finite number."""
    if text is None or not _NUMBER.fullmatch(text.strip()):
        return 1.0
    number = float(text)
    return min(max(number, 0.0), _MAX_WEIGHT) if math.isfinite(number) else 1.0


def choose(
    locations: Locations,
    *,
    accept: str | None = None,
    locatt: str | Sequence[str] = (),
    country: str | None = None,
    pick: Literal["highest"] | Random = "highest",
) -> Location | None:
    """Choose a location by the steps that the record gives (``chooseby``).

    :param locations: the candidates; only those with an http or https URL are considered
    :param accept: an Accept header
    :param locatt: ``key:value``, or ``key`` for any value, or several of them
    :param country: a country code of two letters
    :param pick: how weights decide: "highest" takes the heaviest candidate, the first of several; a
        ``random.Random`` draws one in proportion to the weights
    :returns: None if there is no candidate

    >>> choose(Locations((Location("https://a.example/", 0.1), Location("https://b.example/", 0.9)))).href
    'https://b.example/'
    """
    code = (country or "").lower()
    candidates = [location for location in locations if is_web(location.href)]
    for step in locations.steps:
        if len(candidates) < 2 or step == "weighted":
            break
        if step == "locatt":
            candidates = _with_attributes(
                candidates, (locatt,) if isinstance(locatt, str) else locatt
            )
            candidates = _negotiate(candidates, accept)
        elif step == "country" and code:
            candidates = _narrow(
                candidates, lambda location: location.attributes.get("country", "").lower() == code
            )
    return _by_weight(candidates, pick) if candidates else None


def _with_attributes(candidates: list[Location], pairs: Iterable[str]) -> list[Location]:
    """Narrow by each ``key:value``, or ``key`` with any value, in time linear in attributes and pairs."""
    wanted: dict[tuple[str, str | None], set[int]] = {}
    for pair in pairs:
        key, colon, value = pair.partition(":")
        wanted.setdefault((key, value if colon else None), set())
    if not wanted:
        return candidates
    for number, location in enumerate(candidates):
        for key, text in location.attributes.items():
            for attribute in ((key, text), (key, None)):
                if attribute in wanted:
                    wanted[attribute].add(number)
    kept = set(range(len(candidates)))
    for matching in wanted.values():
        kept = kept & matching or kept
    return [candidates[number] for number in sorted(kept)]


def _narrow(candidates: list[Location], wanted: Callable[[Location], bool]) -> list[Location]:
    """Return the candidates that match; all of them if none does."""
    return [location for location in candidates if wanted(location)] or candidates


def _negotiate(candidates: list[Location], accept: str | None) -> list[Location]:
    matching: dict[tuple[str, str], list[Location]] = {}
    for location in candidates:
        for key in ("ctype", "media-type", "http_role"):
            if key in location.attributes:
                matching.setdefault((key, location.attributes[key].lower()), []).append(location)
    return next((matching[role] for role in _roles(accept) if role in matching), candidates)


def _roles(accept: str | None) -> list[tuple[str, str]]:
    """Return the attributes that content negotiation looks for, in order of preference."""
    wanted = [
        (name, quality) for name, _, quality in media_ranges(accept or _ANY_TYPE) if quality > 0
    ]
    types = [name for name, _ in sorted(wanted, key=lambda entry: -entry[1])]
    if not types or types[0] in _BROWSER_TYPES:
        return [("http_role", "browser"), ("http_role", "no_conneg")]
    return [(key, name) for name in types for key in ("ctype", "media-type")] + [
        ("http_role", "conneg")
    ]


def _by_weight(candidates: list[Location], pick: Literal["highest"] | Random) -> Location:
    if not any(location.weight for location in candidates):
        # all zero: any may be chosen, so prefer a page to what content negotiation is for
        candidates = _narrow(
            candidates, lambda location: location.attributes.get("http_role") != "conneg"
        )
        return candidates[0] if pick == "highest" else pick.choice(candidates)
    if pick == "highest":
        return max(candidates, key=lambda location: location.weight)
    return pick.choices(candidates, [location.weight for location in candidates])[0]
