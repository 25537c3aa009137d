"""Replace a file as a whole."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from doiuri.plugins import replacing


def replace_file(path: str, content: bytes, expected: bytes | None = None) -> None:
    """Write a file that need not exist, so that at any time it has either the old or the new content.

    Of a link, the target is replaced. Mode and owner stay. A pipe or a device is written to as it is.

    :param path: the file.
    :param content: the new content.
    :param expected: the content that the file must still have; None: any.
    :raises OSError: if it cannot be written, or does not have the expected content.
    """
    if not _is_writable(path):
        raise PermissionError(errno.EACCES, "the file is read-only", path)
    with replacing(path, expected=expected) as draft:
        draft.write_bytes(content)


def _is_writable(path: str) -> bool:
    """Return whether a file may be written; root may replace any, but a read-only one is so on purpose."""
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        return True
    written = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
    return not stat.S_ISREG(mode) or bool(mode & written and os.access(path, os.W_OK))
