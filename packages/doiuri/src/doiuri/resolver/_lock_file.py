"""The lock file: records and works in a JSON file that is committed and reviewed.

It has an object for each kind of answer, such as ``record`` or ``metadata text/plain``, and in that one line
for each DOI; all are sorted. Only works have a date: ``work`` has CSL-JSON with the day on which it was
retrieved, or ``null`` if the agency has none. ``accepted`` has the DOIs that are known not to exist, each with
the reason. The same answers give the same bytes.

An answer counts for every server, whichever gave it, so the file does not name the server. The exception
is the answer that a DOI does not exist: it is kept only from https://doi.org.
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

from doiuri._doi import Handle
from doiuri._files import locked_folder, replacing
from doiuri._json import dump, load, read_object
from doiuri._urls import DOI_ORG
from doiuri.records._negotiation import CSL_JSON
from doiuri.records._record import ascii_upper
from doiuri.resolver._breaker import Breaker
from doiuri.resolver.questions._content import WorkQuestion
from doiuri.resolver.questions._entries import uncontradicted
from doiuri.resolver.questions._existence import ExistenceQuestion
from doiuri.resolver.questions._records import RecordQuestion
from doiuri.resolver.stores._store import JSON, MAX_AGE, NOTHING, Entry, ForkSafe, Key, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from doiuri.resolver._outcome import Outcome
    from doiuri.resolver.questions._question import Question
    from doiuri.works._work import Work

FORMAT = 1
PAUSE = 10.0
"""Seconds for which new answers are dropped after another program kept the file locked."""

_LARGEST = 500_000_000  # bytes
_HEAD = "doiuri-lock"  # the member with the format
_ACCEPTED = "accepted"
_CONFLICT = re.compile(rb"^<{7} ", re.MULTILINE)  # git-merge(1), How conflicts are presented
_REMEDY = "restore it, delete it to start a new one, or name another file"
_NO_LINE = object()

# How a Resolver reads entries, in which all answers count as those of https://doi.org
_RECORD = RecordQuestion(DOI_ORG, follow=False)
_EXISTENCE = ExistenceQuestion(DOI_ORG)
_WORK = WorkQuestion(DOI_ORG)


class Differences(NamedTuple):
    """How two contents of a lock file differ, as sets of the keys of DOIs."""

    added: frozenset[str]
    changed: frozenset[str]
    removed: frozenset[str]


class LockContent:
    """What a lock file says, for every server."""

    accepted: dict[str, str]
    """The DOIs that are known not to exist, by their keys, each with the reason for keeping it."""

    retrieved: dict[str, str]
    """The day on which each work was retrieved, as in ``2026-03-31``, by the DOI's key."""

    def __init__(self) -> None:
        self._values: dict[Key, Any] = {}  # as JSON
        self.accepted = {}
        self.retrieved = {}

    @classmethod
    def read(cls, path: Path) -> LockContent:
        """Return the content of a file.

        :raises OSError: if it cannot be read.
        :raises ValueError: if it is not a lock file.
        """
        content = cls()
        for section, lines in _read_file(path).items():
            where = section
            values: dict[str, Any] = {}  # by the keys of DOIs, which may be spelled in several ways
            try:
                for doi, value in lines.items():
                    where = f"{section}, {doi}"
                    doi_key = Handle.from_name(doi).key
                    if doi_key in values and values[doi_key] != value:
                        raise ValueError("another line of this DOI says otherwise")  # noqa: TRY301
                    values[doi_key] = value
                    content._read_line(section, doi_key, value)
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise ValueError(
                    f"{path} contains an invalid entry ({where!r:.100}: {error!r});"
                    " correct or delete its line"
                ) from None
        return content

    def render(self) -> bytes:
        """Return the content of the file.

        In the object of its kind, each entry has a line, such as ``"10.1000/182": {"json":{"responseCode":1}}``.
        """
        sections: dict[str, list[str]] = {}
        for doi, reason in sorted(self.accepted.items()):
            sections.setdefault(_ACCEPTED, []).append(f"{dump(doi)}: {dump(reason)}")
        for key in self.keys:
            line = f"{dump(key.doi)}: {dump(self._dated(key), sort=True)}"
            sections.setdefault(_section(key), []).append(line)

        members = [f'"{_HEAD}": {FORMAT}']
        for section, lines in sorted(sections.items()):
            joined = ",\n".join(lines)
            members.append(f"{dump(section)}: {{\n{joined}\n}}")
        text = ",\n".join(members)
        return f"{{{text}}}\n".encode()

    def _dated(self, key: Key) -> Any:
        """Return the value of an entry; that of a work has the day on which it was retrieved."""
        value = self._values[key]
        day = self.retrieved.get(key.doi)
        if key.kind != "work" or value is None or day is None:
            return value
        return value | {"retrieved": day}

    def copy(self) -> LockContent:
        """Return a copy."""
        copy = LockContent()
        copy._values = {**self._values}
        copy.accepted = {**self.accepted}
        copy.retrieved = {**self.retrieved}
        return copy

    @property
    def keys(self) -> list[Key]:
        """The keys of all entries, in the order of the file, without ``accepted``."""
        return sorted(self._values, key=lambda key: (_section(key), key.doi))

    def get(self, key: Key) -> Entry | None:
        """Return the entry for a key with any base; None if there is none."""
        key = key._replace(base=DOI_ORG)
        if key not in self._values:
            return None
        return _entry_of(key, self._values[key])

    def add(self, entries: Mapping[Key, Entry]) -> None:
        """Add or replace the entries that it ``takes``; one that cannot be read is left out, too."""
        # The records last: one may say that the DOI does not exist any more
        for key in sorted(entries, key=lambda key: key.kind == "record"):
            entry = entries[key]
            with suppress(ValueError, TypeError, AttributeError):
                if self.takes(key, entry):
                    self._add(key, entry)

    def _add(self, key: Key, entry: Entry) -> None:
        """Add an entry; if it shows that the DOI exists, the record is removed that said otherwise.

        :raises ValueError: if the entry cannot be read; TypeError or AttributeError, too.
        """
        self._values[key._replace(base=DOI_ORG)] = _described(key, entry)
        if key.kind == "record" or entry.says_none:
            return

        record_key = Key("record", DOI_ORG, key.doi)
        record = self.get(record_key)
        if record is not None and record.says_not_found:
            del self._values[record_key]  # the DOI exists after all

        # The day is that of the answer; that of another lock file's entry, which never expires, is not known
        if key.kind == "work" and math.isfinite(entry.expires):
            received = time.gmtime(max(entry.expires - MAX_AGE, 0))
            self.retrieved[key.doi] = time.strftime("%Y-%m-%d", received)

    def takes(self, key: Key, entry: Entry) -> bool:
        """Return whether an answer may be added.

        That a DOI does not exist counts only if https://doi.org says so. That it has no metadata does not
        replace its work: to drop that, delete its line.
        """
        if key.kind == "record" and key.base != DOI_ORG:
            outcome = _RECORD.read(Handle.from_name(key.doi), [entry])
            return outcome is None or outcome.status != "not-found"
        if key.kind == "work" and entry.says_none:
            return self._values.get(key._replace(base=DOI_ORG)) is None
        return True

    def remove(self, dois: Collection[str], kinds: Collection[str] = ()) -> None:
        """Remove the entries about DOIs, given by their keys; only those of some kinds, if any are given."""
        for key in list(self._values):
            if key.doi in dois and (not kinds or key.kind in kinds):
                del self._values[key]

    def dois(self) -> set[str]:
        """Return the keys of all DOIs in it."""
        return {key.doi for key in self._lines()}

    def work(self, doi: str) -> Work | None:
        """Return the work that a DOI, given by its key, names; None if the file does not have it."""
        outcome = self._answer(_WORK, Handle.from_name(doi))
        return None if outcome is None else outcome.work

    def status(self, doi: str) -> str | None:
        """Return whether a DOI, given by its key, is registered: "found" or "not-found".

        None if the entries do not say it, whether it is in ``accepted`` or not. It is what a Resolver with the
        file as its store answers offline: ``check`` or, if that knows nothing, ``works``.
        """
        name = Handle.from_name(doi)
        outcome = self._answer(_EXISTENCE, name)
        if outcome is not None:
            return outcome.status
        outcome = self._answer(_WORK, name)
        return "found" if outcome is not None and outcome.found else None

    def _answer(self, question: Question, doi: Handle) -> Outcome | None:
        """Return the answer to a question, as a Resolver reads it; None if the entries hold none."""
        keys = question.keys(doi)
        standing = uncontradicted(keys, self._entries(keys))
        return question.read(doi, list(standing.values()))

    def _entries(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        """Return the entries that exist for these keys."""
        entries = {}
        for key in keys:
            entry = self.get(key)
            if entry is not None:
                entries[key] = entry
        return entries

    def unused(self, used: Iterable[str]) -> set[str]:
        """Return the keys of the DOIs that are neither used, nor what an alias that is used leads to.

        A data set whose files are listed is used: by programs that open them.
        """
        unused = self.dois()
        # An alias may lead to another one, so what turns out to be used is looked at in turn
        newly_used = {key.doi for key in self._values if key.kind == "files"}
        newly_used.update(used)
        while newly_used:
            unused -= newly_used
            targets = {self._alias(doi) for doi in newly_used}
            newly_used = unused & targets
        return unused

    def prune(self, used: Iterable[str]) -> None:
        """Remove what is about the DOIs that are unused, but not accepted: a person gave the reasons."""
        self.remove(self.unused(used) - self.accepted.keys())

    def differences(self, new: LockContent) -> Differences:
        """Return how another content differs from this one; days do not count."""
        old_lines = self._lines()
        new_lines = new._lines()
        if old_lines == new_lines:  # the usual case, in which large files should cost little
            return Differences(frozenset(), frozenset(), frozenset())

        changed = set()
        for key in old_lines.keys() | new_lines.keys():
            if old_lines.get(key, _NO_LINE) != new_lines.get(key, _NO_LINE):
                changed.add(key.doi)

        old_dois = self.dois()
        new_dois = new.dois()
        return Differences(
            added=frozenset(new_dois - old_dois),
            changed=frozenset(changed & old_dois & new_dois),
            removed=frozenset(old_dois - new_dois),
        )

    def _lines(self) -> dict[Key, Any]:
        """Return what each line says, without the day, by the key of its entry."""
        lines = self._values.copy()
        for doi, reason in self.accepted.items():
            lines[Key(_ACCEPTED, DOI_ORG, doi)] = reason
        return lines

    def _alias(self, doi: str) -> str | None:
        """Return the key of the name that a DOI is an alias of."""
        outcome = self._answer(_RECORD, Handle.from_name(doi))
        if outcome is None or outcome.record is None or outcome.record.alias is None:
            return None
        return ascii_upper(outcome.record.alias)

    def _read_line(self, section: str, doi: str, value: Any) -> None:
        """Add a line of the file; raise an error if it is invalid.

        :param doi: the DOI's key.
        """
        if section == _ACCEPTED:
            if not isinstance(value, str):
                raise TypeError("the reason must be a string")
            self.accepted[doi] = value
            return
        kind, _, detail = section.partition(" ")
        key = Key(kind, DOI_ORG, doi, detail)
        if kind == "work" and isinstance(value, dict) and "retrieved" in value:
            value = value.copy()
            self.retrieved[doi] = str(value.pop("retrieved"))
        _entry_of(key, value)  # raises an error if it is invalid
        self._values[key] = value


class LockFile(ForkSafe):
    """A store in a lock file.

    1. Reading: the file is read again whenever it has changed.
    2. Editing: ``edit`` locks the folder, changes a copy of the content, and replaces the file if they differ.
    3. Writing: ``put_many`` is an edit. During another one of this thread, its entries wait until that ends.

    Its entries never expire; delete a line to have that DOI resolved again. They are found for every
    server, whichever answered; ``LockContent.takes`` says which are not kept. If the file cannot be written, a
    StoreWarning is issued and new entries are dropped.

    :param path: the file; it need not exist.
    :param timeout: seconds to wait for other programs that write to the file.
    :raises ValueError: if the file cannot be read as a lock file.
    """

    def __init__(self, path: str | os.PathLike[str], *, timeout: float = 5.0) -> None:
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow symbolic links
        self._timeout = timeout
        self._stamp: tuple[int, ...] | None = None
        self._content = LockContent()
        self._put_during_edit: dict[Key, Entry] = {}
        self._breaker = Breaker(PAUSE)
        super().__init__()
        self._refresh()

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        """Return the entries that exist for these keys; if the file cannot be read, those that it had before."""
        with self._mutex:
            try:
                self._refresh()
            except (OSError, ValueError) as error:
                warn(f"the lock file {self.path} cannot be read ({error})")
            return self._content._entries(keys)

    def put_many(self, entries: Mapping[Key, Entry]) -> None:
        """Add or replace entries. The file is only written if that changes it."""
        with self._mutex:
            if not entries or self._breaker.is_open:
                return
            try:
                self.edit(lambda content: content.add(entries))
            except (OSError, ValueError) as error:
                if isinstance(error, OSError) and error.errno == errno.EDEADLK:
                    # in the thread that edits, the garbage collector closes a batch, which stores its answers
                    self._put_during_edit.update(entries)
                    return
                if isinstance(error, TimeoutError):
                    self._breaker.trip()
                warn(
                    f"the lock file {self.path} cannot be written ({error}); new answers are not kept"
                )

    def read(self) -> LockContent:
        """Return a copy of what the file says.

        :raises ValueError: if it was changed, and is no longer a lock file.
        """
        with self._mutex:
            self._refresh()
            return self._content.copy()

    def edit(self, change: Callable[[LockContent], None]) -> Differences:
        """Change the file, atomically; return what changed.

        Other processes that write to the file wait meanwhile. Windows and some network file systems have no locks
        for that, and editors ignore them: then what another program has written meanwhile stays, with an error.

        :param change: called with what the file says, which it changes. It may not edit a lock file in the same
            folder itself.
        :raises OSError: if the file cannot be written, or was changed meanwhile; TimeoutError if another program
            keeps it locked.
        :raises ValueError: if the file was changed, and is no longer a lock file.
        """
        with self._mutex:
            with locked_folder(self.path.resolve().parent, self._timeout):
                on_disk = self.path.read_bytes() if self.path.is_file() else None
                old = self.read()
                new = old.copy()
                change(new)
                differences = old.differences(new)
                if any(differences) or new.retrieved != old.retrieved:
                    with replacing(self.path, expected=on_disk) as draft:
                        draft.write_bytes(new.render())

            # What this thread could not store meanwhile
            entries = self._put_during_edit
            self._put_during_edit = {}
            self.put_many(entries)
            return differences

    def close(self) -> None:
        """Do nothing: the file is not kept open."""

    def _refresh(self) -> None:
        """Read the file again if it changed since it was read last.

        :raises ValueError: if it cannot be read as a lock file; then the content is the last one.
        """
        stamp = _stamp(self.path)
        if stamp == self._stamp:
            return
        if stamp is None:
            self._content = LockContent()
        else:
            try:
                self._content = LockContent.read(self.path)
            except OSError as error:
                raise ValueError(
                    f"{self.path} cannot be read as a lock file: {error.strerror}"
                ) from None
        self._stamp = stamp


def _stamp(path: Path) -> tuple[int, ...] | None:
    """Return the number, size and time of a file, which show that it was written; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _read_file(path: Path) -> dict[str, Any]:
    """Return the sections of a lock file.

    An empty file has none: nothing is lost if it is replaced.

    :raises OSError: if it cannot be read.
    :raises ValueError: if it is not a lock file; the message says what to do.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
        reason = f"not a regular file of at most {_LARGEST:,} bytes"
        raise OSError(errno.EINVAL, reason, str(path))

    content = path.read_bytes()
    if not content:
        return {}

    try:
        file = load(content)
    except ValueError as error:
        if _CONFLICT.search(content):
            reason = "it has a merge conflict; resolve it, keeping the lines of both sides"
        else:
            reason = f"{error}; {_REMEDY}"
        raise ValueError(f"{path} cannot be read as a lock file: {reason}") from None

    version = file.pop(_HEAD, None) if isinstance(file, dict) else None
    if version != FORMAT:
        is_newer = isinstance(version, int) and version > FORMAT
        remedy = "upgrade doiuri" if is_newer else _REMEDY
        reason = f"its format is {version!r:.40}; {remedy}"
        raise ValueError(f"{path} is not a lock file of format {FORMAT}: {reason}")
    sections: dict[str, Any] = file
    return sections


def _section(key: Key) -> str:
    """Return the name of the object that has the entry of a key; a kind has no space in it."""
    return f"{key.kind} {key.detail}" if key.detail else key.kind


def _entry_of(key: Key, value: Any) -> Entry:
    """Return the entry that a value in the file stands for: what ``_described`` returned.

    :raises ValueError: if it stands for none; TypeError, KeyError or AttributeError, too.
    """
    if key.kind == "work":
        if value is None:
            return Entry(NOTHING, JSON, math.inf)
        if not isinstance(value, dict):
            raise TypeError("a work must be an object")
        return Entry(dump(value).encode(), CSL_JSON, math.inf)

    media_type = value.get("type", JSON)
    if not isinstance(media_type, str):
        raise TypeError("the type of an entry must be a string")
    body = dump(value["json"]) if "json" in value else value["text"]
    return Entry(body.encode(), media_type, math.inf)


def _described(key: Key, entry: Entry) -> Any:
    """Return an entry as the file has it: as JSON, so that a reviewer sees what changed, or as text.

    :raises ValueError: if it cannot be read as what its key says; TypeError or AttributeError, too.
    """
    if key.kind == "work":
        if entry.says_none:
            return None
        work = read_object(load(entry.body))
        work.pop("DOI", None)  # names the line
        return work

    if entry.media_type != JSON:
        return {"type": entry.media_type, "text": entry.body.decode()}
    content = load(entry.body)
    if key.kind == "record":
        for value in content.get("values", ()):
            # these change often and mean nothing to a reviewer
            value.pop("ttl", None)
            value.pop("timestamp", None)
    return {"json": content}


for _public in (LockContent, LockFile):
    _public.__module__ = "doiuri.resolver"  # for tracebacks and pickles
