"""Records files: JSON lists of REST answers (bare, or beside agencies), JSON Lines, and folders of these.

They are read and validated; the error names the file, the line and the reason.
"""

from __future__ import annotations

import difflib
import itertools
import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn, TypeGuard

from doiuri import DOI, DOISyntaxError
from doiuri.records import Record, Value

from doiuri_proxy.records._metadata import read_metadata

DEFAULT_TTL = 86400  # seconds: how long the DOI proxy caches a value that states no TTL

_RECORD_MEMBERS = frozenset({"handle", "values", "responseCode", "metadata"})
_VALUE_MEMBERS = frozenset({"index", "type", "data", "permissions", "ttl", "timestamp", "references"})
_DATA_MEMBERS = frozenset({"format", "value"})
_DOCUMENT_MEMBERS = frozenset({"records", "agencies"})
_LONGEST_NAME = 20  # characters of a member's name that are compared

RecordsInput = str | os.PathLike[str] | Iterable[Mapping[str, Any] | Record] | Mapping[str, Any]
Agencies = dict[str, str]
_log = logging.getLogger("doiuri_proxy")
_JSON_LINES = frozenset({".jsonl", ".ndjson"})
_EXTENSIONS = _JSON_LINES | {".json"}


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


@dataclass(frozen=True, slots=True)
class Position:
    """Where a record stands: on a line of a file, or at an index of a document's list.

    ``text`` is the whole document, "" for Python data. Its lines are counted only for an error.
    """

    source: str
    line: int = 0
    index: int = 0
    text: str = ""

    def error(self, reason: str) -> RecordsError:
        """Return the error that names this position."""
        if self.line:
            return RecordsError(self.source, self.line, reason)
        if self.text:
            return RecordsError(self.source, _line_of(self.text, self.index), reason)
        return RecordsError(self.source, 0, f"record {self.index + 1}: {reason}")


@dataclass(frozen=True, slots=True)
class HandleRecord:
    """A handle with all its values and its metadata by media type, and the position where it was read."""

    handle: str
    values: tuple[Value, ...]
    metadata: Mapping[str, bytes]
    position: Position


def read_records(records: RecordsInput) -> Iterator[HandleRecord | Agencies]:
    """Yield what a file, a folder or Python data contains; agencies by prefix. Raises RecordsError."""
    if not isinstance(records, (str, os.PathLike)):
        is_list = not isinstance(records, Mapping) and hasattr(records, "__iter__")
        document: object = list(records) if is_list else records
        yield from _from_document(document, "records", "")
        return
    path = Path(records)
    for file in _files(path) if path.is_dir() else [path]:
        yield from _from_file(file)


def _files(folder: Path) -> list[Path]:
    """Return the records files in a folder and its subfolders, hidden ones excepted."""

    def refuse(error: OSError) -> NoReturn:
        raise _unreadable(Path(error.filename), error)

    files = []
    for parent, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for link in (Path(parent, name) for name in folders):
            if link.is_symlink():
                _log.warning("%s: a symbolic link to a folder, not followed", link)
        files += [Path(parent, name) for name in names if not name.startswith(".")]
    files = sorted(file for file in files if file.suffix in _EXTENSIONS)
    if not files:
        raise RecordsError(str(folder), 0, f"no file in this folder ends in {', '.join(sorted(_EXTENSIONS))}")
    return files


def _from_file(path: Path) -> Iterator[HandleRecord | Agencies]:
    if path.exists() and not path.is_file():  # opening a pipe blocks, and it cannot be read twice
        raise RecordsError(str(path), 0, "neither a file nor a folder")
    if path.suffix in _JSON_LINES:
        yield from _from_lines(path)
        return
    text = _read_text(path)
    yield from _from_document(_parse(text, str(path)), str(path), text)


def _read_text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None
    return _decode(raw, str(path))


def _from_lines(path: Path) -> Iterator[HandleRecord | Agencies]:
    try:
        with path.open("rb") as lines:
            for number, raw in enumerate(lines, 1):
                line = _decode(raw, str(path), number).strip()
                if line:
                    yield from _from_line(line, Position(str(path), number))
    except OSError as error:
        raise _unreadable(path, error) from None


