"""What the text itself shows: texts with their findings, and the texts after the fixes."""

import json
from pathlib import Path
from typing import Any

import pytest
from doiuri_cli._config import Config
from doiuri_cli._examine import examine, judge, place_of
from doiuri_cli._fixes import apply, compatible
from doiuri_cli._mentions import mentions_in
from doiuri_cli.files import Source
from doiuri_cli.readers import Part
from doiuri_cli.registry._check import Answers
from doiuri_cli.rules import RULES, Finding
from doiuri_cli.rules._written import file_findings, part_findings, written_findings
from support.growth import is_linear

CASES = json.loads((Path(__file__).parent / "written.json").read_text())["cases"]


def findings(part: Part, tex_escape: str = "any") -> list[Finding]:
    source = Source("references.bib", part.text)
    mentions = list(mentions_in(part))
    found = [one for mention in mentions for one in written_findings(source, mention, tex_escape=tex_escape)]
    return [*found, *part_findings(source, part, mentions)]


def fixed(case: dict[str, Any], *, unsafe: bool = False) -> str:
    """Return the text after all rounds of fixes."""
    text: str = case["text"]
    for _ in range(5):
        part = Part(text, case["syntax"], field=case.get("field", False))
        found = findings(part, case.get("tex_escape", "any"))
        fixes = [one.fix for one in found if one.fix is not None and (unsafe or one.fix.safe)]
        text = apply(text, compatible(fixes))
    return text


def test_cases() -> None:
    for case in CASES:
        part = Part(case["text"], case["syntax"], field=case.get("field", False))
        found = findings(part, case.get("tex_escape", "any"))
        assert [one.code for one in found] == case["codes"], case
        assert all(one.code in RULES for one in found), case
        safe = case.get("fixed", case["text"])
        assert fixed(case) == safe, case
        assert fixed(case, unsafe=True) == case.get("unsafe", safe), case


def test_place_of_a_doubled_link() -> None:
    (finding,) = findings(Part("é https://doi.org/doi:10.1000/182\n", "text", start=0))
    assert (finding.line, finding.column, finding.end_line, finding.end_column) == (1, 3, 1, 34)
    assert finding.doi == "10.1000/182"
    assert finding.message.endswith(" before the name is enough: https://doi.org/doi:10.1000/182")


def test_advice_says_what_was_meant() -> None:
    (finding,) = findings(Part("10.1000/978\u20133", "text"))
    assert finding.message == "en dash (U+2013) looks like another character; did you mean 10.1000/978-3?"
    (finding,) = findings(Part("10.1000/caf\ufffd9", "text"))
    assert "did you mean" not in finding.message
    (finding,) = findings(Part("10.1000/a%41b", "text", field=True))
    assert (finding.code, finding.doi) == ("decoded-escape", "10.1000/aAb")
    assert "did you mean" not in finding.message


def test_entries_with_one_doi() -> None:
    values = {"a": "10.1000/182", "b": "10.1000/183", "c": "doi:10.1000/182", "d": "10.1000/182", "b2": "x"}
    text = "\n".join(values.values())
    starts = [0, 12, 24, 40, 52]
    parts = [
        Part(value, "bibtex", start=start, entry=key, field=True)
        for start, (key, value) in zip(starts, values.items(), strict=True)
    ]
    source = Source("x.bib", text)
    places = [place_of(source, mention) for part in parts for mention in mentions_in(part)]
    (finding,) = file_findings(source.path, places)
    assert (finding.code, finding.entry, finding.line) == ("duplicate", "c", 3)
    assert finding.message == "the same DOI as a (line 1) and d (line 4)"
    assert not list(file_findings("CITATION.cff", places))


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("a.bib", "@misc{{{key}, doi = {{{doi}}}, url = {{https://doi.org/{doi}}}, eprint = {{{doi}}}}}\n"),
        ("a.ris", "TY  - JOUR\nID  - {key}\nDO  - {doi}\nUR  - https://doi.org/{doi}\nER  - \n"),
        ("b.ris", "TY  - JOUR\nDO  - {doi}\nUR  - https://doi.org/{doi}\nER  - \n"),
        ("a.json", '[{{"id": "{key}", "type": "book", "DOI": "{doi}", "URL": "https://doi.org/{doi}"}}]'),
    ],
    ids=["BibTeX", "RIS", "RIS without keys", "CSL-JSON"],
)
def test_one_wrong_doi_in_fields_of_an_entry_is_one_finding(path: str, form: str) -> None:
    entries = [form.format(key=key, doi=doi) for key, doi in [("a", "10.1000/1"), ("b", "10.1000/2.pdf")]]
    text = "".join(entries).replace("][", ",")
    answers = {"10.1000/1": "not-found", "10.1000/2.PDF": "not-found"}
    report = examine(Source(path, text), Config())
    found = judge(report, Config(), Answers(2, answers)).findings
    assert [one.entry for one in found if one.code == "not-found"] == (
        ["record 1", "record 2"] if path == "b.ris" else ["a", "b"]
    )
    fixes = [one.fix for one in found if one.code == "page-address"]
    assert len(fixes) == entries[1].count("10.1000/2"), "each place is fixed"


def test_text_that_the_format_cannot_represent() -> None:
    def encode(text: str) -> str:
        raise ValueError(text)

    (finding,) = findings(Part("http://doi.org/10.1000/182", encode=encode))
    assert finding.code == "not-https"
    assert finding.fix is None


def test_places_and_escapes_of_the_format() -> None:
    places = [10 + 2 * number for number in range(30)]
    part = Part("http://doi.org/10.1000/182", places=places, encode=lambda text: text.replace("/", "\\/"))
    source = Source("x.txt", "." * 100)
    (mention,) = mentions_in(part)
    (finding,) = written_findings(source, mention)
    assert finding.fix is not None
    assert finding.fix[:3] == (10, 10 + 2 * len("http://doi.org"), "https:\\/\\/doi.org")


def test_a_link_in_front_matter_is_a_link_not_a_field() -> None:
    """Templates use it as the address of a link, so it is not to be replaced by the name."""
    text = "---\ndoi: {}\n---\n\nText.\n"
    for value, expected in {
        "https://doi.org/10.1000/182": [],
        "http://dx.doi.org/10.1000/182": [("not-https", "https://doi.org")],
        "doi:10.1000/182": [("field-form", "10.1000/182")],
        "10.1000/182": [],
    }.items():
        report = examine(Source("post.md", text.format(value)), Config())
        assert [(one.code, one.fix and one.fix.replacement) for one in report.findings] == expected
    (finding,) = examine(Source("post.md", text.format("https://doi.org/1000/182")), Config()).findings
    assert finding.code == "syntax"
    (finding,) = examine(Source("x.cff", "doi: https://doi.org/10.1000/182\n"), Config()).findings
    assert finding.code == "field-form"


def test_many_links_on_a_line_take_linear_time() -> None:
    assert is_linear(lambda count: findings(Part("https://doi.org/10.1000/1#" * count, "text")), 250, 2_500)


def test_the_rest_of_a_link_is_bounded() -> None:
    for length, count in ((900, 1), (1100, 0)):
        assert len(findings(Part(f"https://doi.org/10.1000/1#{'1' * length}", "text"))) == count
