"""What is particular to urllib: the global opener, its handlers, errors, and requests for records."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import (
    BaseHandler,
    HTTPCookieProcessor,
    HTTPErrorProcessor,
    HTTPHandler,
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
from doiuri import DOI, BadRecord, DOINotFound, ResolverUnavailable, ShortDOI
from doiuri_proxy import running
from support.clients.contract import BIBTEX, PAGE, REFUSED, SECRETS, TARGETS
from support.ports import refusing
from support.servers.httpproxy import http_proxy
from support.servers.tls import Authority
from support.servers.web import JSON, Answer, Asked, leading_back, record, resolver, site
from urllib_doiuri import DOIHandler, record_request

RECORDS = [record("10.1000/182", "http://x.example/"), record("10/p54k", "http://x.example/")]


class Stamp(BaseHandler):
    """A user's handler."""

    def http_request(self, req: Request) -> Request:
        req.add_header("X-Stamp", "1")
        return req


def opener() -> object:
    return urllib.request._opener  # type: ignore[attr-defined]


def test_present_handlers_stay() -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as resolver:
        mine = build_opener(Stamp)
        install_opener(mine)
        urllib_doiuri.install(resolver.url)
        urlopen("doi:10.1000/182").close()
        assert resolver.seen[0].headers["x-stamp"] == "1"
        urllib_doiuri.uninstall()
        assert opener() is mine
        urlopen(resolver.url).close()
        assert resolver.seen[1].headers["x-stamp"] == "1"
        with pytest.raises(URLError, match="unknown url type: doi"):
            urlopen("doi:10.1000/182")


def test_uninstall_leaves_none_of_our_openers_and_any_other() -> None:
    urllib_doiuri.install()
    for _ in range(2):
        urllib_doiuri.uninstall()
        assert opener() is None
    urllib_doiuri.install()
    install_opener(other := build_opener())
    urllib_doiuri.uninstall()
    assert opener() is other


def test_a_second_install_replaces_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(RECORDS) as first, running(RECORDS) as second:
        monkeypatch.setenv("DOIURI_RESOLVER", first.url)
        urllib_doiuri.install()
        monkeypatch.setenv("DOIURI_RESOLVER", second.url)
        with urlopen("doi:10.1000/182") as response:
            assert response.url.startswith(first.url)  # read at install()
        urllib_doiuri.install()
        with urlopen("doi:10.1000/182") as response:
            assert response.url.startswith(second.url)
        urllib_doiuri.uninstall()
        with pytest.raises(URLError, match="unknown url type: doi"):
            urlopen("doi:10.1000/182")


def test_install_goes_before_a_handler_that_is_there() -> None:
    with running(RECORDS) as first, running(RECORDS) as second:
        install_opener(build_opener(urllib_doiuri.DOIHandler(first.url)))
        urllib_doiuri.install(second.url)
        with urlopen("doi:10.1000/182") as response:
            assert response.url.startswith(second.url)
        urllib_doiuri.uninstall()
        with urlopen("doi:10.1000/182") as response:
            assert response.url.startswith(first.url)


def test_install_again_after_urlcleanup() -> None:
    with running(RECORDS) as proxy:
        urllib_doiuri.install(proxy.url)
        urllib.request.urlcleanup()  # drops the global opener
        urllib_doiuri.install(proxy.url)
        urlopen("doi:10.1000/182").close()


def test_urlretrieve(tmp_path: Path) -> None:
    with running(RECORDS) as proxy:
        urllib_doiuri.install(proxy.url)
        path, headers = urlretrieve("doi:10.1000/182", tmp_path / "record.json")
        assert json.loads(Path(path).read_bytes())["handle"] == "10.1000/182"
        assert headers["Content-Type"].startswith("application/json")


