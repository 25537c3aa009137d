"""DOIs in Markdown: CommonMark's escapes, entities, links, autolinks and code; raw HTML."""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from doiuri._find._fences import FencedBlock, fenced_blocks
from doiuri._find._html import (
    AMPERSAND,
    ENTITY,
    ENTITY_OF_1,
    INVISIBLE,
    INVISIBLE_ONE,
    TAG,
    in_tag,
    unescaped,
)
from doiuri._find._markup import Scanner, VisibleText, name_start
from doiuri._patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri._find._markup import Construct
    from doiuri._find._plain import MentionSpan

# CommonMark 0.31, Backslash escapes: any ASCII punctuation
_ESCAPE = rf"\\[!-/:-@\[-`{{-~]|{ENTITY}|{INVISIBLE_ONE}"
_ESCAPES = lazy(_ESCAPE, re.IGNORECASE)

_LINK_LABEL = r"\[(?!\^)[^\]\n]{1,999}\]"  # "[^" begins a footnote
_DEFINITION = lazy(rf"{_LINK_LABEL}:[ \t]*\n?[ \t]*")

_LONGEST_MARGIN = 12  # characters before the first one of a line, with the line break
_MARGIN = lazy(r"[ >]*")

_LONGEST_DESTINATION = 2000  # characters in angle brackets
_DEEPEST_PARENTHESES = 32  # in a destination, as in CommonMark's reference implementation
_IN_DESTINATION = lazy(r"\\.|[()\s]")
_IN_ANGLES = lazy(r"<[^\\<>\n]*+(?:\\.[^\\<>\n]*+)*>")

_BLOCK_BEFORE_ALL = FencedBlock(0, 0, 0)
_BLOCK_AFTER_ALL = FencedBlock(sys.maxsize, sys.maxsize, sys.maxsize)


class Markdown(Scanner):
    """CommonMark."""

    names = (lazy(name_start(rf"(?:{AMPERSAND}|\\|{INVISIBLE_ONE}|<wbr)")), ENTITY_OF_1)
    boundary = lazy(
        r"""
        \n(?=
            [ \t>]*+
            (?: [-*+][ \t]        # an item of a list
            |   [|#]              # a row of a table, a heading
            |   ``` | ~~~         # a fence
            |   \r? (?: \n | \Z)  # a blank line
            )
        )
        """,
        re.VERBOSE,
    )
    first = lazy(f"[\\\\&<`~\\[\\]{INVISIBLE}]")
    token = lazy(
        rf"""
          (?P<escape> {_ESCAPE} | <wbr\s*/?> )
        | (?P<code> `+ | ~{{3,}} )
        | (?P<label> \[ (?<! [^\n >]\[ ) )  # may begin a line
        | (?P<link> \]\( [ \t\n]* )
        | (?P<autolink> < (?: https?: | // | doi: | info: | urn: | hdl: ) [^<>\s]* > )
        | (?P<tag> {TAG} )
        """,
        re.IGNORECASE | re.VERBOSE,
    )
    delimiters: ClassVar = {")": ("](", " ("), ">": ("<",), "`": (" `", "(`", "\n`")}

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._fenced_blocks = fenced_blocks(text)
        self._fenced = _BLOCK_BEFORE_ALL  # the next one, or the one that was read last
        self._unclosed: set[tuple[str, int]] = set()  # backticks that nothing closes before an end

    def block(self, begin: int, place: int) -> tuple[int, int]:
        """Return start and end of the block of code in fences that ``place`` is in, or else of any other block."""
        while self._fenced.end <= place:
            begin = max(begin, self._fenced.end)
            self._fenced = next(self._fenced_blocks, _BLOCK_AFTER_ALL)
        if self._fenced.start <= place:
            return self._fenced.start, self._fenced.end
        return super().block(begin, place)

    def meaning(self, token: re.Match[str], end: int) -> str | Construct | None:
        """Return the character of an escape, or the code, link or tag that the token starts; else None."""
        start, after = token.span()
        match token.lastgroup:
            case "escape":
                return _unescaped(token)
            case "code" if start == self._fenced.start:
                code = VisibleText(self.text, after, self._fenced.code_end)
                return code.whole_or_mentions(), self._fenced.end
            case "code":
                return self._code_span(token, end)
            case "label":
                return self._definition(start)
            case "link":
                return self._link(after)
            case "autolink":
                return _in_destination(self.text, start + 1, after - 1), after
            case _:
                return in_tag(self.text, start, after), after

    def _code_span(self, opener: re.Match[str], end: int) -> Construct:
        """Return the code between backticks; it is empty if nothing closes it before ``end``."""
        closer = self._closer(opener, end)
        if closer is None:
            return (), opener.end()
        code = VisibleText(self.text, opener.end(), closer.start())
        return code.whole_or_mentions(), closer.end()

    def _closer(self, opener: re.Match[str], end: int) -> re.Match[str] | None:
        """Return what closes a code span: as many backticks (CommonMark 0.31, Code spans)."""
        backticks = opener[0]
        if backticks.startswith("~") or (backticks, end) in self._unclosed:
            return None
        closer = _exactly(backticks).search(self.text, opener.end(), end)
        if closer is None:
            # not searched for again, or the time would be quadratic
            self._unclosed.add((backticks, end))
        return closer

    def _definition(self, start: int) -> Construct | None:
        """Return the destination of a link reference definition, ``[label]: destination``; or None."""
        if not _begins_line(self.text, start):
            return None
        definition = _DEFINITION.match(self.text, start)
        if definition:
            return self._link(definition.end())
        return None

    def _link(self, start: int) -> Construct:
        """Return the destination that starts at ``start``."""
        end = _destination_end(self.text, start)
        return _in_destination(self.text, start, end), end


@cache
def _exactly(backticks: str) -> re.Pattern[str]:
    """Return the pattern of as many backticks, and no more."""
    return re.compile(f"(?<!`){backticks}(?!`)")


def _unescaped(token: re.Match[str]) -> str:
    """Return what readers see for an escape; nothing for ``<wbr>``."""
    text = token[0]
    if text.startswith("\\"):
        return text[1]
    if text.startswith("<"):
        return ""
    return unescaped(token)


def _begins_line(text: str, place: int) -> bool:
    """Return whether only the marks of quotations and few blanks are before ``place`` in its line."""
    line_break = text.rfind("\n", max(0, place - _LONGEST_MARGIN), place)
    if line_break < 0 and place >= _LONGEST_MARGIN:
        return False  # the line begins farther away
    return _MARGIN.fullmatch(text, line_break + 1, place) is not None


def _in_destination(text: str, start: int, end: int) -> Iterator[MentionSpan]:
    """Yield the mentions in a link's destination, with or without ``<…>``."""
    if text.startswith("<", start):
        start += 1
        if text[end - 1] == ">":
            end -= 1
    destination = VisibleText.replacing(text, (start, end), _ESCAPES, _unescaped)
    yield from destination.whole_or_mentions(link=True)


def _destination_end(text: str, start: int) -> int:
    """Return where a link's destination ends: after ``<…>``, or at white space or an unmatched bracket."""
    if text.startswith("<", start):
        in_angles = _IN_ANGLES.match(text, start, start + _LONGEST_DESTINATION)
        if in_angles is not None:
            return in_angles.end()

    depth = 0
    for token in _IN_DESTINATION.finditer(text, start):
        if token[0].isspace() or depth > _DEEPEST_PARENTHESES:
            return token.start()
        if token[0] == "(":
            depth += 1
        elif token[0] == ")":
            if depth == 0:
                return token.start()
            depth -= 1
    return len(text)
