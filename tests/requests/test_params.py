"""params= of a doi: request become parameters of the REST API, or of the proxy with follow="target"."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest
import requests
from doiuri_proxy import running
from requests_doiuri import mount
from requests_doiuri._url import DOIURL

if TYPE_CHECKING:
    from doiuri.plugins import Params
from support.servers.web import JSON, Answer, record, site

ENCODED: list[tuple[Params, str]] = [
    (None, ""),
    ({}, ""),
    ({"type": "URL"}, "?type=URL"),
    ({"type": ["URL", "EMAIL"], "index": (1, 2)}, "?type=URL&type=EMAIL&index=1&index=2"),
    ([("type", "URL"), ("type", "10320/loc")], "?type=URL&type=10320%2Floc"),
    ({"auth": True, "cert": False, "type": None}, "?auth"),
    ({b"auth": True, b"type": b"URL"}, "?auth&type=URL"),
    ({"type": "a b+c&d=e#f"}, "?type=a%20b%2Bc%26d%3De%23f"),
    ({"type": "Á"}, "?type=%C3%81"),
    ("type=URL&index=1", "?type=URL&index=1"),
    (b"type=a b", "?type=a%20b"),
    ("", ""),
]


@pytest.mark.parametrize(("params", "query"), ENCODED)
def test_each_form_of_params_reaches_the_rest_api(params: Params, query: str) -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as server:
        mount(requests.Session(), server.url).get("doi:10.1000/456%23789", params=params)  # type: ignore[arg-type]
        assert server.seen[0].target == f"/api/handles/10.1000/456%23789{query}"


def test_values_are_chosen_by_type_and_index() -> None:
    with running([record("10.1000/1", "http://a.example/", "http://b.example/")]) as proxy:
        session = mount(requests.Session(), proxy.url)
        assert len(session.get("doi:10.1000/1", params={"type": "URL"}).json()["values"]) == 2
        (one,) = session.get("doi:10.1000/1", params={"index": 2}).json()["values"]
        assert one["data"]["value"] == "http://b.example/"
        assert session.get("doi:10.1000/1", params={"type": "EMAIL"}).json()["responseCode"] == 200


def test_the_sessions_own_params_come_along() -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as server:
        session = mount(requests.Session(), server.url)
        session.params = {"auth": True}
        session.get("doi:10.1000/1", params={"index": 1})
        assert server.seen[0].target == "/api/handles/10.1000/1?auth&index=1"


def test_for_the_target_they_are_the_proxys_parameters() -> None:
    with running([record("10.1000/1", "http://127.0.0.1:9/a?b=c")]) as proxy:
        session = mount(requests.Session(), proxy.url, follow="target")
        first = session.get("doi:10.1000/1", params={"urlappend": "&d=e"}, allow_redirects=False)
        assert first.next is not None
        second = session.send(first.next, allow_redirects=False)
        assert second.headers["Location"] == "http://127.0.0.1:9/a?b=c&d=e"


def test_a_query_in_the_uri_is_no_parameter() -> None:
    session = mount(requests.Session(), "http://127.0.0.1:9")
    with pytest.raises(requests.exceptions.InvalidURL, match="%3Ftype%3DURL"):
        session.get("doi:10.1000/1?type=URL", params={"index": 1})


def test_a_url_pickles_as_plain_text() -> None:
    url = DOIURL.prepare("doi:10.1000/1", {"type": "URL"})
    assert type(pickle.loads(pickle.dumps(url))) is str
    assert pickle.loads(pickle.dumps(url)) == "doi:10.1000/1?type=URL"


def test_a_prepared_request_keeps_its_params_when_it_is_pickled() -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as server:
        session = mount(requests.Session(), server.url)
        prepared = session.prepare_request(
            requests.Request("GET", "doi:10.1000/456%23789", params={"type": "URL", "auth": True})
        )
        twin = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(prepared))))
        for _ in range(2):
            session.send(twin)
        assert [asked.target for asked in server.seen] == ["/api/handles/10.1000/456%23789?type=URL&auth"] * 2
        twin.url = "doi:10.1000/2"
        session.send(twin)
        assert server.seen[2].target == "/api/handles/10.1000/2"
        twin.url = "doi:10.1000/2?index=1"
        with pytest.raises(requests.exceptions.InvalidURL):
            session.send(twin)
