"""follow="target" and Accept; credentials never reach another host."""

from __future__ import annotations

import io
from typing import Any

import pytest
import requests
from doiuri_proxy import running
from requests.auth import AuthBase, HTTPDigestAuth
from requests_doiuri import mount
from support.proxy_records import value
from support.servers.web import JSON, Answer, Asked, leading_back, resolver, site

PAGE = Answer(200, {"Content-Type": "text/html"}, b"<p>the article")
BIBTEX = "application/x-bibtex"
SECRETS = {"Authorization": "Bearer s3cret", "Cookie": "session=s3cret"}


class Token(AuthBase):
    """A user's authentication."""

    def __call__(self, r: requests.PreparedRequest) -> requests.PreparedRequest:
        r.headers["Authorization"] = "Token t"
        return r


def test_the_target_and_the_way_there() -> None:
    with site(lambda _: PAGE) as landing:
        page = landing.at("localhost") + "/a"
        with site(resolver({"10.1000/1": page})) as proxy:
            response = mount(requests.Session(), proxy.url, follow="target").get("doi:10.1000/1")
            assert (response.url, response.content) == (page, PAGE.body)
            assert [one.url for one in response.history] == ["doi:10.1000/1", f"{proxy.url}/10.1000/1"]


def test_a_fragment_of_the_name_does_not_leak_into_the_target() -> None:
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/456#789": landing.url + "/a"})) as proxy:
        response = mount(requests.Session(), proxy.url, follow="target").get("doi:10.1000/456%23789")
        assert response.url == landing.url + "/a"
        assert proxy.seen[0].target == "/10.1000/456%23789"


def test_aliases_and_locations_are_honoured() -> None:
    with site(lambda _: PAGE) as landing:
        places = (
            f'<locations><location href="{landing.url}/low" weight="0"/>'
            f'<location href="{landing.url}/high" weight="1"/></locations>'
        )
        records = [
            {"handle": "10.1000/loc", "values": [value(1, "10320/loc", places)]},
            {"handle": "10.1000/alias", "values": [value(1, "HS_ALIAS", "10.1000/LOC")]},
        ]
        with running(records) as proxy:
            session = mount(requests.Session(), proxy.url, follow="target")
            for uri in ("doi:10.1000/loc", "doi:10.1000/alias"):
                assert session.get(uri).url == f"{landing.url}/high"


def proxy_or_api(asked: Asked) -> Answer:
    if asked.target.startswith("/api/handles/"):
        return Answer(200, JSON, b"{}")
    return Answer(200, {"Content-Type": BIBTEX}, b"@misc{}")


@pytest.mark.parametrize("accept", ["*/*", "application/json", b"application/json", f"{BIBTEX};q=0.1, */*"])
def test_json_or_anything_is_the_record(accept: str | bytes) -> None:
    with site(proxy_or_api) as proxy:
        session = mount(requests.Session(), proxy.url)
        assert session.get("doi:10.1000/1", headers={"Accept": accept}).json() == {}


@pytest.mark.parametrize(
    "accept", [BIBTEX, BIBTEX.encode(), f"{BIBTEX}, application/json;q=0.5", "text/turtle"]
)
@pytest.mark.parametrize("where", ["request", "session"])
def test_another_type_is_content_negotiation(accept: str | bytes, where: str) -> None:
    with site(proxy_or_api) as proxy:
        session = mount(requests.Session(), proxy.url)
        headers = {"Accept": accept}
        if where == "session":
            session.headers.update(headers)
        response = session.get("doi:10.1000/a%28b%29", headers=headers if where == "request" else None)
        assert response.content == b"@misc{}"
        assert proxy.seen[0].target == "/10.1000/a(b)"


