"""Errors: the exceptions that users of urllib expect."""

from __future__ import annotations

import ssl
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest
import urllib_doiuri
from doiuri import BadRecord, DOINotFound, ResolverUnavailable
from doiuri_proxy import running
from support.ports import refusing
from support.servers.web import JSON, Answer, site, speaking

NAME = "10.1000/456#789"
URI = "doi:10.1000/456%23789"


def test_not_found_is_a_404_that_names_the_doi_and_keeps_the_answer() -> None:
    with running([]) as proxy:
        urllib_doiuri.install(proxy.url)
        with pytest.raises(HTTPError) as caught:
            urlopen(URI)
    with caught.value as error:
        assert (error.code, error.url) == (404, f"{proxy.url}/api/handles/{URI[4:]}")
        assert NAME in str(error)
        assert isinstance(error.__cause__, DOINotFound)
        assert b'"responseCode":100' in error.read().replace(b" ", b"")
        assert error.headers["content-type"].startswith("application/json")


@pytest.mark.parametrize(
    ("status", "body", "cause"),
    [
        (500, b'{"responseCode":2,"handle":"10.1000/456#789","message":"no luck"}', ResolverUnavailable),
        (404, b"<h1>Not Found</h1>", None),
        (404, b"", None),
        (403, b"<h1>Forbidden</h1>", ResolverUnavailable),
        (429, b"", None),
        (503, b"{", ResolverUnavailable),
    ],
)
def test_every_other_error_keeps_its_status_and_names_the_doi(
    status: int, body: bytes, cause: type[Exception] | None
) -> None:
    with site(lambda _: Answer(status, {**JSON, "Retry-After": "7"}, body)) as resolver:
        urllib_doiuri.install(resolver.url)
        with pytest.raises(HTTPError) as caught:
            urlopen(URI)
    with caught.value as error:
        assert error.code == status
        assert NAME in str(error) or URI in str(error)
        assert not isinstance(error.__cause__, DOINotFound)
        assert cause is None or isinstance(error.__cause__, cause | BadRecord)
        assert error.headers["Retry-After"] == "7"
        assert error.read() == body


def test_a_head_request_has_no_body_to_judge_by() -> None:
    with running([]) as proxy:
        urllib_doiuri.install(proxy.url)
        with pytest.raises(HTTPError, match=r"404: Not Found \(for doi:10\.1000/456%23789\)") as caught:
            urlopen(Request(URI, method="HEAD"))
        caught.value.close()


def test_a_page_where_a_record_is_due_is_no_record() -> None:
    with site(lambda _: Answer(200, {"Content-Type": "text/html"}, b"<p>Log in")) as portal:
        urllib_doiuri.install(portal.url)
        with pytest.raises(URLError, match="returned an HTML page"):
            urlopen(URI)


def test_offline_asks_nobody() -> None:
    with site(lambda _: Answer()) as resolver:
        urllib_doiuri.install(resolver.url, offline=True)
        for asking in (URI, urllib_doiuri.record_request("10.1000/182")):
            with pytest.raises(URLError, match="offline"):
                urlopen(asking)
        with pytest.raises(ValueError, match=r"10\.1000/x%23"):
            urlopen("doi:10.1000/x#")
        urlopen(resolver.url).close()  # other URLs are not this handler's business
        assert len(resolver.seen) == 1


def test_offline_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOIURI_OFFLINE", "1")
    with pytest.raises(URLError, match=r"10\.1000/456#789: offline: request not sent"):
        urllib_doiuri.urlopen(URI)


def test_no_server() -> None:
    with refusing() as port, pytest.raises(URLError) as caught:
        urllib_doiuri.urlopen(URI, resolver=f"http://127.0.0.1:{port}")
    assert isinstance(caught.value.reason, ConnectionRefusedError)


@pytest.mark.parametrize("said", [b"", b"garbage\r\n\r\n"])
def test_a_server_that_hangs_up_or_babbles(said: bytes) -> None:
    with speaking(said) as base, pytest.raises(URLError):
        urllib_doiuri.urlopen(URI, resolver=base, timeout=5)


@pytest.mark.parametrize("said", [None, b"HTTP/1.1 200 OK\r\nContent-"])
def test_a_server_that_is_silent_runs_into_the_callers_timeout(said: bytes | None) -> None:
    with speaking(said) as base, pytest.raises(URLError) as caught:
        urllib_doiuri.urlopen(URI, resolver=base, timeout=0.2)
    assert isinstance(caught.value.reason, TimeoutError)


def test_an_unknown_authority() -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as resolver, pytest.raises(URLError) as caught:
        urllib_doiuri.urlopen(URI, resolver=resolver.url.replace("http:", "https:"))
    assert isinstance(caught.value.reason, ssl.SSLError)


def test_an_error_of_another_host_is_not_the_resolvers() -> None:
    body = b'{"responseCode":100,"handle":"10.1000/456#789"}'
    with (
        site(lambda _: Answer(404, JSON, body)) as other,
        site(lambda _: Answer(302, {"Location": f"{other.url}/x"})) as resolver,
    ):
        urllib_doiuri.install(resolver.url)
        with pytest.raises(HTTPError) as caught:
            urlopen(URI)
    with caught.value as error:
        assert (error.code, error.url) == (404, f"{other.url}/x")
        assert error.__cause__ is None
        assert error.read() == body
