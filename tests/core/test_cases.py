"""Every case of tests/cases/doi.json at the door it names."""

import pytest
from doiuri import DOI, DOISyntaxError
from support.cases import Case, accepted, cases


def enter(case: Case) -> DOI:
    if case.door == "url" and case.hosts is not None:
        return DOI.from_url(case.input, hosts=case.hosts, strict=case.strict)
    doors = {"name": DOI.from_name, "uri": DOI.from_uri, "url": DOI.from_url, "parse": DOI.parse}
    return doors[case.door](case.input, strict=case.strict)


@pytest.mark.parametrize("case", accepted(), ids=str)
def test_what_is_a_doi_is_taken_and_written(case: Case) -> None:
    """Every name that the edition of 2000 allows stays valid (N-005)."""
    doi = enter(case)
    assert (doi.name, doi.uri, doi.url) == (case.name, case.uri, case.url)


@pytest.mark.parametrize("case", [case for case in cases() if case.name is None], ids=str)
def test_what_is_no_doi_is_refused_at_its_flaw(case: Case) -> None:
    with pytest.raises(DOISyntaxError) as caught:
        enter(case)
    error = caught.value
    assert (error.text, bool(error.reason)) == (case.input, True)
    assert error.position == case.position or (
        case.position is None and 0 <= error.position <= len(case.input)
    )
