"""Records files: JSON arrays of REST answers (bare, or beside agencies), JSON Lines, and folders of these."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, TypeGuard

from doiuri import DOI, DOISyntaxError, Value

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
class HandleRecord:
    """A handle as registered, all its values, and where it was read."""

    handle: str
    values: tuple[Value, ...]
    source: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Agencies:
    """Which registration agency each prefix belongs to."""

    names: Mapping[str, str]


def handle_key(handle: str) -> str:
    """What look-up compares: the handle with ASCII letters upper-cased (Z39.84 §4)."""
    return handle.upper() if handle.isascii() else handle.translate(_UPPER)


_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}


def read_records(records: RecordsInput) -> Iterator[HandleRecord | Agencies]:
    """Read records from a path or from Python data; raise `RecordsError` with line and reason."""
    if not isinstance(records, (str, Path)):
        document = records if isinstance(records, Mapping) else list(records)
        yield from _from_document(document, "records", "")
        return
    path = Path(records)
    if path.is_dir():
        for file in sorted(p for p in path.rglob("*") if p.suffix in {".json", ".jsonl", ".ndjson"}):
            yield from _from_file(file)
    else:
        yield from _from_file(path)


def _from_file(path: Path) -> Iterator[HandleRecord | Agencies]:
    if path.suffix in {".jsonl", ".ndjson"}:
        yield from _from_lines(path)
        return
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise RecordsError(str(path), 0, error.strerror or str(error)) from None
    except UnicodeDecodeError as error:
        raise RecordsError(str(path), 0, f"not UTF-8: {error.reason} at byte {error.start}") from None
    yield from _from_document(_parse(text, str(path)), str(path), text)


def _from_lines(path: Path) -> Iterator[HandleRecord | Agencies]:
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield from _from_line(line, str(path), number)
    except OSError as error:
        raise RecordsError(str(path), 0, error.strerror or str(error)) from None


def _from_line(line: bytes, source: str, number: int) -> Iterator[HandleRecord | Agencies]:
    document = _parse(line, source, number)
    if isinstance(document, dict) and document.keys() == {"agencies"}:
        yield _agencies(document["agencies"], source, number)
    else:
        yield from _from_item(document, source, number)


def _parse(text: str | bytes, source: str, line: int = 0) -> object:
    try:
        document: object = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise RecordsError(source, line or error.lineno, f"not JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:  # not UTF-8, a number or nesting beyond reason
        raise RecordsError(source, line, f"not JSON: {error}") from None
    return document


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _from_document(document: object, source: str, text: str) -> Iterator[HandleRecord | Agencies]:
    """Read a whole document; ``text`` is what it was read from, "" for Python data."""
    first = 1 if text else 0
    items: object = document
    if isinstance(document, Mapping):
        if "handle" in document:
            yield from _from_item(document, source, first)
            return
        if "agencies" in document:
            yield _agencies(document["agencies"], source, first)
        items = document.get("records", [] if "agencies" in document else None)
    if not isinstance(items, list | tuple):
        raise RecordsError(source, first, 'neither a list of records nor an object with "records"')
    for position, item in enumerate(items):
        try:
            yield from _from_item(item, source, 0)
        except RecordsError as error:
            line = _line_of(text, position) if text else 0
            where = "" if text else f"record {position + 1}: "
            raise RecordsError(source, line, where + error.reason) from None


def _from_item(item: object, source: str, line: int) -> Iterator[HandleRecord]:
    try:
        record = check_record(item)
    except ValueError as error:
        raise RecordsError(source, line, str(error)) from None
    if record is not None:
        yield HandleRecord(*record, source, line)


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
    moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.isoformat().replace("+00:00", "Z")


def _agencies(names: object, source: str, line: int) -> Agencies:
    if not isinstance(names, Mapping) or not all(
        isinstance(part, str) for item in names.items() for part in item
    ):
        raise RecordsError(source, line, '"agencies" is not an object of prefix: agency')
    return Agencies(dict(names))


def _line_of(text: str, position: int) -> int:
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
