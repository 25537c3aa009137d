"""Files: replace one as a whole, and lock its folder between processes."""

from __future__ import annotations

import os
import stat
import threading
import time
from contextlib import contextmanager, suppress
from errno import EACCES, EBUSY, EDEADLK, ENOSPC, ETIMEDOUT
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST = 50  # characters of the name that a draft repeats; a file name has at most 255 bytes

POLL = 0.002
"""Seconds between two attempts to lock a folder."""

_held = threading.local()  # its attribute "folders": those that this thread has locked


@contextmanager
def replacing(path: str | os.PathLike[str], *, expected: bytes | None = None) -> Iterator[Path]:
    """Yield the path of a draft, an empty file that replaces ``path`` when the ``with`` block ends.

    If the block fails, the draft is deleted. Until then only its owner may read it, unless ``path`` is new.
    The new file gets the permissions and, as far as the system lets this process set them, the owner, the group
    and the extended attributes (Linux) of the one that it replaces. If ``path`` is a symbolic link, its target
    is replaced; if it is not a regular file but, for example, a pipe or a device, there is no draft: ``path``
    itself is yielded.

    :param path: the file; it need not exist.
    :param expected: the content that the file must have at the end; None for any.
    :raises OSError: if the file cannot be written or is read-only, or does not have the expected content.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.txt")
    ...     with replacing(file) as draft:
    ...         _ = draft.write_text("new")
    ...     file.read_text()
    'new'
    """
    try:
        status: os.stat_result | None = Path(path).stat()
    except FileNotFoundError:
        status = None
    if status is not None and not stat.S_ISREG(status.st_mode):
        yield Path(path)
        return
    if status is not None and not _is_writable(path, status):
        raise PermissionError(EACCES, "the file is read-only", os.fspath(path))

    target = Path(os.path.realpath(path))
    # A name that nobody can guess: a link of that name would be followed
    draft = target.with_name(f".{target.name[:_LONGEST]}.{os.urandom(8).hex()}.tmp")
    mode = 0o666 if status is None else 0o600
    try:
        _create(draft, mode, path)
        yield draft
        with draft.open("r+b") as file:
            if status is not None:
                _keep_attributes(target, status, draft)
            os.fsync(file.fileno())  # so that a power failure does not lose it
        if expected is not None and target.read_bytes() != expected:
            raise OSError(EBUSY, "the file was changed in the meantime", os.fspath(path))  # noqa: TRY301
        draft.replace(target)
    except OSError as error:
        if error.errno == ENOSPC:  # then a write names no file
            error.filename = os.fspath(path)
        raise
    finally:
        draft.unlink(missing_ok=True)


def _is_writable(path: str | os.PathLike[str], status: os.stat_result) -> bool:
    """Return whether a file may be written; root may replace any, but a read-only one is so on purpose."""
    written = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
    return bool(status.st_mode & written) and os.access(path, os.W_OK)


def _create(draft: Path, mode: int, path: str | os.PathLike[str]) -> None:
    """Create an empty draft of the file at ``path``, which an error names."""
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    except OSError as error:  # users do not know the name of the draft
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def _keep_attributes(target: Path, status: os.stat_result, draft: Path) -> None:
    """Give a draft the owner, group, permissions and extended attributes of its target."""
    from shutil import copystat  # slow to import

    # Before the permissions, some of which a new owner clears. The group on its own, -1 for no change: others
    # than root may set it, but not the owner
    for owner, group in ((-1, status.st_gid), (status.st_uid, -1)):
        with suppress(OSError, AttributeError):  # Windows has no owners
            os.chown(draft, owner, group)
    with suppress(OSError):  # some file systems have no permissions
        copystat(target, draft)
    os.utime(draft)  # build tools see by the time that it changed


@contextmanager
def locked_folder(folder: Path, timeout: float) -> Iterator[None]:
    """Hold an exclusive lock on ``folder``, which is created if it does not exist.

    Windows and some network file systems have no such locks; there the body runs without one.

    :param timeout: seconds to wait for the process or thread that holds the lock.
    :raises TimeoutError: if it is still held then.
    :raises OSError: at once if this thread itself holds it: it would overwrite its own changes.
    """
    folders: set[str] = vars(_held).setdefault("folders", set())
    name = os.path.realpath(folder)
    if name in folders:
        reason = "this thread is changing a file in this folder; make one change after the other"
        raise OSError(EDEADLK, reason, os.fspath(folder))
    folders.add(name)
    try:
        with _locked(folder, timeout):
            yield
    finally:
        folders.discard(name)


@contextmanager
def _locked(folder: Path, timeout: float) -> Iterator[None]:
    """Hold the lock of the operating system, if it has one."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.name == "nt":  # a folder cannot be opened there
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor, folder, timeout)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path, timeout: float) -> None:
    """Wait for the lock of a folder that is open as ``descriptor``; return without it if there are no locks.

    :raises TimeoutError: if another process holds it longer than ``timeout`` seconds.
    """
    import fcntl

    deadline = time.monotonic() + timeout
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                reason = f"locked by another program for more than {timeout:g} s"
                raise TimeoutError(ETIMEDOUT, reason, os.fspath(folder)) from None
            time.sleep(POLL)
        except OSError:  # a file system without locks
            return
        else:
            return
