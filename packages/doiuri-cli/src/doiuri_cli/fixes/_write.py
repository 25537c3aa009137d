"""Write a file so that at any time it has either the old or the new content."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path

_LONGEST = 100  # characters of the name that the temporary file repeats


def write(path: str, old: bytes, new: bytes) -> None:
    """Replace the content of a file; of a link, that of its target. Mode and owner stay.

    :param path: the file.
    :param old: the content that was read.
    :param new: the new content.
    :raises OSError: if the file cannot be written, or its content is no longer the old one.
    """
    target = Path(path).resolve(strict=True)
    status = target.stat()
    if not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only", path)
    descriptor, name = tempfile.mkstemp(".tmp", f".{target.name[:_LONGEST]}.", target.parent)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
            file.write(new)
            _keep_owner(file.fileno(), status)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(stat.S_IMODE(status.st_mode))
        _check_unchanged(target, old)
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _check_unchanged(target: Path, old: bytes) -> None:
    if target.read_bytes() != old:
        raise OSError(errno.EBUSY, "the file was changed in the meantime", str(target))


def _keep_owner(descriptor: int, status: os.stat_result) -> None:
    """Give a new file the owner and the group of the old one, as far as this user may."""
    own = os.fstat(descriptor)
    if hasattr(os, "fchown") and (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
        with contextlib.suppress(OSError):
            os.fchown(descriptor, status.st_uid, status.st_gid)
