"""What urllib, requests, httpx and httpx2 all promise about ``doi:`` URIs."""

from __future__ import annotations

import io
import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPException
from importlib.metadata import version
from itertools import product
from typing import Any, NamedTuple
from urllib.parse import unquote

import httpx
import httpx2
import pytest
import requests
from doiuri import DOI, BadRecord, DOISyntaxError
from doiuri.plugins.clients import MAX_RECORD, carries_record
from doiuri.resolver import Resolver
from doiuri.rest import read_record
from doiuri.testing.strategies import names
from doiuri_proxy import running
from hypothesis import given
from hypothesis import strategies as st
from support.cases import NO_URIS, ODD_NAMES
from support.checks import exactly, only
from support.clients import ALL_CLIENTS, BIBTEX, CLIENTS, PAGE, REFUSED, URI, Client, Get, client_of
from support.servers import faults
from support.servers.faults import FAULTS, NAME, Fault
from support.servers.httpproxy import http_proxy
from support.servers.tls import Authority
from support.servers.web import JSON, Answer, Asked, Site, any_record, record, resolver, site
from support.targets import LEADING_BACK, ODD_URLS, resolve_as, resolve_nothing

SOME_CLIENTS = ["urllib", "requests", "httpx Client", "httpx AsyncClient on asyncio"]
"""Those that differ in more than the event loop or the library behind them."""

# ---- names and URIs


# Where clients tidy: the end of a path, of a segment, and before a query or a fragment
tidied = st.lists(
    st.sampled_from([*";/.?#%&=:@+~ ", "..", "%3B", "%2F", "a", "á"]), min_size=1
).map("".join)


@pytest.fixture(scope="module", params=CLIENTS)
def asking(request: pytest.FixtureRequest) -> Iterator[tuple[Site, dict[str, Get]]]:
    """A server that answers everything, and by the start of the path what gets a record or a target."""
    with site(any_record) as server, client_of(request.param) as client:
        record = client.open(server.url)
        target = client.open(server.url, follow="target")
        yield server, {"/api/handles/": record, "/": target}


def path_asked(server: Site, get: Get, name: str, **headers: str) -> str:
    server.seen.clear()
    get(DOI.from_name(name).uri, headers=headers)
    one = only("request", server.seen)
    return unquote(one.target)


@given(
    st.sampled_from(ODD_NAMES)
    | names()
    | st.builds("10.{}/{}".format, st.integers(1000, 9999), tidied)
)
def test_every_legal_name(asking: tuple[Site, dict[str, Get]], name: str) -> None:
    server, gets = asking
    for start, get in gets.items():
        assert path_asked(server, get, name) == start + name
        assert path_asked(server, get, name, Accept=BIBTEX) == f"/{name}"


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


BODIES: dict[str, Callable[[], dict[str, Any]]] = {
    "nothing": dict,
    "octets": lambda: {"data": b"x"},
    "pieces": lambda: {"data": iter([b"x"])},
    "an open file": lambda: {"data": io.BytesIO(b"x")},
    "a form": lambda: {"data": {"a": "b"}},
    "JSON": lambda: {"json": {}},
    "files": lambda: {"files": {"a": b"x"}},
}


