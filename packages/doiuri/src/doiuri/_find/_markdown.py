"""DOIs in Markdown: CommonMark's escapes, entities, links, autolinks and code; raw HTML."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING

from doiuri._find._html import (
    AMPERSAND,
    ENTITY,
    INVISIBLE,
    INVISIBLE_ONE,
    NO_ENTITY_OF_1,
    TAG,
    TAG_WITHOUT_NAMES,
    in_tag,
    unescaped,
)
from doiuri._find._patterns import lazy
from doiuri._find._plain import SIMPLE, simple_value
from doiuri._find._rendered import Rendered
from doiuri._find._scan import MOST, Scanner, no_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri._find._plain import Mention
    from doiuri._find._scan import Part

_ESCAPE = rf"\\[!-/:-@\[-`{{-~]|{ENTITY}|{INVISIBLE_ONE}"
_ESCAPES = lazy(_ESCAPE, re.IGNORECASE)
_DEFINITION = lazy(r"\[(?!\^)[^\]\n]{1,999}\]:[ \t]*\n?[ \t]*")
_MARGIN = 12  # blanks and quotation marks before the first character of a line
_IN_DESTINATION = lazy(r"\\.|[()\s]")
_IN_ANGLES = lazy(r"<[^\\<>\n]*+(?:\\.[^\\<>\n]*+)*>")
_LONGEST = 2000  # characters of a destination in angle brackets
_DEEPEST = 32  # brackets within brackets in a destination, as in CommonMark's reference implementation
_FENCE = 3  # characters of the shortest fence of a code block
_INFO = 200  # characters after a fence that are looked at
_BACKTICKS = lazy("`+")
_NEARBY = 1000  # how far the end of a code span is looked for before all are listed

# For skipping
_NO_NAME = no_name(rf"(?:{AMPERSAND}|\\|{INVISIBLE_ONE}|<wbr)")
# In parts any "&" may continue a name: that is rare there, and the pattern stands there many times
_NO_NAME_IN_PART = no_name(r"(?:[&\\\xad]|[\u200b\u2060]|\ufeff|<wbr)")
_IN_LINK = rf"(?>(?:[^\s()<>\\&1{INVISIBLE}]++|{_NO_NAME_IN_PART}|{NO_ENTITY_OF_1}){{0,{MOST}}})"
_ORDINARY = r"[^\\&<`~\[\]1]*+"
_RUNNING = (
    rf"{_ORDINARY}(?>(?:(?:{_NO_NAME}|{NO_ENTITY_OF_1}|\\(?:[!-/:-@\[-`{{-~]|(?![!-/:-@\[-`{{-~]))"
    r"|\[(?:(?<=[^\n >]\[)|(?<=[^\n >][ >]\[)|(?=[^\]\n]{0,99}+(?:\n|\](?!:))))"  # starts no definition
    rf"|\](?!\()|~{{1,2}}+(?!~)|<(?![/!?]?[A-Za-z]|//)){_ORDINARY}){{0,{MOST}}})"
)
_LINK_START = r"(?:\]\([ \t\n]*+|(?<=\n)\[(?!\^)[^\]\n]{1,99}\]:[ \t]*+(?=\S))"
_PART = (
    rf"(?:{_LINK_START}{_IN_LINK}(?>(?:\({_IN_LINK}\){_IN_LINK}){{0,{MOST}}})(?=[\s)])|<https?:{_IN_LINK}>"
    rf"|`(?!`)[^`1]*+(?>(?:{_NO_NAME_IN_PART}[^`1]*+){{0,{MOST}}})`(?!`)|``(?!`)(?>(?:[^`1]++|`(?!`)|{_NO_NAME_IN_PART}){{0,{MOST}}})``(?!`)"
    rf"|```(?<=\n```)[A-Za-z0-9_ -]*+\n(?>(?:[^`1]++|`(?!``)|{_NO_NAME_IN_PART}){{0,{MOST}}})"
    r"(?<=\n)```[ \t]*+(?=\n)"
    rf"|{TAG_WITHOUT_NAMES})"
)


class Markdown(Scanner):
    """CommonMark."""

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
    running = lazy(_RUNNING)
    skipped = lazy(rf"(?:{_RUNNING}{_PART}){{0,{MOST}}}")
    frequent = lazy(
        rf"(?:\]\([ \t\n]*+(?=[^\s()<>`]++[\s)])|<(?=(?:https?|doi):[^\s()<>`]++>)"
        rf"|`(?=[^\s()<>`]++`(?!`))){SIMPLE}(?:[>`]|(?=[\s)]))"
    )

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._code = _Code(text)

    def replacement(self, token: re.Match[str]) -> str | None:
        return _unescaped(token) if token.lastgroup == "escape" else None

    def part(self, token: re.Match[str]) -> Part | None:
        start, end = token.span()
        match token.lastgroup:
            case "label":
                definition = _DEFINITION.match(self.text, start) if _begins_line(self.text, start) else None
                return self._link(definition.end()) if definition else None
            case "code":
                stop, after = self._code.end(token)
                return Rendered(self.text, end, stop).whole_or_mentions(), after
            case "tag":
                return in_tag(self.text, start, end), end
            case "auto":
                return _in_destination(self.text, start + 1, end - 1), end
            case _:
                return self._link(end)

    def _link(self, start: int) -> Part:
        end = _destination_end(self.text, start)
        return _in_destination(self.text, start, end), end


def _unescaped(token: re.Match[str]) -> str:
    mark = token[0]
    if mark[0] == "\\":
        return mark[1]
    return "" if mark[0] == "<" else unescaped(token)


def _begins_line(text: str, place: int) -> bool:
    """Return whether only blanks and quotation marks are before ``place`` in its line."""
    margin = text[max(0, place - _MARGIN) : place]
    _, line_end, blanks = margin.rpartition("\n")
    return not blanks.strip(" >") and (bool(line_end) or place < _MARGIN)


def _in_destination(text: str, start: int, end: int) -> Iterator[Mention]:
    if text.startswith("<", start):
        start, end = start + 1, end - (text[end - 1] == ">")
    if simple := simple_value(text, start, end):
        return iter((simple,))
    return Rendered.replacing(text, (start, end), _ESCAPES, _unescaped).whole_or_mentions(link=True)


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


class _Code:
    """Where code spans and fenced code blocks of a text end, in linear time."""

    def __init__(self, text: str) -> None:
        self._text = text

    def end(self, opener: re.Match[str]) -> tuple[int, int]:
        """Return where the code ends and where its closer ends; twice the opener's end if there is none."""
        if len(opener[0]) >= _FENCE and _begins_line(self._text, opener.start()):
            info = self._text[opener.end() : opener.end() + _INFO].partition("\n")[0]
            if "`" not in info:
                return self._fence_end(opener[0], opener.end())
        return self._span_end(opener[0], opener.end())

    def _fence_end(self, fence: str, start: int) -> tuple[int, int]:
        closer = re.compile(rf"\n[ >]*{fence}{fence[0]}*[ \t]*\r?$", re.MULTILINE).search(self._text, start)
        return (closer.start() + 1, closer.end()) if closer else (len(self._text), len(self._text))

    def _span_end(self, backticks: str, start: int) -> tuple[int, int]:
        if backticks[0] != "`":
            return start, start
        limit = start + _NEARBY
        closer = re.compile(f"(?<!`){backticks}(?!`)").search(self._text, start, limit)
        if closer and closer.end() < limit:
            return closer.span()
        starts = self._runs.get(len(backticks), [])
        index = bisect_left(starts, start)
        if index == len(starts):
            return start, start
        return starts[index], starts[index] + len(backticks)

    @cached_property
    def _runs(self) -> dict[int, list[int]]:
        """Where the runs of backticks start, by their length."""
        runs: dict[int, list[int]] = {}
        for run in _BACKTICKS.finditer(self._text):
            runs.setdefault(len(run[0]), []).append(run.start())
        return runs
