"""Replace a file as a whole."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from functools import partial
from pathlib import Path

_LONGEST = 100  # characters of the name that the temporary file repeats


def replace_file(path: str, content: bytes, expected: bytes | None = None) -> None:
    """Write a file that need not exist, so that at any time it has either the old or the new content.

    Of a link, the target is replaced. Mode and owner stay. A pipe or a device is written to as it is.

    :param path: the file.
    :param content: the new content.
    :param expected: the content that the file must still have; None: any.
    :raises OSError: if it cannot be written, or does not have the expected content.
    """
    status = _status(Path(path))
    if status is not None and not stat.S_ISREG(status.st_mode):
        Path(path).write_bytes(content)
        return
    target = Path(os.path.realpath(path))
    if status is not None and not _is_writable(target, status):
        raise PermissionError(errno.EACCES, "the file is read-only", path)
    temporary = target.with_name(f".{target.name[:_LONGEST]}.{os.urandom(4).hex()}.tmp")
    try:
        # what only the owner may read must not be open to others meanwhile
        mode = 0o666 if status is None else 0o600
        with open(temporary, "xb", opener=partial(os.open, mode=mode)) as stream:
            stream.write(content)
            if status is not None:
                _keep_owner(stream.fileno(), status)
                temporary.chmod(stat.S_IMODE(status.st_mode))
            stream.flush()
            os.fsync(stream.fileno())
        if expected is not None and target.read_bytes() != expected:
            raise OSError(errno.EBUSY, "the file was changed in the meantime", path)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _is_writable(target: Path, status: os.stat_result) -> bool:
    """Return whether a file may be written; root may replace any, but a read-only one is so on purpose."""
    return bool(status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)) and os.access(target, os.W_OK)


def _keep_owner(descriptor: int, status: os.stat_result) -> None:
    """Give a new file the owner and the group of the old one, as far as this user may."""
    own = os.fstat(descriptor)
    if hasattr(os, "fchown") and (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
        with contextlib.suppress(OSError):
            os.fchown(descriptor, status.st_uid, status.st_gid)
