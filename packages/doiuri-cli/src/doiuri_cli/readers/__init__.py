"""Readers, one a type of file: what may mention DOIs in it, and where.

The type is chosen by the extension. Other packages register readers of theirs as entry points
``doiuri.readers``, named after extensions such as ".typ".
"""

from __future__ import annotations

import os
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, cast

from doiuri_cli.readers._part import Part, Reader, ReadError, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.metadata import EntryPoint

    from doiuri_cli.files import Source

__all__ = ["Part", "ReadError", "Reader"]

# The module that has the function "read_…", and the extensions; a module is loaded when it is first needed
_READERS = {
    "asciidoc": ("_markup", ".adoc .asciidoc .asc"),
    "bibtex": ("_bibtex", ".bib .bibtex .biblatex"),
    "code": ("_code", ".r .jl .rs .nf"),
    "html": ("_markup", ".html .htm .xhtml .xml .csl"),
    "json": ("_json", ".json .jsonld"),
    "markdown": ("_markup", ".md .markdown .mdown .mkd .mdx .qmd .rmd"),
    "notebook": ("_code", ".ipynb"),
    "ontology": ("_ontology", ".owl .ofn .omn .rdf .obo .ttl .nt .nq .n3 .trig"),
    "python": ("_code", ".py .pyi .pyw .pyx"),
    "ris": ("_bibliography", ".ris"),
    "rst": ("_markup", ".rst .rest"),
    "source": (
        "_code",
        ".c .h .cc .cpp .cxx .hh .hpp .cu .java .js .jsx .mjs .ts .tsx .f .for .f90 .f95 .f03 .f08 .go .sh",
    ),
    "tex": ("_markup", ".tex .ltx .latex .bbl .sty .cls .rd .rnw"),
    "text": ("_part", ".txt .enw .nbib .org"),
    "yaml": ("_yaml", ".cff .yaml .yml"),
}
_TEXTS = {"README", "CITATION", "AUTHORS", "DESCRIPTION"}
_DEBIAN = "debian/upstream/metadata"  # of a Debian package, about the work
_TYPES: dict[str, str] = {}
"""The types by extension."""
for _type, (_, _extensions) in _READERS.items():
    _TYPES |= dict.fromkeys(_extensions.split(), _type)
TABLES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
"""The types of tables, by extension: they may be large, and only columns are read."""

_added: dict[str, str] = {}  # what the configuration adds
_wanted: set[str] = set()  # if there are any, only these are read

TYPES = tuple(_READERS)  # the types that we read


def configure(extensions: Iterable[tuple[str, str]], columns: Iterable[str] = ()) -> None:
    """Set what this process reads.

    :param extensions: more extensions, in lower case, each with the type that such files are read as.
    :param columns: read only these columns; if there are none, read files whole.
    """
    _added.clear()
    _added.update(extensions)
    _wanted.clear()
    _wanted.update(columns)


def reads_columns() -> bool:
    """Return whether this process reads only some columns."""
    return bool(_wanted)


def type_of(path: str) -> str | None:
    """Return the type of a file by its name, such as "markdown"; None if we have no reader for it."""
    extension = _extension(path)
    if extension in _added:
        return _added[extension]
    if extension in _TYPES:
        return _TYPES[extension]
    return TABLES.get(extension) if _wanted else None


def is_read(path: str) -> bool:
    """Return whether there is a reader for a file by its name."""
    if _wanted:  # with --columns, only what has columns or keys
        return type_of(path) in {"json", "yaml", *TABLES.values()}
    return type_of(path) is not None or _plugin(path) is not None


def _extension(path: str) -> str:
    """Return the extension in lower case, as ``PurePath.suffix`` has it, which takes many times longer.

    Of a file that is known by its name, which has no extension, it is that of its type.
    """
    name = os.path.basename(path)  # noqa: PTH119
    dot = name.rfind(".")
    # A dot at the start or the end, as in ".profile", begins no extension
    if 0 < dot < len(name) - 1:
        return name[dot:].lower()
    if path.replace(os.sep, "/").endswith(_DEBIAN):
        return ".yaml"
    return ".txt" if name in _TEXTS else ""


def reader_for(path: str) -> Reader | None:
    """Return the reader for a file, ours or that of a plugin; None if files of this type are not read."""
    kind = type_of(path)
    if _wanted:
        from doiuri_cli.readers._columns import read_columns

        return partial(read_columns, columns=frozenset(_wanted), kind=kind)

    if kind is not None:
        name, _ = _READERS[kind]
        module = import_module(f"{__name__}.{name}")
        return cast("Reader", getattr(module, f"read_{kind}"))
    plugin = _plugin(path)
    return None if plugin is None else partial(_read_with, plugin)


def read_parts(source: Source) -> tuple[list[Part], ReadError | None]:
    """Return the parts of a file that may mention DOIs, and why it was read as plain text if it had to be.

    It has to be if it is not what its name says. A file of an unknown type is plain text without a reason.

    :raises ReadError: if only some columns are read: a plain text has none.
    """
    read = reader_for(source.path) or read_text
    try:
        return [part._replace(source=source) for part in read(source)], None
    except ReadError as error:
        if _wanted:
            raise
        return [Part(source.text, source=source)], error


def _plugin(path: str) -> EntryPoint | None:
    """Return the reader of another package for a file."""
    extension = _extension(path)
    return _plugins().get(extension) if extension else None


def _read_with(plugin: EntryPoint, source: Source) -> Iterator[Part]:
    """Return the parts that the reader of another package returns; it is loaded when it first reads a file.

    :raises ReadError: if the reader cannot be loaded, fails, or returns something else.
    """
    try:
        reader = cast("Reader", plugin.load())
        for part in reader(source):
            if not isinstance(part, Part):
                raise TypeError(f"expected Part, not {type(part).__name__}")  # noqa: TRY301
            yield part
    except ReadError:
        raise
    except Exception as error:
        message = (
            f"the reader for {plugin.name} ({plugin.value}) failed: {type(error).__name__}: {error}"
        )
        raise ReadError(message) from error


@cache
def _plugins() -> dict[str, EntryPoint]:
    """Return the readers of other packages, by extension in lower case."""
    from importlib.metadata import entry_points  # slow to import

    return {entry.name.lower(): entry for entry in entry_points(group="doiuri.readers")}
