"""Search, over real sockets: a stand-in for Crossref, DataCite and the DOI proxy."""

from __future__ import annotations

import re
import time
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlsplit

import pytest
from doiuri import DOI
from doiuri.resolver import MemoryStore, Resolver
from doiuri.search import Found, Search
from doiuri.works import Work
from support.servers.search import search_site, searchable, searches
from support.servers.web import JSON, Answer, Asked, Site, site

IZZO: dict[str, Any] = {
    "DOI": "10.1007/s10569-014-9587-y",
    "type": "journal-article",
    "title": ["Revisiting Lambert’s problem"],
    "author": [{"family": "Izzo", "given": "Dario"}],
    "issued": {"date-parts": [[2014, 10]]},
    "container-title": ["Celestial Mechanics and Dynamical Astronomy"],
    "short-container-title": ["Celest Mech Dyn Astr"],
    "volume": "121",
    "page": "1-15",
}
ADAM: dict[str, Any] = {
    "DOI": "10.48550/arxiv.1412.6980",
    "type": "article",
    "title": ["Adam: A Method for Stochastic Optimization"],
    "author": [{"family": "Kingma", "given": "Diederik P."}],
    "issued": {"date-parts": [[2014]]},
}
ORION: dict[str, Any] = {
    "DOI": "10.5281/zenodo.4321",
    "type": "software",
    "title": ["Orion: a solver for orbits of many bodies"],
    "author": [{"family": "Åberg", "given": "Nils"}],
    "issued": {"date-parts": [[2020]]},
}
REGISTERED: list[dict[str, Any]] = [IZZO, ADAM, ORION]


def work(key: str = "izzo2014", **members: Any) -> Work:
    """Return an author's description of Izzo's article, changed."""
    item = {
        "type": "article-journal",
        "title": "Revisiting Lambert's problem",
        "author": [{"family": "Izzo", "given": "D."}],
        "issued": {"date-parts": [[2014]]},
        "container-title": "Celest. Mech. Dyn. Astron.",
        "volume": "121",
    }
    return Work.from_item(
        key, {member: value for member, value in (item | members).items() if value}
    )


def search_at(running: Site, **options: Any) -> Search:
    defaults: dict[str, Any] = {"store": None, "mailto": "me@example.org"}
    resolver = Resolver(running.url, **(defaults | options))
    return Search(resolver, crossref=running.url, datacite=running.url)


def test_a_work_is_found_by_what_agrees() -> None:
    with search_site(REGISTERED) as running:
        [found] = search_at(running).find([work()])
    assert found.doi == DOI("10.1007/s10569-014-9587-y")
    assert found.evidence == ("title", "first author", "year", "volume", "container")
    assert found.sent_to == ("Crossref",)


def test_only_title_first_author_year_container_volume_and_page_are_sent() -> None:
    secret = {
        "note": "SECRET",
        "abstract": "SECRET",
        "annote": "SECRET",
        "URL": "https://SECRET.example",
    }
    described = work("SECRET-key", page="1-15", keyword="SECRET", **secret)
    with search_site(REGISTERED) as running:
        list(search_at(running).find([described]))
    [target] = searches(running)
    [words] = parse_qs(urlsplit(target).query)["query.bibliographic"]
    assert words == "Revisiting Lambert's problem Izzo 2014 Celest. Mech. Dyn. Astron. 121 1-15"
    assert not [asked for asked in running.seen if "SECRET" in unquote_plus(str(asked))]


@pytest.mark.parametrize(
    "members",
    [
        {"type": "manuscript"},
        {"type": "personal_communication"},
        {"status": "submitted"},
        {"note": "Manuscript in preparation."},
        {"note": "Under review at Nature"},
        {"container-title": "Submitted to Celest. Mech."},
        {"title": ""},
    ],
    ids=str,
)
def test_unpublished_works_are_not_sent(members: dict[str, str]) -> None:
    with search_site(REGISTERED) as running:
        [found] = search_at(running).find([work(**members)])
    assert found == Found(found.work, searched=False), members
    assert running.seen == [], members


def test_a_work_with_a_doi_is_not_searched_for() -> None:
    with search_site(REGISTERED) as running:
        [found] = search_at(running).find([Work(DOI("10.1000/1"), IZZO)])
    assert (found.doi, running.seen) == (None, [])


@pytest.mark.parametrize(
    ("members", "doi", "evidence"),
    [
        ({"URL": f"https://doi.org/{IZZO['DOI']}"}, IZZO["DOI"], "URL"),
        ({"URL": f"https://link.springer.com/article/{IZZO['DOI']}"}, IZZO["DOI"], "URL"),
        ({"note": f"doi:{IZZO['DOI']}"}, IZZO["DOI"], "note"),
    ],
    ids=str,
)
def test_a_doi_in_a_link_or_a_note_needs_no_search(
    members: dict[str, str], doi: str, evidence: str
) -> None:
    with search_site(REGISTERED) as running:
        [found] = search_at(running).find([work(**members)])
    assert found.doi == DOI(doi), members
    assert found.evidence[0] == evidence, members
    assert searches(running) == [], members


