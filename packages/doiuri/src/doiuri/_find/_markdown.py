"""DOIs in Markdown: CommonMark's escapes, entities, links, autolinks and code; raw HTML."""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import TYPE_CHECKING, ClassVar

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
from doiuri._find._markup import Rendered, Scanner, a_name
from doiuri._patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri._find._markup import Part
    from doiuri._find._plain import Mention

_ESCAPE = rf"\\[!-/:-@\[-`{{-~]|{ENTITY}|{INVISIBLE_ONE}"
_ESCAPES = lazy(_ESCAPE, re.IGNORECASE)
_DEFINITION = lazy(r"\[(?!\^)[^\]\n]{1,999}\]:[ \t]*\n?[ \t]*")
_MARGIN = 12  # characters before the first one of a line: blanks, quotation marks, a list's marker
_BLANKS = lazy(r"[ >]*")
_BLANKS_OR_MARKER = lazy(r"[ >]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?")
_IN_DESTINATION = lazy(r"\\.|[()\s]")
_IN_ANGLES = lazy(r"<[^\\<>\n]*+(?:\\.[^\\<>\n]*+)*>")
_LONGEST = 2000  # characters of a destination in angle brackets
_DEEPEST = 32  # brackets within brackets in a destination, as in CommonMark's reference implementation
_INFO = 200  # characters after a fence that are looked at
_FENCE = lazy(rf"(?:```+|~~~+)(?![^`\n]{{0,{_INFO}}}`)")
_NO_FENCE = (sys.maxsize, sys.maxsize, sys.maxsize)


class Markdown(Scanner):
    """CommonMark."""

    names = (lazy(a_name(rf"(?:{AMPERSAND}|\\|{INVISIBLE_ONE}|<wbr)")), ENTITY_OF_1)
    # Before a list item, a row, a heading, a fence or a blank line
    boundary = lazy(r"\n(?=[ \t>]*+(?:[-*+][ \t]|[|#]|```|~~~|\r?(?:\n|\Z)))")
    first = lazy(f"[\\\\&<`~\\[\\]{INVISIBLE}]")
    token = lazy(
        rf"(?P<escape>{_ESCAPE}|<wbr\s*/?>)"
        r"|(?P<code>`+|~{3,})"
        r"|(?P<label>\[(?<![^\n >]\[)(?<![^\n >][ >]\[))"  # may begin a line
        r"|(?P<link>\]\([ \t\n]*)"
        r"|(?P<auto><(?:https?:|//|doi:|info:|urn:|hdl:)[^<>\s]*>)"
        rf"|(?P<tag>{TAG})",
        re.IGNORECASE,
    )
    delimiters: ClassVar = {")": ("](", " ("), ">": ("<",), "`": (" `", "(`", "\n`")}

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._fences = _fences(text)
        self._fence = 0, 0, 0  # the next one, or the one that was read last
        self._unclosed: set[tuple[str, int]] = set()  # backticks that nothing closes before an end

    def block(self, begin: int, place: int) -> tuple[int, int]:
        while self._fence[2] <= place:
            begin = max(begin, self._fence[2])
            self._fence = next(self._fences, _NO_FENCE)
        return (self._fence[0], self._fence[2]) if self._fence[0] <= place else super().block(begin, place)

    def meaning(self, token: re.Match[str], end: int) -> str | Part | None:
        text, (start, after) = self.text, token.span()
        match token.lastgroup:
            case "escape":
                return _unescaped(token)
            case "label":
                definition = _DEFINITION.match(text, start) if _begins_line(text, start, _BLANKS) else None
                return self._link(definition.end()) if definition else None
            case "code" if start == self._fence[0]:
                return Rendered(text, after, self._fence[1]).whole_or_mentions(), self._fence[2]
            case "code":
                stop, closer_end = self._closer(token, end)
                return Rendered(text, after, stop).whole_or_mentions(), closer_end
            case "tag":
                return in_tag(text, start, after), after
            case "auto":
                return _in_destination(text, start + 1, after - 1), after
            case _:
                return self._link(after)

    def _closer(self, opener: re.Match[str], end: int) -> tuple[int, int]:
        """Return the span of what closes the code before ``end``; if nothing does, that after the opener."""
        backticks, after = opener[0], opener.end()
        if backticks[0] == "`" and (backticks, end) not in self._unclosed:
            closer = _run(backticks).search(self.text, after, end)
            if closer:
                return closer.span()
            self._unclosed.add((backticks, end))
        return after, after

    def _link(self, start: int) -> Part:
        end = _destination_end(self.text, start)
        return _in_destination(self.text, start, end), end


@cache
def _run(backticks: str) -> re.Pattern[str]:
    return re.compile(f"(?<!`){backticks}(?!`)")


def _unescaped(token: re.Match[str]) -> str:
    mark = token[0]
    if mark[0] == "\\":
        return mark[1]
    return "" if mark[0] == "<" else unescaped(token)


def _fences(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield where each fenced code block starts, where its code ends and where the closing fence ends."""
    end = 0
    while (fence := _FENCE.search(text, end)) is not None:
        end = fence.end()
        if _begins_line(text, fence.start(), _BLANKS_OR_MARKER):
            closing = re.compile(rf"\n[ \t>]*{fence[0]}{fence[0][0]}*[ \t]*\r?$", re.MULTILINE)
            closer = closing.search(text, end)
            stop, end = (closer.start() + 1, closer.end()) if closer else (len(text), len(text))
            yield fence.start(), stop, end


def _begins_line(text: str, place: int, margin: re.Pattern[str]) -> bool:
    """Return whether only a ``margin`` is before ``place`` in its line."""
    _, line_end, before = text[max(0, place - _MARGIN) : place].rpartition("\n")
    return (bool(line_end) or place < _MARGIN) and margin.fullmatch(before) is not None


def _in_destination(text: str, start: int, end: int) -> Iterator[Mention]:
    if text.startswith("<", start):
        start, end = start + 1, end - (text[end - 1] == ">")
    yield from Rendered.replacing(text, (start, end), _ESCAPES, _unescaped).whole_or_mentions(link=True)


def _destination_end(text: str, start: int) -> int:
    """Return where a link's destination ends: after ``<…>``, or at white space or an unmatched bracket."""
    if text.startswith("<", start) and (delimited := _IN_ANGLES.match(text, start, start + _LONGEST)):
        return delimited.end()
    depth = 0
    position = start
    while (stop := _IN_DESTINATION.search(text, position)) is not None:
        position = stop.end()
        if stop[0].isspace() or (stop[0] == ")" and depth == 0) or depth > _DEEPEST:
            return stop.start()
        depth += {"(": 1, ")": -1}.get(stop[0], 0)
    return len(text)
