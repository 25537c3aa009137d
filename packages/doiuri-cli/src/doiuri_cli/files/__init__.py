"""Files: lossless text, and safe replacement.

Encoding, byte order mark and line ends stay known.
"""

from __future__ import annotations

import codecs
import re
from array import array
from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from sys import intern
from typing import NamedTuple

from doiuri_cli.files._select import Patterns, is_pattern

__all__ = [
    "LineColumn",
    "Lines",
    "Patterns",
    "Region",
    "Source",
    "SourceLocation",
    "is_pattern",
    "region_of",
    "replace_file",
]


Region = tuple[int, int, int, int]  # line, column, end line and end column

_MARGIN = 500  # characters of a line that an excerpt keeps before a place; after it, twice as many
_LINE_END = re.compile(r"\r\n?|\n")
# The longer mark first: that of UTF-32 begins like that of UTF-16
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ASCII = "".join(map(chr, range(0x20, 0x7F)))
_PYTHON = (".py", ".pyi", ".pyw")
_COOKIE = re.compile(
    rb"""
    (?: [ \t\f]* (?: \# [^\r\n]* )? (?: \r\n? | \n ) )?         # the first line has no code
    [ \t\f]* \# [^\r\n]*? coding[:=] [ \t]* ([-\w.]{1,99})
    """,
    re.VERBOSE,
)


class LineColumn(NamedTuple):
    """The line and the column of a character."""

    line: int
    """The line, from 1."""

    column: int
    """The character in the line, from 1."""


class Lines:
    """The lines of a text, to tell positions from offsets. Lines end with CR, LF or both."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = array("q", [0])  # a list takes four times the memory
        self._starts.extend(end.end() for end in _LINE_END.finditer(text))

    def position(self, offset: int) -> LineColumn:
        """Return the line and the column of a character."""
        line = bisect_right(self._starts, offset)
        return LineColumn(line, offset - self._starts[line - 1] + 1)

    @property
    def count(self) -> int:
        """The number of lines; what follows the last line end counts as one, even if it is empty."""
        return len(self._starts)

    def offset(self, line: int, column: int) -> int:
        """Return the offset in the text of a position."""
        return self._starts[line - 1] + column - 1

    def line(self, number: int, first: int = 1, last: int | None = None) -> str:
        """Return a line without its end, or a piece of it.

        :param number: the number of the line, from 1.
        :param first: the column of the first character.
        :param last: the column of the last character; by default, that of the line.
        """
        start = self._starts[number - 1]
        end = self._starts[number] if number < len(self._starts) else len(self._text)
        if last is not None:
            end = min(end, start + last)
        return self._text[start + first - 1 : end].rstrip("\r\n")


class SourceLocation(NamedTuple):
    """Where a piece of a file is. Lines and columns count characters from 1, in a notebook within the cell."""

    path: str  # the file, as the user gave it or as found in a folder
    line: int  # the line on which it starts
    column: int  # the column of its first character
    end_line: int  # the line on which it ends
    end_column: int  # the column after its last character
    cell: int | None = None  # the number of the notebook's cell, from 1
    entry: str | None = None  # the key of the entry in a bibliography
    # the line on which it starts; of a very long line, the piece around the place
    excerpt: str = ""
    excerpt_column: int = 1  # the column of the excerpt's first character
    in_file: Region | None = None  # where it is in the notebook's file; None for other files

    @property
    def region(self) -> Region:
        """Line, column, end line and end column in the file, for a notebook too."""
        return self.in_file or (self.line, self.column, self.end_line, self.end_column)

    @classmethod
    def in_text(
        cls,
        lines: Lines,
        path: str,
        start: int,
        end: int,
        *,
        cell: int | None = None,
        entry: str | None = None,
        in_file: Region | None = None,
    ) -> SourceLocation:
        """Return where a piece of a text is.

        :param lines: the lines of the text: the file, or a notebook's cell.
        :param start: offset in the text of the piece's first character.
        :param end: offset after its last character.
        """
        region = region_of(lines, start, end)
        line, column, _, _ = region

        # A copy of the whole line for each location would take quadratic time and memory
        first = max(1, column - _MARGIN)
        excerpt = intern(lines.line(line, first, column + 2 * _MARGIN))
        return cls(path, *region, cell, entry, excerpt, first, in_file)


def region_of(lines: Lines, start: int, end: int) -> Region:
    """Return where a piece of a text starts and ends, by its offsets."""
    return *lines.position(start), *lines.position(end)


@dataclass(eq=False)
class Source:
    """The text of a file."""

    path: str
    """The path, as the user gave it or as found in a folder."""

    text: str
    """The text, with the line ends of the file and without a byte order mark."""

    encoding: str = "utf-8"
    """The codec of the text."""

    mark: bytes = b""
    """The byte order mark; empty if the file has none."""

    @classmethod
    def from_bytes(cls, path: str, content: bytes) -> Source:
        """Return a file as text: in the encoding of its byte order mark, in UTF-8, or else in Latin-1.

        In Python, a comment on the first two lines may name another encoding (PEP 263).

        :param path: the path.
        :param content: the content of the file.
        :raises UnicodeDecodeError: if it is not in the encoding of its byte order mark.
        """
        for mark, encoding in _MARKS:
            if content.startswith(mark):
                return cls(path, content[len(mark) :].decode(encoding), encoding, mark)

        cookie = _COOKIE.match(content) if path.endswith(_PYTHON) else None
        if cookie is not None:
            encoding = cookie[1].decode("ascii")
            with suppress(LookupError, UnicodeError):
                if _extends_ascii(encoding):
                    text = content.decode(encoding)
                    if text.encode(encoding) == content:  # it can be written back as it was
                        return cls(path, text, encoding)

        try:
            return cls(path, content.decode("utf-8"))
        except UnicodeDecodeError:
            return cls(path, content.decode("latin-1"), "latin-1")

    def to_bytes(self, text: str) -> bytes:
        """Return the content of the file with another text.

        :raises UnicodeEncodeError: if the encoding cannot represent the text.
        """
        return self.mark + text.encode(self.encoding)

    @cached_property
    def lines(self) -> Lines:
        """The lines of the text."""
        return Lines(self.text)


@cache
def _extends_ascii(encoding: str) -> bool:
    """Return whether an encoding reads the characters of ASCII as ASCII does, as that of a program must (PEP 263).

    :raises LookupError: if there is no such encoding.
    :raises UnicodeError: if it cannot decode them, such as Punycode, which would take quadratic time for a file.
    """
    return _ASCII.encode("ascii").decode(encoding) == _ASCII


def replace_file(path: str, content: bytes, expected: bytes | None = None) -> None:
    """Write a file, which need not exist, so that at any time it has either the old or the new content.

    The target of a symbolic link is replaced. Permissions, owner, group and extended attributes stay, as far as
    the system lets this process set them. A pipe or a device is written to directly.

    :param expected: the content that the file must still have; None if it may have any.
    :raises OSError: if it cannot be written or is read-only, or does not have the expected content.
    """
    from doiuri.plugins import replacing  # slow to import

    with replacing(path, expected=expected) as draft:
        draft.write_bytes(content)
