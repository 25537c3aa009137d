"""What urllib, requests, httpx and httpx2 all promise about ``doi:`` URIs."""

from __future__ import annotations

import string
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from importlib.metadata import version
from itertools import product
from urllib.parse import unquote

import httpx
import httpx2
import pytest
import requests
from doiuri import DOI, DOINotFound, DOISyntaxError, ResolutionError
from doiuri.rest import read_record
from doiuri.testing.strategies import names
from doiuri_proxy import running
from hypothesis import given
from hypothesis import strategies as st
from support.cases import NO_URIS, ODD_NAMES, odd_cases
from support.clients.contract import BIBTEX, CLIENTS, PAGE, SECRETS, Client, Get, client_of
from support.proxy_records import value
from support.servers.faults import FAULTS, NAME, Fault
from support.servers.web import JSON, Answer, Asked, Site, record, resolver, site, speaking

URI = "doi:10.1000/1"


# ---- names and URIs


def test_each_name_is_asked_for_as_written_and_no_other_answers(client: Client) -> None:
    with running([record(name, f"http://x.example/{i}") for i, name in enumerate(ODD_NAMES)]) as proxy:
        get = client.open(proxy.url)
        for number, name in enumerate(ODD_NAMES):
            answer = read_record(DOI(name), 200, get(DOI(name).uri).body, JSON)
            assert (answer.doi.name, answer.url) == (name, f"http://x.example/{number}")


@pytest.mark.parametrize("client", CLIENTS, indirect=True)
def test_every_odd_name_is_asked_for_by_its_uri(client: Client, anything: Site) -> None:
    odd, get = [str(case.name) for case in odd_cases()], client.open(anything.url)
    for name in odd:
        get(DOI(name).uri)
    asked = [(one.method, unquote(one.target)) for one in anything.seen]
    assert asked == [("GET", f"/api/handles/{name}") for name in odd]


ENDS = [*string.punctuation, ";;", ";/", "/;", ";?", "/.;", "/..;", ";a", "%3B", "%3b", ";;x;"]
# Where clients tidy: the end of a path, of a segment, and before a query or a fragment
tidied = st.lists(st.sampled_from([*";/.?#%&=:@+~ ", "..", "%3B", "%2F", "a", "á"]), min_size=1).map("".join)


@pytest.fixture(scope="module", params=CLIENTS)
def asking(request: pytest.FixtureRequest) -> Iterator[tuple[Site, dict[str, Get]]]:
    """A server that answers everything, and by the start of the path what gets a record or a target."""
    with site(lambda _: Answer(200, JSON, b"{}")) as server, client_of(request.param) as client:
        record, target = client.open(server.url), client.open(server.url, follow="target")
        yield server, {"/api/handles/": record, "/": target}


def path_asked(server: Site, get: Get, name: str, **headers: str) -> str:
    server.seen.clear()
    get(DOI.from_name(name).uri, headers=headers)
    (one,) = server.seen
    return unquote(one.target)


def test_names_with_ends_that_clients_tidy(asking: tuple[Site, dict[str, Get]]) -> None:
    server, gets = asking
    for (start, get), end in product(gets.items(), ENDS):
        assert path_asked(server, get, f"10.1000/a{end}") == f"{start}10.1000/a{end}"
        assert path_asked(server, get, f"10.1000/a{end}", Accept=BIBTEX) == f"/10.1000/a{end}"


@given(names() | st.builds("10.{}/{}".format, st.integers(1000, 9999), tidied))
def test_every_legal_name(asking: tuple[Site, dict[str, Get]], name: str) -> None:
    server, gets = asking
    for start, get in gets.items():
        assert path_asked(server, get, name) == start + name
        assert path_asked(server, get, name, Accept=BIBTEX) == f"/{name}"


@pytest.mark.parametrize("follow", ["record", "target"])
def test_a_redirect_of_the_resolver_keeps_a_final_semicolon(client: Client, follow: str) -> None:
    def answer(asked: Asked) -> Answer:
        if asked.target.startswith("/moved/"):
            return Answer(200, JSON, b"{}")
        return Answer(302, {"Location": f"/moved{asked.target}"})

    with site(answer) as server:
        client.open(server.url, follow=follow)("doi:10.1000/a;")
        assert unquote(server.seen[1].target).endswith("10.1000/a;")


@pytest.mark.parametrize("uri", ["DOI:10.1000/182", "doi:10.1000/18%32", "dOi:10.1000/182"])
def test_other_legal_spellings_are_the_same_doi(client: Client, uri: str, anything: Site) -> None:
    client.open(anything.url)(uri)
    assert anything.seen[0].target == "/api/handles/10.1000/182"


