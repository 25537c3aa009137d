"""Texts with places: for each character where it stands in the file, however the file writes it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, overload

if TYPE_CHECKING:
    from collections.abc import Callable

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


class Within(Sequence[int]):
    """The places of a text that is itself a piece of a text with places.

    :param inner: the places of the characters in the outer text.
    :param outer: the places of the outer text's characters in the file.
    """

    __slots__ = ("_inner", "_outer")

    def __init__(self, inner: Sequence[int], outer: Sequence[int]) -> None:
        self._inner = inner
        self._outer = outer

    def __len__(self) -> int:
        return len(self._inner)

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> list[int]: ...

    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            return [self._outer[place] for place in self._inner[index]]
        return self._outer[self._inner[index]]


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
