"""https: certificates are checked, and a request that hangs is aborted."""

from __future__ import annotations

import socket

import pytest
from doiuri import DOI, ResolverUnavailable
from doiuri.resolver import Resolver
from support.processes import all_threads_ended
from support.servers.faults import NAME, TARGET, Server, record, reply, serving
from support.servers.tls import Authority

DOI_ = DOI(NAME)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


def says_record(_server: Server, connection: socket.socket, _request: bytes) -> None:
    connection.sendall(reply("200 OK", record()))


def trickles(server: Server, connection: socket.socket, _request: bytes) -> None:
    for byte in b"HTTP/1.1 200 OK\r\n" * 9:
        if server.stopped.wait(1):
            return
        connection.sendall(bytes([byte]))


def test_a_certificate_that_nobody_vouches_for(authority: Authority) -> None:
    with (
        serving(says_record, authority.server()) as server,
        pytest.raises(ResolverUnavailable, match="certificate"),
    ):
        Resolver(server.url, store=None).resolve(DOI_)
    assert not server.requests


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_the_environment_names_who_is_trusted(
    variable: str, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    monkeypatch.setenv(variable, str(authority.bundle))
    with serving(says_record, authority.server()) as server:
        assert Resolver(server.url, store=None).resolve(DOI_).url == TARGET


def test_a_hanging_request_is_broken_off(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority.bundle))
    with serving(trickles, authority.server()) as server:
        # in real time: within the timeout the connection has to be made
        with pytest.raises(ResolverUnavailable):
            Resolver(server.url, store=None, timeout=1).resolve(DOI_)
        assert server.requests
        assert all_threads_ended()
