"""Redirects into the user's own network are followed only if the caller or the resolver's address says so."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from httpx_doiuri import Client
from support.clients.httpx import Clients
from support.servers.httpproxy import http_proxy
from support.servers.tls import Authority
from support.servers.web import Answer, Asked, resolver, site
from support.targets import PRIVATE_HOSTS, resolve_as

PAGE = Answer(200, {"Content-Type": "text/html"}, b"<p>the article")
REFUSED = r"10\.1000/1: redirected to .* in a private network; private=True allows it"
# Those that httpx refuses itself
NO_HOSTS = {"0177.0.0.1", "\uff11\uff12\uff17.0.0.1", "metadata.google.inter\ufe00nal"}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


def opened(clients: Clients, base: str, private: bool | None = False, **options: Any) -> Client:
    return clients.open(base, private=private, follow="target", follow_redirects=True, **options)


def encoded(url: str) -> str:
    """A Location header: UTF-8, which http.server writes as Latin-1."""
    return url.encode().decode("latin-1")


@pytest.mark.parametrize("host", PRIVATE_HOSTS)
@pytest.mark.parametrize("clients", ["Client"], indirect=True)
def test_a_private_target_is_refused(host: str, clients: Clients) -> None:
    with site(lambda _: PAGE) as landing:
        target = encoded(f"http://{host}:{landing.port}/a")
        with site(resolver({"10.1000/1": target})) as proxy:
            error = httpx.RemoteProtocolError if host in NO_HOSTS else httpx.ConnectError
            with pytest.raises(error, match="Invalid URL" if host in NO_HOSTS else REFUSED):
                opened(clients, proxy.url).get("doi:10.1000/1")
        assert not landing.seen


def test_content_negotiation_is_checked_too(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.at("localhost")})) as proxy:
        client = clients.open(proxy.url, private=False, follow_redirects=True)
        with pytest.raises(httpx.ConnectError, match=REFUSED):
            client.get("doi:10.1000/1", headers={"Accept": "application/x-bibtex"})
        assert not landing.seen


@pytest.mark.parametrize(
    "host", [r"127.0.0.1:{}\@public.example", "[::1", "a:x", "127.0.0.1:{} .public.example"]
)
def test_a_host_that_clients_read_differently_gets_no_request(host: str, clients: Clients) -> None:
    with site(lambda _: PAGE) as landing:
        target = f"http://{host.format(landing.port)}/a"
        with site(resolver({"10.1000/1": target})) as proxy, pytest.raises(httpx.TransportError):
            opened(clients, proxy.url).get("doi:10.1000/1")
        assert not landing.seen


def test_each_redirect_is_checked_and_the_resolvers_own_are_followed(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing:

        def moved(asked: Asked) -> Answer:
            place = f"{landing.url}/a" if asked.target == "/moved" else "/moved"
            return Answer(302, {"Location": place})

        with site(moved) as proxy:
            with pytest.raises(httpx.ConnectError, match=REFUSED) as caught:
                opened(clients, proxy.url).get("doi:10.1000/1")
            assert caught.value.request.url == f"{landing.url}/a"
        assert [asked.target for asked in proxy.seen] == ["/10.1000/1", "/moved"]
        assert not landing.seen


def test_a_redirect_that_the_caller_follows_is_checked(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.at("localhost")})) as proxy:
        client = clients.open(proxy.url, private=False, follow="target")
        following = client.get("doi:10.1000/1").next_request
        assert following is not None
        with pytest.raises(httpx.ConnectError, match=REFUSED):
            client.send(following)
        assert not landing.seen


def test_a_name_that_resolves_to_this_machine_gets_no_request(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    with site(lambda _: PAGE) as landing:
        with site(resolver({"10.1000/1": landing.at("agency.example")})) as proxy:
            client = opened(clients, proxy.url)
            for _ in range(2):
                with pytest.raises(
                    httpx.ConnectError, match=r"agency\.example \(127\.0\.0\.1\), in a private"
                ):
                    client.get("doi:10.1000/1")
            assert not landing.seen
            client.get(landing.at("agency.example"))  # other requests are not checked
            with pytest.raises(httpx.ConnectError, match=r"agency\.example \(127\.0\.0\.1\), in a private"):
                client.get("doi:10.1000/1")  # but their connections are not used, either
        assert len(landing.seen) == 1


def test_a_connection_of_another_request_is_known(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    resolve_as(monkeypatch, "resolver.example", "127.0.0.1")
    with site(lambda _: PAGE) as landing:
        with site(resolver({"10.1000/1": landing.at("agency.example")})) as proxy:
            for private in (None, False):
                client = opened(clients, proxy.at("resolver.example"), private)
                client.get(proxy.at("resolver.example"))
                client.get(landing.at("agency.example"))
                if private is None:
                    assert client.get("doi:10.1000/1").status_code == 200
                else:
                    with pytest.raises(httpx.ConnectError, match=REFUSED):
                        client.get("doi:10.1000/1")
        assert len(landing.seen) == 3


def test_a_refused_name_gets_no_tls_handshake(
    clients: Clients, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    with (
        site(lambda _: PAGE, tls=authority.server()) as landing,
        site(resolver({"10.1000/1": landing.at("agency.example")})) as proxy,
        pytest.raises(httpx.ConnectError, match=REFUSED),  # not an error about the certificate
    ):
        opened(clients, proxy.url).get("doi:10.1000/1")


@pytest.mark.parametrize("headers", [{}, {"Connection": "close"}], ids=["kept", "closed"])
@pytest.mark.parametrize("drops", [False, True])
def test_a_connection_that_another_client_opened_is_checked(
    headers: dict[str, str], drops: bool, clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The response is withheld, since the peer is known only then; also if a transport drops extensions."""
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    transport = clients.transport()
    if drops:
        drop_trace(transport, monkeypatch, clients)
    with (
        site(lambda _: PAGE._replace(headers={**PAGE.headers, **headers})) as landing,
        site(resolver({"10.1000/1": landing.at("agency.example")})) as proxy,
    ):
        client = opened(clients, proxy.url, transport=transport)
        if not drops:
            opened(clients, proxy.url, True, transport=transport).get("doi:10.1000/1")
        with pytest.raises(httpx.ConnectError, match=REFUSED):
            client.get("doi:10.1000/1")


