"""Which files to read: those that were named, those in named folders, and what git knows of them."""

from __future__ import annotations

import os
import re
from collections import Counter
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.files._unread import UnreadFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern


_WAIT = 60.0  # seconds for one call of git

# A stranger may have written .git/config and .git/hooks: git must not run what these name
_WITHOUT_HOOKS = ("-c", "core.fsmonitor=", "-c", f"core.hooksPath={os.devnull}")
_WITHOUT_FETCHING = {"GIT_ALLOW_PROTOCOL": "none"}  # a missing object, from what a remote names
_FILTER = re.compile(r"filter\..*\.(?:clean|process|required)", re.DOTALL)

# In the expression of a pattern: a star that another one follows in the same name; a pair that a pair follows
_CHARACTER = r"(?:\\.|\[\^?\]?[^\]]*\](?![*+])|[^\\\[(/.^$*+?])"
_STAR = re.compile(rf"\[\^/\]\*({_CHARACTER}*)(?=\[\^/\]\*)")
_STARS = re.compile(
    r"""
    \(\?:( \.\+\?/ | /\.\+\? )\)\?
    (.*?)
    (?= \(\?:/\.\+\?\)\? )
    """,
    re.DOTALL | re.VERBOSE,
)


class GitError(ValueError):
    """git cannot say which files changed."""


class Patterns(NamedTuple):
    """Patterns of paths, as in .gitignore. The last one that matches decides."""

    folder: str  # the absolute path of the folder that they are relative to
    lines: tuple[str, ...]  # the patterns

    def match(self, path: str, *, folder: bool = False) -> bool:
        """Return whether a path matches; for the parameters, see ``verdict``."""
        return bool(self.verdict(path, folder=folder))

    def verdict(self, path: str, *, folder: bool = False) -> bool | None:
        """Return whether the last pattern that matches a path includes it; None if none matches.

        :param path: an absolute path; outside of the folder, only patterns without a slash can match.
        """
        if _is_below(path, self.folder):
            inside = path[len(self.folder) :]
        else:
            inside = os.path.basename(path)  # noqa: PTH119 - for speed
        name = inside.replace(os.sep, "/").lstrip("/")
        if folder:
            name += "/"
        return _spec(self.lines).check_file(name).include


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


