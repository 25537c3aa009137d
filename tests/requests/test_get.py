"""session.get("doi:…"): the record, by a redirect that the session follows like any other."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from urllib.parse import unquote

import pytest
import requests
import requests_doiuri
from doiuri import DOI, DOISyntaxError
from doiuri_proxy import running
from requests_doiuri import DOIAdapter, mount
from support.cases import NO_URIS, ODD_NAMES, odd_cases
from support.servers.web import JSON, Answer, Site, record, resolver, site


def test_the_record_comes_by_a_redirect_that_history_shows() -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        session = mount(requests.Session(), proxy.url)
        response = session.get("doi:10.1000/182")
        assert response.json()["handle"] == "10.1000/182"
        assert response.url == f"{proxy.url}/api/handles/10.1000/182"
        (first,) = response.history
        assert (first.status_code, first.reason, first.url) == (302, "Found", "doi:10.1000/182")
        assert first.headers["location"] == response.url
        assert (first.request.url, first.content, first.is_redirect) == ("doi:10.1000/182", b"", True)


@pytest.mark.parametrize("by_hand", [False, True])
def test_each_name_is_asked_for_as_written_and_no_other_answers(by_hand: bool) -> None:
    with running([record(name, f"http://x.example/{i}") for i, name in enumerate(ODD_NAMES)]) as proxy:
        session = requests.Session()
        if by_hand:
            session.mount("doi:", DOIAdapter(proxy.url))
        else:
            mount(session, proxy.url)
        for number, name in enumerate(ODD_NAMES):
            answer = session.get(DOI(name).uri).json()
            assert answer["handle"] == name
            assert answer["values"][0]["data"]["value"] == f"http://x.example/{number}"


@pytest.mark.parametrize("uri", ["DOI:10.1000/182", "  doi:10.1000/18%32", b"doi:10.1000/182"])
def test_other_legal_spellings_are_the_same_doi(uri: str | bytes) -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        session = mount(requests.Session(), proxy.url)
        assert session.get(uri).history[0].url == "doi:10.1000/182"


@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.parametrize(
    ("uri", "position", "repaired"), [*NO_URIS, ("doi:10.1000/x\n", 13, "doi:10.1000/x")]
)
def test_what_is_no_uri_is_refused_before_any_traffic(
    uri: str, position: int, repaired: str | None, by_hand: bool
) -> None:
    with site(lambda _: Answer()) as anything:
        session = requests.Session()
        if by_hand:
            session.mount("doi:", DOIAdapter(anything.url))
        else:
            mount(session, anything.url)
        with pytest.raises(requests.exceptions.InvalidURL, match=f"position {position}") as caught:
            session.get(uri)
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value.__cause__, DOISyntaxError)
        assert caught.value.__cause__.suggestion == repaired
        assert (repaired or "") in str(caught.value)
        assert anything.seen == []


@pytest.fixture(scope="module")
def anything() -> Iterator[Site]:
    with site(lambda _: Answer(200, JSON, b"{}")) as server:
        yield server


def test_every_odd_name_is_asked_for_by_its_uri(anything: Site) -> None:
    names = [str(case.name) for case in odd_cases()]
    anything.seen.clear()
    with mount(requests.Session(), anything.url) as session:
        for name in names:
            session.get(DOI(name).uri)
    assert [unquote(one.target) for one in anything.seen] == [f"/api/handles/{name}" for name in names]


def test_a_missing_doi_is_a_404_that_names_it() -> None:
    with running([]) as proxy:
        response = mount(requests.Session(), proxy.url).get("doi:10.1000/nope")
        assert (response.status_code, response.json()["responseCode"]) == (404, 100)
        with pytest.raises(requests.HTTPError, match=r"404.*10\.1000/nope"):
            response.raise_for_status()


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_a_doi_is_read_not_written(method: str) -> None:
    with site(lambda _: Answer()) as anything:
        session = mount(requests.Session(), anything.url)
        with pytest.raises(requests.exceptions.InvalidSchema, match=r"10\.1000/1: a DOI is read-only"):
            session.request(method, "doi:10.1000/1")
        assert anything.seen == []


@pytest.mark.parametrize("body", [{"data": b"x"}, {"json": {}}, {"files": {"a": b"x"}}])
def test_a_body_is_refused_not_dropped(body: dict[str, object], anything: Site) -> None:
    anything.seen.clear()
    session = mount(requests.Session(), anything.url)
    with pytest.raises(requests.exceptions.InvalidSchema, match=r"10\.1000/1: a DOI is read-only"):
        session.get("doi:10.1000/1", **body)  # type: ignore[arg-type]
    assert anything.seen == []


def test_head() -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        session = mount(requests.Session(), proxy.url)
        first = session.head("doi:10.1000/182")  # requests does not follow redirects of HEAD by itself
        assert (first.status_code, first.headers["Location"]) == (302, f"{proxy.url}/api/handles/10.1000/182")
        last = session.head("doi:10.1000/182", allow_redirects=True)
        assert (last.status_code, last.request.method, last.content) == (200, "HEAD", b"")


def test_redirects_can_be_left_to_the_caller() -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        session = mount(requests.Session(), proxy.url)
        first = session.get("doi:10.1000/182", params={"type": "URL"}, allow_redirects=False)
        assert (first.status_code, first.history) == (302, [])
        assert first.next is not None
        assert first.next.url == f"{proxy.url}/api/handles/10.1000/182?type=URL"
        assert session.send(first.next).json()["handle"] == "10.1000/182"


def test_a_prepared_request_may_be_sent_again() -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        session = mount(requests.Session(), proxy.url)
        prepared = session.prepare_request(requests.Request("GET", "doi:10.1000/182", params={"type": "URL"}))
        for again in (prepared, prepared, prepared.copy()):
            assert session.send(again).url.endswith("/10.1000/182?type=URL")


def test_a_request_prepared_without_the_session() -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        session = mount(requests.Session(), proxy.url)
        assert session.send(requests.Request("GET", "doi:10.1000/182").prepare()).status_code == 200
        with pytest.raises(requests.exceptions.InvalidURL, match=r"10\.1000/x%23y"):
            session.send(requests.Request("GET", "doi:10.1000/x#y").prepare())


def test_other_urls_are_none_of_our_business() -> None:
    with site(lambda _: Answer(200, {}, b"as ever")) as other:
        session = mount(requests.Session())
        assert session.get(other.url + "/a//b?c=d", params={"e": "f"}).content == b"as ever"
        assert other.seen[0].target == "/a//b?c=d&e=f"


def test_the_settings_are_read_at_mount(monkeypatch: pytest.MonkeyPatch) -> None:
    with running([]) as first, running([]) as second:
        monkeypatch.setenv("DOIURI_RESOLVER", first.url)
        session = mount(requests.Session())
        monkeypatch.setenv("DOIURI_RESOLVER", second.url)
        assert session.get("doi:10.1000/1").url.startswith(first.url)
        assert mount(session).get("doi:10.1000/1").url.startswith(second.url)
        assert mount(session, first.url).get("doi:10.1000/1").url.startswith(first.url)


@pytest.mark.parametrize("name", ["resolver", "offline", "mailto"])
def test_a_wrong_setting_is_said_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=name):
        mount(requests.Session(), **{name: "not right"})  # type: ignore[arg-type]
    monkeypatch.setenv(f"DOIURI_{name.upper()}", "not right")
    with pytest.raises(ValueError, match=f"DOIURI_{name.upper()}"):
        DOIAdapter()


def test_follow_is_record_or_target() -> None:
    with pytest.raises(ValueError, match="follow: 'page'"):
        DOIAdapter(follow="page")  # type: ignore[arg-type]


def test_offline_asks_nobody() -> None:
    with site(lambda _: Answer()) as anything:
        session = mount(requests.Session(), anything.url, offline=True)
        with pytest.raises(requests.ConnectionError, match=r"10\.1000/1: offline: request not sent"):
            session.get("doi:10.1000/1")
        assert anything.seen == []


def test_who_asks_is_named_unless_the_caller_names_itself() -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as server:
        session = mount(requests.Session(), server.url, mailto="me@x.example")
        session.get("doi:10.1000/1")
        session.get("doi:10.1000/1", headers={"User-Agent": "mine/1"})
        session.headers["User-Agent"] = "session/1"
        session.get("doi:10.1000/1")
    agents = [one.headers["user-agent"] for one in server.seen]
    assert agents[0].startswith(f"requests-doiuri/{version('requests-doiuri')} doiuri/{version('doiuri')} ")
    assert "mailto:me@x.example" in agents[0]
    assert agents[1:] == ["mine/1", "session/1"]


def test_many_threads_with_one_session() -> None:
    names = [f"10.1000/{number}" for number in range(60)]
    with site(resolver(dict.fromkeys(names[::2], "http://x.example/"))) as server:
        session = mount(requests.Session(), server.url)
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda name: session.get(f"doi:{name}").json(), names))
    assert [answer["handle"] for answer in answers] == names
    assert [answer["responseCode"] for answer in answers] == [1, 100] * 30


def test_a_pickled_session_still_knows_dois() -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        session = mount(requests.Session(), proxy.url)
        session.params = {"index": 1}
        for twin in (pickle.loads(pickle.dumps(session)), copy.copy(session), copy.deepcopy(session)):
            answer = twin.get("doi:10.1000/182", params={"type": "URL"})
            assert answer.json()["handle"] == "10.1000/182"
            assert answer.url.endswith("?index=1&type=URL")


def test_mounting_twice_is_mounting_once() -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        session = mount(mount(requests.Session(), "http://127.0.0.1:9"), proxy.url)
        assert type(session) is type(mount(requests.Session()))
        assert session.get("doi:10.1000/182", params={"type": "URL"}).url.endswith("?type=URL")


def test_a_mounted_session_is_of_its_own_class() -> None:
    class Mine(requests.Session):
        """A user's session class."""

    session = mount(Mine())
    assert isinstance(session, Mine)
    assert (type(session).__name__, type(session).__module__) == ("Mine", __name__)
    assert type(copy.copy(session)) is type(session)


def test_the_public_names() -> None:
    assert requests_doiuri.__all__ == ["DOIAdapter", "mount"]
