"""What is particular to httpx and httpx2: follow_redirects, params, auth, hooks, streams and traces."""

from __future__ import annotations

import copy
import importlib
import pickle
import sys
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from doiuri_proxy import running
from support.checks import assert_times, exactly
from support.clients import PAGE, REFUSED, SYNC_KINDS, URI, HTTPXClients
from support.servers.web import Answer, Asked, Site, record, resolver, site


def test_the_record_comes_from_the_resolver_directly(clients: HTTPXClients) -> None:
    with running([record("10.1000/1", "http://x.example/")]) as proxy:
        for options in ({}, {"follow_redirects": True}):
            client = clients.open(proxy.url, **options)
            request = client.build_request("GET", URI, params={"type": "URL"})
            assert request.url == f"{proxy.url}/api/handles/10.1000/1?type=URL", options
            for response in (client.send(request), client.send(request)):
                assert response.json()["handle"] == "10.1000/1"
                assert (response.url, response.history) == (request.url, [])


@pytest.mark.parametrize("uri", [URI, "doi:10.1000/a/../182", "DOI:10.1000/a b"])
def test_httpx_urls_are_refused_since_they_change_names(
    uri: str, anything: Site, clients: HTTPXClients
) -> None:
    client = clients.open(anything.url)
    for ask in (client.get, lambda url: client.send(clients.httpx.Request("GET", url))):
        with pytest.raises(clients.httpx.InvalidURL, match=r"^'doi:.*pass the doi: URI to the"):
            ask(clients.httpx.URL(uri))
    assert anything.seen == []


@pytest.mark.parametrize(
    "empty", [{"content": b""}, {"content": ""}, {"data": {}}, {"json": None}], ids=str
)
def test_an_empty_body_is_none(
    empty: dict[str, Any], anything: Site, clients: HTTPXClients
) -> None:
    assert clients.open(anything.url).request("GET", URI, **empty).status_code == 200


def test_the_base_url_is_for_relative_urls_only(anything: Site, clients: HTTPXClients) -> None:
    with running([record("10.1000/1")]) as proxy:
        client = clients.open(proxy.url, base_url=anything.url + "/base")
        assert client.get(URI).json()["handle"] == "10.1000/1"
        client.get("/10.1000/1")
    assert [one.target for one in anything.seen] == ["/base/10.1000/1"]


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_offline_holds_for_requests_that_come_from_elsewhere(
    copied: Callable[[httpx.Request], httpx.Request], anything: Site, clients: HTTPXClients
) -> None:
    request = clients.open(anything.url).build_request("GET", URI)
    for one in (request, copied(request)):
        one.stream = clients.httpx.ByteStream(b"")  # httpx does not copy it
        with pytest.raises(
            clients.httpx.ConnectError, match=r"10\.1000/1: offline: request not sent"
        ):
            clients.open(anything.url, offline=True).send(one)
        assert anything.seen == [], one
    assert clients.open(anything.url).send(one).json()["handle"] == "10.1000/1"


def query_params(*pairs: tuple[str, str]) -> Callable[[Any], Any]:
    """Return what makes these parameters of a library."""
    return lambda library: library.QueryParams(pairs)


@pytest.mark.parametrize(
    ("own", "given", "query"),
    [
        ({"auth": "yes"}, {"index": 1}, "auth=yes&index=1"),
        ({"auth": "yes"}, None, "auth=yes"),
        ({"type": "URL", "index": 1}, {"type": ["EMAIL", "DESC"]}, "index=1&type=EMAIL&type=DESC"),
        ({"type": "a b"}, "index=1", "type=a%20b&index=1"),
        ({"auth": "yes"}, {"auth": True}, "auth"),
        ({"auth": True, "cert": False, "type": None}, {"index": 1}, "auth&index=1"),
        ({"auth": True, "type": ["a b", "c"]}, {"type": "d"}, "auth&type=d"),
        ([("type", "a"), ("type", "b")], None, "type=a&type=b"),
        (query_params(("type", "a"), ("type", "b")), None, "type=a&type=b"),
        ("type=a b&auth", {"index": 1}, "type=a%20b&auth&index=1"),
        (None, query_params(("type", "URL"), ("type", "EMAIL")), "type=URL&type=EMAIL"),
    ],
)
@pytest.mark.parametrize("set_later", [False, True])
@pytest.mark.parametrize("clients", SYNC_KINDS, indirect=True)
def test_the_clients_own_params_come_along(
    own: Any, given: Any, query: str, set_later: bool, clients: HTTPXClients
) -> None:
    if callable(own):
        own = own(clients.httpx)
    if callable(given):
        given = given(clients.httpx)
    if set_later:
        client = clients.open("https://r.example")
        client.params = own
    else:
        client = clients.open("https://r.example", params=own)
    assert client.params == clients.httpx.QueryParams(own)
    request = client.build_request("GET", URI, params=given)
    assert request.url == f"https://r.example/api/handles/10.1000/1?{query}"
    assert request.headers["Host"] == "r.example"


