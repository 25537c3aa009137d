"""follow="target" opens what the DOI points to; credentials never reach another host."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import (
    HTTPCookieProcessor,
    HTTPErrorProcessor,
    HTTPRedirectHandler,
    Request,
    build_opener,
)

import pytest
from doiuri_proxy import running
from support.proxy_records import value
from support.servers.web import Answer, Asked, leading_back, record, resolver, site
from urllib_doiuri import DOIHandler, record_request, urlopen

SECRETS = {"Authorization": "Bearer s3cret", "Cookie": "session=s3cret"}
PAGE = Answer(200, {"Content-Type": "text/html"}, b"<p>the article")


def test_the_target_is_opened_and_the_way_there_is_visible() -> None:
    with (
        site(lambda _: PAGE) as landing,
        site(resolver({"10.1000/1": landing.at("localhost") + "/a"})) as proxy,
    ):
        request = Request("doi:10.1000/1")
        with urlopen(request, resolver=proxy.url, follow="target") as response:
            assert (response.status, response.read()) == (200, PAGE.body)
            assert response.url == landing.at("localhost") + "/a"
        way = [f"{proxy.url}/10.1000/1", landing.at("localhost") + "/a"]
        assert list(request.redirect_dict) == way  # type: ignore[attr-defined]


def test_aliases_and_locations_are_honoured() -> None:
    with site(lambda _: PAGE) as landing:
        places = (
            f'<locations><location href="{landing.url}/low" weight="0"/>'
            f'<location href="{landing.url}/high" weight="1"/></locations>'
        )
        records = [
            {
                "handle": "10.1000/loc",
                "values": [value(1, "URL", landing.url), value(2, "10320/loc", places)],
            },
            {"handle": "10.1000/alias", "values": [value(1, "HS_ALIAS", "10.1000/LOC")]},
        ]
        with running(records) as proxy:
            for uri in ("doi:10.1000/loc", "doi:10.1000/alias"):
                with urlopen(uri, resolver=proxy.url, follow="target") as response:
                    assert response.url == f"{landing.url}/high"


@pytest.mark.parametrize("follow", ["record", "target"])
@pytest.mark.parametrize("place", ["headers", "unredirected", "opener"])
def test_credentials_go_to_the_resolver_and_nowhere_else(follow: str, place: str) -> None:
    with site(lambda _: PAGE) as landing:
        away = landing.at("localhost") + "/a"
        with site(lambda _: Answer(302, {"Location": away})) as proxy:
            request = Request("doi:10.1000/1", headers=SECRETS if place == "headers" else {})
            for name, secret in SECRETS.items() if place == "unredirected" else ():
                request.add_unredirected_header(name, secret)
            opener = build_opener(DOIHandler(proxy.url, follow="target" if follow == "target" else "record"))
            if place == "opener":
                opener.addheaders = [(name.upper(), secret) for name, secret in SECRETS.items()]
            if follow == "target":
                opener.open(request).close()
            else:
                with pytest.raises(URLError, match="returned an HTML page"):
                    opener.open(request)
        for name, secret in SECRETS.items():
            assert proxy.seen[0].headers[name.lower()] == secret
            assert name.lower() not in landing.seen[0].headers


def test_unredirected_headers_are_not_redirected() -> None:
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.url})) as proxy:
        request = Request("doi:10.1000/1", headers={"X-Any": "a"})
        request.add_unredirected_header("X-First", "b")
        urlopen(request, resolver=proxy.url, follow="target").close()
        sent = [{name for name in one.seen[0].headers if name[:2] == "x-"} for one in (proxy, landing)]
    assert sent == [{"x-any", "x-first"}, {"x-any"}]


def test_credentials_of_a_record_request_stay_there_too() -> None:
    with site(lambda _: Answer()) as elsewhere:
        away = elsewhere.at("localhost")
        with site(lambda _: Answer(302, {"Location": away})) as proxy:
            request = record_request("10.1000/1", type="URL", resolver=proxy.url)
            for name, secret in SECRETS.items():
                request.add_header(name, secret)
            opener = build_opener(DOIHandler(proxy.url))
            for _ in range(2):
                opener.open(request).close()
        assert [one.headers["authorization"] for one in proxy.seen] == ["Bearer s3cret"] * 2
        assert all(not one.headers.keys() & {"authorization", "cookie"} for one in elsewhere.seen)


@pytest.mark.parametrize("place", ["headers", "unredirected", "opener"])
@pytest.mark.parametrize("for_record", [False, True])
def test_passwords_do_not_come_back_to_the_resolver(for_record: bool, place: str) -> None:
    """Else any host could have a request of its choice made there in the user's name."""
    with leading_back(PAGE) as (proxy, landing):
        opener = build_opener(DOIHandler(proxy.url, follow="target"))
        request = Request("doi:10.1000/1")
        if for_record:
            request = record_request("10.1000/1", resolver=proxy.url)
        if place == "opener":
            opener.addheaders = [*SECRETS.items()]
        else:
            for name, secret in SECRETS.items():
                (request.add_header if place == "headers" else request.add_unredirected_header)(name, secret)
        for _ in range(2):
            with suppress(URLError):  # the page is not a record
                opener.open(request).close()
        assert [one.headers.get("authorization") for one in proxy.seen] == ["Bearer s3cret", None] * 2
        if place != "unredirected":  # cookies do, as a browser's
            assert [one.headers.get("cookie") for one in proxy.seen] == ["session=s3cret"] * 4
        assert not landing.seen[0].headers.keys() & {"authorization", "cookie"}


