"""The rule of the search: what is sure, what is likely, and what is another work; through the public face.

Each case of ``missing.json`` says what its entry and the registered works have that the usual ones do not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from doiuri.resolver import Resolver
from doiuri.search import Search
from doiuri.works import Work
from support.servers.search import searchable
from support.servers.web import Answer, Asked, site

RULE = json.loads(Path(__file__).parents[2].joinpath("cases", "missing.json").read_text("utf-8"))


def changed(usual: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {member: value for member, value in (usual | changes).items() if value}


@pytest.fixture(scope="module")
def register() -> Iterator[Callable[[list[dict[str, Any]]], str]]:
    """Register works in place of those before, and return the URL of the server, which all cases share."""
    answer = searchable([])

    def answer_now(asked: Asked) -> Answer:
        return answer(asked)

    def replaced_by(works: list[dict[str, Any]]) -> str:
        nonlocal answer
        answer = searchable(works)
        return running.url

    with site(answer_now) as running:
        yield replaced_by


@pytest.mark.parametrize("case", RULE["cases"], ids=lambda case: str(case["name"]))
def test_the_rule(case: dict[str, Any], register: Callable[[list[dict[str, Any]]], str]) -> None:
    entry = Work.from_item("gross1956", changed(RULE["entry"], case["entry"]))
    url = register([changed(RULE["registered"], changes) for changes in case["registered"]])
    resolver = Resolver(url, store=None)
    [found] = Search(resolver, crossref=url, datacite=url).find([entry])
    sure = found.doi and found.doi.name
    likely = sorted(candidate.doi.name for candidate in found.likely)
    assert (sure, likely) == (case["sure"], case["likely"]), case["name"]


@pytest.mark.parametrize("difference", range(-3, 4))
def test_a_work_of_the_year_before_or_after_is_likely_and_of_no_other(
    difference: int, register: Callable[[list[dict[str, Any]]], str]
) -> None:
    """A preprint is often a year older, an issue a year younger than what is cited."""
    year = RULE["entry"]["issued"]["date-parts"][0][0]
    entry = Work.from_item("gross1956", RULE["entry"])
    issued = {"date-parts": [[year + difference]]}
    url = register([RULE["registered"] | {"issued": issued}])

    [found] = Search(Resolver(url, store=None), crossref=url, datacite=url).find([entry])

    names = [candidate.doi.name for candidate in (*found.likely, *filter(None, [found.sure]))]
    expected = [RULE["registered"]["DOI"]] if abs(difference) <= 1 else []
    assert names == expected, f"{difference} years after the entry"


@pytest.mark.parametrize("difference", [-1, 0, 1])
@pytest.mark.parametrize("agreeing", ["volume", "page", "container-title"])
def test_the_year_beside_needs_the_volume_or_the_page_to_be_sure(
    difference: int, agreeing: str, register: Callable[[list[dict[str, Any]]], str]
) -> None:
    """A talk and the article after it may have one title, author and container."""
    values = {"volume": "43", "page": "1275", "container-title": "Physical Review Letters"}
    entry = Work.from_item("gross1956", RULE["entry"] | {agreeing: values[agreeing]})
    issued = {"date-parts": [[1956 + difference]]}
    url = register([RULE["registered"] | {"issued": issued}])

    [found] = Search(Resolver(url, store=None), crossref=url, datacite=url).find([entry])

    is_enough = difference == 0 or agreeing != "container-title"
    assert (found.sure is not None) is is_enough, f"{agreeing}, {difference} years: {found}"


PAGE_61 = ("61", "0061", "61-70", "61–70", "61 (10 pages)", "61:1-61:6", "61:1–61:6")
ARTICLE_61 = [*({"page": page} for page in PAGE_61), {"article-number": "61"}]


@pytest.mark.parametrize("written", PAGE_61)
def test_a_first_page_or_article_number_agrees_in_any_form(
    written: str, register: Callable[[list[dict[str, Any]]], str]
) -> None:
    """Articles that count their own pages have the number of the article before the colon."""
    entry = Work.from_item("gross1956", RULE["entry"] | {"page": written})
    for registered in ARTICLE_61:
        url = register([RULE["registered"] | {"page": "", "volume": ""} | registered])

        [found] = Search(Resolver(url, store=None), crossref=url, datacite=url).find([entry])

        assert found.sure is not None, f"{written!r} is not the page of {registered}: {found}"
        assert "page" in found.sure.evidence, f"{written!r}, {registered}: {found.sure.evidence}"


@pytest.mark.parametrize("count", range(1, 5))
def test_a_title_of_one_or_two_words_needs_more_than_a_volume_to_be_sure(
    count: int, register: Callable[[list[dict[str, Any]]], str]
) -> None:
    """Many works have such a title, also in one volume."""
    title = " ".join(["Excitons", "discovered", "inside", "cuprite"][:count])
    entry = Work.from_item("gross1956", RULE["entry"] | {"title": title, "volume": "43"})
    url = register([RULE["registered"] | {"title": [title], "volume": "43", "page": ""}])

    [found] = Search(Resolver(url, store=None), crossref=url, datacite=url).find([entry])

    assert (found.sure is not None) is (count > 2), f"{title!r}: {found}"
