"""For people: the formats ``concise``, ``full`` and ``markdown``."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, NamedTuple

import click

from doiuri_cli.output._report import (
    abridged,
    escaped_character,
    inert,
    label,
    left_out_line,
    location_text,
    message,
    summary_lines,
    test_data_lines,
    visible,
)
from doiuri_cli.rules import Severity

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator
    from typing import TextIO

    from doiuri_cli.files import SourceLocation
    from doiuri_cli.output._report import Bibliographies, FindingsReport, ListedFinding
    from doiuri_cli.readers._bibliography import EntryWithoutDOI
    from doiuri_cli.rules import Finding


def write_concise(report: FindingsReport, stream: TextIO) -> None:
    """Write a line for each finding: place, severity, code and message."""
    stream.writelines(
        f"{location_text(finding.location)}: {label(finding)} {message(finding)}{mark(finding)}\n"
        for finding in report.listed
    )
    stream.writelines(f"{line}\n" for line in test_data_lines(report))


def mark(finding: Finding) -> str:
    """Return the mark of a finding that ``doiuri fix`` mends."""
    return " [*]" if finding.fix is not None and finding.fix.safe else ""


_WIDTH = 100  # characters of an excerpt, at most
_BEFORE = 30  # characters before the place that a cut excerpt keeps
_CUT = "\u2026"
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}


def write_full(report: FindingsReport, stream: TextIO) -> None:
    """Write the findings for people, with colours on a terminal, and the lines of those that people mend."""
    coloured = _is_coloured(stream)
    for entry in abridged(report.listed):
        finding = entry.finding
        where = location_text(finding.location)
        what = label(finding)
        if coloured:
            where = click.style(where, bold=True)
            what = click.style(what, fg=_COLOURS[finding.severity], bold=True)
        stream.write(f"{where}: {what} {message(finding)}{mark(finding)}\n")
        if not mark(finding):  # doiuri fix needs no excerpt
            stream.writelines(excerpt(finding.location))
        if entry.left_out:
            stream.write(f"{left_out_line(entry)}\n")
    stream.writelines(f"{line}\n" for line in test_data_lines(report))


def _is_coloured(stream: TextIO) -> bool:
    """Return whether to use colours: as NO_COLOR or FORCE_COLOR say, or on a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    # FORCE_COLOR is not for the files that -o names
    return stream.isatty() or (stream is sys.stdout and bool(os.environ.get("FORCE_COLOR")))


def excerpt(location: SourceLocation) -> list[str]:
    """Return the line of a location, or a piece of a long one, and a line of carets below its place.

    There is neither if nothing of it can be seen. For example::

           41 | see doi:10.1000/182 for this
              |     ^^^^^^^^^^^^^^^
    """
    line = location.excerpt
    start = location.column - location.excerpt_column
    is_in_line = location.end_line == location.line
    end = location.end_column - location.excerpt_column if is_in_line else len(line)

    # Of a long line, the piece from first to last is written; start and end count in the whole line
    first = max(0, start - _BEFORE) if len(line) > _WIDTH else 0
    last = first + _WIDTH
    glyphs = [_glyph(character) for character in line[first:last]]
    if first:
        glyphs.insert(0, _Glyph(_CUT, 1))
        first -= 1  # the ellipsis stands for the character before the piece
    text = "".join(glyph.text for glyph in glyphs)
    if len(line) > last:
        text += _CUT
    if not text.strip():
        return []

    before = glyphs[: start - first]
    place = glyphs[start - first : max(end, start + 1) - first]  # one at least
    # At the end of a line there is no character, and a combining mark takes no column: they get one caret
    carets = _line(" ", before) + (_line("^", place) or "^")
    return [f"{location.line:>5} | {inert(text.rstrip())}\n", f"      | {carets}\n"]


class _Glyph(NamedTuple):
    """A character of a line on a terminal."""

    text: str  # the character as it is shown
    columns: int  # how many columns it takes


def _line(mark: str, glyphs: Iterable[_Glyph]) -> str:
    """Return a line of marks below characters; tabs stay, so that it lines up at any tab width."""
    line = ""
    for glyph in glyphs:
        line += "\t" if glyph.text == "\t" else mark * glyph.columns
    return line


