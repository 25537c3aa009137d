"""Comments that suppress findings, such as ``# doiuri: ignore[not-found]``.

A comment is for its own line; if it stands alone there, for the next line with text. ``ignore-file`` is for
the whole file. Without codes, it is for all of them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache, partial
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.files import SourceLocation, region_of
from doiuri_cli.readers._part import cell_lines, cell_text
from doiuri_cli.rules import RULES, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from doiuri_cli.files import Lines, Region, Source
    from doiuri_cli.readers import Part

_MARK = "<!--"
# What opens a comment, unless it is quoted, as in documentation
_HASH = r"(?<!\S)\#"
_PERCENT = r"(?<![\\`])%"
_MARKUP = f"(?<!`){_MARK}"
_RST = r"(?m:^)[ \t]*\.\.[ \t]"
_OPENINGS = {
    "asciidoc": r"(?m:^)//(?!/)",
    "bibtex": _PERCENT,
    "code": rf"{_HASH}|(?<!\S)//",
    "html": _MARKUP,
    "markdown": _MARKUP,
    "notebook": f"{_HASH}|{_MARKUP}",
    "ontology": f"{_HASH}|{_MARKUP}",
    "python": f"{_HASH}|{_RST}",
    "rst": _RST,
    "source": rf"{_HASH}|(?<!\S)(?://|/\*|!)",
    "tex": _PERCENT,
    "yaml": _HASH,
    ".toml": _HASH,  # has no reader: read as plain text if it is named
}
"""What opens a comment in each type of file; the other types have no comments."""

_SIGN = "doiuri:"
_LONGEST = 1000  # characters of a line that are looked at
# The bounds keep the time linear in a line with many comments
_COMMAND = r"""
    [ \t]* doiuri: [ \t]* ignore (?P<file> -file )? (?! [\w-] )
    [ \t]* (?: \[ (?P<codes> [^\]\r\n]{0,1000}+ ) \] )?
    (?: [^\r\n]{0,1000}? --> )?                            # the end of a comment in HTML
"""


@cache
def _comments(kind: str) -> re.Pattern[str] | None:
    """Return the pattern of comments in a type of file; None if it has none."""
    opening = _OPENINGS.get(kind)
    return None if opening is None else re.compile(rf"(?:{opening}){_COMMAND}", re.VERBOSE)


class Ignore(NamedTuple):
    """A comment, or a tag of a notebook's cell, that lets findings be ignored."""

    location: SourceLocation  # where it is
    # the line that it is for; None: the whole file, or the whole cell if it is a tag
    target: int | None
    codes: tuple[str, ...]  # if there are none, it is for all codes
    is_tag: bool = False

    @property
    def area(self) -> tuple[int | None, int | None]:
        """The cell and the line that it is for; None for all of them."""
        is_for_all = self.target is None and not self.is_tag
        return (None, None) if is_for_all else (self.location.cell, self.target)

    def names(self, code: str) -> bool:
        """Return whether the comment is for a code."""
        return not self.codes or code in self.codes


def ignores_in(source: Source, kind: str | None, parts: Iterable[Part]) -> list[Ignore]:
    """Return the comments in a file, and the tags of a notebook's cells.

    :param kind: the type of the file.
    :param parts: the parts of the file.
    """
    kind = kind or PurePath(source.path).suffix.lower()
    cells: dict[int, list[Part]] = {}
    for part in parts:
        if part.cell is not None:
            cells.setdefault(part.cell, []).append(part)
    if cells:
        ignores: list[Ignore] = []
        for parts_of_cell in cells.values():
            ignores += _ignores_in_cell(parts_of_cell, kind)
        return ignores

    if _SIGN not in source.text:
        return []
    locate = partial(SourceLocation.in_text, source.lines, source.path)
    return list(_comments_in(source.text, source.lines, kind, locate))


def _ignores_in_cell(parts: Sequence[Part], kind: str) -> Iterator[Ignore]:
    """Yield the tags and the comments of a notebook's cell.

    :param parts: the parts of the cell.
    """
    first = parts[0]
    lines = cell_lines(first)

    def locate(start: int, end: int) -> SourceLocation:
        in_file = _in_file(parts, start, end)
        path = first.source.path
        return SourceLocation.in_text(lines, path, start, end, cell=first.cell, in_file=in_file)

    if first.ignored:
        codes = () if "*" in first.ignored else tuple(sorted(first.ignored))
        # A tag has no place in the text of the cell: its start stands for it
        yield Ignore(locate(0, 0), None, codes, is_tag=True)
    yield from _comments_in(cell_text(first), lines, kind, locate)


def _in_file(parts: Sequence[Part], start: int, end: int) -> Region:
    """Return where a piece of a cell's line starts and ends in the notebook's file.

    The places are those of the last part of the cell that begins before the piece ends.
    """
    before = [part for part in parts if part.span_in_cell(0, 0)[0] < end]
    part = before[-1] if before else parts[0]
    span = part.span(_in_part(part, start), _in_part(part, end))
    return region_of(part.source.lines, *span)


def _in_part(part: Part, offset: int) -> int:
    """Return the offset in a part's text for an offset in its cell."""
    if part.cell_places is not None:
        offset = bisect_left(part.cell_places, offset)
    return min(offset, len(part.text))


