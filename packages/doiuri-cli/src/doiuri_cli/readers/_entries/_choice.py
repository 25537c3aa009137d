"""The entries of a file, by its name."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source
    from doiuri_cli.readers._entries._entry import Entry


def entries(source: Source) -> Iterator[Entry]:
    """Return the entries of a bibliography that have a DOI; of another file, none.

    :raises ReadError: if the file is not what its name says.
    """
    match PurePath(source.path).suffix.lower():
        case ".bib":
            from doiuri_cli.readers._entries._bib import read
        case ".cff":
            from doiuri_cli.readers._entries._cff import read
        case ".json":
            from doiuri_cli.readers._entries._csl import read
        case ".ris":
            from doiuri_cli.readers._entries._ris import read
        case _:
            return
    yield from read(source)
