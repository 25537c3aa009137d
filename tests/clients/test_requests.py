"""What is particular to requests: history, sessions, params, cookies, hooks and copies."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from doiuri_proxy import Running, running
from requests_doiuri import mount
from support.clients import PAGE, REFUSED, TARGETS, URI
from support.servers.tls import Authority
from support.servers.web import JSON, Answer, Site, record, resolver, site


@pytest.fixture
def proxy() -> Iterator[Running]:
    with running([record("10.1000/1", "http://x.example/")]) as started:
        yield started


def test_the_record_comes_by_a_redirect_that_history_shows_or_that_is_left_to_the_caller(
    proxy: Running,
) -> None:
    session = mount(requests.Session(), proxy.url)
    followed = session.get(URI, params={"type": "URL"})
    left = session.get(URI, params={"type": "URL"}, allow_redirects=False)
    assert (followed.json()["handle"], left.history) == ("10.1000/1", [])
    assert left.next is not None
    assert left.next.url == followed.url == f"{proxy.url}/api/handles/10.1000/1?type=URL"
    assert session.send(left.next).json() == followed.json()
    for first in (left, *followed.history):
        assert (first.status_code, first.reason, first.url) == (302, "Found", URI)
        assert first.headers["location"] == followed.url
        assert (first.request.url, first.content, first.is_redirect) == (URI, b"", True)


def test_a_request_prepared_without_the_session(proxy: Running) -> None:
    session = mount(requests.Session(), proxy.url)
    assert session.send(requests.Request("GET", URI).prepare()).status_code == 200
    with pytest.raises(requests.exceptions.InvalidURL, match=r"10\.1000/x%23y"):
        session.send(requests.Request("GET", "doi:10.1000/x#y").prepare())


def test_a_copied_session_gets_dois_and_params_only_when_it_is_mounted_again(
    proxy: Running,
) -> None:
    session = mount(
        mount(requests.Session(), "http://127.0.0.1:9"), proxy.url
    )  # the second one counts
    session.params = {"index": 1}
    for twin in (pickle.loads(pickle.dumps(session)), copy.copy(session), copy.deepcopy(session)):
        with pytest.raises(requests.exceptions.InvalidSchema, match="mount\\(session\\) again"):
            twin.get(URI)
        answer = mount(twin, proxy.url).get("DOI:10.1000/1", params={"type": "URL"})
        assert answer.url.endswith("?index=1&type=URL")


def test_a_mounted_session_is_of_its_own_class() -> None:
    class Mine(requests.Session):
        """A user's session class."""

    session = mount(Mine())
    assert isinstance(session, Mine)
    assert (type(session).__name__, type(session).__module__) == ("Mine", __name__)
    assert type(copy.copy(session)) is type(session)


def test_a_prepared_request_keeps_its_params_when_it_is_pickled(anything: Site) -> None:
    session = mount(requests.Session(), anything.url)
    prepared = session.prepare_request(
        requests.Request("GET", URI, params={"type": "URL", "auth": True})
    )
    twin = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(prepared))))
    for one in (prepared, prepared.copy(), twin, twin):
        session.send(one)
    assert [asked.target for asked in anything.seen] == ["/api/handles/10.1000/1?type=URL&auth"] * 4
    twin.url = "doi:10.1000/2"
    session.send(twin)
    assert anything.seen[-1].target == "/api/handles/10.1000/2"
    twin.url = "doi:10.1000/2?index=1"
    with pytest.raises(requests.exceptions.InvalidURL):
        session.send(twin)


@pytest.mark.parametrize("header", ["a=b; c=d=e; ; ", b"a=b;c=d=e"])
def test_a_cookie_header_reaches_the_resolver(header: str | bytes, anything: Site) -> None:
    mount(requests.Session(), anything.at("localhost")).get(URI, headers={"Cookie": header})
    assert {*anything.seen[0].headers["cookie"].split("; ")} == {"a=b", "c=d=e"}


def test_cookies_of_one_request_are_not_kept_and_other_urls_redirects_keep_them(
    anything: Site,
) -> None:
    with site(
        lambda asked: PAGE if asked.target == "/b" else Answer(302, {"Location": "/b"})
    ) as other:
        session = mount(requests.Session(), anything.url)
        for url, cookies in ((URI, {"a": "b"}), (URI, {}), (other.url, {"a": "b"})):
            session.get(url, cookies=cookies)
        sent = [one.headers.get("cookie") for one in (*anything.seen, *other.seen)]
    assert sent == ["a=b", None, "a=b", "a=b"]


def test_a_prepared_request_is_checked_each_time_and_can_be_pickled() -> None:
    with (
        site(lambda _: PAGE) as landing,
        site(resolver({"10.1000/1": landing.at("localhost")})) as proxy,
    ):
        session = mount(requests.Session(), proxy.url, follow="target", private=True)
        request = session.prepare_request(requests.Request("GET", URI))
        response = session.send(request)
        mount(session, proxy.url, follow="target", private=False)
        for again in (request, pickle.loads(pickle.dumps(request)), response.history[0].request):
            with pytest.raises(requests.ConnectionError, match=REFUSED):
                session.send(again)
        assert len(request.hooks["response"]) == 1
        assert pickle.loads(pickle.dumps(response)).history[0].url == URI


def test_verify_and_cert(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    with site(resolver(TARGETS), tls=authority.server(ask_client=True)) as server:
        session = mount(requests.Session(), server.url)
        session.cert = str(authority.client)
        with pytest.raises(requests.exceptions.SSLError):
            session.get(URI)
        assert session.get(URI, verify=str(authority.bundle)).status_code == 200
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority.bundle))
        assert session.get(URI).status_code == 200


def test_stream() -> None:
    body = b"x" * 1_000_000
    with site(lambda _: Answer(200, JSON, body)) as server:
        session = mount(requests.Session(), server.url, follow="target")
        with session.get(URI, stream=True) as response:
            assert not response._content_consumed  # type: ignore[attr-defined]
            assert sum(map(len, response.iter_content(65536))) == len(body)


def test_hooks_see_every_response_of_the_way(anything: Site) -> None:
    seen: list[str | None] = []
    hooks = {"response": lambda response, **_: seen.append(response.url)}
    mount(requests.Session(), anything.url).get(URI, hooks=hooks)
    assert seen == [URI, f"{anything.url}/api/handles/10.1000/1"]


def test_netrc_serves_the_resolver(
    anything: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login u password p\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    mount(requests.Session(), anything.url).get(URI)
    assert anything.seen[0].headers["authorization"] == "Basic dTpw"