@pytest.mark.parametrize(
    ("auth", "header"), [(("u", "p"), "Basic dTpw"), (Token(), "Token t"), (None, "Bearer s3cret")]
)
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_credentials_go_to_the_resolver_and_nowhere_else(
    name: str, auth: AuthBase | None, header: str
) -> None:
    with site(lambda _: PAGE) as landing:
        away = landing.at("localhost") if name == "127.0.0.1" else landing.url
        with site(resolver({"10.1000/1": away})) as proxy:
            session = mount(requests.Session(), proxy.at(name), follow="target")
            headers = {} if auth else SECRETS
            session.get("doi:10.1000/1", auth=auth, headers=headers, cookies={"c": "s3cret"})
            assert proxy.seen[0].headers["authorization"] == header
            cookies = {"c=s3cret"} if auth else {"c=s3cret", "session=s3cret"}
            assert {*proxy.seen[0].headers["cookie"].split("; ")} == cookies
        assert not landing.seen[0].headers.keys() & {"authorization", "cookie"}


@pytest.mark.parametrize("header", ["a=b; c=d=e; ; ", b"a=b;c=d=e"])
def test_a_cookie_header_reaches_the_resolver(header: str | bytes) -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as proxy:
        mount(requests.Session(), proxy.url).get("doi:10.1000/1", headers={"Cookie": header})
        assert {*proxy.seen[0].headers["cookie"].split("; ")} == {"a=b", "c=d=e"}


def test_digest_authentication_at_the_resolver() -> None:
    def guarded(asked: Asked) -> Answer:
        if asked.headers.get("authorization", "").startswith("Digest username="):
            return Answer(200, JSON, b'{"responseCode":1}')
        return Answer(401, {"WWW-Authenticate": 'Digest realm="r", nonce="n", qop="auth", algorithm=MD5'})

    with site(guarded) as proxy:
        session = mount(requests.Session(), proxy.url)
        session.auth = HTTPDigestAuth("u", "p")
        assert session.get("doi:10.1000/1").json() == {"responseCode": 1}


def test_redirects_within_the_resolver_keep_the_credentials() -> None:
    def answer(asked: Asked) -> Answer:
        if asked.target == "/api/handles/10.1000/1":
            return Answer(301, {"Location": "/v2/10.1000/1"})
        return Answer(200, JSON, b"{}")

    with site(answer) as proxy:
        mount(requests.Session(), proxy.url).get("doi:10.1000/1", auth=("u", "p"))
        assert [one.headers["authorization"] for one in proxy.seen] == ["Basic dTpw"] * 2


def test_cookies_that_the_resolver_sets_stay_with_it() -> None:
    with site(lambda _: PAGE) as landing:
        away = landing.at("localhost") + "/a"
        with site(lambda _: Answer(302, {"Location": away, "Set-Cookie": "seen=1"})) as proxy:
            session = mount(requests.Session(), proxy.url, follow="target")
            for _ in range(2):
                session.get("doi:10.1000/1")
            assert [one.headers.get("cookie") for one in proxy.seen] == [None, "seen=1"]
        assert all("cookie" not in one.headers for one in landing.seen)


