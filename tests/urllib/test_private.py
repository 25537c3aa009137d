"""Redirects into the user's own network are followed only if the caller or the resolver's address says so."""

from __future__ import annotations

from pathlib import Path
from urllib.error import URLError
from urllib.request import HTTPHandler, HTTPSHandler, ProxyHandler, Request, build_opener

import pytest
from support.servers.httpproxy import http_proxy
from support.servers.tls import Authority
from support.servers.web import Answer, Asked, resolver, site
from support.targets import PRIVATE_HOSTS, resolve_as
from urllib_doiuri import DOIHandler, install, record_request, urlopen

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
            request = Request("doi:10.1000/1", headers={"Accept": accept} if accept else {})
            follow = "record" if accept else "target"
            with pytest.raises(URLError, match=REFUSED):
                urlopen(request, resolver=proxy.url, follow=follow, private=False)  # type: ignore[arg-type]
        assert not landing.seen


def test_each_redirect_is_checked_and_the_resolvers_own_are_followed() -> None:
    with site(lambda _: PAGE) as landing:

        def moved(asked: Asked) -> Answer:
            place = f"{landing.url}/a" if asked.target == "/moved" else "/moved"
            return Answer(302, {"Location": place})

        with site(moved) as proxy, pytest.raises(URLError, match=REFUSED):
            urlopen("doi:10.1000/1", resolver=proxy.url, follow="target", private=False)
        assert [asked.target for asked in proxy.seen] == ["/10.1000/1", "/moved"]
        assert not landing.seen


def test_a_name_that_resolves_to_this_machine_gets_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    with site(lambda _: PAGE) as landing, site(lambda _: PAGE) as other:
        target = landing.at("agency.example") + "/a"
        with site(resolver({"10.1000/1": target})) as proxy:
            opener = build_opener(DOIHandler(proxy.url, follow="target", private=False))
            with pytest.raises(
                URLError, match=r"redirected to agency\.example \(127\.0\.0\.1\), in a private"
            ):
                opener.open("doi:10.1000/1")
            opener.open(other.url).close()  # another request is not this handler's business
        assert not landing.seen


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "resolver.example"])
def test_a_private_resolver_may_lead_anywhere(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_as(monkeypatch, "resolver.example", "127.0.0.1")
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.at("localhost")})) as proxy:
        urlopen("doi:10.1000/1", resolver=proxy.at(name), follow="target").close()
        assert len(landing.seen) == 1


@pytest.mark.parametrize("private", [None, True, False])
def test_a_public_resolver(private: bool | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name and the proxy's answer are all that this machine knows of it."""
    with site(lambda _: PAGE) as landing, http_proxy() as proxy:
        resolve_as(monkeypatch, "resolver.example", "127.0.0.1")  # what the proxy connects to
        with site(resolver({"10.1000/1": landing.at("localhost")})) as server:
            handler = DOIHandler(server.at("resolver.example"), follow="target", private=private)
            opener = build_opener(handler, ProxyHandler({"http": proxy.url}))
            if private:
                opener.open("doi:10.1000/1").close()
            else:
                with pytest.raises(URLError, match=REFUSED):
                    opener.open("doi:10.1000/1")
        assert len(landing.seen) == (1 if private else 0)


def test_through_a_proxy_names_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    with site(lambda _: PAGE) as landing, http_proxy() as proxy:
        with site(resolver({"10.1000/1": landing.at("agency.example")})) as server:
            handler = DOIHandler(server.url, follow="target", private=False)
            build_opener(handler, ProxyHandler({"http": proxy.url})).open("doi:10.1000/1").close()
        assert [line.split("/")[2].partition(":")[0] for line in proxy.seen] == [
            "127.0.0.1",
            "agency.example",
        ]


def test_the_openers_own_handlers_connect() -> None:
    class Counting(HTTPHandler):
        opened = 0

        def http_open(self, req: Request) -> object:  # type: ignore[override]
            Counting.opened += 1
            return super().http_open(req)

    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.url})) as proxy:
        for private in (None, True):
            build_opener(Counting, DOIHandler(proxy.url, follow="target", private=private)).open(
                "doi:10.1000/1"
            ).close()
    assert Counting.opened == 4


def test_the_option_of_install_and_of_record_request() -> None:
    with site(lambda _: PAGE) as landing, site(lambda _: Answer(302, {"Location": landing.url})) as proxy:
        install(proxy.url, follow="target", private=False)
        for request in ("doi:10.1000/1", record_request("10.1000/1")):
            with pytest.raises(URLError, match=REFUSED):
                urlopen(request)
        urlopen("doi:10.1000/1", resolver=proxy.url, follow="target", private=True).close()
        assert len(landing.seen) == 1


def test_in_a_tunnel_names_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    authority = Authority(tmp_path)
    context = authority.trusting()
    context.check_hostname = False
    with site(lambda _: PAGE, tls=authority.server()) as landing, http_proxy() as proxy:
        with site(resolver({"10.1000/1": landing.at("agency.example")})) as server:
            handler = DOIHandler(server.url, follow="target", private=False)
            tunnel = ProxyHandler({"https": proxy.url})
            build_opener(handler, tunnel, HTTPSHandler(context=context)).open("doi:10.1000/1").close()
        assert proxy.seen == [f"CONNECT agency.example:{landing.port}"]
