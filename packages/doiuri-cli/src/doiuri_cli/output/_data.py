"""For programs: ``json``, ``jsonl`` and ``junit``. All is ASCII: any terminal and encoding will do."""

from __future__ import annotations

import json
import re
from html import escape
from typing import TYPE_CHECKING

from doiuri_cli.output._report import encodable, label, message, place, shown, visible

if TYPE_CHECKING:
    from collections.abc import Iterator
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
            "severity": finding.severity.label,
            "message": encodable(finding.message),
            "doi": None if finding.doi is None else encodable(finding.doi),
            "fix": None if fix is None else {"replacement": encodable(fix.replacement), "safe": fix.safe},
        }
    )


# What XML 1.0 §2.2 has no way to write
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(report: Report, stream: TextIO) -> None:
    """Write a test report; without findings, one with a test that passed, for some programs want one."""
    suites: dict[str, list[Finding]] = {}
    for finding in report.findings:
        suites.setdefault(finding.path, []).append(finding)
    count = len(report.findings)
    stream.write('<?xml version="1.0" encoding="utf-8"?>\n')
    stream.write(f'<testsuites name="doiuri" tests="{count or 1}" failures="{count}" errors="0">\n')
    for path, findings in suites.items():
        stream.writelines(_suite(path, findings))
    if not suites:
        stream.write('  <testsuite name="doiuri" tests="1" failures="0" errors="0">\n')
        stream.write('    <testcase classname="doiuri" name="no findings"/>\n  </testsuite>\n')
    stream.write("</testsuites>\n")


def _suite(path: str, findings: list[Finding]) -> Iterator[str]:
    name, count = _xml(visible(path)), len(findings)
    yield f'  <testsuite name="{name}" tests="{count}" failures="{count}" errors="0">\n'
    for finding in findings:
        where = place(finding)
        case = _xml(f"{finding.code} {where.removeprefix(visible(path)).removeprefix(':')}")
        yield f'    <testcase classname="{name}" name="{case}">\n'
        yield f'      <failure type="{finding.severity.label}" message="{_xml(message(finding))}">'
        yield f"{_xml(f'{where}: {label(finding)} {message(finding)}')}</failure>\n    </testcase>\n"
    yield "  </testsuite>\n"


def _xml(text: str) -> str:
    """Return a text for an element or an attribute, in ASCII; what XML cannot hold is shown as escapes."""
    legal = _ILLEGAL.sub(lambda match: _escape(match[0]), text)
    return escape(legal).encode("ascii", "xmlcharrefreplace").decode("ascii")


def _escape(character: str) -> str:
    as_shown = shown(character)
    return as_shown if as_shown != character else character.encode("unicode_escape").decode("ascii")
