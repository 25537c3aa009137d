"""A text that Markdown has half done, as its author sees it: with characters in the place of markers."""

import html
import re
from bisect import bisect_left, bisect_right

from markdown_doiuri._stash import ENTITY, MARKER, STASHED, Stash, escaped

BOUNDARY = "\0"  # no name and no label holds it

_DELIMITERS = "*_~^=+"  # emphasis; mark, insert, tilde and caret of the usual extensions
_RUNS = "|".join(f"{re.escape(delimiter)}{re.escape(delimiter)}*" for delimiter in _DELIMITERS)
# Math as MathJax and KaTeX read it in a page: no blank inside the dollars, no word outside
_MATH = r"\$(?<![\w\\$]\$)(?:\$(?=[^\s$])[^$]*+(?<=\S)\$\$|(?=[^\s$])[^$]*+(?<=\S)\$)(?![\w$])"
_ATTRIBUTES = r"\{(?:[:.#]|[ ]+[.#])[^{}\n]*\}"
# Each alternative begins with a plain character: that makes the search fast
_SPECIAL = re.compile(f"{STASHED}|{MARKER}|{ENTITY}|{_RUNS}|{_MATH}|{_ATTRIBUTES}")
_ANY_SPECIAL = re.compile(r"[\x02&*_~^=+${]")
_BEFORE_OPENING = frozenset(" \t\n([{\"'“‘«„‚—–>\x03" + _DELIMITERS)
_MENTION = re.compile(r"doi|10\.|hdl:|info:|urn:", re.IGNORECASE)
# <page:title> of a SICI, which Markdown takes for a tag; a version with a digit follows it
_SICI = re.compile(r"<[^<>\s/\"'=]*:[^<>\s/\"'=]*>")


class View:
    """``text``: code, links and math are boundaries in it, tags and emphasis blanks; and the way back."""

    def __init__(self, data: str, stash: Stash) -> None:
        self._data = data
        self._stash = stash
        self._nodes = stash.nodes
        self._opened: dict[str, int] = {}
        self._pieces: list[tuple[int, int, int]] = []  # end in the text, start and end in the data
        self._starts: list[int] = []  # in the text
        self._blanks: list[int] = []
        self.text = (self._build() if _ANY_SPECIAL.search(data) else data).replace("\n", " ")

    def _build(self) -> str:
        parts: list[str] = []
        size = last = 0
        for special in _SPECIAL.finditer(self._data):
            text = self._read(special)
            if text == special[0]:
                continue
            start, end = special.span()
            parts += self._data[last:start], text
            size += start - last
            if text == " ":
                self._blanks.append(size)
            self._starts.append(size)
            size += len(text)
            self._pieces.append((size, start, end))
            last = end
        return "".join(parts) + self._data[last:] if parts else self._data

    def _read(self, special: re.Match[str]) -> str:
        """Return what stands for ``special`` in the text."""
        source = special[0]
        match source[0]:
            case "&":
                return html.unescape(source) or BOUNDARY
            case "{":
                return BOUNDARY if self._stash.attribute_lists() else source
            case "$":
                return BOUNDARY
            case "\x02":
                return self._stashed(special)
        return " " if self._delimits(special) else source

    def _stashed(self, marker: re.Match[str]) -> str:
        node = self._nodes.get(marker[1])
        if not isinstance(node, str):
            return BOUNDARY
        if character := escaped(node):
            return character
        tag = self._stash.raw_html(node)
        sici = _SICI.fullmatch(tag) and self._data[marker.end() : marker.end() + 1].isdecimal()
        return tag if sici else " " if tag else BOUNDARY

    def _delimits(self, run: re.Match[str]) -> bool:
        """Tell whether ``run`` ends what an earlier run began, or begins right before a mention."""
        start, end = run.span()
        delimiter = run[0][0]
        before = self._data[start - 1 : start] if start else " "
        after = self._data[end : end + 1] or " "
        opened = self._opened.get(delimiter, 0)
        if opened and not before.isspace() and (delimiter == "*" or not after.isalnum()):
            self._opened[delimiter] = max(0, opened - (end - start))
            return True
        # beyond ASCII what has no case: the signs and the letters of scripts that need no space here
        opens = before in _BEFORE_OPENING or (not before.isascii() and before.lower() == before.upper())
        if not opens or after.isspace():
            return False
        self._opened[delimiter] = opened + end - start
        return _MENTION.match(self._data, end) is not None

    def place(self, position: int) -> int | None:
        """Return the position in the data, or None inside what is one thing there."""
        index = bisect_right(self._starts, position) - 1
        if index < 0:
            return position
        text_end, start, end = self._pieces[index]
        if position == self._starts[index]:
            return start
        return end + position - text_end if position >= text_end else None

    def broken(self, start: int, end: int) -> bool:
        """Tell whether a tag or emphasis begins or ends between ``start`` and ``end``."""
        return bisect_left(self._blanks, start) < bisect_left(self._blanks, end)
