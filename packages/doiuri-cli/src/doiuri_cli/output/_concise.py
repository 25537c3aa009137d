"""``concise``: a line for each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_cli.output._text import label, message, place

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
