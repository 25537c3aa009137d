"""BibTeX: the fields of entries, without comments and commented-out lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.readers._blank import blanked, may_mention
from doiuri_cli.readers._part import Part

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from doiuri_cli.files import Source

_SYNTAX = "bibtex"
# Outside of entries all is comment; after a percent sign, entries too
ENTRY = re.compile(r"@[ \t]*(?P<type>[A-Za-z]+)\s*(?P<open>[{(])\s*(?P<key>[^\s,{}()=\"@]*)\s*,?")
NEXT_ENTRY = re.compile(r"\n[ \t]*@[A-Za-z]+[ \t]*[{(]")
_COMMENTED_OUT = re.compile(r"[ \t]*%")
_IN_BRACES = r"[^{}\\]++|\\(?s:.)"
_BRACED = (
    rf"\{{(?>(?:{_IN_BRACES}|\{{(?>(?:{_IN_BRACES}|\{{(?>(?:{_IN_BRACES}|\{{[^{{}}\\]*\}})*)\}})*)\}})*)\}}"
)
_QUOTED = rf"\"(?>(?:[^{{}}\"\\]++|\\(?s:.)|{_BRACED})*)\""
_BETWEEN = r"(?>(?:[\s,]++|%[^\r\n]*)*)"  # fields
_NAME = re.compile(rf"{_BETWEEN}(?:(?P<name>[^\s=,{{}}()\"#%]+)\s*=\s*|(?P<close>[}})]))")
_PIECE = re.compile(rf"(?P<text>{_BRACED}|{_QUOTED})|(?P<macro>[^\s=,{{}}()\"#%]+)")
_OTHERS = re.compile(  # short fields that hold no DOI by their name
    rf"(?>(?:{_BETWEEN}(?!(?i:doi)[\s=])[^\s=,{{}}()\"#%]+\s*=\s*"
    rf"(?:\{{[^{{}}\\]{{0,100}}+(?>(?:\{{[^{{}}\\]{{0,100}}+\}}[^{{}}\\]{{0,100}}+){{0,9}})\}}|\"[^\"{{}}\\]{{0,100}}+\"|[0-9A-Za-z]++)"
    r"[ \t]*(?=[,}\r\n])(?!\s*\#)){0,200})"
)
_JOINED = re.compile(r"\s*#\s*")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
# Paths of files, which may look like names
_FILES = re.compile(r"(?<![\w-])(?:file|pdf|local-url)\s*=\s*(?:\{[^{}]*\}|\"[^\"]*\")", re.IGNORECASE)
_COMMENT_LINE = re.compile(r"\n[ \t]*%[^\r\n]*")


class _Piece(NamedTuple):
    """A piece of a value: a text in braces or quotation marks, or the text of a macro."""

    start: int
    end: int
    text: str | None
    """The text of a macro, None if it is what the file has."""


def read(source: Source) -> Iterator[Part]:
    """Return the fields of the entries: one for a DOI as a part of its own, what is between as one part."""
    return read_entries(source.text)


def read_entries(text: str) -> Iterator[Part]:
    """Return the parts of a text in BibTeX."""
    return _Reader(text).parts()


class _Reader:
    """Reads one file.

    An entry ends with its brace. If that is missing, or the entry is broken in another way, it ends before
    the next line that begins with an entry, and what is left of it is read as one text.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._limit = 0  # before the next line that begins with an entry
        self._macros: dict[str, str] = {}

    def parts(self) -> Iterator[Part]:
        text, position = self._text, 0
        while (entry := ENTRY.search(text, position)) is not None:
            line = text.rfind("\n", position, entry.start()) + 1 or position
            position = entry.end()
            if _COMMENTED_OUT.match(text, line):
                following = text.find("\n", entry.start())
                position = following if following >= 0 else len(text)
                continue
            limit = self._next_entry(position)
            match entry["type"].lower():
                case "comment" | "preamble":
                    position = closing(text, entry.start("open"), limit) or limit
                case "string":
                    position = self._string(entry.start("key"), limit)
                case _ if text.find("@", position, limit) < 0 and not may_mention(text[position:limit]):
                    position = limit
                case _:
                    position = yield from self._entry(entry, limit)

    def _next_entry(self, start: int) -> int:
        if self._limit < start:
            following = NEXT_ENTRY.search(self._text, start - 1)
            self._limit = following.start() + 1 if following else len(self._text)
        return self._limit

    def _entry(self, entry: re.Match[str], limit: int) -> Generator[Part, None, int]:
        """Yield the parts of an entry, and return where it ends."""
        text, key = self._text, entry["key"]
        last = position = entry.end()
        closed = False
        while others := _OTHERS.match(text, position, limit):
            position = others.end()
            name = _NAME.match(text, position, limit)
            if name is None:
                break
            if name["close"]:
                position, closed = name.end(), True
                break
            value = self._value(name.end(), limit)
            if value is None:
                break
            position = value[-1].end if value else name.end()
            if name["name"].lower() == "doi" and (field := _field(text, value, key)):
                yield from _between(text, last, name.start("name"), key)
                yield field
                last = position
        end = position if closed else limit
        yield from _between(text, last, end, key)
        return end

    def _value(self, start: int, limit: int) -> list[_Piece] | None:
        """Return the pieces of the value at ``start``, with their delimiters; None if it is broken."""
        pieces: list[_Piece] = []
        while True:
            piece = _PIECE.match(self._text, start, limit)
            end = piece.end() if piece else closing(self._text, start, limit)
            if end is None:
                return None
            pieces.append(_Piece(start, end, self._macro(piece["macro"]) if piece else None))
            joined = _JOINED.match(self._text, end, limit)
            if joined is None:
                return pieces
            start = joined.end()

    def _macro(self, name: str | None) -> str | None:
        if name is None:
            return None
        return name if name.isdecimal() else self._macros.get(name.lower(), "")

    def _string(self, start: int, limit: int) -> int:
        """Remember the macro that ``@string`` defines, and return where it ends."""
        name = _NAME.match(self._text, start, limit)
        value = self._value(name.end(), limit) if name and name["name"] else None
        if name is None or not value:
            return limit
        self._macros[name["name"].lower()] = "".join(
            self._text[piece.start + 1 : piece.end - 1] if piece.text is None else piece.text
            for piece in value
        )
        return value[-1].end