WRITES = [
    *(("GET", body) for body in BODIES if body != "nothing"),
    ("HEAD", "octets"),
    ("POST", "a form"),
]
WRITES += [(method, "nothing") for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS")]


@pytest.mark.parametrize(("method", "body"), WRITES)
@pytest.mark.parametrize("client", SOME_CLIENTS, indirect=True)
def test_a_doi_is_read_only_and_a_body_is_refused_not_lost(
    client: Client, method: str, body: str, anything: Site
) -> None:
    given = BODIES[body]()
    if client.kind == "urllib" and "data" not in given:
        return
    if "httpx" in client.kind and not isinstance(given.get("data", {}), dict):
        given = {"content": given["data"]}
        if "Async" in client.kind and body != "octets":
            return  # these pieces are not asynchronous
    with pytest.raises(
        client.errors.read_only, match=rf"10\.1000/1: a DOI is read-only.*not {method}"
    ):
        client.open(anything.url)(URI, method=method, **given)
    assert anything.seen == []


def test_other_urls_are_requested_as_usual(client: Client, anything: Site) -> None:
    assert client.open("http://127.0.0.1:9", offline=True)(f"{anything.url}/a//b?c=d").status == 200
    assert anything.seen[0].target == "/a//b?c=d"


def test_options_come_from_the_environment_once(
    client: Client, anything: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = anything
    with site(resolver({})) as second:
        monkeypatch.setenv("DOIURI_RESOLVER", first.url)
        get = client.open()
        monkeypatch.setenv("DOIURI_RESOLVER", second.url)
        assert get(URI).url.startswith(first.url)
        assert client.open()(URI).url.startswith(second.url)
        assert client.open(first.url)(URI).url.startswith(first.url)


@pytest.mark.parametrize("name", ["resolver", "offline", "mailto", "follow"])
def test_a_wrong_option_is_reported_at_once(
    client: Client, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=name):
        client.options(**{name: "not right"})
    if name != "follow":
        monkeypatch.setenv(f"DOIURI_{name.upper()}", "not right")
        with pytest.raises(ValueError, match=f"DOIURI_{name.upper()}"):
            client.options()


def test_offline_sends_no_requests(client: Client, anything: Site) -> None:
    with pytest.raises(client.errors.failed, match=r"10\.1000/1: offline: request not sent"):
        client.open(anything.url, offline=True)(URI)
    assert anything.seen == []


def test_the_user_agent_names_the_package_unless_the_caller_sets_one(
    client: Client, anything: Site
) -> None:
    get = client.open(anything.url, mailto="me@x.example")
    get(URI)
    get(URI, headers={"User-Agent": "mine/1"})
    first, second = (one.headers["user-agent"] for one in anything.seen)
    assert first.startswith(
        f"{client.package}/{version(client.package)} doiuri/{version('doiuri')} "
    )
    assert "mailto:me@x.example" in first
    assert second == "mine/1"


@pytest.mark.parametrize("accept", [BIBTEX, f"{BIBTEX}, application/json;q=0.5", "text/turtle"])
def test_another_type_is_content_negotiation(client: Client, accept: str) -> None:
    """Each redirect has the same Accept header."""
    with site(lambda _: Answer(200, {"Content-Type": BIBTEX}, b"@misc{}")) as agency:
        with site(lambda _: Answer(302, {"Location": agency.at("localhost")})) as proxy:
            get = client.open(proxy.url, private=True)
            assert get("doi:10.1000/a%28b%29/../c", headers={"Accept": accept}).body == b"@misc{}"
        assert proxy.seen[0].target == "/10.1000/a(b)/..%2Fc"
        assert [one.headers["accept"] for one in (*proxy.seen, *agency.seen)] == [accept] * 2


def test_the_clients_own_accept_header_counts_unless_the_request_has_one(
    client: Client, anything: Site
) -> None:
    get = client.open(anything.url, own={"Accept": BIBTEX})
    for headers in ({}, {"Accept": "*/*"}, {"Accept": b"*/*"}, {"accept": BIBTEX.encode()}):
        get(URI, headers=headers)
    targets = ["/10.1000/1", *["/api/handles/10.1000/1"] * 2, "/10.1000/1"]
    assert [one.target for one in anything.seen] == targets


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_certificates_are_verified_unless_the_caller_does_not_want_it(
    client: Client, authority: Authority
) -> None:
    with site(any_record, tls=authority.server()) as server:
        with pytest.raises(client.errors.failed):
            client.open(server.url)(URI)
        assert client.open(server.url, insecure=True)(URI).status == 200


def test_a_proxy_of_the_environment(
    client: Client, anything: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with http_proxy() as proxy:
        monkeypatch.setenv("doi_proxy", "http://127.0.0.1:9")  # which nobody uses
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//user:pass@"))
        for _ in range(2):
            assert client.open(anything.url)(URI).url == f"{anything.url}/api/handles/10.1000/1"
            monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert proxy.seen == [f"GET {anything.url}/api/handles/10.1000/1"]
        assert proxy.credentials == ["Basic dXNlcjpwYXNz"]
        exactly(2, "requests", anything.seen)


@pytest.mark.parametrize("client", CLIENTS, indirect=True)
def test_many_threads_with_one_client(client: Client) -> None:
    numbers = range(40)
    with site(resolver({f"10.1000/{n}": "http://x.example/" for n in numbers[::2]})) as server:
        get = client.open(server.url)
        with ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(lambda n: get(f"doi:10.1000/{n}").status, numbers))
    assert statuses == [200, 404] * 20


PARAMS: list[tuple[Any, str]] = [
    ({}, ""),
    ({"type": ["URL", "EMAIL"], "index": (1, 2)}, "?type=URL&type=EMAIL&index=1&index=2"),
    ([("type", "URL"), ("type", "10320/loc")], "?type=URL&type=10320%2Floc"),
    ({"auth": True, "cert": False, "type": None}, "?auth"),
    ({"type": "a b+cÁ&d=e#f"}, "?type=a%20b%2Bc%C3%81%26d%3De%23f"),
    ("type=10320%2Floc&index=1", "?type=10320%2Floc&index=1"),
    (b"?type=a b%20c", "?type=a%20b%20c"),
]


@pytest.mark.parametrize(("params", "query"), PARAMS)
@pytest.mark.parametrize("client", CLIENTS[1:], indirect=True)
def test_params_are_those_of_the_rest_api(
    client: Client, params: Any, query: str, anything: Site
) -> None:
    client.open(anything.url)("doi:10.1000/456%23789", params=params)
    assert anything.seen[0].target == f"/api/handles/10.1000/456%23789{query}"


@pytest.mark.parametrize("client", CLIENTS[1:], indirect=True)
def test_for_the_target_params_are_those_of_the_proxy(client: Client) -> None:
    with (
        site(lambda _: PAGE) as landing,
        running([record("10.1000/1", f"{landing.url}/a?b=c")]) as proxy,
    ):
        get = client.open(proxy.url, follow="target", private=True)
        assert get(URI, params={"urlappend": "&d=e"}).url == f"{landing.url}/a?b=c&d=e"


@pytest.mark.parametrize("client", CLIENTS[1:], indirect=True)
def test_connections_are_kept(client: Client) -> None:
    threads: set[int] = set()

    def answer(asked: Asked) -> Answer:
        threads.add(threading.get_ident())  # the server has one for each connection
        moved = asked.target.startswith("/10.")
        return (
            Answer(302, {"Location": "/landing"}, b"moved") if moved else Answer(200, JSON, b"{}")
        )

    with site(answer) as server:
        get = client.open(server.url, follow="target")
        for _ in range(5):
            get(URI)
    exactly(1, "threads", threads)


# ---- redirects


def test_endless_redirects_end(client: Client) -> None:
    with site(lambda asked: Answer(302, {"Location": asked.target + "x"})) as proxy:
        with pytest.raises(Exception, match=r"redirect|infinite loop"):
            client.open(proxy.url, follow="target")(URI)
        assert len(proxy.seen) <= 31


@pytest.mark.parametrize(
    "client", ALL_CLIENTS[1:], indirect=True
)  # urllib's cookies always have a domain
def test_each_site_gets_its_own_cookies(client: Client) -> None:
    with site(lambda _: PAGE._replace(headers={"Set-Cookie": "landed=1"})) as landing:
        moved = Answer(302, {"Location": landing.at("localhost"), "Set-Cookie": "seen=1"})
        with site(lambda _: moved) as proxy:
            get = client.open(proxy.url, follow="target", private=True, cookie="1")
            get(URI)
            get(URI)
            get(
                landing.at("localhost")
            )  # cookies without a domain are for all requests but those for DOIs
        sent = [
            sorted(one.headers.get("cookie", "").split("; "))
            for one in (*proxy.seen, *landing.seen)
        ]
    assert sent == [["own=1"], ["own=1", "seen=1"], [""], ["landed=1"], ["landed=1", "own=1"]]


@pytest.mark.parametrize("client", ALL_CLIENTS[1:], indirect=True)
def test_digest_authentication_at_the_resolver_whose_redirect_is_checked(client: Client) -> None:
    place = "/x"

    def guarded(asked: Asked) -> Answer:
        if asked.headers.get("authorization", "").startswith("Digest username="):
            return Answer(302, {"Location": place}) if asked.target == "/10.1000/1" else PAGE
        return Answer(
            401, {"WWW-Authenticate": 'Digest realm="r", nonce="n", qop="auth", algorithm=MD5'}
        )

    with site(guarded) as proxy, site(lambda _: PAGE) as landing:
        get = client.open(proxy.url, follow="target")
        assert get(URI, auth=client.digest("u", "p")).body == PAGE.body
        place = landing.at("localhost")
        with pytest.raises(client.errors.failed, match=REFUSED):
            get(URI, auth=client.digest("u", "p"))
        assert not landing.seen


@pytest.mark.parametrize("replaced", [{}, {"x-token": "old"}], ids=["new", "replaced"])
@pytest.mark.parametrize("client", ALL_CLIENTS[1:], indirect=True)
def test_a_header_of_an_authentication_is_sent_to_the_resolver_only(
    client: Client, replaced: dict[str, str]
) -> None:
    def token(request: Any) -> Any:
        request.headers["X-Token"] = "s3cret"
        return request

    def moved(asked: Asked) -> Answer:
        there = {"/10.1000/1": "/again", "/again": landing.at("localhost"), "/back": "/end"}
        return Answer(302, {"Location": there[asked.target]}) if asked.target in there else PAGE

    with site(moved) as proxy:
        back = Answer(302, {"Location": f"{proxy.url}/back"})
        with site(lambda _: back) as landing:
            get = client.open(proxy.url, follow="target", private=True)
            assert get(URI, auth=token, headers={"X-Own": "1", **replaced}).body == PAGE.body
    with_token = [one.target for one in (*proxy.seen, *landing.seen) if "x-token" in one.headers]
    assert with_token == ["/10.1000/1", "/again"], f"the token is sent to {with_token}"
    assert all("x-own" in one.headers for one in (*proxy.seen, *landing.seen))


# ---- private networks


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
def test_a_connection_of_the_callers_own_requests_is_no_way_into_a_private_network(
    client: Client, secure: bool, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    tls = authority.server() if secure else None
    with site(lambda _: PAGE, tls=tls) as landing:
        place = landing.at("agency.example")
        with site(resolver({"10.1000/1": place})) as proxy:
            get = client.open(proxy.url, follow="target", insecure=True)
            assert get(place).body == PAGE.body
            with pytest.raises(client.errors.failed, match=REFUSED):
                get(URI)
            assert get(place).body == PAGE.body
        exactly(2, "requests", landing.seen)


def test_a_name_that_is_rebound_gets_no_request(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection counts, not only an earlier look-up."""
    looked_up = ["8.8.8.8"] if client.kind == "requests" else []
    resolve_as(monkeypatch, "agency.example", *looked_up, "127.0.0.1")
    with site(lambda _: PAGE) as landing:
        place = landing.at("agency.example")
        with (
            site(resolver({"10.1000/1": place})) as proxy,
            pytest.raises(client.errors.failed, match=REFUSED),
        ):
            client.open(proxy.url, follow="target")(URI)
        assert not landing.seen
        client.open(proxy.url)(place)  # other requests are not checked
        exactly(1, "requests", landing.seen)


def test_a_refused_name_gets_no_tls_handshake(
    client: Client, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    with (
        site(lambda _: PAGE, tls=authority.server()) as landing,
        site(resolver({"10.1000/1": landing.at("agency.example")})) as proxy,
        pytest.raises(client.errors.failed, match=REFUSED),  # not an error about the certificate
    ):
        client.open(proxy.url, follow="target")(URI)


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
@pytest.mark.parametrize("secure", [False, True], ids=["forwarded", "tunnelled"])
def test_through_a_proxy_names_decide(
    client: Client, secure: bool, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")  # what the proxy connects to
    tls = authority.server() if secure else None
    with (
        site(lambda _: PAGE, tls=tls) as landing,
        http_proxy() as proxy,
    ):
        targets = {"10.1000/1": landing.at("agency.example"), "10.1000/2": landing.at("localhost")}
        with site(resolver(targets)) as server:
            get = client.open(server.url, follow="target", proxy=proxy.url, insecure=secure)
            assert get(URI).body == PAGE.body
            with pytest.raises(client.errors.failed, match="localhost, in a private network"):
                get("doi:10.1000/2")
        exactly(1, "requests", landing.seen)


# ---- faults

ERRORS = (OSError, HTTPException, requests.RequestException, httpx.HTTPError, httpx2.HTTPError)


@pytest.mark.parametrize(
    "fault",
    [fault for fault in FAULTS if not (fault.big or fault.name == "DNS that hangs")],
    ids=str,
)
@pytest.mark.parametrize("client", ["urllib", "requests", "httpx Client"], indirect=True)
def test_a_fault_is_an_error_or_a_status_that_says_so(client: Client, fault: Fault) -> None:
    """No client has a timeout for DNS look-ups, nor one for the whole."""
    with fault.serve() as server:
        try:
            timeout = 0.1 if fault.hangs else 20
            reply = client.open(server.url)(DOI(NAME).uri, timeout=timeout)
        except ERRORS:
            return
    if fault.name == "damaged gzip" and client.kind == "urllib":
        return  # it reads the record as it was sent
    if fault.error is None:
        assert read_record(DOI(NAME), reply.status, reply.body).url
    else:
        assert not carries_record(reply.status)


class Told(NamedTuple):
    """What a server answers, and what comes of it."""

    name: str
    status: int
    body: bytes
    content_type: str = "application/json"
    is_answer: bool = False
    """Whether clients return it; else they raise an error."""


def said(code: object, name: str = "10.1000/1") -> bytes:
    return json.dumps({"responseCode": code, "handle": name, "values": []}).encode()


HTML = "text/html; charset=utf-8"
TOLD = [
    Told("a record", 200, said(1), is_answer=True),
    Told("a record as text", 200, said(1), "text/plain", is_answer=True),
    Told("a record as HTML", 200, said(1), HTML, is_answer=True),
    Told("a record without a type", 200, said(1), "", is_answer=True),
    Told("no such DOI", 404, said(100), is_answer=True),
    Told("no such DOI with 200", 200, said(100), is_answer=True),
    Told("no such values", 200, said(200), is_answer=True),
    Told("refused", 403, b"<p>no", HTML, is_answer=True),
    Told("not acceptable", 406, b"", is_answer=True),
    Told("failed", 500, said(2), is_answer=True),
    Told("busy", 503, b"", is_answer=True),
    Told("a page", 200, b"<p>log in", HTML),
    Told("a page of XHTML", 200, b"<p>log in", "application/xhtml+xml"),
    Told("a page as JSON", 200, b"<p>log in"),
    Told("a page that is not found", 404, b"<p>no such page", HTML),
    Told("nothing", 200, b""),
    Told("nothing found", 404, b""),
    Told("created", 201, said(1)),
    Told("no content", 204, b""),
    Told("other JSON", 200, b'{"status": "ok"}'),
    Told("other JSON that is not found", 404, b'{"detail": "Not found"}'),
    Told("a list", 200, b"[]"),
    Told("null", 200, b"null"),
    Told("JSON that is cut off", 200, said(1)[:-1]),
    Told("a record of another DOI", 200, said(1, "10.1000/2")),
    Told("no such other DOI", 404, said(100, "10.1000/2")),
    Told("a failure with 200", 200, said(2)),
    Told("a failure with 404", 404, said(2)),
    Told("a record with 404", 404, said(1)),
    Told("as long as it may be", 200, said(1).ljust(MAX_RECORD), is_answer=True),
    Told("a byte too long", 200, said(1).ljust(MAX_RECORD + 1)),
]


# The core reads each answer in the same way for all clients: a few show what a client has to give it
FEW = [
    told
    for told in TOLD
    if told.name
    in {
        "a record as HTML",
        "no such DOI",
        "refused",
        "busy",
        "a page",
        "nothing found",
        "other JSON that is not found",
        "a record of another DOI",
        "a record with 404",
        "as long as it may be",
        "a byte too long",
    }
]
READ = [
    *product(["requests"], TOLD, ["the resolver"]),
    *product([kind for kind in SOME_CLIENTS if kind != "requests"], FEW, ["the resolver"]),
    *product(SOME_CLIENTS, FEW, ["where it redirects to"]),
]


@pytest.mark.parametrize(
    ("client", "told", "place"),
    [pytest.param(*read, id=f"{read[0]}-{read[1].name}-{read[2]}") for read in READ],
    indirect=["client"],
)
def test_an_answer_carries_record_or_an_error_that_names_the_host(
    client: Client, told: Told, place: str
) -> None:
    headers = {"Content-Type": told.content_type} if told.content_type else {}
    with site(lambda _: Answer(told.status, headers, told.body)) as server:
        moved = Answer(302, {"Location": server.at("localhost")})
        with site(lambda _: moved) as resolver:
            base = server.url if place == "the resolver" else resolver.url
            get = client.open(base, private=True)
            if told.is_answer:
                reply = get(URI)
                assert (reply.status, reply.body) == (told.status, told.body)
                return
            with pytest.raises(client.errors.failed) as caught:
                get(URI)
    host = "127.0.0.1" if place == "the resolver" else "localhost"
    sent = "a web page instead of a" if "html" in told.content_type else "no"
    message = f"10.1000/1: {host}:{server.port} sent {sent} DOI record (HTTP status {told.status})"
    assert message in str(caught.value)
    assert isinstance(caught.value.__cause__, BadRecord)


@pytest.mark.parametrize("told", TOLD, ids=lambda told: told.name)
def test_clients_and_the_resolver_agree_on_what_is_an_answer(told: Told) -> None:
    if not carries_record(told.status):
        return
    headers = {"Content-Type": told.content_type}
    with site(lambda _: Answer(told.status, headers, told.body)) as server:
        (outcome,) = Resolver(server.url, store=None).resolve_many(["10.1000/1"])
    assert (outcome.status != "unknown") == told.is_answer


@pytest.mark.parametrize("told", FEW, ids=lambda told: told.name)
@pytest.mark.parametrize("client", SOME_CLIENTS, indirect=True)
def test_what_is_no_record_may_be_the_target(client: Client, told: Told) -> None:
    headers = {"Content-Type": told.content_type}
    with site(lambda _: Answer(told.status, headers, told.body)) as server:
        reply = client.open(server.url, follow="target")(URI)
    assert (reply.status, reply.body) == (told.status, told.body)


@pytest.mark.parametrize(
    ("status", "content_type", "fails"),
    [
        (200, "application/json", False),
        (404, "application/json", False),
        (200, "text/html", True),
        (404, "text/html", True),
        (503, "text/html", False),
    ],
)
@pytest.mark.parametrize("client", SOME_CLIENTS, indirect=True)
def test_the_answer_to_head_must_not_be_a_page(
    client: Client, status: int, content_type: str, fails: bool
) -> None:
    with site(lambda _: Answer(status, {"Content-Type": content_type})) as server:
        get = client.open(server.url)
        if fails:
            with pytest.raises(client.errors.failed, match="sent a web page"):
                get(URI, "HEAD")
        else:
            assert get(URI, "HEAD").status == status


@pytest.mark.parametrize(
    ("private", "urls"),
    [
        pytest.param(False, ODD_URLS, id="checked"),
        pytest.param(True, [url for url in ODD_URLS if url not in LEADING_BACK], id="anywhere"),
    ],
)
@pytest.mark.parametrize("client", CLIENTS, indirect=True)
def test_an_odd_url_in_a_record_ends_in_the_errors_of_the_client(
    client: Client, private: bool, urls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_nothing(monkeypatch)
    locations: list[str] = []

    def moved(_server: faults.Server, connection: socket.socket, _request: bytes) -> None:
        head = f"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: {locations[-1]}\r\n"
        connection.sendall(f"{head}Connection: close\r\n\r\n".encode("latin-1"))

    with faults.serving(moved) as server:
        get = client.open(server.url, follow="target", private=private)
        for url in urls:
            locations.append(url)
            with pytest.raises(client.errors.any):
                get(URI)


@contextmanager
def speaking(said: bytes | None) -> Iterator[str]:
    """Answer each connection with these octets and hang up; None keeps it open."""

    def answer(server: faults.Server, connection: socket.socket, _request: bytes) -> None:
        connection.sendall(said or b"")
        if said is None:
            server.stopped.wait()

    with faults.serving(answer) as server:
        yield server.url


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
            get(URI, timeout=0.1)
        assert "imeout" in repr(caught.value) or "timed out" in repr(caught.value)
