"""For programs: ``json``, ``jsonl`` and ``junit``. All is ASCII: any terminal and encoding will do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri_cli.output._report import encodable, label, message, place, to_json, visible
from doiuri_cli.rules import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from doiuri_cli.output._report import Report
    from doiuri_cli.rules import Finding


def write_json(report: Report, stream: TextIO) -> None:
    """Write a list of the findings."""
    before = "[\n  "
    for finding in report.findings:
        stream.write(f"{before}{_line(finding)}")
        before = ",\n  "
    stream.write("\n]\n" if report.findings else "[]\n")


def write_jsonl(report: Report, stream: TextIO) -> None:
    """Write an object a line."""
    stream.writelines(f"{_line(finding)}\n" for finding in report.findings)


def _line(finding: Finding) -> str:
    fix = finding.fix
    return to_json(
        {
            "path": encodable(finding.path),
            "line": finding.line,
            "column": finding.column,
            "end_line": finding.end_line,
            "end_column": finding.end_column,
            "cell": finding.cell,
            "entry": None if finding.entry is None else encodable(finding.entry),
            "code": finding.code,
            "severity": finding.severity.label,
            "message": encodable(finding.message),
            "doi": None if finding.doi is None else encodable(finding.doi),
            "fix": None if fix is None else {"replacement": encodable(fix.replacement), "safe": fix.safe},
        }
    )


# What XML 1.0 §2.2 has no way to write
_ILLEGAL = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def write_junit(report: Report, stream: TextIO) -> None:
    """Write a test report; without findings, one with a test that passed, for some programs want one.

    Each finding is a test that failed, or that was skipped if the severity is "info".
    """
    from xml.etree.ElementTree import Element, SubElement, indent, tostring  # slow to import

    def add(parent: Element, tag: str, **attributes: str) -> Element:
        return SubElement(parent, tag, {name: _legal(value) for name, value in attributes.items()})

    suites: dict[str, list[Finding]] = {}
    for finding in report.findings:
        suites.setdefault(finding.path, []).append(finding)
    tests, failures = str(len(report.findings) or 1), _failures(report.findings)
    root = Element("testsuites", name="doiuri", tests=tests, failures=failures, errors="0")
    for path, findings in suites.items():
        name, counts = visible(path), {"tests": str(len(findings)), "failures": _failures(findings)}
        suite = add(root, "testsuite", name=name, **counts, errors="0")
        for finding in findings:
            where = place(finding)
            inside = where.removeprefix(name).removeprefix(":")
            case = add(suite, "testcase", classname=name, name=f"{finding.code} {inside}")
            kind = {"type": finding.severity.label} if _fails(finding) else {}
            outcome = add(case, "failure" if kind else "skipped", **kind, message=message(finding))
            outcome.text = _legal(f"{where}: {label(finding)} {message(finding)}")
    if not suites:
        suite = add(root, "testsuite", name="doiuri", tests="1", failures="0", errors="0")
        add(suite, "testcase", classname="doiuri", name="no findings")
    indent(root)
    stream.write(f"{tostring(root, 'us-ascii', xml_declaration=True).decode()}\n")


def _fails(finding: Finding) -> bool:
    return finding.severity > Severity.INFO


def _failures(findings: Sequence[Finding]) -> str:
    return str(sum(map(_fails, findings)))


def _legal(text: str) -> str:
    """Return a text with escapes in the place of what XML cannot hold."""
    return re.sub(_ILLEGAL, lambda match: match[0].encode("unicode_escape").decode(), text)
