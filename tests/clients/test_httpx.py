"""What is particular to httpx and httpx2: follow_redirects, params, auth, hooks, streams and traces."""

from __future__ import annotations

import asyncio
import copy
import importlib
import pickle
import ssl
import sys
import threading
from collections.abc import Callable, Generator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any

import anyio
import httpx
import pytest
from doiuri_proxy import running
from httpx_doiuri import Client
from support.clients.contract import BIBTEX, PAGE, PARAMS, REFUSED, SECRETS, TARGETS, URI
from support.clients.httpx import SYNC_KINDS, TLS, Clients
from support.servers.httpproxy import http_proxy
from support.servers.tls import Authority
from support.servers.web import JSON, Answer, Asked, Site, leading_back, record, resolver, site, speaking


def test_the_record_comes_from_the_resolver_directly(clients: Clients) -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        for options in ({}, {"follow_redirects": True}):
            response = clients.open(proxy.url, **options).get("doi:10.1000/182")
            assert response.json()["handle"] == "10.1000/182"
            assert response.url == f"{proxy.url}/api/handles/10.1000/182"
            assert response.history == []


@pytest.mark.parametrize("uri", ["doi:10.1000/182", "doi:10.1000/a/../182", "DOI:10.1000/a b"])
def test_httpx_urls_are_refused_since_they_change_names(uri: str, clients: Clients) -> None:
    assert str(clients.httpx.URL("doi:10.1000/a b")) == "doi:10.1000/a%20b"
    with site(lambda _: Answer()) as anything:
        client = clients.open(anything.url)
        for ask in (client.get, lambda url: client.send(clients.httpx.Request("GET", url))):
            with pytest.raises(
                clients.httpx.InvalidURL, match=r"^'doi:.*pass the doi: URI to the client as a string"
            ):
                ask(clients.httpx.URL(uri))
        assert anything.seen == []


@pytest.mark.parametrize(
    "body", [{"content": b"x"}, {"data": {"a": "b"}}, {"json": {}}, {"files": {"a": b"x"}}]
)
def test_a_body_is_refused_not_dropped(body: dict[str, object], anything: Site, clients: Clients) -> None:
    client = clients.open(anything.url)
    with pytest.raises(clients.httpx.UnsupportedProtocol, match=r"10\.1000/1: a DOI is read-only"):
        client.request("GET", "doi:10.1000/1", **body)  # type: ignore[arg-type]
    assert anything.seen == []
    none: list[dict[str, Any]] = [{"content": b""}, {"content": ""}, {"data": {}}, {"json": None}]
    assert [client.get("doi:10.1000/1").status_code] * 4 == [
        client.request("GET", "doi:10.1000/1", **empty).status_code for empty in none
    ]


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
        client.get(clients.httpx.URL(other.url + "/../x"), params={"e": "f"})
        client.post(other.url + "/doi:10.1000/1", content=b"x")
        assert [one.target for one in other.seen] == ["/a//b?c=d", "/x?e=f", "/doi:10.1000/1"]
        assert (
            other.seen[0].headers["user-agent"]
            == f"python-{clients.httpx.__name__}/{clients.httpx.__version__}"
        )


def test_the_base_url_is_for_relative_urls_only(clients: Clients) -> None:
    with site(lambda _: Answer(200, {}, b"as ever")) as other, running([record("10.1000/182")]) as proxy:
        client = clients.open(proxy.url, base_url=other.url + "/base")
        assert client.get("doi:10.1000/182").json()["handle"] == "10.1000/182"
        client.get("/10.1000/182")
        assert [one.target for one in other.seen] == ["/base/10.1000/182"]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_offline_holds_for_requests_that_come_from_elsewhere(
    copied: Callable[[httpx.Request], httpx.Request], clients: Clients
) -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as server:
        request = clients.open(server.url).build_request("GET", "doi:10.1000/1")
        for one in (request, copied(request)):
            one.stream = clients.httpx.ByteStream(b"")  # httpx does not copy it
            with pytest.raises(clients.httpx.ConnectError, match=r"10\.1000/1: offline: request not sent"):
                clients.open(server.url, offline=True).send(one)
            assert server.seen == []
        assert clients.open(server.url).send(one).json() == {}


def query_params(*pairs: tuple[str, str]) -> Callable[[Any], Any]:
    """Return what makes these parameters of a library."""
    return lambda library: library.QueryParams(pairs)


