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
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from random import Random

_MAX_XML = 1_000_000  # characters or bytes of a 10320/loc value; real ones have a few thousand
_MAX_FILLED = 1_000_000  # characters of all addresses of a record that templates expand to
_MAX_WEIGHT = 1e100  # the sum of weights must stay finite
_DEFAULT_STEPS = ("locatt", "country", "weighted")
BLANK = " \t\n\r\f\v"
_STATUSES = ("301", "302", "303", "307", "308")  # of redirects
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
        steps = filter(None, map(str.strip, text.split(",")))
        return tuple(dict.fromkeys(steps)) or _DEFAULT_STEPS  # a repeated step changes nothing

    def status(self, location: Location) -> int:
        """Return the HTTP status of a redirect: ``http_sc`` of the location or of all locations, else 302.

        >>> Locations().status(Location("https://example.org/", attributes={"http_sc": "303"}))
        303
        """
        for attributes in (location.attributes, self.attributes):
            status = attributes.get("http_sc")
            if status in _STATUSES:
                return int(status)
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
        """Return a template with the handle in place of ``{hdl}`` and ``{hdl:path}``.

        :raises ValueError: if the addresses of the record become too long
        """
        self._room -= len(template)
        self._room -= template.count("{hdl:path}") * len(self._path)
        self._room -= template.count("{hdl}") * len(self._name)
        if self._room < 0:
            raise ValueError(
                f"10320/loc is too large: at most {_MAX_FILLED} characters in filled templates"
            )
        return template.replace("{hdl:path}", self._path).replace("{hdl}", self._name)


def read_locations(xml: str | bytes, templates: Templates) -> Locations:
    """Parse one 10320/loc value; ``templates`` is shared by all values of a record."""
    if len(xml) > _MAX_XML:
        raise ValueError(f"10320/loc is too large: length {len(xml)}, at most {_MAX_XML} allowed")
    if isinstance(xml, str):
        xml = xml.lstrip()
    elements = _Elements()
    parser = expat.ParserCreate()  # no tree is built: values may be deep
    parser.StartDoctypeDeclHandler = elements.refuse_doctype
    parser.StartElementHandler = elements.start
    parser.EndElementHandler = elements.end
    try:
        parser.Parse(xml, True)
    except (expat.ExpatError, UnicodeError, LookupError) as error:
        raise ValueError(f"10320/loc is not well-formed XML: {error}") from None

    candidates = [_location(attributes, templates) for attributes in elements.locations]
    return Locations(tuple(candidates), elements.attributes)


