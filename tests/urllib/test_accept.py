"""The Accept header: the record, or another representation through the proxy's content negotiation."""

from __future__ import annotations

import json
from urllib.request import Request, build_opener

import pytest
from support.servers.web import JSON, Answer, Asked, site
from urllib_doiuri import DOIHandler, urlopen

CSL = "application/vnd.citationstyles.csl+json"
BIBTEX = "application/x-bibtex"


def proxy(asked: Asked) -> Answer:
    """Answer with the record at the REST API, and elsewhere with the type that Accept names."""
    if asked.target.startswith("/api/handles/"):
        return Answer(200, JSON, b'{"responseCode": 1}')
    return Answer(200, {"Content-Type": asked.headers["accept"].partition(";")[0]}, b"negotiated")


@pytest.mark.parametrize(
    "accept", [None, "*/*", "application/json", "application/json;q=0.9, text/html;q=0.1"]
)
@pytest.mark.parametrize("header", ["Accept", "accept", "ACCEPT"])
def test_json_or_anything_is_the_record(accept: str | None, header: str) -> None:
    with site(proxy) as server:
        request = Request("doi:10.1000/456%23789", headers={header: accept} if accept else {})
        with urlopen(request, resolver=server.url) as response:
            assert json.load(response) == {"responseCode": 1}
        assert server.seen[0].target == "/api/handles/10.1000/456%23789"
        assert server.seen[0].headers.get("accept") == accept


@pytest.mark.parametrize(
    "accept", [CSL, BIBTEX, "text/x-bibliography; style=apa", f"{BIBTEX}, application/json;q=0.5"]
)
def test_another_type_is_content_negotiation(accept: str) -> None:
    with site(proxy) as server:
        request = Request("doi:10.1000/a%28b%29/../c", headers={"Accept": accept})
        with urlopen(request, resolver=server.url) as response:
            assert response.read() == b"negotiated"
        assert server.seen[0].target == "/10.1000/a(b)/..%2Fc"
        assert server.seen[0].headers["accept"] == accept


def test_the_openers_own_accept_counts_where_the_request_has_none() -> None:
    with site(proxy) as server:
        opener = build_opener(DOIHandler(server.url))
        opener.addheaders = [("Accept", BIBTEX)]
        opener.open("doi:10.1000/182").close()
        opener.open(Request("doi:10.1000/182", headers={"Accept": "*/*"})).close()
        assert [one.target for one in server.seen] == ["/10.1000/182", "/api/handles/10.1000/182"]


def test_accept_may_be_octets() -> None:
    with site(proxy) as server:
        request = Request("doi:10.1000/182")
        request.headers["Accept"] = BIBTEX.encode()  # type: ignore[assignment]
        urlopen(request, resolver=server.url).close()
        assert server.seen[0].target == "/10.1000/182"


def test_negotiation_follows_the_redirect_with_the_same_accept() -> None:
    with site(lambda asked: Answer(200, {"Content-Type": BIBTEX}, b"@misc{}")) as agency:
        target = agency.at("localhost") + "/works/182"
        with site(lambda _: Answer(302, {"Location": target})) as server:
            opener = build_opener(DOIHandler(server.url))
            with opener.open(Request("doi:10.1000/182", headers={"Accept": BIBTEX})) as response:
                assert (response.url, response.read()) == (target, b"@misc{}")
        assert agency.seen[0].headers["accept"] == BIBTEX