def test_a_note_that_names_another_work_is_not_believed() -> None:
    with search_site(REGISTERED) as running:
        [found] = search_at(running).find([work(note="builds upon doi:10.48550/arXiv.1412.6980")])
    assert found.doi == DOI(IZZO["DOI"])
    assert found.sent_to == ("Crossref",)


def test_an_arxiv_identifier_names_a_preprint_only() -> None:
    adam = {
        "title": ADAM["title"][0],
        "author": ADAM["author"],
        "volume": "",
        "issued": {"date-parts": [[2017]]},
    }
    preprint = work(
        "kingma", URL="https://arxiv.org/abs/1412.6980v9", **{"container-title": "CoRR"}, **adam
    )
    talk = work(
        "kingma", URL="https://arxiv.org/abs/1412.6980v9", **{"container-title": "ICLR"}, **adam
    )
    with search_site(REGISTERED) as running:
        of_preprint, of_talk = search_at(running).find([preprint, talk])
    assert (of_preprint.doi, of_preprint.evidence[0]) == (DOI(ADAM["DOI"]), "arXiv identifier")
    assert of_talk.doi is None


TITLES = {
    "(((": None,
    "<>": None,
    "a AND (b OR c) NOT d TO e": r"a and \(b or c\) not d to e",
    r'C:\x "y" [z] {w} ~1 ^2 *? && || ! + - = /': (
        r"C\:\\x \"y\" \[z\] \{w\} \~1 \^2 \*\? \&\& \|\| \! \+ \- \= \/"
    ),
    "x <y> z": "x  y  z",
}


@pytest.mark.parametrize("title", TITLES)
def test_titles_are_no_queries_of_lucene(title: str) -> None:
    with search_site(REGISTERED) as running:
        [found] = search_at(running).find([work(type="dataset", title=title)])
    targets = [target for target in searches(running) if target.startswith("/dois?")]
    queries = [parse_qs(urlsplit(target).query)["query"][0] for target in targets]
    escaped = TITLES[title]
    assert queries == ([] if escaped is None else [f"titles.title:({escaped})"]), title
    assert found.searched is (escaped is not None), title


@pytest.mark.parametrize(
    ("members", "asked"),
    [
        ({"type": "article-journal"}, ["works"]),
        ({"type": "book"}, ["works"]),
        ({"type": "chapter"}, ["works"]),
        ({"type": "paper-conference"}, ["works"]),
        ({"type": "article-journal", "container-title": "CoRR"}, ["works", "dois"]),
        ({"type": "document"}, ["works", "dois"]),
        ({"type": "thesis"}, ["works", "dois"]),
        ({"type": "report"}, ["works", "dois"]),
        ({"type": "article"}, ["works", "dois"]),
        ({"type": "dataset"}, ["dois", "works"]),
        ({"type": "software"}, ["dois", "works"]),
    ],
    ids=str,
)
def test_datacite_is_asked_for_some_types(members: dict[str, str], asked: list[str]) -> None:
    with search_site(REGISTERED) as running:
        list(search_at(running).find([work(title="Nobody registered this one", **members)]))
    assert [target[1:].partition("?")[0] for target in searches(running)] == asked, members


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(status: int) -> None:
    """Another server would get the reader's references."""
    with search_site(REGISTERED) as elsewhere:

        def answer(asked: Asked) -> Answer:
            return Answer(status, {"Location": elsewhere.url + asked.target})

        with site(answer) as running:
            [found] = search_at(running).find([work(type="document")])
        assert elsewhere.seen == [], status
    assert (found.doi, found.sent_to) == (None, ("Crossref", "DataCite")), status
    assert f"HTTP status {status}" in str(found.cause), status


def test_the_servers_limits_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doiuri.search._source.is_loopback", lambda host: False)
    limited = {"X-Rate-Limit-Limit": "1", "X-Rate-Limit-Interval": "2s"}
    answers = searchable(REGISTERED)

    def answer(asked: Asked) -> Answer:
        status, plain, body = answers(asked)
        return Answer(status, {**plain, **limited}, body)

    with site(answers) as crossref, site(answer) as datacite:
        resolver = Resolver(crossref.url, store=None, mailto="me@example.org")
        search = Search(resolver, crossref=crossref.url, datacite=datacite.url)
        list(search.find([work(type="dataset")]))
        assert len(datacite.seen) == 1
    assert search.rate == 3.0  # that of Crossref


def test_it_waits_as_long_as_the_server_asks() -> None:
    answers = searchable(REGISTERED)
    times = []

    def answer(asked: Asked) -> Answer:
        if not asked.target.startswith("/works?"):
            return answers(asked)
        times.append(time.monotonic())
        return answers(asked) if len(times) > 1 else Answer(429, {"Retry-After": "1"})

    with site(answer) as running:
        [found] = search_at(running).find([work()])
    first, second = times
    assert found.doi == DOI(IZZO["DOI"])
    assert second - first >= 1


