"""A stretch of a marked-up source, as its readers see it: escapes undone, with the way back to the source."""

import re
from bisect import bisect_right

from doiuri._find._plain import names, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doiuri._find._plain import Found

    Edit = tuple[int, int, str]  # a piece of the source, from and to, and what readers see in its place

# A word "doi" close before, with only mark-up between: '"doi": "', '<b>DOI</b> ', '<x type="doi" y="z">'
_NEAR_LABEL = re.compile(
    r"(?:(?:<doi\s|[\"']doi[\"']\s)[^<>]{0,99}>\s{0,99}"
    r"|(?<![A-Za-z0-9/])dois?(?:</?[^<>]{0,99}>|[ \n]content=|[^\w<]){1,8})\Z",
    re.IGNORECASE,
)
_NEAR = 120


def is_labelled(source: str, place: int) -> bool:
    """Return whether the word "doi" stands before ``place``, with nothing but mark-up between."""
    start = max(0, place - _NEAR)
    return "doi" in source[start:place].lower() and _NEAR_LABEL.search(source, start, place) is not None


def next_token(
    text: str, position: int, first: re.Pattern[str], token: re.Pattern[str]
) -> re.Match[str] | None:
    """Return the next ``token`` from ``position`` on; ``first`` is the set of characters it may begin with.

    The regex engine looks for a set of characters many times as fast as for a choice of patterns.
    """
    while (start := first.search(text, position)) is not None:
        match = token.match(text, start.start())
        if match is not None:
            return match
        position = start.end()
    return None


class View:
    """``text`` is ``source[start:end]`` after the ``edits``, which come in order and do not overlap."""

    __slots__ = ("_at", "_braces", "_pieces", "source", "text")

    def __init__(self, source: str, start: int, end: int, edits: "Sequence[Edit]" = ()) -> None:
        self.source = source
        self.text = ""
        if source.find("10", start, end) < 0:
            return  # most stretches hold no DOI
        parts: list[str] = []
        self._at: list[int] = []  # where each piece begins in ``text``
        self._pieces: list[tuple[int, int]] = []  # from and to in ``source``
        self._braces = {first for first, _, shown in edits if not shown and source[first] == "}"}
        length = 0
        for first, last, shown in (*edits, (end, end, "")):
            for begin, stop, part in ((start, first, source[start:first]), (first, last, shown)):
                if part:
                    parts.append(part)
                    self._at.append(length)
                    self._pieces.append((begin, stop))
                    length += len(part)
            start = last
        self.text = "".join(parts)

    def place(self, offset: int) -> int:
        """Return where in the source the character at ``offset`` of the text begins."""
        index = bisect_right(self._at, offset) - 1
        begin, stop = self._pieces[index]
        return min(begin + offset - self._at[index], stop)

    def _end(self, offset: int) -> int:
        """Return where in the source the character before ``offset`` of the text ends."""
        index = bisect_right(self._at, offset - 1) - 1
        begin, stop = self._pieces[index]
        following = self._at[index + 1] if index + 1 < len(self._at) else len(self.text)
        if offset < following:
            return begin + offset - self._at[index]
        while stop in self._braces:  # that of "10.1000/{ABC}" belongs to the mention
            stop += 1
        return stop

    def names(self, tail: str = "") -> "Iterator[Found]":
        """Yield the mentions in the text, with places in the source."""
        if "10." in self.text:
            for start, end, doi in names(self.text, self._is_labelled, tail):
                yield self.place(start), self._end(end), doi

    def _is_labelled(self, offset: int) -> bool:
        return is_labelled(self.source, self.place(offset))

    def whole(self, *, labelled: bool = False, link: bool = False) -> "Found | None":
        """Return the mention that the text is as a whole, but for outer white space; None if it is none.

        With ``labelled`` any name counts, in a ``link`` a raw ``#`` or ``?`` ends it.
        """
        value = self.text.strip()
        if "10." not in value:
            return None
        start = self.text.find(value)
        labelled = labelled or self._is_labelled(start)
        found = whole(value, labelled=labelled, link=link)
        if found is None:
            return None
        if not link and value.count("10.") > 1 and len(list(self.names())) > 1:
            return None  # a list
        return self.place(start + found[0]), self._end(start + found[1]), found[2]
