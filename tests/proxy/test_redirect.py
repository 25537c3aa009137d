"""Redirects over a real socket: each row of the reference's table, each clause of the specifications."""

import html
import re
import time
from email.utils import parsedate_to_datetime
from random import Random
from typing import Any
from urllib.parse import quote, quote_plus
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import doiuri_proxy
import pytest
from doiuri import DOI, LINK, URI, encode
from doiuri.rest import CSL_JSON
from doiuri.testing.strategies import names
from doiuri_proxy import Records
from doiuri_proxy.pytest_plugin import Proxies
from hypothesis import example, given
from hypothesis import strategies as st
from support.checks import assert_times, only
from support.http import Answer, ask
from support.proxy_records import RECORDS, link, loc, record, value

MAIN = "https://example.org/main"
UK = "https://example.org/uk"
TARGETS = [
    ("10.1000/1", "http://www.doi.org/index.html"),
    ("10.1000/456%23789", "https://example.org/hash"),
    ("10.26321/%C3%81.GUTI%c3%89RREZ.ZARZA.02.2018.03", "https://example.org/zarza"),
    ("10.1000/..", "https://example.org/dots"),
    ("10.123/abc", "https://example.org/abc"),
    ("hdl:10.123/ABC", "https://example.org/abc"),
    ("10.1000/many", "https://example.org/one"),
    ("10.1000/second", "https://example.org/2"),
    ("10.1000/half", "https://example.org/open"),
    ("10.1000/not-an-alias", "https://example.org/"),
    ("10.1000/no-places", "https://example.org/plain"),
    ("10.1000/idna", "https://xn--bcher-kva.example:8443/%C3%BC?q=%C3%BC#%C3%BC%20%zz"),
    ("10.1000/illegal", "https://example.org/a%20b%3Cc%3E%22d'%5C%7B%7D%7C%5E%60[1]"),
    ("10.1000/many?type=URL&index=9", "https://example.org/one"),
    ("10.1000/many?index=2", "https://example.org/two"),
    ("10.1000/many?index=3&index=2", "https://example.org/two"),
    ("10.1000/many?index=3;index=2", "https://example.org/two"),
    ("10.1000/many?type=EMAIL&index=2", "https://example.org/two"),
    ("10.1000/many?type=url", "https://example.org/one"),
    ("10.1000/many?index=x", "https://example.org/one"),
    ("10.1000/many?index=x&index=2", "https://example.org/two"),
    ("10.1000/many?urlappend=%3Fa=b%26c+d", "https://example.org/one?a=b&c+d"),
    ("10.1000/many?urlappend=%0D%0AX:%20a=b", "https://example.org/one%0D%0AX:%20a=b"),
    ("10.1000/many?urlappend=%2F%C3%BC&urlappend=x", "https://example.org/one/%C3%BC"),
    ("10.1000/many?urlappend", "https://example.org/one"),
    ("10.1000/second?urlappend=%26e=f", "https://example.org/2&e=f"),
    ("10.1000/many?auth&cert&nols=y&locatt=x:y&other", "https://example.org/one"),
    *(
        (
            f"10.1000/bare?urlappend={quote(text)}",
            "https://example.org" + text.replace("\\", "/", 1),
        )
        for text in ("/x", "?x", "#x", "/@evil.example", "\\@evil.example")
    ),
    # to browsers a backslash after the host ends it; escaped, it would make the host a user's name
    ("10.1000/bare?urlappend=%5C%5Cevil.example", "https://example.org/%5Cevil.example"),
    ("10.1000/query?urlappend=%26e=f", "https://example.org/a?b=c#d&e=f"),
    ("10.1000/spaced?auth", "https://example.org/"),
    ("hdl:20.500.12345/X", "https://example.org/h"),
    ("10.1000/loc?locatt=id:0", UK),
    ("10.1000/loc?locatt=country:gb", UK),
    ("10.1000/loc?locatt=country", UK),
    ("10.1000/loc?locatt=id:9", MAIN),
    ("10.1000/loc?locatt=mode:legacy", "https://example.org/plain"),
    ("10.1000/loc?type=URL", "https://example.org/plain"),
]


