"""Which reader reads a file, by its name."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doiuri_cli.readers._part import Reader


def reader_for(path: str) -> Reader | None:
    """Return the reader for a file; None if files of this type are not read."""
    match PurePath(path.lower()).suffix:
        case ".md" | ".markdown" | ".mdown" | ".mkd" | ".qmd" | ".rmd":
            from doiuri_cli.readers._markdown import read
        case ".rst" | ".rest":
            from doiuri_cli.readers._rst import read
        case ".html" | ".htm" | ".xhtml" | ".xml":
            from doiuri_cli.readers._html import read
        case ".bib" | ".bibtex":
            from doiuri_cli.readers._bibtex import read
        case ".tex" | ".ltx" | ".latex" | ".bbl" | ".sty" | ".cls":
            from doiuri_cli.readers._tex import read
        case ".txt":
            from doiuri_cli.readers._text import read
        case ".ipynb":
            from doiuri_cli.readers._notebook import read
        case ".py" | ".pyi" | ".pyw":
            from doiuri_cli.readers._python import read
        case ".cff" | ".yaml" | ".yml":
            from doiuri_cli.readers.data._yaml import read
        case ".json":
            from doiuri_cli.readers.data._json import read
        case ".ris":
            from doiuri_cli.readers.data._ris import read
        case extension:
            from doiuri_cli.readers._plugins import plugin_for

            return plugin_for(extension) if extension else None
    return read
