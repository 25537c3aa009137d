"""params= of a doi: request become parameters of the REST API, or of the proxy with follow="target"."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from doiuri_proxy import running
from httpx_doiuri import Client
from support.clients.httpx import Clients
from support.servers.web import JSON, Answer, record, site

ENCODED: list[tuple[Any, str]] = [
    (None, ""),
    ({}, ""),
    ({"type": "URL"}, "?type=URL"),
    ({"type": ["URL", "EMAIL"], "index": (1, 2)}, "?type=URL&type=EMAIL&index=1&index=2"),
    ([("type", "URL"), ("type", "10320/loc")], "?type=URL&type=10320%2Floc"),
    (httpx.QueryParams([("type", "URL"), ("type", "EMAIL")]), "?type=URL&type=EMAIL"),
    ({"auth": True, "cert": False, "type": None}, "?auth"),
    ({"type": "a b+c&d=e#f"}, "?type=a%20b%2Bc%26d%3De%23f"),
    ({"type": "Á"}, "?type=%C3%81"),
    ("type=URL&index=1", "?type=URL&index=1"),
    (b"type=a b", "?type=a%20b"),
    ("", ""),
]


@pytest.mark.parametrize(("params", "query"), ENCODED)
@pytest.mark.parametrize("clients", ["Client"], indirect=True)
def test_each_form_of_params_reaches_the_rest_api(params: Any, query: str, clients: Clients) -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as server:
        clients.open(server.url).get("doi:10.1000/456%23789", params=params)
        assert server.seen[0].target == f"/api/handles/10.1000/456%23789{query}"


def test_values_are_chosen_by_type_and_index(clients: Clients) -> None:
    with running([record("10.1000/1", "http://a.example/", "http://b.example/")]) as proxy:
        client = clients.open(proxy.url)
        assert len(client.get("doi:10.1000/1", params={"type": "URL"}).json()["values"]) == 2
        (one,) = client.get("doi:10.1000/1", params={"index": 2}).json()["values"]
        assert one["data"]["value"] == "http://b.example/"
        assert client.get("doi:10.1000/1", params={"type": "EMAIL"}).json()["responseCode"] == 200


@pytest.mark.parametrize(
    ("own", "given", "query"),
    [
        ({"auth": "yes"}, {"index": 1}, "auth=yes&index=1"),
        ({"auth": "yes"}, None, "auth=yes"),
        ({"type": "URL", "index": 1}, {"type": ["EMAIL", "DESC"]}, "index=1&type=EMAIL&type=DESC"),
        ({"type": "a b"}, "index=1", "type=a%20b&index=1"),
        ({"auth": "yes"}, {"auth": True}, "auth"),
        ({"auth": True, "cert": False, "type": None}, {"index": 1}, "auth&index=1"),
        ({"auth": True, "type": ["a b", "c"]}, {"type": "d"}, "auth&type=d"),
        ([("type", "a"), ("type", "b")], None, "type=a&type=b"),
        (httpx.QueryParams([("type", "a"), ("type", "b")]), None, "type=a&type=b"),
        ("type=a b&auth", {"index": 1}, "type=a%20b&auth&index=1"),
    ],
)
@pytest.mark.parametrize("set_later", [False, True])
def test_the_clients_own_params_come_along(own: Any, given: Any, query: str, set_later: bool) -> None:
    client = Client(resolver="https://r.example", params=None if set_later else own)
    if set_later:
        client.params = own
    assert client.params == httpx.QueryParams(own)
    request = client.build_request("GET", "doi:10.1000/1", params=given)
    assert request.url == f"https://r.example/api/handles/10.1000/1?{query}"
    assert request.headers["Host"] == "r.example"


def test_for_the_target_they_are_the_proxys_parameters(clients: Clients) -> None:
    with running([record("10.1000/1", "http://127.0.0.1:9/a?b=c")]) as proxy:
        client = clients.open(proxy.url, follow="target")
        response = client.get("doi:10.1000/1", params={"urlappend": "&d=e"})
        assert response.headers["Location"] == "http://127.0.0.1:9/a?b=c&d=e"


def test_a_query_in_the_uri_is_no_parameter() -> None:
    with pytest.raises(httpx.InvalidURL, match="%3Ftype%3DURL"):
        Client().get("doi:10.1000/1?type=URL", params={"index": 1})