def _field(text: str, value: list[_Piece], key: str) -> Part | None:
    """Return the part for the value of a field for a DOI; None if it has a macro that is not known."""
    first = value[0]
    if len(value) == 1 and first.text is None:
        start, end = first.start + 1, first.end - 1
        while end - start > 1 and text[start] == "{" and closing(text, start, end) == end:
            start, end = start + 1, end - 1
        return Part(text[start:end], _SYNTAX, start, entry=key, field=True)
    content: list[str] = []
    places: list[int] = []
    for start, end, macro in value:
        if macro == "":
            return None
        content.append(text[start + 1 : end - 1] if macro is None else macro)
        places += range(start + 1, end - 1) if macro is None else [start] * len(macro)
    last = value[-1]
    return Part(
        "".join(content),
        _SYNTAX,
        places=(*places, last.end - (last.text is None)),
        entry=key,
        field=True,
    )


def _between(text: str, start: int, end: int, key: str) -> Iterator[Part]:
    """Yield the other fields of an entry as one part, if they may mention a DOI."""
    content = text[start:end]
    if may_mention(content):
        if "%" in content:
            content = blanked(content, (line.span() for line in _COMMENT_LINE.finditer(content)))
        if _names_file(content.lower()):
            content = blanked(content, (file.span() for file in _FILES.finditer(content)))
        yield Part(content, _SYNTAX, start, entry=key)


def _names_file(content: str) -> bool:
    return "file" in content or "pdf" in content or "local-url" in content  # faster than the expression


def closing(text: str, start: int, limit: int) -> int | None:
    """Return where the value ends that a brace opens at ``start``; None if nothing closes it."""
    if not text.startswith("{", start):
        return None
    depth = 0
    for brace in _BRACE.finditer(text, start, limit):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return brace.end()
    return None
