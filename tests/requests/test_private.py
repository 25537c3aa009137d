"""Redirects into the user's own network are followed only if the caller or the resolver's address says so."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter
from requests.auth import HTTPDigestAuth
from requests_doiuri import DOIAdapter, mount
from support.servers.httpproxy import http_proxy
from support.servers.web import Answer, Asked, resolver, site
from support.targets import PRIVATE_HOSTS, resolve_as

PAGE = Answer(200, {"Content-Type": "text/html"}, b"<p>the article")
REFUSED = r"10\.1000/1: redirected to .* in a private network; private=True allows it"


def encoded(url: str) -> str:
    """A Location header: UTF-8, which http.server writes as Latin-1."""
    return url.encode().decode("latin-1")


@pytest.mark.parametrize("host", PRIVATE_HOSTS)
@pytest.mark.parametrize("accept", [None, "application/x-bibtex"])
def test_a_private_target_is_refused(host: str, accept: str | None) -> None:
    with site(lambda _: PAGE) as landing:
        target = encoded(f"http://{host}:{landing.port}/a")
        with site(resolver({"10.1000/1": target})) as proxy:
            follow = "record" if accept else "target"
            session = mount(requests.Session(), proxy.url, follow=follow, private=False)  # type: ignore[arg-type]
            with pytest.raises(requests.ConnectionError, match=REFUSED):
                session.get("doi:10.1000/1", headers={"Accept": accept} if accept else {})
        assert not landing.seen


@pytest.mark.parametrize(
    "host", [r"127.0.0.1:{}\@public.example", "127.0.0.1:{} .public.example", "[::1", "a:x"]
)
def test_a_host_that_clients_read_differently_is_refused(host: str) -> None:
    with site(lambda _: PAGE) as landing:
        target = f"http://{host.format(landing.port)}/a"
        with site(resolver({"10.1000/1": target})) as proxy:
            session = mount(requests.Session(), proxy.url, follow="target", private=False)
            with pytest.raises(requests.ConnectionError, match=r"10\.1000/1: redirected to an invalid URL"):
                session.get("doi:10.1000/1")
        assert not landing.seen


@pytest.mark.parametrize("mounted", [True, False], ids=["mount", "adapter"])
def test_each_redirect_is_checked_and_the_resolvers_own_are_followed(mounted: bool) -> None:
    with site(lambda _: PAGE) as landing:

        def moved(asked: Asked) -> Answer:
            place = f"{landing.url}/a" if asked.target == "/moved" else "/moved"
            return Answer(302, {"Location": place})

        with site(moved) as proxy:
            session = requests.Session()
            if mounted:
                mount(session, proxy.url, follow="target", private=False)
            else:
                session.mount("doi:", DOIAdapter(proxy.url, follow="target", private=False))
            with pytest.raises(requests.ConnectionError, match=REFUSED):
                session.get("doi:10.1000/1")
        assert [asked.target for asked in proxy.seen] == ["/10.1000/1", "/moved"]
        assert not landing.seen


def test_a_name_that_resolves_to_this_machine_gets_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    with site(lambda _: PAGE) as landing:
        with site(resolver({"10.1000/1": landing.at("agency.example")})) as proxy:
            session = mount(requests.Session(), proxy.url, follow="target", private=False)
            with pytest.raises(
                requests.ConnectionError, match=r"agency\.example \(127\.0\.0\.1\), in a private"
            ):
                session.get("doi:10.1000/1")
            session.get(landing.at("agency.example"))  # other requests are not checked
        assert len(landing.seen) == 1


@pytest.mark.parametrize("headers", [{}, {"Connection": "close"}], ids=["kept", "closed"])
def test_the_response_of_a_name_that_is_rebound_is_withheld(
    headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_as(monkeypatch, "agency.example", "8.8.8.8", "127.0.0.1", "8.8.8.8")
    with site(lambda _: PAGE._replace(headers={**PAGE.headers, **headers})) as landing:
        with site(resolver({"10.1000/1": landing.at("agency.example")})) as proxy:
            session = mount(requests.Session(), proxy.url, follow="target", private=False)
            with pytest.raises(requests.ConnectionError, match=REFUSED):
                session.get("doi:10.1000/1")
        assert len(landing.seen) == 1


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "resolver.example"])
def test_a_private_resolver_may_lead_anywhere(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_as(monkeypatch, "resolver.example", "127.0.0.1")
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.at("localhost")})) as proxy:
        assert mount(requests.Session(), proxy.at(name), follow="target").get("doi:10.1000/1").ok
        assert len(landing.seen) == 1


@pytest.mark.parametrize("private", [None, True, False])
def test_a_public_resolver(private: bool | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name and the proxy's answer are all that this machine knows of it."""
    with site(lambda _: PAGE) as landing, http_proxy() as proxy:
        resolve_as(monkeypatch, "resolver.example", "127.0.0.1")  # what the proxy connects to
        with site(resolver({"10.1000/1": landing.at("localhost")})) as server:
            base = server.at("resolver.example")
            session = mount(requests.Session(), base, follow="target", private=private)
            session.proxies = {"http": proxy.url}
            if private:
                assert session.get("doi:10.1000/1").ok
            else:
                with pytest.raises(requests.ConnectionError, match=REFUSED):
                    session.get("doi:10.1000/1")
        assert len(landing.seen) == (1 if private else 0)


