"""A finding: what is wrong, exactly where, and what would put it right."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from sys import intern
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.files import Lines
from doiuri_cli.rules._codes import RULES, Severity
from doiuri_cli.rules._keep import is_fixed_text, keeps_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri_cli.files import Source
    from doiuri_cli.readers import Part

_MARGIN = 500  # characters of a line that an excerpt keeps before a finding, and half of those after it


class Fix(NamedTuple):
    """A replacement in a file.

    :ivar start: offset in the file's text of the first character that is replaced.
    :ivar end: offset after the last one.
    :ivar replacement: the text in its place, as the file writes it.
    :ivar safe: whether it is applied by default: the DOI stays the same, and the file is not test data.
    :ivar name: the name that it changes the DOI to; None if the DOI stays the same.
    """

    start: int
    end: int
    replacement: str
    safe: bool
    name: str | None = None


def fix_at(part: Part, span: tuple[int, int], text: str, name: str | None = None) -> Fix | None:
    """Return the fix that replaces a piece of a part; None if it would lose or break something.

    It is safe if the DOI stays the same, and then only labels, links and escapes may change.

    :param part: the part.
    :param span: offsets in the part's text: of the piece's first character, and after its last.
    :param text: the text in its place, in the syntax of the part.
    :param name: the name that it changes the DOI to.
    """
    if is_fixed_text(part, *span):
        return None
    if name is None and not keeps_name(part.text[slice(*span)], text, part.syntax):
        return None
    try:
        written = part.encode(text)
    except ValueError:
        return None
    return Fix(*part.span(*span), written, name is None, name)


class Finding(NamedTuple):
    """A finding. Lines and columns count characters from 1, in a notebook within the cell.

    :ivar path: the file, as the user gave it or as found in a folder.
    :ivar line: the line on which it starts.
    :ivar column: the column of its first character.
    :ivar end_line: the line on which it ends.
    :ivar end_column: the column after its last character.
    :ivar code: the code of its rule.
    :ivar message: what is wrong, in words.
    :ivar doi: the name of the DOI; None if there is none.
    :ivar cell: the number of the notebook's cell, from 1.
    :ivar entry: the key of the entry in a bibliography.
    :ivar fix: what would put it right; None if nothing is known to.
    :ivar excerpt: the line on which it starts; of a very long line, the piece around the place.
    :ivar excerpt_column: the column of the excerpt's first character.
    :ivar in_file: line, column, end line and end column in the notebook's file; None for other files.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    code: str
    message: str
    doi: str | None = None
    cell: int | None = None
    entry: str | None = None
    fix: Fix | None = None
    excerpt: str = ""
    excerpt_column: int = 1
    in_file: tuple[int, int, int, int] | None = None

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return RULES[self.code].severity


class Place(NamedTuple):
    """A mention, as far as it is needed once its file was read.

    :ivar at: where it is, with its text as the message, and the name of the DOI if it is valid.
    :ivar key: the DOI's key; empty if it is invalid.
    :ivar start: offset in the file of its first character.
    :ivar end: offset after its last one.
    :ivar field: whether it is the value of a field for a DOI.
    :ivar ignored: the codes that are not reported there; "*" stands for all.
    """

    at: Finding
    key: str
    start: int
    end: int
    field: bool
    ignored: frozenset[str]


def finding_at(
    source: Source,
    part: Part,
    span: tuple[int, int],
    code: str,
    message: str,
    *,
    doi: str | None = None,
    fix: Fix | None = None,
) -> Finding:
    """Return a finding about a piece of a part.

    :param source: the file.
    :param part: the part.
    :param span: offsets in the part's text: of the piece's first character, and after its last.
    :param code: the code of the rule.
    :param message: what is wrong.
    :param doi: the name of the DOI.
    :param fix: what would put it right.
    """
    lines = source.lines if part.cell is None else _lines(part.cell_text or part.text)
    first, last = part.span(*span) if part.cell is None else part.span_in_cell(*span)
    start, end = lines.position(first), lines.position(last)
    excerpt_column = max(1, start.column - _MARGIN)
    return Finding(
        source.path,
        *start,
        *end,
        code,
        message,
        doi=doi,
        cell=part.cell,
        entry=part.entry or None,
        fix=fix,
        # a copy of the whole line for each finding would take quadratic time and memory
        excerpt=intern(lines.line(start.line, excerpt_column, start.column + 2 * _MARGIN)),
        excerpt_column=excerpt_column,
        in_file=None if part.cell is None else _in_file(source, *part.span(*span)),
    )


def place_in_file(
    source: Source, parts: Iterable[Part], cell: int | None, line: int, column: int, end_column: int
) -> tuple[int, int, int, int]:
    """Return where a piece of a line of a notebook's cell starts and ends in the file."""
    inside = [part for part in parts if part.cell == cell]
    lines = _lines(inside[0].cell_text or inside[0].text)
    first, last = lines.offset(line, column), lines.offset(line, end_column)
    before = [part for part in inside if part.span_in_cell(0, 0)[0] < last]
    part = before[-1] if before else inside[0]
    return _in_file(source, *part.span(_in_part(part, first), _in_part(part, last)))


def _in_part(part: Part, offset: int) -> int:
    """Return the offset in a part's text for an offset in its cell."""
    found = offset if part.cell_places is None else bisect_left(part.cell_places, offset)
    return min(found, len(part.text))


@lru_cache(4)
def _lines(cell: str) -> Lines:
    """Return the lines of a notebook's cell, which has many findings one after the other."""
    return Lines(cell)


def _in_file(source: Source, first: int, last: int) -> tuple[int, int, int, int]:
    return *source.lines.position(first), *source.lines.position(last)
