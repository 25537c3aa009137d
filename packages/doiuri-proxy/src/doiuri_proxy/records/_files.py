"""Records files: JSON lists of REST answers (bare, or beside agencies), JSON Lines, and folders of these."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NoReturn

from doiuri_proxy.records._records import (
    Agencies,
    HandleRecord,
    Place,
    RecordsError,
    RecordsInput,
    check_record,
)

_LINES = frozenset({".jsonl", ".ndjson"})
_KINDS = _LINES | {".json"}
_GZIP = b"\x1f\x8b"


def read_records(records: RecordsInput) -> Iterator[HandleRecord | Agencies]:
    """Read records from a path or from Python data; raise `RecordsError` with line and reason."""
    if not isinstance(records, (str, Path)):
        document = records if isinstance(records, Mapping) else list(records)
        yield from _from_document(document, "records", "")
        return
    path = Path(records)
    for file in _files(path) if path.is_dir() else [path]:
        yield from _from_file(file)


def _files(folder: Path) -> list[Path]:
    """List the files of records in a folder and those below it; hidden ones are none."""

    def refuse(error: OSError) -> NoReturn:
        raise _unreadable(Path(error.filename), error)

    files = []
    for where, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files += [Path(where, name) for name in names if not name.startswith(".")]
    files = sorted(file for file in files if file.suffix in _KINDS)
    if not files:
        raise RecordsError(str(folder), 0, f"no file in this folder ends in {', '.join(sorted(_KINDS))}")
    return files


def _from_file(path: Path) -> Iterator[HandleRecord | Agencies]:
    if path.exists() and not path.is_file():  # nobody may ever write into a pipe, and records are read again
        raise RecordsError(str(path), 0, "neither a file nor a folder")
    if path.suffix in _LINES:
        yield from _from_lines(path)
        return
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None
    text = _decode(raw, str(path))
    yield from _from_document(_parse(text, str(path)), str(path), text)


def _from_lines(path: Path) -> Iterator[HandleRecord | Agencies]:
    try:
        with path.open("rb") as lines:
            for number, raw in enumerate(lines, 1):
                line = _decode(raw, str(path), number).strip()
                if line:
                    yield from _from_line(line, Place(str(path), number))
    except OSError as error:
        raise _unreadable(path, error) from None


def _from_line(line: str, place: Place) -> Iterator[HandleRecord | Agencies]:
    document = _parse(line, place.source, place.line)
    if isinstance(document, dict) and document.keys() == {"agencies"}:
        yield _agencies(document["agencies"], place.source, place.line)
    else:
        yield from _from_item(document, place)


def _unreadable(path: Path, error: OSError) -> RecordsError:
    return RecordsError(str(path), 0, error.strerror or str(error))


def _decode(raw: bytes, source: str, line: int = 0) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if raw.startswith(_GZIP):
            raise RecordsError(source, 0, "compressed with gzip: unpack it first") from None
        line = line or raw.count(b"\n", 0, error.start) + 1
        raise RecordsError(source, line, f"not UTF-8: {error.reason}") from None


def _parse(text: str, source: str, line: int = 0) -> object:
    try:
        document: object = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise RecordsError(source, line or error.lineno, f"not JSON: {_why(error, line)}") from None
    except (ValueError, RecursionError) as error:  # a number or nesting beyond reason
        raise RecordsError(source, line, f"not JSON: {error}") from None
    return document


def _why(error: json.JSONDecodeError, line: int) -> str:
    if not error.doc.strip():
        return "nothing is in it"
    why = f"{error.msg} (column {error.colno})"
    if error.msg == "Extra data":
        return why + (": a line holds one record" if line else ": for one record a line, call it .jsonl")
    return why


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _from_document(document: object, source: str, text: str) -> Iterator[HandleRecord | Agencies]:
    """Read a whole document; ``text`` is what it was read from, "" for Python data."""
    first = 1 if text else 0
    items: object = document
    if isinstance(document, Mapping):
        if "handle" in document:
            yield from _from_item(document, Place(source, first))
            return
        if "agencies" in document:
            yield _agencies(document["agencies"], source, first)
        items = document.get("records", [] if "agencies" in document else None)
    if not isinstance(items, list | tuple):
        raise RecordsError(source, first, 'neither a list of records nor an object with "records"')
    for position, item in enumerate(items):
        yield from _from_item(item, Place(source, 0, position, text))


def _from_item(item: object, place: Place) -> Iterator[HandleRecord]:
    try:
        record = check_record(item)
    except ValueError as error:
        raise place.error(str(error)) from None
    if record is not None:
        yield HandleRecord(*record, place)


def _agencies(names: object, source: str, line: int) -> Agencies:
    if not isinstance(names, Mapping) or not all(
        isinstance(part, str) for item in names.items() for part in item
    ):
        raise RecordsError(source, line, '"agencies" is not an object of prefix: agency')
    return Agencies(dict(names))
