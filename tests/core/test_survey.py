"""What is asked for a document: in which order, within which budget, and what is said of the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from doiuri import DOI
from doiuri.plugins import whole_name
from doiuri.plugins.survey import Answer, Need, Survey
from doiuri.resolver import LockFile, MemoryStore, Resolver
from doiuri.rest import CSL_JSON
from doiuri_proxy import resolver_for
from support.ports import refusing
from support.servers.rest import handling, proxy, targets
from support.servers.web import record

BOOK = DOI("10.5555/book")
BARE = DOI("10.5555/bare")
DEAD = DOI("10.5555/dead")
LOST = DOI("10.5555/20l8")
MEANT = DOI("10.5555/2018")
PAGE = DOI("10.5555/page")
WORK = {CSL_JSON: json.dumps({"type": "book", "title": "A book"})}
RECORDS: list[dict[str, Any]] = [
    {
        "handle": BOOK.name,
        "values": [],
        "metadata": WORK | {"text/x-bibliography": "A book. (2020)."},
    },
    {"handle": BARE.name, "values": []},
    {"handle": MEANT.name, "values": []},
    record(PAGE.name, "https://example.org/book") | {"metadata": WORK},
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
        survey.ask({BARE: Need.EXISTENCE})
        assert survey.statuses[BARE] == "found"
        assert (survey.unknown, survey.incomplete, survey.sentence([BOOK, BARE, DEAD])) == (
            {},
            {},
            "",
        )


@pytest.mark.parametrize("doi", [PAGE, BARE])
def test_what_was_known_of_the_work_of_a_missing_doi_is_void(doi: DOI) -> None:
    with resolver_for(RECORDS) as resolver:
        before = Survey(resolver, budget=10)
        before.look_up_works([doi])
    with resolver_for([]) as resolver:
        survey = Survey(resolver, budget=10)
        survey.works = before.works
        survey.ask({doi: Need.EXISTENCE})

    assert survey.answer(doi) == Answer("not-found")


@pytest.mark.parametrize("order", [(PAGE, BARE, DEAD, LOST), (LOST, DEAD, BARE, PAGE)])
def test_needs_met_at_once_are_answered_as_needs_met_one_by_one(order: tuple[DOI, ...]) -> None:
    needs = {PAGE: Need.CARD, BARE: Need.WORK, DEAD: Need.EXISTENCE, LOST: Need.WORK}
    with resolver_for(RECORDS) as resolver:
        together = Survey(resolver, budget=10)
        together.ask({doi: needs[doi] for doi in order})
        alone = Survey(resolver, budget=10)
        for doi in order:
            alone.ask({doi: needs[doi]})

    answers = {doi: together.answer(doi) for doi in needs}
    assert answers == {doi: alone.answer(doi) for doi in needs}
    page = together.works[PAGE]
    assert page is not None
    assert page.title == "A book"
    assert answers == {
        PAGE: Answer("found", work=page),
        BARE: Answer("found", lacks_metadata=True),
        DEAD: Answer("not-found"),
        LOST: Answer("not-found", meant=MEANT),
    }
    assert [doi for doi in needs if answers[doi].lacks_metadata] == [BARE]
    assert together.missing == {DEAD: None, LOST: MEANT}


@pytest.mark.parametrize("dead", [True, False])
def test_longer_names_of_dead_dois_are_one_more_batch(
    dead: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [DOI(f"10.5555/{letter}") for letter in "abc"]
    forms = {doi: [DOI(f"{doi.name}."), DOI(f"{doi.name}.)")] for doi in names}
    meant = {doi: forms[doi][1] for doi in names} if dead else {}
    registered = [*meant.values()] if dead else names
    batches: list[list[DOI]] = []
    check = Resolver.check

    def noting(self: Resolver, dois: list[DOI], **options: Any) -> Any:
        batches.append([*dois])
        return check(self, dois, **options)

    monkeypatch.setattr(Resolver, "check", noting)
    records = [{"handle": doi.name, "values": [], "metadata": WORK} for doi in registered]
    with resolver_for(records) as resolver:
        survey = Survey(resolver, budget=10)
        mentions = [*forms.items(), (names[0], ()), *forms.items()]
        survey.ask(dict.fromkeys(names, Need.CARD), longer=mentions)

    longer = [form for doi in names for form in forms[doi]]
    assert batches == ([names, longer] if dead else [names])
    assert [whole_name(doi, forms[doi], survey.statuses) for doi in names] == registered
    assert [doi for doi in registered if survey.works.get(doi) is None] == []
    assert survey.missing == meant


def test_only_what_is_needed_is_asked_for() -> None:
    with resolver_for(RECORDS) as resolver:
        survey = Survey(resolver, budget=10)
        survey.ask({PAGE: Need.EXISTENCE})
        survey.look_up_works([LOST])

    assert survey.statuses == {PAGE: "found", LOST: "not-found"}
    assert (survey.works, survey.meant) == ({}, {})


def test_nothing_is_guessed_for_a_lock_file() -> None:
    with resolver_for(RECORDS) as resolver:
        survey = Survey(resolver, budget=10, lock="record")
        survey.ask({LOST: Need.EXISTENCE})

    assert (survey.statuses, survey.meant) == ({LOST: "not-found"}, {})
    assert {key.doi for key in survey.entries} == {LOST.key}


@pytest.mark.parametrize(
    ("rate", "works", "others", "first"),
    [
        (20, 8, 1, False),
        (20, 21, 0, True),
        (20, 8, 13, True),
        (20, 8, 17, False),
        (None, 30, 30, False),
    ],
)
def test_existence_is_asked_first_if_the_budget_does_not_reach(
    rate: float | None, works: int, others: int, first: bool
) -> None:
    """Each work is a request, and each of a few others; a budget of a second allows twenty."""
    needs = {DOI(f"10.5555/{number}"): Need.WORK for number in range(works)}
    needs |= {DOI(f"10.5555/other{number}"): Need.EXISTENCE for number in range(others)}
    with handling(proxy(agencies=lambda _name: {"RA": "Crossref"})) as server:
        resolver = Resolver(server.url, store=None, rate=rate)
        survey = Survey(resolver, budget=1.0)
        survey.ask(needs)
    assert targets(server)[0].startswith("/doiRA/") is first


@pytest.mark.parametrize("needs", [(Need.WORK, Need.EXISTENCE), (Need.EXISTENCE, Need.WORK)])
def test_a_longer_name_is_needed_as_much_as_any_shorter_one(needs: tuple[Need, Need]) -> None:
    """A page cites 10.5555/book without its end, and links to it without another end."""
    shorter = DOI("10.5555/bo"), DOI("10.5555/boo")
    with resolver_for(RECORDS) as resolver:
        survey = Survey(resolver, budget=10)
        asked = dict(zip(shorter, needs, strict=True))
        survey.ask(asked, longer=[(doi, [BOOK]) for doi in shorter])
    assert BOOK in survey.works, f"no work of {BOOK}, which mentions mean that need {needs}"


def test_what_is_unknown_is_counted_once_with_its_cause() -> None:
    with (
        refusing() as port,
        Resolver(f"http://127.0.0.1:{port}", store=None, rate=None) as resolver,
    ):
        survey = Survey(resolver, budget=10)
        survey.ask({BOOK: Need.WORK, BARE: Need.EXISTENCE})
    assert survey.sentence([BOOK, BARE, DEAD]) == (
        f"2 of 3 DOIs could not be checked: 127.0.0.1:{port}: Connection refused"
    )
    assert (survey.statuses, survey.works) == ({}, {})


@pytest.mark.parametrize("need", [Need.EXISTENCE, Need.WORK])
def test_a_later_answer_ends_what_was_unknown(need: Need) -> None:
    with resolver_for(RECORDS) as up, refusing() as port:
        survey = Survey(up, budget=10)
        with Resolver(f"http://127.0.0.1:{port}", store=None, rate=None) as down:
            broken = Survey(down, budget=10)
            broken.ask(dict.fromkeys([BOOK, DEAD], need))
        assert set(broken.unknown) == {BOOK, DEAD}
        survey.unknown = broken.unknown
        survey.incomplete = broken.incomplete
        survey.ask(dict.fromkeys([BOOK, DEAD], need))
    assert (survey.unknown, survey.incomplete, survey.sentence([BOOK, DEAD])) == ({}, {}, "")
    assert survey.statuses[DEAD] == "not-found"


@pytest.mark.parametrize(
    ("dead", "registered", "meant"),
    [
        ("a1O", ["a10"], "a10"),
        ("aI0l", ["a101"], "a101"),
        ("b/full/PDF", ["b"], "b"),
        ("b.pdf", ["b", "B.PD"], "b"),
        ("c/d", ["c"], "c"),
        ("c/d", [], None),
        ("1O/data.pdf", ["1O", "10/data.pdf", "1O/x"], "1O"),
        ("1O/data.pdf", ["10/data.pdf", "1O/x"], "10/data.pdf"),
        ("2l/x", ["21/x", "2l"], "21/x"),
    ],
)
def test_the_most_probable_of_the_registered_names_was_meant(
    dead: str, registered: list[str], meant: str | None
) -> None:
    records: list[dict[str, Any]] = [
        {"handle": f"10.5555/{name}", "values": []} for name in registered
    ]
    with resolver_for(records) as resolver:
        survey = Survey(resolver, budget=10)
        survey.ask(dict.fromkeys([DEAD, DOI(f"10.5555/{dead}")], Need.EXISTENCE))
    assert [doi.name for doi in survey.meant.values()] == ([f"10.5555/{meant}"] if meant else [])


def test_an_expired_answer_counts_but_is_marked() -> None:
    store = MemoryStore()
    with resolver_for(RECORDS, store=store) as resolver:
        first = Survey(resolver, budget=10, lock="record")
        first.ask({BARE: Need.EXISTENCE})
        store.put_many({key: entry._replace(expires=0.0) for key, entry in first.entries.items()})
        list(resolver.resolve_many([BOOK]))
    survey = Survey(Resolver(store=store, offline=True), budget=10)
    survey.ask(dict.fromkeys([BOOK, BARE], Need.EXISTENCE))
    assert survey.statuses == {BOOK: "found", BARE: "found"}
    assert {doi: str(cause) for doi, cause in survey.stale.items()} == {
        BARE: "offline: request not sent"
    }


def test_a_stale_answer_fills_a_gap_in_a_lock_file_and_replaces_nothing(tmp_path: Path) -> None:
    store = MemoryStore()
    file = LockFile(tmp_path / "doi.lock")

    def renewed(resolver: Resolver, *works: DOI) -> Survey:
        with resolver:
            survey = Survey(resolver, budget=10, lock="exists")
            survey.ask(dict.fromkeys([BARE, BOOK], Need.EXISTENCE))
            survey.ask(dict.fromkeys(works, Need.WORK))
        file.edit(lambda content: survey.renew(content, [BARE, BOOK]))
        return survey

    old = renewed(resolver_for(RECORDS), BOOK)
    store.put_many({key: entry._replace(expires=0.0) for key, entry in old.entries.items()})
    file.path.unlink()
    assert renewed(Resolver(store=store, offline=True), BOOK).stale.keys() == {BARE, BOOK}
    assert {doi for doi in (BARE, BOOK) if doi.key in file.read().dois()} == {BARE, BOOK}
    renewed(
        resolver_for([RECORDS[0] | {"metadata": {CSL_JSON: '{"title": "Another"}'}}, RECORDS[1]]),
        BOOK,
    )
    renewed(resolver_for(RECORDS))
    newer = file.path.read_bytes()
    assert b"Another" in newer, "a work stays if only the existence is renewed"
    renewed(Resolver(store=store, offline=True), BOOK)
    assert file.path.read_bytes() == newer


def test_a_stale_answer_does_not_replace_a_not_found_in_a_lock_file(tmp_path: Path) -> None:
    store = MemoryStore()
    file = LockFile(tmp_path / "doi.lock")
    needs = {BARE: Need.EXISTENCE}
    facts = {"records": RECORDS, "agencies": {"10.5555": "Crossref"}}
    with resolver_for(facts, store=store) as resolver:
        existed = Survey(resolver, budget=10, lock="exists")
        existed.ask(needs)
    assert {key.kind for key in existed.entries if key.doi == BARE.key} == {"exists"}
    store.put_many({key: entry._replace(expires=0.0) for key, entry in existed.entries.items()})
    with resolver_for([]) as resolver:
        gone = Survey(resolver, budget=10, lock="record")
        gone.ask(needs)
    file.edit(lambda content: gone.renew(content, [BARE]))

    offline = Survey(Resolver(store=store, offline=True), budget=10, lock="exists")
    offline.ask(needs)
    file.edit(lambda content: offline.renew(content, [BARE]))

    assert offline.stale.keys() == {BARE}
    assert file.read().status(BARE.key) == "not-found"


def test_the_entries_behind_the_answers_are_recorded_on_request() -> None:
    with resolver_for(RECORDS) as resolver:
        survey = Survey(resolver, budget=10, lock="record")
        survey.ask(dict.fromkeys([BARE, DEAD], Need.EXISTENCE))
        assert {(key.kind, key.doi) for key in survey.entries} == {
            ("record", BARE.key),
            ("record", DEAD.key),
        }
        assert not Survey(resolver, budget=10).entries