@pytest.mark.parametrize(("path", "target"), TARGETS)
def test_the_proxy_looks_up_the_name_and_redirects(url: str, path: str, target: str) -> None:
    """§1 and §3: the proxy redirects to the URL in the record, or as the parameters say.

    N-077 N-148 P-11 to P-13 P-62 to P-66 P-70 S-31
    """
    answer = ask(url, f"/{path}", headers={"Accept": "text/html"})
    assert (answer.status, answer.headers["location"]) == (302, target)
    assert answer.headers["content-type"] == "text/html;charset=utf-8"
    assert "<a href=" in answer.text
    assert answer.headers["vary"] == "Accept"


@pytest.mark.parametrize("text", [".evil.example", "@evil.example", ":80", "x"])
def test_urlappend_stays_on_the_host(url: str, text: str) -> None:
    """§3: urlappend ends the target (P-66)."""
    assert ask(url, f"/10.1000/bare?urlappend={quote(text)}").status == 400


@pytest.mark.parametrize("query", ["nols=y", "", "nols=n"])
def test_there_is_no_local_service_that_a_cookie_could_choose(url: str, query: str) -> None:
    """§3: nols=y prevents what a cookie may select; this proxy has no local services (P-69 P-70)."""
    cookie = {"Cookie": "user-OpenURL=https://evil.example/"}
    answer = ask(url, f"/10.1000/1?{query}", headers=cookie)
    assert answer.headers["location"] == "http://www.doi.org/index.html"


@pytest.mark.parametrize(
    "name", ["javascript", "file", "marked", "marked?urlappend=%5C@evil.example", "marked?auth"]
)
def test_only_the_web_is_redirected_to(url: str, name: str) -> None:
    """What stands before a backslash could be read as a host or as a user's name: nobody is sent there."""
    answer = ask(url, f"/10.1000/{name}")
    assert answer.status == 200
    assert "location" not in answer.headers
    assert ("<a " in answer.text) == name.startswith("marked")  # as a browser reads it


def test_a_location_has_its_status(url: str, doi_proxy: Proxies) -> None:
    """The proxy redirects to the URL in the record (P-12)."""
    xml = '<locations><location href="https://example.org/" http_sc="%s"/></locations>'
    statuses = [301, 302, 303, 307, 308]
    proxy = doi_proxy([loc(f"10.1000/{status}", xml % status) for status in statuses])
    assert [ask(proxy.url, f"/10.1000/{status}").status for status in statuses] == statuses
    # the location's own comes first, then that of all; others are ignored
    assert [ask(url, f"/10.1000/{name}").status for name in ("sc", "sc2", "sc3")] == [303, 308, 302]


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/10.1000/alias", "/10.1000/target"),
        ("/10/abcd", "/10.1000/TARGET"),
        ("/10.1000/alias2", "/10.1000/target"),
        ("/10.1000/alias?noredirect&type=URL;x", "/10.1000/target?noredirect&type=URL;x"),
        ("/10.1000/alias?urlappend=%3Fx", "/10.1000/target?urlappend=%3Fx"),
        ("/10.1000/dangling", "/10.1000/nowhere"),
        ("/10.1000/odd-alias", "/10.1000/x;y&z%3F%2B%C3%BC"),
        ("/10.1000/chain2", "/10.1000/chain22"),
    ],
)
def test_aliases(url: str, path: str, target: str) -> None:
    answer = ask(url, path)
    assert (answer.status, answer.headers["location"]) == (301, target)


@pytest.mark.parametrize("name", ["loop", "chain0", "chain1"])
def test_long_chains(url: str, name: str) -> None:
    answer = ask(url, f"/10.1000/{name}")
    assert answer.status == 404
    assert "alias chain too long" in answer.text


