"""Plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_cli.readers._part import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source


def read(source: Source) -> Iterator[Part]:
    """Return the whole text."""
    yield Part(source.text)
