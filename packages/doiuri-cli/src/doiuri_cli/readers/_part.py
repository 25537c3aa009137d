"""What a reader returns: the parts of a file that may mention DOIs, with the place of every character."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from doiuri_cli.files import Source


def unchanged(text: str) -> str:
    """Return the text: the file writes it as it is."""
    return text


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a file that is written in one syntax.

    :ivar text: the text, with the escapes of the file's format undone.
    :ivar syntax: the syntax, for ``doiuri.find``.
    :ivar start: where the text starts in the file, if the file has it unchanged.
    :ivar places: where each character of the text stands in the file, and last where the text ends; None if
        the file has it unchanged.
    :ivar cell: the number of the notebook's cell, from 1; positions then count within the cell.
    :ivar cell_text: the text of the cell if the part is only a piece of it, such as a comment.
    :ivar cell_places: where each character stands in the text of the cell then.
    :ivar entry: the key of the entry in a bibliography; empty if there is none.
    :ivar field: whether the text is the whole value of a field for a DOI.
    :ivar ignored: the codes that the file's format lets this part ignore, such as by a tag of the cell;
        "*" stands for all.
    :ivar encode: writes text as the file's format does; it undoes what the reader did.
    """

    text: str
    syntax: str = "text"
    start: int = 0
    places: Sequence[int] | None = None
    cell: int | None = None
    cell_text: str = ""
    cell_places: Sequence[int] | None = None
    entry: str = ""
    field: bool = False
    ignored: frozenset[str] = frozenset()
    encode: Callable[[str], str] = unchanged

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a piece of the text stands in the file.

        :param start: offset in the text of the piece's first character.
        :param end: offset after its last character.
        """
        if self.places is None:
            return self.start + start, self.start + end
        return self.places[start], self.places[end]

    def ignores(self, code: str) -> bool:
        """Return whether findings with a code are ignored in this part."""
        return code in self.ignored or "*" in self.ignored

    def span_in_cell(self, start: int, end: int) -> tuple[int, int]:
        """Return where a piece of the text stands in the text of the notebook's cell.

        :param start: offset in the text of the piece's first character.
        :param end: offset after its last character.
        """
        if self.cell_places is None:
            return start, end
        return self.cell_places[start], self.cell_places[end]


class Reader(Protocol):
    """Reads one type of file. Register one as an entry point ``doiuri.readers`` named after its extension."""

    def __call__(self, source: Source) -> Iterable[Part]:
        """Return the parts of a file, in order.

        :raises ReadError: if the file is not what its name says.
        """


class ReadError(ValueError):
    """A file is not what its name says, such as a notebook that is no JSON."""
