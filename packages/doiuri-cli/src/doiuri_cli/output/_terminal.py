"""For people: the formats ``concise``, ``full`` and ``markdown``."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import click

from doiuri_cli.output._report import label, message, place, shown, summary_lines
from doiuri_cli.rules import Severity

if TYPE_CHECKING:
    from typing import TextIO

    from doiuri_cli.output._report import Report
    from doiuri_cli.rules import Finding


def write_concise(report: Report, stream: TextIO) -> None:
    """Write a line for each finding: place, severity, code and message."""
    stream.writelines(
        f"{place(finding)}: {label(finding)} {message(finding)}{mark(finding)}\n"
        for finding in report.findings
    )


def mark(finding: Finding) -> str:
    """Return the mark of a finding that ``doiuri fix`` mends."""
    return " [*]" if finding.fix is not None and finding.fix.safe else ""


_WIDTH = 100  # columns of an excerpt, at most
_BEFORE = 30  # columns before the place that a cut excerpt keeps
_CUT = "\u2026"
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


def write_full(report: Report, stream: TextIO) -> None:
    """Write the findings for people: with colours on a terminal."""
    coloured = _is_coloured(stream)
    for finding in report.findings:
        where, what = place(finding), label(finding)
        if coloured:
            where = click.style(where, bold=True)
            what = click.style(what, fg=_COLOURS[finding.severity], bold=True)
        stream.write(f"{where}: {what} {message(finding)}{mark(finding)}\n")
        if not mark(finding):
            stream.writelines(excerpt(finding))


def _is_coloured(stream: TextIO) -> bool:
    """Return whether to use colours: as ``--color``, NO_COLOR or FORCE_COLOR say, or on a terminal."""
    context = click.get_current_context(silent=True)
    if context is not None and context.color is not None:
        return context.color and stream is sys.stdout
    if os.environ.get("NO_COLOR"):
        return False
    return stream.isatty() or (stream is sys.stdout and bool(os.environ.get("FORCE_COLOR")))


def excerpt(finding: Finding) -> list[str]:
    """Return the line of a finding, and a line of carets below its place."""
    start = finding.column - finding.excerpt_column
    if finding.end_line == finding.line:
        end = finding.end_column - finding.excerpt_column
    else:
        end = len(finding.excerpt)
    text, carets = _underlined(finding.excerpt, start, max(end, start + 1), cut=finding.excerpt_column > 1)
    return [f"{finding.line:>5} | {text}\n", f"      | {carets}\n"] if text.strip() else []


def _underlined(line: str, start: int, end: int, *, cut: bool) -> tuple[str, str]:
    """Return a line as it is shown, and the carets below a piece of it.

    :param line: the line.
    :param start: offset of the first character of the piece.
    :param end: offset after its last character.
    :param cut: whether the line starts before this text.
    """
    # each character takes a column or none, so more of them may be needed than columns
    first = max(0, start - _WIDTH)
    cells = [_cell(character) for character in line[first : start + 4 * _WIDTH]]
    before, place = cells[: start - first], cells[start - first : end - first]
    after = cells[end - first :]
    if cut or first or sum(map(_columns, cells)) > _WIDTH:
        before, left = _last(before, _BEFORE)
        place, middle = _first(place, _WIDTH - sum(map(_columns, before)))
        after, right = _first(after, _WIDTH - sum(map(_columns, [*before, *place])))
    else:
        left = middle = right = False
    right = right or middle or len(line) > start + 4 * _WIDTH
    if left or cut or first:
        before = [(_CUT, 1), *before]
    text = "".join(character for character, _ in (*before, *place, *(() if middle else after)))
    blank = "".join("\t" if character == "\t" else " " * columns for character, columns in before)
    carets = "".join("\t" if character == "\t" else "^" * columns for character, columns in place) or "^"
    return f"{text}{_CUT if right else ''}".rstrip(), blank + carets


def _cell(character: str) -> tuple[str, int]:
    """Return a character as it is shown, and how many columns it takes."""
    if character == "\t":
        return "\t", 8
    from rich.cells import cell_len  # slow to import

    as_shown = shown(character)
    return as_shown, cell_len(as_shown)


def _columns(cell: tuple[str, int]) -> int:
    return cell[1]


def _first(cells: list[tuple[str, int]], width: int) -> tuple[list[tuple[str, int]], bool]:
    """Return the first cells that fit into some columns, and whether there are more."""
    total = 0
    for count, (_, columns) in enumerate(cells):
        total += columns
        if total > width:
            return cells[:count], True
    return cells, False


def _last(cells: list[tuple[str, int]], width: int) -> tuple[list[tuple[str, int]], bool]:
    """Return the last cells that fit into some columns, and whether there are more."""
    kept, more = _first(cells[::-1], width)
    kept.reverse()
    # a combining mark has nothing to combine with after the cut
    while more and kept and not kept[0][1]:
        del kept[0]
    return kept, more


# GitHub shows no summary above 1 MiB
_ROWS = 1000
_CHARACTERS = 200
_SIGNS = re.compile(r"[\\`*_{}\[\]<>|~$&]")


def write_markdown(report: Report, stream: TextIO) -> None:
    """Write a table of the findings, the figures below it."""
    rows = [_row(finding) for finding in report.findings[:_ROWS]]
    if rows:
        stream.write("| Place | Severity | Code | Message |\n| --- | --- | --- | --- |\n")
        stream.writelines(rows)
        stream.write("\n")
    if more := len(report.findings) - len(rows):
        stream.write(f"{more} more findings are not listed.\n\n")
    stream.writelines(f"{_escaped(line)}\n\n" for line in summary_lines(report))


def _row(finding: Finding) -> str:
    text = f"{_shortened(message(finding))}{_escaped(mark(finding))}"
    return f"| {_shortened(place(finding))} | {finding.severity.label} | {finding.code} | {text} |\n"


def _shortened(text: str) -> str:
    shortened = text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}\u2026"
    return _escaped(shortened)


def _escaped(text: str) -> str:
    """Escape what Markdown gives a meaning; ``@`` would notify the user of that name."""
    return _SIGNS.sub(r"\\\g<0>", text).replace("@", "&#64;")