def test_the_target_and_the_way_there(clients: HTTPXClients) -> None:
    def guarded(asked: Asked) -> Answer:
        if "authorization" in asked.headers:
            return Answer(302, {"Location": f"{landing.url}/a"})
        return Answer(401, {"WWW-Authenticate": 'Digest realm="r", nonce="n"'})

    with site(lambda _: PAGE) as landing, site(guarded) as proxy:
        client = clients.open(proxy.url, follow="target", private=True, follow_redirects=True)
        response = client.get(URI, auth=clients.httpx.DigestAuth("u", "p"))
        assert (str(response.url), response.content) == (landing.url + "/a", PAGE.body)
        denied, first = response.history
        assert denied.status_code == 401
        assert (first.status_code, str(first.url)) == (302, f"{proxy.url}/10.1000/1")
        assert (first.content, first.next_request, first.history) == (b"", None, [denied])
        assert response.elapsed.total_seconds() > 0


@pytest.mark.parametrize("by_client", [False, True])
@pytest.mark.parametrize("by_request", [False, True, None])
def test_follow_redirects_of_the_client_and_of_the_request(
    by_client: bool, by_request: bool | None, clients: HTTPXClients
) -> None:
    follows = by_client if by_request is None else by_request
    options: dict[str, Any] = {} if by_request is None else {"follow_redirects": by_request}
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.url})) as proxy:
        client = clients.open(proxy.url, follow="target", private=True, follow_redirects=by_client)
        assert client.get(URI, **options).status_code == (200 if follows else 302)
        with client.stream("GET", URI, **options) as response:
            assert response.status_code == (200 if follows else 302)


@pytest.mark.parametrize(
    ("most", "away", "error", "sent"),
    [
        (0, "", "TooManyRedirects", 1),
        (5, "", "TooManyRedirects", 6),
        (5, "http://localhost:9", "ConnectError", 1),
    ],
)
def test_refused_and_too_many_redirects_leak_no_connection(
    most: int, away: str, error: str, sent: int, clients: HTTPXClients
) -> None:
    with site(lambda asked: Answer(302, {"Location": f"{away}{asked.target}x"}, b"moved")) as proxy:
        limits = clients.httpx.Limits(max_connections=1)
        timeout = clients.httpx.Timeout(5, pool=0.5)
        client = clients.open(proxy.url, follow="target", max_redirects=most, limits=limits)
        for _ in range(3):
            with pytest.raises(getattr(clients.httpx, error), match=r"10\.1000/1: "):
                client.get(URI, follow_redirects=True, timeout=timeout)
            with client.stream("GET", URI, timeout=timeout) as response:
                assert response.status_code == 302
        exactly(3 * (sent + 1), "requests", proxy.seen)


def signed(request: httpx.Request) -> httpx.Request:
    request.headers["Authorization"] = f"Signature {request.url.path}"
    return request


def test_a_request_built_for_another_resolver_gets_no_credentials(
    anything: Site, clients: HTTPXClients
) -> None:
    request = clients.open(anything.url).build_request("GET", URI)
    other = clients.open(anything.at("localhost"), private=True, auth=("u", "p"))
    other.send(request)
    other.get(anything.url)  # not for a DOI
    assert [one.headers.get("authorization") for one in anything.seen] == [None, "Basic dTpw"]


def test_the_callers_explicit_auth_for_a_redirect_is_used(clients: HTTPXClients) -> None:
    with (
        site(lambda _: PAGE) as landing,
        site(resolver({"10.1000/1": landing.at("localhost")})) as proxy,
    ):
        client = clients.open(proxy.url, follow="target", private=True, auth=("u", "p"))
        following = client.get(URI).next_request
        assert following is not None
        client.send(following, auth=("other", "p"))
        assert landing.seen[0].headers["authorization"] == "Basic b3RoZXI6cA=="


def test_each_request_to_the_resolver_is_signed_anew(clients: HTTPXClients) -> None:
    with site(moved) as proxy:
        client = clients.open(proxy.url, follow="target", follow_redirects=True)
        client.get(URI, auth=signed)
        signatures = ["Signature /10.1000/1", "Signature /b"]
        assert [one.headers["authorization"] for one in proxy.seen] == signatures