def _targets(lines: Lines, comment_lines: Iterable[int]) -> dict[int, int]:
    """Return the line that the comment on each line is for: the next one that holds more than a comment.

    With comments alone on the lines 1 and 2, and a text on line 4, both are for line 4.

    :param comment_lines: the lines that hold nothing but a comment.
    """
    # From the last line up: if the next line with text is such a comment, its own target is known already
    targets: dict[int, int] = {}
    for line in sorted(comment_lines, reverse=True):
        following = _next_with_text(lines, line)
        targets[line] = targets.get(following, following)
    return targets


def _next_with_text(lines: Lines, line: int) -> int:
    """Return the next line that has text; the line itself if there is none."""
    for number in range(line + 1, lines.count + 1):
        if lines.line(number).strip():
            return number
    return line


def _is_alone(match: re.Match[str], lines: Lines) -> bool:
    """Return whether there is nothing but the comment on its line.

    What follows is a part of the comment, except after the end of one in HTML: ``<!-- doiuri: ignore --> text``.
    """
    line, column = lines.position(match.end())
    first = max(column - len(match[0]), 1)
    if first > _LONGEST or lines.line(line, 1, first - 1).strip():
        return False
    if not match[0].lstrip().startswith(_MARK):
        return True
    return not lines.line(line, column, column + _LONGEST).strip()


def _comments_in(
    text: str, lines: Lines, kind: str, locate: Callable[[int, int], SourceLocation]
) -> Iterator[Ignore]:
    """Yield the comments in a text.

    :param kind: the type of the file, or its extension.
    :param locate: returns the location of a piece of the text.
    """
    pattern = _comments(kind)
    if pattern is None or _SIGN not in text:
        return

    matches = list(pattern.finditer(text))
    comment_lines = {
        lines.position(match.end()).line for match in matches if _is_alone(match, lines)
    }
    targets = _targets(lines, comment_lines)
    for match in matches:
        indentation = len(match[0]) - len(match[0].lstrip())
        location = locate(match.start() + indentation, match.end())
        target = None
        if not match["file"]:
            target = targets.get(location.line, location.line)
        codes = (code.strip() for code in (match["codes"] or "").split(","))
        yield Ignore(location, target, tuple(filter(None, codes)))


class Remaining(NamedTuple):
    """What comments leave of some findings."""

    findings: list[Finding]  # those that no comment is for
    used: set[tuple[Ignore, str]]  # the comments that are for the other ones, each with their codes


def apply_ignores(ignores: Iterable[Ignore], findings: Iterable[Finding]) -> Remaining:
    """Return the findings that remain, and the comments that were used."""
    by_area: dict[tuple[int | None, int | None], list[Ignore]] = {}
    for ignore in ignores:
        by_area.setdefault(ignore.area, []).append(ignore)
    remaining: list[Finding] = []
    used: set[tuple[Ignore, str]] = set()

    @cache  # many findings may be on a line with many comments
    def use_ignores(cell: int | None, line: int | None, code: str) -> bool:
        """Record the comments for a place that name a code as used; return whether there are any."""
        ignores_there = by_area.get((cell, line), ())
        uses = [(ignore, code) for ignore in ignores_there if ignore.names(code)]
        used.update(uses)
        return bool(uses)

    for finding in findings:
        cell = finding.location.cell
        lines = range(finding.location.line, finding.location.end_line + 1)
        areas = [(None, None), (cell, None), *((cell, line) for line in lines)]
        # For all areas, not up to the first: each comment that fits is used
        is_ignored = [use_ignores(*area, finding.code) for area in areas]
        if not any(is_ignored):
            remaining.append(finding)
    return Remaining(remaining, used)


def unused_ignores(
    ignores: Iterable[Ignore],
    used: set[tuple[Ignore, str]],
    is_checked: Callable[[Ignore, str], bool],
    usual: Iterable[str],
) -> Iterator[Finding]:
    """Yield a finding for each comment with codes that it is not needed for.

    A comment without codes is not needed if nothing was found there, and all that is usual was checked.

    :param is_checked: returns whether a code was checked on the lines that a comment is for.
    :param usual: the codes that every check has.
    """
    needed = {ignore for ignore, _ in used}
    for ignore in ignores:
        if ignore.codes:
            unneeded = [code for code in ignore.codes if (ignore, code) not in used]
            reasons = _reasons(ignore, unneeded, is_checked)
        elif ignore not in needed and all(is_checked(ignore, code) for code in usual):
            reasons = ["nothing to ignore"]
        else:
            reasons = []
        if reasons:
            subject = "the tag of the cell: " if ignore.is_tag else ""
            yield Finding(ignore.location, "unused-ignore", subject + "; ".join(reasons))


def _reasons(
    ignore: Ignore, unneeded: Iterable[str], is_checked: Callable[[Ignore, str], bool]
) -> list[str]:
    """Return why a comment is not needed for some of its codes."""
    reasons: list[str] = []
    unused: list[str] = []
    for code in unneeded:
        if code not in RULES:
            reasons.append(f"unknown code {code}")
        elif is_checked(ignore, code):
            unused.append(code)
    if unused:
        reasons.append(f"no {', '.join(unused)} to ignore")
    return reasons
