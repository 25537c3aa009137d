"""Which files to read: those that were named, and those in the folders that were named."""

from __future__ import annotations

import os
import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.files._git import ignored_in

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from doiuri_cli.files._git import Patterns

STDIN = "-"
"""The argument that stands for standard input."""

_MADE = {"_build", "node_modules", "venv"}
"""Folders that hold what programs made or installed."""

OPENED = re.compile(r"/dev/stdin|(?:/dev|/proc/self)/fd/[0-9]+")
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

    def _names(self, path: str) -> bool:
        """Return whether a pattern to include ends with the extension of a file, or is its name."""
        name = os.path.basename(path)  # noqa: PTH119
        extension = os.path.splitext(name)[1].lower()  # noqa: PTH122
        lines = [line for patterns in self.include for line in patterns.lines]
        return name in lines or any(extension and line.lower().endswith(extension) for line in lines)

    def excludes(self, path: str, *, folder: bool = False) -> bool:
        """Return whether an absolute path is excluded."""
        return any(patterns.match(path, folder=folder) for patterns in self.exclude)

    def takes(self, path: str) -> bool:
        """Return whether a file is read, by its absolute path."""
        if not (self.is_known(path) or self._names(path)) or self.excludes(path):
            return False
        return not self.include or any(_included(patterns).match(_folded(path)) for patterns in self.include)


@cache
def _included(patterns: Patterns) -> Patterns:
    return patterns._replace(lines=tuple(map(_folded, patterns.lines)))


def _folded(path: str) -> str:
    """Return a path or pattern with its extension in lower case."""
    root, extension = os.path.splitext(path)  # noqa: PTH122
    return root + extension.lower()


class Selection:
    """The files to read.

    :ivar paths: the files, each once, in the order in which they were named.
    :ivar folders: the absolute paths of the folders that were read whole.
    :ivar skipped: the files that were passed over, by reason.
    :ivar left_out: what the user may miss, with the reason.
    :ivar problems: what cannot be read, with the reason.
    """

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.folders: list[str] = []
        self.skipped: Counter[str] = Counter()
        self.left_out: list[tuple[str, str]] = []
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
        elif argument == STDIN or os.path.isfile(argument) or OPENED.fullmatch(argument):  # noqa: PTH113
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
        selection.left_out.append((path, f"{size:,} bytes; max-size is {wanted.max_size:,}"))
    else:
        selection.paths.append(path)


def _built(names: Container[str]) -> str | None:
    """Return the name that shows that a folder holds a built site; None if there is none among its names."""
    if ".buildinfo" in names:  # Sphinx
        return ".buildinfo"
    for name in ("doctrees", ".doctrees"):  # of all builders of Sphinx, unless it is beside the sources
        if name in names and "conf.py" not in names:
            return name
    marks = (name for name in ("objects.inv", "sitemap.xml") if name in names and "index.html" in names)
    return next(marks, None)


def _walk(top: str, wanted: Filter, selection: Selection) -> None:
    """Add the files below a folder: those of each folder first, then those of the folders in it.

    Hidden folders, those that programs make, built sites, what git ignores, and symbolic links are passed
    over. What a link leads to is read in its own place.
    """
    path = os.path.abspath(top)  # noqa: PTH100
    start, ignored = path, ignored_in(path)
    waiting = [("" if os.path.normpath(top) == os.curdir else top, path)]
    while waiting:
        shown, path = waiting.pop()
        try:
            with os.scandir(path) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            selection.problems.append((shown or top, error.strerror or str(error)))
            continue
        names = {entry.name for entry in entries}
        if path != start and (mark := _built(names)):
            selection.left_out.append((shown, f"a site that a program built ({mark}); name it to read it"))
            continue
        if ".git" in names and path != start:
            ignored |= ignored_in(path)  # another repository, such as a submodule
        inner = []
        for entry in entries:
            place = os.path.join(shown, entry.name), os.path.join(path, entry.name)  # noqa: PTH118
            if place[1] in ignored:
                continue
            if entry.is_dir(follow_symlinks=False):
                is_made = entry.name.startswith(".") or entry.name in _MADE
                if not (is_made or wanted.excludes(place[1], folder=True)):
                    inner.append(place)
            elif entry.is_file(follow_symlinks=False) and wanted.takes(place[1]):
                _add(place[0], entry.stat(follow_symlinks=False).st_size, wanted, selection)
        waiting += reversed(inner)
