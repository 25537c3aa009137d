"""BibTeX: the fields of entries, without comments and commented-out lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.readers._blank import blanked, may_mention
from doiuri_cli.readers._part import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source

_SYNTAX = "bibtex"
# Outside of entries all is comment; after a percent sign, entries too
ENTRY = re.compile(
    r"@[ \t]*(?P<type>[A-Za-z]+)\s*(?P<open>[{(])\s*(?P<key>(?:[^\s,{}=\"@][^\s,{}=\"]*)?)\s*,?"
)
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
_NOTHING = re.compile("")
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


class Field(NamedTuple):
    """A field of an entry.

    :ivar name: its name, in lower case.
    :ivar start: where the name starts.
    :ivar value: the pieces of its value.
    """

    name: str
    start: int
    value: list[_Piece]


def read(source: Source) -> Iterator[Part]:
    """Return the fields of the entries: one for a DOI as a part of its own, what is between as one part."""
    return Reader(source.text).parts()


class Reader:
    """Reads one file.

    An entry ends with its brace. If that is missing, or the entry is broken in another way, it ends before
    the next line that begins with an entry, and what is left of it is read as one text.

    :ivar end: where the last entry ends, once its fields are read.
    :ivar is_closed: whether it ends with its brace.
    """

    def __init__(self, text: str) -> None:
        self.end = 0
        self.is_closed = False
        self._text = text
        self._limit = 0  # before the next line that begins with an entry
        self._macros: dict[str, str] = {}

    def parts(self) -> Iterator[Part]:
        """Yield the fields of entries: one for a DOI as a part of its own, what is between as one part."""
        for entry, limit in self.entries():
            if self._text.find("@", self.end, limit) < 0 and not may_mention(self._text[self.end : limit]):
                self.end = limit
            else:
                yield from self._parts(entry, limit)

    def entries(self) -> Iterator[tuple[re.Match[str], int]]:
        """Yield how each entry begins, and where it ends at the latest; the next one begins at ``end``."""
        text = self._text
        while (entry := ENTRY.search(text, self.end)) is not None:
            line = text.rfind("\n", self.end, entry.start()) + 1 or self.end
            self.end = entry.end()
            if _COMMENTED_OUT.match(text, line):
                following = text.find("\n", entry.start())
                self.end = following if following >= 0 else len(text)
                continue
            limit = self._next_entry(self.end)
            match entry["type"].lower():
                case "comment" | "preamble":
                    self.end = closing(text, entry.start("open"), limit) or limit
                case "string":
                    self.end = self._string(entry.start("key"), limit)
                case _:
                    yield entry, limit

    def fields(self, limit: int, passed: re.Pattern[str] = _NOTHING) -> Iterator[Field]:
        """Yield the fields of the entry that ``entries`` yielded last.

        :param limit: where it ends at the latest.
        :param passed: matches fields that are passed over.
        """
        position = self.end
        self.end, self.is_closed = limit, False
        while others := passed.match(self._text, position, limit):
            name = _NAME.match(self._text, others.end(), limit)
            if name is None:
                return
            if name["close"]:
                self.end, self.is_closed = name.end(), True
                return
            value = self._value(name.end(), limit)
            if value is None:
                return
            yield Field(name["name"].lower(), name.start("name"), value)
            position = value[-1].end

    def text_of(self, value: list[_Piece]) -> str:
        """Return the text of a value, with macros replaced; one that is not known is empty."""
        pieces = (self._text[start + 1 : end - 1] if text is None else text for start, end, text in value)
        return "".join(pieces)

    def _next_entry(self, start: int) -> int:
        if self._limit < start:
            following = NEXT_ENTRY.search(self._text, start - 1)
            self._limit = following.start() + 1 if following else len(self._text)
        return self._limit

    def _parts(self, entry: re.Match[str], limit: int) -> Iterator[Part]:
        text, key, last = self._text, entry["key"], entry.end()
        for field in self.fields(limit, _OTHERS):
            if field.name == "doi" and (part := _field(text, field.value, key)):
                yield from _between(text, last, field.start, key)
                yield part
                last = field.value[-1].end
        yield from _between(text, last, self.end, key)

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
        self._macros[name["name"].lower()] = self.text_of(value)
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