NAMES = [f"10.1000/{number}" for number in range(60)]


@pytest.mark.parametrize(
    "clients", ["httpx AsyncClient on asyncio", "httpx2 AsyncClient on asyncio"], indirect=True
)
def test_many_tasks_with_one_client(clients: Clients) -> None:
    async def ask(base: str) -> Any:
        limits = clients.httpx.Limits(max_connections=8)
        async with clients.type(resolver=base, verify=TLS, limits=limits) as client:
            return await asyncio.gather(*(client.get(f"doi:{name}") for name in NAMES))

    with site(resolver(dict.fromkeys(NAMES[::2], "http://x.example/"))) as server:
        answers = [response.json() for response in asyncio.run(ask(server.url))]
    assert [answer["handle"] for answer in answers] == NAMES
    assert [answer["responseCode"] for answer in answers] == [1, 100] * 30


@pytest.mark.parametrize(
    ("params", "query"),
    [*PARAMS, (query_params(("type", "URL"), ("type", "EMAIL")), "?type=URL&type=EMAIL")],
)
@pytest.mark.parametrize("clients", SYNC_KINDS, indirect=True)
def test_each_form_of_params_reaches_the_rest_api(params: Any, query: str, clients: Clients) -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as server:
        given = params(clients.httpx) if callable(params) else params
        clients.open(server.url).get("doi:10.1000/456%23789", params=given)
        assert server.seen[0].target == f"/api/handles/10.1000/456%23789{query}"


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
    ],
)
@pytest.mark.parametrize("set_later", [False, True])
@pytest.mark.parametrize("clients", SYNC_KINDS, indirect=True)
def test_the_clients_own_params_come_along(
    own: Any, given: Any, query: str, set_later: bool, clients: Clients
) -> None:
    own = own(clients.httpx) if callable(own) else own
    client = clients.open("https://r.example", params=None if set_later else own)
    if set_later:
        client.params = own
    assert client.params == clients.httpx.QueryParams(own)
    request = client.build_request("GET", "doi:10.1000/1", params=given)
    assert request.url == f"https://r.example/api/handles/10.1000/1?{query}"
    assert request.headers["Host"] == "r.example"


def test_for_the_target_they_are_the_proxys_parameters(clients: Clients) -> None:
    with running([record("10.1000/1", "http://127.0.0.1:9/a?b=c")]) as proxy:
        client = clients.open(proxy.url, follow="target", private=True)
        response = client.get("doi:10.1000/1", params={"urlappend": "&d=e"})
        assert response.headers["Location"] == "http://127.0.0.1:9/a?b=c&d=e"


def test_the_target_and_the_way_there(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing:
        page = landing.at("localhost") + "/a"
        with site(resolver({"10.1000/1": page})) as proxy:
            client = clients.open(proxy.url, follow="target", private=True, follow_redirects=True)
            response = client.get("doi:10.1000/1")
            assert (str(response.url), response.content) == (page, PAGE.body)
            (first,) = response.history
            assert (first.status_code, str(first.url)) == (302, f"{proxy.url}/10.1000/1")
            assert (first.content, first.next_request, first.history) == (b"", None, [])
            assert response.elapsed.total_seconds() > 0


def test_redirects_can_be_left_to_the_caller(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.url + "/a"})) as proxy:
        client = clients.open(proxy.url, follow="target", private=True)
        first = client.get("doi:10.1000/1")
        assert (first.status_code, first.history) == (302, [])
        assert first.has_redirect_location
        assert first.next_request is not None
        assert first.next_request.url == landing.url + "/a"
        assert not landing.seen
        assert client.send(first.next_request).content == PAGE.body


@pytest.mark.parametrize("by_client", [False, True])
@pytest.mark.parametrize("by_request", [False, True, None])
def test_follow_redirects_of_the_client_and_of_the_request(
    by_client: bool, by_request: bool | None, clients: Clients
) -> None:
    follows = by_client if by_request is None else by_request
    options: dict[str, Any] = {} if by_request is None else {"follow_redirects": by_request}
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.url})) as proxy:
        client = clients.open(proxy.url, follow="target", private=True, follow_redirects=by_client)
        assert client.get("doi:10.1000/1", **options).status_code == (200 if follows else 302)
        with client.stream("GET", "doi:10.1000/1", **options) as response:
            assert response.status_code == (200 if follows else 302)


