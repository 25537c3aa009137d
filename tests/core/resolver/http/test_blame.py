"""Which failures count against the resolver: not one name's size, nor what another server does."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
from doiuri import DOI, ResolverUnavailable
from doiuri.resolver import Resolver
from support.servers.faults import Answer, Server, reply, serving
from support.servers.rest import handling, proxy

DOI_ = DOI("10.1000/a")
REFUSALS = 5
"""After so many in a row a server is left alone."""


def names(number: int) -> list[DOI]:
    return [DOI(f"10.1000/{n}") for n in range(number)]


def _long(_target: str) -> bytes:
    return reply("200 OK", b"[" + b" " * 1_000_001 + b"]")


def _slow_agency(server: Server, _connection: socket.socket, _request: bytes) -> None:
    server.stopped.wait()


def _bomb_of_the_agency(_server: Server, connection: socket.socket, _request: bytes) -> None:
    connection.sendall(reply("200 OK", b"no gzip", "Content-Encoding: gzip"))


def _asks_for_patience(_server: Server, connection: socket.socket, _request: bytes) -> None:
    connection.sendall(reply("429 Too Many Requests", b"", "Retry-After: 1"))


@pytest.mark.usefixtures("_long_rest")
def test_records_that_are_too_long_do_not_silence_the_server() -> None:
    usual = proxy()
    with handling(lambda target: usual(target) if target.endswith("/good") else _long(target)) as server:
        resolver = Resolver(server.url, store=None)
        assert {o.status for o in resolver.resolve_many(names(3 * REFUSALS))} == {"unknown"}
        assert resolver.resolve("10.1000/good").url


@pytest.mark.usefixtures("_long_rest")
@pytest.mark.parametrize("location", ["ftp://example.org/x", "/10.1000/a", "http://[", "http://a.invalid\0/"])
def test_what_a_record_leads_to_does_not_silence_the_server(location: str) -> None:
    usual = proxy()
    moved_there = reply("302 Found", b"", f"Location: {location}")
    with handling(lambda target: usual(target) if "/api/" in target else moved_there) as server:
        resolver = Resolver(server.url, store=None)
        for _ in range(2 * REFUSALS):
            with pytest.raises(ResolverUnavailable):
                resolver.metadata(DOI_, "text/plain")
        assert resolver.resolve(DOI_).url


@pytest.mark.usefixtures("_long_rest")
@pytest.mark.parametrize("answer", [_slow_agency, _bomb_of_the_agency])
def test_the_behaviour_of_another_server_does_not_silence_ours(answer: Answer) -> None:
    usual = proxy()
    with serving(answer) as agency:
        moved_there = reply("302 Found", b"", f"Location: http://localhost:{agency.port}/")
        with handling(lambda target: usual(target) if "/api/" in target else moved_there) as server:
            # in real time: within the timeout, which all wait for at once, our server has to answer
            resolver = Resolver(server.url, store=None, private=True, timeout=1, concurrency=REFUSALS)

            def ask(_number: int) -> None:
                with pytest.raises(ResolverUnavailable) as caught:
                    resolver.metadata(DOI_, "text/plain")
                assert f"localhost:{agency.port}" in str(caught.value) or "damaged" in str(caught.value)

            with ThreadPoolExecutor(REFUSALS) as pool:
                list(pool.map(ask, range(REFUSALS)))
            assert resolver.resolve(DOI_).url


def test_a_retry_after_of_another_server_does_not_hold_ours_back(pauses: list[float]) -> None:
    usual = proxy()
    with serving(_asks_for_patience) as agency:
        moved_there = reply("302 Found", b"", f"Location: http://localhost:{agency.port}/")
        with (
            handling(lambda target: usual(target) if "/api/" in target else moved_there) as server,
            pytest.raises(ResolverUnavailable, match="429"),
        ):
            Resolver(server.url, store=None, private=True).metadata(DOI_, "text/plain")
    assert pauses == [1.0, 1.0]


@pytest.mark.usefixtures("_long_rest")
@pytest.mark.parametrize("concurrency", [1, 3, 8])
@pytest.mark.parametrize(
    "answer",
    [
        reply("503 Service Unavailable", b""),
        reply("429 Too Many Requests", b"", "Retry-After: 0"),
        reply("504 Gateway Timeout", b""),
        reply("200 OK", b"x" * 99)[:-9],
    ],
    ids=["503", "429", "504", "cut off"],
)
def test_a_server_that_always_refuses_gets_few_requests(answer: bytes, concurrency: int) -> None:
    with handling(lambda _target: answer) as server:
        resolver = Resolver(server.url, store=None, concurrency=concurrency)
        assert {o.status for o in resolver.resolve_many(names(7))} == {"unknown"}
        assert {o.status for o in Resolver(server.url, store=None).verify(names(7))} == {"unknown"}
        assert 3 <= len(server.requests) <= 12


@pytest.mark.parametrize("status", ["429 Too Many Requests", "502 Bad", "503 Away", "504 Gateway Timeout"])
def test_a_failure_that_passes_is_not_seen(status: str) -> None:
    usual, seen = proxy(), set[str]()

    def handle(target: str) -> bytes:
        if target in seen:
            return usual(target)
        seen.add(target)
        return reply(status, b"")

    with handling(handle) as server:
        outcomes = list(Resolver(server.url, store=None).resolve_many(names(7)))
        assert {outcome.status for outcome in outcomes} == {"found"}
        assert len(server.requests) == 14
