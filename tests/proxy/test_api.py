"""The REST API over a real socket: each row of the reference's tables, each clause of the specifications."""

import json
import re
from urllib.parse import quote, unquote

import pytest
from doiuri import DOI, DOISyntaxError
from doiuri.resolver import Resolver
from doiuri.rest import record_url
from doiuri_proxy import running
from doiuri_proxy.pytest_plugin import Proxies
from support.checks import exactly, only
from support.http import ask
from support.proxy_records import FIGURE_1, FORMATS, link, record, value
from support.servers.web import Answer, site

JSON = "application/json;charset=utf-8"
JSONP = "application/javascript;charset=utf-8"
ORIGIN = {"Origin": "https://reader.example"}


def indices(url: str, query: str, name: str = "10.1000/many") -> list[int]:
    return [value["index"] for value in ask(url, f"/api/handles/{name}?{query}").json()["values"]]


BAD_ESCAPES = ("%", "%4", "%zz", "%FF", "%C0%AF", "%ED%A0%80")
ANSWERS = [
    ("handles/10.1000/1", 200, 1),
    ("handles/10.1000/none", 404, 100),
    # Z39.84 §4: 10.123/ABC, registered, is found as 10.123/abc (N-077); the case of other letters counts
    *((f"handles/{name}", 200, 1) for name in ("10.123/aBc", "0.NA/10.2000", "0.na/10.2000")),
    *(
        (f"handles/10.26321/{quote(letter)}.guti%C3%89rrez.ZARZA.02.2018.03", status, code)
        for letter, status, code in (("Á", 200, 1), ("á", 404, 100), ("A\u0301", 404, 100))
    ),
    *(
        (f"handles/10.1000/{name}", 200, 200)
        for name in ("empty", "hidden", "1?type=EMAIL", "1?index=7")
    ),
    ("handles", 400, 102),
    ("handles/", 400, 102),
    ("handles?type=URL", 400, 102),
    *(
        (f"handles/10.1000/1?index={quote(index)}", 400, 4)
        for index in ("x", "", "1.0", "٣", "1 ", "0x1")
    ),
    ("handles/10.1000/1?index=1;index=2", 400, 4),
    (f"handles/10.1000/1?index={'9' * 11}", 400, 4),
    *((f"handles/10.1000/{escape}", 400, 4) for escape in BAD_ESCAPES),
    *((f"handles/10.1000/1?type={escape}", 400, 4) for escape in BAD_ESCAPES),
    *((path, 404, 4) for path in ("", "x", "handle/10.1000/1", "Handles/10.1000/1")),
    # nothing is stripped from a name
    *(
        (f"handles/{name}", 404, 100)
        for name in ("doi:10.1000/1", "urn:doi:10.1000:1", "/10.1000/1")
    ),
    ("handles/10.1000/1/", 404, 100),
    ("handles/https://doi.org/10.1000/1", 404, 100),
]


@pytest.mark.parametrize(("path", "status", "code"), ANSWERS, ids=[path for path, *_ in ANSWERS])
def test_each_answer_has_its_status_and_response_code(
    url: str, path: str, status: int, code: int
) -> None:
    """§5: 1 is success, 100 Handle Not Found, 200 Values Not Found (P-81 P-106 P-108 P-109)."""
    answer = ask(url, f"/api/{path}")
    said = answer.json()
    assert (answer.status, answer.headers["content-type"]) == (status, JSON)
    handle = unquote(path.partition("?")[0].removeprefix("handles").removeprefix("/"))
    members = {1: {"handle", "values"}, 100: {"handle"}, 102: {"handle"}, 200: {"handle", "values"}}
    assert said.keys() == members.get(code, {"message"}) | {"responseCode"}
    assert (said["responseCode"], said.get("handle", handle)) == (code, handle)
    assert bool(said.get("values")) == (code == 1)


def test_figure_1_comes_back_member_for_member(url: str) -> None:
    """With its members in order."""
    assert ask(url, "/api/handles/10.1000/182").text == json.dumps(FIGURE_1, separators=(",", ":"))


@pytest.mark.parametrize("query", ["type=URL", "type=url", "index=1", "type=URL&index=1"])
def test_the_restricted_example_comes_back_member_for_member(
    doi_proxy: Proxies, query: str
) -> None:
    """§5, query parameters: the record of 10.1000/1, of which only the URL is asked for (P-118)."""
    url = value("URL", "http://www.doi.org/index.html", timestamp="2004-09-10T19:49:59Z")
    admin = {"handle": "0.NA/10.1000", "index": 200, "permissions": "011111111111"}
    example = record("10.1000/1", value("HS_ADMIN", admin, index=100, fmt="admin"), url)
    proxy = doi_proxy([example])

    body = ask(proxy.url, f"/api/handles/10.1000/1?{query}").text

    expected = (
        '{"responseCode":1,"handle":"10.1000/1","values":[{"index":1,"type":"URL","data":{"format":"string",'
        '"value":"http://www.doi.org/index.html"},"ttl":86400,"timestamp":"2004-09-10T19:49:59Z"}]}'
    )
    assert body == expected, f"?{query} is answered with {body}"


