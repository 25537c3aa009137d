"""What git knows: patterns as in .gitignore, which files it ignores, and which changed."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_WAIT = 60.0
"""Seconds for one call of git."""

# In the expression of a pattern: a star that another one follows in the same name; a pair that a pair follows
_CHARACTER = r"(?:\\.|\[\^?\]?[^\]]*\](?![*+])|[^\\\[(/.^$*+?])"
_STAR = re.compile(rf"\[\^/\]\*({_CHARACTER}*)(?=\[\^/\]\*)")
_STARS = re.compile(r"\(\?:(\.\+\?/|/\.\+\?)\)\?(.*?)(?=\(\?:/\.\+\?\)\?)", re.DOTALL)


class GitError(ValueError):
    """git cannot say which files changed."""


class Patterns(NamedTuple):
    """Patterns of paths, as in .gitignore. The last one that matches decides.

    :ivar folder: the absolute path of the folder that they are relative to.
    :ivar lines: the patterns.
    """

    folder: str
    lines: tuple[str, ...]

    def match(self, path: str, *, folder: bool = False) -> bool:
        """Return whether a path matches.

        :param path: an absolute path; outside of the folder, only patterns without a slash can match.
        :param folder: whether it is a folder.
        """
        inside = path[len(self.folder) :] if _is_below(path, self.folder) else os.path.basename(path)  # noqa: PTH119 - for speed
        name = inside.replace(os.sep, "/").lstrip("/")
        return bool(_spec(self.lines).check_file(f"{name}/" if folder else name).include)


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

    What is between two stars is matched where it occurs first, so that the time is not exponential.
    """
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    try:
        pattern = GitIgnoreSpecPattern(line)
    except ValueError:
        return None
    if pattern.regex is None:
        return pattern
    text = _STAR.sub(r"(?>[^/]*?\1)", pattern.regex.pattern)
    text = _STARS.sub(r"(?>(?:\1)??\2(?=/))", text.replace(".+", ".+?"))
    return GitIgnoreSpecPattern(re.compile(text), pattern.include)


def ignored_in(folder: str) -> set[str]:
    """Return the absolute paths of the files and folders below a folder that git ignores, and does not track.

    There are none if git is not installed, or the folder is not in a repository.

    :param folder: an absolute path.
    """
    try:
        names = _git(
            *("-C", folder, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
        )
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
            ["git", "-c", "core.fsmonitor=", *arguments],  # noqa: S607 - the user's git; no command of a stranger's
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
