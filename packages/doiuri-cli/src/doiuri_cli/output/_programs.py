"""For programs: ``json``, ``jsonl`` and ``junit``, and ``github``, ``gitlab`` and ``sarif`` for forges.

All is ASCII, but for names of files: any terminal and encoding will do.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.output._report import (
    abridged,
    encodable,
    indented,
    label,
    left_out_line,
    location_text,
    members,
    message,
    printable,
    relative,
    to_json,
    uri,
    visible,
    write_json_list,
)
from doiuri_cli.rules import RULES, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TextIO
    from xml.etree.ElementTree import Element

    from doiuri_cli.files import SourceLocation
    from doiuri_cli.output._report import FindingsReport
    from doiuri_cli.rules import Finding, Fix, Rule


def write_json(report: FindingsReport, stream: TextIO) -> None:
    """Write a list of the findings."""
    write_json_list(map(_line, report.findings), stream)


def write_jsonl(report: FindingsReport, stream: TextIO) -> None:
    """Write an object a line."""
    stream.writelines(f"{_line(finding)}\n" for finding in report.findings)


def _line(finding: Finding) -> str:
    """Return a finding as a JSON object in one line."""
    fix: dict[str, object] | None = None
    if finding.fix is not None:
        fix = {
            "start": finding.fix.start,
            "end": finding.fix.end,
            "replacement": encodable(finding.fix.replacement),
            "safe": finding.fix.safe,
        }
    values = members(
        finding.location,
        code=finding.code,
        severity=finding.severity.label,
        message=finding.message,
        doi=finding.doi,
        fix=fix,
    )
    return to_json(values)


# What XML 1.0 §2.2 has no way to write
_ILLEGAL = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def write_junit(report: FindingsReport, stream: TextIO) -> None:
    """Write a test report; without findings, one with a test that passed, for some programs want one.

    Each finding is a test that failed, or that was skipped if the severity is "info". The tests on a file are a
    suite.
    """
    from xml.etree.ElementTree import Element, indent, tostring  # slow to import

    by_path: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_path.setdefault(finding.location.path, []).append(finding)

    root = Element("testsuites", {"name": "doiuri"} | _suite_counts(report.findings))
    for path, findings in by_path.items():
        name = visible(path)
        suite = _add(root, "testsuite", name=name, **_suite_counts(findings))
        for finding in findings:
            _add_case(suite, name, finding)
    if not by_path:
        suite = _add(root, "testsuite", name="doiuri", **_suite_counts([]))
        _add(suite, "testcase", classname="doiuri", name="no findings")
    indent(root)
    stream.write(f"{tostring(root, 'us-ascii', xml_declaration=True).decode()}\n")


def _suite_counts(findings: Sequence[Finding]) -> dict[str, str]:
    """Return the figures of a test suite; without findings, it has one test that passed."""
    failures = sum(map(_fails, findings))
    return {"tests": str(len(findings) or 1), "failures": str(failures), "errors": "0"}


def _add(parent: Element, tag: str, **attributes: str) -> Element:
    """Add an element, with attributes that XML can hold."""
    from xml.etree.ElementTree import SubElement  # slow to import

    return SubElement(parent, tag, {name: _legal(value) for name, value in attributes.items()})


def _add_case(suite: Element, suite_name: str, finding: Finding) -> None:
    """Add the test that stands for a finding, named such as ``not-found 41:12``."""
    where = location_text(finding.location)
    inside = where.removeprefix(suite_name).removeprefix(":")
    text = message(finding)
    case = _add(suite, "testcase", classname=suite_name, name=f"{finding.code} {inside}")
    if _fails(finding):
        outcome = _add(case, "failure", type=finding.severity.label, message=text)
    else:
        outcome = _add(case, "skipped", message=text)
    outcome.text = _legal(f"{where}: {label(finding)} {text}")


def _fails(finding: Finding) -> bool:
    return finding.severity > Severity.INFO


def _legal(text: str) -> str:
    """Return a text with escapes in the place of what XML cannot hold."""
    return re.sub(_ILLEGAL, lambda match: match[0].encode("unicode_escape").decode(), text)


class _Levels(NamedTuple):
    """What programs call a severity."""

    github: str
    gitlab: str
    sarif: str
    problem: str  # GitHub's property "problem.severity" of a rule in SARIF


_LEVELS = {
    Severity.ERROR: _Levels("error", "major", "error", "error"),
    Severity.WARNING: _Levels("warning", "minor", "warning", "warning"),
    Severity.INFO: _Levels("notice", "info", "note", "recommendation"),
}


def _with_fingerprints(findings: Iterable[Finding]) -> Iterator[tuple[Finding, str]]:
    """Yield each finding with its fingerprint: a digest without the line number, and a count of equal ones.

    A forge takes a finding with a known fingerprint for an old one, wherever its line is by now.
    """
    from hashlib import sha256  # slow to import

    seen: Counter[str] = Counter()
    for finding in findings:
        # Neither the line number nor the indentation: both change while the finding stays
        path = relative(finding.location.path)
        excerpt = finding.location.excerpt.strip()
        text = "\0".join([path, finding.code, finding.doi or "", excerpt])
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        seen[digest] += 1
        yield finding, f"{digest}:{seen[digest]}"


def write_github(report: FindingsReport, stream: TextIO) -> None:
    """Write a workflow command for each finding, but for those that ``abridged`` leaves out.

    GitHub shows ten commands of a step at most, so many of one code would hide the others. How many are left out
    is a line of text.
    """
    for entry in abridged(report.findings):
        stream.write(_command(entry.finding))
        if entry.left_out:
            stream.write(f"{left_out_line(entry)}\n")


def _command(finding: Finding) -> str:
    """Return a workflow command, such as ``::error title=…,file=a.md,line=1::a.md:1:5: syntax: …``."""
    location = finding.location
    line, column, end_line, end_column = location.region
    properties = {
        "title": f"doiuri ({finding.code})",
        # the name of the file must stay, with the characters that the escapes below are for
        "file": printable(relative(location.path), kept="\r\n"),
        "line": str(line),
        "endLine": str(end_line),
    }
    # GitHub takes columns only within a line
    if line == end_line:
        properties |= {"col": str(column), "endColumn": str(end_column)}
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    text = f"{location_text(location)}: {finding.code}: {message(finding)}"
    return f"::{_LEVELS[finding.severity].github} {listed}::{_data(text)}\n"


def _data(text: str) -> str:
    """Escape a message as ``escapeData`` in GitHub's toolkit does."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape a property as ``escapeProperty`` in GitHub's toolkit does."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def write_gitlab(report: FindingsReport, stream: TextIO) -> None:
    """Write the findings as GitLab's Code Quality wants them."""
    issues = starmap(_issue, _with_fingerprints(report.findings))
    write_json_list(map(indented, issues), stream)


