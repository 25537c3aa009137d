"""``gitlab``: a Code Quality report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from doiuri_cli.output._fingerprint import fingerprints
from doiuri_cli.output._report import severity_of
from doiuri_cli.output._text import encodable, message, region, relative
from doiuri_cli.rules import Severity

if TYPE_CHECKING:
    from typing import TextIO

    from doiuri_cli.output._report import Report
    from doiuri_cli.rules import Finding

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor"}


def write_gitlab(report: Report, stream: TextIO) -> None:
    """Write the findings as GitLab's Code Quality wants them."""
    pairs = zip(report.findings, fingerprints(report.findings), strict=True)
    json.dump([_issue(finding, fingerprint) for finding, fingerprint in pairs], stream, indent=2)
    stream.write("\n")


def _issue(finding: Finding, fingerprint: str) -> dict[str, object]:
    line, _, end_line, _ = region(finding)
    return {
        "description": message(finding),
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[severity_of(finding)],
        "location": {
            "path": encodable(relative(finding.path)),
            "lines": {"begin": line, "end": end_line},
        },
    }
