"""``json``, ``jsonl``, ``github``, ``gitlab`` and ``markdown``."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from doiuri_cli.output import FORMATS, Report
from doiuri_cli.rules import Fix
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt
from support.cli.findings import finding, for_any_report, report, written

SCHEMAS = Path(__file__).parent / "schemas"


def schema(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((SCHEMAS / name).read_text("utf-8")))


FINDING, CODE_QUALITY = schema("findings.json"), schema("code-quality.json")


@for_any_report
def test_json_and_jsonl_say_the_same(many: Report) -> None:
    listed = json.loads(written(many, "json"))
    lines = written(many, "jsonl").splitlines()
    assert listed == [json.loads(line) for line in lines]
    assert written(many, "json").isascii()
    for value, found in zip(listed, many.findings, strict=True):
        FINDING.validate(value)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
        assert (value["line"], value["end_column"]) == (found.line, found.end_column)


def test_json_has_these_members() -> None:
    fix = Fix(0, 9, "https://doi.org/10.1000/182", safe=True)
    found = finding(
        "not-https", path="caf\udce9.bib", entry="smith", doi="10.1000/182", message='"]', cell=1, fix=fix
    )
    assert json.loads(written(report(found), "json")) == [
        {
            "path": r"caf\xe9.bib",
            "line": 41,
            "column": 21,
            "end_line": 41,
            "end_column": 64,
            "cell": 1,
            "entry": "smith",
            "code": "not-https",
            "severity": "warning",
            "message": '"]',
            "doi": "10.1000/182",
            "fix": {"replacement": "https://doi.org/10.1000/182", "safe": True},
        }
    ]
    assert written(report(), "json") == "[]\n"
    assert written(report(), "jsonl") == ""


def unescaped(text: str) -> str:
    """What GitHub's runner reads."""
    for sign, code in ((":", "%3A"), (",", "%2C"), ("\r", "%0D"), ("\n", "%0A"), ("%", "%25")):
        text = text.replace(code, sign)
    return text


@for_any_report
def test_every_finding_is_one_command_for_github(many: Report) -> None:
    lines = written(many, "github").split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(many.findings)
    for line, found in zip(lines, many.findings, strict=True):
        match = re.fullmatch(r"::(error|warning|notice) ([^:\r]*)::([^\r]*)", line)
        assert match
        properties = dict(item.split("=", 1) for item in match[2].split(","))
        assert properties["title"] == f"doiuri ({found.code})"
        assert int(properties["line"]) == (found.in_file or (found.line,))[0]
        if found.path.isprintable() or found.path.replace("\n", "").isprintable():
            assert unescaped(properties["file"]) == os.path.normpath(found.path)


@for_any_report
def test_no_format_holds_a_command_for_another_ci_system(many: Report) -> None:
    for name in FORMATS:
        if name != "github":  # a line is one command there, and the file keeps its name
            text = written(many, name)
            assert not re.search(r"##(\[|vso\[)|^\s*::", text, re.MULTILINE), name


def test_a_command_for_github() -> None:
    found = finding(path="a,b:c%\n.md", message="50%\r\nno")
    assert written(report(found), "github") == (
        "::error title=doiuri (not-found),file=a%2Cb%3Ac%25%0A.md,line=41,endLine=41,col=21,endColumn=64"
        "::a,b:c%25\\n.md:41:21: not-found: 50%25\\r\\nno\n"
    )
    assert "col=" not in written(report(found._replace(end_line=42)), "github")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("full", "docs/methods.md:41:21: info[preprint-published] a preprint"),
        ("concise", "docs/methods.md:41:21: info[preprint-published] a preprint"),
        ("json", '"severity": "info"'),
        ("jsonl", '"severity": "info"'),
        ("github", "::notice title=doiuri (preprint-published)"),
        ("gitlab", '"severity": "info"'),
        ("sarif", '"level": "note",\n     "message"'),
        ("junit", 'tests="1" failures="0"'),
        ("junit", '<skipped message="a preprint">'),
        ("markdown", "| docs/methods.md:41:21 | info | preprint-published | a preprint |"),
        ("markdown", "1 info."),
    ],
)
def test_every_format_has_a_word_for_information(name: str, text: str) -> None:
    assert text in written(report(finding("preprint-published", message="a preprint")), name)


@for_any_report
def test_any_findings_make_a_valid_code_quality_report(many: Report) -> None:
    issues = json.loads(written(many, "gitlab"))
    CODE_QUALITY.validate(issues)
    assert len({issue["fingerprint"] for issue in issues}) == len(many.findings)


def test_an_issue_for_gitlab() -> None:
    (issue,) = json.loads(written(report(finding(path="./docs/a.md")), "gitlab"))
    assert issue.pop("fingerprint")
    assert issue == {
        "description": "10.1371/journal.pone.013187 is not registered",
        "check_name": "not-found",
        "severity": "major",
        "location": {"path": "docs/a.md", "lines": {"begin": 41, "end": 41}},
    }


def rendered(many: Report) -> str:
    return str(MarkdownIt("gfm-like", {"linkify": False}).render(written(many, "markdown")))


@for_any_report
def test_findings_stay_in_their_cells(many: Report) -> None:
    html = rendered(many)
    assert html.count("<tr>") == (len(many.findings) + 1 if many.findings else 0)
    assert html.count("<td>") == 4 * len(many.findings)
    tags = {"table", "thead", "tbody", "tr", "th", "td", "p", "strong", "ul", "li"}
    assert set(re.findall(r"</?(\w+)", html)) <= tags
    assert "@" not in written(many, "markdown")


def test_the_markdown_shows_what_stands_there() -> None:
    html = rendered(report(finding(path="a|b`c*.md", message=r"<b> \| [x](y) &amp; a_b_c")))
    assert "<td>a|b`c*.md:41:21</td>" in html
    assert r"<td>&lt;b&gt; \| [x](y) &amp;amp; a_b_c</td>" in html


def test_a_summary_stays_below_the_size_that_github_shows() -> None:
    text = written(report(*[finding(path="\\" * 5000, message="`" * 5000)] * 3000), "markdown")
    assert len(text.encode()) < 2**20
    assert "2000 more findings are not listed." in text
