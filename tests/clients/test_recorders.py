"""vcrpy sees every request, also of a client that has sent some before: test suites rely on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import requests
import vcr
from doiuri import DOI, ResolverUnavailable
from doiuri.resolver import Resolver
from requests_doiuri import mount
from support.servers.faults import Server, moved, reply, says
from support.servers.rest import handling, proxy
from support.targets import resolve_as
from vcr.errors import CannotOverwriteExistingCassetteException

Ask = Callable[[str], object]


def of_resolver(url: str) -> Ask:
    resolver = Resolver(url, store=None)
    return lambda doi: resolver.resolve(doi).url


def of_own_session(url: str) -> Ask:
    resolver = Resolver(url, store=None, session=requests.Session())
    return lambda doi: resolver.resolve(doi).url


def of_mounted_session(url: str) -> Ask:
    session = mount(requests.Session(), url)
    return lambda doi: session.get(f"doi:{doi}").json()["handle"]


@pytest.mark.parametrize("new", [of_resolver, of_own_session, of_mounted_session])
def test_a_warm_client_is_recorded_and_replayed(new: Callable[[str], Ask], tmp_path: Path) -> None:
    cassette = str(tmp_path / "cassette.yaml")

    def sent(server: Server, mode: str, *dois: str) -> tuple[int, list[object]]:
        before = len(server.requests)
        with vcr.use_cassette(cassette, record_mode=mode):
            answers = [ask(doi) for doi in dois]
        return len(server.requests) - before, answers

    with handling(proxy()) as server:
        ask = new(server.url)
        answers: list[object] = [ask("10.1000/1"), ask("10.1000/2")]
        assert sent(server, "once", "10.1000/1", "10.1000/2") == (2, answers)
        assert sent(server, "none", "10.1000/1", "10.1000/2") == (0, answers)
        with pytest.raises((CannotOverwriteExistingCassetteException, ResolverUnavailable)):
            sent(server, "none", "10.1000/3")
        assert len(server.requests) == 4
        ask("10.1000/3")  # afterwards it is the server that answers
        assert len(server.requests) == 5


def test_a_recorder_opens_no_way_into_a_private_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    with says(reply("200 OK", b"{}"))() as agency:
        with (
            moved(f"http://agency.example:{agency.port}/")() as server,
            vcr.use_cassette(str(tmp_path / "cassette.yaml")),
            pytest.raises(ResolverUnavailable, match="private network"),
        ):
            Resolver(server.url, store=None).metadata(DOI("10.1000/1"), "text/plain")
        assert not agency.requests
