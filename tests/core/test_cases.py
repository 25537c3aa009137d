"""Every case of tests/cases/doi.json at the door it names."""

import pytest
from doiuri import DOI, DOISyntaxError
from support.cases import Case, accepted, cases


def enter(case: Case) -> DOI:
    if case.door == "url" and case.hosts is not None:
        return DOI.from_url(case.input, hosts=case.hosts, strict=case.strict)
    doors = {"name": DOI.from_name, "uri": DOI.from_uri, "url": DOI.from_url, "parse": DOI.parse}
    return doors[case.door](case.input, strict=case.strict)


def test_accepted() -> None:
    """Every name that the edition of 2000 allows stays valid (N-005)."""
    wrong: list[tuple[object, ...]] = []
    for case in accepted():
        try:
            doi = enter(case)
        except DOISyntaxError as error:
            wrong.append((case, error))
        else:
            if (doi.name, doi.uri, doi.url) != (case.name, case.uri, case.url):
                wrong.append((case, doi.name, doi.uri, doi.url))
    assert wrong == []


def test_refused() -> None:
    refused = [case for case in cases() if case.name is None]
    assert len(refused) > 100
    for case in refused:
        with pytest.raises(DOISyntaxError) as caught:
            pytest.fail(f"{case} is taken for {enter(case).name!r}")
        error = caught.value
        assert error.text == case.input, case
        assert error.reason, case
        assert 0 <= error.position <= len(case.input), case
        assert case.position in {None, error.position}, case
