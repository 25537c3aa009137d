"""Answers from a lock file, whoever gave them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri._urls import DOI_ORG

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doiuri.resolver.stores._lock_file import LockFile
    from doiuri.resolver.stores._memory import Entry


def at_home(key: str, base: str) -> str:
    """A store's key as if doi.org had been asked, and not a mirror or a local proxy."""
    return key.replace(f" {base} ", f" {DOI_ORG} ", 1)


class LockedAnswers:
    """A lock ``file`` as a store to read from; ``seen`` are the file's keys that were asked for.

    What it says of a DOI holds whichever resolver is set: it is written as doi.org's answer.
    """

    def __init__(self, file: LockFile, base: str) -> None:
        self.file = file
        self._base = base
        self.seen: set[str] = set()

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        """The entries of those of the keys that the file has."""
        names = {key: at_home(key, self._base) for key in keys}
        entries = self.file.get_many([*names, *names.values()])
        self.seen.update(entries)
        found = {key: entries.get(key) or entries.get(name) for key, name in names.items()}
        return {key: entry for key, entry in found.items() if entry is not None}