class _Elements:
    """What the parser tells of a 10320/loc value."""

    def __init__(self) -> None:
        self.attributes: dict[str, str] = {}  # of <locations>
        self.locations: list[dict[str, str]] = []  # the attributes of each <location>
        self._depth = 0

    def refuse_doctype(self, *_declaration: object) -> None:
        raise ValueError("10320/loc has a document type declaration; entities are refused")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Keep the attributes of ``<locations>``, or of a ``<location>`` in it; ignore other elements."""
        self._depth += 1
        local_name = name.rpartition(":")[2]  # some records use a namespace
        if self._depth == 1:
            if local_name != "locations":
                raise ValueError(f"10320/loc holds <{local_name}>, not <locations>")
            self.attributes = attributes
        elif self._depth == 2 and local_name == "location":
            self.locations.append(attributes)

    def end(self, _name: str) -> None:
        self._depth -= 1


def _location(attributes: dict[str, str], templates: Templates) -> Location:
    """Return the location of an element; its template, if it has one, overrules its ``href``."""
    template = attributes.get("href_template")
    if template is None:
        href = attributes.get("href", "")
    else:
        href = templates.expand(template)
    return Location(href.strip(BLANK), _weight(attributes.get("weight")), attributes)


def _weight(text: str | None) -> float:
    """Return a weight as a number; 1 if it is missing or not a finite number."""
    if text is None or not _NUMBER.fullmatch(text.strip()):
        return 1.0
    number = float(text)
    if not math.isfinite(number):
        return 1.0
    return min(max(number, 0.0), _MAX_WEIGHT)


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
    pairs = [locatt] if isinstance(locatt, str) else locatt
    candidates = [location for location in locations if is_web(location.href)]
    for step in locations.steps:
        if len(candidates) < 2 or step == "weighted":
            break
        if step == "locatt":
            candidates = _with_attributes(candidates, pairs)
            candidates = _negotiate(candidates, accept)
        elif step == "country" and country:
            candidates = _in_country(candidates, country.lower())
    return _by_weight(candidates, pick) if candidates else None


def _with_attributes(candidates: list[Location], pairs: Iterable[str]) -> list[Location]:
    """Return the candidates that have each ``key:value``, or ``key`` with any value.

    A pair that none of the remaining ones has is passed over. The time is linear in attributes and pairs, as both
    are untrusted.
    """
    # The numbers of the candidates with each pair; the value of a key alone is None
    matching: dict[tuple[str, str | None], set[int]] = {}
    for pair in pairs:
        name, colon, value = pair.partition(":")
        wanted = value if colon else None
        matching[name, wanted] = set()
    if not matching:
        return candidates

    for number, location in enumerate(candidates):
        for name, value in location.attributes.items():
            for attribute in ((name, value), (name, None)):
                if attribute in matching:
                    matching[attribute].add(number)

    remaining = set(range(len(candidates)))
    for numbers in matching.values():
        remaining = remaining & numbers or remaining
    return [candidates[number] for number in sorted(remaining)]


def _in_country(candidates: list[Location], code: str) -> list[Location]:
    """Return the candidates for a country; all of them if there is none."""
    matching = [
        location
        for location in candidates
        if location.attributes.get("country", "").lower() == code
    ]
    return matching or candidates


def _negotiate(candidates: list[Location], accept: str | None) -> list[Location]:
    """Return the candidates for the most wanted media type or role; all of them if there is none."""
    by_attribute: dict[tuple[str, str], list[Location]] = {}
    for location in candidates:
        for name in ("ctype", "media-type", "http_role"):
            if name in location.attributes:
                attribute = name, location.attributes[name].lower()
                by_attribute.setdefault(attribute, []).append(location)

    for attribute in _negotiated_attributes(accept):
        if attribute in by_attribute:
            return by_attribute[attribute]
    return candidates


def _negotiated_attributes(accept: str | None) -> Iterator[tuple[str, str]]:
    """Yield the attributes that content negotiation looks for, in order of preference: ("ctype", "text/turtle").

    A browser, and whoever accepts any type, gets a page rather than what is for content negotiation.
    """
    ranges = sorted(media_ranges(accept or _ANY_TYPE), key=_quality, reverse=True)
    media_types = [name for name, _, quality in ranges if quality > 0]
    if not media_types or media_types[0] in _BROWSER_TYPES:
        yield "http_role", "browser"
        yield "http_role", "no_conneg"
        return
    for name in media_types:
        yield "ctype", name
        yield "media-type", name
    yield "http_role", "conneg"


def _quality(media_range: tuple[str, dict[str, str], float]) -> float:
    return media_range[2]


def _is_page(location: Location) -> bool:
    """Return whether a location is not one for content negotiation."""
    return location.attributes.get("http_role") != "conneg"


def _by_weight(candidates: list[Location], pick: Literal["highest"] | Random) -> Location:
    """Return the heaviest candidate, or one that is drawn by weight; of those without weights, rather a page."""
    weights = [location.weight for location in candidates]
    if not any(weights):
        pages = list(filter(_is_page, candidates)) or candidates
        if pick == "highest":
            return pages[0]
        return pick.choice(pages)
    if pick == "highest":
        return candidates[weights.index(max(weights))]
    return pick.choices(candidates, weights)[0]
