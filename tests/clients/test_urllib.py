"""What is particular to urllib: the global opener, its handlers, errors, and requests for records."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import (
    BaseHandler,
    HTTPCookieProcessor,
    HTTPSHandler,
    ProxyHandler,
    Request,
    build_opener,
    install_opener,
    urlopen,
    urlretrieve,
)

import pytest
import urllib_doiuri
from doiuri import DOI, DOINotFound, ResolverUnavailable, ShortDOI
from doiuri_proxy import Running, running
from support.checks import exactly
from support.clients import PAGE, REFUSED, TARGETS, URI
from support.servers.tls import Authority
from support.servers.web import JSON, Answer, Asked, Site, any_record, record, resolver, site
from urllib_doiuri import DOIHandler, record_request

RECORDS = [record("10.1000/1", "http://x.example/"), record("10/p5", "http://x.example/")]
NAME = "10.1000/456#789"
ODD = "doi:10.1000/456%23789"
UNKNOWN = "unknown url type: doi"


@pytest.fixture
def proxy() -> Iterator[Running]:
    with running(RECORDS) as started:
        yield started


class Stamp(BaseHandler):
    """A user's handler."""

    def http_request(self, req: Request) -> Request:
        req.add_header("X-Stamp", "1")
        return req


def opener() -> object:
    return urllib.request._opener  # type: ignore[attr-defined]


def test_present_handlers_stay(anything: Site) -> None:
    install_opener(mine := build_opener(Stamp))
    urllib_doiuri.install(anything.url)
    urlopen(URI).close()
    urllib_doiuri.uninstall()
    assert opener() is mine
    urlopen(anything.url).close()
    assert [one.headers["x-stamp"] for one in anything.seen] == ["1", "1"]
    with pytest.raises(URLError, match=UNKNOWN):
        urlopen(URI)


def test_uninstall_leaves_none_of_our_openers_and_any_other() -> None:
    urllib_doiuri.install()
    for _ in range(2):
        urllib_doiuri.uninstall()
        assert opener() is None
    urllib_doiuri.install()
    install_opener(other := build_opener())
    urllib_doiuri.uninstall()
    assert opener() is other


