"""What a reader returns: the parts of a file that may mention DOIs, with the place of every character."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from doiuri_cli.files import Source


def unchanged(text: str) -> str:
    """Return the text: the file writes it as it is."""
    return text


class Part(NamedTuple):
    """A part of a file that is written in one syntax.

    A part that the file has unchanged needs ``text``, ``syntax`` and ``start`` only.
    """

    text: str
    """The text, with the escapes of the file's format undone."""

    syntax: str = "text"
    """The syntax, as for :func:`doiuri.find`."""

    start: int = 0
    """Where the text starts in the file, if the file has it unchanged."""

    places: Sequence[int] | None = None
    """Where each character of the text stands in the file, and last where the text ends; None if the file has
    the text unchanged."""

    cell: int | None = None
    """The number of the notebook's cell, from 1; positions then count within the cell."""

    cell_text: str = ""
    """The text of the cell, if the part is only a piece of it, such as a comment."""

    cell_places: Sequence[int] | None = None
    """Where each character stands in ``cell_text``."""

    entry: str = ""
    """The key of the entry in a bibliography; empty if there is none."""

    field: bool = False
    """Whether the text is the whole value of a field for a DOI."""

    ignored: frozenset[str] = frozenset()
    """The codes that are not reported in this part, as a tag of its cell says; "*" stands for all codes."""

    encode: Callable[[str], str] = unchanged
    """Writes a text as the file's format does; the reverse of what the reader did. It raises ValueError if
    the format cannot represent the text."""

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
    """A function that reads one type of file; the entry point ``doiuri.readers`` registers it."""

    def __call__(self, source: Source) -> Iterable[Part]:
        """Return the parts of a file that may mention DOIs, in order.

        :param source: the file.
        :raises ReadError: if the file is not what its name says.
        """


class ReadError(ValueError):
    """A file is not what its name says, such as a notebook that is not JSON; the message says why."""
