"""Patterns of paths as in .gitignore, relative to a folder."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class Patterns(NamedTuple):
    """Patterns of paths, as in .gitignore. The last one that matches decides.

    :ivar folder: the absolute path of the folder that they are relative to.
    :ivar lines: the patterns.
    """

    folder: str
    lines: tuple[str, ...]

    def verdict(self, path: str, *, folder: bool = False) -> bool | None:
        """Return True if a path matches, False if a negated pattern takes it out, None if no pattern applies.

        :param path: an absolute path; outside of the folder, only patterns without a slash can match.
        :param folder: whether it is a folder.
        """
        inside = path[len(self.folder) :] if _is_below(path, self.folder) else os.path.basename(path)  # noqa: PTH119 - for speed
        name = inside.replace(os.sep, "/").lstrip("/")
        return _spec(self.lines).check_file(f"{name}/" if folder else name).include

    def match(self, path: str, *, folder: bool = False) -> bool:
        """Return whether a path matches; the arguments are those of ``verdict``."""
        return bool(self.lines) and bool(self.verdict(path, folder=folder))


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


@cache
def _spec(lines: tuple[str, ...]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # slow to import

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:  # like git, ignore invalid patterns only
        return GitIgnoreSpec.from_lines(line for line in lines if is_pattern(line))


def is_pattern(line: str) -> bool:
    """Return whether a line is a valid pattern."""
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
