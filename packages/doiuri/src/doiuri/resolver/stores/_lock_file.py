"""The lock file: records and works in a JSON file that is committed and reviewed.

It has one line per entry, sorted, without times. Its object ``entries`` has records, agencies and other
answers, named ``kind [detail] base doi``; ``works`` has CSL-JSON by DOI, with the day on which it was
retrieved, or ``null`` if the agency has none.
``accepted`` has the DOIs that are known not to exist, each with the reason. A file with nothing but entries
has format 1, any other format 2. The same answers give the same bytes.
"""

from __future__ import annotations

import base64
import errno
import math
import os
import re
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri._files import locked_folder, replacing
from doiuri._json import dump, load
from doiuri._urls import DOI_ORG
from doiuri.resolver._fork import ForkSafe
from doiuri.resolver.stores._store import JSON, MAX_AGE, NOTHING, Entry, Key, Usage, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

_LARGEST = 500_000_000  # bytes
_SECTIONS = ("entries", "works", "accepted")
_NAME = re.compile(r"(\w+)(?: (.+?))?? https?://\S+ (.+)", re.DOTALL)
_MEMBERS = ("responseCode", "handle", "values", "index", "type", "data", "format", "value")
_ORDER = {name: number for number, name in enumerate(_MEMBERS)}
_TIMES = frozenset({"ttl", "timestamp"})
_STATUSES = {1: "found", 200: "found", 100: "not-found"}


class Differences(NamedTuple):
    """How two contents of a lock file differ, as sets of the keys of DOIs."""

    added: frozenset[str]
    """The DOIs that only the new content has."""

    changed: frozenset[str]
    """The DOIs whose entries differ."""

    removed: frozenset[str]
    """The DOIs that only the old content has."""


