"""The lock file: resolved records in a JSON file that is committed and reviewed.

One line per entry, sorted by key, without times: the same records give the same bytes.
"""

from __future__ import annotations

import base64
import math
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri._urls import DOI_ORG
from doiuri.records._json import dump, load
from doiuri.resolver._fork import ForkSafe
from doiuri.resolver.stores._folder_lock import locked_folder
from doiuri.resolver.stores._store import Entry, warn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


FORMAT = 1

_JSON = "application/json"
_Stamp = tuple[int, int, int]
_MEMBERS = ("responseCode", "handle", "values", "index", "type", "data", "format", "value")
_ORDER = {name: number for number, name in enumerate(_MEMBERS)}
_TIMES = frozenset({"ttl", "timestamp"})


class _Line(NamedTuple):
    text: str
    entry: Entry


class LockFile(ForkSafe):
    """A store in a lock file.

    Its entries never expire; delete a line to have that DOI resolved again. If the file cannot be written,
    new entries are kept in memory and a StoreWarning is issued.

    :param path: the file; it need not exist.
    :raises ValueError: if the file cannot be read as a lock file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow symbolic links
        self._stamp: _Stamp | None = None
        self._lines: dict[str, _Line] = {}  # the content of the file
        self._unsaved: dict[str, _Line] = {}
        self._refresh()

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the entries that exist for these keys."""
        with self._lock:
            try:
                self._refresh()
            except (OSError, ValueError) as error:
                self._warn("read", error)
            lines = self._lines | self._unsaved if self._unsaved else self._lines
            return {key: lines[key].entry for key in keys if key in lines}

    def keys(self) -> list[str]:
        """Return the keys of all entries, in the order of the file."""
        with self._lock:
            self._refresh()
            return sorted(self._lines)

    def put_many(self, entries: Mapping[str, Entry]) -> None:
        """Add or replace entries. The file is only written if that changes it."""
        with self._lock:
            self._unsaved |= {key: _line(key, _described(key, entry)) for key, entry in entries.items()}
            try:
                with locked_folder(self.path.resolve().parent):
                    self._refresh()
                    self._save(self._lines | self._unsaved)
            except (OSError, ValueError) as error:
                self._warn("written", error)

    def close(self) -> None:
        """Do nothing: the file is not kept open."""

    def _save(self, lines: dict[str, _Line]) -> None:
        if lines != self._lines:
            _replace(self.path, _render(lines))
            self._stamp = _stamp(self.path)
            self._lines = lines
        self._unsaved = {}

    def _refresh(self) -> None:
        """Read the file again if it changed since it was read last."""
        stamp = _stamp(self.path)
        if stamp != self._stamp:
            self._lines = {} if stamp is None else _parse(self.path)
            self._stamp = stamp

    def _warn(self, what: str, error: Exception) -> None:
        warn(f"the lock file {self.path} cannot be {what} ({error}); new answers are kept in memory")


def lock_key(key: str, base: str) -> str:
    """Return the key in a lock file for the key of an answer from ``base``: all count as doi.org's."""
    return key.replace(f" {base} ", f" {DOI_ORG} ", 1)


class LockedAnswers:
    """A lock file as a read-only store.

    An entry is valid for every resolver, since the file records it as an answer of doi.org.

    :param file: the lock file.
    :param base: the base URL of the resolver.
    """

    file: LockFile
    """The lock file."""

    seen: set[str]
    """The keys of the entries that were read so far, as the file has them."""

    def __init__(self, file: LockFile, base: str) -> None:
        self.file = file
        self._base = base
        self.seen = set()

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the entries that exist for these keys."""
        names = {key: lock_key(key, self._base) for key in keys}
        entries = self.file.get_many([*names, *names.values()])
        self.seen.update(entries)
        found = {key: entries.get(key) or entries.get(name) for key, name in names.items()}
        return {key: entry for key, entry in found.items() if entry is not None}


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _parse(path: Path) -> dict[str, _Line]:
    try:
        content = load(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{path} cannot be read as a lock file: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{path} cannot be read as a lock file (an unresolved merge?): {error}") from None
    content = content if isinstance(content, dict) else {}
    version, entries = content.get("doiuri-lock"), content.get("entries")
    if version != FORMAT or not isinstance(entries, dict):
        raise ValueError(f"{path} is not a lock file of format {FORMAT}: its format is {version!r:.40}")
    try:
        return {key: _line(key, described) for key, described in entries.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path} contains an invalid entry: {error!r}") from None


def _line(key: str, described: Any) -> _Line:
    """Return the line and the entry for a description in the file."""
    media_type = described.get("type", _JSON)
    if not isinstance(media_type, str):
        raise TypeError("the type of an entry must be a string")
    if "json" in described:
        body = dump(described["json"]).encode()
    elif "text" in described:
        body = described["text"].encode()
    else:
        body = base64.b64decode(described["base64"], validate=True)
    return _Line(f"{dump(key)}: {dump(described)}", Entry(body, media_type, math.inf))


def _described(key: str, entry: Entry) -> Any:
    """Describe an entry for the file. JSON is written as it is, so that a reviewer sees what changed."""
    if entry.media_type != _JSON:
        return {"type": entry.media_type} | _encoded(entry.body)
    try:
        content = load(entry.body)
    except ValueError:
        return _encoded(entry.body)
    return {"json": _ordered(_timeless(content) if key.startswith("record ") else content)}


def _encoded(body: bytes) -> Any:
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


def _ordered(content: Any) -> Any:
    """Sort the members of objects: those of the REST API first, the others by name."""
    if isinstance(content, list):
        return [_ordered(item) for item in content]
    if isinstance(content, dict):
        names = sorted(content, key=lambda name: (_ORDER.get(name, len(_ORDER)), name))
        return {name: _ordered(content[name]) for name in names}
    return content


def _timeless(record: Any) -> Any:
    """Drop the times of a record's values: they change often and mean nothing to a reviewer."""
    values = record.get("values") if isinstance(record, dict) else None
    if not isinstance(values, list):
        return record
    kept = [
        {name: member for name, member in value.items() if name not in _TIMES}
        if isinstance(value, dict)
        else value
        for value in values
    ]
    return record | {"values": kept}


def _render(lines: Mapping[str, _Line]) -> bytes:
    rows = ",\n".join(lines[key].text for key in sorted(lines))
    return f'{{"doiuri-lock": {FORMAT}, "entries": {{\n{rows}\n}}}}\n'.encode()


def _replace(path: Path, content: bytes) -> None:
    """Write the file atomically: a reader sees the old content or the new one."""
    target = path.resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):
            draft.chmod(target.stat().st_mode)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
