"""Markup: the loop that reads it token by token, and stretches of it as readers see them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from doiuri._find import _plain
from doiuri._find._leads import label_nearby

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from doiuri._find._plain import Mention

    Edit = tuple[int, int, str]  # start and end in the source, and what readers see there
    Part = tuple[Iterable[Mention], int]  # what it mentions, and where it ends


class Rendered:
    """The text of ``source[start:end]`` after the ``edits``, which are in order and do not overlap."""

    __slots__ = ("_braces", "_offsets", "_pieces", "source", "text")

    def __init__(self, source: str, start: int, end: int, edits: Sequence[Edit] = ()) -> None:
        self.source = source
        self.text = ""
        if source.find("10", start, end) < 0:
            return  # nothing to find, as in most stretches
        self._offsets = [0]  # where each piece starts in ``text``
        self._pieces = [(start, end)]  # start and end in ``source``
        self._braces = {first for first, _, part in edits if not part and source[first] == "}"}
        if edits:
            self._join(start, end, edits)
        else:
            self.text = source[start:end]

    def _join(self, start: int, end: int, edits: Sequence[Edit]) -> None:
        source, length = self.source, 0
        parts: list[str] = []
        self._offsets, self._pieces = [], []
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
            if len(self._pieces) == 1 and not self._braces:
                shift = self._pieces[0][0]
                yield from ((shift + start, shift + end, doi) for start, end, doi in mentions)
            else:
                yield from ((self._start(start), self._end(end), doi) for start, end, doi in mentions)

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


def a_name(escape: str, nothing: str = "") -> str:
    """Return the pattern of a "1" that a name may begin with.

    An ``escape`` may stand for any character; one that stands for ``nothing`` may be inside the "10.", too.
    Of long runs of digits and dots only the first characters are read, so that the time stays linear.
    """
    rest = r"0\.(?:[0-9.]{0,15}+(?:[/:\\]|%2ESCAPE)|[0-9.]{16})"
    if nothing:
        rest = rf"0?{nothing}|{rest.replace('ESCAPE', f'|{escape}')}"
    else:  # with the escape once, for the time that it takes to compile
        rest = rf"(?>(?:0(?:\.[0-9.]{{0,15}}+)?)?){escape}|{rest.replace('ESCAPE', '')}"
    return rf"1(?![1-9.,])(?={rest})(?<![/ ]v1)"  # nor with the number of a version


class Scanner(ABC):
    """Finds the mentions in one ``text``; a subclass knows the tokens of one syntax.

    The text consists of running text and of parts that interrupt it: links, code, tags, values. A token is an
    escape in running text (also an entity), or the start of a part, or ordinary text.

    Most of a text is far from any name and is not read: for each place where a name may begin, reading starts
    again at the nearest place before it that is in no part.

    :cvar names: the patterns of places where a name may begin.
    :cvar boundary: a line break where a block begins or ends, such as a paragraph: no part goes on behind it.
    :cvar first: the characters that a token starts with. The regex engine finds one of a set of characters
        many times faster than one of several patterns.
    :cvar token: the pattern of all tokens.
    :cvar delimiters: of a name or link that reads the same in every part and in running text: what may stand
        before it, by the character after it.
    :cvar tail: characters that no name in running text ends with, in addition to punctuation.
    """

    names: ClassVar[tuple[re.Pattern[str], ...]]
    boundary: ClassVar[re.Pattern[str]]
    first: ClassVar[re.Pattern[str]]
    token: ClassVar[re.Pattern[str]]
    delimiters: ClassVar[dict[str, tuple[str, ...]]]
    tail: ClassVar[str] = ""

    def __init__(self, text: str) -> None:
        self.text = text
        self._next = dict.fromkeys(self.names, -1)  # where each is found next
        self._end = 0  # of the block that was read last

    def block(self, begin: int, place: int) -> tuple[int, int]:
        """Return where to start reading for ``place``, in no part and after ``begin``, and where to stop."""
        if place >= self._end:
            boundary, text = self.boundary, self.text
            start = text.rfind("\n", begin, place)
            while start >= 0 and not boundary.match(text, start):
                start = text.rfind("\n", begin, start)
            following = boundary.search(text, place)
            self._end = following.start() if following else len(text)
            begin = max(begin, start + 1)
        return begin, self._end

    @abstractmethod
    def meaning(self, token: re.Match[str], end: int) -> str | Part | None:
        """Return what readers see in place of an escape, the part that any other token starts, or None.

        None means ordinary text. A part ends at ``end`` at the latest if its syntax says so.
        """

    def stretch(self, start: int, end: int, edits: list[Edit]) -> Rendered:
        """Return the running text from ``start`` to ``end``."""
        return Rendered(self.text, start, end, edits)

    def mentions(self) -> Iterator[Mention]:
        """Yield the mentions in the text, in order."""
        begin = last = 0  # a safe place, and the end of the last mention
        while (place := self._next_name(max(begin, last))) < len(self.text):
            delimited = _plain.delimited(self.text, place, self.delimiters)
            if delimited is None:
                start, end = self.block(begin, place)
                found, begin = self._read(start, place, end)
                for mention in found:
                    if mention[0] >= last:
                        yield mention
            else:
                last = delimited[1]
                yield delimited

    def _next_name(self, start: int) -> int:
        """Return the first place from ``start`` on where a name may begin, or the text's end."""
        for pattern, place in self._next.items():
            if place < start:
                found = pattern.search(self.text, start)
                self._next[pattern] = found.start() if found else len(self.text)
        return min(self._next.values())

    def _read(self, begin: int, place: int, end: int) -> Part:
        """Return what is mentioned up to the end of the first part that ends after ``place``, or to ``end``.

        Reads token by token, from ``begin`` on. Before ``place`` nothing is mentioned.
        """
        text = self.text
        search, match = self.first.search, self.token.match
        position = begin  # from where on the next token is searched
        edits: list[Edit] = []
        while (first := search(text, position, end)) is not None:
            start, position = first.span()
            token = match(text, start, end)
            meaning = self.meaning(token, end) if token else None
            if token is None or meaning is None:
                continue
            if isinstance(meaning, str):
                position = token.end()
                edits.append((start, position, meaning))
                continue
            mentions, after = meaning
            if place < after:
                if place < start:
                    mentions = chain(self.stretch(begin, start, edits).mentions(self.tail), mentions)
                return mentions, after
            begin = position = after
            edits = []
        return self.stretch(begin, end, edits).mentions(self.tail), end
