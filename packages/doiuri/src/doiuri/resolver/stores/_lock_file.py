"""The lock file: what DOIs resolved to, in a JSON file made to be committed and reviewed.

It has one line an entry, sorted by key, and no times: the same answers give the same bytes.
"""

from __future__ import annotations

import base64
import math
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri.records._json import dump, load
from doiuri.resolver._fork import ForkSafe
from doiuri.resolver.stores._memory import Entry, alone_in, warn

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
    """The answers in the lock file ``path``; ValueError for a file that is no lock file.

    They never expire: who deletes a line has that name asked for again. Where the file cannot be written,
    a StoreWarning says so and the rest is kept in memory.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
        self._stamp: _Stamp | None = None
        self._lines: dict[str, _Line] = {}  # of the file
        self._unsaved: dict[str, _Line] = {}
        self._refresh()

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        """The entries of those of the keys that the file has."""
        with self._lock:
            try:
                self._refresh()
            except (OSError, ValueError) as error:
                self._complain("read", error)
            lines = self._lines | self._unsaved if self._unsaved else self._lines
            return {key: lines[key].entry for key in keys if key in lines}

    def keys(self) -> list[str]:
        """The keys of all entries, in the file's order."""
        with self._lock:
            self._refresh()
            return sorted(self._lines)

    def put_many(self, entries: Mapping[str, Entry]) -> None:
        """Add or replace entries; the file stays untouched where that changes nothing."""
        with self._lock:
            self._unsaved |= {key: _line(key, _described(key, entry)) for key, entry in entries.items()}
            try:
                with alone_in(self.path.resolve().parent):
                    self._refresh()
                    self._save(self._lines | self._unsaved)
            except (OSError, ValueError) as error:
                self._complain("written", error)

    def close(self) -> None:
        """Nothing to close: as the other stores have it."""

    def _save(self, lines: dict[str, _Line]) -> None:
        if lines != self._lines:
            _replace(self.path, _render(lines))
            self._stamp = _stamp(self.path)
            self._lines = lines
        self._unsaved = {}

    def _refresh(self) -> None:
        """Read the file again if it is another than the one read last."""
        stamp = _stamp(self.path)
        if stamp != self._stamp:
            self._lines = {} if stamp is None else _parse(self.path)
            self._stamp = stamp

    def _complain(self, what: str, error: Exception) -> None:
        warn(f"the lock file {self.path} cannot be {what} ({error}); new answers are kept in memory")


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
        raise ValueError(f"{path} is no lock file of format {FORMAT}: its format is {version!r:.40}")
    try:
        return {key: _line(key, described) for key, described in entries.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path} has an entry that is none: {error!r}") from None


def _line(key: str, described: Any) -> _Line:
    """The line of an entry, and the entry itself, from what the file says of it."""
    media_type = described.get("type", _JSON)
    if not isinstance(media_type, str):
        raise TypeError("the type of an entry is a string")
    if "json" in described:
        body = dump(described["json"]).encode()
    elif "text" in described:
        body = described["text"].encode()
    else:
        body = base64.b64decode(described["base64"], validate=True)
    return _Line(f"{dump(key)}: {dump(described)}", Entry(body, media_type, math.inf))


def _described(key: str, entry: Entry) -> Any:
    """What the file says of an entry: JSON as it is, so that a reviewer sees what changed."""
    if entry.media_type != _JSON:
        return {"type": entry.media_type} | _octets(entry.body)
    try:
        content = load(entry.body)
    except ValueError:
        return _octets(entry.body)
    return {"json": _ordered(_timeless(content) if key.startswith("record ") else content)}


def _octets(body: bytes) -> Any:
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


def _ordered(content: Any) -> Any:
    """The same with the members of objects in one order: that of the REST API, then by name."""
    if isinstance(content, list):
        return [_ordered(item) for item in content]
    if isinstance(content, dict):
        names = sorted(content, key=lambda name: (_ORDER.get(name, len(_ORDER)), name))
        return {name: _ordered(content[name]) for name in names}
    return content


def _timeless(record: Any) -> Any:
    """A record without the times of its values, which would change the file and say nothing to a reader."""
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
    """Write the file in one step: whoever reads it sees the old content or the new one."""
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
