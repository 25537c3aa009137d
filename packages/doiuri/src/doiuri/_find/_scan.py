"""The loop that reads markup token by token; each syntax says what its tokens mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from doiuri._find._rendered import Rendered

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

    from doiuri._find._plain import Mention
    from doiuri._find._rendered import Edit

    Part = tuple[Iterable[Mention], int]  # what it mentions, and where it ends


class Scanner:
    """Finds the mentions in one ``text``; a subclass knows the tokens of one syntax.

    The text consists of running text and of parts that interrupt it: links, code, tags, values. A token is an
    escape in running text (also an entity), or the start of a part, or ordinary text.

    :cvar first: the characters that a token starts with. The regex engine finds one of a set of characters
        many times faster than one of several patterns.
    :cvar token: the pattern of all tokens.
    :cvar tail: characters that no name in running text ends with, in addition to punctuation.
    """

    first: ClassVar[re.Pattern[str]]
    token: ClassVar[re.Pattern[str]]
    tail: ClassVar[str] = ""

    def __init__(self, text: str) -> None:
        self.text = text

    def replacement(self, token: re.Match[str]) -> str | None:
        """Return what readers see in place of an escape; None for any other token."""
        raise NotImplementedError

    def part(self, token: re.Match[str]) -> Part | None:
        """Return the part that the token starts; None if the token is ordinary text."""
        raise NotImplementedError

    def stretch(self, start: int, end: int, edits: list[Edit]) -> Rendered:
        """Return the running text from ``start`` to ``end``."""
        return Rendered(self.text, start, end, edits)

    def mentions(self) -> Iterator[Mention]:
        """Yield the mentions in the text, in order."""
        text = self.text
        search, match = self.first.search, self.token.match
        candidate = text.find("10")  # where the next name can start; most stretches have none
        begin = position = 0  # where the running text starts; from where on the next token is searched
        edits: list[Edit] = []
        while candidate >= 0 and (first := search(text, position)) is not None:
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
                yield from self.stretch(begin, start, edits).mentions(self.tail)
            mentions, position = part
            yield from mentions
            begin, edits = position, []
            if candidate < begin:
                candidate = text.find("10", begin)
        yield from self.stretch(begin, len(text), edits).mentions(self.tail)
