"""The loop that reads markup token by token; each syntax says what its tokens mean."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from doiuri._doi import DOI
from doiuri._find._rendered import Rendered

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

    from doiuri._find._plain import Mention
    from doiuri._find._rendered import Edit

    Part = tuple[Iterable[Mention], int]  # what it mentions, and where it ends

# How many tokens or parts are skipped at once: the regex engine keeps some memory for each. The groups are
# atomic, not possessive: those are unreliable before Python 3.11.5.
MOST = 500


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
    return rf"1(?={rest})(?<![/ ]v1)"  # nor with the number of a version


def no_name(escape: str, nothing: str = "") -> str:
    """Return the pattern of any other "1"."""
    return rf"(?!{a_name(escape, nothing)})1"


class Scanner(ABC):
    """Finds the mentions in one ``text``; a subclass knows the tokens of one syntax.

    The text consists of running text and of parts that interrupt it: links, code, tags, values. A token is an
    escape in running text (also an entity), or the start of a part, or ordinary text.

    Most of a text is far from any name. The regex engine skips it, by patterns that know the frequent tokens.
    They may stop early, which costs time, but never pass anything that ``_read`` would take for a name, and
    ``skipped`` stops only where ``_read`` would find the end or the start of a part.

    :cvar first: the characters that a token starts with. The regex engine finds one of a set of characters
        many times faster than one of several patterns.
    :cvar token: the pattern of all tokens.
    :cvar running: the pattern of running text without names.
    :cvar skipped: the pattern of running text and parts without names.
    :cvar frequent: the pattern of a part that is one name; group 1 includes its label or link.
    :cvar tail: characters that no name in running text ends with, in addition to punctuation.
    """

    first: ClassVar[re.Pattern[str]]
    token: ClassVar[re.Pattern[str]]
    running: ClassVar[re.Pattern[str]]
    skipped: ClassVar[re.Pattern[str]]
    frequent: ClassVar[re.Pattern[str]]
    tail: ClassVar[str] = ""

    def __init__(self, text: str) -> None:
        self.text = text

    @abstractmethod
    def replacement(self, token: re.Match[str]) -> str | None:
        """Return what readers see in place of an escape; None for any other token."""

    @abstractmethod
    def part(self, token: re.Match[str]) -> Part | None:
        """Return the part that the token starts; None if the token is ordinary text."""

    def stretch(self, start: int, end: int, edits: list[Edit]) -> Rendered:
        """Return the running text from ``start`` to ``end``."""
        return Rendered(self.text, start, end, edits)

    def mentions(self) -> Iterator[Mention]:
        """Yield the mentions in the text, in order."""
        text, begin = self.text, 0
        while True:
            begin, candidate, frequent = self._skip(begin)
            if candidate == len(text):
                return
            if frequent is not None and "10." not in frequent[2][3:]:
                yield *frequent.span(1), DOI._unchecked(frequent[2])
                begin = frequent.end()
            else:
                parts, begin = self._read(begin, candidate)
                for mentions in parts:
                    yield from mentions

    def _read(self, begin: int, candidate: int) -> tuple[list[Iterable[Mention]], int]:
        """Return what the running text and parts from ``begin`` mention, and where the last part ends.

        They are read token by token, up to the first part that ends after the ``candidate``.
        """
        text = self.text
        search, match = self.first.search, self.token.match
        position = begin  # from where on the next token is searched
        edits: list[Edit] = []
        mentions: list[Iterable[Mention]] = []
        while (first := search(text, position)) is not None:
            start, position = first.span()
            token = match(text, start)
            if token is None:
                continue
            replacement = self.replacement(token)
            if replacement is not None:
                position = token.end()
                edits.append((start, position, replacement))
                continue
            part = self.part(token)
            if part is None:
                continue
            if candidate < start:
                mentions.append(self.stretch(begin, start, edits).mentions(self.tail))
            in_part, begin = part
            mentions.append(in_part)
            if candidate < begin:
                return mentions, begin
            position, edits = begin, []
        mentions.append(self.stretch(begin, len(text), edits).mentions(self.tail))
        return mentions, len(text)

    def _skip(self, start: int) -> tuple[int, int, re.Match[str] | None]:
        """Skip what has no names from ``start`` on.

        :returns: where to read on, where the next name may start, and the part there if it is a frequent one.
        """
        skipped = self.skipped.match(self.text, start)
        begin = skipped.end() if skipped else start
        running = self.running.match(self.text, begin)
        candidate = running.end() if running else begin
        return begin, candidate, self.frequent.match(self.text, candidate)
