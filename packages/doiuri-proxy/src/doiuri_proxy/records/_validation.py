"""Validate records: handles, values, and the error for those that are not valid."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeGuard

from doiuri import DOI, DOISyntaxError
from doiuri.records import Value
from doiuri.rest import read_metadata

DEFAULT_TTL = 86400  # seconds: how long the DOI proxy caches a value that states no TTL

_RECORD_MEMBERS = frozenset({"handle", "values", "responseCode", "metadata"})
_VALUE_MEMBERS = frozenset({"index", "type", "data", "permissions", "ttl", "timestamp", "references"})
_DATA_MEMBERS = frozenset({"format", "value"})
_DOCUMENT_MEMBERS = frozenset({"records", "agencies"})
_LONGEST_NAME = 20  # characters of a member's name that are compared

RecordsInput = str | Path | Iterable[Mapping[str, Any]] | Mapping[str, Any]


class RecordsError(ValueError):
    """Records cannot be read or are not valid.

    >>> str(RecordsError("records.jsonl", 2, "not UTF-8"))
    'records.jsonl:2: not UTF-8'

    :ivar source: the file's path; ``"records"`` for Python data.
    :ivar line: the line, 1-based; 0 if unknown.
    :ivar reason: what is wrong.
    """

    def __init__(self, source: str, line: int, reason: str) -> None:
        super().__init__(source, line, reason)
        self.source, self.line, self.reason = source, line, reason

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.reason}" if self.line else f"{self.source}: {self.reason}"


def is_handle(text: object) -> TypeGuard[str]:
    """Return whether ``text`` has the form of a handle: a prefix, a slash and a suffix."""
    return isinstance(text, str) and all(text.partition("/")[::2])


def check_record(item: object) -> tuple[str, tuple[Value, ...], Mapping[str, bytes]] | None:
    """Return the handle, the values and the metadata of a record; None if it records "not found".

    Raises ValueError if the record is not valid.
    """
    if not isinstance(item, Mapping):
        raise ValueError("a record is an object with handle and values")  # noqa: TRY004 - callers expect one type
    handle = check_handle(item.get("handle"))
    code = item.get("responseCode", 1)
    if code == 100:
        return None
    if code not in (1, 200):
        raise ValueError(f"{handle}: responseCode is {code!r}; expected 1, 100 or 200")
    values = item.get("values", [] if code == 200 else None)
    if not isinstance(values, list | tuple):
        raise ValueError(f'{handle}: no list "values"')  # noqa: TRY004 - callers expect one type
    try:
        return handle, tuple(_value(value) for value in values), read_metadata(item.get("metadata", {}))
    except (TypeError, ValueError, RecursionError) as error:  # Python data that JSON cannot express
        raise ValueError(f"{handle}: {error}") from None


def check_spelling(record: Mapping[str, Any]) -> None:
    """Refuse a record in which a member, of a value or its data, too, is misspelt. Raises ValueError."""
    handle = record.get("handle")
    where = f"{handle}: " if isinstance(handle, str) else ""
    _check_members(record, _RECORD_MEMBERS, where)
    values = record.get("values")
    for value in values if isinstance(values, list | tuple) else ():
        if isinstance(value, Mapping):
            _check_members(value, _VALUE_MEMBERS, where)
            data = value.get("data")
            if isinstance(data, Mapping):
                _check_members(data, _DATA_MEMBERS, where)


def check_document(document: Mapping[str, Any]) -> None:
    """Refuse a document in which ``records`` or ``agencies`` is misspelt. Raises ValueError."""
    _check_members(document, _DOCUMENT_MEMBERS)


def _check_members(members: Mapping[str, Any], known: frozenset[str], where: str = "") -> None:
    """Refuse a member whose name is nearly that of a missing one; others are ignored. Raises ValueError."""
    for name in members.keys() - known:
        if near := _nearest(str(name).lower()[:_LONGEST_NAME], known.difference(members)):
            raise ValueError(f'{where}unknown member {name!r}; did you mean "{near}"?')


@lru_cache(maxsize=256)  # millions of records may have the same undocumented member
def _nearest(name: str, missing: frozenset[str]) -> str | None:
    for near in difflib.get_close_matches(name, sorted(missing), len(missing) or 1, 0.66):
        # "title" is not a misspelt "ttl", nor "time" a misspelt "timestamp"
        if len(near) > 4 and difflib.SequenceMatcher(None, name, near).ratio() > 0.7:
            return near
        if len(near) <= 4 and abs(len(name) - len(near)) <= 1:
            return near
    return None


def check_handle(handle: object) -> str:
    """Return ``handle`` if it is one; below ``10.`` it must be a DOI name. Raises ValueError."""
    if not is_handle(handle):
        raise ValueError(f"handle {handle!r} is not a name with a prefix, a slash and a suffix")
    if handle.startswith("10."):
        try:
            DOI.from_name(handle)
        except DOISyntaxError as error:
            raise ValueError(str(error)) from None
    elif not handle.isprintable():
        raise ValueError(f"handle {handle!r} contains unprintable characters")
    return handle


def _value(source: object) -> Value:
    """Read a value. A timestamp of 0 means none; the default TTL is a day."""
    if isinstance(source, Mapping):
        source = {"ttl": DEFAULT_TTL, **source}
        if source.get("timestamp") in {0, "1970-01-01T00:00:00Z"}:
            source["timestamp"] = None
    value = Value.from_json(source)
    if value.index < 0:
        raise ValueError(f"the index of a value is negative: {value.index}")
    if isinstance(value.ttl, str):
        return replace(value, ttl=_utc(value.ttl))
    return value


def _utc(text: str) -> str:
    """Return an absolute TTL as the DOI proxy writes it: ISO 8601 in UTC, ending in Z."""
    moment = datetime.fromisoformat(text)
    try:
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError:
        raise ValueError(f"ttl {text!r} is outside the years 1 to 9999") from None
    return moment.isoformat().replace("+00:00", "Z")
