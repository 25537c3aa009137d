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

RecordsInput = str | os.PathLike[str] | Iterable[Mapping[str, Any] | Record] | Mapping[str, Any]
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
        return (
            f"{self.source}:{self.line}: {self.reason}"
            if self.line
            else f"{self.source}: {self.reason}"
        )


class Origin(NamedTuple):
    """Where an item stands: on a line of a file, or at a number in a list; 0 if that does not apply."""

    source: str
    line: int = 0
    number: int = 0

    def error(self, reason: str) -> RecordsError:
        """Return the error that names this origin."""
        return RecordsError(
            self.source, self.line, f"record {self.number}: {reason}" if self.number else reason
        )


def read_items(records: RecordsInput) -> Iterator[tuple[Origin, object]]:
    """Yield what a file, a folder or Python data contains: records, and objects with ``agencies`` alone.

    They are not validated. Raises RecordsError.
    """
    if not isinstance(records, (str, os.PathLike)):
        is_list = not isinstance(records, Mapping) and hasattr(records, "__iter__")
        yield from _items(list(records) if is_list else records, Origin("records"))
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
        raise RecordsError(
            str(folder), 0, f"no file in this folder ends in {', '.join(sorted(_EXTENSIONS))}"
        )
    return files


def _from_file(path: Path) -> Iterator[tuple[Origin, object]]:
    if path.exists() and not path.is_file():  # opening a pipe blocks, and it cannot be read twice
        raise RecordsError(str(path), 0, "neither a file nor a folder")
    try:
        if path.suffix not in _JSON_LINES:
            yield from _items(_parse(path.read_bytes(), str(path)), Origin(str(path)))
            return
        with path.open("rb") as lines:
            for number, raw in enumerate(lines, 1):
                if raw.strip():
                    yield Origin(str(path), number), _parse(raw, str(path), number)
    except OSError as error:
        raise _unreadable(path, error) from None


def _items(document: object, origin: Origin) -> Iterator[tuple[Origin, object]]:
    """Yield the items of a whole document: a record, a list of them, or such a list beside agencies."""
    if isinstance(document, Mapping):
        if "handle" in document:
            yield origin, document
            return
        if "agencies" in document:
            yield origin, {"agencies": document["agencies"]}
        document = document.get("records", [] if "agencies" in document else None)
    if not isinstance(document, list | tuple):
        raise origin.error('neither a list of records nor an object with "records"')
    for number, item in enumerate(document, 1):
        yield origin._replace(number=number), item


def check_agencies(names: object) -> dict[str, str]:
    """Return the names of agencies by prefix. Raises ValueError if they are something else."""
    if not isinstance(names, Mapping) or not all(
        isinstance(part, str) for item in names.items() for part in item
    ):
        raise ValueError('"agencies" is not an object of prefix: agency')
    return dict(names)


def _parse(raw: bytes, source: str, line: int = 0) -> object:
    try:
        document: object = json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        line = line or raw.count(b"\n", 0, error.start) + 1
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
    return isinstance(text, str) and all(text.partition("/")[::2])


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


def _check_handle(handle: object) -> str:
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