def drop_trace(transport: Any, monkeypatch: pytest.MonkeyPatch, clients: Clients) -> None:
    name = "handle_async_request" if clients.is_async else "handle_request"
    handle = getattr(transport, name)

    def handle_without(request: httpx.Request) -> Any:
        bare = httpx.Request(request.method, request.url, headers=request.headers, stream=request.stream)
        return handle(bare)

    monkeypatch.setattr(transport, name, handle_without)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "resolver.example"])
def test_a_private_resolver_may_lead_anywhere(
    name: str, clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_as(monkeypatch, "resolver.example", "127.0.0.1")
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.at("localhost")})) as proxy:
        client = opened(clients, proxy.at(name), None)
        for _ in range(2):  # by a new connection and by the same one
            assert client.get("doi:10.1000/1").status_code == 200
        client.get(proxy.at(name))
        assert client.get("doi:10.1000/1").status_code == 200
        assert len(landing.seen) == 3


def test_an_unknown_peer_does_not_make_the_resolver_private(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be a proxy."""
    resolve_as(monkeypatch, "resolver.example", "127.0.0.1")
    transport = clients.transport()
    drop_trace(transport, monkeypatch, clients)
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.at("localhost")})) as proxy:
        client = opened(clients, proxy.at("resolver.example"), None, transport=transport)
        with pytest.raises(httpx.ConnectError, match=REFUSED):
            client.get("doi:10.1000/1")
        assert not landing.seen


@pytest.mark.parametrize("private", [None, True, False])
def test_a_public_resolver(private: bool | None, clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name and the proxy's answer are all that this machine knows of it."""
    with site(lambda _: PAGE) as landing, http_proxy() as proxy:
        resolve_as(monkeypatch, "resolver.example", "127.0.0.1")  # what the proxy connects to
        with site(resolver({"10.1000/1": landing.at("localhost")})) as server:
            client = opened(clients, server.at("resolver.example"), private, proxy=proxy.url)
            for _ in range(2):
                if private:
                    assert client.get("doi:10.1000/1").status_code == 200
                else:
                    with pytest.raises(httpx.ConnectError, match=REFUSED):
                        client.get("doi:10.1000/1")
        assert len(landing.seen) == (2 if private else 0)


@pytest.mark.parametrize("secure", [False, True], ids=["forwarded", "tunnelled"])
def test_through_a_proxy_names_decide(
    secure: bool, clients: Clients, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    with site(lambda _: PAGE, tls=authority.server() if secure else None) as landing, http_proxy() as proxy:
        with site(resolver({"10.1000/1": landing.at("agency.example")})) as server:
            client = opened(clients, server.url, proxy=proxy.url, verify=False)
            client.get(landing.at("agency.example"))  # opens the connection that is used next
            for _ in range(2):
                assert client.get("doi:10.1000/1").status_code == 200
        assert len(landing.seen) == 3


def test_a_transport_of_the_users_own_is_checked_by_names(clients: Clients) -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.host)
        if request.url.host == "r.example":
            return httpx.Response(302, headers={"Location": request.url.params["to"]})
        return httpx.Response(200)

    client = opened(clients, "https://r.example", None, transport=httpx.MockTransport(answer))
    assert client.get("doi:10.1000/1", params={"to": "https://p.example"}).status_code == 200
    with pytest.raises(httpx.ConnectError, match=REFUSED):
        client.get("doi:10.1000/1", params={"to": "https://localhost"})
    assert seen == ["r.example", "p.example", "r.example"]


def test_a_redirect_after_an_answered_challenge_is_checked(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing:

        def guarded(asked: Asked) -> Answer:
            if "authorization" in asked.headers:
                return Answer(302, {"Location": landing.at("localhost")})
            return Answer(401, {"WWW-Authenticate": 'Digest realm="r", nonce="n", qop="auth", algorithm=MD5'})

        with site(guarded) as proxy, pytest.raises(httpx.ConnectError, match=REFUSED):
            opened(clients, proxy.url, auth=httpx.DigestAuth("u", "p")).get("doi:10.1000/1")
        assert not landing.seen


@pytest.mark.parametrize("private", [True, False])
def test_the_callers_own_trace_is_called_once_for_each_event(private: bool, clients: Clients) -> None:
    events: list[str] = []
    trace = clients.callback(lambda name, _info: events.append(name))

    def moved(asked: Asked) -> Answer:
        return PAGE if asked.target == "/b" else Answer(302, {"Location": "/b"})

    with site(moved) as server:
        client = opened(clients, server.url, private)
        for url in (server.url, "doi:10.1000/1"):
            events.clear()
            client.get(url, extensions={"trace": trace})
            assert events.count("http11.send_request_headers.started") == 2
            assert events.count("connection.connect_tcp.complete") == (1 if url == server.url else 0)