def test_software_is_searched_at_datacite_first() -> None:
    orion = work("orion", type="software", title=ORION["title"][0], author=ORION["author"], volume="",
                 issued=ORION["issued"], **{"container-title": ""})  # fmt: skip
    with search_site(REGISTERED) as running:
        [found] = search_at(running).find([orion])
    assert [candidate.doi.name for candidate in found.likely] == [ORION["DOI"]]
    assert searches(running)[0].startswith("/dois?")


def test_a_doi_that_is_not_registered_is_not_found() -> None:
    """Crossref may have a name that the DOI system does not (yet) resolve."""
    search = searchable([IZZO])
    registry = searchable([ADAM])

    def answer(asked: Asked) -> Answer:
        return search(asked) if asked.target.startswith("/works?") else registry(asked)

    with site(answer) as running:
        [found] = search_at(running).find([work()])
    assert (found.doi, found.likely, found.cause) == (None, (), None)


def test_answers_are_stored_for_30_days_or_7(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    unknown = work("nobody", title="A work that nobody registered", volume="")
    asked = []
    now = time.time()
    with search_site(REGISTERED) as running:
        for days in (0, 6.9, 7.1, 13.9, 29.9, 30.1):
            monkeypatch.setattr(time, "time", lambda days=days: now + days * 86400)
            before = len(searches(running))
            found = list(search_at(running, store=store).find([work(), unknown]))
            sent = searches(running)[before:]
            asked.append((days, sorted("Lambert" in target for target in sent)))
            assert [each.doi for each in found] == [DOI(IZZO["DOI"]), None], days
    assert asked == [
        (0, [False, True]),
        (6.9, []),
        (7.1, [False]),
        (13.9, []),
        (29.9, [False]),
        (30.1, [True]),
    ]


def test_offline_nothing_is_sent() -> None:
    with search_site(REGISTERED) as running:
        [found] = search_at(running, offline=True).find([work()])
    assert str(found.cause) == "offline: request not sent"
    assert running.seen == []


def test_after_three_failures_in_a_row_a_server_is_left_alone() -> None:
    registry = searchable(REGISTERED)

    def answer(asked: Asked) -> Answer:
        return Answer(404, JSON, b"{}") if asked.target.startswith("/works?") else registry(asked)

    with site(answer) as running:
        found = list(
            search_at(running, concurrency=1).find(
                [work(title=f"Title number {n}") for n in range(30)]
            )
        )
    assert {str(each.cause) for each in found} == {f"{running.host}: HTTP status 404"}
    assert len(searches(running)) <= 5  # three at once, of which the last two were on their way


def test_at_most_13_requests_for_10_works() -> None:
    titles = [f"Orbits of the {number}th kind of bodies" for number in range(50)]
    registered = [
        {**IZZO, "DOI": f"10.1000/{n}", "title": [title]} for n, title in enumerate(titles)
    ]
    with search_site(registered) as running:
        found = list(search_at(running).find([work(title=title) for title in titles]))
    assert [each.doi for each in found] == [DOI(item["DOI"]) for item in registered]
    assert len(running.seen) <= 65, f"{len(running.seen)} requests for 50 works"


@pytest.mark.parametrize(
    ("headers", "rate"),
    [
        ({"X-Rate-Limit-Limit": "1", "X-Rate-Limit-Interval": "1s"}, 1.0),
        ({"X-Rate-Limit-Limit": "50", "X-Rate-Limit-Interval": "1s"}, 3.0),
        ({"X-Rate-Limit-Limit": "many"}, 3.0),
        ({}, 3.0),
    ],
    ids=str,
)
def test_the_lower_limit_wins(
    headers: dict[str, str], rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("doiuri.search._source.is_loopback", lambda host: False)
    answers = searchable(REGISTERED)

    def answer(asked: Asked) -> Answer:
        status, plain, body = answers(asked)
        return Answer(status, {**plain, **headers}, body)

    with site(answer) as running:
        search = search_at(running)
        list(search.find([work()]))
    assert search.rate == rate, headers


@pytest.mark.parametrize(("mailto", "rate"), [("me@example.org", 3.0), (None, 1.0)])
def test_without_a_mail_address_it_is_slower(mailto: str | None, rate: float) -> None:
    search = Search(Resolver("http://127.0.0.1:9", store=None, mailto=mailto))
    assert search.rate == rate


def test_the_servers_are_told_the_mail_address_in_the_user_agent_only() -> None:
    with search_site(REGISTERED) as running:
        list(search_at(running).find([work()]))
    [asked] = [asked for asked in running.seen if asked.target.startswith("/works?")]
    assert "mailto:me@example.org" in asked.headers["user-agent"]
    assert not re.search("mailto|example", asked.target)