@cache
def _spec(lines: tuple[str, ...]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # slow to import

    # Like git, ignore invalid patterns. The other backends know no atomic groups
    return GitIgnoreSpec(filter(None, map(_compiled, lines)), backend="simple")


def is_pattern(line: str) -> bool:
    """Return whether a line is a valid pattern."""
    return _compiled(line) is not None


def _compiled(line: str) -> GitIgnoreSpecPattern | None:
    """Return a pattern; None if it is invalid.

    What is between two stars is matched where it occurs first, as "b" in "a*b*c": otherwise the time would be
    exponential.
    """
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    try:
        pattern = GitIgnoreSpecPattern(line)
    except ValueError:
        return None
    if pattern.regex is None:
        return pattern

    # A star, or a pair of stars, forms an atomic group with the text up to the next one
    text = _STAR.sub(r"(?>[^/]*?\1)", pattern.regex.pattern)
    text = _STARS.sub(r"(?>(?:\1)??\2(?=/))", text.replace(".+", ".+?"))
    return GitIgnoreSpecPattern(re.compile(text), pattern.include)


def ignored_in(folder: str) -> set[str]:
    """Return the absolute paths of the files and folders below a folder that git ignores, and does not track.

    There are none if git is not installed, or the folder is not in a repository.
    """
    options = "--others", "--ignored", "--exclude-standard", "--directory"
    try:
        names = _git("-C", folder, "ls-files", "-z", *options)
    except GitError:
        return set()
    return {os.path.join(folder, name.rstrip("/")) for name in names.split("\0")}  # noqa: PTH118 - for speed


def changed_files(reference: str | None) -> list[str]:
    """Return the absolute paths of the files that differ from a commit, and of those that git does not track.

    :param reference: the commit; None: the last one, or if there is none yet, every file counts.
    :raises GitError: if there is no repository, no such commit, or no git.
    """
    top = _git("rev-parse", "--show-toplevel").removesuffix("\n")
    if reference is None and not _is_commit("HEAD"):
        files = _git("-C", top, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return _paths(top, files)

    reference = reference or "HEAD"
    # Such as main..HEAD, but not "../docs", a path that was taken for the commit
    is_range = ".." in reference.strip(".")
    if reference.startswith("-") or not (is_range or _is_commit(reference)):
        raise GitError(
            f"--changed: {reference!r} is not a commit; name paths before --changed, or use --changed=REF"
        )

    # Without deleted files ("d"). In a submodule, git would run "git status", with filters of its own
    options = "--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=all"
    names = "--name-only", "-z", "--diff-filter=d"
    changed = _git("-C", top, *_no_filters(top), "diff", *options, *names, reference, "--")
    new = _git("-C", top, "ls-files", "-z", "--others", "--exclude-standard")
    return _paths(top, changed + new)


def _no_filters(top: str) -> list[str]:
    """Return options of git for a repository whose filters are not run: to compare files, git would run them.

    :raises GitError: if the name of one cannot be written as an option.
    """
    options: list[str] = []
    names = _git("-C", top, "config", "--null", "--list", "--name-only").split("\0")
    for name in sorted(filter(_FILTER.fullmatch, {*names})):
        if "=" in name:
            raise GitError(f"refused: the name of a filter, {name!r}, contains '='")
        options += "-c", f"{name}="
    return options


def _paths(top: str, names: str) -> list[str]:
    """Return the absolute paths of files, whose names git wrote with NULs between them."""
    return sorted({str(Path(top, name)) for name in names.split("\0") if name})


def _is_commit(reference: str) -> bool:
    try:
        _git("rev-parse", "--quiet", "--verify", f"{reference}^{{commit}}")
    except GitError:
        return False
    return True


def _git(*arguments: str) -> str:
    """Return what git writes, without running any program that the repository names.

    :raises GitError: if it fails, does not end in time, or is not installed.
    """
    import subprocess  # slow to import

    try:
        run = subprocess.run(  # noqa: S603 - no shell
            ["git", *_WITHOUT_HOOKS, *arguments],  # noqa: S607 - the user's git
            env=os.environ | _WITHOUT_FETCHING,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_WAIT,
            check=False,
        )
    except FileNotFoundError:
        raise GitError("--changed needs git, which is not installed") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(f"git failed: {error}") from None
    if run.returncode:
        reason = os.fsdecode(run.stderr).strip().partition("\n")[0].removeprefix("fatal: ")
        raise GitError(f"git failed: {reason or f'exit code {run.returncode}'}")
    return os.fsdecode(run.stdout)


STDIN = "-"  # the argument that stands for standard input
_MADE = {"_build", "node_modules", "venv"}  # folders that hold what programs made or installed
OPENED = re.compile(r"/dev/stdin|(?:/dev|/proc/self)/fd/[0-9]+")
"""What the shell opened for this process, which may be a pipe."""


class Filter(NamedTuple):
    """Which files of a folder to read."""

    is_known: Callable[[str], bool]  # whether files of this name are read
    include: Sequence[Patterns] = ()  # if there are any, a file must match one of them
    exclude: Sequence[Patterns] = ()  # a file or a folder must match none of them
    max_size: int = 50_000_000  # a file must not be larger, in bytes
    force_exclude: bool = False  # whether ``exclude`` is for named files, too

    def _names(self, path: str) -> bool:
        """Return whether a pattern to include ends with the extension of a file, or is its name.

        Such a file is read although its type is unknown, as one of ``include = ["*.dat"]``.
        """
        name = os.path.basename(path)  # noqa: PTH119
        extension = os.path.splitext(name)[1].lower()  # noqa: PTH122
        for patterns in self.include:
            for line in patterns.lines:
                if name == line or (extension and line.lower().endswith(extension)):
                    return True
        return False

    def excludes(self, path: str, *, folder: bool = False) -> bool:
        """Return whether an absolute path is excluded."""
        return any(patterns.match(path, folder=folder) for patterns in self.exclude)

    def may_be_missed(self, path: str) -> bool:
        """Return whether a file is not read only because of its type, so that the user may miss it."""
        return not (self.include or self.is_known(path) or self.excludes(path))

    def takes(self, path: str) -> bool:
        """Return whether a file is read, by its absolute path."""
        if not (self.is_known(path) or self._names(path)) or self.excludes(path):
            return False
        if not self.include:
            return True
        return any(_included(patterns).match(_folded(path)) for patterns in self.include)


@cache
def _included(patterns: Patterns) -> Patterns:
    return patterns._replace(lines=tuple(map(_folded, patterns.lines)))


def _folded(path: str) -> str:
    """Return a path or pattern with its extension in lower case."""
    root, extension = os.path.splitext(path)  # noqa: PTH122
    return root + extension.lower()


class Selection:
    """The files to read."""

    def __init__(self) -> None:
        self.paths: list[str] = []  # each once, in the order in which they were named
        self.named: set[str] = set()  # those that were named, and not found in folders
        self.folders: list[str] = []  # the absolute paths of those that were read whole
        self.skipped: Counter[str] = Counter()  # the files that were passed over, by reason
        self.left_out: list[tuple[str, str]] = []  # what the user may miss, with the reason
        self.unread = UnreadFiles()  # the files of types that are not read
        self.problems: list[tuple[str, str]] = []  # what cannot be read, with the reason


def select(arguments: Iterable[str], wanted: Filter) -> Selection:
    """Return the files to read, each once. Named files are read unless ``force_exclude`` is set."""
    selection = Selection()
    for argument in arguments:
        is_folder = argument != STDIN and os.path.isdir(argument)  # noqa: PTH112 - keeps the user's spelling
        path = os.path.abspath(argument)  # noqa: PTH100
        # What is excluded, a folder, a file, what is no regular file, and what is not there
        if wanted.force_exclude and argument != STDIN and wanted.excludes(path, folder=is_folder):
            if not is_folder:
                selection.skipped["excluded"] += 1
        elif is_folder:
            selection.folders.append(path)
            _walk(argument, wanted, selection)
        elif argument == STDIN or os.path.isfile(argument) or OPENED.fullmatch(argument):  # noqa: PTH113
            selection.paths.append(argument)
            selection.named.add(argument)
        elif os.path.exists(argument):  # noqa: PTH110 - a pipe may block for ever
            selection.skipped["not a regular file"] += 1
        else:
            selection.problems.append((argument, "no such file or folder"))
    selection.paths = _once(selection.paths)
    return selection


def _once(paths: Iterable[str]) -> list[str]:
    """Return one path for each file: the first, of several spellings and of symbolic links to it."""
    by_target: dict[str, str] = {}
    for path in paths:
        target = path if path == STDIN else os.path.realpath(path)
        by_target.setdefault(target, path)
    return list(by_target.values())


def select_changed(changed: Sequence[str], arguments: Iterable[str], wanted: Filter) -> Selection:
    """Return the changed files that were named, or are in named folders, and are read."""
    selection = Selection()
    # git resolves symbolic links in the path of its top folder
    named = [os.path.realpath(argument) for argument in arguments]
    for path in changed:
        if not any(path == top or _is_below(path, top) for top in named):
            continue
        is_regular = os.path.isfile(path) and not os.path.islink(path)  # noqa: PTH113, PTH114
        if is_regular and wanted.takes(path):
            relative = os.path.relpath(path, os.path.realpath("."))
            _add(relative, os.path.getsize(path), wanted, selection)  # noqa: PTH202
    return selection


def _add(path: str, size: int, wanted: Filter, selection: Selection) -> None:
    """Select a file, unless it is too large, of which the user is told."""
    if size > wanted.max_size:
        selection.skipped["too large"] += 1
        selection.left_out.append((path, f"{size:,} bytes; max-size is {wanted.max_size:,}"))
    else:
        selection.paths.append(path)


def _mark_of_built_site(names: Container[str]) -> str | None:
    """Return the one of a folder's names that shows that it is a built site, or None if none does."""
    if ".buildinfo" in names:  # Sphinx
        return ".buildinfo"
    for name in ("doctrees", ".doctrees"):  # of all builders of Sphinx
        if name in names and "conf.py" not in names:  # not beside the sources
            return name
    for name in ("objects.inv", "sitemap.xml"):
        if name in names and "index.html" in names:
            return name
    return None


class _Folder(NamedTuple):
    """A folder to walk through, or a file in it."""

    relative: str  # its path, as messages have it
    path: str  # its absolute path

    def inner(self, name: str) -> _Folder:
        """Return the file or folder of a name in it."""
        return _Folder(os.path.join(self.relative, name), os.path.join(self.path, name))  # noqa: PTH118


def _is_passed_over(name: str, path: str, wanted: Filter) -> bool:
    """Return whether a folder is hidden, made by a program, or excluded."""
    return name.startswith(".") or name in _MADE or wanted.excludes(path, folder=True)


def _walk(top: str, wanted: Filter, selection: Selection) -> None:
    """Add the files below a folder: those of each folder first, then those of the folders in it.

    Hidden folders, those that programs make, built sites, what git ignores, and symbolic links are passed
    over. What a link leads to is read in its own place.
    """
    start = os.path.abspath(top)  # noqa: PTH100
    ignored = ignored_in(start)
    relative = "" if os.path.normpath(top) == os.curdir else top
    waiting = [_Folder(relative, start)]  # the last one is next
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder.path) as scanned:
                entries = sorted(scanned, key=attrgetter("name"))
        except OSError as error:
            selection.problems.append((folder.relative or top, error.strerror or str(error)))
            continue

        names = {entry.name for entry in entries}
        if folder.path != start:  # a built site that was named is read
            mark = _mark_of_built_site(names)
            if mark is not None:
                reason = f"a site that a program built ({mark}); name it to read it"
                selection.left_out.append((folder.relative, reason))
                continue
            if ".git" in names:
                ignored |= ignored_in(folder.path)  # another repository, such as a submodule

        folders: list[_Folder] = []
        for entry in entries:
            inner = folder.inner(entry.name)
            if inner.path in ignored:
                continue
            if entry.is_dir(follow_symlinks=False):
                if not _is_passed_over(entry.name, inner.path, wanted):
                    folders.append(inner)
            elif not entry.is_file(follow_symlinks=False):
                continue
            elif wanted.takes(inner.path):
                size = entry.stat(follow_symlinks=False).st_size
                _add(inner.relative, size, wanted, selection)
            elif wanted.may_be_missed(inner.path):
                selection.unread.add(inner.relative)
        waiting += reversed(folders)