def test_through_a_proxy_names_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    with site(lambda _: PAGE) as landing, http_proxy() as proxy:
        with site(resolver({"10.1000/1": landing.at("agency.example")})) as server:
            session = mount(requests.Session(), server.url, follow="target", private=False)
            session.proxies = {"http": proxy.url}
            assert session.get("doi:10.1000/1").ok
        assert len(landing.seen) == 1


class Tunnel(HTTPAdapter):
    """Connects as through a SOCKS proxy on this machine, which the connection does not tell."""

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:  # type: ignore[override]
        return super().send(request, **{**options, "proxies": {}})


def test_a_socks_proxy_on_this_machine_is_not_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    with site(lambda _: PAGE) as landing:
        with site(resolver({"10.1000/1": landing.at("agency.example")})) as server:
            session = requests.Session()
            session.mount("http://", Tunnel())
            session = mount(session, server.url, follow="target", private=False)
            session.proxies = {"all": "socks5h://127.0.0.1:9050"}
            assert session.get("doi:10.1000/1").ok
        assert len(landing.seen) == 1


def test_a_prepared_request_is_checked_each_time_and_can_be_pickled() -> None:
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.at("localhost")})) as proxy:
        session = mount(requests.Session(), proxy.url, follow="target")
        request = session.prepare_request(requests.Request("GET", "doi:10.1000/1"))
        response = session.send(request)
        mount(session, proxy.url, follow="target", private=False)
        for again in (request, pickle.loads(pickle.dumps(request)), response.history[0].request):
            with pytest.raises(requests.ConnectionError, match=REFUSED):
                session.send(again)
        assert len(request.hooks["response"]) == 1
        hooks = pickle.loads(pickle.dumps(response)).request.hooks["response"]
        assert [hook(response, timeout=1) for hook in hooks] == [response]


def test_a_redirect_after_an_answered_challenge_is_checked() -> None:
    """Digest authentication sends the second request in a hook of its own."""
    with site(lambda _: PAGE) as landing:

        def guarded(asked: Asked) -> Answer:
            if "authorization" in asked.headers:
                return Answer(302, {"Location": landing.at("localhost")})
            return Answer(401, {"WWW-Authenticate": 'Digest realm="r", nonce="n", qop="auth", algorithm=MD5'})

        with site(guarded) as proxy:
            session = mount(requests.Session(), proxy.url, follow="target", private=False)
            session.auth = HTTPDigestAuth("u", "p")
            with pytest.raises(requests.ConnectionError, match=REFUSED):
                session.get("doi:10.1000/1")
        assert not landing.seen