@pytest.mark.parametrize(
    "query", ["", "?type=URL", "?index=2", "?type=NONE", "?index=9", "?pretty"]
)
def test_the_name_comes_back_as_it_was_sent(url: str, query: str) -> None:
    """Also in restricted answers: "handle" is the name for which resolution was requested (U-54)."""
    for name in ("10.1000/MANY", "10.1000/manY", "10.1000/NONE", "10.1000/EMPTY"):
        handle = ask(url, f"/api/handles/{name}{query}").json()["handle"]
        assert handle == name, f"{name}{query} is answered for {handle}"


@pytest.mark.parametrize("query", ["", "?type=URL", "?noredirect"])
def test_a_value_that_states_no_ttl_has_that_of_a_day(doi_proxy: Proxies, query: str) -> None:
    """The proxy caches values with a TTL of 24 hours (P-24)."""
    bare = value("URL", "https://example.org/")
    del bare["ttl"]
    proxy = doi_proxy([record("10.1000/x", bare)])

    if query == "?noredirect":
        page = ask(proxy.url, f"/10.1000/x{query}").text
        assert ">86400</td>" in page, f"another TTL on the page: {page}"
        return
    found = only("value", ask(proxy.url, f"/api/handles/10.1000/x{query}").json()["values"])
    assert found.get("ttl") == 86_400, f"the TTL of {found}"


@pytest.mark.parametrize("stated", [0, "1970-01-01T00:00:00Z", None])
@pytest.mark.parametrize("query", ["", "?type=URL"])
def test_a_value_that_states_the_epoch_has_no_timestamp(
    doi_proxy: Proxies, stated: object, query: str
) -> None:
    """Handle servers write it for a value without one."""
    proxy = doi_proxy([link("10.1000/x", "https://example.org/", timestamp=stated)])

    [found] = ask(proxy.url, f"/api/handles/10.1000/x{query}").json()["values"]

    assert "timestamp" not in found, f"the timestamp of {found}, which states {stated!r}"


@pytest.mark.parametrize("path", ["API/handles", "Api/handles", "api/Handles", "api/HANDLES"])
def test_paths_are_read_with_case(url: str, path: str) -> None:
    """The draft writes /api/handles/ in ABNF, whose literals have no case (RFC 5234 §2.3).

    RFC 3986 §6.2.2.1 gives case to the path of a URL, though not to its scheme and host. It counts: the path is
    written in lower case only, and no other spelling of it is the REST API (C-47).
    """
    answer = ask(url, f"/{path}/10.1000/1")
    assert answer.status == 404, f"/{path}/10.1000/1 is answered with {answer.status}"
    for written in (f"https://doi.org/{path}/10.1000/1", f"HTTPS://DOI.ORG/{path}/10.1000/1"):
        with pytest.raises(DOISyntaxError):
            pytest.fail(f"{written} was read as {DOI.from_url(written)}")
    assert DOI.from_url("HTTPS://DOI.ORG/api/handles/10.1000/1") == DOI("10.1000/1")
    assert record_url(DOI("10.1000/A")) == "https://doi.org/api/handles/10.1000/A"


def test_all_formats_come_back_as_they_were_written(url: str) -> None:
    assert ask(url, "/api/handles/10.1000/formats").json()["values"] == FORMATS["values"]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "PROPFIND"])
def test_other_methods(url: str, method: str) -> None:
    answer = ask(url, "/api/handles/10.1000/1", method, b"x")
    assert (answer.status, answer.json()["responseCode"]) == (501, 4)
    assert ask(url, "/10.1000/1", method, b"x").status == 501


def test_failure_of_the_server() -> None:
    """DOI resolution documentation §5: 2, something unexpected went wrong, HTTP 500 (P-107)."""
    with (
        site(lambda _: Answer(body=b"[]")) as there,
        running(upstream=there.url, cache=":memory:") as proxy,
    ):
        answer = ask(proxy.url, "/api/handles/10.1000/y")
    assert (answer.status, answer.json()["responseCode"]) == (500, 2)
    assert answer.json()["message"]
    assert "retry-after" not in answer.headers


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("type=URL", [1, 2]),
        ("type=url", [1, 2]),
        ("type=URL.", [1, 2, 4]),
        ("type=URL.FOO", [4]),
        ("type=EMAIL&type=URL.FOO", [3, 4]),
        ("index=2", [2]),
        ("index=%2B02", [2]),
        ("index=-1", []),
        ("index=4&index=1", [1, 4]),
        ("type=EMAIL&index=1", [1, 3]),
        ("type=EMAIL&index=9", [3]),
        ("type=%45MAIL", [3]),
        ("auth&cert&unknown=1", [1, 2, 3, 4]),
    ],
)
def test_union_of_types_and_indices(url: str, query: str, expected: list[int]) -> None:
    """§5: several "type" and "index" parameters return the values that match any (P-115 to P-117)."""
    assert indices(url, query) == expected


