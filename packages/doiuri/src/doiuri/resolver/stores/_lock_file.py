"""The lock file: records and works in a JSON file that is committed and reviewed.

It has one line per entry, sorted, without times. Its object ``entries`` has records, agencies and other
answers, named ``kind [detail] base doi``; ``works`` has CSL-JSON by DOI, with the day on which it was
retrieved, or ``null`` if the agency has none. ``accepted`` has the DOIs that are known not to exist, each
with the reason. The same answers give the same bytes.
"""

from __future__ import annotations

import errno
import math
import os
import re
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri._errors import BadRecord
from doiuri._files import locked_folder, replacing
from doiuri._json import dump, load, read_object
from doiuri._urls import DOI_ORG
from doiuri.records._negotiation import CSL_JSON
from doiuri.records._record import Record, ascii_upper
from doiuri.resolver.stores._store import JSON, MAX_AGE, NOTHING, Entry, ForkSafe, Key, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

FORMAT = 1

_LARGEST = 500_000_000  # bytes
_SECTIONS = ("entries", "works", "accepted")
_NAME = re.compile(r"(\w+)(?: (.+?))?? https?://\S+ (.+)", re.DOTALL)
_STATUSES = {1: "found", 200: "found", 100: "not-found"}


class Differences(NamedTuple):
    """How two contents of a lock file differ, as sets of the keys of DOIs."""

    added: frozenset[str]
    changed: frozenset[str]
    removed: frozenset[str]


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
            raise OSError(
                errno.EINVAL, f"not a regular file of at most {_LARGEST:,} bytes", str(path)
            )
        try:
            file = load(path.read_bytes())
        except ValueError as error:
            what = "cannot be read as a lock file (an unresolved merge?)"
            raise ValueError(f"{path} {what}: {error}") from None
        version = file.get("doiuri-lock") if isinstance(file, dict) else None
        if version != FORMAT:
            raise ValueError(
                f"{path} is not a lock file of format {FORMAT}: its format is {version!r:.40}"
            )
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
        for key in self.keys:
            value = self._values[key]
            if key.kind == "work" and value is not None and key.doi in self.retrieved:
                value = value | {"retrieved": self.retrieved[key.doi]}
            section = "works" if key.kind == "work" else "entries"
            rows[section].append(f"{dump(name_of(key))}: {dump(value, sort=True)}")
        rows["accepted"] = [
            f"{dump(doi)}: {dump(reason)}" for doi, reason in sorted(self.accepted.items())
        ]
        written = [section for section in _SECTIONS if rows[section] or section == "entries"]
        objects = ",\n".join(
            '"{}": {{\n{}\n}}'.format(one, ",\n".join(rows[one])) for one in written
        )
        return f'{{"doiuri-lock": {FORMAT}, {objects}}}\n'.encode()

    def copy(self) -> LockContent:
        """Return a copy."""
        copy = LockContent()
        copy._values, copy.accepted, copy.retrieved = (
            {**self._values},
            {**self.accepted},
            {**self.retrieved},
        )
        return copy

    @property
    def keys(self) -> list[Key]:
        """The keys of all entries, in the order of the file, without ``accepted``."""
        return sorted(self._values, key=lambda key: (key.kind == "work", name_of(key)))

    def get(self, key: Key) -> Entry | None:
        """Return an entry, whatever base its key has."""
        key = key._replace(base=DOI_ORG)
        return Entry(*_decoded(key, self._values[key]), math.inf) if key in self._values else None

    def add(self, entries: Mapping[Key, Entry]) -> None:
        """Add or replace entries; one that is neither text nor what its key says is left out."""
        for key, entry in entries.items():
            with suppress(ValueError, TypeError, AttributeError):
                self._values[key._replace(base=DOI_ORG)] = _described(key, entry)
                if key.kind == "work" and not entry.says_none and math.isfinite(entry.expires):
                    received = time.gmtime(max(entry.expires - MAX_AGE, 0))
                    self.retrieved[key.doi] = time.strftime("%Y-%m-%d", received)

    def remove(self, dois: Collection[str], kinds: Collection[str] = ()) -> None:
        """Remove the entries about DOIs, given by their keys; only those of some kinds, if any are given."""
        for key in [
            key for key in self._values if key.doi in dois and (not kinds or key.kind in kinds)
        ]:
            del self._values[key]

    def dois(self) -> set[str]:
        """Return the keys of all DOIs in it."""
        return {key.doi for key in self._lines()}

    def status(self, doi: str) -> str | None:
        """Return whether a DOI, given by its key, is registered: "found" or "not-found".

        None if the entries do not say it, whether it is in ``accepted`` or not.
        """
        record = self._values.get(Key("record", DOI_ORG, doi), {}).get("json")
        if isinstance(record, dict):
            code = record.get("responseCode")
            return _STATUSES.get(code) if isinstance(code, int) else None
        is_known = Key("exists", DOI_ORG, doi) in self._values or self._values.get(
            Key("work", DOI_ORG, doi)
        )
        return "found" if is_known else None

    def unused(self, used: Iterable[str]) -> set[str]:
        """Return the keys of the DOIs that are not among those used, nor are aliases led to by them.

        A data set whose files are listed is used: by programs that open them.
        """
        left = {*used, *(key.doi for key in self._values if key.kind == "files")}
        unused = self.dois()
        while left:
            unused -= left
            left = {alias for doi in left if (alias := self._alias(doi)) in unused}
        return unused

    def prune(self, used: Iterable[str]) -> None:
        """Remove what is about the DOIs that are unused."""
        unused = self.unused(used)
        self.remove(unused)
        self.accepted = {doi: reason for doi, reason in self.accepted.items() if doi not in unused}

    def names(self) -> dict[str, str]:
        """Return the name of the first line about each DOI, by the DOI's key."""
        names: dict[str, str] = {}
        for key in self.keys:
            names.setdefault(key.doi, name_of(key))
        return {doi: doi for doi in sorted(self.accepted)} | names

    def differences(self, new: LockContent) -> Differences:
        """Return how another content differs from this one; days do not count."""
        before, after, old, now = self._lines(), new._lines(), self.dois(), new.dois()
        changed = {
            key.doi
            for key in before.keys() | after.keys()
            if before.get(key, 0) != after.get(key, 0)
        }
        return Differences(*map(frozenset, (now - old, changed & old & now, old - now)))

    def _lines(self) -> dict[Key, Any]:
        return self._values | {
            Key("accepted", DOI_ORG, doi): why for doi, why in self.accepted.items()
        }

    def _alias(self, doi: str) -> str | None:
        """Return the key of the name that a DOI is an alias of."""
        entry = self.get(Key("record", DOI_ORG, doi))
        if entry is not None and b'"HS_ALIAS"' in entry.body:
            with suppress(BadRecord):
                return ascii_upper(Record.from_json(entry.body).alias or "")
        return None

    def _read_line(self, section: str, name: str, value: Any) -> None:
        if section == "accepted":
            if not isinstance(value, str):
                raise TypeError(f"the reason for {name} must be a string")
            self.accepted[ascii_upper(name)] = value
            return
        match = _NAME.fullmatch(f"work {DOI_ORG} {name}" if section == "works" else name)
        if match is None:
            raise ValueError(f"{name!r:.200} is not the name of an entry")
        key = Key(match[1], DOI_ORG, ascii_upper(match[3]), match[2] or "")
        if section == "works" and isinstance(value, dict) and "retrieved" in value:
            self.retrieved[key.doi] = str(value.pop("retrieved"))
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
            return {key: entry for key in keys if (entry := self._content.get(key)) is not None}

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

    def close(self) -> None:
        """Do nothing: the file is not kept open."""

    def _refresh(self) -> None:
        """Read the file again if it changed since it was read last."""
        try:
            status = self.path.stat()
            stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
        except OSError:
            stamp = None
        if stamp != self._stamp:
            try:
                self._content = LockContent() if stamp is None else LockContent.read(self.path)
            except OSError as error:
                raise ValueError(
                    f"{self.path} cannot be read as a lock file: {error.strerror}"
                ) from None
            self._stamp = stamp