def proxy_or_api(asked: Asked) -> Answer:
    if asked.target.startswith("/api/handles/"):
        return Answer(200, JSON, b"{}")
    return Answer(200, {"Content-Type": BIBTEX}, b"@misc{}")


@pytest.mark.parametrize("given", [None, {"accept": BIBTEX}, [(b"Accept", BIBTEX.encode())]])
def test_the_accept_header_of_the_client_or_of_the_request_counts(given: Any, clients: Clients) -> None:
    with site(proxy_or_api) as proxy:
        client = clients.open(proxy.url)
        if given is None:
            client.headers["Accept"] = BIBTEX
        assert client.get("doi:10.1000/a%28b%29", headers=given).content == b"@misc{}"
        assert (proxy.seen[0].target, proxy.seen[0].headers["accept"]) == ("/10.1000/a(b)", BIBTEX)


def ask(client: Client, follow: bool) -> None:
    response = client.get("doi:10.1000/1", follow_redirects=follow)
    assert not follow
    assert response.next_request is not None
    client.send(response.next_request)


@pytest.mark.parametrize("private", [None, False, True])
@pytest.mark.parametrize("by_hand", [False, True])
def test_no_mount_makes_another_scheme_a_target(
    by_hand: bool, private: bool | None, clients: Clients
) -> None:
    opened: list[str] = []

    def answer(request: httpx.Request) -> Any:
        opened.append(str(request.url))
        return clients.httpx.Response(200)

    with site(resolver({"10.1000/1": "file:///etc/passwd"})) as proxy:
        mounts = {"file://": clients.httpx.MockTransport(answer)}
        client = clients.open(proxy.url, private=private, follow="target", mounts=mounts)
        with pytest.raises(
            clients.httpx.ConnectError, match=r"10\.1000/1: redirected to 'file:.*not an http or"
        ):
            ask(client, not by_hand)
        assert not opened
        assert client.get("file://host/etc/passwd").status_code == 200


@pytest.mark.parametrize("most", [0, 5])
def test_endless_redirects_end(most: int, clients: Clients) -> None:
    with site(lambda asked: Answer(302, {"Location": asked.target + "x"})) as proxy:
        client = clients.open(
            proxy.url, follow="target", private=True, max_redirects=most, follow_redirects=True
        )
        with pytest.raises(clients.httpx.TooManyRedirects, match=r"10\.1000/1: "):
            client.get("doi:10.1000/1")
        assert len(proxy.seen) == most + 1


def token(library: Any) -> Any:
    """Return a user's authentication by a class."""

    def auth_flow(_self: object, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = "Token t"
        yield request

    return type("Token", (library.Auth,), {"auth_flow": auth_flow})()


def signed(request: httpx.Request) -> httpx.Request:
    request.headers["Authorization"] = f"Signature {request.url.path}"
    return request


AUTHS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda _: ("u", "p"), "Basic dTpw"),
    (token, "Token t"),
    (lambda _: signed, "Signature /10.1000/1"),
    (lambda _: None, "Bearer s3cret"),
]


@pytest.mark.parametrize(("auth", "header"), AUTHS)
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("where", ["request", "client"])
@pytest.mark.parametrize("by_hand", [False, True], ids=["followed", "by hand"])
@pytest.mark.parametrize("clients", SYNC_KINDS, indirect=True)
def test_credentials_go_to_the_resolver_and_nowhere_else(
    name: str, auth: Callable[[Any], Any], header: str, where: str, by_hand: bool, clients: Clients
) -> None:
    given_auth = auth(clients.httpx)
    options: dict[str, Any] = {"auth": given_auth} if given_auth else {"headers": SECRETS}
    own, given = (options, {}) if where == "client" else ({}, options)
    with site(lambda _: PAGE) as landing:
        away = landing.at("localhost") if name == "127.0.0.1" else landing.url
        with site(resolver({"10.1000/1": away})) as proxy:
            client = clients.open(
                proxy.at(name), follow="target", private=True, cookies={"c": "s3cret"}, **own
            )
            response = client.get("doi:10.1000/1", follow_redirects=not by_hand, **given)
            if by_hand:
                assert response.next_request is not None
                response = client.send(response.next_request)
            assert response.content == PAGE.body
            assert proxy.seen[0].headers["authorization"] == header
            cookies = {"c=s3cret"} if given_auth else {"session=s3cret"}
            assert {*proxy.seen[0].headers["cookie"].split("; ")} <= {*cookies, "c=s3cret"}
        assert not landing.seen[0].headers.keys() & {"authorization", "cookie"}


