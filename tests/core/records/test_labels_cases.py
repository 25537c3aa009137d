"""Every case of tests/cases/references: what citations say, and the list in its order."""

from __future__ import annotations

import pytest
from doiuri import Handle
from doiuri.records import Bibliography, plain_reference, reference_parts, with_year_label
from doiuri.testing import resolver_for
from support.references import CASES, RECORDS, ReferenceCase

resolver = resolver_for(RECORDS)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_citations_and_lists(case: ReferenceCase) -> None:
    cited = [Handle.parse(doi) for citation in case.citations for doi in citation.dois]
    works = {o.doi: o.work for o in resolver.works(cited) if o.doi is not None and o.work is not None}
    bibliography = Bibliography(cited, works, case.style, case.words)
    for citation in case.citations:
        dois = map(Handle.parse, citation.dois)
        without = set(map(Handle.parse, citation.without_author))
        if citation.form == "textual":
            parts = bibliography.textual(dois)
        else:
            parts = bibliography.parenthetical(dois, without_author=without)
        assert "".join(part.text for part in parts) == citation.text
        assert [part.doi.key for part in parts if part.doi] == list(
            dict.fromkeys(doi.upper() for doi in citation.dois)
        )
    number = case.style == "number"
    entries = bibliography.references
    assert [(entry.doi.name, str(entry.number) if number else entry.label) for entry in entries] == [
        (entry.doi, entry.label) for entry in case.entries
    ]
    formatted = {outcome.doi: outcome.reference for outcome in resolver.references(cited)}
    for entry, expected in zip(entries, case.entries, strict=True):
        text = formatted[entry.doi] or plain_reference(entry.work, case.words)
        parts = reference_parts(entry.doi, with_year_label(entry, text))
        assert expected.text in {"", "".join(part.text for part in parts)}
        assert [part.doi for part in parts if part.doi] == [entry.doi]
