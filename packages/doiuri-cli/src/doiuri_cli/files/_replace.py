"""Replace a file as a whole."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def replace_file(path: str, content: bytes) -> None:
    """Write a file that need not exist, so that at any time it has either the old or the new content.

    :param path: the file; of a link, its target is replaced.
    :param content: the new content.
    :raises OSError: if it cannot be written.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