@pytest.mark.parametrize("installed", [True, False])
def test_urlopen_of_ours_works_installed_or_not(installed: bool) -> None:
    with running(RECORDS) as proxy, running([]) as other:
        if installed:
            urllib_doiuri.install(proxy.url)
        with urllib_doiuri.urlopen("doi:10.1000/182", resolver=None if installed else proxy.url) as response:
            assert json.load(response)["handle"] == "10.1000/182"
        with urllib_doiuri.urlopen(
            f"{other.url}/api/handles/10.1000/182".replace(other.url, proxy.url)
        ) as response:
            assert response.status == 200


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("context", [None, ssl.create_default_context()])
def test_urlopen_of_ours_keeps_the_global_openers_handlers(
    installed: bool, context: ssl.SSLContext | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as resolver:
        mine = build_opener(Stamp, ProxyHandler({}))
        mine.addheaders = [("User-Agent", "mine/1")]
        install_opener(mine)
        if installed:
            urllib_doiuri.install("http://127.0.0.1:9")
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # which this opener does not use
        before = list(vars(mine)["handlers"])
        urllib_doiuri.urlopen("doi:10.1000/182", resolver=resolver.url, context=context).close()
        headers = resolver.seen[0].headers
        assert (headers["x-stamp"], headers["user-agent"]) == ("1", "mine/1")
        assert vars(mine)["handlers"] == before
        assert all(one.parent is mine for one in before)


def test_record_request_takes_the_installed_resolver_and_any_spelling() -> None:
    with running(RECORDS) as proxy:
        urllib_doiuri.install(proxy.url)
        for doi in ("10.1000/182", "https://doi.org/10.1000/182", DOI("10.1000/182"), ShortDOI("10/p54k")):
            with urlopen(urllib_doiuri.record_request(doi, type="URL", cert=True)) as response:
                assert response.url.endswith("?type=URL&cert")
                assert json.load(response)["responseCode"] == 1


def test_record_request_works_with_any_opener() -> None:
    with running(RECORDS) as proxy:
        request = urllib_doiuri.record_request("10.1000/182", index=1, resolver=proxy.url)
        with build_opener().open(request) as response:
            assert len(json.load(response)["values"]) == 1


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


def test_no_server() -> None:
    with refusing() as port, pytest.raises(URLError) as caught:
        urllib_doiuri.urlopen(URI, resolver=f"http://127.0.0.1:{port}")
    assert isinstance(caught.value.reason, ConnectionRefusedError)


def test_an_error_of_another_host_is_not_the_resolvers() -> None:
    body = b'{"responseCode":100,"handle":"10.1000/456#789"}'
    with (
        site(lambda _: Answer(404, JSON, body)) as other,
        site(lambda _: Answer(302, {"Location": f"{other.url}/x"})) as resolver,
    ):
        urllib_doiuri.install(resolver.url, private=True)
        with pytest.raises(HTTPError) as caught:
            urlopen(URI)
    with caught.value as error:
        assert (error.code, error.url) == (404, f"{other.url}/x")
        assert error.__cause__ is None
        assert error.read() == body


def test_the_openers_own_accept_counts_where_the_request_has_none() -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as server:
        opener = build_opener(DOIHandler(server.url))
        opener.addheaders = [("Accept", BIBTEX)]
        opener.open("doi:10.1000/182").close()
        opener.open(Request("doi:10.1000/182", headers={"Accept": "*/*"})).close()
        assert [one.target for one in server.seen] == ["/10.1000/182", "/api/handles/10.1000/182"]


def test_accept_may_be_octets() -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as server:
        request = Request("doi:10.1000/182")
        request.headers["Accept"] = BIBTEX.encode()  # type: ignore[assignment]
        urllib_doiuri.urlopen(request, resolver=server.url).close()
        assert server.seen[0].target == "/10.1000/182"


def test_a_request_object_is_no_way_round() -> None:
    with site(lambda _: Answer()) as anything:
        urllib_doiuri.install(anything.url)
        request = Request("http://127.0.0.1/")
        request.full_url = "doi:10.1000/x#"
        with pytest.raises(ValueError, match=r"10\.1000/x%23"):
            urlopen(request)
        assert anything.seen == []


def test_the_target_is_opened_and_the_way_there_is_visible() -> None:
    with (
        site(lambda _: PAGE) as landing,
        site(resolver({"10.1000/1": landing.at("localhost") + "/a"})) as proxy,
    ):
        request = Request("doi:10.1000/1")
        with urllib_doiuri.urlopen(request, resolver=proxy.url, follow="target", private=True) as response:
            assert (response.status, response.read()) == (200, PAGE.body)
            assert response.url == landing.at("localhost") + "/a"
        way = [f"{proxy.url}/10.1000/1", landing.at("localhost") + "/a"]
        assert list(request.redirect_dict) == way  # type: ignore[attr-defined]


@pytest.mark.parametrize("follow", ["record", "target"])
@pytest.mark.parametrize("place", ["headers", "unredirected", "opener"])
def test_credentials_go_to_the_resolver_and_nowhere_else(follow: str, place: str) -> None:
    with site(lambda _: PAGE) as landing:
        away = landing.at("localhost") + "/a"
        with site(lambda _: Answer(302, {"Location": away})) as proxy:
            request = Request("doi:10.1000/1", headers=SECRETS if place == "headers" else {})
            for name, secret in SECRETS.items() if place == "unredirected" else ():
                request.add_unredirected_header(name, secret)
            opener = build_opener(DOIHandler(proxy.url, follow=follow, private=True))  # type: ignore[arg-type]
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
        urllib_doiuri.urlopen(request, resolver=proxy.url, follow="target", private=True).close()
        sent = [{name for name in one.seen[0].headers if name[:2] == "x-"} for one in (proxy, landing)]
    assert sent == [{"x-any", "x-first"}, {"x-any"}]


def test_credentials_of_a_record_request_stay_there_too() -> None:
    with site(lambda _: Answer()) as elsewhere:
        away = elsewhere.at("localhost")
        with site(lambda _: Answer(302, {"Location": away})) as proxy:
            request = record_request("10.1000/1", type="URL", resolver=proxy.url)
            for name, secret in SECRETS.items():
                request.add_header(name, secret)
            opener = build_opener(DOIHandler(proxy.url, private=True))
            for _ in range(2):
                opener.open(request).close()
        assert [one.headers["authorization"] for one in proxy.seen] == ["Bearer s3cret"] * 2
        assert all(not one.headers.keys() & {"authorization", "cookie"} for one in elsewhere.seen)


@pytest.mark.parametrize("place", ["headers", "unredirected", "opener"])
@pytest.mark.parametrize("for_record", [False, True])
def test_passwords_do_not_come_back_to_the_resolver(for_record: bool, place: str) -> None:
    """Else any host could have a request of its choice made there in the user's name."""
    with leading_back(PAGE) as (proxy, landing):
        opener = build_opener(DOIHandler(proxy.url, follow="target", private=True))
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


def test_cookies_are_the_openers_matter() -> None:
    def answer(asked: Asked) -> Answer:
        return Answer(200, {"Content-Type": "application/json", "Set-Cookie": "seen=1"}, b"{}")

    with site(answer) as proxy:
        opener = build_opener(HTTPCookieProcessor(), DOIHandler(proxy.url))
        for _ in range(2):
            opener.open("doi:10.1000/1").close()
        assert [one.headers.get("cookie") for one in proxy.seen] == [None, "seen=1"]


def test_an_opener_may_show_redirects_and_errors() -> None:
    class Shown(HTTPErrorProcessor):
        def http_response(self, request: Request, response: Any) -> Any:
            return response

    with site(resolver({"10.1000/1": "http://x.example/"})) as proxy:
        opener = build_opener(DOIHandler(proxy.url, follow="target", private=True), Shown)
        with opener.open("doi:10.1000/1") as response:
            assert (response.status, response.headers["Location"]) == (302, "http://x.example/")
        with opener.open("doi:10.1000/nope") as response:
            assert response.status == 404


def test_the_landing_pages_error_is_its_own() -> None:
    with site(lambda _: Answer(403, {}, b"no robots")) as landing:
        page = landing.at("localhost") + "/a"
        with site(resolver({"10.1000/1": page})) as proxy, pytest.raises(HTTPError) as caught:
            urllib_doiuri.urlopen("doi:10.1000/1", resolver=proxy.url, follow="target", private=True)
        with caught.value as error:
            assert str(error) == "HTTP Error 403: Forbidden (for doi:10.1000/1)"
            assert (error.url, error.read(), error.__cause__) == (page, b"no robots", None)


def test_one_request_may_be_opened_again_and_again() -> None:
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.url})) as proxy:
        request = Request("doi:10.1000/1")
        for _ in range(12):
            urllib_doiuri.urlopen(request, resolver=proxy.url, follow="target", private=True).close()
        assert len(landing.seen) == 12