def test_a_second_install_replaces_the_settings(
    proxy: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(RECORDS) as second:
        monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
        for base in (proxy.url, second.url):
            urllib_doiuri.install()
            monkeypatch.setenv("DOIURI_RESOLVER", second.url)  # read at install()
            with urlopen(URI) as response:
                assert response.url.startswith(base)
        urllib_doiuri.uninstall()
        with pytest.raises(URLError, match=UNKNOWN):
            urlopen(URI)


def test_install_goes_before_a_handler_that_is_there(proxy: Running) -> None:
    with running(RECORDS) as second:
        install_opener(build_opener(DOIHandler(proxy.url)))
        urllib_doiuri.install(second.url)
        with urlopen(URI) as response:
            assert response.url.startswith(second.url)
        urllib_doiuri.uninstall()
        with urlopen(URI) as response:
            assert response.url.startswith(proxy.url)


def test_install_again_after_urlcleanup(proxy: Running) -> None:
    urllib_doiuri.install(proxy.url)
    urllib.request.urlcleanup()  # drops the global opener
    urllib_doiuri.install(proxy.url)
    urlopen(URI).close()


def test_urlretrieve(proxy: Running, tmp_path: Path) -> None:
    urllib_doiuri.install(proxy.url)
    path, headers = urlretrieve(URI, tmp_path / "record.json")
    assert json.loads(Path(path).read_bytes())["handle"] == "10.1000/1"
    assert headers["Content-Type"].startswith("application/json")


def test_an_option_of_one_call_leaves_those_of_install(monkeypatch: pytest.MonkeyPatch) -> None:
    with running([record("10.1000/1", "http://localhost:9/")]) as proxy:
        urllib_doiuri.install("http://127.0.0.1:9", offline=True)
        monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
        with pytest.raises(URLError, match=REFUSED):
            urllib_doiuri.urlopen(URI, follow="target")
        with pytest.raises(URLError, match="offline"):
            urllib_doiuri.urlopen(URI)


@pytest.mark.parametrize(("default", "given"), [(0.1, []), (60, [0.1]), (0.1, [None])])
def test_the_timeout_is_that_of_the_call_or_else_of_sockets(
    default: float, given: list[float | None]
) -> None:
    def late(asked: Asked) -> Answer:
        time.sleep(0.4)
        return any_record(asked)

    times_out = nullcontext() if given == [None] else pytest.raises(URLError, match="timed out")
    socket.setdefaulttimeout(default)
    try:
        with site(late) as server, times_out:
            urllib_doiuri.urlopen(URI, None, *given, resolver=server.url).close()
    finally:
        socket.setdefaulttimeout(None)


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("context", [None, ssl.create_default_context()])
def test_urlopen_of_ours_keeps_the_global_openers_handlers(
    installed: bool, context: ssl.SSLContext | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with site(any_record) as resolver:
        mine = build_opener(Stamp, ProxyHandler({}))
        mine.addheaders = [("User-Agent", "mine/1")]
        install_opener(mine)
        if installed:
            urllib_doiuri.install("http://127.0.0.1:9")
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # which this opener does not use
        before = list(vars(mine)["handlers"])
        urllib_doiuri.urlopen(URI, resolver=resolver.url, context=context).close()
        headers = resolver.seen[0].headers
        assert (headers["x-stamp"], headers["user-agent"]) == ("1", "mine/1")
        assert vars(mine)["handlers"] == before
        assert all(one.parent is mine for one in before)


@pytest.mark.parametrize(
    "doi", ["10.1000/1", "https://doi.org/10.1000/1", DOI("10.1000/1"), ShortDOI("10/p5")]
)
def test_record_request_takes_the_installed_resolver_and_any_spelling(
    proxy: Running, doi: str | DOI | ShortDOI
) -> None:
    urllib_doiuri.install(proxy.url)
    with urlopen(record_request(doi, type="URL", cert=True)) as response:
        assert response.url.endswith("?type=URL&cert")
        assert json.load(response)["responseCode"] == 1


def test_record_request_works_with_any_opener(proxy: Running) -> None:
    request = record_request(
        "10.1000/1", type=["URL", "EMAIL"], index=1, auth=True, resolver=proxy.url
    )
    assert request.full_url == f"{proxy.url}/api/handles/10.1000/1?type=URL&type=EMAIL&index=1&auth"
    for opener in (build_opener(), build_opener(DOIHandler("https://doi.org"))):
        with opener.open(request) as response:
            assert json.load(response)["handle"] == "10.1000/1", opener
    with pytest.raises(URLError, match=r"10\.1000/1: offline"):
        build_opener(DOIHandler(offline=True)).open(request)


@pytest.mark.parametrize(
    ("status", "body", "cause"),
    [
        (404, b'{"responseCode":100,"handle":"10.1000/456#789"}', DOINotFound),
        (
            500,
            b'{"responseCode":2,"handle":"10.1000/456#789","message":"no luck"}',
            ResolverUnavailable,
        ),
        (403, b"<h1>Forbidden</h1>", ResolverUnavailable),
        (429, b"", None),
        (503, b"{", ResolverUnavailable),
    ],
)
def test_an_error_keeps_its_status_and_body_and_names_the_doi(
    status: int, body: bytes, cause: type[Exception] | None
) -> None:
    kind = "text/html" if body.startswith(b"<") else "application/json"
    answer = Answer(status, {"Content-Type": kind, "Retry-After": "7"}, body)
    with site(lambda _: answer) as resolver, pytest.raises(HTTPError) as caught:
        urllib_doiuri.urlopen(ODD, resolver=resolver.url)
    with caught.value as error:
        assert (error.code, error.url) == (status, f"{resolver.url}/api/handles/{ODD[4:]}")
        assert NAME in str(error) or ODD in str(error)
        assert (type(error.__cause__) if error.__cause__ else None) is cause
        assert (error.headers["Retry-After"], error.headers["Content-Type"]) == ("7", kind)
        assert error.read() == body


def test_a_malformed_uri_is_refused_in_any_state(anything: Site) -> None:
    request = Request("http://127.0.0.1/")
    request.full_url = "doi:10.1000/x#"
    for asking in (request, "doi:10.1000/x#"):
        with pytest.raises(ValueError, match=r"10\.1000/x%23"):
            urllib_doiuri.urlopen(asking, resolver=anything.url, offline=True)


def test_an_error_of_the_target_is_not_the_resolvers() -> None:
    body = b'{"responseCode":100,"handle":"10.1000/1"}'
    with site(lambda _: Answer(404, JSON, body)) as other:
        moved = Answer(302, {"Location": f"{other.url}/x"})
        with site(lambda _: moved) as resolver, pytest.raises(HTTPError) as caught:
            urllib_doiuri.urlopen(URI, resolver=resolver.url, follow="target", private=True)
    with caught.value as error:
        assert str(error) == "HTTP Error 404: Not Found (for doi:10.1000/1)"
        assert (error.url, error.read(), error.__cause__) == (f"{other.url}/x", body, None)


def test_the_way_to_the_target_is_visible_each_time() -> None:
    with (
        site(lambda _: PAGE) as landing,
        site(resolver({"10.1000/1": f"{landing.url}/a"})) as proxy,
    ):
        request = Request(URI)
        for _ in range(12):  # urllib ends what it takes for a loop after 10
            with urllib_doiuri.urlopen(
                request, resolver=proxy.url, follow="target", private=True
            ) as response:
                assert (response.url, response.read()) == (f"{landing.url}/a", PAGE.body)
            way = [f"{proxy.url}/10.1000/1", f"{landing.url}/a"]
            assert list(request.redirect_dict) == way  # type: ignore[attr-defined]


def test_unredirected_headers_are_not_redirected() -> None:
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.url})) as proxy:
        request = Request(URI, headers={"X-Any": "a"})
        request.add_unredirected_header("X-First", "b")
        urllib_doiuri.urlopen(request, resolver=proxy.url, follow="target", private=True).close()
        to_proxy = proxy.seen[0].headers
        to_landing = landing.seen[0].headers
    assert {name for name in to_proxy if name.startswith("x-")} == {"x-any", "x-first"}
    assert {name for name in to_landing if name.startswith("x-")} == {"x-any"}


