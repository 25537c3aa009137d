"""DOIs in Markdown: CommonMark's escapes, entities, links, autolinks, code; raw HTML."""

import re
from bisect import bisect_left

from doiuri._find._html import ENTITY, INVISIBLE, TAG, in_tag, shown
from doiuri._find._rendered import View, next_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri._find._plain import Found
    from doiuri._find._rendered import Edit

_EDIT = rf"\\[!-/:-@\[-`{{-~]|{ENTITY}|[{INVISIBLE}]"
_TOKEN = re.compile(
    rf"(?P<edit>{_EDIT}|<wbr\s*/?>)"
    r"|(?P<code>`+|~{3,})"
    r"|(?P<label>\[)"
    r"|(?P<link>\]\([ \t\n]*)"
    r"|(?P<auto><(?:https?:|//|doi:|info:|urn:|hdl:)[^<>\s]*>)"
    rf"|(?P<tag>{TAG})",
    re.IGNORECASE,
)
_FIRST = re.compile(f"[\\\\&<`~\\[\\]{INVISIBLE}]")
_DEFINITION = re.compile(r"\[(?!\^)[^\]\n]{1,999}\]:[ \t]*\n?[ \t]*")
_MARGIN = 12  # blanks and quotation marks before the first character of a line
_EDITS = re.compile(_EDIT, re.IGNORECASE)
_IN_DESTINATION = re.compile(r"\\.|[()\s]")
_IN_ANGLES = re.compile(r"<(?:\\.|[^\\<>\n])*+>")
_LONGEST = 2000  # characters of such a destination
_DEEPEST = 32  # brackets within brackets in a destination, as in CommonMark's own readers
_FENCE = 3  # the shortest fence of a code block
_INFO = 200  # of what follows a fence in its line, as much as is looked at
_RUN = re.compile("`+")


def found(text: str) -> "Iterator[Found]":
    """Yield start, end and DOI of each mention in Markdown."""
    marks = _Marks(text)
    begin = position = 0
    edits: list[Edit] = []
    while (token := next_token(text, position, _FIRST, _TOKEN)) is not None:
        start, position = token.span()
        kind = token.lastgroup
        if kind == "edit":
            edits.append((start, position, _shown(token[0])))
            continue
        if kind == "label":
            definition = _DEFINITION.match(text, start) if _begins_line(text, start) else None
            if definition is None:
                continue
            position = definition.end()
        yield from View(text, begin, start, edits).names()
        edits = []
        if kind == "tag":
            yield from in_tag(text, start, position)
        elif kind == "auto":
            yield from _destination(text, start + 1, position - 1)
        elif kind == "code":
            end, after = marks.end(token)
            yield from _code(text, position, end)
            position = after
        else:
            end = _destination_end(text, position)
            yield from _destination(text, position, end)
            position = end
        begin = position
    yield from View(text, begin, len(text), edits).names()


def _begins_line(text: str, place: int) -> bool:
    """Return whether only blanks and quotation marks are before ``place`` in its line."""
    margin = text[max(0, place - _MARGIN) : place]
    _, line_end, blanks = margin.rpartition("\n")
    return not blanks.strip(" >") and (bool(line_end) or place < _MARGIN)


def _shown(mark: str) -> str:
    if mark[0] == "\\":
        return mark[1]
    return "" if mark[0] == "<" else shown(mark)


def _code(text: str, start: int, end: int) -> "Iterator[Found]":
    """Yield the mentions in code, where nothing is an escape."""
    view = View(text, start, end)
    found = view.whole()
    if found is not None:
        yield found
    else:
        yield from view.names()


def _destination(text: str, start: int, end: int) -> "Iterator[Found]":
    if text.startswith("<", start):
        start, end = start + 1, end - (text[end - 1] == ">")
    edits = [(*edit.span(), _shown(edit[0])) for edit in _EDITS.finditer(text, start, end)]
    view = View(text, start, end, edits)
    found = view.whole(link=True)
    if found is not None:
        yield found
    else:
        yield from view.names()


def _destination_end(text: str, start: int) -> int:
    """Return the end of a link's destination: after ``<…>``, else at white space or a bracket too many."""
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


class _Marks:
    """The code of a text: where it ends, in linear time."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._runs: dict[int, list[int]] = {}

    def end(self, token: re.Match[str]) -> tuple[int, int]:
        """Return where the code ends that ``token`` opens, and its closer; or twice the token's own end."""
        if len(token[0]) >= _FENCE and _begins_line(self._text, token.start()):
            rest = self._text[token.end() : token.end() + _INFO].partition("\n")[0]
            if "`" not in rest:
                return self._fence_end(token[0], token.end())
        return self._span_end(token[0], token.end())

    def _fence_end(self, mark: str, start: int) -> tuple[int, int]:
        closer = re.compile(rf"^[ >]*{mark}{mark[0]}*[ \t]*$", re.MULTILINE).search(self._text, start)
        return closer.span() if closer else (len(self._text), len(self._text))

    def _span_end(self, mark: str, start: int) -> tuple[int, int]:
        if not self._runs:
            for run in _RUN.finditer(self._text):
                self._runs.setdefault(len(run[0]), []).append(run.start())
        starts = self._runs.get(len(mark), []) if mark[0] == "`" else []
        index = bisect_left(starts, start)
        if index == len(starts):
            return start, start
        return starts[index], starts[index] + len(mark)