@pytest.mark.parametrize("query", ["", "?x"])
def test_an_alias_comes_before_a_url(query: str, doi_proxy: Proxies) -> None:
    """§3: a record's alias decides, wherever its URL stands; without aliases, the URL does (P-59)."""
    both = [value("URL", "https://example.org/old"), value("HS_ALIAS", "10.1000/new", index=2)]
    new = link("10.1000/new", "https://example.org/new")
    proxy = doi_proxy([record("10.1000/a", *both), record("10.1000/b", *reversed(both)), new])
    for name in "ab":
        answer = ask(proxy.url, f"/10.1000/{name}{query}")
        assert (answer.status, answer.headers["location"]) == (301, f"/10.1000/new{query}"), name
    answer = ask(proxy.url, "/10.1000/a?ignore_aliases")
    assert (answer.status, answer.headers["location"]) == (302, "https://example.org/old")


def kept(
    seconds: object, index: int = 1, kind: str = "URL", data: str = "https://example.org/"
) -> Any:
    return value(kind, data, index=index, ttl=seconds)


DAY = 86_400
LIFETIMES: dict[str, tuple[list[dict[str, Any]], str, int]] = {
    "a value": ([kept(60)], "", 60),
    "at most two days": ([kept(10_000_000)], "", 2 * DAY),
    "the past": ([kept("2020-01-01T00:00:00+01:00")], "", 0),
    "locations and a URL": ([kept(DAY, 2, "10320/loc", "<locations/>"), kept(3600)], "", 3600),
    "locations first": ([kept(70, 2, "10320/LOC", "<locations/>"), kept(3600)], "", 70),
    "what is not used": ([kept(60), kept(10, 2, "EMAIL", "x"), kept(10, 3, "URL.X")], "", 60),
    "of selected values": ([kept(60), kept(90, 2)], "?index=2", 90),
    "an alias": ([kept(50, 1, "HS_ALIAS", "10.1000/none"), kept(10, 2)], "", 50),
    "an alias of long life": ([kept(10_000_000, 1, "HS_ALIAS", "10.1000/none")], "", 2 * DAY),
    "an alias of an alias": ([kept(DAY, 1, "HS_ALIAS", "10.1000/an alias")], "", 50),
    "aliases, the first is shorter": ([kept(40, 1, "HS_ALIAS", "10.1000/an alias")], "", 40),
    "metadata": ([kept(60), kept(20, 2, "EMAIL", "x")], "", 20),
}


def test_expires_with_the_shortest_ttl(doi_proxy: Proxies) -> None:
    """§1: values are cached; an answer expires with the values that it depends on (P-24)."""
    records = [
        record(f"10.1000/{name}", *values)
        | {"metadata": {CSL_JSON: {}} if name == "metadata" else {}}
        for name, (values, *_) in LIFETIMES.items()
    ]
    wrong = []
    proxy = doi_proxy(records)
    for name, (_, query, seconds) in LIFETIMES.items():
        path = f"/10.1000/{quote(name)}{query}"
        separator = "&" if query else "?"
        accept = CSL_JSON if name == "metadata" else "text/html"
        # without a query, single locations are answered in a shorter way
        for target in path, f"{path}{separator}x=y":
            headers = ask(proxy.url, target, headers={"Accept": accept}).headers
            expires = parsedate_to_datetime(headers["expires"])
            lifetime = (expires - parsedate_to_datetime(headers["date"])).total_seconds()
            if abs(lifetime - seconds) > 5:
                wrong.append(f"{target}: {lifetime} s, not {seconds} s")
    assert not wrong, "\n".join(wrong)


