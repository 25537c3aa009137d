"""DOIs in BibTeX and LaTeX: escapes undone, protective braces dropped, fields broken over a line joined."""

import re

from doiuri._find._rendered import View, next_token
from doiuri._find._tex import EDIT, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri._find._plain import Found
    from doiuri._find._rendered import Edit

_FIRST = re.compile(r"[\\{}$~=]")
_TOKEN = re.compile(
    r"(?P<delimited>\\(?P<command>url|href|doi|path|nolinkurl)[ \t]*\{|=\s*[{\"])"
    rf"|(?P<edit>{EDIT})|(?P<brace>[{{}}])|(?P<tie>~+)|(?P<stop>\\(?:[A-Za-z]+\*?\{{?|.))",
    re.DOTALL,
)
_FIELD = re.compile(r"(?<![A-Za-z_-])(doi|url|ee|link)\Z", re.IGNORECASE)
_FIELD_LENGTH = 50  # with the white space before the "="
_IN_VALUE = re.compile(rf"(?P<edit>{EDIT})|[{{}}]|[ \t]*[\r\n]\s*", re.DOTALL)
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_QUOTED = re.compile(r"(?:\\.|[^\"\\])*+", re.DOTALL)
_NOT_IN_NAMES = frozenset(["", " ", "=", "{", ",", "\n", '"'])
# Beyond, a value is prose; and as values hold values, time stays linear
_LONGEST_VALUE = 1000
_MOST_BRACES = 20
_NAME_LENGTH = 200  # how far back the name is looked for that a brace stands in


def found(text: str) -> "Iterator[Found]":
    """Yield start, end and DOI of each mention in BibTeX or LaTeX."""
    closers = _closers(text)
    begin = position = 0
    reader = _Braces(text, closers)
    edits: list[Edit] = []
    while (token := next_token(text, position, _FIRST, _TOKEN)) is not None:
        start, position = token.span()
        field = _field(text, start) if text[start] == "=" else None
        if text[start] == "=" and field is None:
            position = start + 1
            continue
        if token["edit"] or token["tie"]:  # in prose "~" is a blank, in a value or a URL it is itself
            edits.append((start, position, " " if token["tie"] else shown(token)))
            continue
        if token["brace"]:
            if reader.is_protective(start):
                edits.append((start, position, ""))
            continue
        yield from View(text, begin, start, edits).names()
        edits = []
        begin = position
        end = _value_end(text, position, closers) if token["delimited"] else position
        if end > position and _may_be_one(text, position, end):
            while position < end and text[position] == "{" and closers.get(position) == end - 1:
                position, end = position + 1, end - 1
            view = View(text, position, end, _value_edits(text, position, end))
            label = field or token["command"]
            whole = view.whole(labelled=label == "doi")
            if whole is not None:
                yield whole
                begin = position = end
    yield from View(text, begin, len(text), edits).names()


def _closers(text: str) -> dict[int, int]:
    """Return for each opening brace that is closed where it is."""
    closers: dict[int, int] = {}
    opened: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif brace[0] == "}" and opened:
            closers[opened.pop()] = brace.start()
    return closers


def _value_end(text: str, start: int, closers: dict[int, int]) -> int:
    """Return where the value ends whose delimiter is just before ``start``."""
    if text[start - 1] == "{":
        return closers.get(start - 1, start)
    quoted = _QUOTED.match(text, start)
    return quoted.end() if quoted else start


def _field(text: str, place: int) -> str | None:
    """Return the name of the field whose "=" is at ``place``, if DOIs stand in such."""
    before = text[max(0, place - _FIELD_LENGTH) : place].rstrip()
    field = _FIELD.search(before, max(0, len(before) - len("link")))
    return field[1].lower() if field else None


def _may_be_one(text: str, start: int, end: int) -> bool:
    """Return whether a value is worth a look: it may be one DOI, and is no prose."""
    short = end - start <= _LONGEST_VALUE and text.count("{", start, end) <= _MOST_BRACES
    return short and text.find("10", start, end) >= 0


def _value_edits(text: str, start: int, end: int) -> "list[Edit]":
    return [
        (*mark.span(), shown(mark) if mark["edit"] else "") for mark in _IN_VALUE.finditer(text, start, end)
    ]


class _Braces:
    """Which braces only protect a part of a name, as in ``10.1000/{ABC}``: TeX does not show them."""

    def __init__(self, text: str, closers: dict[int, int]) -> None:
        self._text = text
        self._closers = closers
        self._closing: set[int] = set()

    def is_protective(self, place: int) -> bool:
        if self._text[place] == "}":
            return place in self._closing
        if self._text[place - 1 : place] in _NOT_IN_NAMES:
            return False
        window = self._text[max(0, place - _NAME_LENGTH) : place]
        name = window[max(window.rfind("10."), 0) :]
        if not name.startswith("10.") or any(mark in name for mark in ' \t\r\n"'):
            return False
        if name[-1] == "}" and place - 1 not in self._closing:
            return False
        closer = self._closers.get(place)
        if closer is None:
            return False
        self._closing.add(closer)
        return True