def test_a_records_parameters_reach_the_rest_api() -> None:
    with running([record("10.1000/1", "http://a.example/", "http://b.example/")]) as proxy:
        request = record_request("10.1000/1", type=["URL", "EMAIL"], index=2, auth=True, resolver=proxy.url)
        assert request.full_url == f"{proxy.url}/api/handles/10.1000/1?type=URL&type=EMAIL&index=2&auth"


def test_the_openers_own_handlers_connect() -> None:
    class Counting(HTTPHandler):
        opened = 0

        def http_open(self, req: Request) -> object:  # type: ignore[override]
            Counting.opened += 1
            return super().http_open(req)

    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.url})) as proxy:
        handler = DOIHandler(proxy.url, follow="target", private=True)
        build_opener(Counting, handler).open("doi:10.1000/1").close()
    assert Counting.opened == 2


def test_the_option_of_install_and_of_record_request() -> None:
    with site(lambda _: PAGE) as landing, site(lambda _: Answer(302, {"Location": landing.url})) as proxy:
        urllib_doiuri.install(proxy.url, follow="target")
        for request in ("doi:10.1000/1", record_request("10.1000/1")):
            with pytest.raises(URLError, match=REFUSED):
                urlopen(request)
        urllib_doiuri.urlopen("doi:10.1000/1", resolver=proxy.url, follow="target", private=True).close()
        assert len(landing.seen) == 1