def _issue(finding: Finding, fingerprint: str) -> dict[str, object]:
    """Return an issue of Code Quality."""
    line, _, end_line, _ = finding.location.region
    return {
        "description": message(finding),
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": _LEVELS[finding.severity].gitlab,
        "location": {
            "path": encodable(relative(finding.location.path)),
            "lines": {"begin": line, "end": end_line},
        },
    }


_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_INDEX = {code: index for index, code in enumerate(RULES)}


def write_sarif(report: FindingsReport, stream: TextIO) -> None:
    """Write a log with one run."""
    run = {
        "tool": {"driver": _driver()},
        "columnKind": "unicodeCodePoints",  # §3.14.17
        "results": list(starmap(_result, _with_fingerprints(report.findings))),
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    stream.write(f"{to_json(log, indent=1)}\n")


def _driver() -> dict[str, object]:
    """Return the toolComponent (§3.19) with all rules."""
    from importlib.metadata import version  # slow to import

    return {
        "name": "doiuri",
        "informationUri": "https://github.com/doiuri/doiuri",
        "semanticVersion": version("doiuri-cli"),
        "rules": [_rule(rule) for rule in RULES.values()],
    }


def _rule(rule: Rule) -> dict[str, object]:
    """Return a reportingDescriptor (§3.49), whose help has the example as text and as Markdown."""
    text = f"{rule.summary} {rule.reason}\n\nExample: {rule.example}"
    markdown = f"{rule.summary} {rule.reason}\n\n    " + rule.example.replace("\n", "\n    ")
    if rule.instead:
        text += f"\nWrite: {rule.instead}"
        markdown += f"\n\nWrite:\n\n    {rule.instead}"
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.reason},
        "help": {"text": text, "markdown": markdown},
        "defaultConfiguration": {"level": _LEVELS[rule.severity].sarif},
        "properties": {
            "tags": ["doi"],
            "problem.severity": _LEVELS[rule.severity].problem,
            "precision": _precision(rule),
        },
    }


def _precision(rule: Rule) -> str:
    """Return GitHub's word for how often a finding is right: advice on a valid name need not be."""
    is_certain = rule.severity == Severity.ERROR or rule.fix == "safe"
    return "very-high" if is_certain else "medium"


def _result(finding: Finding, fingerprint: str) -> dict[str, object]:
    """Return a result (§3.27)."""
    result: dict[str, object] = {
        "ruleId": finding.code,
        "ruleIndex": _INDEX[finding.code],
        "level": _LEVELS[finding.severity].sarif,
        "message": {"text": message(finding)},
        "locations": [_location(finding.location)],
        # the one name that GitHub reads
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
    }
    if finding.fix is not None:
        result["fixes"] = [_fix(finding, finding.fix)]
    return result


def _location(location: SourceLocation) -> dict[str, object]:
    """Return a location (§3.28): in a notebook, the region is that of the file, and the cell has a name."""
    line, column, end_line, end_column = location.region
    physical = {
        "artifactLocation": _artifact(location.path),
        "region": {
            "startLine": line,
            "startColumn": column,
            "endLine": end_line,
            "endColumn": end_column,
        },
    }
    names: list[str] = []
    if location.cell is not None:
        names.append(f"cell {location.cell}")
    if location.entry:
        names.append(encodable(location.entry))
    result: dict[str, object] = {"physicalLocation": physical}
    if names:
        result["logicalLocations"] = [{"name": name} for name in names]
    return result


def _artifact(path: str) -> dict[str, str]:
    """Return an artifactLocation (§3.4): relative to the folder in which the command ran."""
    address = uri(path)
    if address.startswith("file:"):
        return {"uri": address}
    return {"uri": address, "uriBaseId": "%SRCROOT%"}


def _fix(finding: Finding, fix: Fix) -> dict[str, object]:
    """Return a fix (§3.55). Offsets are exact in every file; lines and columns would be those of a cell."""
    replacement = {
        "deletedRegion": {"charOffset": fix.start, "charLength": fix.end - fix.start},
        "insertedContent": {"text": encodable(fix.replacement)},
    }
    effect = "The DOI stays the same." if fix.name is None else "The DOI becomes another one."
    return {
        "description": {"text": f"Replace by {encodable(fix.replacement)}. {effect}"},
        "artifactChanges": [
            {"artifactLocation": _artifact(finding.location.path), "replacements": [replacement]}
        ],
    }
