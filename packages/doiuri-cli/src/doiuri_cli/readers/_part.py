"""What a reader returns: the parts of a file that may mention DOIs, with the place of every character.

However a file writes a text, each character of it has its place in the file.
"""

from __future__ import annotations

import re
from array import array
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
    """A file is not what its name says, such as a notebook that is not JSON.

    :param reason: what is wrong.
    :param line: the line of the first character that is wrong, from 1; None if it is not known.
    :param column: its column, from 1.
    """

    def __init__(self, reason: str, line: int | None = None, column: int = 1) -> None:
        super().__init__(reason if line is None else f"line {line}, column {column}: {reason}")
        self.reason = reason
        self.line = line
        self.column = column


_LINE_BREAK = re.compile(r"[\r\n]")


class Decoded(NamedTuple):
    """A text without the escapes of its format.

    :ivar text: the text.
    :ivar places: where each character stands, and last where the text ends.
    """

    text: str
    places: Sequence[int]


def undo(
    text: str,
    spans: Iterable[tuple[int, int]],
    escape: re.Pattern[str],
    meaning: Callable[[re.Match[str]], str],
) -> Decoded:
    """Return pieces of a text, one behind the other, without their escapes.

    :param text: the text.
    :param spans: offsets of the first character of each piece, and after its last one.
    :param escape: matches one escape.
    :param meaning: returns what an escape stands for; each character of it has the place of the escape.
    """
    pieces: list[str] = []
    places = array("q")  # a list takes four times the memory
    end = 0
    for start, end in spans:
        for found in escape.finditer(text, start, end):
            pieces += text[start : found.start()], meaning(found)
            places.extend(range(start, found.start()))
            places.extend([found.start()] * len(pieces[-1]))
            start = found.end()  # noqa: PLW2901
        pieces.append(text[start:end])
        places.extend(range(start, end))
    places.append(end)
    return Decoded("".join(pieces), places)


def moved(part: Part, places: Sequence[int]) -> Part:
    """Return a part of a text as a part of what the text itself is a piece of.

    :param part: the part.
    :param places: where each character of the text stands, and where it ends.
    """
    if isinstance(places, range) and part.places is None:
        return part._replace(start=places[part.start])
    inner = part.places or range(part.start, part.start + len(part.text) + 1)
    return part._replace(places=[places[place] for place in inner])


def one_line(text: str) -> str:
    """Return the text: the file writes it as it is, in a line.

    :raises ValueError: if the text has a line break.
    """
    if _LINE_BREAK.search(text):
        raise ValueError(f"a line break cannot be written here: {text!r}")
    return text


def nested(text: str, inner: Callable[[str], str], outer: Callable[[str], str]) -> str:
    """Return a text as a format writes it within another one.

    :param text: the text.
    :param inner: writes text as the inner format does.
    :param outer: writes text as the outer format does.
    """
    return outer(inner(text))
