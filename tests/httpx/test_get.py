"""client.get("doi:…"): the record, from the resolver."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from urllib.parse import unquote

import httpx
import httpx_doiuri
import pytest
from doiuri import DOI, DOISyntaxError
from doiuri_proxy import running
from httpx_doiuri import AsyncClient, Client
from support.cases import NO_URIS, ODD_NAMES, odd_cases
from support.clients.httpx import TLS, Clients
from support.servers.web import JSON, Answer, Site, record, resolver, site


def test_the_record_comes_from_the_resolver_directly(clients: Clients) -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        for options in ({}, {"follow_redirects": True}):
            response = clients.open(proxy.url, **options).get("doi:10.1000/182")
            assert response.json()["handle"] == "10.1000/182"
            assert response.url == f"{proxy.url}/api/handles/10.1000/182"
            assert response.history == []


def test_each_name_is_asked_for_as_written_and_no_other_answers(clients: Clients) -> None:
    with running([record(name, f"http://x.example/{i}") for i, name in enumerate(ODD_NAMES)]) as proxy:
        client = clients.open(proxy.url)
        for number, name in enumerate(ODD_NAMES):
            answer = client.get(DOI(name).uri).json()
            assert answer["handle"] == name
            assert answer["values"][0]["data"]["value"] == f"http://x.example/{number}"


@pytest.mark.parametrize("uri", ["DOI:10.1000/182", "doi:10.1000/18%32", "dOi:10.1000/182"])
def test_other_legal_spellings_are_the_same_doi(uri: str, clients: Clients) -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        assert clients.open(proxy.url).get(uri).json()["handle"] == "10.1000/182"


@pytest.mark.parametrize(
    ("uri", "position", "repaired"), [*NO_URIS, ("doi:10.1000/x\n", 13, "doi:10.1000/x")]
)
@pytest.mark.parametrize("clients", ["Client"], indirect=True)
def test_what_is_no_uri_is_refused_before_any_traffic(
    uri: str, position: int, repaired: str | None, clients: Clients
) -> None:
    with site(lambda _: Answer()) as anything:
        client = clients.open(anything.url)
        for ask in (client.get, lambda text: client.build_request("GET", text)):
            with pytest.raises(httpx.InvalidURL, match=f"position {position}") as caught:
                ask(uri)
            assert isinstance(caught.value.__cause__, DOISyntaxError)
            assert caught.value.__cause__.suggestion == repaired
            assert (repaired or "") in str(caught.value)
        assert anything.seen == []


@pytest.mark.parametrize("uri", ["doi:10.1000/182", "doi:10.1000/a/../182", "DOI:10.1000/a b"])
def test_httpx_urls_are_refused_since_they_change_names(uri: str, clients: Clients) -> None:
    assert str(httpx.URL("doi:10.1000/a b")) == "doi:10.1000/a%20b"
    with site(lambda _: Answer()) as anything:
        client = clients.open(anything.url)
        for ask in (client.get, lambda url: client.send(httpx.Request("GET", url))):
            with pytest.raises(
                httpx.InvalidURL, match=r"^'doi:.*pass the doi: URI to the client as a string"
            ):
                ask(httpx.URL(uri))
        assert anything.seen == []


@pytest.fixture(scope="module")
def anything() -> Iterator[Site]:
    with site(lambda _: Answer(200, JSON, b"{}")) as server:
        yield server


def test_every_odd_name_is_asked_for_by_its_uri(anything: Site) -> None:
    names = [str(case.name) for case in odd_cases()]
    anything.seen.clear()
    with Client(resolver=anything.url, verify=TLS) as client:
        for name in names:
            client.get(DOI(name).uri)
    assert [unquote(one.target) for one in anything.seen] == [f"/api/handles/{name}" for name in names]


def test_a_missing_doi_is_a_404_that_names_it(clients: Clients) -> None:
    with running([]) as proxy:
        response = clients.open(proxy.url).get("doi:10.1000/nope")
        assert (response.status_code, response.json()["responseCode"]) == (404, 100)
        with pytest.raises(httpx.HTTPStatusError, match=r"404.*10\.1000/nope"):
            response.raise_for_status()


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_a_doi_is_read_not_written(method: str, anything: Site, clients: Clients) -> None:
    anything.seen.clear()
    with pytest.raises(httpx.UnsupportedProtocol, match=r"10\.1000/1: a DOI is read-only.*not " + method):
        clients.open(anything.url).request(method, "doi:10.1000/1")
    assert anything.seen == []


@pytest.mark.parametrize(
    "body", [{"content": b"x"}, {"data": {"a": "b"}}, {"json": {}}, {"files": {"a": b"x"}}]
)
def test_a_body_is_refused_not_dropped(body: dict[str, object], anything: Site, clients: Clients) -> None:
    anything.seen.clear()
    with pytest.raises(httpx.UnsupportedProtocol, match=r"10\.1000/1: a DOI is read-only"):
        clients.open(anything.url).request("GET", "doi:10.1000/1", **body)  # type: ignore[arg-type]
    assert anything.seen == []


def test_head(clients: Clients) -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        response = clients.open(proxy.url).head("doi:10.1000/182")
        assert (response.status_code, response.request.method, response.content) == (200, "HEAD", b"")


def test_a_request_may_be_built_once_and_sent_again(clients: Clients) -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        client = clients.open(proxy.url)
        request = client.build_request("GET", "doi:10.1000/182", params={"type": "URL"})
        assert request.url == f"{proxy.url}/api/handles/10.1000/182?type=URL"
        for _ in range(2):
            assert client.send(request).json()["handle"] == "10.1000/182"


def test_other_urls_are_none_of_our_business(clients: Clients) -> None:
    with site(lambda _: Answer(200, {}, b"as ever")) as other:
        client = clients.open()
        assert client.get(other.url + "/a//b?c=d").content == b"as ever"
        client.get(httpx.URL(other.url + "/../x"), params={"e": "f"})
        client.post(other.url + "/doi:10.1000/1", content=b"x")
        assert [one.target for one in other.seen] == ["/a//b?c=d", "/x?e=f", "/doi:10.1000/1"]
        assert other.seen[0].headers["user-agent"] == f"python-httpx/{httpx.__version__}"


def test_the_base_url_is_for_relative_urls_only(clients: Clients) -> None:
    with site(lambda _: Answer(200, {}, b"as ever")) as other, running([record("10.1000/182")]) as proxy:
        client = clients.open(proxy.url, base_url=other.url + "/base")
        assert client.get("doi:10.1000/182").json()["handle"] == "10.1000/182"
        client.get("/10.1000/182")
        assert [one.target for one in other.seen] == ["/base/10.1000/182"]


def test_options_come_from_the_environment_when_the_client_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", "https://r.example/p")
    monkeypatch.setenv("DOIURI_MAILTO", "me@x.example")
    client = Client()
    monkeypatch.setenv("DOIURI_RESOLVER", "https://other.example")
    request = client.build_request("GET", "doi:10.1000/1")
    assert request.url == "https://r.example/p/api/handles/10.1000/1"
    assert "mailto:me@x.example" in request.headers["User-Agent"]
    assert client.doi_options.settings.base == "https://r.example/p"


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize("name", ["resolver", "offline", "mailto"])
def test_a_wrong_setting_is_said_at_once(
    name: str, kind: type[Client | AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=name):
        kind(**{name: "not right"})  # type: ignore[arg-type]
    monkeypatch.setenv(f"DOIURI_{name.upper()}", "not right")
    with pytest.raises(ValueError, match=f"DOIURI_{name.upper()}"):
        kind()


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_follow_is_record_or_target(kind: type[Client | AsyncClient]) -> None:
    with pytest.raises(ValueError, match="follow: 'page'"):
        kind(follow="page")  # type: ignore[arg-type]


def test_offline_asks_nobody_about_dois(anything: Site, clients: Clients) -> None:
    anything.seen.clear()
    client = clients.open(anything.url, offline=True)
    with pytest.raises(httpx.ConnectError, match=r"10\.1000/1: offline: request not sent") as caught:
        client.get("doi:10.1000/1")
    assert caught.value.request.url == f"{anything.url}/api/handles/10.1000/1"
    assert anything.seen == []
    assert client.get(anything.url).status_code == 200


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_offline_holds_for_requests_that_come_from_elsewhere(
    copied: Callable[[httpx.Request], httpx.Request], clients: Clients
) -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as server:
        request = clients.open(server.url).build_request("GET", "doi:10.1000/1")
        for one in (request, copied(request)):
            one.stream = httpx.ByteStream(b"")  # httpx does not copy it
            with pytest.raises(httpx.ConnectError, match=r"10\.1000/1: offline: request not sent"):
                clients.open(server.url, offline=True).send(one)
            assert server.seen == []
        assert clients.open(server.url).send(one).json() == {}


def test_who_asks_is_named_unless_the_caller_names_itself(clients: Clients) -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as server:
        client = clients.open(server.url, mailto="me@x.example")
        client.get("doi:10.1000/1")
        client.get("doi:10.1000/1", headers={"User-Agent": "mine/1"})
        client.headers["User-Agent"] = "client/1"
        client.get("doi:10.1000/1")
    agents = [one.headers["user-agent"] for one in server.seen]
    assert agents[0].startswith(f"httpx-doiuri/{version('httpx-doiuri')} doiuri/{version('doiuri')} ")
    assert "mailto:me@x.example" in agents[0]
    assert agents[1:] == ["mine/1", "client/1"]


NAMES = [f"10.1000/{number}" for number in range(60)]


def test_many_threads_with_one_client() -> None:
    with (
        site(resolver(dict.fromkeys(NAMES[::2], "http://x.example/"))) as server,
        Client(resolver=server.url, verify=TLS) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        answers = list(pool.map(lambda name: client.get(f"doi:{name}").json(), NAMES))
    assert [answer["handle"] for answer in answers] == NAMES
    assert [answer["responseCode"] for answer in answers] == [1, 100] * 30


def test_many_tasks_with_one_client() -> None:
    async def ask(base: str) -> list[httpx.Response]:
        async with AsyncClient(resolver=base, verify=TLS, limits=httpx.Limits(max_connections=8)) as client:
            return await asyncio.gather(*(client.get(f"doi:{name}") for name in NAMES))

    with site(resolver(dict.fromkeys(NAMES[::2], "http://x.example/"))) as server:
        answers = [response.json() for response in asyncio.run(ask(server.url))]
    assert [answer["handle"] for answer in answers] == NAMES
    assert [answer["responseCode"] for answer in answers] == [1, 100] * 30


def test_why_it_is_no_transport() -> None:
    mounts = {"doi://": httpx.MockTransport(lambda _: httpx.Response(200))}
    with httpx.Client(mounts=mounts) as client, pytest.raises(httpx.UnsupportedProtocol):
        client.get("doi:10.1000/182")
    assert httpx.URL("doi://10.1000/../x").path == "/x"


def test_the_public_names() -> None:
    assert httpx_doiuri.__all__ == ["AsyncClient", "Client"]
