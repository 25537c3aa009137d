"""Jupyter notebooks: the Markdown and the code of their cells, no outputs and no attachments.

A cell's tags may ignore codes: ``doiuri: ignore`` all, ``doiuri: ignore[not-found, not-https]`` some.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from doiuri_cli.readers._blank import may_mention
from doiuri_cli.readers._json import encoder, loaded, strings, undo_all
from doiuri_cli.readers._markdown import parts_of_text
from doiuri_cli.readers._part import Part, ReadError, moved, nested
from doiuri_cli.readers._python import parts_of_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from doiuri_cli.files import Source
    from doiuri_cli.readers._json import Keys, String
    from doiuri_cli.readers._part import Decoded

_SKIPPED = frozenset({"attachments", "outputs", "widgets"})
_IGNORE = re.compile(r"\s*doiuri:\s*ignore\s*(?:\[([^\[\]]*)\])?\s*\Z")
_MARKDOWN = {"markdown", "heading"}  # format 3 has cells for headings
_FORMAT_3 = "worksheets"  # its cells are in worksheets, and the source of code is called input


class _Cell:
    """A cell: what it is, the strings of its source, and its tags."""

    def __init__(self) -> None:
        self.kind = ""
        self.source: list[String] = []
        self.tags: list[str] = []

    @property
    def ignored(self) -> frozenset[str]:
        found = (_IGNORE.match(tag) for tag in self.tags)
        codes = (code.strip() for tag in found if tag for code in (tag[1] or "*").split(","))
        return frozenset(filter(None, codes))


def read(source: Source) -> Iterator[Part]:
    """Return the Markdown of each cell, and the comments and docstrings of its Python.

    :raises ReadError: if the file is not a notebook.
    """
    encode = encoder(source)
    for number, cell in enumerate(_cells(source), 1):
        ignored = cell.ignored
        mentions = may_mention("".join(string.value for string in cell.source))
        if not cell.source or not (ignored or mentions):
            continue
        decoded = undo_all(source.text, cell.source)
        parts = list(_parts(cell.kind, decoded, encode)) if mentions else []
        if ignored and not parts:  # the tag is not needed
            parts = [Part("", places=decoded.places, cell_text=decoded.text, encode=encode)]
        for part in parts:
            yield part._replace(cell=number, ignored=ignored)


def _cells(source: Source) -> Iterable[_Cell]:
    if '"cells"' not in source.text and f'"{_FORMAT_3}"' not in source.text:
        raise ReadError("not a notebook: it has no cells")
    loaded(source)  # refuses what is no JSON
    cells: dict[Keys, _Cell] = {}
    for string in strings(source, _SKIPPED):
        path = string.path
        depth = 4 if path[:1] == (_FORMAT_3,) else 2
        if len(path) <= depth or path[depth - 2] != "cells":
            continue
        cell = cells.setdefault(path[:depth], _Cell())
        match path[depth:]:
            case ("cell_type",):
                cell.kind = string.value
            case ("source" | "input",) | ("source" | "input", int()):
                cell.source.append(string)
            case ("metadata", "tags", int()):
                cell.tags.append(string.value)
    return cells.values()


def _parts(kind: str, cell: Decoded, encode: Callable[[str], str]) -> Iterator[Part]:
    if kind in _MARKDOWN:
        for part in parts_of_text(cell.text):
            yield moved(part, cell.places)._replace(cell_text=cell.text, encode=encode)
    elif kind == "code":
        for part in parts_of_code(cell.text):
            inner = part.places or range(part.start, part.start + len(part.text) + 1)
            yield moved(part, cell.places)._replace(
                cell_text=cell.text,
                cell_places=inner,
                encode=partial(nested, inner=part.encode, outer=encode),
            )
