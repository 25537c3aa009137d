"""The types of files, by extension, and the reader of each."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri_cli.files import Source
    from doiuri_cli.readers._part import Part, Reader

_EXTENSIONS = {
    "bibtex": (".bib", ".bibtex"),
    "html": (".html", ".htm", ".xhtml", ".xml"),
    "json": (".json",),
    "markdown": (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd"),
    "notebook": (".ipynb",),
    "python": (".py", ".pyi", ".pyw"),
    "ris": (".ris",),
    "rst": (".rst", ".rest"),
    "tex": (".tex", ".ltx", ".latex", ".bbl", ".sty", ".cls"),
    "text": (".txt", ".enw", ".nbib"),
    "yaml": (".cff", ".yaml", ".yml"),
}
_TYPES = {extension: name for name, extensions in _EXTENSIONS.items() for extension in extensions}


def type_of(path: str) -> str | None:
    """Return the type of a file by its name, such as "markdown"; None if we have no reader for it."""
    return _TYPES.get(_extension(path))


def is_read(path: str) -> bool:
    """Return whether there is a reader for a file by its name."""
    extension = _extension(path)
    return extension in _TYPES or _plugin(extension) is not None


def _extension(path: str) -> str:
    """Return the extension in lower case, as ``PurePath.suffix`` has it, which takes many times longer."""
    name = os.path.basename(path)  # noqa: PTH119
    dot = name.rfind(".")
    return name[dot:].lower() if 0 < dot < len(name) - 1 else ""


def _plugin(extension: str) -> Reader | None:
    from doiuri_cli.readers._plugins import plugin_for

    return plugin_for(extension) if extension else None


def reader_for(path: str) -> Reader | None:
    """Return the reader for a file, ours or that of a plugin; None if files of this type are not read."""
    match type_of(path):
        case "bibtex":
            from doiuri_cli.readers._bibtex import read
        case "html":
            from doiuri_cli.readers._html import read
        case "json":
            from doiuri_cli.readers.data._json import read
        case "markdown":
            from doiuri_cli.readers._markdown import read
        case "notebook":
            from doiuri_cli.readers._notebook import read
        case "python":
            from doiuri_cli.readers._python import read
        case "ris":
            from doiuri_cli.readers.data._ris import read
        case "rst":
            from doiuri_cli.readers._rst import read
        case "tex":
            from doiuri_cli.readers._tex import read
        case "text":
            from doiuri_cli.readers._text import read
        case "yaml":
            from doiuri_cli.readers.data._yaml import read
        case _:
            return _plugin(_extension(path))
    return read


def parts_of(source: Source) -> Iterable[Part]:
    """Return the parts of a file that may mention DOIs; a file of an unknown type is read as plain text.

    :raises ReadError: if the file is not what its name says.
    """
    from doiuri_cli.readers._text import read

    return (reader_for(source.path) or read)(source)
