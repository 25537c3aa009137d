"""One line for each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_cli.rules import RULES

if TYPE_CHECKING:
    from typing import TextIO

    from doiuri_cli.output._report import Report


def write(report: Report, stream: TextIO) -> None:
    """Write a report."""
    for finding in report.findings:
        cell = "" if finding.cell is None else f"cell {finding.cell}:"
        place = f"{finding.path}:{cell}{finding.line}:{finding.column}"
        mark = " [*]" if finding.fix is not None and finding.fix.safe else ""
        severity = RULES[finding.code].severity.label
        stream.write(f"{place}: {severity}[{finding.code}] {finding.message}{mark}\n")
