"""auth, Authorization and cookies reach the resolver, and no other host."""

from __future__ import annotations

import pickle
from collections.abc import Generator
from typing import Any

import httpx
import pytest
from support.clients.httpx import Clients
from support.servers.web import JSON, Answer, Asked, leading_back, resolver, site

PAGE = Answer(200, {"Content-Type": "text/html"}, b"<p>the article")
SECRETS = {"Authorization": "Bearer s3cret", "Cookie": "session=s3cret"}


class Token(httpx.Auth):
    """A user's authentication."""

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = "Token t"
        yield request


def signed(request: httpx.Request) -> httpx.Request:
    request.headers["Authorization"] = "Signature s"
    return request


AUTHS: list[tuple[Any, str]] = [
    (("u", "p"), "Basic dTpw"),
    (Token(), "Token t"),
    (signed, "Signature s"),
    (None, "Bearer s3cret"),
]


@pytest.mark.parametrize(("auth", "header"), AUTHS)
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("where", ["request", "client"])
@pytest.mark.parametrize("by_hand", [False, True], ids=["followed", "by hand"])
@pytest.mark.parametrize("clients", ["Client"], indirect=True)
def test_credentials_go_to_the_resolver_and_nowhere_else(
    name: str, auth: Any, header: str, where: str, by_hand: bool, clients: Clients
) -> None:
    options: dict[str, Any] = {"auth": auth} if auth else {"headers": SECRETS}
    own, given = (options, {}) if where == "client" else ({}, options)
    with site(lambda _: PAGE) as landing:
        away = landing.at("localhost") if name == "127.0.0.1" else landing.url
        with site(resolver({"10.1000/1": away})) as proxy:
            client = clients.open(proxy.at(name), follow="target", cookies={"c": "s3cret"}, **own)
            response = client.get("doi:10.1000/1", follow_redirects=not by_hand, **given)
            if by_hand:
                assert response.next_request is not None
                response = client.send(response.next_request)
            assert response.content == PAGE.body
            assert proxy.seen[0].headers["authorization"] == header
            cookies = {"c=s3cret"} if auth else {"session=s3cret"}
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
        client = clients.open(proxy.url, follow="target", cookies={"a": "b"}, **options)
        response = client.get("doi:10.1000/1", follow_redirects=not by_hand)
        while response.next_request is not None:
            following = response.next_request
            if pickled:
                following = pickle.loads(pickle.dumps(following))
                following.stream = httpx.ByteStream(b"")  # httpx does not pickle it
            response = client.send(following)
        assert [one.headers.get("authorization") for one in proxy.seen] == ["Basic dTpw", None]
        assert [one.headers.get("cookie") for one in proxy.seen] == ["a=b", "a=b"]
        assert not landing.seen[0].headers.keys() & {"authorization", "cookie"}


def test_a_request_built_for_another_resolver_gets_no_credentials(clients: Clients) -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as proxy:
        request = clients.open(proxy.url).build_request("GET", "doi:10.1000/1")
        clients.open(proxy.at("localhost"), auth=("u", "p")).send(request)
        assert "authorization" not in proxy.seen[0].headers


def test_the_callers_explicit_auth_for_a_redirect_is_used(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.at("localhost")})) as proxy:
        client = clients.open(proxy.url, follow="target", auth=("u", "p"))
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
        auth = httpx.DigestAuth("u", "p")
        client = clients.open(proxy.url, follow="target", auth=auth, follow_redirects=follow)
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
        assert [one.headers["authorization"] for one in proxy.seen] == ["Basic dTpw"] * 4
        assert [one.headers["cookie"] for one in proxy.seen] == ["a=b"] * 4


def test_cookies_that_the_resolver_sets_stay_with_it(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing:
        away = landing.at("localhost") + "/a"
        with site(lambda _: Answer(302, {"Location": away, "Set-Cookie": "seen=1"})) as proxy:
            client = clients.open(proxy.url, follow="target", follow_redirects=True)
            for _ in range(2):
                client.get("doi:10.1000/1")
            assert [one.headers.get("cookie") for one in proxy.seen] == [None, "seen=1"]
        assert all("cookie" not in one.headers for one in landing.seen)


def test_cookies_of_the_target_reach_it(clients: Clients) -> None:
    with (
        site(lambda _: PAGE._replace(headers={"Set-Cookie": "seen=1"})) as landing,
        site(resolver({"10.1000/1": landing.at("localhost")})) as proxy,
    ):
        client = clients.open(proxy.url, follow="target", follow_redirects=True, cookies={"a": "b"})
        for _ in range(2):
            client.get("doi:10.1000/1")
        assert [one.headers.get("cookie") for one in landing.seen] == [None, "seen=1"]
        assert [one.headers.get("cookie") for one in proxy.seen] == ["a=b"] * 2


def test_cookies_for_a_path_of_the_resolver_reach_it(clients: Clients) -> None:
    with site(lambda _: Answer(200, {**JSON, "Set-Cookie": "seen=1; Path=/api/handles"}, b"{}")) as proxy:
        client = clients.open(proxy.url)
        for _ in range(2):
            client.get("doi:10.1000/1")
        assert [one.headers.get("cookie") for one in proxy.seen] == [None, "seen=1"]


def test_a_target_with_a_password_gets_none_of_it(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing:
        with site(resolver({"10.1000/1": landing.at("u:p@localhost")})) as proxy:
            client = clients.open(proxy.url, follow="target", follow_redirects=True)
            assert client.get("doi:10.1000/1").status_code == 200
        assert "authorization" not in landing.seen[0].headers
