"""Types of files that are not read, though they hold DOIs: the user may want to add them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_OF_TYPE = 20  # files of one type that are looked into
_MOST_FILES = 1000  # of all types
_LENGTH = 65_536  # bytes of a file that are looked at
# Without patterns such as 10.5555/*, which our configuration holds
_DOI = re.compile(rb"(?<![0-9.])10\.[0-9]{4,9}/[^\s/*]")


class UnreadFiles:
    """The files in folders whose types are not read, by extension; a few of each, to be looked into."""

    def __init__(self) -> None:
        self._paths: dict[str, list[str]] = {}
        self._count = 0

    def add(self, path: str) -> None:
        """Add a file, if its name has an extension."""
        extension = os.path.splitext(path)[1].lower()  # noqa: PTH122 - for speed
        if not extension:
            return
        paths = self._paths.setdefault(extension, [])
        if len(paths) < _MOST_OF_TYPE and self._count < _MOST_FILES:
            paths.append(path)
            self._count += 1

    def types_with_dois(self) -> list[str]:
        """Return the extensions of which a file holds a DOI, in order."""
        return sorted(
            extension for extension, paths in self._paths.items() if _any_holds_doi(paths)
        )


def _any_holds_doi(paths: Iterable[str]) -> bool:
    """Return whether one of some files of a type holds a DOI; none does if the first is binary."""
    for path in paths:
        try:
            with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - for speed
                content = file.read(_LENGTH)
        except OSError:
            continue
        if b"\0" in content:
            return False
        if b"10." in content and _DOI.search(content):  # the first test is fast
            return True
    return False
