"""The lock file: records, works and references in a JSON file that is committed and reviewed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doiuri._files._folder_lock import locked_folder
from doiuri._files._replacing import replacing
from doiuri.resolver._fork import ForkSafe
from doiuri.resolver.stores._lock_format import (
    accepted_key,
    accepted_line,
    accepted_reasons,
    by_doi,
    is_accepted,
    lock_key,
    make_line,
    ordered,
    read_lines,
    render,
)
from doiuri.resolver.stores._store import Usage, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from doiuri.resolver.stores._lock_format import Line
    from doiuri.resolver.stores._store import Entry

    Edit = Callable[[dict[str, Entry], dict[str, str]], tuple[Mapping[str, Entry], Mapping[str, str]]]

_Stamp = tuple[int, int, int]


class Differences(NamedTuple):
    """How two contents of a lock file differ, as sets of the keys of DOIs."""

    added: frozenset[str]
    """The DOIs that only the new content has."""

    changed: frozenset[str]
    """The DOIs whose entries differ."""

    removed: frozenset[str]
    """The DOIs that only the old content has."""


class LockFile(ForkSafe):
    """A store in a lock file.

    Its entries never expire; delete a line to have that DOI resolved again. If the file cannot be written,
    new entries are kept in memory and a StoreWarning is issued.

    The keys contain the base URL of the resolver that answered. A Resolver with another base finds no answers
    in the file; if it is offline, all DOIs are unknown. The builder ``doi-lock`` of Sphinx writes all answers
    as those of https://doi.org, see ``LockedAnswers``.

    :param path: the file; it need not exist.
    :raises ValueError: if the file cannot be read as a lock file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow symbolic links
        self._stamp: _Stamp | None = None
        self._lines: dict[str, Line] = {}  # the content of the file
        self._accepted: dict[str, str] = {}  # a part of it
        self._unsaved: dict[str, Line] = {}
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
        """Return the keys of all entries, in the order of the file, without DOIs in ``accepted``."""
        with self._lock:
            self._refresh()
            accepted = {accepted_key(doi) for doi in self._accepted}
            return [key for key in ordered(self._lines) if key not in accepted]

    def put_many(self, entries: Mapping[str, Entry]) -> None:
        """Add or replace entries. The file is only written if that changes it."""
        with self._lock:
            self._unsaved |= {key: make_line(key, entry) for key, entry in entries.items()}
            try:
                with locked_folder(self.path.resolve().parent):
                    self._refresh()
                    self._save(self._lines | self._unsaved)
            except (OSError, ValueError) as error:
                self._warn("written", error)

    @property
    def accepted(self) -> dict[str, str]:
        """The DOIs that are known not to exist, by their keys, each with the reason for keeping it."""
        with self._lock:
            self._refresh()
            return dict(self._accepted)

    def compare(self, entries: Mapping[str, Entry], accepted: Mapping[str, str] | None = None) -> Differences:
        """Return what ``replace`` would change."""
        with self._lock:
            self._refresh()
            return _differences(self._lines, self._replacement(entries, accepted))

    def replace(self, entries: Mapping[str, Entry], accepted: Mapping[str, str] | None = None) -> None:
        """Replace the whole content of the file, atomically.

        :param entries: the entries that the file is to have.
        :param accepted: the DOIs that are known not to exist, by their keys, with the reasons; by default,
            those in the file stay.
        :raises OSError: if the file cannot be written.
        :raises ValueError: if the file was changed, and is no longer a lock file.
        :raises TypeError: if a reason is not a string.
        """
        with self._lock, locked_folder(self.path.resolve().parent):
            self._refresh()
            self._save(self._replacement(entries, accepted))

    def edit(self, change: Edit) -> Differences:
        """Return what changes in the file, which is changed atomically.

        Other processes that write to the file wait meanwhile, so that none of their changes is lost.

        :param change: called with the entries of the file by key, and with the DOIs that are known not to
            exist, by their keys, with the reasons; returns both as the file is to have them.
        :raises OSError: if the file cannot be written.
        :raises ValueError: if the file was changed, and is no longer a lock file.
        """
        with self._lock, locked_folder(self.path.resolve().parent):
            self._refresh()
            entries = {key: line.entry for key, line in self._lines.items() if not is_accepted(line)}
            old, new = self._lines, self._replacement(*change(entries, dict(self._accepted)))
            self._save(new)
            return _differences(old, new)

    def usage(self) -> Usage:
        """Return how much the file holds.

        :raises ValueError: if it is no longer a lock file.
        """
        with self._lock:
            self._refresh()
            return Usage(len(self._lines) - len(self._accepted), self._stamp[1] if self._stamp else 0)

    def clear(self) -> Usage:
        """Remove all entries; return how much that was. Keeps ``accepted``. Otherwise like ``replace``."""
        before = self.usage()
        if before.entries:
            self.replace({})
        return Usage(before.entries, max(before.octets - self.usage().octets, 0))

    def close(self) -> None:
        """Do nothing: the file is not kept open."""

    def _replacement(
        self, entries: Mapping[str, Entry], accepted: Mapping[str, str] | None
    ) -> dict[str, Line]:
        reasons = self._accepted if accepted is None else accepted
        kept = {accepted_key(doi): accepted_line(doi, reason) for doi, reason in reasons.items()}
        return {key: make_line(key, entry) for key, entry in entries.items()} | kept

    def _save(self, lines: dict[str, Line]) -> None:
        if lines != self._lines:
            with replacing(self.path) as draft:
                draft.write_bytes(render(lines))
            self._stamp = _stamp(self.path)
            self._set(lines)
        self._unsaved = {}

    def _refresh(self) -> None:
        """Read the file again if it changed since it was read last."""
        stamp = _stamp(self.path)
        if stamp != self._stamp:
            self._set({} if stamp is None else read_lines(self.path))
            self._stamp = stamp

    def _set(self, lines: dict[str, Line]) -> None:
        self._lines, self._accepted = lines, accepted_reasons(lines)

    def _warn(self, what: str, error: Exception) -> None:
        warn(f"the lock file {self.path} cannot be {what} ({error}); new answers are kept in memory")


class LockedAnswers:
    """A lock file as a read-only store.

    An entry that the file records as an answer of https://doi.org is valid for every resolver. One of another
    base is valid for that base only.

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


def _differences(old: Mapping[str, Line], new: Mapping[str, Line]) -> Differences:
    before, after = by_doi(old), by_doi(new)
    changed = frozenset(doi for doi in before.keys() & after.keys() if before[doi] != after[doi])
    return Differences(
        frozenset(after.keys() - before.keys()), changed, frozenset(before.keys() - after.keys())
    )


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
