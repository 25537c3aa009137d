"""No text that mentions a DOI is passed over."""

from __future__ import annotations

import json
from pathlib import Path

from doiuri import DOI, find
from doiuri.testing import strategies as dois
from doiuri_cli.readers import may_mention
from hypothesis import given

CASES = Path(__file__).parents[2] / "cases"


@given(dois.dois())
def test_a_name_is_seen_with_and_without_a_label(doi: DOI) -> None:
    for text in (f"see {doi.name} there", f"doi:{doi.name}", f"dOi:{doi.name}", f"Hdl: {doi.name}", doi.url):
        assert may_mention(text) or not list(find(text))


def test_labels_and_escapes_are_signs_and_decimals_versions_and_addresses_are_none() -> None:
    for text in (
        "hdl:10.1/a", "HDL:10.1/a", "dOI 10.12/a", "DOI: 10.1/a", "10.1000/182", "10.1000.10/a",
        "10\\.1000/a", "10\\ .1000/a", "10.1000%2Fa", "10&#46;1000/a", "10<wbr>.1000/a", "10.\u200b1000/a",
        "10{.}1000/a", "urn:doi:10.1:a",
    ):  # fmt: skip
        assert may_mention(text), text
    for text in ("v10.2/guide.html", "10.5", "10.2: new", "10\\%", "2010/11", "a 10.4 rate", "a DOI"):
        assert not may_mention(text), text
        assert not list(find(text)), text


def test_the_shared_cases_are_seen_in_each_syntax() -> None:
    seen = 0
    for file in CASES.glob("**/*.json"):
        for text in _strings(json.loads(file.read_text("utf-8"))):
            for syntax in ("text", "html", "xml", "markdown", "rst", "tex", "bibtex"):
                if next(find(text, syntax), None):
                    seen += 1
                    assert may_mention(text), (syntax, text)
    assert seen > 100


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _strings(part)]
