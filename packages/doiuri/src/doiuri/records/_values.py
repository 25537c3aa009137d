"""The typed values of a record: RFC 3651 section 3.1, in the JSON of the DOI proxy's REST API."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from datetime import UTC, datetime
from string import ascii_lowercase
from typing import TYPE_CHECKING

from doiuri.records._json import Malformed, integer, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doiuri.records._json import JSON

MAX_TTL = 2**31 - 1
"""Longest TTL in seconds: it has 32 bits, one of them the sign (RFC 3651 section 3.1)."""

_SHAPES: dict[str, type] = {
    "string": str,
    "base64": str,
    "hex": str,
    "admin": dict,
    "vlist": list,
    "site": dict,
}
_UPPER = {ord(letter): letter.upper() for letter in ascii_lowercase}
_DATA = frozenset({"format", "value"})
_VALUE = frozenset({"index", "type", "data", "permissions", "ttl", "timestamp", "references"})


@dataclass(frozen=True, slots=True)
class Data:
    """The data of a value: ``format`` names the shape of ``value``. Unknown formats are kept as they are."""

    format: str
    value: JSON = field(hash=False)
    extra: Mapping[str, JSON] = field(default_factory=dict, hash=False)

    @property
    def octets(self) -> bytes | None:
        """What a string, base64 or hex value holds, else None; ValueError where it is damaged."""
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
        """The same as text, None where it is none."""
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

    ``ttl`` is in seconds, or the ISO 8601 time until which the value holds; ``timestamp`` is the ISO 8601
    time of its last change; ``extra`` has the members that the API does not document.
    """

    index: int
    type: str
    data: Data
    ttl: int | str | None = None
    timestamp: str | None = None
    permissions: JSON = field(default=None, hash=False)
    references: JSON = field(default=None, hash=False)
    extra: Mapping[str, JSON] = field(default_factory=dict, hash=False)

    def lifetime(self, now: float) -> int | None:
        """For how many seconds the value holds, seen from ``now`` (Unix seconds); None if it does not say."""
        if self.ttl is None:
            return None
        seconds = self.ttl if isinstance(self.ttl, int) else _seconds_until(self.ttl, now)
        return None if seconds is None else min(max(seconds, 0), MAX_TTL)

    def has_type(self, name: str) -> bool:
        """Whether this is of a type, without regard to ASCII case; ``"URL."`` also names ``URL.FOO``."""
        wanted, given = ascii_upper(name), ascii_upper(self.type)
        return f"{given}.".startswith(wanted) if wanted.endswith(".") else given == wanted

    @classmethod
    def from_json(cls, source: JSON) -> Value:
        """Read one value as the REST API writes it; raises ValueError for what it does not promise."""
        return read_value(source)

    def to_json(self) -> dict[str, JSON]:
        """The value as the REST API writes it: ``from_json`` reads an equal value from it."""
        return write_value(self)


def read_value(source: JSON) -> Value:
    """Check and read one value; Malformed says what is not as the API promises."""
    if not isinstance(source, dict):
        raise Malformed(f"a value is {shown(source)}, not an object")
    index, kind, timestamp = integer(source.get("index")), source.get("type"), source.get("timestamp")
    if index is None:
        raise Malformed(f"the index of a value is {shown(source.get('index'))}, not an integer")
    if not isinstance(kind, str):
        raise Malformed(f"the type of a value is {shown(kind)}, not a string")
    if not isinstance(timestamp, str | None):
        raise Malformed(f"the timestamp of a value is {shown(timestamp)}, not a string")
    return Value(
        index,
        kind,
        _read_data(source.get("data")),
        _read_ttl(source.get("ttl")),
        timestamp,
        source.get("permissions"),
        source.get("references"),
        {name: member for name, member in source.items() if name not in _VALUE},
    )


def write_value(value: Value) -> dict[str, JSON]:
    """The members of a value in the order of the reference proxy, those that are absent left out."""
    members = {
        "index": value.index,
        "type": value.type,
        "data": {"format": value.data.format, "value": value.data.value, **value.data.extra},
        "permissions": value.permissions,
        "ttl": value.ttl,
        "timestamp": value.timestamp,
        "references": value.references,
    }
    return {name: member for name, member in members.items() if member is not None} | dict(value.extra)


def ascii_upper(text: str) -> str:
    """Return a name or type with ASCII letters in upper case: no other case counts (Z39.84 section 4)."""
    return text.upper() if text.isascii() else text.translate(_UPPER)


def _read_data(source: JSON) -> Data:
    if not isinstance(source, dict) or "value" not in source:
        raise Malformed(f"the data of a value is {shown(source)}, not an object with format and value")
    name, value = source.get("format"), source["value"]
    if not isinstance(name, str):
        raise Malformed(f"the data format of a value is {shown(name)}, not a string")
    if not isinstance(value, _SHAPES.get(name, object)):
        raise Malformed(f"the data of format {name} is {shown(value)}")
    return Data(name, value, {key: member for key, member in source.items() if key not in _DATA})


def _read_ttl(source: JSON) -> int | str | None:
    ttl = source if isinstance(source, str | None) else integer(source)
    if ttl is None and source is not None:
        raise Malformed(f"the ttl of a value is {shown(source)}, neither seconds nor a time")
    return ttl


def _base64(text: str) -> bytes:
    """Decode either alphabet, padded or not: section 5 does not say which it means."""
    text = "".join(text.split()).rstrip("=").translate(str.maketrans("-_", "+/"))
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _seconds_until(text: str, now: float) -> int | None:
    """How long until an ISO 8601 time (specification 002 section 5, ``ttl``); None where it is no time."""
    try:
        moment = datetime.fromisoformat(text)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, OverflowError):
        return None