@pytest.mark.parametrize("by_hand", [False, True], ids=["followed", "by hand"])
@pytest.mark.parametrize("pickled", [False, True])
@pytest.mark.parametrize("options", [{"auth": ("u", "p")}, {"headers": {"Authorization": "Basic dTpw"}}])
def test_credentials_do_not_come_back_to_the_resolver(
    options: dict[str, Any], pickled: bool, by_hand: bool, clients: Clients
) -> None:
    """Else any host could have a request of its choice made there in the user's name.

    Cookies do, as a browser's and those of requests.
    """
    with leading_back(PAGE, "/delete") as (proxy, landing):
        client = clients.open(proxy.url, follow="target", private=True, cookies={"a": "b"}, **options)
        response = client.get("doi:10.1000/1", follow_redirects=not by_hand)
        while response.next_request is not None:
            following = response.next_request
            if pickled:
                following = pickle.loads(pickle.dumps(following))
                following.stream = clients.httpx.ByteStream(b"")  # httpx does not pickle it
            response = client.send(following)
        assert [one.headers.get("authorization") for one in proxy.seen] == ["Basic dTpw", None]
        assert [one.headers.get("cookie") for one in proxy.seen] == ["a=b", "a=b"]
        assert not landing.seen[0].headers.keys() & {"authorization", "cookie"}


def test_a_request_built_for_another_resolver_gets_no_credentials(clients: Clients) -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as proxy:
        request = clients.open(proxy.url).build_request("GET", "doi:10.1000/1")
        clients.open(proxy.at("localhost"), private=True, auth=("u", "p")).send(request)
        assert "authorization" not in proxy.seen[0].headers


def test_the_callers_explicit_auth_for_a_redirect_is_used(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.at("localhost")})) as proxy:
        client = clients.open(proxy.url, follow="target", private=True, auth=("u", "p"))
        following = client.get("doi:10.1000/1").next_request
        assert following is not None
        client.send(following, auth=("other", "p"))
        assert landing.seen[0].headers["authorization"] == "Basic b3RoZXI6cA=="


def test_other_requests_keep_the_clients_credentials(clients: Clients) -> None:
    with site(lambda _: PAGE) as other:
        client = clients.open("http://127.0.0.1:9", auth=("u", "p"), cookies={"a": "b"})
        client.get(other.url)
        assert other.seen[0].headers["authorization"] == "Basic dTpw"
        assert other.seen[0].headers["cookie"] == "a=b"


@pytest.mark.parametrize("follow", [False, True])
def test_digest_authentication_at_the_resolver(follow: bool, clients: Clients) -> None:
    def guarded(asked: Asked) -> Answer:
        if asked.headers.get("authorization", "").startswith("Digest username="):
            return Answer(302, {"Location": "/x"}) if asked.target == "/10.1000/1" else PAGE
        return Answer(401, {"WWW-Authenticate": 'Digest realm="r", nonce="n", qop="auth", algorithm=MD5'})

    with site(guarded) as proxy:
        auth = clients.httpx.DigestAuth("u", "p")
        client = clients.open(proxy.url, follow="target", private=True, auth=auth, follow_redirects=follow)
        response = client.get("doi:10.1000/1")
        assert response.status_code == (200 if follow else 302)
        assert [one.status_code for one in response.history] == ([401, 302] if follow else [401])


def test_redirects_within_the_resolver_keep_the_credentials(clients: Clients) -> None:
    def answer(asked: Asked) -> Answer:
        if asked.target == "/api/handles/10.1000/1":
            return Answer(301, {"Location": "/v2/10.1000/1"})
        return Answer(200, JSON, b"{}")

    with site(answer) as proxy:
        for options in ({"auth": ("u", "p")}, {"headers": {"Authorization": "Basic dTpw"}}):
            client = clients.open(proxy.url, cookies={"a": "b"}, follow_redirects=True)
            client.get("doi:10.1000/1", **options)
        client.get("doi:10.1000/1", auth=signed)
        signatures = ["Signature /api/handles/10.1000/1", "Signature /v2/10.1000/1"]
        assert [one.headers["authorization"] for one in proxy.seen] == ["Basic dTpw"] * 4 + signatures
        assert [one.headers["cookie"] for one in proxy.seen] == ["a=b"] * 6


