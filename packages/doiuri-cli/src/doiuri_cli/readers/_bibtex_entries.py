"""Entries of BibTeX."""

from __future__ import annotations

import logging
import re
from itertools import accumulate
from typing import TYPE_CHECKING

from bibtexparser.entrypoint import parse_string
from bibtexparser.exceptions import ParserStateException
from bibtexparser.middlewares.names import InvalidNameError, parse_single_name_into_parts
from bibtexparser.model import Entry as Block
from bibtexparser.model import ParsingFailedBlock

from doiuri_cli.readers._part import ReadError
from doiuri_cli.readers._tex import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bibtexparser.library import Library
    from bibtexparser.model import Field

    from doiuri_cli.files import Source

_COMMENT = re.compile(r"[ \t]*%")
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)

# Entries that cannot be parsed are passed over: the check of their DOIs does not depend on it
logging.getLogger("bibtexparser").addHandler(logging.NullHandler())


def parse(text: str) -> Library:
    """Return what BibTeX defines, as it is written there.

    :raises ReadError: if it cannot be parsed.
    """
    try:
        return parse_string(text, parse_stack=[])
    except ParserStateException as error:
        raise ReadError(f"not BibTeX: {error}") from error


def read(source: Source) -> Iterator[tuple[tuple[int, int], str, str, str, str, str]]:
    """Return the entries: place and text of the DOI, key, title, year and first author.

    Without a DOI, the text is empty, and the place is that of the entry.

    :raises ReadError: if the file cannot be parsed.
    """
    starts = [0, *accumulate(len(line) + 1 for line in source.text.split("\n"))]
    library = parse(source.text)
    for block in _blocks(library):
        fields = {field.key.lower(): field for field in block.fields}
        if _COMMENT.match(source.text, starts[block.start_line or 0]):
            continue
        doi = fields.get("doi")
        value = block.raw or "" if doi is None else _value(library, doi)
        start = source.text.find(value, starts[(doi or block).start_line or 0])
        span = start, start + len(value)
        title = plain_text(_value(library, fields.get("title")))
        year = _value(library, fields.get("year")) or _value(library, fields.get("date"))
        authors = _value(library, fields.get("author")) or _value(library, fields.get("editor"))
        yield span, plain_text(value) if doi else "", block.key, title, year, _family(authors)


def _blocks(library: Library) -> Iterator[Block]:
    for block in library.blocks:
        # Of entries with the same key, and of those with a field twice
        inner = block.ignore_error_block if isinstance(block, ParsingFailedBlock) else block
        if isinstance(inner, Block):
            yield inner


def _value(library: Library, field: Field | None) -> str:
    """Return the value of a field, without its delimiters; an abbreviation is replaced."""
    if field is None:
        return ""
    value = str(field.value)
    string = library.strings_dict.get(value)
    if string is not None:
        value = str(string.value)
    return value[1:-1] if value[:1] + value[-1:] in {"{}", '""'} else value


def _family(authors: str) -> str:
    first = _AND.split(authors, maxsplit=1)[0].strip()
    if first.startswith("{") and first.endswith("}"):
        return plain_text(first)
    try:
        name = parse_single_name_into_parts(first, strict=False)
    except InvalidNameError:
        return plain_text(first)
    return plain_text(" ".join([*name.von, *name.last]))