class Opened(requests.adapters.BaseAdapter):
    """A user's adapter for another scheme."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str | None] = []

    def send(self, request: requests.PreparedRequest, *_: object, **_options: object) -> requests.Response:
        self.urls.append(request.url)
        response = requests.Response()
        response.request, response.status_code, response.raw = request, 200, io.BytesIO()
        return response

    def close(self) -> None:
        pass


def ask(session: requests.Session, by_hand: bool) -> None:
    response = session.get("doi:10.1000/1", allow_redirects=not by_hand)
    while response.next is not None:
        response = session.send(response.next, allow_redirects=False)


@pytest.mark.parametrize(
    "target", ["ftp://localhost/x", "FILE:///etc/passwd", "javascript:alert(1)", "doi:10.1000/2"]
)
@pytest.mark.parametrize("private", [None, False, True])
@pytest.mark.parametrize("by_hand", [False, True])
def test_only_http_and_https_are_opened(by_hand: bool, private: bool | None, target: str) -> None:
    with site(resolver({"10.1000/1": target})) as proxy:
        session = mount(requests.Session(), proxy.url, follow="target", private=private)
        session.mount("file://", adapter := Opened())
        refused = r"10\.1000/1: redirected to .*, which is not an http or https URL"
        with pytest.raises(requests.exceptions.InvalidSchema, match=refused):
            ask(session, by_hand)
        assert not adapter.urls
        assert session.get("file:///etc/passwd").status_code == 200


@pytest.mark.parametrize(
    "target",
    [
        "http://[::1",
        "http://a]b/",
        "http://a.example:65536/",
        "//a.example:-1",
        "http://a..example/",
        f"http://{'a' * 64}.example/",
        "http://\xff/",
    ],
)
@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("by_hand", [False, True])
def test_a_redirect_to_what_is_no_url_names_the_doi(by_hand: bool, private: bool, target: str) -> None:
    """Some of the errors about it are none of requests'."""
    with site(resolver({"10.1000/1": target})) as proxy:
        session = mount(requests.Session(), proxy.url, follow="target", private=private)
        with pytest.raises(requests.ConnectionError, match=r"10\.1000/1: redirected to an invalid URL: "):
            ask(session, by_hand)


@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.parametrize("where", ["request", "session", "headers"])
def test_only_cookies_come_back_to_the_resolver(where: str, by_hand: bool) -> None:
    """Those without a domain are the resolver's, also if they are the session's."""
    with leading_back(PAGE) as (proxy, landing):
        session = mount(requests.Session(), proxy.url, follow="target")
        given: dict[str, Any] = {}
        if where == "request":
            given = {"cookies": {"a": "b"}, "headers": {"Authorization": "Basic dTpw"}}
        elif where == "session":
            session.cookies.set("a", "b")
            session.auth = ("u", "p")
        else:
            session.headers.update({"Authorization": "Basic dTpw", "Cookie": "a=b"})
        response = session.get("doi:10.1000/1", allow_redirects=not by_hand, **given)
        while response.next is not None:
            response = session.send(response.next, allow_redirects=False)
        assert [one.headers.get("authorization") for one in proxy.seen] == ["Basic dTpw", None]
        assert [one.headers.get("cookie") for one in proxy.seen] == ["a=b", "a=b"]
        assert not landing.seen[0].headers.keys() & {"authorization", "cookie"}
        assert [(cookie.name, cookie.domain) for cookie in session.cookies] == [("a", "")] * (
            where == "session"
        )


def test_other_requests_keep_the_sessions_cookies() -> None:
    with site(lambda asked: PAGE if asked.target == "/b" else Answer(302, {"Location": "/b"})) as other:
        session = mount(requests.Session(), "https://r.example")
        session.cookies.set("a", "b")
        session.get(other.url)
        assert [one.headers["cookie"] for one in other.seen] == ["a=b"] * 2


def test_endless_redirects_end() -> None:
    with site(lambda asked: Answer(302, {"Location": asked.target + "x"})) as proxy:
        session = mount(requests.Session(), proxy.url, follow="target")
        session.max_redirects = 5
        with pytest.raises(requests.TooManyRedirects):
            session.get("doi:10.1000/1")
        assert len(proxy.seen) <= 5


@pytest.mark.parametrize(
    "host", ["[::1]:9", "[2001:DB8::1]", "[::ffff:127.0.0.1]", "localhost:9", "r.example"]
)
def test_cookies_reach_a_resolver_whatever_its_host(host: str) -> None:
    session = mount(requests.Session(), f"http://{host}")
    for given in ({"cookies": {"a": "b"}}, {"headers": {"Cookie": "a=b"}}):
        response = session.get("doi:10.1000/1", allow_redirects=False, **given)  # type: ignore[arg-type]
        assert response.next is not None
        assert response.next.headers["Cookie"] == "a=b"