def _glyph(character: str) -> _Glyph:
    """Return a character as a terminal shows it, and its columns: 0 if it joins the one before, 2 if it is wide.

    A tab stays, for it has no width of its own.
    """
    import unicodedata  # rarely needed

    if character == "\t":
        return _Glyph(character, 1)
    text = escaped_character(character)
    if text != character:
        return _Glyph(text, len(text))

    is_mark = unicodedata.category(character) in {"Mn", "Me"}
    is_end_of_hangul_syllable = "\u1160" <= character <= "\u11ff"
    if is_mark or is_end_of_hangul_syllable:
        return _Glyph(character, 0)
    is_wide = unicodedata.east_asian_width(character) in {"W", "F"}
    return _Glyph(character, 2 if is_wide else 1)


# GitHub shows no summary above 1 MiB
_ROWS = 1000
_CHARACTERS = 200
_SIGNS = re.compile(r"[\\`*_{}\[\]<>|~$&]")


def write_markdown(report: FindingsReport, stream: TextIO) -> None:
    """Write a table of the findings, the entries of bibliographies if they were compared, and the figures."""
    entries = list(abridged(report.listed))
    rows = [_row(entry) for entry in entries[:_ROWS]]
    if rows:
        stream.write("| Place | Severity | Code | Message |\n| --- | --- | --- | --- |\n")
        stream.writelines(rows)
        stream.write("\n")
    if entries[_ROWS:]:
        # Each row that is left out also stands for findings like it that are not shown
        unlisted = sum(1 + entry.left_out for entry in entries[_ROWS:])
        stream.write(f"{unlisted} more findings are not listed.\n\n")
    stream.writelines(f"{_escaped(line)}\n\n" for line in test_data_lines(report))
    if report.references:
        stream.writelines(_references(report, report.references))
    lines = summary_lines(report, has_marks=True)
    stream.writelines(f"{_escaped(line)}\n\n" for line in lines)


def _references(report: FindingsReport, references: Bibliographies) -> Iterator[str]:
    """Yield the lists that the editorial bot of JOSS prints, and the titles that differ."""
    lists = {
        "OK DOIs": [f"{name} is OK" for name in references.valid],
        "MISSING DOIs": [_missing(entry) for entry in references.lacking],
        "INVALID DOIs": list(dict.fromkeys(_messages(report, {"not-found", "syntax"}))),
        "Other titles": list(_messages(report, {"title-differs"})),
    }
    for name, items in lists.items():
        yield f"**{name}**\n\n"
        yield from (f"- {_shortened(visible(item))}\n" for item in items[:_ROWS] or ["None"])
        yield "\n"


def _messages(report: FindingsReport, codes: Container[str]) -> Iterator[str]:
    """Yield what the findings with one of the codes say."""
    for finding in report.listed:
        if finding.code in codes:
            yield message(finding)


def _missing(entry: EntryWithoutDOI) -> str:
    """Return what is said about an entry without a DOI."""
    if entry.candidate:
        return f"{entry.candidate} may be a valid DOI for title: {entry.title}"
    return f"No DOI given for title: {entry.title}"


def _row(entry: ListedFinding) -> str:
    """Return the row of a finding, and one that says how many like it are left out."""
    finding = entry.finding
    kind = f"{finding.severity.label} | {finding.code}"
    where = _shortened(location_text(finding.location))
    text = f"{_shortened(message(finding))}{_escaped(mark(finding))}"
    row = f"| {where} | {kind} | {text} |\n"
    if entry.left_out:
        where = _shortened(visible(finding.location.path))
        row += f"| {where} | {kind} | {entry.left_out} more |\n"
    return row


def _shortened(text: str) -> str:
    if len(text) > _CHARACTERS:
        text = text[:_CHARACTERS] + _CUT
    return _escaped(text)


def _escaped(text: str) -> str:
    """Escape what Markdown gives a meaning; ``@`` would notify the user of that name."""
    return _SIGNS.sub(r"\\\g<0>", text).replace("@", "&#64;")
