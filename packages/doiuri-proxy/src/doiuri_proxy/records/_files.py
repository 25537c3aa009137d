"""Records files: JSON lists of REST answers (bare, or beside agencies), JSON Lines, and folders of these.

Errors name the file, the line or the number of the record, and the reason.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeGuard

from doiuri import DOI, DOISyntaxError
from doiuri.records import Record, Value

from doiuri_proxy.records._metadata import read_metadata

DEFAULT_TTL = 86400  # seconds: how long the DOI proxy caches a value that states no TTL

# The path of a file or a folder of records; or Python data in the form of such a file, with records as
# values of ``Record``, too
PathOrData = str | os.PathLike[str] | Iterable[Mapping[str, Any] | Record] | Mapping[str, Any]
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
        self.source = source
        self.line = line
        self.reason = reason

    def __str__(self) -> str:
        if not self.line:
            return f"{self.source}: {self.reason}"
        return f"{self.source}:{self.line}: {self.reason}"


class ItemLocation(NamedTuple):
    """Where an item is: on a line of a file of JSON Lines, or in a list."""

    source: str  # the path of the file; "records" for Python data
    line: int = 0  # 1-based; 0 if it is not in a file of JSON Lines
    number: int = 0  # in its list, 1-based; 0 if it is not in a list

    def error(self, reason: str) -> RecordsError:
        """Return the error that names this location."""
        if self.number:
            reason = f"record {self.number}: {reason}"
        return RecordsError(self.source, self.line, reason)


def read_items(records: PathOrData) -> Iterator[tuple[ItemLocation, object]]:
    """Yield what a file, a folder or Python data contains: records, and objects with ``agencies`` alone.

    They are not validated. Raises RecordsError.
    """
    if not isinstance(records, (str, os.PathLike)):
        document: object = records
        if not isinstance(records, Mapping) and hasattr(records, "__iter__"):
            document = list(records)
        yield from _items(document, ItemLocation("records"))
        return
    path = Path(records)
    files = _files(path) if path.is_dir() else [path]
    for file in files:
        yield from _from_file(file)


def _files(folder: Path) -> list[Path]:
    """Return the records files in a folder and its subfolders, hidden ones excepted."""

    def refuse(error: OSError) -> NoReturn:
        raise _unreadable(Path(error.filename), error)

    files = []
    for parent, folders, names in os.walk(folder, onerror=refuse):
        # os.walk skips what is not in this list any more
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in folders:
            subfolder = Path(parent, name)
            if subfolder.is_symlink():
                _log.warning("%s: a symbolic link to a folder, not followed", subfolder)
        for name in names:
            file = Path(parent, name)
            if not name.startswith(".") and file.suffix in _EXTENSIONS:
                files.append(file)
    if not files:
        extensions = ", ".join(sorted(_EXTENSIONS))
        raise RecordsError(str(folder), 0, f"no file in this folder ends in {extensions}")
    return sorted(files)


def _from_file(path: Path) -> Iterator[tuple[ItemLocation, object]]:
    """Yield the items of a file: those of its JSON document, or one for each line of JSON Lines.

    Raises RecordsError.
    """
    if path.exists() and not path.is_file():  # to open a pipe blocks, and it cannot be read twice
        raise RecordsError(str(path), 0, "neither a file nor a folder")
    try:
        if path.suffix not in _JSON_LINES:
            document = _parse(path.read_bytes(), str(path))
            yield from _items(document, ItemLocation(str(path)))
            return
        with path.open("rb") as lines:
            for number, raw in enumerate(lines, 1):
                if raw.strip():
                    yield ItemLocation(str(path), number), _parse(raw, str(path), number)
    except OSError as error:
        raise _unreadable(path, error) from None


def _items(document: object, location: ItemLocation) -> Iterator[tuple[ItemLocation, object]]:
    """Yield the items of a whole document: a record, a list of them, or such a list beside agencies.

    Raises RecordsError if it is none of these.
    """
    records = document
    if isinstance(document, Mapping):
        if "handle" in document:
            yield location, document
            return
        records = document.get("records")
        if "agencies" in document:
            yield location, {"agencies": document["agencies"]}
            records = document.get("records", [])
    if not isinstance(records, list | tuple):
        raise location.error('neither a list of records nor an object with "records"')
    for number, item in enumerate(records, 1):
        yield location._replace(number=number), item


def check_agencies(names: object) -> dict[str, str]:
    """Return the names of agencies by prefix. Raises ValueError if they are something else."""
    if isinstance(names, Mapping):
        texts = [*names.keys(), *names.values()]
        if all(isinstance(text, str) for text in texts):
            return dict(names)
    raise ValueError('"agencies" is not an object of prefix: agency')


def _parse(raw: bytes, source: str, line: int = 0) -> object:
    """Return the JSON in a file, or in a line of it; the line is 0 for a whole file. Raises RecordsError."""
    try:
        document: object = json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        if not line:
            line = raw.count(b"\n", 0, error.start) + 1
        raise RecordsError(source, line, f"not UTF-8: {error.reason}") from None
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg} (column {error.colno})"
        raise RecordsError(source, line or error.lineno, reason) from None
    except ValueError as error:  # a number of too many digits
        raise RecordsError(source, line, f"not JSON: {error}") from None
    except RecursionError:
        raise RecordsError(source, line, "not JSON: nested too deeply") from None
    return document


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _unreadable(path: Path, error: OSError) -> RecordsError:
    return RecordsError(str(path), 0, error.strerror or str(error))


def is_handle(text: object) -> TypeGuard[str]:
    """Return whether ``text`` has the form of a handle: a prefix, a slash and a suffix."""
    if not isinstance(text, str):
        return False
    prefix, _, suffix = text.partition("/")
    return prefix != "" and suffix != ""


def check_record(item: object) -> tuple[str, tuple[Value, ...], Mapping[str, bytes]] | None:
    """Return the handle, the values and the metadata of a record; None if it records "not found".

    Raises ValueError if the record is not valid.
    """
    if isinstance(item, Record):
        item = json.loads(item.to_json())
    if not isinstance(item, Mapping):
        raise ValueError("a record is an object with handle and values")  # noqa: TRY004 - callers expect one type
    handle = _check_handle(item.get("handle"))

    code = item.get("responseCode", 1)
    if code == 100:
        return None
    if code not in (1, 200):
        raise ValueError(f"{handle}: responseCode is {code!r}; expected 1, 100 or 200")

    values = item.get("values")
    if code == 200 and "values" not in item:  # 200: the handle has no values
        values = []
    if not isinstance(values, list | tuple):
        raise ValueError(f'{handle}: no list "values"')  # noqa: TRY004 - callers expect one type
    try:
        valid_values = tuple(map(_value, values))
        metadata = read_metadata(item.get("metadata", {}))
    except (TypeError, ValueError, RecursionError) as error:  # Python data that JSON cannot express
        raise ValueError(f"{handle}: {error}") from None

    indexes = {value.index for value in valid_values}
    if len(indexes) < len(valid_values):
        raise ValueError(f"{handle}: two values have the same index")
    return handle, valid_values, metadata


def _check_handle(handle: object) -> str:
    """Return ``handle``. Raises ValueError if it is not a handle, or begins with ``10.`` but is not a DOI."""
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
    """Return a value that is read from JSON. A timestamp of 0 means none; the default TTL is a day."""
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
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        in_utc = moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"ttl {text!r} is outside the years 1 to 9999") from None
    return in_utc.isoformat().replace("+00:00", "Z")


RecordsError.__module__ = "doiuri_proxy"  # for tracebacks and pickles
