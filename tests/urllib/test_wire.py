"""Each legal name arrives at the server as it is, whatever urllib and http.client tidy in a URL."""

from __future__ import annotations

import string
from collections.abc import Iterator
from itertools import product
from urllib.parse import unquote
from urllib.request import OpenerDirector, Request, build_opener

import pytest
import urllib_doiuri
from doiuri import DOI
from doiuri.plugins import Follow
from doiuri.testing.strategies import names
from hypothesis import given
from hypothesis import strategies as st
from support.servers.web import JSON, Answer, Asked, Site, site

ENDS = [*string.punctuation, ";;", ";/", "/;", ";?", "/.;", "/..;", ";a", "%3B", "%3b", ";;x;"]
# Where clients tidy: the end of a path, of a segment, and before a query or a fragment
tidied = st.lists(st.sampled_from([*";/.?#%&=:@+~ ", "..", "%3B", "%2F", "a", "á"]), min_size=1).map("".join)


@pytest.fixture(scope="module")
def server() -> Iterator[Site]:
    def answer(request: Asked) -> Answer:
        is_link = request.target.startswith("/10.")
        return Answer(302, {"Location": "/"}) if is_link else Answer(200, JSON, b"{}")

    with site(answer) as resolver:
        yield resolver


@pytest.fixture(scope="module")
def openers(server: Site) -> dict[str, OpenerDirector]:
    handlers = (urllib_doiuri.DOIHandler(server.url, follow=how) for how in ("record", "target"))
    record, target = map(build_opener, handlers)
    return {"/api/handles/": record, "/": target}


def asked(server: Site, opener: OpenerDirector, request: str | Request) -> str:
    """Return the path that the server is asked for."""
    server.seen.clear()
    opener.open(request).close()
    return unquote(server.seen[0].target.removesuffix("?type=URL"))


@pytest.mark.parametrize(("start", "end"), [*product(["/api/handles/", "/"], ENDS)])
def test_names_with_ends_that_clients_tidy(
    start: str, end: str, server: Site, openers: dict[str, OpenerDirector]
) -> None:
    doi = DOI.from_name(f"10.1000/a{end}")
    assert asked(server, openers[start], doi.uri) == start + doi.name
    negotiated = Request(doi.uri, headers={"Accept": "application/x-bibtex"})
    assert asked(server, openers[start], negotiated) == "/" + doi.name
    request = urllib_doiuri.record_request(doi, type="URL", resolver=server.url)
    assert asked(server, openers[start], request) == "/api/handles/" + doi.name


@given(names() | st.builds("10.{}/{}".format, st.integers(1000, 9999), tidied))
def test_every_legal_name(server: Site, openers: dict[str, OpenerDirector], name: str) -> None:
    for start, opener in openers.items():
        uri = DOI.from_name(name).uri
        assert asked(server, opener, uri) == start + name
        negotiated = Request(uri, headers={"Accept": "application/x-bibtex"})
        assert asked(server, opener, negotiated) == f"/{name}"


@pytest.mark.parametrize("follow", ["record", "target"])
def test_a_redirect_of_the_resolver_keeps_a_final_semicolon(follow: Follow) -> None:
    def answer(request: Asked) -> Answer:
        if request.target.startswith("/moved/"):
            return Answer(200, JSON, b"{}")
        return Answer(302, {"Location": f"/moved{request.target}"})

    with site(answer) as server:
        build_opener(urllib_doiuri.DOIHandler(server.url, follow=follow)).open("doi:10.1000/a;").close()
        assert unquote(server.seen[1].target).endswith("10.1000/a;")
