"""Certificates, timeouts, proxies, mounts, hooks and streams of the client apply to each request."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer

import httpx
import pytest
from support.clients.httpx import Clients
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


def test_verify(authority: Authority, secure: Site, clients: Clients) -> None:
    assert clients.open(secure.url, verify=authority.trusting()).get(URI).status_code == 200
    assert clients.open(secure.url, verify=False).get(URI).status_code == 200
    with pytest.raises(httpx.ConnectError):
        clients.open(secure.url).get(URI)


def test_a_clients_certificate(authority: Authority, clients: Clients) -> None:
    with site(resolver(TARGETS), tls=authority.server(ask_client=True)) as server:
        context = authority.trusting()
        with pytest.raises((httpx.TransportError, ssl.SSLError)):  # httpx translates few of the latter
            clients.open(server.url, verify=context).get(URI)
        context = authority.trusting()
        context.load_cert_chain(authority.client)
        assert clients.open(server.url, verify=context).get(URI).status_code == 200


@pytest.mark.parametrize("timeout", [0.1, httpx.Timeout(60, read=0.1)])
def test_timeout_of_the_request_and_of_the_client(timeout: float | httpx.Timeout, clients: Clients) -> None:
    with speaking(None) as base:
        with pytest.raises(httpx.ReadTimeout):
            clients.open(base).get(URI, timeout=timeout)
        with pytest.raises(httpx.ReadTimeout):
            clients.open(base, timeout=timeout).get(URI)


def test_the_timeout_is_also_that_of_the_target(clients: Clients) -> None:
    with speaking(None) as silent, site(resolver({"10.1000/182": silent})) as server:
        client = clients.open(server.url, follow="target", follow_redirects=True)
        with pytest.raises(httpx.ReadTimeout) as caught:
            client.get(URI, timeout=0.2)
        assert caught.value.request.url == silent


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


def test_https_goes_through_the_proxys_tunnel(authority: Authority, secure: Site, clients: Clients) -> None:
    with http_proxy() as proxy:
        client = clients.open(secure.url, proxy=proxy.url, verify=authority.trusting())
        assert client.get(URI).json()["handle"] == "10.1000/182"
        assert proxy.seen == [f"CONNECT 127.0.0.1:{secure.port}"]


def test_a_doi_proxy_in_the_environment_is_not_in_the_way(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("doi_proxy", "http://127.0.0.1:9")
    with site(resolver(TARGETS)) as server:
        assert clients.open(server.url).get(URI).status_code == 200


def test_a_mount_for_the_target_only(clients: Clients) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text=f"mounted {request.url.host}")

    with site(resolver(TARGETS)) as server:
        mounts = {"all://x.example": httpx.MockTransport(answer)}
        client = clients.open(server.url, mounts=mounts, follow="target", follow_redirects=True)
        assert client.get(URI).text == "mounted x.example"
        assert len(server.seen) == 1


def test_a_transport_for_all(clients: Clients) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json={"path": request.url.path}))
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
        client = clients.open("http://r.example", follow="target", transport=transport)
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
        client = clients.open(server.url, follow="target", follow_redirects=True)
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
        client = clients.open(server.url, event_hooks=hooks, follow="target", follow_redirects=True)
        client.get(URI)
        assert asked == [f"{server.url}/10.1000/182", landing.url]
        assert answered == [(302, f"{server.url}/10.1000/182"), (200, landing.url)]


def test_an_error_of_a_hook_is_the_callers(clients: Clients) -> None:
    def check(response: httpx.Response) -> None:
        response.raise_for_status()

    hook = clients.callback(check)
    with site(lambda _: Answer(404, JSON, b"{}")) as server:
        client = clients.open(server.url, event_hooks={"response": [hook]})
        with pytest.raises(httpx.HTTPStatusError):
            client.get(URI)


@pytest.mark.parametrize("event", ["request", "response"])
@pytest.mark.parametrize("error", [httpx.InvalidURL("mine"), ValueError("mine")])
def test_no_error_of_a_hook_is_taken_for_one_of_the_redirect(
    error: Exception, event: str, clients: Clients
) -> None:
    def fail(_: object) -> None:
        raise error

    with site(lambda _: Answer(302, {"Location": "/x"})) as server:
        client = clients.open(
            server.url, event_hooks={event: [clients.callback(fail)]}, follow_redirects=True
        )
        with pytest.raises(type(error), match=r"^mine$"):
            client.get(URI)


def test_netrc_serves_the_resolver(tmp_path: Path, clients: Clients) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login u password p\n")
    with site(resolver(TARGETS)) as server:
        clients.open(server.url, auth=httpx.NetRCAuth(str(tmp_path / "netrc"))).get(URI)
        assert server.seen[0].headers["authorization"] == "Basic dTpw"


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
        limits = httpx.Limits(max_connections=1)
        client = clients.open(server.url, private=False, follow="target", limits=limits)
        for _ in range(3):
            with pytest.raises(httpx.ConnectError, match="private network"):
                client.get(URI, follow_redirects=True, timeout=httpx.Timeout(5, pool=0.5))
            with client.stream("GET", URI, timeout=httpx.Timeout(5, pool=0.5)) as response:
                assert response.status_code == 302


def test_too_many_redirects_leak_no_connection(clients: Clients) -> None:
    with site(lambda _: Answer(302, {"Location": "/x"}, b"moved")) as server:
        limits = httpx.Limits(max_connections=1)
        client = clients.open(server.url, follow_redirects=True, max_redirects=0, limits=limits)
        for _ in range(3):
            with pytest.raises(httpx.TooManyRedirects):
                client.get(URI, timeout=httpx.Timeout(5, pool=0.5))