def test_expires_is_of_each_moment(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for now in (0, 0, 7.9):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        seen.append(ask(url, "/10.1000/short").headers["expires"][-12:])
    assert seen == ["00:01:00 GMT", "00:01:00 GMT", "00:01:07 GMT"]


@pytest.mark.parametrize(
    ("accept", "target"),
    [
        ("text/html,*/*;q=0.1", MAIN),
        ("", MAIN),
        ("application/pdf", "https://example.org/pdf"),
        ("text/turtle;q=0.5, application/pdf;q=0.9", "https://example.org/pdf"),
        ("application/rdf+xml", "https://example.org/api?id=10.1000%2Floc"),
    ],
)
def test_the_accept_header_chooses_among_locations(url: str, accept: str, target: str) -> None:
    assert ask(url, "/10.1000/loc", headers={"Accept": accept}).headers["location"] == target


def test_headers_of_locations(url: str) -> None:
    headers = ask(url, "/10.1000/loc").headers
    assert headers["link"] == '<https://example.org/pdf>; rel="item"; type="application/pdf"'
    headers = ask(url, "/10.1000/sc").headers
    assert headers["link"] == '<https://example.org/a>; rel="a"; type="b/c"'


def test_country_of_the_proxy(doi_proxy: Proxies) -> None:
    proxy = doi_proxy(RECORDS, country="GB")
    assert ask(proxy.url, "/10.1000/loc").headers["location"] == "https://example.org/uk"


@pytest.mark.parametrize("name", ["broken", "bomb"])
def test_malformed_locations_are_a_failure(url: str, name: str) -> None:
    assert ask(url, f"/10.1000/{name}").status == 500
    assert ask(url, f"/10.1000/{name}?noredirect").status == 200


def test_showurls(url: str) -> None:
    """§3: an XML list of where the proxy could redirect, with each attribute of the record (P-68)."""
    answer = ask(url, "/10.1000/loc?action=showurls")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/xml")
    api = {
        "href": "https://example.org/api?id=10.1000%2Floc",
        "href_template": "https://example.org/api?id={hdl}",
    }
    pdf = {"href": "https://example.org/pdf", "rel": "item", "media-type": "application/pdf"}
    expected = [
        {"href": UK, "id": "0", "country": "gb", "weight": "0"},
        {"href": MAIN, "id": "1", "weight": "1"},
        {**api, "id": "2", "http_role": "conneg", "weight": "0"},
        {**pdf, "id": "3", "weight": "0"},
        {"href": "https://example.org/plain", "mode": "legacy", "weight": "0"},
    ]
    root = ElementTree.fromstring(answer.body)
    assert root.tag == "locations"
    assert [*map(attributes, root)] == expected, f"action=showurls: {answer.text}"


def attributes(location: ElementTree.Element) -> dict[str, str]:
    assert location.tag == "location", f"action=showurls lists a {location.tag}"
    return location.attrib


CONDITIONS = (
    '<locations chooseby="{}">'
    '<location href="https://example.org/gb" country="gb" weight="0"/>'
    '<location href="https://example.org/mirror" id="2" weight="0"/>'
    '<location href="https://example.org/data" http_role="conneg" media-type="text/turtle" weight="0"/>'
    '<location href="https://example.org/main" weight="2"/>'
    '<location href="https://example.org/spare" weight="1"/>'
    "</locations>"
)
STEPS = ("locatt,country,weighted", "country,locatt,weighted", "weighted")


@pytest.mark.parametrize(
    ("step", "country", "query", "accept", "target"),
    [
        (0, None, "", "text/html", "main"),
        (0, "GB", "", "text/html", "gb"),
        (0, "FR", "", "text/html", "main"),
        (0, None, "?locatt=id:2", "text/html", "mirror"),
        (0, None, "?locatt=id:3", "text/html", "main"),
        (0, "GB", "?locatt=id:2", "text/html", "mirror"),
        (1, "GB", "?locatt=id:2", "text/html", "gb"),
        (2, "GB", "?locatt=id:2", "text/html", "main"),
        (0, None, "", "text/turtle", "data"),
        (0, None, "", "text/turtle;q=0.5, text/html", "main"),
    ],
)
def test_locations_are_used_under_their_conditions(
    doi_proxy: Proxies, step: int, country: str | None, query: str, accept: str, target: str
) -> None:
    """A 10320/loc value holds conditions under which the proxy should use its locations (P-121)."""
    records = [
        loc(f"10.1000/{number}", CONDITIONS.format(chooseby))
        for number, chooseby in enumerate(STEPS)
    ]
    proxy = doi_proxy(records, country=country)

    answer = ask(proxy.url, f"/10.1000/{step}{query}", headers={"Accept": accept})

    led = answer.headers["location"].rpartition("/")[2]
    asked = f"{query} as {accept} from {country}, chooseby {STEPS[step]}"
    assert led == target, f"{asked}: to {led}"


def test_showurls_of_plain_urls(url: str) -> None:
    urls = [
        {"href": "https://example.org/one", "mode": "legacy", "weight": "1"},
        {"href": "https://example.org/two", "mode": "legacy", "weight": "0"},
    ]
    for name, expected in (("many", urls), ("mail", [])):
        text = ask(url, f"/10.1000/{name}?action=showurls").text
        listed = [*map(attributes, ElementTree.fromstring(text))]
        assert listed == expected, f"10.1000/{name} has the locations {text}"


def test_showurls_is_xml_whatever_attributes_locations_have(doi_proxy: Proxies) -> None:
    odd = 'xmlns="urn:x" xlink:href="y" é="x" data-x.y="&lt;&#34;&amp;" A="1"'
    xml = f'<locations><location href="https://example.org/?a&amp;b" {odd}/></locations>'
    proxy = doi_proxy([loc("10.1000/x", xml)])
    place = only(
        "location", ElementTree.fromstring(ask(proxy.url, "/10.1000/x?action=showurls").body)
    )
    href = "https://example.org/?a&b"
    assert (place.tag, place.attrib) == ("location", {"href": href, "data-x.y": '<"&', "A": "1"})


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def typed(url: str, text: str) -> Answer:
    """Send what is typed into the front page's form, as browsers do."""
    return ask(url, "/", "POST", b"hdl=" + quote_plus(text).encode(), FORM)


def test_front_page_resolves(url: str) -> None:
    """Forms in front of the resolution system decode what the browser has encoded (S-31)."""
    answer = typed(url, " doi:10.1000/x;y&z?+ü ")
    assert (answer.status, answer.headers.get("location")) == (302, "https://example.org/odd")


@given(names())
@example("10.1000/a b")
@example("10.1000/50%25off")
@example("10.1000/" + "".join(map(chr, range(0x21, 0x7F))))
def test_the_form_takes_escapes_and_raw_characters_alike(url: str, name: str) -> None:
    """Web forms accept encoded and raw characters, but "%" always begins an escape (S-32 S-33)."""
    expected = ask(url, f"/{encode(name, URI)}")
    every = "".join(f"%{octet:02x}" for octet in name.encode())
    ways = {encode(name, URI), encode(name, LINK), every}
    if name == name.strip():  # the form drops outer white space
        ways.add(name.replace("%", "%25"))

    for text in sorted(ways):
        answer = typed(url, text)
        seen = (answer.status, answer.headers.get("location"), answer.body)
        told = (expected.status, expected.headers.get("location"), expected.body)
        assert seen == told, f"{text!r} in the form is not {name!r}"


TWINS = ["10.1000/50%off", "10.1000/50%25off", "10.1000/50%2525off"]


@pytest.fixture
def twins(doi_proxy: Proxies) -> str:
    """The URL of a proxy with names that differ in how often "%" is escaped."""
    return doi_proxy([link(name, f"https://example.org/{len(name)}") for name in TWINS]).url


@pytest.mark.parametrize("name", TWINS)
def test_escapes_are_decoded_once(twins: str, name: str) -> None:
    """In the path, in the REST API, in Which RA and in the form: a stored name is literal (C-29)."""
    written = name.replace("%", "%25")

    target = f"https://example.org/{len(name)}"
    agency = [{"DOI": name, "status": "Unknown"}]
    expected = {"path": target, "form": target, "REST API": name, "Which RA": agency}
    found = {
        "path": ask(twins, f"/{written}").headers.get("location"),
        "form": typed(twins, written).headers.get("location"),
        "REST API": ask(twins, f"/api/handles/{written}").json().get("handle"),
        "Which RA": ask(twins, f"/doiRA/{written}").json(),
    }
    wrong = [f"{place}: {found[place]}" for place in expected if found[place] != expected[place]]
    assert not wrong, f"{written} is {name}, but {'; '.join(wrong)}"


@pytest.mark.parametrize("text", ["10.1000/50%off", "10.1000/50%%25off", "10.1000/50%"])
def test_a_percent_sign_that_begins_no_escape_stays_one(twins: str, text: str) -> None:
    """The clauses do not say what it means (S-33): the form reads it as ``DOI.parse`` does."""
    name = DOI.parse(text).name
    expected = ask(twins, f"/{encode(name, URI)}")
    page = typed(twins, text)
    assert (page.status, page.body) == (expected.status, expected.body), f"{text!r} is not {name!r}"


def test_escapes_in_the_form_that_are_not_utf_8_are_refused(url: str) -> None:
    status = typed(url, "10.1000/%FF").status
    assert status == 400, f"10.1000/%FF in the form has the answer {status}"


def test_front_page_without_a_name(url: str) -> None:
    assert ask(url, "/", "POST", b"hdl=").status == 200
    assert 'name="hdl"' in ask(url, "/").text


def test_random_choice_follows_the_weights(doi_proxy: Proxies) -> None:
    """Of several locations the proxy selects one (P-13)."""
    xml = (
        '<locations><location href="https://example.org/a" weight="3"/>'
        '<location href="https://example.org/b" weight="1"/>'
        '<location href="https://example.org/c" weight="0"/></locations>'
    )
    proxy = doi_proxy([loc("10.1000/x", xml)], pick=Random(7))
    seen = [ask(proxy.url, "/10.1000/x").headers["location"][-1] for _ in range(100)]
    assert 60 <= seen.count("a") <= 90
    assert_times(0, "c", seen)


def test_link_header_stays_short_and_clean(doi_proxy: Proxies) -> None:
    evil = '<location href="https://example.org/&quot;&gt;x" rel="a&quot;b"/>'
    many = "".join(f'<location href="https://example.org/{n}" rel="item"/>' for n in range(1000))
    proxy = doi_proxy([loc("10.1000/x", f"<locations>{evil}{many}</locations>")])
    header = ask(proxy.url, "/10.1000/x").headers["link"]
    assert 4096 - len(', <https://example.org/99>; rel="item"') < len(header) <= 4096
    assert header.startswith('<https://example.org/0>; rel="item", <https://example.org/1>')


# What the attributes of a location may have, which is not ours
odd_texts = st.sampled_from(
    [
        "",
        "item",
        "a b",
        'a"b',
        "a\\b",
        "a\nb",
        "a\x7fb",
        "é",
        "🙂",
        "a; x=y",
        'x", <https://evil.example/>',
    ]
)


@given(rel=odd_texts, media_type=odd_texts, kind=odd_texts)
def test_a_link_says_what_a_header_can_say_of_a_location(
    rel: str, media_type: str, kind: str
) -> None:
    """RFC 8288 §3: a link with its parameters; what would need an escape is left out."""
    said = {"href": "https://example.org/a", "rel": rel, "media-type": media_type, "type": kind}
    xml = " ".join(f"{name}={quoteattr(text)}" for name, text in said.items())
    records = Records([loc("10.1000/x", f"<locations><location {xml}/></locations>")])

    response = doiuri_proxy.answer(records, "GET", "/10.1000/x")

    header = dict(response.headers).get("Link", "")
    assert header.isascii(), f"{said}: {header!r}"
    assert header.isprintable(), f"{said}: {header!r}"
    parameters = r'(; rel="[^"\\\\]+")(; type="[^"\\\\]+")?'
    is_link = re.fullmatch(f"<https://example.org/a>{parameters}", header)
    assert header == "" or is_link, f"{said}: {header!r}"
    assert ("rel" in header) is (rel in {"item", "a b", "a; x=y"}), f"{said}: {header!r}"


def test_the_page_of_a_redirect_keeps_to_its_text(doi_proxy: Proxies) -> None:
    """It is rendered once: what it is filled with is escaped, and no request sees another's."""
    hrefs = [
        "https://example.org/?a=1&b='%22%ef%bf%bc'",
        "https://example.org/{0}%s%%",
        "https://example.org/",
    ]
    proxy = doi_proxy([link(f"10.1000/{number}", href) for number, href in enumerate(hrefs)])
    for number in (0, 1, 2, 0):
        answer = ask(proxy.url, f"/10.1000/{number}")
        target = answer.headers["location"]
        written = html.escape(target).replace("&#x27;", "&#39;")
        assert (
            f'<p>This DOI leads to <a href="{written}">{written}</a>.</p>'.encode() in answer.body
        ), number
