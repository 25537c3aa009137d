"""``markdown``: a table, for the summary of a job."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri_cli.output._concise import mark
from doiuri_cli.output._report import severity_of
from doiuri_cli.output._summary import summary_lines
from doiuri_cli.output._text import message, place

if TYPE_CHECKING:
    from typing import TextIO

    from doiuri_cli.output._report import Report
    from doiuri_cli.rules import Finding

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
    text = f"{_cell(message(finding))}{_escaped(mark(finding))}"
    return f"| {_cell(place(finding))} | {severity_of(finding).label} | {finding.code} | {text} |\n"


def _cell(text: str) -> str:
    shortened = text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}\u2026"
    return _escaped(shortened)


def _escaped(text: str) -> str:
    """Escape what Markdown gives a meaning; ``@`` would notify the user of that name."""
    return _SIGNS.sub(r"\\\g<0>", text).replace("@", "&#64;")
