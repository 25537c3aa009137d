"""What git knows: patterns as in .gitignore, which files it ignores, and which changed."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_WAIT = 60.0
"""Seconds for one call of git."""


class GitError(ValueError):
    """git cannot say which files changed."""


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


def root_of(folder: str) -> str | None:
    """Return the top folder of the repository that a folder is in; None if there is none.

    :param folder: an absolute path.
    """
    current = Path(folder)
    return next((str(place) for place in (current, *current.parents) if (place / ".git").exists()), None)


def outer_ignores(folder: str) -> list[Patterns]:
    """Return what git ignores according to the files above a folder, from .git/info/exclude downwards.

    :param folder: an absolute path.
    """
    root = root_of(folder)
    if root is None:
        return []
    found = [Patterns(root, _lines(_git_folder(Path(root)) / "info" / "exclude"))]
    place = Path(root)
    for name in ("", *Path(folder).relative_to(root).parts[:-1]):
        place /= name
        if str(place) != folder:
            found.append(ignores_in(str(place)))
    return [patterns for patterns in found if patterns.lines]


def ignores_in(folder: str) -> Patterns:
    """Return the patterns in the .gitignore of a folder; none if there is no such file."""
    return Patterns(folder, _lines(Path(folder, ".gitignore")))


def changed_files(reference: str | None) -> list[str]:
    """Return the absolute paths of the files that differ from a commit, and of those that git does not track.

    :param reference: the commit; None: the last one, or if there is none yet, every file counts.
    :raises GitError: if there is no repository, no such commit, or no git.
    """
    top = _git("rev-parse", "--show-toplevel").removesuffix("\n")
    if reference is None and not _is_commit("HEAD"):
        return _paths(top, _git("-C", top, "ls-files", "-z", "--cached", "--others", "--exclude-standard"))
    reference = reference or "HEAD"
    is_range = ".." in reference.strip(".")
    if reference.startswith("-") or not (is_range or _is_commit(reference)):
        raise GitError(
            f"--changed: {reference!r} is not a commit; name paths before --changed, or use --changed=REF"
        )
    changed = _git(
        "-C", top, "diff", "--name-only", "-z", "--no-ext-diff", "--diff-filter=d", reference, "--"
    )
    new = _git("-C", top, "ls-files", "-z", "--others", "--exclude-standard")
    return _paths(top, changed + new)


def _paths(top: str, names: str) -> list[str]:
    return sorted({str(Path(top, name)) for name in names.split("\0") if name})


def _is_commit(reference: str) -> bool:
    try:
        _git("rev-parse", "--quiet", "--verify", f"{reference}^{{commit}}")
    except GitError:
        return False
    return True


def _git(*arguments: str) -> str:
    import subprocess  # slow to import

    try:
        run = subprocess.run(  # noqa: S603 - no shell
            ["git", *arguments],  # noqa: S607 - the user's git
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


def _git_folder(root: Path) -> Path:
    """Return git's own folder, which the work trees of a repository share."""
    entry = root / ".git"
    if entry.is_dir():
        return entry
    _, _, place = _text(entry).partition("gitdir:")
    own = root / place.strip()
    return own / (_text(own / "commondir").strip() or ".")


def _lines(path: Path) -> tuple[str, ...]:
    return tuple(line for line in _text(path).splitlines() if line.strip() and not line.startswith("#"))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="surrogateescape")
    except OSError:
        return ""
