"""The lines of texts in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def location_in_file(path: Path, text: str) -> str:
    """Return the location of a text in a file for a warning, as ``file:line``; ``file:`` if it is not there.

    :param path: the file.
    :param text: a part of the line to find, the first if there are several.
    """
    number = next((str(number) for number, line in enumerate(_lines_of(path), 1) if text in line), "")
    return f"{path}:{number}"


def _lines_of(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
