"""What a reader returns: the parts of a file that may mention DOIs, with the place of every character.

However a file writes a text, each character of it has its place in the file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol, overload

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


_LINE_BREAK = re.compile(r"[\r\n]")


class Places(Sequence[int]):
    """The places of the characters of a text, and of its end, kept as stretches without escapes.

    :param offsets: where each stretch starts in the text.
    :param starts: where each stretch starts in the file; the last one is empty and ends the text.
    """

    __slots__ = ("_offsets", "_starts")

    def __init__(self, offsets: list[int], starts: list[int]) -> None:
        self._offsets = offsets
        self._starts = starts

    def __len__(self) -> int:
        return self._offsets[-1] + 1

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> list[int]: ...

    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        stretch = bisect_right(self._offsets, index) - 1
        return self._starts[stretch] + index - self._offsets[stretch]


class Decoded(NamedTuple):
    """A text without the escapes of its format.

    :ivar text: the text.
    :ivar places: where each character stands, and last where the text ends.
    """

    text: str
    places: Places


class Stretches:
    """Collects the stretches of a text."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._offsets: list[int] = []
        self._starts: list[int] = []
        self._length = 0

    def add(self, piece: str, place: int) -> None:
        """Append a piece of text that the file has unchanged, or one character that it writes otherwise."""
        if piece:
            self._pieces.append(piece)
            self._offsets.append(self._length)
            self._starts.append(place)
            self._length += len(piece)

    def decoded(self, end: int) -> Decoded:
        """Return the text that was collected; in the file it ends at ``end``."""
        places = Places([*self._offsets, self._length], [*self._starts, end])
        return Decoded("".join(self._pieces), places)


def undo(
    stretches: Stretches,
    text: str,
    span: tuple[int, int],
    escape: re.Pattern[str],
    meaning: Callable[[re.Match[str]], str],
) -> None:
    """Append a piece of a text without its escapes.

    :param stretches: to which.
    :param text: the text.
    :param span: offsets of the first character, and after the last one.
    :param escape: matches one escape.
    :param meaning: returns what an escape stands for; each character of it has the place of the escape.
    """
    start, end = span
    for found in escape.finditer(text, start, end):
        stretches.add(text[start : found.start()], start)
        for character in meaning(found):
            stretches.add(character, found.start())
        start = found.end()
    stretches.add(text[start:end], start)


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
