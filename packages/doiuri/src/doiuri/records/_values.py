"""The typed values of a record: RFC 3651 section 3.1, in the JSON of the DOI proxy's REST API."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from datetime import UTC, datetime
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from doiuri._json import Malformed, brief, integer

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_TTL = 2**31 - 1
"""The longest TTL in seconds: a signed integer of 32 bits (RFC 3651 section 3.1)."""

_UPPER = {ord(letter): letter.upper() for letter in ascii_lowercase}
_PYTHON_TYPES: dict[str, type] = {
    "string": str,
    "base64": str,
    "hex": str,
    "admin": dict,
    "vlist": list,
    "site": dict,
}
_DATA_MEMBERS = frozenset({"format", "value"})
_VALUE_MEMBERS = frozenset({"index", "type", "data", "permissions", "ttl", "timestamp", "references"})


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
            if self.format == "base64":
                return _base64(self.value)
            return bytes.fromhex(self.value) if self.format == "hex" else None
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
        if self.ttl is None:
            return None
        seconds = self.ttl if isinstance(self.ttl, int) else _seconds_until(self.ttl, now)
        return None if seconds is None else min(max(seconds, 0), MAX_TTL)

    def has_type(self, name: str) -> bool:
        """Return whether the value is of this type; ASCII case does not matter.

        A name that ends in a dot names a family of types (RFC 3651 section 3.1).

        >>> url = Value(1, "url.pdf", Data("string", ""))
        >>> url.has_type("URL"), url.has_type("URL.")
        (False, True)
        """
        wanted, given = ascii_upper(name), ascii_upper(self.type)
        return f"{given}.".startswith(wanted) if wanted.endswith(".") else given == wanted

    @classmethod
    def from_json(cls, source: object) -> Value:
        """Read one value as the REST API writes it.

        :param source: the parsed JSON
        :raises ValueError: if it does not have the structure that the API promises
        """
        if not isinstance(source, dict):
            raise Malformed(f"a value is {brief(source)}, expected an object")
        index, kind, timestamp = integer(source.get("index")), source.get("type"), source.get("timestamp")
        if index is None:
            raise Malformed(f"the index of a value is {brief(source.get('index'))}, expected an integer")
        if not isinstance(kind, str):
            raise Malformed(f"the type of a value is {brief(kind)}, expected a string")
        if not isinstance(timestamp, str | None):
            raise Malformed(f"the timestamp of a value is {brief(timestamp)}, expected a string")
        return cls(
            index,
            kind,
            _read_data(source.get("data")),
            _read_ttl(source.get("ttl")),
            timestamp,
            source.get("permissions"),
            source.get("references"),
            {name: member for name, member in source.items() if name not in _VALUE_MEMBERS},
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
        return {name: member for name, member in members.items() if member is not None} | dict(self.extra)


def ascii_upper(text: str) -> str:
    """Return the text with ASCII letters in upper case, as names and types are compared (Z39.84 section 4).

    >>> ascii_upper("10.1000/äbc")
    '10.1000/äBC'
    """
    return text.upper() if text.isascii() else text.translate(_UPPER)


def _read_data(source: object) -> Data:
    if not isinstance(source, dict) or "value" not in source:
        raise Malformed(f"the data of a value is {brief(source)}, expected an object with format and value")
    name, value = source.get("format"), source["value"]
    if not isinstance(name, str):
        raise Malformed(f"the data format of a value is {brief(name)}, expected a string")
    kind = _PYTHON_TYPES.get(name, object)
    if not isinstance(value, kind):
        raise Malformed(f"the data of format {brief(name)} is {brief(value)}, expected a {kind.__name__}")
    return Data(name, value, {key: member for key, member in source.items() if key not in _DATA_MEMBERS})


def _read_ttl(source: object) -> int | str | None:
    ttl = source if isinstance(source, str | None) else integer(source)
    if ttl is None and source is not None:
        raise Malformed(f"the ttl of a value is {brief(source)}, expected seconds or a time")
    return ttl


def _base64(text: str) -> bytes:
    """Decode either alphabet, padded or not: section 5 does not say which one it means."""
    text = "".join(text.split()).rstrip("=").translate(str.maketrans("-_", "+/"))
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _seconds_until(text: str, now: float) -> int | None:
    """Return the seconds from ``now`` to an ISO 8601 time (DOI resolution documentation section 5)."""
    try:
        moment = datetime.fromisoformat(text)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, OverflowError):
        return None