@pytest.mark.parametrize(
    "flag", ["pretty", "pretty=", "pretty=true", "pretty=false", "auth&pretty"]
)
def test_pretty_by_presence(url: str, flag: str) -> None:
    """§5: The presence of the "pretty" query parameter instructs the server to pretty-print (P-112)."""
    answer = ask(url, f"/api/handles/10.1000/1?{flag}")
    assert answer.text.startswith('{\n  "responseCode": 1,\n  "handle"')
    assert answer.json() == ask(url, "/api/handles/10.1000/1").json()


@pytest.mark.parametrize(
    ("callback", "name"),
    [
        ("f", "f"),
        ("$jq_1", "$jq_1"),
        ("a.b", "a_b"),
        ("1f", "_f"),
        ("f1", "f1"),
        ("é\u00a0", "é\u00a0"),
        ("alert(1)//", "alert_1___"),
        ("\u0080\u009f", "__"),
        ("a\u2028b\u2029", "a_b_"),
        ("<script>", "_script_"),
    ],
)
def test_callback(url: str, callback: str, name: str) -> None:
    """§5: JSONP callbacks are also supported using a "callback" query parameter (P-111)."""
    answer = ask(url, f"/api/handles/10.1000/1?callback={quote(callback)}")
    assert answer.headers["content-type"] == JSONP
    assert answer.headers["x-content-type-options"] == "nosniff"
    call = re.fullmatch(r"(.*?)\((\{.*\})\);", answer.text, re.DOTALL)
    assert call is not None
    assert call[1] == name
    assert json.loads(call[2]) == ask(url, "/api/handles/10.1000/1").json()


def test_a_callback_changes_the_form_of_an_answer_only(url: str) -> None:
    """Errors and empty answers are JSONP, too (P-111)."""
    wrong = []
    for path, status, _ in ANSWERS:
        plain = ask(url, f"/api/{path}")
        expected = (status, JSONP, f"f({plain.text});")
        if any(f"type={escape}" in path for escape in BAD_ESCAPES):
            expected = (status, JSON, plain.text)  # of a malformed query, no parameter counts
        separator = "&" if "?" in path else "?"
        answer = ask(url, f"/api/{path}{separator}callback=f")
        seen = (answer.status, answer.headers["content-type"], answer.text)
        if seen != expected:
            wrong.append(f"{path}: {seen}")
    assert not wrong, f"not JSONP of the same answer: {'; '.join(wrong)}"


@pytest.mark.parametrize("long", ["10.1000/" + 9000 * "x", "10.1000/x?type=" + 9000 * "x"])
def test_what_is_refused_as_too_long_is_jsonp_too(url: str, long: str) -> None:
    """A script that asks for a record learns why there is none (P-111)."""
    separator = "&" if "?" in long else "?"
    answer = ask(url, f"/api/handles/{long}{separator}callback=f")
    seen = (answer.status, answer.headers["content-type"], answer.text[:17])
    assert seen == (414, JSONP, 'f({"responseCode"'), f"{len(long)} bytes: {seen}"


def test_an_empty_callback_is_none(url: str) -> None:
    """The first that is not empty counts (P-111)."""
    assert ask(url, "/api/handles/10.1000/1?callback=&callback=f&callback=g").text.startswith("f({")
    assert ask(url, "/api/handles/10.1000/1?callback=").json()["responseCode"] == 1


def test_aliases_are_not_followed(url: str) -> None:
    assert ask(url, "/api/handles/10/abcd").json()["values"][0]["type"] == "HS_ALIAS"


def test_order_of_keys_and_what_is_left_out(url: str) -> None:
    keys = ["index", "type", "data", "permissions", "ttl", "timestamp", "references"]
    without_date = ["index", "type", "data", "ttl"]

    all_keys = only("value", ask(url, "/api/handles/10.1000/all-keys").json()["values"])
    zeros = ask(url, "/api/handles/10.1000/zero").json()["values"]
    public = only("value", ask(url, "/api/handles/10.1000/half").json()["values"])

    assert list(all_keys) == keys
    assert all_keys["ttl"] == "2029-12-31T23:00:00Z"
    assert [list(value) for value in zeros] == [without_date] * 2
    assert list(public) == keys[:6]
    assert public["index"] == 2  # everybody may read only that