@pytest.mark.parametrize(("uri", "position", "repaired"), NO_URIS)
@pytest.mark.parametrize("client", CLIENTS, indirect=True)
def test_a_malformed_uri_is_refused_before_any_request(
    client: Client, uri: str, position: int, repaired: str | None, anything: Site
) -> None:
    with pytest.raises(client.errors.no_uri, match=f"position {position}") as caught:
        client.open(anything.url)(uri)
    error = caught.value if isinstance(caught.value, DOISyntaxError) else caught.value.__cause__
    assert isinstance(error, DOISyntaxError)
    assert error.suggestion == repaired
    assert (repaired or "") in str(caught.value)
    assert anything.seen == []


# ---- requests and their options


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_a_doi_is_read_only(client: Client, method: str, anything: Site) -> None:
    with pytest.raises(client.errors.read_only, match=r"10\.1000/1: a DOI is read-only.*not " + method):
        client.open(anything.url)(URI, method=method)
    assert anything.seen == []


def test_a_missing_doi_is_a_404(client: Client) -> None:
    with running([]) as proxy:
        reply = client.open(proxy.url)("doi:10.1000/nope")
        assert reply.status == 404
        with pytest.raises(DOINotFound):
            read_record(DOI("10.1000/nope"), reply.status, reply.body, reply.headers)


def test_other_urls_are_requested_as_usual(client: Client, anything: Site) -> None:
    assert client.open("http://127.0.0.1:9", offline=True)(f"{anything.url}/a//b?c=d").status == 200
    assert anything.seen[0].target == "/a//b?c=d"


def test_options_come_from_the_environment_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with running([]) as first, running([]) as second:
        monkeypatch.setenv("DOIURI_RESOLVER", first.url)
        get = client.open()
        monkeypatch.setenv("DOIURI_RESOLVER", second.url)
        assert get(URI).url.startswith(first.url)
        assert client.open()(URI).url.startswith(second.url)
        assert client.open(first.url)(URI).url.startswith(first.url)


@pytest.mark.parametrize("name", ["resolver", "offline", "mailto"])
def test_a_wrong_option_is_reported_at_once(
    client: Client, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=name):
        client.options(**{name: "not right"})
    monkeypatch.setenv(f"DOIURI_{name.upper()}", "not right")
    with pytest.raises(ValueError, match=f"DOIURI_{name.upper()}"):
        client.options()


def test_follow_is_record_or_target(client: Client) -> None:
    with pytest.raises(ValueError, match="follow: 'page'"):
        client.options(follow="page")


def test_offline_sends_no_requests(client: Client, anything: Site) -> None:
    with pytest.raises(client.errors.failed, match=r"10\.1000/1: offline: request not sent"):
        client.open(anything.url, offline=True)(URI)
    assert anything.seen == []


def test_the_user_agent_names_the_package_unless_the_caller_sets_one(client: Client, anything: Site) -> None:
    get = client.open(anything.url, mailto="me@x.example")
    get(URI)
    get(URI, headers={"User-Agent": "mine/1"})
    first, second = (one.headers["user-agent"] for one in anything.seen)
    assert first.startswith(f"{client.package}/{version(client.package)} doiuri/{version('doiuri')} ")
    assert "mailto:me@x.example" in first
    assert second == "mine/1"


@pytest.mark.parametrize("accept", ["*/*", "application/json", f"{BIBTEX};q=0.1, */*"])
def test_json_or_anything_is_the_record(client: Client, accept: str, anything: Site) -> None:
    client.open(anything.url)(URI, headers={"Accept": accept})
    assert (anything.seen[0].target, anything.seen[0].headers["accept"]) == ("/api/handles/10.1000/1", accept)


@pytest.mark.parametrize("accept", [BIBTEX, f"{BIBTEX}, application/json;q=0.5", "text/turtle"])
def test_another_type_is_content_negotiation(client: Client, accept: str) -> None:
    """Each redirect has the same Accept header."""
    with site(lambda _: Answer(200, {"Content-Type": BIBTEX}, b"@misc{}")) as agency:
        with site(lambda _: Answer(302, {"Location": agency.at("localhost")})) as proxy:
            get = client.open(proxy.url, private=True)
            assert get("doi:10.1000/a%28b%29/../c", headers={"Accept": accept}).body == b"@misc{}"
        assert proxy.seen[0].target == "/10.1000/a(b)/..%2Fc"
        assert [one.headers["accept"] for one in (*proxy.seen, *agency.seen)] == [accept] * 2


@pytest.mark.parametrize("client", CLIENTS, indirect=True)
def test_many_threads_with_one_client(client: Client) -> None:
    numbers = range(40)
    with site(resolver({f"10.1000/{n}": "http://x.example/" for n in numbers[::2]})) as server:
        get = client.open(server.url)
        with ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(lambda n: get(f"doi:10.1000/{n}").status, numbers))
    assert statuses == [200, 404] * 20


# ---- redirects


