"""The types of files, by extension, and the reader of each, ours or that of another package.

Others register entry points ``doiuri.readers``, named after extensions such as ".org".
"""

from __future__ import annotations

import os
import re
from functools import cache, partial
from typing import TYPE_CHECKING, cast

from doiuri_cli.readers._part import Part, ReadError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.metadata import EntryPoint

    from doiuri_cli.files import Source
    from doiuri_cli.readers._part import Reader

_EXTENSIONS = {
    "bibtex": (".bib", ".bibtex", ".biblatex"),
    "code": (".r", ".jl", ".rs", ".nf"),
    "html": (".html", ".htm", ".xhtml", ".xml", ".csl", ".owl"),
    "json": (".json",),
    "markdown": (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd"),
    "notebook": (".ipynb",),
    "python": (".py", ".pyi", ".pyw", ".pyx"),
    "ris": (".ris",),
    "rst": (".rst", ".rest"),
    "tex": (".tex", ".ltx", ".latex", ".bbl", ".sty", ".cls", ".rd", ".rnw"),
    "text": (".txt", ".enw", ".nbib"),
    "yaml": (".cff", ".yaml", ".yml"),
}
_TEXTS = {"README", "CITATION", "AUTHORS", "DESCRIPTION"}
_TYPES = {extension: name for name, extensions in _EXTENSIONS.items() for extension in extensions}
_COMMENT_LINES = re.compile(r"(?:^[ \t]*+(?:\#|//|\*)[^\r\n]*+(?:\r?\n|\Z))+", re.MULTILINE)
_also: dict[str, str] = {}  # what the configuration adds
_columns: set[str] = set()  # if there are any, only these are read
# Tables may be large, and are read for their columns only
_TABLES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}

TYPES = tuple(_EXTENSIONS)
"""The types that we read."""


def configure(extensions: Iterable[tuple[str, str]], columns: Iterable[str] = ()) -> None:
    """Set what this process reads.

    :param extensions: more extensions, in lower case, each with the type that such files are read as.
    :param columns: read only these columns; if there are none, read files whole.
    """
    _also.clear()
    _also.update(extensions)
    _columns.clear()
    _columns.update(columns)


def reads_columns() -> bool:
    """Return whether this process reads only some columns."""
    return bool(_columns)


def type_of(path: str) -> str | None:
    """Return the type of a file by its name, such as "markdown"; None if we have no reader for it."""
    extension = _extension(path)
    return _also.get(extension) or _TYPES.get(extension) or (_TABLES.get(extension) if _columns else None)


def is_read(path: str) -> bool:
    """Return whether there is a reader for a file by its name."""
    if _columns:
        return type_of(path) in {"json", "yaml", *_TABLES.values()}
    return type_of(path) is not None or _plugin(_extension(path)) is not None


def _extension(path: str) -> str:
    """Return the extension in lower case, as ``PurePath.suffix`` has it, which takes many times longer.

    Of a file that is known by its name, which has no extension, it is ".txt".
    """
    name = os.path.basename(path)  # noqa: PTH119
    dot = name.rfind(".")
    if 0 < dot < len(name) - 1:
        return name[dot:].lower()
    return ".txt" if name in _TEXTS else ""


def reader_for(path: str) -> Reader | None:
    """Return the reader for a file, ours or that of a plugin; None if files of this type are not read."""
    if _columns:
        from doiuri_cli.readers._columns import read_columns

        return partial(read_columns, columns=frozenset(_columns), kind=type_of(path))
    match type_of(path):
        case "bibtex":
            from doiuri_cli.readers._bibtex import read
        case "html":
            from doiuri_cli.readers._markdown import read_html as read
        case "json":
            from doiuri_cli.readers._json import read
        case "markdown":
            from doiuri_cli.readers._markdown import read
        case "notebook":
            from doiuri_cli.readers._notebook import read
        case "python":
            from doiuri_cli.readers._python import read
        case "ris":
            from doiuri_cli.readers._ris import read
        case "rst":
            from doiuri_cli.readers._rst import read
        case "tex":
            from doiuri_cli.readers._tex import read
        case "code":
            return read_code
        case "text":
            return read_text
        case "yaml":
            from doiuri_cli.readers._yaml import read
        case _:
            return _plugin(_extension(path))
    return read


def parts_of(source: Source) -> Iterable[Part]:
    """Return the parts of a file that may mention DOIs; a file of an unknown type is read as plain text.

    :raises ReadError: if the file is not what its name says.
    """
    return (reader_for(source.path) or read_text)(source)


def read_text(source: Source) -> Iterator[Part]:
    """Return the whole text of a plain text."""
    yield Part(source.text)


def read_code(source: Source) -> Iterator[Part]:
    """Return the comments of a program, and the rest, without fixes: a program may compare its strings."""
    last = 0
    for lines in _COMMENT_LINES.finditer(source.text):
        yield Part(source.text[last : lines.start()], start=last, encode=_refused)
        yield Part(lines[0], start=lines.start())
        last = lines.end()
    yield Part(source.text[last:], start=last, encode=_refused)


def _refused(text: str) -> str:
    raise ValueError(text)


def _plugin(extension: str) -> Reader | None:
    """Return the reader of another package for an extension in lower case; None if there is none."""
    entry = _entries().get(extension) if extension else None
    return None if entry is None else partial(_read_with, entry)


def _read_with(entry: EntryPoint, source: Source) -> Iterator[Part]:
    """Return the parts that the reader of another package returns; it is loaded when it first reads a file.

    :raises ReadError: if the reader cannot be loaded, fails, or returns something else.
    """
    try:
        reader = cast("Reader", entry.load())
        for part in reader(source):
            if not isinstance(part, Part):
                raise TypeError(f"expected Part, not {type(part).__name__}")  # noqa: TRY301
            yield part
    except ReadError:
        raise
    except Exception as error:
        message = f"the reader for {entry.name} ({entry.value}) failed: {type(error).__name__}: {error}"
        raise ReadError(message) from error


@cache
def _entries() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # slow to import

    return {entry.name.lower(): entry for entry in entry_points(group="doiuri.readers")}
