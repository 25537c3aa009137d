"""follow="target", Accept and follow_redirects."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from doiuri_proxy import running
from httpx_doiuri import Client
from support.clients.httpx import KINDS, Clients
from support.proxy_records import value
from support.servers.web import JSON, Answer, Asked, resolver, site

PAGE = Answer(200, {"Content-Type": "text/html"}, b"<p>the article")
BIBTEX = "application/x-bibtex"


def test_the_target_and_the_way_there(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing:
        page = landing.at("localhost") + "/a"
        with site(resolver({"10.1000/1": page})) as proxy:
            client = clients.open(proxy.url, follow="target", follow_redirects=True)
            response = client.get("doi:10.1000/1")
            assert (str(response.url), response.content) == (page, PAGE.body)
            (first,) = response.history
            assert (first.status_code, str(first.url)) == (302, f"{proxy.url}/10.1000/1")
            assert (first.content, first.next_request, first.history) == (b"", None, [])
            assert response.elapsed.total_seconds() > 0


def test_redirects_can_be_left_to_the_caller(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.url + "/a"})) as proxy:
        client = clients.open(proxy.url, follow="target")
        first = client.get("doi:10.1000/1")
        assert (first.status_code, first.history) == (302, [])
        assert first.has_redirect_location
        assert first.next_request is not None
        assert first.next_request.url == landing.url + "/a"
        assert not landing.seen
        assert client.send(first.next_request).content == PAGE.body


@pytest.mark.parametrize("by_client", [False, True])
@pytest.mark.parametrize("by_request", [False, True, None])
def test_follow_redirects_of_the_client_and_of_the_request(
    by_client: bool, by_request: bool | None, clients: Clients
) -> None:
    follows = by_client if by_request is None else by_request
    options: dict[str, Any] = {} if by_request is None else {"follow_redirects": by_request}
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.url})) as proxy:
        client = clients.open(proxy.url, follow="target", follow_redirects=by_client)
        assert client.get("doi:10.1000/1", **options).status_code == (200 if follows else 302)
        with client.stream("GET", "doi:10.1000/1", **options) as response:
            assert response.status_code == (200 if follows else 302)


def test_a_fragment_of_the_name_does_not_leak_into_the_target(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/456#789": landing.url + "/a"})) as proxy:
        client = clients.open(proxy.url, follow="target", follow_redirects=True)
        assert client.get("doi:10.1000/456%23789").url == landing.url + "/a"
        assert proxy.seen[0].target == "/10.1000/456%23789"


def test_aliases_and_locations_are_honoured(clients: Clients) -> None:
    with site(lambda _: PAGE) as landing:
        places = (
            f'<locations><location href="{landing.url}/low" weight="0"/>'
            f'<location href="{landing.url}/high" weight="1"/></locations>'
        )
        records = [
            {"handle": "10.1000/loc", "values": [value(1, "10320/loc", places)]},
            {"handle": "10.1000/alias", "values": [value(1, "HS_ALIAS", "10.1000/LOC")]},
        ]
        with running(records) as proxy:
            client = clients.open(proxy.url, follow="target", follow_redirects=True)
            for uri in ("doi:10.1000/loc", "doi:10.1000/alias"):
                assert client.get(uri).url == f"{landing.url}/high"


def proxy_or_api(asked: Asked) -> Answer:
    if asked.target.startswith("/api/handles/"):
        return Answer(200, JSON, b"{}")
    return Answer(200, {"Content-Type": BIBTEX}, b"@misc{}")


@pytest.mark.parametrize("accept", ["*/*", "application/json", f"{BIBTEX};q=0.1, */*"])
def test_json_or_anything_is_the_record(accept: str, clients: Clients) -> None:
    with site(proxy_or_api) as proxy:
        client = clients.open(proxy.url)
        assert client.get("doi:10.1000/1", headers={"Accept": accept}).json() == {}
        assert client.get("doi:10.1000/1").json() == {}


@pytest.mark.parametrize("accept", [BIBTEX, f"{BIBTEX}, application/json;q=0.5", "text/turtle"])
@pytest.mark.parametrize("where", ["request", "client", "pairs"])
def test_another_type_is_content_negotiation(accept: str, where: str, clients: Clients) -> None:
    with site(proxy_or_api) as proxy:
        client = clients.open(proxy.url)
        given: dict[str, Any] = {"request": {"accept": accept}, "pairs": [(b"Accept", accept.encode())]}
        if where == "client":
            client.headers["Accept"] = accept
        response = client.get("doi:10.1000/a%28b%29", headers=given.get(where))
        assert response.content == b"@misc{}"
        assert proxy.seen[0].target == "/10.1000/a(b)"
        assert proxy.seen[0].headers["accept"] == accept


def ask(client: Client, follow: bool) -> None:
    response = client.get("doi:10.1000/1", follow_redirects=follow)
    assert not follow
    assert response.next_request is not None
    client.send(response.next_request)


TARGETS = ["ftp://localhost/x", "file:///etc/passwd", "javascript:alert(1)", "doi:10.1000/2"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("follow", [False, True])
def test_only_http_and_https_are_opened(target: str, follow: bool, clients: Clients) -> None:
    with site(resolver({"10.1000/1": target})) as proxy:
        client = clients.open(proxy.url, follow="target")
        with pytest.raises((httpx.UnsupportedProtocol, httpx.RemoteProtocolError)):
            ask(client, follow)


@pytest.mark.parametrize("private", [None, False, True])
@pytest.mark.parametrize("by_hand", [False, True])
def test_no_mount_makes_another_scheme_a_target(
    by_hand: bool, private: bool | None, clients: Clients
) -> None:
    opened: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        opened.append(str(request.url))
        return httpx.Response(200)

    with site(resolver({"10.1000/1": "file:///etc/passwd"})) as proxy:
        mounts = {"file://": httpx.MockTransport(answer)}
        client = clients.open(proxy.url, private=private, follow="target", mounts=mounts)
        with pytest.raises(
            httpx.UnsupportedProtocol, match=r"10\.1000/1: redirected to 'file:.*not an http or"
        ):
            ask(client, not by_hand)
        assert not opened
        assert client.get("file://host/etc/passwd").status_code == 200


HOSTILE = [
    "javascript:alert(1)",
    "doi:10.1000/2",
    "http:a",
    "http://a.example:65536/",
    "http://a.example:-1/",
    "//a.example:99999",
    "http://[::1]:99999/",
    "http://xn--/",
    "http://xn--a.example/",
    "http://a..example/",
    f"http://{'a' * 64}.example/",
    "/" + "a" * 65_520,
]


@pytest.mark.parametrize("clients", KINDS[:2], indirect=True)
@pytest.mark.parametrize(("follow", "private"), [(False, True), (True, False)])
@pytest.mark.parametrize("target", HOSTILE, ids=lambda target: target[:24])
def test_a_redirect_to_what_is_no_url_names_the_doi(
    target: str, follow: bool, private: bool, clients: Clients
) -> None:
    """httpx' own error is not an HTTPError, as if the caller's URL were wrong, or there is none."""
    with site(resolver({"10.1000/1": target})) as proxy:
        client = clients.open(proxy.url, private=private, follow="target", cookies={"a": "b"})
        with pytest.raises(
            httpx.RemoteProtocolError, match=r"^10\.1000/1: redirected to an invalid URL: "
        ) as caught:
            client.get("doi:10.1000/1", follow_redirects=follow)
        assert len(str(caught.value)) < 400
        assert caught.value.request.url == f"{proxy.url}/10.1000/1"


def test_other_requests_are_redirected_by_httpx(clients: Clients) -> None:
    with (
        site(lambda _: Answer(302, {"Location": "javascript:alert(1)"})) as server,
        pytest.raises(httpx.InvalidURL),
    ):
        clients.open(server.url).get(server.url)


@pytest.mark.parametrize("most", [0, 5])
def test_endless_redirects_end(most: int, clients: Clients) -> None:
    with site(lambda asked: Answer(302, {"Location": asked.target + "x"})) as proxy:
        client = clients.open(proxy.url, follow="target", max_redirects=most, follow_redirects=True)
        with pytest.raises(httpx.TooManyRedirects, match=r"10\.1000/1: "):
            client.get("doi:10.1000/1")
        assert len(proxy.seen) == most + 1


def test_a_client_that_is_closed_says_so() -> None:
    client = Client(resolver="http://127.0.0.1:9")
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.get("doi:10.1000/1")