def _from_line(line: str, position: Position) -> Iterator[HandleRecord | Agencies]:
    document = _parse(line, position.source, position.line)
    if isinstance(document, dict) and document.keys() == {"agencies"}:
        yield _agencies(document["agencies"], position.source, position.line)
    else:
        yield from _from_item(document, position)


def _from_document(document: object, source: str, text: str) -> Iterator[HandleRecord | Agencies]:
    """Read a whole document; ``text`` is its JSON, "" for Python data."""
    line = 1 if text else 0
    items: object = document
    if isinstance(document, Mapping):
        if "handle" in document:
            yield from _from_item(document, Position(source, line))
            return
        try:
            _check_members(document, _DOCUMENT_MEMBERS)
        except ValueError as error:
            raise RecordsError(source, line, str(error)) from None
        if "agencies" in document:
            yield _agencies(document["agencies"], source, line)
        items = document.get("records", [] if "agencies" in document else None)
    if not isinstance(items, list | tuple):
        raise RecordsError(source, line, 'neither a list of records nor an object with "records"')
    for index, item in enumerate(items):
        yield from _from_item(item, Position(source, 0, index, text))


def _from_item(item: object, position: Position) -> Iterator[HandleRecord]:
    try:
        if isinstance(item, Record):
            item = json.loads(item.to_json())
        if isinstance(item, Mapping):
            _check_spelling(item)
        record = check_record(item)
    except ValueError as error:
        raise position.error(str(error)) from None
    if record is not None:
        yield HandleRecord(*record, position)


def _agencies(names: object, source: str, line: int) -> Agencies:
    if not isinstance(names, Mapping) or not all(
        isinstance(part, str) for item in names.items() for part in item
    ):
        raise RecordsError(source, line, '"agencies" is not an object of prefix: agency')
    for text in itertools.chain.from_iterable(names.items()):
        if not text.isprintable():  # among others, a lone surrogate, which UTF-8 cannot express
            raise RecordsError(source, line, f'"agencies" contains unprintable characters: {text!r}')
    return dict(names)


def _decode(raw: bytes, source: str, line: int = 0) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = line or raw.count(b"\n", 0, error.start) + 1
        raise RecordsError(source, line, f"not UTF-8: {error.reason}") from None


def _parse(text: str, source: str, line: int = 0) -> object:
    try:
        document: object = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise RecordsError(
            source, line or error.lineno, f"not JSON: {error.msg} (column {error.colno})"
        ) from None
    except ValueError as error:  # a number of too many digits
        raise RecordsError(source, line, f"not JSON: {error}") from None
    except RecursionError:
        raise RecordsError(source, line, "not JSON: nested too deeply") from None
    return document


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _unreadable(path: Path, error: OSError) -> RecordsError:
    return RecordsError(str(path), 0, error.strerror or str(error))


def _line_of(text: str, index: int) -> int:
    """Return the line on which the record at ``index`` of a valid document's list starts."""
    decoder = json.JSONDecoder()
    start = _skip(text, 0)
    if text[start] == "{":
        key, start = decoder.raw_decode(text, _skip(text, start + 1))
        while key != "records":
            _, start = decoder.raw_decode(text, _skip(text, start))
            key, start = decoder.raw_decode(text, _skip(text, start))
        start = _skip(text, start)
    start += 1  # after the list's bracket
    for _ in range(index):
        _, start = decoder.raw_decode(text, _skip(text, start))
    return text.count("\n", 0, _skip(text, start)) + 1


def _skip(text: str, start: int) -> int:
    """Return the position after what separates two JSON values."""
    while text[start] in " \t\r\n,:":
        start += 1
    return start


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
        read = tuple(map(_value, values))
        metadata = read_metadata(item.get("metadata", {}))
    except (TypeError, ValueError, RecursionError) as error:  # Python data that JSON cannot express
        raise ValueError(f"{handle}: {error}") from None
    if len({value.index for value in read}) < len(read):
        raise ValueError(f"{handle}: two values have the same index")
    return handle, read, metadata


def _check_spelling(record: Mapping[str, Any]) -> None:
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
    if not 0 <= value.index < 2**32:  # RFC 3651 §3.1
        raise ValueError(f"the index of a value is not in the range 0 to 4294967295: {value.index}")
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
