"""Sessions that cache, whose keys must not take one DOI for another; vcrpy, which sees every request."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import requests
import requests_cache
import vcr
from cachecontrol import CacheControl
from cachecontrol.caches import FileCache
from doiuri import DOI, ResolverUnavailable
from doiuri.resolver import Resolver
from doiuri_proxy import running
from requests_doiuri import mount
from support.checks import exactly
from support.proxy_records import value
from support.servers.faults import Server, moved, reply, says
from support.servers.rest import handling, proxy
from support.servers.web import JSON, Answer, Asked, any_record, record, resolver, site
from support.targets import resolve_as
from vcr.errors import CannotOverwriteExistingCassetteException

# requests-cache's own key is the same for the first two, and for the last two.
ALIKE = [f"10.1000/{end}" for end in ("x", "/x", "../x", "./x", "x/", "á", "a\u0301")]


SESSIONS: dict[str, Callable[[str], requests.Session]] = {
    "requests-cache": lambda _: requests_cache.CachedSession(backend="memory"),
    "requests-cache with files": lambda path: requests_cache.CachedSession(
        path, backend="filesystem"
    ),
    "CacheControl": lambda _: CacheControl(requests.Session()),
    "CacheControl with files": lambda path: CacheControl(requests.Session(), FileCache(path)),
}


@pytest.mark.parametrize("kind", SESSIONS)
def test_no_doi_is_taken_for_another(kind: str, tmp_path: Path) -> None:
    with running([record(name, f"http://x.example/{i}") for i, name in enumerate(ALIKE)]) as proxy:
        session = mount(SESSIONS[kind](str(tmp_path)), proxy.url)
        for _ in range(2):
            for number, name in enumerate(ALIKE):
                answer = session.get(DOI(name).uri).json()
                assert (answer["handle"], answer["values"][0]["data"]["value"][-1]) == (
                    name,
                    str(number),
                )


def test_a_cached_record_needs_no_server(tmp_path: Path) -> None:
    path = str(tmp_path / "cache.sqlite")
    with site(resolver({"10.1000/1": "http://x.example/"})) as server:
        with mount(requests_cache.CachedSession(path), server.url) as session:
            first = session.get("doi:10.1000/1", params={"type": "URL"})
            assert session.get("doi:10.1000/1", params={"type": "URL"}).json() == first.json()
        exactly(1, "requests", server.seen)
    with mount(requests_cache.CachedSession(path), server.url, offline=True) as later:
        answer = later.get("doi:10.1000/1", params={"type": "URL"})
        assert (answer.json(), answer.url) == (first.json(), first.url)
        assert [one.url for one in answer.history] == [one.url for one in first.history]
        with pytest.raises(requests.ConnectionError, match="offline"):
            later.get("doi:10.1000/1")


@pytest.mark.parametrize("kind", ["requests-cache", "requests-cache with files"])
@pytest.mark.parametrize("redirects", [0, 1, 2])
def test_an_answer_that_varies_is_found_again(kind: str, redirects: int, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Answer:
        if asked.target.count("?hop") < redirects:
            return Answer(302, {"Location": f"{asked.target}?hop"}, b"")
        return any_record(asked)._replace(headers={**JSON, "Vary": "Accept-Language"})

    with site(answer) as server:
        session = mount(SESSIONS[kind](str(tmp_path)), server.url)

        def sends_requests(language: str) -> bool:
            before = len(server.seen)
            session.get("doi:10.1000/1", headers={"Accept-Language": language})
            return len(server.seen) > before

        sent = [sends_requests(language) for language in ("de", "de", "fr", "fr")]

    assert sent == [True, False, True, False]


def test_the_answers_of_our_proxy_are_found_again() -> None:
    with running([record("10.1000/1", "http://x.example/")]) as proxy:
        session = mount(requests_cache.CachedSession(backend="memory"), proxy.url)
        for _ in range(3):
            assert session.get("doi:10.1000/1").headers["Vary"]
        exactly(1, "requests", proxy.log)


def test_what_else_makes_an_answer_another_one() -> None:
    def answer(asked: Asked) -> Answer:
        values = [value("URL", f"{asked.target} {asked.headers['accept']}")]
        answer = {"responseCode": 1, "handle": "10.1000/1", "values": values}
        return Answer(200, JSON, json.dumps(answer).encode())

    with site(answer) as server:
        session = mount(requests_cache.CachedSession(backend="memory"), server.url)
        asked: list[tuple[dict[str, str], dict[str, object]]] = [
            ({}, {}),
            ({}, {"type": "URL"}),
            ({}, {"index": 1}),
            ({"Accept": "text/turtle"}, {}),
            ({"Accept": "application/x-bibtex"}, {}),
        ]
        texts = [
            session.get("doi:10.1000/1", headers=headers, params=params).text
            for headers, params in asked
        ]
        assert len({*texts}) == len(asked)
        target = mount(session, server.url, follow="target").get("doi:10.1000/1").text
        assert target not in texts
        with site(any_record) as other:
            assert mount(session, other.url).get("doi:10.1000/1").json()["values"] == []


def test_the_sessions_own_key_function_stays() -> None:
    calls: list[str | None] = []

    def key(request: requests.PreparedRequest, **_: object) -> str:
        calls.append(request.url)
        return f"mine {request.url}"

    with site(resolver({"10.1000/1": "http://x.example/"})) as server:
        session = mount(requests_cache.CachedSession(backend="memory", key_fn=key), server.url)
        mount(session, server.url)
        session.get("doi:10.1000/1")
        assert "doi:10.1000/1" in calls
        assert all(one.startswith("mine ") for one in session.cache.responses)


def test_other_sites_keep_their_keys() -> None:
    session = requests_cache.CachedSession(backend="memory")
    request = requests.Request("GET", "http://x.example/a?b=c", headers={"Accept": "*/*"}).prepare()
    before = session.cache.create_key(request)
    assert mount(session).cache.create_key(request) == before


def test_cachecontrol_keeps_a_record() -> None:
    kept = {**JSON, "Cache-Control": "max-age=3600"}
    with site(lambda asked: any_record(asked)._replace(headers=kept)) as server:
        session = mount(CacheControl(requests.Session()), server.url)
        assert session.get("doi:10.1000/1").json() == session.get("doi:10.1000/1").json()
        exactly(1, "requests", server.seen)


Ask = Callable[[str], object]


def of_resolver(url: str, session: requests.Session | None = None) -> Ask:
    resolver = Resolver(url, store=None, session=session)
    return lambda doi: resolver.resolve(doi).url


def of_own_session(url: str) -> Ask:
    return of_resolver(url, requests.Session())


def of_mounted_session(url: str) -> Ask:
    session = mount(requests.Session(), url)
    return lambda doi: session.get(f"doi:{doi}").json()["handle"]


@pytest.mark.parametrize("new", [of_resolver, of_own_session, of_mounted_session])
def test_a_warm_client_is_recorded_and_replayed(new: Callable[[str], Ask], tmp_path: Path) -> None:
    cassette = str(tmp_path / "cassette.yaml")

    def sent(server: Server, mode: str, *dois: str) -> tuple[int, list[object]]:
        before = len(server.requests)
        with vcr.use_cassette(cassette, record_mode=mode):
            answers = [ask(doi) for doi in dois]
        return len(server.requests) - before, answers

    with handling(proxy()) as server:
        ask = new(server.url)
        answers: list[object] = [ask("10.1000/1"), ask("10.1000/2")]
        assert sent(server, "once", "10.1000/1", "10.1000/2") == (2, answers)
        assert sent(server, "none", "10.1000/1", "10.1000/2") == (0, answers)
        with pytest.raises((CannotOverwriteExistingCassetteException, ResolverUnavailable)):
            sent(server, "none", "10.1000/3")
        exactly(4, "requests", server.requests)
        ask("10.1000/3")  # afterwards it is the server that answers
        exactly(5, "requests", server.requests)


def test_a_recorder_opens_no_way_into_a_private_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    with says(reply("200 OK", b"{}"))() as agency:
        with (
            moved(f"http://agency.example:{agency.port}/")() as server,
            vcr.use_cassette(str(tmp_path / "cassette.yaml")),
            pytest.raises(ResolverUnavailable, match="private network"),
        ):
            Resolver(server.url, store=None).metadata(DOI("10.1000/1"), "text/plain")
        assert not agency.requests