@pytest.mark.parametrize("place", ["header", "unredirected header", "opener"])
def test_the_password_of_a_request_for_a_record_is_sent_each_time_and_does_not_come_back(
    place: str,
) -> None:
    def answer(asked: Asked) -> Answer:
        return (
            PAGE if asked.target == "/back" else Answer(302, {"Location": landing.at("localhost")})
        )

    with (
        site(answer) as proxy,
        site(lambda _: Answer(302, {"Location": f"{proxy.url}/back"})) as landing,
    ):
        request = record_request("10.1000/1", resolver=proxy.url)
        opener = build_opener(DOIHandler(proxy.url, private=True))
        if place == "opener":
            opener.addheaders.append(("Authorization", "Bearer s3cret"))
        else:
            add = request.add_header if place == "header" else request.add_unredirected_header
            add("Authorization", "Bearer s3cret")
        for _ in range(2):
            with pytest.raises(URLError):  # the page is not a record
                opener.open(request)
        sent = [one.headers.get("authorization") for one in (*proxy.seen, *landing.seen)]
    assert sent == [*["Bearer s3cret", None] * 2, None, None]


def test_cookies_are_the_openers_matter() -> None:
    headers = {**JSON, "Set-Cookie": "seen=1"}
    with site(lambda asked: any_record(asked)._replace(headers=headers)) as proxy:
        opener = build_opener(HTTPCookieProcessor(), DOIHandler(proxy.url))
        for _ in range(2):
            opener.open(URI).close()
        assert [one.headers.get("cookie") for one in proxy.seen] == [None, "seen=1"]


def test_private_is_the_option_of_whoever_opens() -> None:
    with (
        site(lambda _: PAGE) as landing,
        site(lambda _: Answer(302, {"Location": landing.url})) as proxy,
    ):
        urllib_doiuri.install(proxy.url, follow="target")
        for request in (URI, record_request("10.1000/1")):
            with pytest.raises(URLError, match=REFUSED):
                urlopen(request)
        urllib_doiuri.urlopen(URI, resolver=proxy.url, follow="target", private=True).close()
        exactly(1, "requests", landing.seen)


def test_tls_is_that_of_the_call_or_else_of_the_openers_own_handler(authority: Authority) -> None:
    with site(resolver(TARGETS), tls=authority.server()) as server:
        for base in (server.url, None):
            urllib_doiuri.urlopen(URI, context=authority.trusting(), resolver=base).close()
            with pytest.raises(URLError) as caught:
                urllib_doiuri.urlopen(URI, resolver=base)
            assert isinstance(caught.value.reason, ssl.SSLCertVerificationError), base
            urllib_doiuri.install(server.url)  # for the second round
        install_opener(build_opener(HTTPSHandler(context=authority.trusting())))
        urllib_doiuri.install(server.url)
        urlopen(URI).close()
        urllib_doiuri.urlopen(URI, context=authority.trusting()).close()
        urllib_doiuri.uninstall()  # the call left the installed handler where it was
        with pytest.raises(URLError, match=UNKNOWN):
            urlopen(URI)


def test_importing_needs_nothing_but_the_standard_library_and_the_core() -> None:
    probe = (
        "import sys; before = {*sys.modules}; import urllib_doiuri;"
        " urllib_doiuri.install(); print(*{*sys.modules} - before)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", probe], capture_output=True, text=True, check=True
    )
    names = {name.partition(".")[0] for name in done.stdout.split()}
    foreign = {name for name in names - sys.stdlib_module_names if not name.startswith("_")}
    assert foreign == {"doiuri", "urllib_doiuri"}