def test_credentials_follow_a_redirect_within_the_resolver_but_not_to_its_other_ports() -> None:
    with site(lambda _: PAGE) as landing:

        def alias(asked: Asked) -> Answer:
            if asked.target == "/10.1000/alias":
                return Answer(301, {"Location": "/10.1000/1"})
            return Answer(302, {"Location": landing.url})  # the same host, another port

        with site(alias) as proxy:
            request = Request("doi:10.1000/alias", headers=SECRETS)
            urlopen(request, resolver=proxy.url, follow="target").close()
        assert [one.headers.get("authorization") for one in proxy.seen] == ["Bearer s3cret"] * 2
        assert [one.headers.get("cookie") for one in proxy.seen] == ["session=s3cret"] * 2
        assert not landing.seen[0].headers.keys() & {"authorization", "cookie"}


def test_cookies_are_the_openers_matter() -> None:
    def answer(asked: Asked) -> Answer:
        return Answer(200, {"Content-Type": "application/json", "Set-Cookie": "seen=1"}, b"{}")

    with site(answer) as proxy:
        opener = build_opener(HTTPCookieProcessor(), DOIHandler(proxy.url))
        for _ in range(2):
            opener.open("doi:10.1000/1").close()
        assert [one.headers.get("cookie") for one in proxy.seen] == [None, "seen=1"]


@pytest.mark.parametrize(
    "target",
    [
        "ftp://localhost/x",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "doi:10.1000/2",
        "http://[",
        "http:///etc/passwd",
        "http:x",
        "http://localhost:99999/",
        "//localhost:x/",
    ],
)
@pytest.mark.parametrize("secrets", [{}, SECRETS])
def test_only_http_and_https_are_opened(target: str, secrets: dict[str, str]) -> None:
    with site(resolver({"10.1000/1": target})) as proxy:
        request = Request("doi:10.1000/1", headers=secrets)
        with pytest.raises(URLError, match=r"10\.1000/1: .* redirects to .* not an http or https URL"):
            urlopen(request, resolver=proxy.url, follow="target")
        assert len(proxy.seen) == 1


def test_a_doi_that_points_nowhere_is_an_error_not_the_proxys_page() -> None:
    records = [{"handle": "10.1000/mail", "values": [value(1, "EMAIL", "a@x.example")]}]
    with (
        running(records) as proxy,
        pytest.raises(URLError, match=r"10\.1000/mail: the DOI has no URL to open"),
    ):
        urlopen("doi:10.1000/mail", resolver=proxy.url, follow="target")


def test_a_missing_doi_has_no_target_either() -> None:
    with running([]) as proxy:
        with pytest.raises(HTTPError, match=r"404.*doi:10\.1000/nope") as caught:
            urlopen("doi:10.1000/nope", resolver=proxy.url, follow="target")
        caught.value.close()


def test_an_opener_may_show_redirects_and_errors() -> None:
    class Shown(HTTPErrorProcessor):
        def http_response(self, request: Request, response: Any) -> Any:
            return response

    with site(resolver({"10.1000/1": "http://x.example/"})) as proxy:
        opener = build_opener(DOIHandler(proxy.url, follow="target"), Shown)
        with opener.open("doi:10.1000/1") as response:
            assert (response.status, response.headers["Location"]) == (302, "http://x.example/")
        with opener.open("doi:10.1000/nope") as response:
            assert response.status == 404


def test_the_landing_pages_error_is_its_own() -> None:
    with site(lambda _: Answer(403, {}, b"no robots")) as landing:
        page = landing.at("localhost") + "/a"
        with site(resolver({"10.1000/1": page})) as proxy, pytest.raises(HTTPError) as caught:
            urlopen("doi:10.1000/1", resolver=proxy.url, follow="target")
        with caught.value as error:
            assert str(error) == "HTTP Error 403: Forbidden (for doi:10.1000/1)"
            assert (error.url, error.read(), error.__cause__) == (page, b"no robots", None)


def test_endless_redirects_end() -> None:
    with site(lambda asked: Answer(302, {"Location": asked.target + "x"})) as proxy:
        with pytest.raises(HTTPError, match="infinite loop") as caught:
            urlopen("doi:10.1000/1", resolver=proxy.url, follow="target")
        caught.value.close()
        assert len(proxy.seen) <= HTTPRedirectHandler.max_redirections


def test_one_request_may_be_opened_again_and_again() -> None:
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.url})) as proxy:
        request = Request("doi:10.1000/1")
        for _ in range(12):
            urlopen(request, resolver=proxy.url, follow="target").close()
        assert len(landing.seen) == 12


def test_follow_is_record_or_target() -> None:
    with pytest.raises(ValueError, match="follow: 'page'"):
        DOIHandler(follow="page")  # type: ignore[arg-type]


def test_a_records_parameters_reach_the_rest_api() -> None:
    with running([record("10.1000/1", "http://a.example/", "http://b.example/")]) as proxy:
        request = record_request("10.1000/1", type=["URL", "EMAIL"], index=2, auth=True, resolver=proxy.url)
        assert request.full_url == f"{proxy.url}/api/handles/10.1000/1?type=URL&type=EMAIL&index=2&auth"
