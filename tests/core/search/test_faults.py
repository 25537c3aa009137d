"""Search servers that fail or lie: unknown stays unknown, nothing is stored, and no work raises an error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from doiuri.resolver import MemoryStore, Resolver
from doiuri.search import Found, Search
from doiuri.works import Work
from support.servers.faults import FAULTS, Fault
from support.servers.search import searchable
from support.servers.web import JSON, Answer, Asked, Site, site

WORK = Work.from_item(
    "izzo2014",
    {
        "type": "article-journal",
        "title": "Revisiting Lambert's problem",
        "author": [{"family": "Izzo"}],
        "issued": {"date-parts": [[2014]]},
        "volume": "121",
    },
)
IZZO: dict[str, Any] = {
    "DOI": "10.1007/s10569-014-9587-y",
    "title": ["Revisiting Lambert’s problem"],
    "author": [{"family": "Izzo"}],
    "issued": {"date-parts": [[2014]]},
    "volume": "121",
}


def find(url: str, store: MemoryStore | None = None) -> Found:
    """Return what is found; the registry is nowhere."""
    resolver = Resolver("http://127.0.0.1:1", store=store, timeout=0.5)
    [found] = Search(resolver, crossref=url, datacite=url).find([WORK])
    return found


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if not fault.big], ids=str)
def test_a_server_that_fails_is_no_answer(fault: Fault) -> None:
    store = MemoryStore()
    with fault.serve() as server:
        found = find(server.url, store)
    assert (found.sure, found.likely) == (None, ()), fault.name
    assert found.cause is not None, fault.name
    assert store.usage().entries == 0, fault.name


def message(*items: object) -> bytes:
    return json.dumps({"message": {"items": items}}).encode()


UNUSABLE = {
    "no object": b"[]",
    "no message": b"{}",
    "no list": b'{"message": {"items": {}}}',
    "null": b'{"message": {"items": null}}',
    "a member twice": b'{"message": {"items": []}, "message": {"items": []}}',
}
OTHERS = {
    "nothing": message(),
    "no objects": message(1, None, "x", []),
    "no DOI": message({**IZZO, "DOI": None}),
    "no name of a DOI": message({**IZZO, "DOI": "https://example.org"}),
    "no title": message({**IZZO, "title": []}),
    "a number as the title": message({**IZZO, "title": 7}),
    "no authors": message({**IZZO, "author": None}),
    "authors of wrong types": message({**IZZO, "author": [7, None]}),
    "an object as the authors": message({**IZZO, "author": {"family": "Izzo"}}),
    "no date": message({**IZZO, "issued": {"date-parts": [[None]]}}),
    "a text as the date": message({**IZZO, "issued": "soon"}),
    "200 others": message(*[{**IZZO, "title": [f"Work {n}"], "DOI": f"10.1000/{n}"} for n in range(200)]),
}  # fmt: skip


@contextmanager
def answering(body: bytes) -> Iterator[Site]:
    def answer(asked: Asked) -> Answer:
        return Answer(200, JSON, body)

    with site(answer) as running:
        yield running


@pytest.mark.parametrize("name", UNUSABLE)
def test_an_answer_of_another_form_is_no_answer(name: str) -> None:
    store = MemoryStore()
    with answering(UNUSABLE[name]) as running:
        found = find(running.url, store)
    assert found.cause is not None, name
    assert store.usage().entries == 0, name


@pytest.mark.parametrize("name", OTHERS)
def test_works_without_proof_are_not_believed(name: str) -> None:
    with answering(OTHERS[name]) as running:
        found = find(running.url)
    assert (found.sure, found.likely, found.cause) == (None, (), None), name


@pytest.mark.parametrize(
    "members",
    [
        {"title": ["Revisiting <b>Lambert’s</b> problem"]},
        {"title": "Revisiting Lambert’s problem"},
        {"container-title": 7, "page": None, "relation": "x", "update-to": []},
        {"author": [{"family": "Izzo", "affiliation": [{"name": "x"}]}, 7]},
    ],
    ids=str,
)
def test_what_is_wrong_elsewhere_does_not_matter(members: dict[str, Any]) -> None:
    with answering(message({**IZZO, **members})) as running:
        found = find(running.url)
    [candidate] = found.likely  # it cannot be confirmed: the registry is nowhere
    assert candidate.doi.name == IZZO["DOI"], members
    assert found.cause is not None, members


def test_a_work_found_at_one_server_is_known_though_another_failed() -> None:
    adam: dict[str, Any] = {
        "DOI": "10.48550/arxiv.1412.6980",
        "title": ["Adam: a method for stochastic optimization"],
        "author": [{"family": "Kingma", "given": "Diederik"}],
        "issued": {"date-parts": [[2014]]},
        "container-title": "arXiv",
    }
    work = Work.from_item("kingma", {**adam, "type": "document", "title": adam["title"][0]})
    registry = searchable([adam])

    def answer(asked: Asked) -> Answer:
        return Answer(404, JSON, b"{}") if asked.target.startswith("/works?") else registry(asked)

    with site(answer) as running:
        resolver = Resolver(running.url, store=None)
        [found] = Search(resolver, crossref=running.url, datacite=running.url).find([work])
    assert found.doi is not None
    assert found.cause is None, found.cause