def name_of(key: Key) -> str:
    """Return the name of the line about a key; that of a work is the DOI."""
    return (
        key.doi
        if key.kind == "work"
        else " ".join(filter(None, (key.kind, key.detail, DOI_ORG, key.doi)))
    )


def _decoded(key: Key, value: Any) -> tuple[bytes, str]:
    """Return the body and the media type of an entry, as the file has it; raise if it is not one."""
    if key.kind == "work":
        if value is None:
            return NOTHING, JSON
        if not isinstance(value, dict):
            raise TypeError("a work must be an object")
        return dump(value).encode(), CSL_JSON
    media_type = value.get("type", JSON)
    if not isinstance(media_type, str):
        raise TypeError("the type of an entry must be a string")
    body = dump(value["json"]) if "json" in value else value["text"]
    return body.encode(), media_type


def _described(key: Key, entry: Entry) -> Any:
    """Return an entry as the file has it: as JSON, so that a reviewer sees what changed, or as text."""
    if key.kind == "work":
        work = None if entry.says_none else read_object(load(entry.body))
        return work and {
            name: member for name, member in work.items() if name != "DOI"
        }  # names the line
    if entry.media_type == JSON:
        content = load(entry.body)
        for value in content.get("values", ()) if key.kind == "record" else ():
            for name in ("ttl", "timestamp"):  # they change often and mean nothing to a reviewer
                value.pop(name, None)
        return {"json": content}
    return {"type": entry.media_type, "text": entry.body.decode()}