def test_hundreds_of_values() -> None:
    """N-024: a DOI may have any number of associated values."""
    many = record("10.1000/x", *(value("X", str(n), index=n) for n in range(500)))
    with running([many]) as proxy, Resolver(proxy.url, store=None) as resolver:
        assert [(one.index, one.data.text) for one in resolver.resolve("10.1000/x").values] == [
            (n, str(n)) for n in range(500)
        ]
        assert [one.index for one in resolver.resolve("10.1000/x", index=[499]).values] == [499]


def test_a_resolver_sends_get_requests(doi_proxy: Proxies) -> None:
    """U-42, P-73, P-82: an HTTP GET request suffices."""
    proxy = doi_proxy([link("10.1000/x", "https://example.org/")])
    with Resolver(proxy.url, store=None) as resolver:
        assert [one.status for one in resolver.resolve_many(["10.1000/x", "10.1000/y"])] == [
            "found",
            "not-found",
        ]
        assert [one.status for one in resolver.agencies(["10.1000/x", "10.1000/y"])]
        assert [one.status for one in resolver.works(["10.1000/x"])] == ["no-values"]
    assert {request.method for request in proxy.log} == {"GET"}
    assert {request.target[:4] for request in proxy.log} == {"/api", "/doi", "/10."}


FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize("kind", [FORM, FORM.upper(), f"{FORM}; charset=UTF-8", f"{FORM} ;x=y"])
def test_a_form_is_read_as_the_query_is(url: str, kind: str) -> None:
    headers = {"Content-Type": kind}
    body = b"index=1&type=URL%2EFOO"
    answer = ask(url, "/api/handles/10.1000/many?type=EMAIL", "POST", body, headers)
    assert [value["index"] for value in answer.json()["values"]] == [1, 3, 4]
    assert ask(url, "/api/handles/10.1000/1", "POST", b"index=%zz", headers).status == 400
    other = ask(
        url, "/api/handles/10.1000/1", "POST", b'{"index": 9}', {"Content-Type": "application/json"}
    )
    exactly(1, "values", other.json()["values"])


NOSNIFF = {"x-content-type-options": "nosniff"}
API = {"vary": "Origin", **NOSNIFF}
OPEN = {**API, "access-control-allow-origin": ORIGIN["Origin"]}
READABLE = {**OPEN, "access-control-expose-headers": "Content-Length"}
PREFLIGHT = {
    **OPEN, "allow": "GET,HEAD,POST,OPTIONS", "access-control-allow-methods": "GET,POST,HEAD",
    "access-control-allow-headers": "X-Requested-With,Content-Type,Accept,Origin",
    "access-control-max-age": "1800",
}  # fmt: skip
PAGE = {
    **NOSNIFF,
    "access-control-allow-origin": "*",
    "content-security-policy": "default-src 'none'",
}
LEADING = {**PAGE, "location": "", "expires": ""}
VARYING = {"vary": "Accept"}
SHOWING = ["10.1000/none", "10.1000/broken", "10.1000/%zz", ""]
CALLS = [
    "api/handles/10.1000/1",
    "api/handles/10.1000/none",
    "api/handles",
    "api/x",
    "doiRA/10.1000",
    "ra/x",
]
HEADERS = [
    *((path, "GET", PAGE, PAGE) for path in SHOWING),
    *((path, "GET", *[PAGE | VARYING] * 2) for path in ("10.1000/mail", "10.1000/empty")),
    ("10.1000/alias", "GET", LEADING, LEADING),
    ("10.1000/1", "GET", *[LEADING | VARYING] * 2),
    ("10.1000/loc", "GET", *[LEADING | VARYING | {"link": ""}] * 2),
    ("10.1000/1", "OPTIONS", {**API, "allow": PREFLIGHT["allow"]}, PREFLIGHT),
    ("api/handles/10.1000/1", "OPTIONS", {**API, "allow": PREFLIGHT["allow"]}, PREFLIGHT),
    *((path, "GET", API, READABLE) for path in CALLS),
    ("api/x", "DELETE", {**API, "connection": "close"}, {**READABLE, "connection": "close"}),
    ("healthz", "GET", *[{"cache-control": "no-store"}] * 2),
]


@pytest.mark.parametrize(("path", "method", "alone", "from_elsewhere"), HEADERS)
def test_every_answer_has_its_headers_and_no_others(
    url: str, path: str, method: str, alone: dict[str, str], from_elsewhere: dict[str, str]
) -> None:
    """§5: This DOI system Proxy Server REST API is CORS-compliant; caches may keep its answers (P-110)."""
    for origin, expected in ({}, alone), (ORIGIN, from_elsewhere):
        found = dict(ask(url, f"/{path}", method, headers=origin).headers)
        usual = {name: found.pop(name, None) for name in ("date", "content-type", "content-length")}
        assert None not in usual.values(), (origin, expected)
        assert found.keys() == expected.keys()
        assert [name for name, value in expected.items() if not found[name].startswith(value)] == []
