"""Which reader reads a file, by its name."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doiuri_cli.readers._part import Reader


def reader_for(path: str) -> Reader | None:
    """Return the reader for a file; None if files of this type are not read."""
    match PurePath(path.lower()).suffix:
        case ".txt":
            from doiuri_cli.readers._text import read
        case _:
            return None
    return read