def test_cookies_of_the_target_reach_it(clients: Clients) -> None:
    with (
        site(lambda _: PAGE._replace(headers={"Set-Cookie": "seen=1"})) as landing,
        site(resolver({"10.1000/1": landing.at("localhost")})) as proxy,
    ):
        client = clients.open(
            proxy.url, follow="target", private=True, follow_redirects=True, cookies={"a": "b"}
        )
        for _ in range(2):
            client.get("doi:10.1000/1")
        assert [one.headers.get("cookie") for one in landing.seen] == [None, "seen=1"]
        assert [one.headers.get("cookie") for one in proxy.seen] == ["a=b"] * 2


def test_a_target_with_a_password_gets_none_of_it(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing:
        with site(resolver({"10.1000/1": landing.at("u:p@localhost")})) as proxy:
            client = clients.open(proxy.url, follow="target", private=True, follow_redirects=True)
            assert client.get("doi:10.1000/1").status_code == 200
        assert "authorization" not in landing.seen[0].headers


def opened(clients: Clients, base: str, private: bool | None = False, **options: Any) -> Client:
    return clients.open(base, private=private, follow="target", follow_redirects=True, **options)


def test_a_redirect_that_the_caller_follows_is_checked(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.at("localhost")})) as proxy:
        client = clients.open(proxy.url, private=False, follow="target")
        following = client.get("doi:10.1000/1").next_request
        assert following is not None
        with pytest.raises(clients.httpx.ConnectError, match=REFUSED):
            client.send(following)
        assert not landing.seen


def test_a_transport_of_the_users_own_is_checked_by_names(clients: Clients) -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> Any:
        seen.append(request.url.host)
        if request.url.host == "r.example":
            return clients.httpx.Response(302, headers={"Location": request.url.params["to"]})
        return clients.httpx.Response(200)

    client = opened(clients, "https://r.example", None, transport=clients.httpx.MockTransport(answer))
    assert client.get("doi:10.1000/1", params={"to": "https://p.example"}).status_code == 200
    with pytest.raises(clients.httpx.ConnectError, match=REFUSED):
        client.get("doi:10.1000/1", params={"to": "https://localhost"})
    assert seen == ["r.example", "p.example", "r.example"]