class LockContent:
    """What a lock file says. All answers count as those of https://doi.org."""

    accepted: dict[str, str]
    """The DOIs that are known not to exist, by their keys, each with the reason for keeping it."""

    retrieved: dict[str, str]
    """The day on which each work was retrieved, as in ``2026-03-31``, by the DOI's key."""

    def __init__(self) -> None:
        self._values: dict[Key, Any] = {}  # as JSON
        self.accepted, self.retrieved = {}, {}

    @classmethod
    def read(cls, path: Path) -> LockContent:
        """Return the content of a file.

        :raises OSError: if it cannot be read.
        :raises ValueError: if it is not a lock file.
        """
        self = cls()
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            raise OSError(errno.EINVAL, f"not a regular file of at most {_LARGEST:,} bytes", str(path))
        try:
            file = load(path.read_bytes())
        except ValueError as error:
            what = "cannot be read as a lock file (an unresolved merge?)"
            raise ValueError(f"{path} {what}: {error}") from None
        version = file.get("doiuri-lock") if isinstance(file, dict) else None
        if version not in {1, 2} or isinstance(version, bool):
            raise ValueError(f"{path} is not a lock file of format 1 or 2: its format is {version!r:.40}")
        try:
            for section in _SECTIONS:
                for name, value in file.get(section, {}).items():
                    self._read_line(section, name, value)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"{path} contains an invalid entry: {error!r}") from None
        return self

    def render(self) -> bytes:
        """Return the content of the file."""
        rows: dict[str, list[str]] = {section: [] for section in _SECTIONS}
        for key, value in sorted(self._values.items(), key=lambda item: name_of(item[0])):
            if key.kind == "work" and value is not None and key.doi in self.retrieved:
                value = {"retrieved": self.retrieved[key.doi], **value}  # noqa: PLW2901
            rows[_section(key)].append(f"{dump(name_of(key))}: {dump(value)}")
        rows["accepted"] = [f"{dump(doi)}: {dump(reason)}" for doi, reason in sorted(self.accepted.items())]
        version = 2 if any(rows[section] for section in _SECTIONS[1:]) else 1
        empty = {"entries", "works"} if version == 2 else {"entries"}  # written nevertheless
        written = [section for section in _SECTIONS if rows[section] or section in empty]
        joined = {section: ",\n".join(rows[section]) for section in written}
        objects = ",\n".join(f'"{section}": {{\n{text}\n}}' for section, text in joined.items())
        return f'{{"doiuri-lock": {version}, {objects}}}\n'.encode()

    def copy(self) -> LockContent:
        """Return a copy."""
        copy = LockContent()
        copy._values, copy.accepted = dict(self._values), dict(self.accepted)
        copy.retrieved = dict(self.retrieved)
        return copy

    @property
    def keys(self) -> list[Key]:
        """The keys of all entries, in the order of the file, without ``accepted``."""
        return sorted(self._values, key=lambda key: (_SECTIONS.index(_section(key)), name_of(key)))

    def get(self, key: Key) -> Entry | None:
        """Return an entry, whatever base its key has."""
        key = _locked(key)
        return Entry(*_decoded(key, self._values[key]), math.inf) if key in self._values else None

    def add(self, entries: Mapping[Key, Entry]) -> None:
        """Add or replace entries; one that is not what its key says is left out."""
        for key, entry in entries.items():
            with suppress(ValueError):
                self._values[_locked(key)] = _described(key, entry)
                if key.kind == "work" and not entry.says_none and math.isfinite(entry.expires):
                    received = time.gmtime(max(entry.expires - MAX_AGE, 0))
                    self.retrieved[key.doi] = time.strftime("%Y-%m-%d", received)

    def remove(self, dois: Collection[str], kinds: Collection[str] = ()) -> None:
        """Remove the entries about DOIs, given by their keys; only those of some kinds, if any are given."""
        for key in [key for key in self._values if key.doi in dois and (not kinds or key.kind in kinds)]:
            del self._values[key]

    def dois(self) -> set[str]:
        """Return the keys of all DOIs in it."""
        return {key.doi for key in self._values} | self.accepted.keys()

    def status(self, doi: str) -> str | None:
        """Return whether a DOI, given by its key, is registered: "found" or "not-found".

        None if the entries do not say it, whether it is in ``accepted`` or not.
        """
        record = self._record(doi)
        if record is not None:
            code = record.get("responseCode")
            return _STATUSES.get(code) if isinstance(code, int) else None
        is_known = Key("exists", DOI_ORG, doi) in self._values or self._values.get(Key("work", DOI_ORG, doi))
        return "found" if is_known else None

    def unused(self, used: Iterable[str]) -> set[str]:
        """Return the keys of the DOIs that are not among those used, nor are aliases led to by them.

        A data set whose files are listed is used: by programs that open them.
        """
        done: set[str] = set()
        left = [*used, *(key.doi for key in self._values if key.kind == "files")]
        while left:
            doi = left.pop()
            if doi not in done:
                done.add(doi)
                left += self._aliases(doi)
        return self.dois() - done

    def names(self) -> dict[str, str]:
        """Return the name of the first line about each DOI, by the DOI's key."""
        names: dict[str, str] = {}
        for key in self.keys:
            names.setdefault(key.doi, name_of(key))
        return {doi: doi for doi in sorted(self.accepted)} | names

    def differences(self, new: LockContent) -> Differences:
        """Return how another content differs from this one; days do not count."""
        before, after = self._by_doi(), new._by_doi()
        changed = frozenset(doi for doi in before.keys() & after.keys() if before[doi] != after[doi])
        return Differences(
            frozenset(after.keys() - before.keys()), changed, frozenset(before.keys() - after.keys())
        )

    def _by_doi(self) -> dict[str, dict[object, Any]]:
        values: dict[str, dict[object, Any]] = {}
        for key, value in self._values.items():
            values.setdefault(key.doi, {})[key] = value
        for doi, reason in self.accepted.items():
            values.setdefault(doi, {})["accepted"] = reason
        return values

    def _record(self, doi: str) -> dict[str, Any] | None:
        value = self._values.get(Key("record", DOI_ORG, doi), {}).get("json")
        return value if isinstance(value, dict) else None

    def _aliases(self, doi: str) -> list[str]:
        """Return the keys of the names that a DOI is an alias of."""
        values = (self._record(doi) or {}).get("values")
        data = [
            value.get("data")
            for value in (values if isinstance(values, list) else ())
            if isinstance(value, dict) and value.get("type") == "HS_ALIAS"
        ]
        names = [item.get("value") for item in data if isinstance(item, dict)]
        return [_upper(name) for name in names if isinstance(name, str)]

    def _read_line(self, section: str, name: str, value: Any) -> None:
        if section == "accepted":
            if not isinstance(value, str):
                raise TypeError(f"the reason for {name} must be a string")
            self.accepted[name] = value
            return
        key = _key(section, name)
        if section == "works" and isinstance(value, dict) and "retrieved" in value:
            self.retrieved[name] = str(value.pop("retrieved"))
        _decoded(key, value)
        self._values[key] = value


