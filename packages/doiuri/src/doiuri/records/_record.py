"""The record of a DOI: a list of typed values (RFC 3651 section 3.1), in the JSON of the REST API."""

from __future__ import annotations

import base64
import binascii
import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri._doi import Handle
from doiuri._errors import BadRecord
from doiuri._json import Malformed, brief, dump, integer, load, read_object
from doiuri._names import Immutable
from doiuri._text import html_link, html_text, is_web
from doiuri.records._locations import BLANK, Location, Locations, Templates, choose, read_locations

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from re import Match
    from types import UnionType

MAX_TTL = 2**31 - 1  # seconds: a signed integer of 32 bits (RFC 3651 section 3.1)
_UPPER = {ord(letter): letter.upper() for letter in ascii_lowercase}
_FORMATS = {"string": str, "base64": str, "hex": str, "admin": dict, "vlist": list, "site": dict}
_DATA_MEMBERS = frozenset({"format", "value"})
_VALUE_MEMBERS = frozenset(
    {"index", "type", "data", "permissions", "ttl", "timestamp", "references"}
)
_RECORD_MEMBERS = frozenset({"responseCode", "handle", "values"})
_set = object.__setattr__

# Records as ``Record.to_json`` writes nearly all of them: checked, and their URL read, without parsing. This
# makes a batch of stored answers fast. One with an alias, several URLs or a 10320/loc value is parsed.
_TEXT = r'"[^"\\\x00-\x1f]*+"'  # without escapes, so a quote always ends it
_INTEGER = r"-?+(?:0|[1-9][0-9]{0,8}+)"
_STRING = rf'\{{"format":"string","value":{_TEXT}\}}'
_FLAG = r'(?:,"legacyByteLength":(?:true|false)|)'
_RIGHTS = rf'\{{"handle":{_TEXT},"index":{_INTEGER},"permissions":{_TEXT}{_FLAG}\}}'
_ADMIN = rf'\{{"format":"admin","value":{_RIGHTS}\}}'
_REST = rf'(?:,"permissions":{_TEXT}|)(?:,"ttl":(?:{_INTEGER}|{_TEXT})|)(?:,"timestamp":{_TEXT}|)'
_START = rf'\{{"index":{_INTEGER},"type":'
_END = rf"{_REST}\}}(?:,(?=\{{)|(?=\]))"
_OTHER = rf'(?!"(?i:URL|HS_ALIAS|10320/LOC)"){_TEXT},"data":(?:{_STRING}|{_ADMIN})'
_URL = r'"[Uu][Rr][Ll]","data":\{"format":"string","value":"(?P<url>[^"\\\x00-\x1f]*+)"\}'
_PLAIN = re.compile(
    rf"""
    \{{"responseCode":1,"handle":"(?P<handle>[^"\\\x00-\x1f]*+)","values":\[
        (?>(?:{_START}{_OTHER}{_END})*)     # what is not asked for,
        (?:{_START}{_URL}{_END}|)           # at most one URL,
        (?>(?:{_START}{_OTHER}{_END})*)     # and more
    \]\}}
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Data:
    r"""The data of a ``Value``: JSON and the name of its format (DOI resolution documentation section 5).

    >>> Data("base64", "AAEC").octets
    b'\x00\x01\x02'
    """

    format: str
    """The format: "string", "base64", "hex", "admin", "vlist", "site", or one that is not documented."""

    value: Any = field(hash=False)
    """The JSON value: a str for "string", "base64" and "hex", a dict for "admin" and "site", a list for
    "vlist"; anything for other formats."""

    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Undocumented members, kept as they are."""

    @property
    def octets(self) -> bytes | None:
        """The bytes of string, base64 or hex data, else None; raises ValueError if they cannot be decoded."""
        if self.format == "string":
            return str(self.value).encode("utf-8", "surrogatepass")
        try:
            match self.format:
                case "base64":
                    return _base64(self.value)
                case "hex":
                    return bytes.fromhex(self.value)
                case _:
                    return None
        except (binascii.Error, ValueError) as error:
            raise ValueError(f"damaged {self.format} data: {error}") from None

    @property
    def text(self) -> str | None:
        """String data, or base64 or hex data that is UTF-8; else None."""
        if self.format == "string":
            return str(self.value)
        try:
            octets = self.octets
            return None if octets is None else octets.decode()
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Value:
    """One typed value of a record.

    >>> value = Value(1, "URL", Data("string", "https://example.org/"), ttl=86400)
    >>> value.to_json()
    {'index': 1, 'type': 'URL', 'data': {'format': 'string', 'value': 'https://example.org/'}, 'ttl': 86400}
    """

    index: int
    """The number that identifies the value in its record."""

    type: str
    """The type's name: ``URL``, ``EMAIL``, ``HS_ALIAS``, ``10320/loc`` and many more."""

    data: Data
    """The data."""

    ttl: int | str | None = None
    """Seconds for which the value may be cached, or the time until which it may be, in ISO 8601."""

    timestamp: str | None = None
    """When the value last changed, in ISO 8601."""

    permissions: Any = field(default=None, hash=False)
    """Who may read and write the value, as the server sends it: four digits, 0 or 1."""

    references: Any = field(default=None, hash=False)
    """References to other values, as the server sends them."""

    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Undocumented members, kept as they are."""

    def lifetime(self, now: float) -> int | None:
        """Return for how many more seconds the value may be cached; None if it has no TTL.

        :param now: Unix time in seconds
        """
        ttl = self.ttl
        seconds = _seconds_until(ttl, now) if isinstance(ttl, str) else ttl
        if seconds is None:
            return None
        return min(max(seconds, 0), MAX_TTL)

    def has_type(self, name: str) -> bool:
        """Return whether the value is of this type; ASCII case does not matter.

        A name that ends in a dot names a family of types (RFC 3651 section 3.1).

        >>> url = Value(1, "url.pdf", Data("string", ""))
        >>> url.has_type("URL"), url.has_type("URL.")
        (False, True)
        """
        wanted = ascii_upper(name)
        upper_type = ascii_upper(self.type)
        if wanted.endswith("."):
            return f"{upper_type}.".startswith(wanted)
        return upper_type == wanted

    @classmethod
    def from_json(cls, source: object) -> Value:
        """Read one value as the REST API writes it.

        :param source: the parsed JSON
        :raises ValueError: if it does not have the structure that the API promises
        """
        if not isinstance(source, dict):
            raise Malformed(f"a value is {brief(source)}, expected an object")
        index = integer(source.get("index"))
        if index is None:
            described = brief(source.get("index"))
            raise Malformed(f"the index of a value is {described}, expected an integer")
        ttl = _read_ttl(source.get("ttl"))
        return cls(
            index,
            _member(source, "type", str, "a string"),
            _read_data(_member(source, "data", dict, "an object with format and value")),
            ttl,
            _member(source, "timestamp", str | None, "a string"),
            source.get("permissions"),
            source.get("references"),
            _without(source, _VALUE_MEMBERS),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the value as the REST API writes it, in the reference proxy's order; None is left out.

        ``from_json`` reads an equal value from it.
        """
        members = {
            "index": self.index,
            "type": self.type,
            "data": {"format": self.data.format, "value": self.data.value, **self.data.extra},
            "permissions": self.permissions,
            "ttl": self.ttl,
            "timestamp": self.timestamp,
            "references": self.references,
        }
        present = {name: member for name, member in members.items() if member is not None}
        return present | dict(self.extra)


def ascii_upper(text: str) -> str:
    """Return the text with ASCII letters in upper case, as names and types are compared (Z39.84 section 4).

    >>> ascii_upper("10.1000/äbc")
    '10.1000/äBC'
    """
    if text.isascii():
        return text.upper()
    return text.translate(_UPPER)


def _member(source: Mapping[str, Any], name: str, kind: type | UnionType, expected: str) -> Any:
    """Return a member of a value.

    :raises Malformed: if it is missing or of another type; ``expected`` says in words which one it should have
    """
    member = source.get(name)
    if not isinstance(member, kind):
        raise Malformed(f"the {name} of a value is {brief(member)}, expected {expected}")
    return member


def _without(source: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return the members of a JSON object that have other names."""
    return {name: member for name, member in source.items() if name not in names}


def _read_data(source: Mapping[str, Any]) -> Data:
    """Return the data of a value; in formats that are documented, its value has to be of the right type.

    :raises Malformed: if it is not
    """
    name = _member(source, "format", str, "a string")
    value = source.get("value")
    kind = _FORMATS.get(name, object)
    if "value" not in source or not isinstance(value, kind):
        raise Malformed(
            f"the data of format {brief(name)} is {brief(value)}, expected a {kind.__name__}"
        )
    return Data(name, value, _without(source, _DATA_MEMBERS))


def _read_ttl(ttl: object) -> int | str | None:
    """Return a TTL, in seconds or as a time; None if there is none."""
    if isinstance(ttl, str | None):
        return ttl
    seconds = integer(ttl)
    if seconds is None:
        raise Malformed(f"the ttl of a value is {brief(ttl)}, expected seconds or a time")
    return seconds


def _base64(text: str) -> bytes:
    """Decode either alphabet, padded or not: section 5 does not say which one it means."""
    digits = "".join(text.split()).rstrip("=").translate(str.maketrans("-_", "+/"))
    padding = "=" * (-len(digits) % 4)
    return base64.b64decode(digits + padding, validate=True)


def _seconds_until(text: str, now: float) -> int | None:
    """Return the seconds from ``now`` to an ISO 8601 time (DOI resolution documentation section 5).

    Without a time zone, it is in UTC. None if it is not such a time.
    """
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return int(moment.timestamp() - now)
    except (ValueError, OverflowError):
        return None


class _Content(NamedTuple):
    """What is in a record beside its handle."""

    values: tuple[Value, ...]
    extra: Mapping[str, Any]


class Record(Immutable):
    """What a DOI resolves to: typed values, in the server's order. Immutable.

    :param doi: the DOI
    :param values: its values
    :param extra: undocumented members of the server's answer

    Records are equal if their DOIs, values and extra members are.

    >>> record = Record.from_json('''{"handle": "10.1000/1", "values": [
    ...     {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"}}]}''')
    >>> record.url
    'https://example.org/'
    """

    __slots__ = ("_content", "doi")

    doi: Handle
    """The DOI as it was asked for; the server's spelling may differ in ASCII case."""

    # Until the values are needed, JSON that _PLAIN matched
    _content: _Content | Match[str]

    def __init__(
        self, doi: Handle, values: Iterable[Value] = (), extra: Mapping[str, Any] | None = None
    ) -> None:
        _set(self, "doi", doi)
        _set(self, "_content", _Content(tuple(values), dict(extra or {})))

    @classmethod
    def deferred(cls, doi: Handle, source: bytes) -> Record:
        """Return the record in a stored answer; one as ``to_json`` writes it is checked, and parsed later.

        :param doi: the DOI
        :param source: an answer of the REST API
        :raises BadRecord: if the answer is not the record of ``doi``
        """
        try:
            plain = _PLAIN.fullmatch(source.decode())
        except UnicodeDecodeError:
            plain = None
        if plain is None:
            return cls.from_json(source, doi=doi)
        handle = plain["handle"]
        if handle != doi.name and ascii_upper(handle) != doi.key:
            return cls.from_json(source, doi=doi)  # which raises the error

        record = object.__new__(cls)
        _set(record, "doi", doi)
        _set(record, "_content", plain)
        return record

    @classmethod
    def from_json(
        cls, source: str | bytes | Mapping[str, Any], *, doi: Handle | None = None
    ) -> Record:
        """Read a record from an answer of the REST API, or from a file of records.

        :param source: JSON, or parsed JSON: ``handle``, ``values`` and, optionally, a ``responseCode`` of 1
        :param doi: the DOI asked for, which the handle must equal except for ASCII case; by default the
            handle is the DOI
        :raises BadRecord: if it is not a record, or the record of another DOI
        """
        try:
            parsed = load(source) if isinstance(source, (str, bytes)) else dict(source)
            answer = read_object(parsed)
            code = answer.get("responseCode", 1)
            if integer(code) != 1:
                raise Malformed(f"responseCode is {brief(code)}, expected 1, that of a record")
            name = read_handle(answer.get("handle"), doi)
            values = answer.get("values")
            if not isinstance(values, list):
                raise Malformed(f"values is {brief(values)}, expected a list")
            extra = _without(answer, _RECORD_MEMBERS)
            return cls(doi or Handle.from_name(name), map(Value.from_json, values), extra)
        except ValueError as error:
            raise BadRecord(doi, str(error)) from None

    def to_json(self) -> str:
        """Return the record as the REST API writes it, on one line.

        ``from_json`` reads an equal record from it.
        """
        values, extra = self._parsed()
        written = [value.to_json() for value in values]
        return dump({"responseCode": 1, "handle": self.doi.name, "values": written, **extra})

    @property
    def values(self) -> tuple[Value, ...]:
        """The values, in the server's order, which is not necessarily that of their indices."""
        return self._parsed().values

    @property
    def extra(self) -> Mapping[str, Any]:
        """Undocumented members of the server's answer."""
        return self._parsed().extra

    def of_type(self, name: str) -> tuple[Value, ...]:
        """Return the values of a type; ASCII case does not matter, and ``"URL."`` also matches ``URL.FOO``.

        >>> from doiuri.records import Data
        >>> values = [Value(1, "EMAIL", Data("string", "someone@example.org"))]
        >>> [value.data.text for value in Record(Handle.parse("10.1000/1"), values).of_type("email")]
        ['someone@example.org']
        """
        return tuple(value for value in self.values if value.has_type(name))

    @property
    def url(self) -> str | None:
        """The http or https URL that the DOI resolves to, or None if the record has none.

        If there are several locations, it is the one that ``choose`` prefers, always the same one.
        """
        unparsed = self._unparsed
        if unparsed is not None:
            url = (unparsed["url"] or "").strip(BLANK)
            if is_web(url):
                return url
            return None
        location = choose(self.locations)
        if location is None:
            return None
        return location.href

    @property
    def locations(self) -> Locations:
        """All locations: those of the 10320/loc values, then the URL values."""
        return locations_of(self.values, self.doi.name)

    @property
    def alias(self) -> str | None:
        """The handle to resolve instead of this one, from the first HS_ALIAS value; usually None."""
        if self._unparsed is not None:
            return None  # _PLAIN does not match one with an HS_ALIAS value
        aliases = (value.data.text for value in self.of_type("HS_ALIAS"))
        return next(filter(None, aliases), None)

    @property
    def ttl(self) -> int | None:
        """How many seconds from now the record may be cached: the smallest TTL; None if no value has one."""
        now = time.time()
        lifetimes = (value.lifetime(now) for value in self.values)
        return min((seconds for seconds in lifetimes if seconds is not None), default=None)

    @property
    def _unparsed(self) -> Match[str] | None:
        """The JSON of a record whose values were not read yet, or None."""
        content = self._content
        return None if isinstance(content, _Content) else content

    def _parsed(self) -> _Content:
        """Return the content, which is parsed if it was not yet."""
        content = self._content
        if not isinstance(content, _Content):
            content = Record.from_json(content.string, doi=self.doi)._parsed()
            _set(self, "_content", content)
        return content

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return self.doi == other.doi and self._parsed() == other._parsed()

    def __hash__(self) -> int:
        return hash(self.doi)

    def __repr__(self) -> str:
        return f"Record({self.doi!r}, {self.values!r}, {self.extra!r})"

    def _repr_html_(self) -> str:
        """Return a table for notebooks: everything in it is escaped, only http and https URLs are links."""
        rows = "".join(map(_html_row, self.values))
        return (
            f"<table><caption>{html_link(self.doi.url, self.doi.uri)}</caption>"
            f"<thead><tr><th>index</th><th>type</th><th>data</th></tr></thead><tbody>{rows}</tbody></table>"
        )

    def __reduce__(self) -> tuple[type[Record], tuple[object, ...]]:
        return Record, (self.doi, *self._parsed())


def select(
    values: Iterable[Value], types: Collection[str] = (), indexes: Collection[int] = ()
) -> tuple[Value, ...]:
    """Return the values that have any of the types or any of the indices, in the order given (section 5).

    :param types: type names; ASCII case does not matter, and ``"URL."`` also selects ``URL.FOO``
    :param indexes: indices
    :returns: all values if neither types nor indices are given
    """
    if not types and not indexes:
        return tuple(values)

    # Looked up in sets: a request may name hundreds of types, and a record have thousands of values
    names = {ascii_upper(name) for name in types}
    families = {name for name in names if name.endswith(".")}
    # Of "URL.FOO.", the first 4 characters are the family "URL."
    lengths = {len(family) for family in families}

    def is_selected(value: Value) -> bool:
        """Return whether a value has one of the indices or types, or a type of one of the families."""
        if value.index in indexes:
            return True
        upper_type = ascii_upper(value.type)
        if upper_type in names:
            return True
        beginnings = (f"{upper_type}."[:length] for length in lengths)
        return not families.isdisjoint(beginnings)

    return tuple(filter(is_selected, values))


def locations_of(values: Iterable[Value], handle: str) -> Locations:
    """Return the locations in some values: those of the 10320/loc values, then the URL values.

    Of the URLs, only the first one has a weight, and only if no 10320/loc value overrules it.

    :param values: values of a record
    :param handle: the record's handle, which fills in ``href_template``
    :returns: its ``problem`` says what is wrong with the first 10320/loc value that cannot be parsed
    """
    templates = Templates(handle)
    parsed: list[Locations] = []
    problems: list[str] = []
    urls: list[str] = []
    for value in values:
        if value.has_type("URL"):
            if value.data.text:
                urls.append(value.data.text)
        elif value.has_type("10320/loc"):
            try:
                parsed.append(_read_locations(value.data, templates))
            except ValueError as error:
                problems.append(str(error))

    candidates: list[Location] = []
    attributes: dict[str, str] = {}  # the first <locations> with an attribute counts
    for locations in parsed:
        candidates += locations
        for name, attribute in locations.attributes.items():
            attributes.setdefault(name, attribute)

    for number, url in enumerate(urls):
        weight = "0" if parsed or number else "1"
        legacy = {"href": url, "weight": weight, "mode": "legacy"}
        candidates.append(Location(url.strip(BLANK), float(weight), legacy))
    problem = problems[0] if problems else ""
    return Locations(tuple(candidates), attributes, problem)


def _read_locations(data: Data, templates: Templates) -> Locations:
    source = data.text if data.format == "string" else data.octets
    return read_locations(source or "", templates)


def read_handle(handle: object, doi: Handle | None) -> str:
    """Return the handle of an answer (section 5); raises Malformed if it is not the DOI asked for."""
    if not isinstance(handle, str):
        raise Malformed(f"the handle is {brief(handle)}, expected a string")
    if doi is not None and ascii_upper(handle) != doi.key:
        raise Malformed(f"the answer is about another name: {brief(handle)}")
    return handle


def _html_row(value: Value) -> str:
    """Return the row of a value in the table of a record: index, type and data, as text or as JSON."""
    text = value.data.text
    if text is None:
        text = dump(value.data.value)
    is_link = value.has_type("URL") and is_web(text)
    cell = html_link(text, text) if is_link else html_text(text)
    return f"<tr><td>{value.index}</td><td>{html_text(value.type)}</td><td>{cell}</td></tr>"
