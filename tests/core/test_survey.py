"""What is asked for a document: in which order, within which budget, and what is said of the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest
from doiuri import DOI
from doiuri.plugins.survey import Survey
from doiuri.resolver import Resolver
from doiuri.rest import CSL_JSON
from doiuri.testing import resolver_for
from support.ports import refusing
from support.servers.rest import handling, proxy, targets

BOOK, BARE, DEAD = DOI("10.5555/book"), DOI("10.5555/bare"), DOI("10.5555/dead")
WORK = {CSL_JSON: json.dumps({"type": "book", "title": "A book"})}
RECORDS: list[dict[str, Any]] = [
    {"handle": BOOK.name, "values": [], "metadata": WORK | {"text/x-bibliography": "A book. (2020)."}},
    {"handle": BARE.name, "values": []},
]


def test_answers_are_gathered_by_doi() -> None:
    with resolver_for(RECORDS) as resolver:
        survey = Survey(resolver, budget=10)
        survey.look_up_works([BOOK, BARE, DEAD])
        assert {doi: survey.statuses.get(doi) for doi in (BOOK, BARE, DEAD)} == {
            BOOK: "found",
            BARE: None,  # without metadata it may exist nevertheless
            DEAD: "not-found",
        }
        assert {doi: work and work.title for doi, work in survey.works.items()} == {
            BOOK: "A book",
            BARE: None,
        }
        survey.look_up_references([BOOK, BARE], "apa", "en-US")
        assert survey.references == {BOOK: "A book. (2020).", BARE: None}
        survey.check([BARE], "existence")
        assert survey.statuses[BARE] == "found"
        assert (survey.unknown, survey.incomplete, survey.sentence([BOOK, BARE, DEAD])) == ({}, {}, "")


@pytest.mark.parametrize(
    ("rate", "works", "others", "first"),
    [(20, 4, 1, False), (20, 11, 0, True), (20, 4, 13, True), (None, 30, 30, False)],
)
def test_existence_is_asked_first_if_the_budget_does_not_reach(
    rate: float | None, works: int, others: int, first: bool
) -> None:
    """Each work is two requests; a budget of a second allows twenty."""
    dois = [DOI(f"10.5555/{number}") for number in range(works + others)]
    with handling(proxy(agencies=lambda _name: {"RA": "Crossref"})) as server:
        resolver = Resolver(server.url, store=None, rate=rate)
        survey = Survey(resolver, budget=1.0)
        survey.look_up_works(dois[:works], dois[works:])
    assert targets(server)[0].startswith("/doiRA/") is first
    assert len(survey.statuses) == (len(dois) if first else 0)


def test_what_is_unknown_is_counted_once_with_its_cause() -> None:
    with refusing() as port, Resolver(f"http://127.0.0.1:{port}", store=None, rate=None) as resolver:
        survey = Survey(resolver, budget=10)
        survey.look_up_works([BOOK])
        survey.check([BOOK, BARE], "existence")
    assert survey.sentence([BOOK, BARE, DEAD]) == (
        f"2 of 3 DOIs could not be checked: 127.0.0.1:{port}: Connection refused"
    )
    assert (survey.statuses, survey.works) == ({}, {})


def test_the_entries_behind_the_answers_are_recorded_on_request() -> None:
    with resolver_for(RECORDS) as resolver:
        survey = Survey(resolver, budget=10, record=True)
        survey.check([BARE, DEAD])
        assert {(key.kind, key.doi) for key in survey.entries} == {("record", BARE.key), ("record", DEAD.key)}
        assert not Survey(resolver, budget=10).entries
