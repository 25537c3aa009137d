"""``junit``: valid XML, whatever files are named."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from doiuri_cli.output import Report
from support.cli.findings import finding, for_any_report, report, written

if TYPE_CHECKING:
    from xmlschema import XMLSchema


@cache
def schema() -> XMLSchema:
    from xmlschema import XMLSchema  # takes a second, in each worker of pytest

    return XMLSchema(Path(__file__).parent / "schemas" / "junit.xsd")


def suites(many: Report) -> ElementTree.Element:
    """The root of the report."""
    root = ElementTree.fromstring(written(many, "junit"))
    schema().validate(root)
    return root


@for_any_report
def test_any_findings_make_a_valid_report(many: Report) -> None:
    root = suites(many)
    failed, skipped = root.findall(".//failure"), root.findall(".//skipped")
    assert len(failed) + len(skipped) == len(many.findings)
    assert int(root.get("failures", "")) == len(failed)
    assert len(root) == (len({finding.path for finding in many.findings}) or 1)


def test_a_failure() -> None:
    (suite,) = suites(report(finding(), finding("not-https", cell=3)))
    assert suite.get("name") == "docs/methods.md"
    assert [case.get("name") for case in suite] == ["not-found 41:21", "not-https cell 3:41:21"]
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.attrib == {"type": "error", "message": "10.1371/journal.pone.013187 is not registered"}


def test_what_xml_cannot_hold_is_escaped() -> None:
    (suite,) = suites(report(finding(path="a]]>\n\x1b\udcff&.md", message="\ufffe\ud800<漢>")))
    assert suite.get("name") == r"a]]>\n\x1b\xff&.md"
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == r"\ufffe\ud800<漢>"


def test_without_findings_one_test_passed() -> None:
    root = suites(report())
    assert (root.get("tests"), root.get("failures")) == ("1", "0")
    assert root.find("testsuite/testcase") is not None
