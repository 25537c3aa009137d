"""A stretch of markup as readers see it; maps positions in it back to the source."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from doiuri._find import _plain
from doiuri._find._start import label_nearby

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from doiuri._find._plain import Mention

    Edit = tuple[int, int, str]  # start and end in the source, and what readers see there

_NO_BRACES: frozenset[int] = frozenset()


class Rendered:
    """The text of ``source[start:end]`` after the ``edits``, which are in order and do not overlap."""

    __slots__ = ("_braces", "_offsets", "_pieces", "_shift", "source", "text")

    def __init__(self, source: str, start: int, end: int, edits: Sequence[Edit] = ()) -> None:
        self.source = source
        self.text = ""
        self._offsets: list[int]
        self._pieces: list[tuple[int, int]]
        if source.find("10", start, end) < 0:
            return  # nothing to find, as in most stretches
        self._shift = None if edits else start  # how far the positions differ, if all by the same
        if not edits:
            self.text, self._offsets, self._pieces = source[start:end], [0], [(start, end)]
            self._braces: AbstractSet[int] = _NO_BRACES
            return
        parts: list[str] = []
        self._offsets = []  # where each piece starts in ``text``
        self._pieces = []  # start and end in ``source``
        self._braces = {first for first, _, part in edits if not part and source[first] == "}"}
        length = 0
        for first, last, replacement in (*edits, (end, end, "")):
            for begin, stop, part in ((start, first, source[start:first]), (first, last, replacement)):
                if part:
                    parts.append(part)
                    self._offsets.append(length)
                    self._pieces.append((begin, stop))
                    length += len(part)
            start = last
        self.text = "".join(parts)

    @classmethod
    def replacing(
        cls,
        source: str,
        span: tuple[int, int],
        pattern: re.Pattern[str],
        replacement: Callable[[re.Match[str]], str],
    ) -> Rendered:
        """Return the text of a span of ``source`` with each match of ``pattern`` replaced."""
        if source.find("10", *span) < 0:
            return cls(source, *span)
        edits = [(*match.span(), replacement(match)) for match in pattern.finditer(source, *span)]
        return cls(source, *span, edits)

    def mentions(self, tail: str = "") -> Iterator[Mention]:
        """Yield the mentions in the text, placed in the source; no name ends with a character of ``tail``."""
        if "10." in self.text:
            mentions = _plain.mentions(self.text, self._label_nearby, tail)
            if self._shift is None:
                for start, end, doi in mentions:
                    yield self._start(start), self._end(end), doi
            else:
                for start, end, doi in mentions:
                    yield self._shift + start, self._shift + end, doi

    def whole(self, *, labelled: bool = False, link: bool = False) -> Mention | None:
        """Return the mention that the text is as a whole, but for outer white space, or None.

        :param labelled: whether the text has a label, so that any name counts.
        :param link: whether the text is a link, where a raw ``#`` or ``?`` ends the name.
        """
        value = self.text.strip()
        if "10." not in value:
            return None
        offset = self.text.find(value)
        mention = _plain.whole(value, labelled=labelled or self._label_nearby(offset), link=link)
        if mention is None:
            return None
        if not link and value.count("10.") > 1 and len(list(self.mentions())) > 1:
            return None  # a list
        start, end, doi = mention
        return self._start(offset + start), self._end(offset + end), doi

    def whole_or_mentions(self, *, link: bool = False) -> Iterator[Mention]:
        """Yield the mention that the text is as a whole, or else the mentions in it."""
        mention = self.whole(link=link)
        if mention is not None:
            yield mention
        else:
            yield from self.mentions()

    def _label_nearby(self, offset: int) -> bool:
        return label_nearby(self.source, self._start(offset))

    def _start(self, offset: int) -> int:
        """Return where in the source the character at ``offset`` of the text starts."""
        index = bisect_right(self._offsets, offset) - 1
        begin, stop = self._pieces[index]
        return min(begin + offset - self._offsets[index], stop)

    def _end(self, offset: int) -> int:
        """Return where in the source the character before ``offset`` of the text ends."""
        index = bisect_right(self._offsets, offset - 1) - 1
        begin, stop = self._pieces[index]
        following = self._offsets[index + 1] if index + 1 < len(self._offsets) else len(self.text)
        if offset < following:
            return begin + offset - self._offsets[index]
        while stop in self._braces:  # the last one of "10.1000/{ABC}" belongs to the mention
            stop += 1
        return stop
