"""The record of a DOI: a list of typed values."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from doiuri._doi import Handle
from doiuri._immutable import Immutable
from doiuri._json import Malformed, brief, dump, integer, load, read_object
from doiuri._resolution_errors import BadRecord
from doiuri.records._locations import BLANK, Location, Locations, Templates, choose, read_locations
from doiuri.records._stored import read_plain
from doiuri.records._values import Value, ascii_upper
from doiuri.records._web import html_link, html_text, is_web

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from re import Match

    Content = tuple[tuple[Value, ...], Mapping[str, Any]]

_MEMBERS = frozenset({"responseCode", "handle", "values"})
_LONGEST_CELL = 200
_set = object.__setattr__


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

    _content: Content | Match[str]  # values and extra members; plain JSON until their first use

    def __init__(
        self, doi: Handle, values: Iterable[Value] = (), extra: Mapping[str, Any] | None = None
    ) -> None:
        _set(self, "doi", doi)
        _set(self, "_content", (tuple(values), dict(extra or {})))

    @classmethod
    def deferred(cls, doi: Handle, source: bytes) -> Record:
        """Return the record in a stored answer; one as ``to_json`` writes it is checked, and parsed later.

        :param doi: the DOI
        :param source: an answer of the REST API
        :raises BadRecord: if the answer is not the record of ``doi``
        """
        plain = read_plain(doi, source)
        if plain is None:
            return cls.from_json(source, doi=doi)
        record = object.__new__(cls)
        _set(record, "doi", doi)
        _set(record, "_content", plain)
        return record

    @classmethod
    def from_json(cls, source: str | bytes | Mapping[str, Any], *, doi: Handle | None = None) -> Record:
        """Read a record from an answer of the REST API, or from a file of records.

        :param source: JSON, or parsed JSON: ``handle``, ``values`` and, optionally, a ``responseCode`` of 1
        :param doi: the DOI asked for, which the handle must equal except for ASCII case; by default the
            handle is the DOI
        :raises BadRecord: if it is not a record, or the record of another DOI
        """
        try:
            answer = read_object(load(source) if isinstance(source, (str, bytes)) else dict(source))
            code = answer.get("responseCode", 1)
            if integer(code) != 1:
                raise Malformed(f"responseCode is {brief(code)}, expected 1, that of a record")
            name = read_handle(answer.get("handle"), doi)
            return record_of(doi or Handle.from_name(name), answer)
        except ValueError as error:
            raise BadRecord(doi, str(error)) from None

    def to_json(self) -> str:
        """Return the record as the REST API writes it, on one line.

        ``from_json`` reads an equal record from it.
        """
        values, extra = self._read()
        written = [value.to_json() for value in values]
        return dump({"responseCode": 1, "handle": self.doi.name, "values": written, **extra})

    @property
    def values(self) -> tuple[Value, ...]:
        """The values, in the server's order, which is not necessarily that of their indices."""
        return self._read()[0]

    @property
    def extra(self) -> Mapping[str, Any]:
        """Undocumented members of the server's answer."""
        return self._read()[1]

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
        content = self._content
        if not isinstance(content, tuple):
            url = (content[2] or "").strip(BLANK)
            return url if is_web(url) else None
        texts = _urls_of(content[0])
        if texts is not None:
            return next((url for text in texts if is_web(url := text.strip(BLANK))), None)
        location = choose(self.locations)
        return None if location is None else location.href

    @property
    def locations(self) -> Locations:
        """All locations: those of the 10320/loc values, then the URL values."""
        return locations_of(self.values, self.doi.name)

    @property
    def alias(self) -> str | None:
        """The handle to resolve instead of this one, from the first HS_ALIAS value; usually None."""
        if not isinstance(self._content, tuple):
            return None  # a plain record has none
        return next((text for value in self.of_type("HS_ALIAS") if (text := value.data.text)), None)

    @property
    def ttl(self) -> int | None:
        """How many seconds from now the record may be cached: the smallest TTL; None if no value has one."""
        now = time.time()
        lifetimes = (value.lifetime(now) for value in self.values)
        return min((seconds for seconds in lifetimes if seconds is not None), default=None)

    def _read(self) -> Content:
        content = self._content
        if not isinstance(content, tuple):
            record = Record.from_json(content.string, doi=self.doi)
            content = (record.values, record.extra)
            _set(self, "_content", content)
        return content

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return self.doi == other.doi and self._read() == other._read()

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
        return Record, (self.doi, *self._read())


def locations_of(values: Iterable[Value], handle: str) -> Locations:
    """Return the locations in some values: those of the 10320/loc values, then the URL values.

    :param values: values of a record
    :param handle: the record's handle, which fills in ``href_template``
    :returns: its ``problem`` says what is wrong with the first 10320/loc value that cannot be parsed
    """
    templates = Templates(handle)
    candidates: list[Location] = []
    attributes: dict[str, str] = {}  # of the first <locations> that has them
    parsed = False
    problem = ""
    urls: list[str] = []
    for value in values:
        if value.has_type("URL"):
            urls += filter(None, [value.data.text])
        elif value.has_type("10320/loc"):
            try:
                source = value.data.text if value.data.format == "string" else value.data.octets
                locations = read_locations(source or "", templates)
            except ValueError as error:
                problem = problem or str(error)
                continue
            parsed = True
            candidates += locations
            for name, attribute in locations.attributes.items():
                attributes.setdefault(name, attribute)
    return Locations(tuple(candidates), attributes, problem).with_legacy(urls, overruled=parsed)


def _urls_of(values: Iterable[Value]) -> list[str] | None:
    """Return the URL values, which is all that ``choose`` can choose from; None if there is a 10320/loc."""
    if any(value.has_type("10320/loc") for value in values):
        return None
    return [value.data.text or "" for value in values if value.has_type("URL")]


def record_of(doi: Handle, answer: Mapping[str, Any]) -> Record:
    """Return the record in a successful answer about ``doi``; raises Malformed if its values are not."""
    values = answer.get("values")
    if not isinstance(values, list):
        raise Malformed(f"values is {brief(values)}, expected a list")
    extra = {name: member for name, member in answer.items() if name not in _MEMBERS}
    return Record(doi, map(Value.from_json, values), extra)


def read_handle(handle: object, doi: Handle | None) -> str:
    """Return the handle of an answer (section 5); raises Malformed if it is not the DOI asked for."""
    if not isinstance(handle, str):
        raise Malformed(f"the handle is {brief(handle)}, expected a string")
    if doi is not None and ascii_upper(handle) != doi.key:
        raise Malformed(f"the answer is about another name: {brief(handle)}")
    return handle


def _html_row(value: Value) -> str:
    text = value.data.text if value.data.text is not None else dump(value.data.value)
    short = text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"
    cell = html_link(text, short) if value.has_type("URL") and is_web(text) else html_text(short)
    return f"<tr><td>{value.index}</td><td>{html_text(value.type)}</td><td>{cell}</td></tr>"
