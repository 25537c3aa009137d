"""What all markup has in common: reading it token by token, and where in it what readers see stands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from itertools import accumulate, chain
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from doiuri._find import _plain
from doiuri._find._leads import has_label_nearby

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from doiuri._find._plain import MentionSpan

    # What a link, a code span or the like mentions, and where it ends. A tuple, for the time it takes
    Construct = tuple[Iterable[MentionSpan], int]

_REGISTRANT = "[0-9.]{0,15}+"  # what follows "10." in a prefix
_LONG_RUN = "[0-9.]{16}"
_SLASH = r"[/:\\]|%2"  # "/", in a URN ":", in JSON "\/", escaped "%2F"


class Stretch(NamedTuple):
    """A stretch of the source, and what readers see of it: the same, something else, or nothing.

    In HTML, ``&lt;`` is one of which readers see "<".
    """

    start: int
    end: int
    visible: str


class VisibleText:
    """The text of ``source[start:end]`` as readers see it, and where in the source each part of it stands.

    Names are searched for in ``text``. What is found at an offset there is placed in the source: in
    "10.1000/a&lt;b" the visible name ends at offset 11, and in the source at 14.

    :param edits: the stretches of which readers see something else, in order.
    """

    __slots__ = ("_offsets", "_stretches", "source", "text")

    def __init__(self, source: str, start: int, end: int, edits: Sequence[Stretch] = ()) -> None:
        self.source = source
        self.text = ""
        if source.find("10", start, end) < 0:
            return  # there is nothing to find, as in most texts; then nobody asks for the stretches

        if edits:
            self._stretches = _stretches(source, start, end, edits)
            visible = [stretch.visible for stretch in self._stretches]
            self.text = "".join(visible)
            # Where each stretch starts in the text, and where the last one ends
            self._offsets = list(accumulate(map(len, visible), initial=0))
        else:
            self.text = source[start:end]
            self._stretches = [Stretch(start, end, self.text)]
            self._offsets = [0, end - start]

    @classmethod
    def replacing(
        cls,
        source: str,
        span: tuple[int, int],
        pattern: re.Pattern[str],
        replacement: Callable[[re.Match[str]], str],
    ) -> VisibleText:
        """Return the text of a span of ``source``, in which readers see a ``replacement`` of each match."""
        start, end = span
        if source.find("10", start, end) < 0:
            return cls(source, start, end)
        edits = [
            Stretch(match.start(), match.end(), replacement(match))
            for match in pattern.finditer(source, start, end)
        ]
        return cls(source, start, end, edits)

    def mentions(self, tail: str = "") -> Iterator[MentionSpan]:
        """Yield the mentions in the text, placed in the source; no name ends with a character of ``tail``."""
        if "10." not in self.text:
            return
        mentions = _plain.mentions(self.text, self._has_label_nearby, tail)

        if len(self._stretches) == 1:
            # As nearly always. The text is only shifted, so its places need not be searched for.
            shift = self._stretches[0].start
            for start, name, end, doi in mentions:
                yield shift + start, shift + name, shift + end, doi
        else:
            for mention in mentions:
                yield self._in_source(mention, 0)

    def whole(self, *, labelled: bool = False, link: bool = False) -> MentionSpan | None:
        """Return the mention that the text is as a whole, but for outer white space, or None.

        :param labelled: whether the text has a label, so that any name counts.
        :param link: whether the text is a link, where a raw ``#`` or ``?`` ends the name.
        """
        value = self.text.strip()
        if "10." not in value:
            return None

        offset = self.text.find(value)
        has_label = labelled or self._has_label_nearby(offset)
        mention = _plain.whole(value, labelled=has_label, link=link)
        if mention is None:
            return None
        if not link and self._is_list(value):
            return None

        return self._in_source(mention, offset)

    def _in_source(self, mention: MentionSpan, offset: int) -> MentionSpan:
        """Return a mention in the text from ``offset`` on, placed in the source."""
        start, name, end, doi = mention
        source_start = source_name = self._source_start(offset + start)
        if name != start:
            source_name = self._source_start(offset + name)
        return source_start, source_name, self._source_end(offset + end), doi

    def _is_list(self, value: str) -> bool:
        """Return whether a value holds several mentions."""
        return value.count("10.") > 1 and len(list(self.mentions())) > 1

    def whole_or_mentions(self, *, link: bool = False) -> Iterator[MentionSpan]:
        """Yield the mention that the text is as a whole, or else the mentions in it."""
        mention = self.whole(link=link)
        if mention is not None:
            yield mention
        else:
            yield from self.mentions()

    def _has_label_nearby(self, offset: int) -> bool:
        """Return whether there is a label before an offset of the text, though not directly before it."""
        return has_label_nearby(self.source, self._source_start(offset))

    def _stretch_number(self, offset: int) -> int:
        """Return the number of the stretch that the character at an offset of the text belongs to."""
        return bisect_right(self._offsets, offset) - 1

    def _source_start(self, offset: int) -> int:
        """Return where in the source the character at an offset of the text starts."""
        number = self._stretch_number(offset)
        stretch = self._stretches[number]
        # What readers see may be longer than the stretch: its second character has no place of its own
        return min(stretch.start + offset - self._offsets[number], stretch.end)

    def _source_end(self, offset: int) -> int:
        """Return where in the source the character before an offset of the text ends."""
        number = self._stretch_number(offset - 1)
        stretch = self._stretches[number]
        is_inside = offset < self._offsets[number + 1]
        if is_inside:
            return stretch.start + offset - self._offsets[number]

        # The closing brace of "10.1000/{ABC}", which nobody sees, belongs to the mention.
        while self._is_hidden_brace(number + 1):
            number += 1
        return self._stretches[number].end

    def _is_hidden_brace(self, number: int) -> bool:
        """Return whether the stretch with a number, if there is one, is a closing brace that nobody sees."""
        if number == len(self._stretches):
            return False
        stretch = self._stretches[number]
        return stretch.visible == "" and self.source[stretch.start] == "}"


def _stretches(source: str, start: int, end: int, edits: Sequence[Stretch]) -> list[Stretch]:
    """Return the stretches of ``source[start:end]``: the edits, and what is between them."""
    stretches = []
    for edit in edits:
        if start < edit.start:
            stretches.append(Stretch(start, edit.start, source[start : edit.start]))
        stretches.append(edit)
        start = edit.end
    if start < end:
        stretches.append(Stretch(start, end, source[start:end]))
    return stretches


def name_start(escape: str) -> str:
    """Return the pattern of a "1" that a name may begin with.

    :param escape: the pattern of what begins an escape; it may stand for any character of the name.
    """
    # The escape may come after "1", "10", "10." or "10.1000". It stands only once in the pattern, for the
    # time that it takes to compile.
    escaped = rf"(?>(?:0(?:\.{_REGISTRANT})?)?){escape}"
    return _name_start(rf"{escaped}|{_rest_of_prefix(_SLASH)}")


def interrupted_name_start(escape: str, nothing: str) -> str:
    """Return the pattern of a "1" that a name may begin with, where markup may interrupt the "10.".

    :param escape: as for ``name_start``, but not inside the "10.".
    :param nothing: the pattern of markup that readers do not see, such as a brace.
    """
    return _name_start(rf"0?{nothing}|{_rest_of_prefix(f'{_SLASH}|{escape}')}")


def _name_start(following: str) -> str:
    """Return the pattern of a "1" before one of the alternatives."""
    return (
        r"1(?![1-9.,])"  # not of "12", "1.5" or "1,000"
        rf"(?={following})"
        r"(?<![/ ]v1)"  # nor of a version, "v10.2"
    )


def _rest_of_prefix(end: str) -> str:
    """Return the pattern of what follows the "1" of "10.1000/".

    Of long runs of digits and dots only the first characters are read, so that the time stays linear.
    """
    return rf"0\.(?:{_REGISTRANT}(?:{end})|{_LONG_RUN})"


class Scanner(ABC):
    """Finds the mentions in one ``text``; a subclass knows the tokens of one syntax.

    The text consists of running text and of parts that interrupt it, the constructs: links, code, tags, values. A
    token is an escape in running text (also an entity), or the start of a construct, or ordinary text.

    1. ``mentions`` goes from one place where a name may begin to the next; what is between them is not read.
    2. A name that stands between delimiters, as in ``href="https://doi.org/10.1000/182"``, reads the same in every
       construct, and is taken at once.
    3. Otherwise ``block`` returns the nearest place before the name that is in no construct, and where the block
       ends.
    4. From there ``_read`` reads token by token, and asks for the ``meaning`` of each, up to the end of the
       construct that the name is in; or, if the name is in running text, of the next one.
    5. ``running_text`` is what readers see between constructs; the names in it are found as in plain text.

    :cvar names: the patterns of places where a name may begin.
    :cvar boundary: a line break where a block begins or ends, such as a paragraph: no construct goes on behind it.
    :cvar first: the characters that a token starts with. The regex engine finds one of a set of characters
        many times faster than one of several patterns.
    :cvar token: the pattern of all tokens.
    :cvar delimiters: of a name or link that reads the same in every construct and in running text: what may stand
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
        self._next_match = dict.fromkeys(self.names, -1)  # where each pattern matches next
        self._block_end = 0  # of the block that was read last

    def block(self, begin: int, place: int) -> tuple[int, int]:
        """Return start and end of the block that ``place`` is in, such as a paragraph.

        Reading starts there, or at ``begin`` if that is nearer: both are in no construct.
        """
        if place >= self._block_end:
            begin = max(begin, self._line_after_boundary(begin, place))
            following = self.boundary.search(self.text, place)
            self._block_end = following.start() if following else len(self.text)
        return begin, self._block_end

    def _line_after_boundary(self, begin: int, place: int) -> int:
        """Return where the line after the last boundary before ``place`` starts; 0 if there is none."""
        line_break = self.text.rfind("\n", begin, place)
        while line_break >= 0 and not self.boundary.match(self.text, line_break):
            line_break = self.text.rfind("\n", begin, line_break)
        return line_break + 1

    @abstractmethod
    def meaning(self, token: re.Match[str], end: int) -> str | Construct | None:
        """Return what readers see in place of an escape, the construct that any other token starts, or None.

        None means ordinary text. A construct ends at ``end`` at the latest if its syntax says so.
        """

    def running_text(self, start: int, end: int, edits: list[Stretch]) -> VisibleText:
        """Return the running text from ``start`` to ``end``."""
        return VisibleText(self.text, start, end, edits)

    def mentions(self) -> Iterator[MentionSpan]:
        """Yield the mentions in the text, in order."""
        read_to = 0  # a place in no construct
        last_end = 0  # of the mentions that stand between delimiters
        while (place := self._next_name(max(read_to, last_end))) < len(self.text):
            delimited = _plain.delimited(self.text, place, self.delimiters)
            if delimited is not None:
                _, _, last_end, _ = delimited
                yield delimited
                continue

            start, end = self.block(read_to, place)
            mentions, read_to = self._read(start, place, end)
            for mention in mentions:
                if mention[0] >= last_end:  # those before were read between delimiters
                    yield mention

    def _next_name(self, start: int) -> int:
        """Return the first place from ``start`` on where a name may begin, or the text's end."""
        for pattern, place in self._next_match.items():
            if place < start:
                match = pattern.search(self.text, start)
                self._next_match[pattern] = match.start() if match else len(self.text)
        return min(self._next_match.values())

    def _read(self, begin: int, place: int, end: int) -> Construct:
        """Return what is mentioned up to the end of the first construct that ends after ``place``, or to ``end``.

        In Markdown's "10.1000/1, [a](10.1000/2), 10.1000/3", with the first name at ``place``, these are the first
        two, and the place where the destination ends.
        Reads token by token, from ``begin`` on. Before ``place`` nothing is mentioned.
        """
        text = self.text
        position = begin  # from where on the next token is searched
        edits: list[Stretch] = []  # of the running text from ``begin`` on

        while (first := self.first.search(text, position, end)) is not None:
            start, position = first.span()
            token = self.token.match(text, start, end)
            meaning = self.meaning(token, end) if token else None
            if token is None or meaning is None:
                continue  # ordinary text

            if isinstance(meaning, str):
                position = token.end()
                edits.append(Stretch(start, position, meaning))
                continue

            in_construct, construct_end = meaning
            if construct_end <= place:
                begin = position = construct_end
                edits = []
                continue
            if start <= place:
                return in_construct, construct_end
            before_construct = self.running_text(begin, start, edits).mentions(self.tail)
            return chain(before_construct, in_construct), construct_end

        return self.running_text(begin, end, edits).mentions(self.tail), end
