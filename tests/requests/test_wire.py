"""Each legal name arrives at the server as it is, whatever requests and urllib3 tidy in a URL."""

from __future__ import annotations

import string
from collections.abc import Iterator
from itertools import product
from urllib.parse import unquote

import pytest
import requests
from doiuri import DOI
from doiuri.testing.strategies import names
from hypothesis import given
from hypothesis import strategies as st
from requests_doiuri import mount
from support.servers.web import JSON, Answer, Site, site

ENDS = [*string.punctuation, ";;", ";/", "/;", ";?", "/.;", "/..;", ";a", "%3B", "%3b", ";;x;"]
# Where clients tidy: the end of a path, of a segment, and before a query or a fragment
tidied = st.lists(st.sampled_from([*";/.?#%&=:@+~ ", "..", "%3B", "%2F", "a", "á"]), min_size=1).map("".join)


@pytest.fixture(scope="module")
def server() -> Iterator[Site]:
    with site(lambda _: Answer(200, JSON, b"{}")) as anything:
        yield anything


@pytest.fixture(scope="module")
def sessions(server: Site) -> dict[str, requests.Session]:
    record, target = (mount(requests.Session(), server.url, follow=how) for how in ("record", "target"))
    return {"/api/handles/": record, "/": target}


def asked(server: Site, session: requests.Session, name: str, **options: object) -> str:
    """Return the path that the server is asked for."""
    server.seen.clear()
    session.get(DOI.from_name(name).uri, **options)  # type: ignore[arg-type]
    (one,) = server.seen
    path, _, query = one.target.partition("?")
    assert query == ("type=URL" if options.get("params") else "")
    return unquote(path)


@pytest.mark.parametrize(("start", "end"), [*product(["/api/handles/", "/"], ENDS)])
def test_names_with_ends_that_clients_tidy(
    start: str, end: str, server: Site, sessions: dict[str, requests.Session]
) -> None:
    name = f"10.1000/a{end}"
    for options in ({}, {"params": {"type": "URL"}}, {"headers": {"Accept": "application/x-bibtex"}}):
        expected = "/" if "headers" in options else start
        assert asked(server, sessions[start], name, **options) == expected + name


@given(names() | st.builds("10.{}/{}".format, st.integers(1000, 9999), tidied))
def test_every_legal_name(server: Site, sessions: dict[str, requests.Session], name: str) -> None:
    for start, session in sessions.items():
        assert asked(server, session, name) == start + name
        assert asked(server, session, name, headers={"Accept": "application/x-bibtex"}) == f"/{name}"