def test_a_redirect_after_an_answered_challenge_is_checked(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing:

        def guarded(asked: Asked) -> Answer:
            if "authorization" in asked.headers:
                return Answer(302, {"Location": landing.at("localhost")})
            return Answer(401, {"WWW-Authenticate": 'Digest realm="r", nonce="n", qop="auth", algorithm=MD5'})

        with site(guarded) as proxy, pytest.raises(clients.httpx.ConnectError, match=REFUSED):
            opened(clients, proxy.url, auth=clients.httpx.DigestAuth("u", "p")).get("doi:10.1000/1")
        assert not landing.seen


@pytest.mark.parametrize("private", [True, False])
def test_the_callers_own_trace_is_called_once_for_each_event(private: bool, clients: Clients) -> None:
    events: list[str] = []
    trace = clients.callback(lambda name, _info: events.append(name))

    with site(moved) as server:
        client = opened(clients, server.url, private)
        for url in (server.url, "doi:10.1000/1"):
            events.clear()
            client.get(url, extensions={"trace": trace})
            assert events.count("http11.send_request_headers.started") == 2
            assert events.count("connection.connect_tcp.complete") == (1 if url == server.url else 0)


def moved(asked: Asked) -> Answer:
    return PAGE if asked.target == "/b" else Answer(302, {"Location": "/b"})


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("follow", [False, True])
def test_no_request_keeps_the_trace_of_the_client(follow: bool, own: bool, clients: Clients) -> None:
    """Another client, of the other kind, may send it later."""
    trace = clients.callback(lambda _name, _info: None)
    given = {"trace": trace} if own else {}
    expected = trace if own else None
    with site(moved) as server:
        client = clients.open(server.url, private=False, follow="target", follow_redirects=follow)
        for url in (f"{server.url}/a", "doi:10.1000/1"):
            request = client.build_request("GET", url, extensions=given)
            response = client.send(request)
            made = [request, response.request, *(one.request for one in response.history)]
            if response.next_request is not None:
                made.append(response.next_request)
            assert [one.extensions.get("trace") for one in made] == [expected] * len(made)


def test_a_request_made_by_one_client_can_be_sent_by_another_kind(clients: Clients) -> None:
    async def send(request: httpx.Request) -> Any:
        async with clients.httpx.AsyncClient() as other:
            return (await other.send(request)).status_code

    def following(server: Site) -> httpx.Request:
        request = clients.open(server.url, private=False).get(f"{server.url}/a").next_request
        assert request is not None
        return request

    with site(moved) as server:
        assert anyio.run(send, following(server)) == 200
        with clients.httpx.Client() as other:
            assert other.send(following(server)).status_code == 200


def test_verify(authority: Authority, secure: Site, clients: Clients) -> None:
    assert clients.open(secure.url, verify=authority.trusting()).get(URI).status_code == 200
    assert clients.open(secure.url, verify=False).get(URI).status_code == 200
    with pytest.raises(clients.httpx.ConnectError):
        clients.open(secure.url).get(URI)


def test_a_clients_certificate(authority: Authority, clients: Clients) -> None:
    with site(resolver(TARGETS), tls=authority.server(ask_client=True)) as server:
        context = authority.trusting()
        few_translated = (clients.httpx.TransportError, ssl.SSLError)
        with pytest.raises(few_translated):
            clients.open(server.url, verify=context).get(URI)
        context = authority.trusting()
        context.load_cert_chain(authority.client)
        assert clients.open(server.url, verify=context).get(URI).status_code == 200


@pytest.mark.parametrize("timeouts", [{"timeout": 0.1}, {"timeout": 60, "read": 0.1}], ids=str)
def test_timeout_of_the_request_and_of_the_client(timeouts: dict[str, float], clients: Clients) -> None:
    timeout = clients.httpx.Timeout(**timeouts)
    with speaking(None) as base:
        with pytest.raises(clients.httpx.ReadTimeout):
            clients.open(base).get(URI, timeout=timeout)
        with pytest.raises(clients.httpx.ReadTimeout):
            clients.open(base, timeout=timeout).get(URI)


def test_a_proxy_by_argument_by_mount_and_by_environment(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    with site(resolver(TARGETS)) as server, http_proxy() as proxy:
        line = f"GET {server.url}/api/handles/10.1000/182"
        clients.open(server.url, proxy=proxy.url).get(URI)
        assert proxy.seen == [line]
        clients.open(server.url, mounts={"http://": clients.transport(proxy=proxy.url)}).get(URI)
        assert proxy.seen == [line] * 2
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//user:pass@"))
        clients.open(server.url).get(URI)
        assert proxy.seen == [line] * 3
        assert proxy.credentials[-1] == "Basic dXNlcjpwYXNz"
        clients.open(server.url, trust_env=False).get(URI)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        clients.open(server.url).get(URI)
        assert len(proxy.seen) == 3
        assert len(server.seen) == 5


def test_a_mount_for_the_target_only(clients: Clients) -> None:
    def answer(request: httpx.Request) -> Any:
        return clients.httpx.Response(200, text=f"mounted {request.url.host}")

    with site(resolver(TARGETS)) as server:
        mounts = {"all://x.example": clients.httpx.MockTransport(answer)}
        client = clients.open(server.url, mounts=mounts, follow="target", private=True, follow_redirects=True)
        assert client.get(URI).text == "mounted x.example"
        assert len(server.seen) == 1


def test_a_transport_for_all(clients: Clients) -> None:
    transport = clients.httpx.MockTransport(
        lambda request: clients.httpx.Response(200, json={"path": request.url.path})
    )
    client = clients.open("https://r.example", transport=transport)
    assert client.get(URI).json() == {"path": "/api/handles/10.1000/182"}


class Local(BaseHTTPRequestHandler):
    """Answers on a Unix socket: a redirect, or the article."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        moved = self.headers["Host"] == "r.example"
        self.send_response_only(302 if moved else 200)
        self.send_header("Location", "http://p.example")
        self.send_header("Content-Length", "0")
        self.end_headers()


class LocalServer(ThreadingUnixStreamServer):
    daemon_threads = True
    block_on_close = False


def test_a_unix_socket_is_no_address_in_a_private_network(clients: Clients, tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with LocalServer(path, Local) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        transport = clients.transport(uds=path)
        client = clients.open("http://r.example", follow="target", private=True, transport=transport)
        for _ in range(2):
            assert client.get(URI, follow_redirects=True).status_code == 200
        server.shutdown()


def test_streams(clients: Clients) -> None:
    body = b"x" * 1_000_000
    with site(lambda _: Answer(200, JSON, body)) as server:
        client = clients.open(server.url)
        with client.stream("GET", URI) as response:
            assert not response.is_stream_consumed
            assert sum(map(len, clients.chunks(client, response))) == len(body)
        assert response.is_closed
        response = client.send(client.build_request("GET", URI), stream=True)
        assert not response.is_stream_consumed
        assert sum(map(len, clients.chunks(client, response))) == len(body)


def test_only_the_last_response_is_streamed(clients: Clients) -> None:
    body = b"x" * 1_000_000
    with (
        site(lambda _: Answer(200, {}, body)) as landing,
        site(resolver({"10.1000/182": landing.url})) as server,
    ):
        client = clients.open(server.url, follow="target", private=True, follow_redirects=True)
        with client.stream("GET", URI) as response:
            assert [one.is_closed for one in response.history] == [True]
            assert not response.is_stream_consumed
            assert sum(map(len, clients.chunks(client, response))) == len(body)


def test_hooks_see_every_request_and_response_of_the_way(clients: Clients) -> None:
    asked: list[str] = []
    answered: list[tuple[int, str]] = []
    hooks = {
        "request": [clients.callback(lambda request: asked.append(str(request.url)))],
        "response": [
            clients.callback(lambda response: answered.append((response.status_code, str(response.url))))
        ],
    }
    with site(lambda _: Answer()) as landing, site(resolver({"10.1000/182": landing.url})) as server:
        client = clients.open(
            server.url, event_hooks=hooks, follow="target", private=True, follow_redirects=True
        )
        client.get(URI)
        assert asked == [f"{server.url}/10.1000/182", landing.url]
        assert answered == [(302, f"{server.url}/10.1000/182"), (200, landing.url)]


def test_an_error_of_a_hook_is_the_callers(clients: Clients) -> None:
    def check(response: httpx.Response) -> None:
        response.raise_for_status()

    hook = clients.callback(check)
    with site(lambda _: Answer(404, JSON, b"{}")) as server:
        client = clients.open(server.url, event_hooks={"response": [hook]})
        with pytest.raises(clients.httpx.HTTPStatusError):
            client.get(URI)


@pytest.mark.parametrize("private", [None, True, False])
def test_connections_are_kept(private: bool | None, clients: Clients) -> None:
    threads: set[int] = set()

    def answer(asked: Asked) -> Answer:
        threads.add(threading.get_ident())
        if asked.target.startswith("/10."):
            return Answer(302, {"Location": "/landing"}, b"moved")
        return Answer(200, JSON, b"{}")

    with site(answer) as server:
        client = clients.open(server.url, private=private, follow="target", follow_redirects=True)
        for _ in range(5):
            client.get(URI)
    assert len(threads) == 1  # the server has one thread for each connection


def test_a_refused_redirect_leaks_no_connection(clients: Clients) -> None:
    with site(resolver({"10.1000/182": "http://localhost:9/"})) as server:
        limits = clients.httpx.Limits(max_connections=1)
        client = clients.open(server.url, private=False, follow="target", limits=limits)
        for _ in range(3):
            with pytest.raises(clients.httpx.ConnectError, match="private network"):
                client.get(URI, follow_redirects=True, timeout=clients.httpx.Timeout(5, pool=0.5))
            with client.stream("GET", URI, timeout=clients.httpx.Timeout(5, pool=0.5)) as response:
                assert response.status_code == 302


def test_too_many_redirects_leak_no_connection(clients: Clients) -> None:
    with site(lambda _: Answer(302, {"Location": "/x"}, b"moved")) as server:
        limits = clients.httpx.Limits(max_connections=1)
        client = clients.open(server.url, follow_redirects=True, max_redirects=0, limits=limits)
        for _ in range(3):
            with pytest.raises(clients.httpx.TooManyRedirects):
                client.get(URI, timeout=clients.httpx.Timeout(5, pool=0.5))


def test_without_httpx2_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    monkeypatch.delitem(sys.modules, "httpx_doiuri.httpx2")
    with pytest.raises(ImportError, match=r'needs httpx2: pip install "doiuri\[httpx2\]"'):
        importlib.import_module("httpx_doiuri.httpx2")
