"""What a DOI resolves to: its record, a list of typed values."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from doiuri._doi import Handle
from doiuri._resolution_errors import BadRecord
from doiuri.records._json import Malformed, dump, integer, load, shown
from doiuri.records._locations import Locations, choose, parse_locations
from doiuri.records._values import Data, Value, ascii_upper, read_value, write_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from doiuri.records._json import JSON

__all__ = ["Data", "Record", "Value", "locations_of"]

_KNOWN = frozenset({"responseCode", "handle", "values"})


class Record:
    """The record of ``doi``: its values in the server's order, which is not that of their indices.

    ``extra`` has the members of the answer that the API does not document.
    """

    __slots__ = ("_extra", "_source", "_values", "doi")
    doi: Handle
    _values: tuple[Value, ...]
    _extra: Mapping[str, JSON]
    _source: bytes | None

    def __init__(
        self, doi: Handle, values: Iterable[Value] = (), extra: Mapping[str, JSON] | None = None
    ) -> None:
        self._fill(doi, tuple(values), dict(extra or {}), None)

    @classmethod
    def deferred(cls, doi: Handle, source: bytes) -> Record:
        """The record in an answer that was read before: read again when its values are first asked for."""
        record = object.__new__(cls)
        record._fill(doi, (), {}, source)
        return record

    @property
    def values(self) -> tuple[Value, ...]:
        """The values; raises BadRecord where a deferred record turns out to be none."""
        self._read()
        return self._values

    @property
    def extra(self) -> Mapping[str, JSON]:
        """The members of the answer that the API does not document."""
        self._read()
        return self._extra

    def of_type(self, name: str) -> tuple[Value, ...]:
        """The values of a type, without regard to ASCII case; ``"URL."`` also matches ``URL.FOO``."""
        return tuple(value for value in self.values if value.has_type(name))

    @property
    def url(self) -> str | None:
        """Where the DOI leads: an http or https address, the same at every call; None if there is none."""
        place = choose(self.locations)
        return None if place is None else place.href

    @property
    def locations(self) -> Locations:
        """All places the DOI may lead to: those of its 10320/loc values, then its URL values."""
        return locations_of(self.values, self.doi.name)

    @property
    def alias(self) -> str | None:
        """The handle that this record stands for, that of its first HS_ALIAS value; None if there is none."""
        return next((text for value in self.of_type("HS_ALIAS") if (text := value.data.text)), None)

    @property
    def ttl(self) -> int | None:
        """For how many seconds from now the record holds: the least of its values; None if none says."""
        now = time.time()
        lifetimes = (value.lifetime(now) for value in self.values)
        return min((seconds for seconds in lifetimes if seconds is not None), default=None)

    @classmethod
    def from_json(cls, source: str | bytes | Mapping[str, JSON], *, doi: Handle | None = None) -> Record:
        """Read a record as the REST API gives it; a records file leaves ``responseCode`` out.

        ``doi`` is the name asked for: the record's handle must equal it, ASCII case aside. Without it
        the handle is the name. Raises BadRecord.
        """
        try:
            return read_members(load(source) if isinstance(source, (str, bytes)) else dict(source), doi)
        except ValueError as error:
            raise BadRecord(doi, str(error)) from None

    def to_json(self) -> str:
        """The record as the REST API writes it, on one line; ``from_json`` reads an equal record from it."""
        values = [write_value(value) for value in self.values]
        return dump({"responseCode": 1, "handle": self.doi.name, "values": values, **self.extra})

    def _fill(
        self, doi: Handle, values: tuple[Value, ...], extra: Mapping[str, JSON], source: bytes | None
    ) -> None:
        for name, value in (("doi", doi), ("_values", values), ("_extra", extra), ("_source", source)):
            object.__setattr__(self, name, value)

    def _read(self) -> None:
        if self._source is not None:
            whole = Record.from_json(self._source, doi=self.doi)
            self._fill(self.doi, whole._values, whole._extra, None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return (self.doi, self.values, self.extra) == (other.doi, other.values, other.extra)

    def __hash__(self) -> int:
        return hash(self.doi)

    def __repr__(self) -> str:
        return f"Record({self.doi!r}, {self.values!r}, {self.extra!r})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Record never changes: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Record never changes: cannot delete {name!r}")

    def __reduce__(self) -> tuple[type[Record], tuple[object, ...]]:
        return Record, (self.doi, self.values, self.extra)


def locations_of(values: Iterable[Value], handle: str) -> Locations:
    """All places that some values of a handle lead to: those of type 10320/loc, then those of type URL."""
    found: Locations | None = None
    problem = ""
    urls: list[str] = []
    for value in values:
        if value.has_type("URL"):
            urls += filter(None, [value.data.text])
        elif value.has_type("10320/loc"):
            try:
                source = value.data.text if value.data.format == "string" else value.data.octets
                found = _joined(found, parse_locations(source or "", handle))
            except ValueError as error:
                problem = problem or str(error)
    own = Locations() if found is None else found
    return Locations(own.candidates, own.attributes, problem).with_legacy(urls, overruled=found is not None)


def read_members(answer: JSON, doi: Handle | None) -> Record:
    """Check and read a successful answer; Malformed says what is not as the API promises."""
    if not isinstance(answer, dict):
        raise Malformed(f"the answer is {shown(answer)}, not an object")
    code, values = answer.get("responseCode", 1), answer.get("values")
    if integer(code) != 1:
        raise Malformed(f"the responseCode is {shown(code)}, not that of a record")
    name = check_echo(answer.get("handle"), doi)
    if not isinstance(values, list):
        raise Malformed(f"values is {shown(values)}, not a list")
    extra = {name: member for name, member in answer.items() if name not in _KNOWN}
    return Record(doi or Handle.from_name(name), tuple(map(read_value, values)), extra)


def check_echo(handle: JSON, doi: Handle | None) -> str:
    """Return the name that an answer echoes (section 5); Malformed if that is not the name asked for."""
    if not isinstance(handle, str):
        raise Malformed(f"the handle is {shown(handle)}, not a string")
    if doi is not None and ascii_upper(handle) != ascii_upper(doi.name):
        raise Malformed(f"the answer is about another name, {shown(handle)}")
    return handle


def _joined(first: Locations | None, second: Locations) -> Locations:
    """Several 10320/loc values count as one list; what stands in the first ``<locations>`` governs."""
    if first is None:
        return second
    return Locations(first.candidates + second.candidates, {**second.attributes, **first.attributes})
