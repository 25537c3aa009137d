"""timeout, verify, cert, proxies, stream and hooks of the session apply to each request of a chain."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from requests_doiuri import mount
from support.servers.httpproxy import http_proxy
from support.servers.tls import Authority
from support.servers.web import JSON, Answer, Asked, Site, resolver, site, speaking

TARGETS = {"10.1000/182": "http://x.example/"}
URI = "doi:10.1000/182"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def secure(authority: Authority) -> Iterator[Site]:
    with site(resolver(TARGETS), tls=authority.server()) as server:
        yield server


def test_verify(authority: Authority, secure: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    session = mount(requests.Session(), secure.url)
    assert session.get(URI, verify=str(authority.bundle)).status_code == 200
    with pytest.raises(requests.exceptions.SSLError):
        mount(requests.Session(), secure.url).get(URI)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority.bundle))
    assert mount(requests.Session(), secure.url).get(URI).status_code == 200
    by_session = mount(requests.Session(), secure.url)
    by_session.trust_env = False
    by_session.verify = str(authority.bundle)
    assert by_session.get(URI).status_code == 200


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_verify_false(secure: Site) -> None:
    assert mount(requests.Session(), secure.url).get(URI, verify=False).status_code == 200


def test_cert(authority: Authority) -> None:
    with site(resolver(TARGETS), tls=authority.server(ask_client=True)) as server:
        session = mount(requests.Session(), server.url)
        session.verify = str(authority.bundle)
        assert session.get(URI, cert=str(authority.client)).status_code == 200
        with pytest.raises(requests.ConnectionError):
            mount(requests.Session(), server.url).get(URI, verify=str(authority.bundle))


@pytest.mark.parametrize("timeout", [0.2, (5, 0.2)])
def test_timeout(timeout: float | tuple[float, float]) -> None:
    with speaking(None) as base, pytest.raises(requests.ReadTimeout):
        mount(requests.Session(), base).get(URI, timeout=timeout)


def test_proxies_by_argument_by_session_and_by_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with site(resolver(TARGETS)) as server, http_proxy() as proxy:
        line = f"GET {server.url}/api/handles/10.1000/182"
        session = mount(requests.Session(), server.url)
        session.get(URI, proxies={"http": proxy.url})
        assert proxy.seen == [line]
        session.proxies = {"http": proxy.url}
        session.get(URI)
        assert proxy.seen == [line] * 2
        session.proxies = {}
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//user:pass@"))
        session.get(URI)
        assert proxy.seen == [line] * 3
        assert proxy.credentials[-1] == "Basic dXNlcjpwYXNz"
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        session.get(URI)
        assert len(proxy.seen) == 3
        assert len(server.seen) == 4


def test_https_goes_through_the_proxys_tunnel(authority: Authority, secure: Site) -> None:
    with http_proxy() as proxy:
        session = mount(requests.Session(), secure.url)
        response = session.get(URI, proxies={"https": proxy.url}, verify=str(authority.bundle))
        assert response.json()["handle"] == "10.1000/182"
        assert proxy.seen == [f"CONNECT 127.0.0.1:{secure.port}"]


def test_a_doi_proxy_in_the_environment_is_not_in_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("doi_proxy", "http://127.0.0.1:9")
    with site(resolver(TARGETS)) as server:
        assert mount(requests.Session(), server.url).get(URI).status_code == 200


def test_stream() -> None:
    body = b"x" * 1_000_000
    with site(lambda _: Answer(200, JSON, body)) as server:
        session = mount(requests.Session(), server.url)
        with session.get(URI, stream=True) as response:
            assert not response._content_consumed  # type: ignore[attr-defined]
            assert sum(map(len, response.iter_content(65536))) == len(body)


def test_hooks_see_every_response_of_the_way() -> None:
    seen: list[str | None] = []

    def note(response: requests.Response, **_: object) -> None:
        seen.append(response.url)

    with site(resolver(TARGETS)) as server:
        mount(requests.Session(), server.url).get(URI, hooks={"response": note})
        assert seen == [URI, f"{server.url}/api/handles/10.1000/182"]


def test_netrc_serves_the_resolver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login u password p\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with site(resolver(TARGETS)) as server:
        mount(requests.Session(), server.url).get(URI)
        assert server.seen[0].headers["authorization"] == "Basic dTpw"


def test_connections_are_the_sessions_and_are_kept() -> None:
    threads: set[int] = set()

    def answer(asked: Asked) -> Answer:
        threads.add(threading.get_ident())
        return resolver(TARGETS)(asked)

    with site(answer) as server, mount(requests.Session(), server.url) as session:
        for _ in range(5):
            session.get(URI)
    assert len(threads) == 1  # the server has one thread for each connection
