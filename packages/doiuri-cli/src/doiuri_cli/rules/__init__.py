"""The rules: what a finding is, exactly where, by which rule, and what would put it right.

``rules.json`` has what ``doiuri rule``, SARIF and the manual say about the rules.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.files import Lines
from doiuri_cli.rules._keep import is_fixed_text, keeps_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri_cli._mentions import Mention
    from doiuri_cli.files import Source
    from doiuri_cli.readers import Part


class Severity(IntEnum):
    """How bad a finding is."""

    INFO = 0
    WARNING = 1
    ERROR = 2

    @property
    def label(self) -> str:
        """The word in messages and in ``--fail-on``."""
        return self.name.lower()


class Rule(NamedTuple):
    """One rule. Its texts are plain text; backticks enclose literals, as in Markdown."""

    code: str
    severity: Severity  # how bad its findings are
    summary: str  # what it reports, in one line
    reason: str  # why that is wrong
    example: str  # a text with such a finding; for advice, the DOI
    instead: str = ""  # what to write in its place; empty if that depends
    fix: str = ""  # "safe", "unsafe" or "" for none
    needs: str = ""  # "lock" file, or the registry's metadata: "records"; "" for neither


RULES = {
    rule["code"]: Rule(**rule | {"severity": Severity[rule["severity"].upper()]})
    for rule in json.loads(Path(__file__).with_name("rules.json").read_text("ascii"))
}
"""The rules by code, in the order of the manual."""

LOCK_CODES = frozenset(code for code, rule in RULES.items() if rule.needs == "lock")
"""The codes that are checked only if there is a lock file and nobody else is asked."""

RECORD_CODES = frozenset(code for code, rule in RULES.items() if rule.needs == "records")
"""The codes that are checked only against the registry's metadata."""


_MARGIN = (
    500  # characters of a line that an excerpt keeps before a finding, and half of those after it
)


class Fix(NamedTuple):
    """A replacement in a file."""

    start: int  # offset in the file's text of the first character that is replaced
    end: int  # offset after the last one
    replacement: str  # the text in its place, as the file writes it
    safe: bool  # whether it is applied by default: the DOI stays the same, and the file is not test data
    name: str | None = None  # the name that it changes the DOI to; None if the DOI stays the same


def fix_at(part: Part, span: tuple[int, int], text: str, name: str | None = None) -> Fix | None:
    """Return the fix that replaces a piece of a part; None if it would lose or break something.

    It is safe if the DOI stays the same, and then only labels, links and escapes may change.
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


class Flaw(NamedTuple):
    """What a rule finds in a part, before its place in the file is known."""

    span: tuple[int, int]  # offsets in the part's text: of its first character, and after its last
    code: str
    message: str
    doi: str | None = None
    fix: Fix | None = None


def flaw(
    mention: Mention,
    code: str,
    message: str,
    fix: Fix | None = None,
    span: tuple[int, int] | None = None,
) -> Flaw:
    """Return what is wrong with a mention; ``span`` is for a piece other than the mention."""
    return Flaw(span or mention.span, code, message, mention.doi.name if mention.doi else None, fix)


class Finding(NamedTuple):
    """A finding. Lines and columns count characters from 1, in a notebook within the cell."""

    path: str  # the file, as the user gave it or as found in a folder
    line: int  # the line on which it starts
    column: int  # the column of its first character
    end_line: int  # the line on which it ends
    end_column: int  # the column after its last character
    code: str  # the code of its rule
    message: str  # what is wrong, in words
    doi: str | None = None  # the name of the DOI; None if there is none
    cell: int | None = None  # the number of the notebook's cell, from 1
    entry: str | None = None  # the key of the entry in a bibliography
    fix: Fix | None = None  # what would put it right; None if nothing is known to
    excerpt: str = (
        ""  # the line on which it starts; of a very long line, the piece around the place
    )
    excerpt_column: int = 1  # the column of the excerpt's first character
    # line, column, end line and end column in the notebook's file; None for other files
    in_file: tuple[int, int, int, int] | None = None

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return RULES[self.code].severity


class Place(NamedTuple):
    """A mention, as far as it is needed once its file was read."""

    at: Finding  # where it is, with its text as the message, and the name of the DOI if it is valid
    key: str  # the DOI's key; empty if it is invalid
    start: int  # offset in the file of its first character
    end: int  # offset after its last one
    field: bool  # whether it is the value of a field for a DOI
    ignored: frozenset[str]  # the codes that are not reported there; "*" stands for all


def finding_at(
    source: Source,
    part: Part,
    span: tuple[int, int],
    code: str,
    message: str,
    doi: str | None = None,
    fix: Fix | None = None,
) -> Finding:
    """Return a finding about a piece of a part."""
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


def place_in_file(source: Source, parts: Iterable[Part], at: Finding) -> tuple[int, int, int, int]:
    """Return where a piece of a line of a notebook's cell starts and ends in the file."""
    inside = [part for part in parts if part.cell == at.cell]
    lines = _lines(inside[0].cell_text or inside[0].text)
    first, last = lines.offset(at.line, at.column), lines.offset(at.line, at.end_column)
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
