"""Records as they are registered: what a good one is, and how names are compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeGuard

from doiuri import DOI, DOISyntaxError
from doiuri.records import Value

DEFAULT_TTL = 86400  # seconds; specs: the proxy's cache time, where a value states none

JSONObject = dict[str, Any]
RecordsInput = str | Path | Iterable[Mapping[str, Any]] | Mapping[str, Any]


class RecordsError(ValueError):
    """A records file that cannot be used: ``source``, ``line`` (1-based, 0 if unknown) and ``reason``."""

    def __init__(self, source: str, line: int, reason: str) -> None:
        super().__init__(source, line, reason)
        self.source, self.line, self.reason = source, line, reason

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.reason}" if self.line else f"{self.source}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record was read: on a line, or at a position in the list of a document.

    ``text`` is the whole document, "" for Python data: its lines are counted only if an error asks for them.
    """

    source: str
    line: int = 0
    position: int = 0
    text: str = ""

    def error(self, reason: str) -> RecordsError:
        """Say what is wrong there."""
        if self.line:
            return RecordsError(self.source, self.line, reason)
        if self.text:
            return RecordsError(self.source, line_of(self.text, self.position), reason)
        return RecordsError(self.source, 0, f"record {self.position + 1}: {reason}")


@dataclass(frozen=True, slots=True)
class HandleRecord:
    """A handle as registered, all its values, and where it was read."""

    handle: str
    values: tuple[Value, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Agencies:
    """Which registration agency each prefix belongs to."""

    names: Mapping[str, str]


def handle_key(handle: str) -> str:
    """What look-up compares: the handle with ASCII letters upper-cased (Z39.84 §4)."""
    return handle.upper() if handle.isascii() else handle.translate(_UPPER)


_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}


def check_record(item: object) -> tuple[str, tuple[Value, ...]] | None:
    """Read one REST answer: its handle and values; None for a recorded "not found"; else ValueError."""
    if not isinstance(item, Mapping):
        raise ValueError("a record is an object with handle and values")  # noqa: TRY004 - one kind of error here
    handle = check_handle(item.get("handle"))
    code = item.get("responseCode", 1)
    if code == 100:
        return None
    if code not in (1, 200):
        raise ValueError(f"{handle}: responseCode {code!r} is neither 1, 100 nor 200")
    values = item.get("values", [] if code == 200 else None)
    if not isinstance(values, list | tuple):
        raise ValueError(f'{handle}: no list "values"')  # noqa: TRY004 - one kind of error here
    try:
        return handle, tuple(_value(value) for value in values)
    except ValueError as error:
        raise ValueError(f"{handle}: {error}") from None


def is_handle(text: object) -> TypeGuard[str]:
    """Tell whether something can be a handle: a prefix, a slash and a suffix."""
    return isinstance(text, str) and all(text.partition("/")[::2])


def check_handle(handle: object) -> str:
    """Check a handle: a prefix, a slash, a suffix; below ``10.`` it must be a DOI name. Raises ValueError."""
    if not is_handle(handle):
        raise ValueError(f"handle {handle!r} is not a name with a prefix, a slash and a suffix")
    if handle.startswith("10."):
        try:
            DOI.from_name(handle)
        except DOISyntaxError as error:
            raise ValueError(str(error)) from None
    elif not handle.isprintable():
        raise ValueError(f"handle {handle!r} has characters that cannot be shown")
    return handle


def _value(source: object) -> Value:
    """Read a value; a time stamp of 0 is none, and a TTL that is not stated is a day."""
    if isinstance(source, Mapping):
        source = {"ttl": DEFAULT_TTL, **source}
        if source.get("timestamp") in {0, "1970-01-01T00:00:00Z"}:
            source["timestamp"] = None
    value = Value.from_json(source)
    if value.index < 0:
        raise ValueError(f"the index of a value is {value.index}, less than 0")
    if isinstance(value.ttl, str):
        return replace(value, ttl=_utc(value.ttl))
    return value


def _utc(text: str) -> str:
    """Write an absolute TTL as the reference does: ISO 8601, ending in Z."""
    moment = datetime.fromisoformat(text)
    try:
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError:
        raise ValueError(f"the ttl {text!r} is outside the years 1 to 9999") from None
    return moment.isoformat().replace("+00:00", "Z")


def line_of(text: str, position: int) -> int:
    """Find the line on which the record at a position of a document's list starts."""
    decoder = json.JSONDecoder()
    start = _skip(text, 0)
    if text[start] == "{":
        key, start = decoder.raw_decode(text, _skip(text, start + 1))
        while key != "records":
            _, start = decoder.raw_decode(text, _skip(text, start))
            key, start = decoder.raw_decode(text, _skip(text, start))
        start = _skip(text, start)
    start += 1  # now inside the list
    for _ in range(position):
        _, start = decoder.raw_decode(text, _skip(text, start))
    return text.count("\n", 0, _skip(text, start)) + 1


def _skip(text: str, start: int) -> int:
    """Go over what is between two JSON values."""
    while text[start] in " \t\r\n,:":
        start += 1
    return start
