"""The entries of a file, by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_cli.readers._choice import type_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source
    from doiuri_cli.readers._entries._entry import Entry


def entries(source: Source) -> Iterator[Entry]:
    """Return the entries of a bibliography that have a DOI; of another file, none.

    :raises ReadError: if the file is not what its name says.
    """
    match type_of(source.path):
        case "bibtex":
            from doiuri_cli.readers._entries._bib import read
        case "yaml" if source.path.lower().endswith(".cff"):
            from doiuri_cli.readers._entries._cff import read
        case "json":
            from doiuri_cli.readers._entries._csl import read
        case "ris":
            from doiuri_cli.readers._entries._ris import read
        case _:
            return
    yield from read(source)