class LockFile(ForkSafe):
    """A store in a lock file.

    Its entries never expire; delete a line to have that DOI resolved again. They count as answers of
    https://doi.org, whichever resolver answered, and are found for every resolver. If the file cannot be
    written, a StoreWarning is issued and new entries are dropped.

    :param path: the file; it need not exist.
    :raises ValueError: if the file cannot be read as a lock file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow symbolic links
        self._stamp: tuple[int, ...] | None = None
        self._content = LockContent()
        super().__init__()
        self._refresh()

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        """Return the entries that exist for these keys."""
        with self._lock:
            try:
                self._refresh()
            except (OSError, ValueError) as error:
                warn(f"the lock file {self.path} cannot be read ({error})")
            found = ((key, self._content.get(key)) for key in keys)
            return {key: entry for key, entry in found if entry is not None}

    def put_many(self, entries: Mapping[Key, Entry]) -> None:
        """Add or replace entries. The file is only written if that changes it."""
        if not entries:
            return
        try:
            self.edit(lambda content: content.add(entries))
        except (OSError, ValueError) as error:
            warn(f"the lock file {self.path} cannot be written ({error}); new answers are not kept")

    def read(self) -> LockContent:
        """Return a copy of what the file says.

        :raises ValueError: if it was changed, and is no longer a lock file.
        """
        with self._lock:
            self._refresh()
            return self._content.copy()

    def edit(self, change: Callable[[LockContent], None]) -> Differences:
        """Change the file, atomically; return what changed.

        Other processes that write to the file wait meanwhile, so that none of their changes is lost.

        :param change: called with what the file says, which it changes.
        :raises OSError: if the file cannot be written.
        :raises ValueError: if the file was changed, and is no longer a lock file.
        """
        with self._lock, locked_folder(self.path.resolve().parent):
            old, new = self.read(), self.read()
            change(new)
            differences = old.differences(new)
            if any(differences) or new.retrieved != old.retrieved:
                with replacing(self.path) as draft:
                    draft.write_bytes(new.render())
            return differences

    def usage(self) -> Usage:
        """Return how much the file holds.

        :raises ValueError: if it is no longer a lock file.
        """
        with self._lock:
            self._refresh()
            return Usage(len(self._content.keys), self._stamp[1] if self._stamp else 0)

    def clear(self) -> Usage:
        """Remove all entries, but not ``accepted``; return how much that was. Raises what ``edit`` raises."""
        before = self.usage()
        self.edit(lambda content: content.remove(content.dois()))
        return Usage(before.entries, max(before.octets - self.usage().octets, 0))

    def close(self) -> None:
        """Do nothing: the file is not kept open."""

    def _refresh(self) -> None:
        """Read the file again if it changed since it was read last."""
        stamp = self._new_stamp()
        if stamp != self._stamp:
            try:
                self._content = LockContent() if stamp is None else LockContent.read(self.path)
            except OSError as error:
                raise ValueError(f"{self.path} cannot be read as a lock file: {error.strerror}") from None
            self._stamp = stamp

    def _new_stamp(self) -> tuple[int, ...] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns


def name_of(key: Key) -> str:
    """Return the name that a lock file shows for a key: works have shorter ones.

    >>> name_of(Key("work", DOI_ORG, "10.1000/182")), name_of(Key("record", DOI_ORG, "10.1000/182"))
    ('10.1000/182', 'record https://doi.org 10.1000/182')
    """
    if key.kind == "work":
        return key.doi
    return " ".join(filter(None, (key.kind, key.detail, DOI_ORG, key.doi)))


def _key(section: str, name: str) -> Key:
    """Return the key for a name in the file."""
    if section == "works":
        return Key("work", DOI_ORG, name)
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r:.200} is not the name of an entry")
    return Key(match[1], DOI_ORG, match[3], match[2] or "")


def _section(key: Key) -> str:
    return "works" if key.kind == "work" else "entries"


def _upper(name: str) -> str:
    """Return a name with its ASCII letters in upper case, even one of an edited file that is not UTF-8."""
    return name.encode(errors="surrogatepass").upper().decode(errors="surrogatepass")


def _locked(key: Key) -> Key:
    return key if key.base == DOI_ORG else key._replace(base=DOI_ORG)


def _decoded(key: Key, value: Any) -> tuple[bytes, str]:
    """Return the body and the media type of an entry, as the file has it; raise if it is not one."""
    if key.kind == "work":
        if value is None:
            return NOTHING, JSON
        if not isinstance(value, dict):
            raise TypeError("a work must be an object")
        from doiuri.rest import CSL_JSON  # slow to import

        return dump(value).encode(), CSL_JSON
    media_type = value.get("type", JSON)
    if not isinstance(media_type, str):
        raise TypeError("the type of an entry must be a string")
    if "json" in value:
        return dump(value["json"]).encode(), media_type
    if "text" in value:
        return value["text"].encode(), media_type
    return base64.b64decode(value["base64"], validate=True), media_type


def _described(key: Key, entry: Entry) -> Any:
    """Describe an entry for the file. JSON is written as it is, so that a reviewer sees what changed."""
    if key.kind == "work":
        if entry.says_none:
            return None
        work = load(entry.body)
        if not isinstance(work, dict):
            raise ValueError(f"the metadata of {key.doi} is not an object")
        return {name: member for name, member in work.items() if name != "DOI"}  # it is the name of the line
    if entry.media_type != JSON:
        return {"type": entry.media_type} | _encoded(entry.body)
    try:
        content = load(entry.body)
    except ValueError:
        return _encoded(entry.body)
    return {"json": _ordered(_timeless(content) if key.kind == "record" else content)}


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