def test_a_target_with_a_password_gets_none_of_it(clients: HTTPXClients) -> None:
    with site(lambda _: PAGE) as landing:
        with site(resolver({"10.1000/1": landing.at("u:p@localhost")})) as proxy:
            client = clients.open(proxy.url, follow="target", private=True, follow_redirects=True)
            assert client.get(URI).status_code == 200
        assert "authorization" not in landing.seen[0].headers


def test_a_transport_of_the_users_own_is_checked_by_names(clients: HTTPXClients) -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> Any:
        seen.append(request.url.host)
        if request.url.host == "r.example":
            return clients.httpx.Response(302, headers={"Location": request.url.params["to"]})
        return clients.httpx.Response(200)

    mock = clients.httpx.MockTransport(answer)
    client = clients.open(
        "https://r.example", follow="target", follow_redirects=True, transport=mock
    )
    assert client.get(URI, params={"to": "https://p.example"}).status_code == 200
    with pytest.raises(clients.httpx.ConnectError, match=REFUSED):
        client.get(URI, params={"to": "https://localhost"})
    assert seen == ["r.example", "p.example", "r.example"]


@pytest.mark.parametrize("private", [True, False])
def test_the_callers_own_trace_is_called_once_for_each_event(
    private: bool, clients: HTTPXClients
) -> None:
    events: list[str] = []
    trace = clients.callback(lambda name, _info: events.append(name))

    with site(moved) as server:
        client = clients.open(server.url, private=private, follow="target", follow_redirects=True)
        for url in (server.url, URI):
            events.clear()
            client.get(url, extensions={"trace": trace})
            assert events.count("http11.send_request_headers.started") == 2, url
            assert_times(1 if url == server.url else 0, "connection.connect_tcp.complete", events)


def moved(asked: Asked) -> Answer:
    return PAGE if asked.target == "/b" else Answer(302, {"Location": "/b"})


@pytest.mark.parametrize("uri", [URI, ""], ids=["a DOI", "another URL"])
@pytest.mark.parametrize("follow", [False, True])
def test_no_request_keeps_the_trace_of_the_client(
    follow: bool, uri: str, clients: HTTPXClients
) -> None:
    """Another client, of the other kind, may send it later."""
    trace = clients.callback(lambda _name, _info: None)
    with site(moved) as server:
        client = clients.open(server.url, follow="target", follow_redirects=follow)
        for given in ({"trace": trace}, {}):
            request = client.build_request("GET", uri or server.url, extensions=given)
            response = client.send(request)
            made = [request, response.request, *(one.request for one in response.history)]
            if response.next_request is not None:
                made.append(response.next_request)
            assert [one.extensions.get("trace") for one in made] == [given.get("trace")] * len(made)


@pytest.mark.parametrize("uri", [URI, ""], ids=["a DOI", "another URL"])
def test_the_callers_request_is_not_changed_even_while_it_is_sent(
    uri: str, anything: Site, clients: HTTPXClients
) -> None:
    """Other threads may send it, too."""
    seen: list[dict[str, Any]] = []
    look = clients.callback(lambda _request: seen.append(dict(vars(request))))
    client = clients.open(anything.url, event_hooks={"request": [look]})
    request = client.build_request("GET", uri or anything.url, extensions={"mine": 1})
    given = dict(vars(request))

    client.send(request)

    assert seen == [given]
    assert vars(request) == given


def test_only_the_last_response_is_streamed(clients: HTTPXClients) -> None:
    body = b"x" * 1_000_000
    with (
        site(lambda _: Answer(200, {}, body)) as landing,
        site(resolver({"10.1000/1": landing.url})) as server,
    ):
        client = clients.open(server.url, follow="target", private=True, follow_redirects=True)
        with client.stream("GET", URI) as response:
            assert [one.is_closed for one in response.history] == [True]
            assert not response.is_stream_consumed
            assert sum(map(len, clients.chunks(client, response))) == len(body)
        assert response.is_closed


def test_without_httpx2_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    monkeypatch.delitem(sys.modules, "httpx_doiuri.httpx2")
    with pytest.raises(ImportError, match=r'needs httpx2: pip install "doiuri\[httpx2\]"'):
        importlib.import_module("httpx_doiuri.httpx2")


def test_a_streamed_record_is_read_and_can_be_streamed(
    anything: Site, clients: HTTPXClients
) -> None:
    client = clients.open(anything.url)
    with client.stream("GET", URI) as response:
        assert b"".join(clients.chunks(client, response)) == response.content
