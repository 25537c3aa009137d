"""``sarif``: valid, with places that GitHub finds and fingerprints that stay."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from doiuri_cli.output import Report
from doiuri_cli.rules import RULES, Fix
from jsonschema import Draft202012Validator
from support.cli.findings import finding, for_any_report, report, written

SCHEMA = Draft202012Validator(
    json.loads((Path(__file__).parent / "schemas" / "sarif.json").read_text("utf-8")),
    format_checker=Draft202012Validator.FORMAT_CHECKER,
)


def run(many: Report) -> dict[str, Any]:
    """The run in the log."""
    log = json.loads(written(many, "sarif"))
    SCHEMA.validate(log)
    (only,) = log["runs"]
    return dict(only)


def artifact(path: str) -> dict[str, str]:
    (result,) = run(report(finding(path=path)))["results"]
    location: dict[str, str] = result["locations"][0]["physicalLocation"]["artifactLocation"]
    return location


@for_any_report
def test_any_findings_make_a_valid_log(many: Report) -> None:
    only = run(many)
    assert only["columnKind"] == "unicodeCodePoints"
    assert len(only["results"]) == len(many.findings)
    for result, found in zip(only["results"], many.findings, strict=True):
        assert only["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == found.code
        (location,) = result["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        if not found.path.startswith("/"):
            assert unquote_to_bytes(uri) == os.fsencode(os.path.normpath(found.path))


def test_every_rule_has_a_help_text() -> None:
    rules = run(report())["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [*RULES]
    assert all(RULES[rule["id"]].example in rule["help"]["text"] for rule in rules)


def test_a_result() -> None:
    (result,) = run(report(finding(fix=Fix(1000, 1043, "https://doi.org/10.1000/182", safe=True))))["results"]
    (location,) = result["locations"]
    assert result["level"] == "error"
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "docs/methods.md", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 41, "startColumn": 21, "endLine": 41, "endColumn": 64},
    }
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["replacements"] == [
        {
            "deletedRegion": {"charOffset": 1000, "charLength": 43},
            "insertedContent": {"text": "https://doi.org/10.1000/182"},
        }
    ]


def test_a_finding_in_a_cell_has_its_place_in_the_file() -> None:
    found = finding(path="a.ipynb", cell=7, entry="smith", in_file=(90, 5, 90, 48))
    (result,) = run(report(found))["results"]
    (location,) = result["locations"]
    assert location["physicalLocation"]["region"]["startLine"] == 90
    assert location["logicalLocations"] == [{"name": "cell 7"}, {"name": "smith"}]


def test_uris_are_encoded_and_relative_to_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path, uri in {
        "./docs/../a.md": "a.md",
        "a b#?%.md": "a%20b%23%3F%25.md",
        "a:b.md": "a%3Ab.md",
        "漢.md": "%E6%BC%A2.md",
        "caf\udce9.md": "caf%E9.md",
        "../a.md": "../a.md",
        str(tmp_path / "docs" / "a.md"): "docs/a.md",
    }.items():
        assert artifact(path) == {"uri": uri, "uriBaseId": "%SRCROOT%"}
    assert artifact("/elsewhere/a b.md") == {"uri": "file:///elsewhere/a%20b.md"}


def prints(*found: Any) -> list[str]:
    return [
        result["partialFingerprints"]["primaryLocationLineHash"] for result in run(report(*found))["results"]
    ]


def test_fingerprints_stay_if_lines_move_and_differ_otherwise() -> None:
    one = finding()
    moved = one._replace(line=99, end_line=99)
    others = [
        finding(path="b.md"),
        finding(code="look-alike"),
        finding(doi="10.1000/182"),
        finding(excerpt="another line"),
    ]
    assert prints(one) == prints(moved)
    assert prints(one) == prints(one._replace(path="./docs/methods.md"))
    assert len(set(prints(one, moved, *others))) == 6