def test_the_target(client: Client) -> None:
    with site(lambda _: PAGE) as landing:
        page = landing.at("localhost") + "/a"
        with site(resolver({"10.1000/456#789": page})) as proxy:
            reply = client.open(proxy.url, follow="target", private=True)("doi:10.1000/456%23789")
        assert (reply.url, reply.body) == (page, PAGE.body)
        assert (proxy.seen[0].target, landing.seen[0].target) == ("/10.1000/456%23789", "/a")


def test_aliases_and_locations_are_followed(client: Client) -> None:
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
            get = client.open(proxy.url, follow="target", private=True)
            for uri in ("doi:10.1000/loc", "doi:10.1000/alias"):
                assert get(uri).url == f"{landing.url}/high"


def test_endless_redirects_end(client: Client) -> None:
    with site(lambda asked: Answer(302, {"Location": asked.target + "x"})) as proxy:
        with pytest.raises(Exception, match=r"redirect|infinite loop"):
            client.open(proxy.url, follow="target")(URI)
        assert len(proxy.seen) <= 31


@pytest.mark.parametrize("resolver_at", ["127.0.0.1", "localhost"])
def test_credentials_go_to_the_resolver_and_to_no_other_host(client: Client, resolver_at: str) -> None:
    with site(lambda _: PAGE) as landing:
        away = landing.at("localhost") if resolver_at == "127.0.0.1" else landing.url
        with site(resolver({"10.1000/1": away})) as proxy:
            get = client.open(proxy.at(resolver_at), follow="target", private=True, cookie="s3cret")
            get(URI, headers=SECRETS)
        assert proxy.seen[0].headers["authorization"] == "Bearer s3cret"
        assert "session=s3cret" in proxy.seen[0].headers["cookie"]
        assert not landing.seen[0].headers.keys() & {"authorization", "cookie"}


def test_the_clients_own_cookies_go_to_the_resolver_and_to_no_other_host(client: Client) -> None:
    if client.kind == "urllib":
        return  # its cookies always have a domain
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.at("localhost")})) as proxy:
        get = client.open(proxy.url, follow="target", private=True, cookie="1")
        get(URI)
        assert proxy.seen[0].headers["cookie"] == "own=1"
        assert "cookie" not in landing.seen[0].headers
        get(landing.url)
        assert landing.seen[1].headers["cookie"] == "own=1"


def test_cookies_that_the_resolver_sets_stay_with_it(client: Client) -> None:
    with site(lambda _: PAGE) as landing:
        moved = Answer(302, {"Location": landing.at("localhost"), "Set-Cookie": "seen=1"})
        with site(lambda _: moved) as proxy:
            get = client.open(proxy.url, follow="target", private=True)
            get(URI)
            get(URI)
        kept = None if client.kind == "urllib" else "seen=1"
        assert [one.headers.get("cookie") for one in proxy.seen] == [None, kept]
        assert all("cookie" not in one.headers for one in landing.seen)


# ---- faults

ERRORS = (OSError, HTTPException, requests.RequestException, httpx.HTTPError, httpx2.HTTPError)


@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS if not (fault.big or fault.name == "DNS that hangs")], ids=str
)
@pytest.mark.parametrize("client", CLIENTS, indirect=True)
def test_a_fault_is_an_error_or_plainly_no_record(client: Client, fault: Fault) -> None:
    """No client has a timeout for DNS look-ups, nor one for the whole."""
    with fault.serve() as server:
        try:
            reply = client.open(server.url)(DOI(NAME).uri, timeout=0.1 if fault.hangs else 20)
        except ERRORS:
            return
    encoding = reply.headers.get("Content-Encoding")
    if encoding == "br" or (encoding and client.kind == "urllib"):
        return  # left to the caller
    if fault.error is None:
        assert read_record(DOI(NAME), reply.status, reply.body, reply.headers).url
    else:
        with pytest.raises(ResolutionError) as caught:
            read_record(DOI(NAME), reply.status, reply.body, reply.headers)
        assert not isinstance(caught.value, DOINotFound)


@pytest.mark.parametrize("said", [b"", b"garbage\r\n\r\n"])
def test_a_server_that_hangs_up_or_babbles(client: Client, said: bytes) -> None:
    with speaking(said) as base, pytest.raises(client.errors.failed):
        client.open(base)(URI)


@pytest.mark.parametrize("where", ["resolver", "target"])
def test_the_timeout_is_the_callers(client: Client, where: str) -> None:
    with speaking(None) as silent, site(resolver({"10.1000/1": silent})) as proxy:
        base = silent if where == "resolver" else proxy.url
        get = client.open(base, follow="target", private=True)
        with pytest.raises(Exception, match=r"(?i)timed? ?out|^$") as caught:
            get(URI, timeout=0.2)
        assert "imeout" in repr(caught.value) or "timed out" in repr(caught.value)