@pytest.mark.parametrize("installed", [True, False])
def test_urlopen_with_a_context(authority: Authority, installed: bool) -> None:
    with site(resolver(TARGETS), tls=authority.server()) as server:
        if installed:
            urllib_doiuri.install(server.url)
        base = None if installed else server.url
        with urllib_doiuri.urlopen(
            "doi:10.1000/182", context=authority.trusting(), resolver=base
        ) as response:
            assert json.load(response)["handle"] == "10.1000/182"
        with pytest.raises(URLError) as caught:
            urllib_doiuri.urlopen("doi:10.1000/182", resolver=base)
        assert isinstance(caught.value.reason, ssl.SSLCertVerificationError)


def test_the_openers_own_https_handler_is_used(authority: Authority) -> None:
    with site(resolver(TARGETS), tls=authority.server()) as server:
        install_opener(build_opener(HTTPSHandler(context=authority.trusting())))
        urllib_doiuri.install(server.url)
        with urlopen("doi:10.1000/182") as response:
            assert json.load(response)["handle"] == "10.1000/182"


def test_a_context_for_one_call_leaves_the_installed_handler_where_it_is(authority: Authority) -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        urllib_doiuri.install(proxy.url)
        urllib_doiuri.urlopen("doi:10.1000/182", context=authority.trusting()).close()
        urlopen("doi:10.1000/182").close()
        urllib_doiuri.uninstall()
        with pytest.raises(URLError, match="unknown url type"):
            urlopen("doi:10.1000/182")


def test_an_http_proxy_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with site(resolver(TARGETS)) as server, http_proxy() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//user:pass@"))
        with urllib_doiuri.urlopen("doi:10.1000/182", resolver=server.url) as response:
            assert json.load(response)["handle"] == "10.1000/182"
            assert response.url == f"{server.url}/api/handles/10.1000/182"
        assert proxy.seen == [f"GET {server.url}/api/handles/10.1000/182"]
        assert proxy.credentials == ["Basic dXNlcjpwYXNz"]
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        urllib_doiuri.urlopen("doi:10.1000/182", resolver=server.url).close()
        assert len(proxy.seen) == 1
        assert len(server.seen) == 2


@pytest.mark.parametrize("name", ["doi_proxy", "DOI_PROXY"])
def test_a_doi_proxy_in_the_environment_is_not_in_the_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
        for opener in (
            build_opener(DOIHandler(proxy.url)),
            build_opener(ProxyHandler(), DOIHandler(proxy.url)),
        ):
            with opener.open("doi:10.1000/182") as response:
                assert json.load(response)["handle"] == "10.1000/182"
        urllib_doiuri.install(proxy.url)
        urlopen("doi:10.1000/182").close()


SCRIPT = """
import json, os, sys
from urllib.request import urlopen
import urllib_doiuri
urllib_doiuri.install()
urlopen("doi:10.1000/182").close()
child = os.fork()
with urlopen("doi:10.1000/182") as response:
    ok = json.load(response)["handle"] == "10.1000/182"
if child:
    ok = ok and os.waitpid(child, 0)[1] == 0
os._exit(0 if ok else 1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_after_a_fork_both_sides_ask() -> None:
    with site(resolver(TARGETS)) as server:
        environment = {**os.environ, "DOIURI_RESOLVER": server.url}
        done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, timeout=300, check=False)
        assert done.returncode == 0
        assert len(server.seen) == 3


def test_importing_needs_nothing_but_the_standard_library_and_the_core() -> None:
    probe = (
        "import sys; before = {*sys.modules}; import urllib_doiuri;"
        " urllib_doiuri.install(); print(*{*sys.modules} - before)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", probe], capture_output=True, text=True, check=True)
    names = {name.partition(".")[0] for name in done.stdout.split()}
    foreign = {name for name in names - sys.stdlib_module_names if not name.startswith("_")}
    assert foreign == {"doiuri", "urllib_doiuri"}
