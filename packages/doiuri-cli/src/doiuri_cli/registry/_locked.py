"""What the lock file says about DOIs, for commands that only read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri.resolver import LockContent

from doiuri_cli.files import Lines, SourceLocation
from doiuri_cli.rules import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def read_lock(path: str) -> LockContent:
    """Return the content of a lock file.

    :raises ValueError: if it is missing or no lock file; the message says what to do.
    """
    try:
        return LockContent.read(Path(path))
    except FileNotFoundError:
        raise ValueError(
            f"the lock file {path} does not exist; run doiuri lock to write it"
        ) from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read as a lock file: {error.strerror}") from None


def unused_findings(lock: LockContent, path: str, keys: Iterable[str]) -> Iterator[Finding]:
    """Yield a finding for each DOI that is in the lock file only."""
    unused = lock.unused(keys)
    if not unused:
        return
    text = Path(path).read_text("utf-8")
    lines = Lines(text)
    for key in sorted(unused):
        written = json.dumps(key, ensure_ascii=False)
        start = max(text.find(f"{written}:"), 0)  # the top of the file if it is written otherwise
        location = SourceLocation.in_text(lines, path, start, start + len(written))
        if key in lock.accepted:  # --prune keeps what a person gave a reason for
            remedy = "delete its line under accepted, then run doiuri lock --prune"
        else:
            remedy = "run doiuri lock --prune"
        message = f"{key} is in the lock file, but no file mentions it; {remedy}"
        yield Finding(location, "lock-unused", message, key)
