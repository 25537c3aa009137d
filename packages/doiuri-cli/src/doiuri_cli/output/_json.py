"""``json`` and ``jsonl``: for programs. All characters are ASCII: any terminal and encoding will do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from doiuri_cli.output._report import severity_of
from doiuri_cli.output._text import encodable

if TYPE_CHECKING:
    from typing import TextIO

    from doiuri_cli.output._report import Report
    from doiuri_cli.rules import Finding


def write_json(report: Report, stream: TextIO) -> None:
    """Write a list of the findings."""
    lines = ",\n  ".join(map(_line, report.findings))
    stream.write(f"[\n  {lines}\n]\n" if lines else "[]\n")


def write_jsonl(report: Report, stream: TextIO) -> None:
    """Write an object a line."""
    stream.writelines(f"{_line(finding)}\n" for finding in report.findings)


def _line(finding: Finding) -> str:
    fix = finding.fix
    return json.dumps(
        {
            "path": encodable(finding.path),
            "line": finding.line,
            "column": finding.column,
            "end_line": finding.end_line,
            "end_column": finding.end_column,
            "cell": finding.cell,
            "entry": None if finding.entry is None else encodable(finding.entry),
            "code": finding.code,
            "severity": severity_of(finding).label,
            "message": encodable(finding.message),
            "doi": None if finding.doi is None else encodable(finding.doi),
            "fix": None if fix is None else {"replacement": encodable(fix.replacement), "safe": fix.safe},
        }
    )
