"""The connection that a request for a DOI uses is checked, whichever request opened it, and whenever."""

from __future__ import annotations

import gc
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import httpx
import pytest
from doiuri._hosts import is_private
from httpx_doiuri._peers import Peer
from support.clients.httpx import Clients
from support.servers.web import Answer, Asked, Site, resolver, site
from support.targets import resolve_as

PAGE = Answer(200, {"Content-Type": "text/html"}, b"<p>the article")
PUBLIC, PRIVATE = "127.0.0.1", "127.0.0.2"
REFUSED = r"10\.1000/1: redirected to agency\.example \({}\), in a private network"


@pytest.fixture
def _a_public_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "doiuri.plugins._targets.is_private", lambda host: host != PUBLIC and is_private(host)
    )


@contextmanager
def hanging_up(port: int) -> Iterator[list[bytes]]:
    """Accept connections to a port of the private address, and close them once the client speaks."""
    heard: list[bytes] = []
    with socket.create_server((PRIVATE, port)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    heard.append(connection.recv(65536))

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield heard
        finally:
            listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.usefixtures("_a_public_address")
def test_a_resolver_that_was_private_once_is_not_private_for_ever(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a network whose portal answers for every name until the user has logged in."""
    resolve_as(monkeypatch, "resolver.example", PRIVATE, PUBLIC)
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.at("localhost")})) as proxy:
        base = proxy.at("resolver.example")
        client = clients.open(base, follow="target", follow_redirects=True)
        request = client.build_request("GET", "doi:10.1000/1")
        with hanging_up(proxy.port) as heard, pytest.raises(httpx.TransportError):
            client.send(request)
        assert heard[0].startswith(b"GET /10.1000/1 ")
        for again in (request, client.build_request("GET", "doi:10.1000/1")):
            with pytest.raises(httpx.ConnectError, match="redirected to localhost, in a private network"):
                client.send(again)
        assert not landing.seen


@pytest.mark.usefixtures("_a_public_address")
def test_a_name_that_was_refused_once_is_not_refused_for_ever(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_as(monkeypatch, "agency.example", PRIVATE, PUBLIC)
    with (
        site(lambda _: PAGE) as landing,
        site(resolver({"10.1000/1": landing.at("agency.example")})) as proxy,
    ):
        client = clients.open(proxy.url, private=False, follow="target", follow_redirects=True)
        with (
            hanging_up(landing.port) as heard,
            pytest.raises(httpx.ConnectError, match=REFUSED.format(PRIVATE)),
        ):
            client.get("doi:10.1000/1")
        assert not any(heard)
        assert client.get("doi:10.1000/1").content == PAGE.body


def test_a_connection_is_checked_for_a_request_that_waited_for_it(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other request begins to connect first, and has not yet done so when the one for the DOI is made."""
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    looked_up, waits, find = threading.Event(), threading.Event(), socket.getaddrinfo

    def find_late(host: Any, *args: Any, **options: Any) -> Any:
        if host in {"agency.example", b"agency.example"}:
            if args[4:] and args[4] & socket.AI_NUMERICHOST:  # trio tries that in its event loop
                raise socket.gaierror(socket.EAI_NONAME, "not an address")
            looked_up.set()
            waits.wait(10)
            time.sleep(0.1)  # until it is in the pool's queue
        return find(host, *args, **options)

    def note(request: httpx.Request) -> None:
        if request.url.path == "/doi":
            waits.set()

    monkeypatch.setattr(socket, "getaddrinfo", find_late)
    with (
        site(lambda _: PAGE) as landing,
        site(resolver({"10.1000/1": landing.at("agency.example") + "/doi"})) as proxy,
    ):
        limits, hooks = httpx.Limits(max_connections=1), {"request": [clients.callback(note)]}
        client = clients.open(proxy.url, private=False, follow="target", limits=limits, event_hooks=hooks)
        following = client.get("doi:10.1000/1").next_request
        assert following is not None
        other = threading.Thread(target=client.get, args=[landing.at("agency.example") + "/other"])
        other.start()
        looked_up.wait(10)
        with pytest.raises(httpx.ConnectError, match=REFUSED.format("127.0.0.1")):
            client.send(following)
        other.join()
        assert [asked.target for asked in landing.seen] == ["/other"]


def test_connections_that_are_closed_are_forgotten(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = [f"h{number}.example" for number in range(9)]
    for host in hosts:
        resolve_as(monkeypatch, host, "127.0.0.1")
    with site(lambda _: PAGE) as server:
        limits = httpx.Limits(max_keepalive_connections=1, max_connections=2)
        client = clients.open(server.url, private=False, limits=limits)
        for host in hosts:
            client.get(server.at(host))
        gc.collect()
        assert len(client._doi_requests._peers._by_stream) <= 2


class Stream:
    """A network stream of a user's own transport, to which there are no weak references."""

    __slots__ = ()

    def get_extra_info(self, _name: str) -> tuple[str, int]:
        return PRIVATE, 80


def test_a_stream_that_is_not_httpcores_is_checked_when_the_response_arrives(clients: Clients) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        headers = {"Location": "http://agency.example"} if request.url.host == "r.example" else {}
        stream = {"network_stream": Stream()}
        return httpx.Response(302 if headers else 200, headers=headers, extensions=stream)

    client = clients.open("http://r.example", follow="target", transport=httpx.MockTransport(answer))
    client._doi_requests._peers.add(Stream(), Peer(None, PRIVATE))
    with pytest.raises(httpx.ConnectError, match=REFUSED.format(PRIVATE)):
        client.get("doi:10.1000/1", follow_redirects=True)


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


@pytest.mark.parametrize("path", ["/a", "/c"])
def test_an_error_does_not_keep_the_trace_either(path: str, clients: Clients) -> None:
    def lost(asked: Asked) -> Answer:
        if asked.target == "/c":
            raise ConnectionAbortedError
        return Answer(302, {"Location": "/c"})

    with site(lost) as server:
        client = clients.open(server.url, private=False, follow_redirects=True)
        request = client.build_request("GET", server.url + path)
        with pytest.raises(httpx.RemoteProtocolError) as caught:
            client.send(request)
        assert "trace" not in request.extensions
        assert "trace" not in caught.value.request.extensions


def test_a_request_made_by_one_client_can_be_sent_by_another_kind(clients: Clients) -> None:
    async def send(request: httpx.Request) -> int:
        async with httpx.AsyncClient() as other:
            return (await other.send(request)).status_code

    def following(server: Site) -> httpx.Request:
        request = clients.open(server.url, private=False).get(f"{server.url}/a").next_request
        assert request is not None
        return request

    with site(moved) as server:
        assert anyio.run(send, following(server)) == 200
        with httpx.Client() as other:
            assert other.send(following(server)).status_code == 200
