"""Which files to read: those that were named, and those in the folders that were named."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.files._git import ignores_in, outer_ignores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from doiuri_cli.files._git import Patterns

STDIN = "-"
"""The argument that stands for standard input."""

_MADE = {"_build", "node_modules", "venv"}
"""Folders that hold what programs made or installed."""

_OPEN = re.compile(r"/dev/stdin|(?:/dev|/proc/self)/fd/[0-9]+")
"""What the shell opened for this process, which may be a pipe."""


class Filter(NamedTuple):
    """Which files of a folder to read.

    :ivar is_known: whether files of this name are read.
    :ivar include: if there are any, a file must match one of them.
    :ivar exclude: a file or a folder must match none of them.
    :ivar max_size: a file must not be larger, in bytes.
    :ivar force_exclude: whether ``exclude`` is for named files, too.
    """

    is_known: Callable[[str], bool]
    include: Sequence[Patterns] = ()
    exclude: Sequence[Patterns] = ()
    max_size: int = 50_000_000
    force_exclude: bool = False

    def excludes(self, path: str, *, folder: bool = False) -> bool:
        """Return whether an absolute path is excluded."""
        return any(patterns.match(path, folder=folder) for patterns in self.exclude)

    def takes(self, path: str) -> bool:
        """Return whether a file is read, by its absolute path."""
        if not self.is_known(path) or self.excludes(path):
            return False
        return not self.include or any(patterns.match(path) for patterns in self.include)


class Selection:
    """The files to read.

    :ivar paths: the files, each once, in the order in which they were named.
    :ivar folders: the absolute paths of the folders that were read whole.
    :ivar skipped: the files that were passed over, by reason.
    :ivar problems: what cannot be read, with the reason.
    """

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.folders: list[str] = []
        self.skipped: Counter[str] = Counter()
        self.problems: list[tuple[str, str]] = []


def select(arguments: Iterable[str], wanted: Filter) -> Selection:
    """Return the files to read. Named files are read unless ``force_exclude`` is set; folders are filtered.

    :param arguments: paths of files and folders.
    :param wanted: which files of the folders to read.
    """
    selection = Selection()
    for argument in arguments:
        is_folder = argument != STDIN and os.path.isdir(argument)  # noqa: PTH112 - keeps the user's spelling
        path = os.path.abspath(argument)  # noqa: PTH100
        if wanted.force_exclude and argument != STDIN and wanted.excludes(path, folder=is_folder):
            selection.skipped["excluded"] += not is_folder
        elif is_folder:
            selection.folders.append(path)
            _walk(argument, wanted, selection)
        elif argument == STDIN or os.path.isfile(argument) or _OPEN.fullmatch(argument):  # noqa: PTH113
            selection.paths.append(argument)
        elif os.path.exists(argument):  # noqa: PTH110 - a pipe may block for ever
            selection.skipped["not a regular file"] += 1
        else:
            selection.problems.append((argument, "no such file or folder"))
    selection.paths = list(dict.fromkeys(selection.paths))
    return selection


def select_changed(changed: Sequence[str], arguments: Iterable[str], wanted: Filter) -> Selection:
    """Return the changed files that were named, or are in folders that were named, and are read.

    :param changed: absolute paths of the files that changed.
    :param arguments: paths of files and folders.
    :param wanted: which of these files to read.
    """
    selection = Selection()
    # git resolves symbolic links in the path of its top folder
    places = [os.path.realpath(argument) for argument in arguments]
    for path in changed:
        inside = any(path == place or path.startswith(place.rstrip(os.sep) + os.sep) for place in places)
        if inside and not os.path.islink(path) and os.path.isfile(path) and wanted.takes(path):  # noqa: PTH113, PTH114
            shown = os.path.relpath(path, os.path.realpath("."))
            _add(shown, os.path.getsize(path), wanted, selection)  # noqa: PTH202
    return selection


def _add(path: str, size: int, wanted: Filter, selection: Selection) -> None:
    if size > wanted.max_size:
        selection.skipped["too large"] += 1
    else:
        selection.paths.append(path)


class _Folder(NamedTuple):
    """A folder to read.

    :ivar shown: its path as it is shown.
    :ivar path: its absolute path.
    :ivar ignores: what git ignores according to the files above it.
    """

    shown: str
    path: str
    ignores: list[Patterns]


def _walk(top: str, wanted: Filter, selection: Selection) -> None:
    """Add the files below a folder: those of each folder first, then those of the folders in it."""
    path = os.path.abspath(top)  # noqa: PTH100
    ignores = outer_ignores(path)
    if _ignored(ignores, path, folder=True):
        ignores = []  # it was named all the same
    waiting = [_Folder("" if os.path.normpath(top) == os.curdir else top, path, ignores)]
    while waiting:
        folder = waiting.pop()
        try:
            inner = _read_folder(folder, wanted, selection)
        except OSError as error:
            selection.problems.append((folder.shown or top, error.strerror or str(error)))
        else:
            waiting += reversed(inner)


def _read_folder(folder: _Folder, wanted: Filter, selection: Selection) -> list[_Folder]:
    """Add the files of a folder, and return the folders in it.

    Hidden folders, those that programs make, and symbolic links are passed over. What a link leads to is read
    in its own place.
    """
    with os.scandir(folder.path) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    ignores = folder.ignores
    if any(entry.name == ".gitignore" for entry in entries):
        ignores = [*ignores, ignores_in(folder.path)]
    inner = []
    for entry in entries:
        shown, path = os.path.join(folder.shown, entry.name), os.path.join(folder.path, entry.name)  # noqa: PTH118
        if entry.is_dir(follow_symlinks=False):
            passed_over = (
                entry.name.startswith(".") or entry.name in _MADE or wanted.excludes(path, folder=True)
            )
            if not (passed_over or _ignored(ignores, path, folder=True)):
                inner.append(_Folder(shown, path, ignores))
        elif entry.is_file(follow_symlinks=False) and wanted.takes(path) and not _ignored(ignores, path):
            _add(shown, entry.stat(follow_symlinks=False).st_size, wanted, selection)
    return inner


def _ignored(ignores: Sequence[Patterns], path: str, *, folder: bool = False) -> bool:
    """Return whether git ignores a path: the deepest file with a pattern for it decides."""
    for patterns in reversed(ignores):
        verdict = patterns.verdict(path, folder=folder) if patterns.lines else None
        if verdict is not None:
            return verdict
    return False
