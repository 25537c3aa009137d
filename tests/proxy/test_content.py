"""Content negotiation: metadata from the records, the redirect for those who prefer a page, else 406."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from doiuri.resolver import Resolver
from doiuri.rest import BIBTEX, CSL_JSON
from doiuri_proxy import running
from doiuri_proxy.pytest_plugin import Proxies
from support.http import Answer, ask
from support.proxy_records import alias, link, loc
from support.servers import web
from support.servers.metadata import metadata_proxy

URL = "https://example.org/cited"
CSL = {"type": "book", "title": "Ä <b>", "author": [{"family": "Kahn", "given": "R."}]}
APA = "text/x-bibliography; style=apa"
IEEE = "text/x-bibliography;style=ieee; locale=de-DE"
METADATA = {
    CSL_JSON: CSL,
    BIBTEX: "@book{a, title={Ä}}",
    APA: "Kahn, R. (n.d.). Ä.",
    IEEE: "R. Kahn, Ä.",
}
CITED = {**link("10.1000/Cited", URL, ttl=60), "metadata": METADATA}
XML = '<locations><location href="https://example.org/rdf" http_role="conneg" ctype="text/turtle"/></locations>'
RECORDS: list[Any] = [
    CITED,
    link("10.1000/plain", "https://example.org/plain"),
    alias("10.1000/alias", "10.1000/cited"),
    {**loc("10.1000/both", XML), "metadata": {BIBTEX: "@misc{both}"}},
    loc("10.1000/loc", XML),
]


def bibliography(style: str, locale: str) -> str:
    """The media type that asks for a formatted reference."""
    return f"text/x-bibliography; style={style}; locale={locale}"


@pytest.fixture(scope="module")
def here() -> Iterator[str]:
    """The URL of a proxy with RECORDS."""
    with running(RECORDS) as proxy:
        yield proxy.url


def accepting(url: str, accept: str, path: str = "/10.1000/cited", method: str = "GET") -> Answer:
    return ask(url, path, method, headers={"Accept": accept})


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (CSL_JSON, CSL_JSON),
        (CSL_JSON.upper(), CSL_JSON),
        (f"{CSL_JSON}, {BIBTEX}", CSL_JSON),
        (f"{CSL_JSON}, */*;q=0.1", CSL_JSON),
        (f"{CSL_JSON}, */*", CSL_JSON),
        (f"{CSL_JSON};q=0.5, {BIBTEX};q=0.9", BIBTEX),
        (f"{BIBTEX}, text/html;q=0.9", BIBTEX),
        (f"{BIBTEX}, application/xhtml+xml;q=0.5", BIBTEX),
        (f"application/rdf+xml, {BIBTEX};q=0.1", BIBTEX),
        ("text/x-bibliography", APA),
        ("text/x-bibliography; locale=de-DE", APA),
        (bibliography("apa", "de-DE"), APA),
        (bibliography("ieee", "de-DE"), IEEE),
        ('text/x-bibliography; style="ieee"; locale=de-DE', IEEE),
        ("text/x-bibliography; STYLE=IEEE; locale=de-DE", IEEE),
        *((accept, 302) for accept in ("*/*", "text/html", "image/png, */*;q=0.1", "", "nonsense")),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", 302),
        (f"text/html, {CSL_JSON};q=0.9", 302),
        (f"text/html, {CSL_JSON}", 302),
        (f"*/*, {CSL_JSON};q=0.5", 302),
        ("application/rdf+xml, text/html;q=0.1", 302),
        (f"application/pdf, text/html;q=0.5, {BIBTEX};q=0.4", 302),
        ("application/rdf+xml", 406),
        (bibliography("nature", "en-US"), 406),
        (bibliography("ieee", "en-US"), 406),
        (f"{CSL_JSON};q=0", 406),
        ("text/html;q=0", 406),
    ],
)
def test_metadata_or_the_page_or_what_there_is(here: str, accept: str, expected: str | int) -> None:
    """A parameter that the client leaves out does not matter, nor one that the records leave out."""
    answer = accepting(here, accept)
    assert (answer.status, answer.headers["vary"]) == (
        200 if isinstance(expected, str) else expected,
        "Accept",
    )
    if expected == 302:
        assert answer.headers["location"] == URL
    elif expected == 406:
        assert "10.1000/cited" in answer.text
        assert all(f"<code>{name}</code>" in answer.text for name in METADATA)
    elif expected == CSL_JSON:
        assert (answer.headers["content-type"], answer.json()) == (CSL_JSON, CSL)
    else:
        kind = BIBTEX if expected == BIBTEX else "text/x-bibliography;charset=utf-8"
        assert (answer.headers["content-type"], answer.text) == (kind, METADATA[str(expected)])


def test_scripts_may_read_metadata_that_runs_none_itself(here: str) -> None:
    headers = accepting(here, BIBTEX).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["access-control-allow-origin"] == "*"
    assert "default-src 'none'" in headers["content-security-policy"]


def test_without_an_accept_header_the_answer_is_a_redirect(here: str) -> None:
    answer = ask(here, "/10.1000/cited")
    assert (answer.status, answer.headers["vary"]) == (302, "Accept")


@pytest.mark.parametrize("accept", [CSL_JSON, BIBTEX, bibliography("apa", "en-US")])
def test_records_without_metadata(here: str, accept: str) -> None:
    """A redirect would send the client, and an offline build, to a web page that it cannot use."""
    answer = accepting(here, accept, "/10.1000/plain")
    assert (answer.status, answer.headers["vary"]) == (406, "Accept")
    assert "10.1000/plain</bdi> has no metadata here" in answer.text
    assert accepting(here, accept, "/10.1000/none").status == 404


@pytest.mark.parametrize(
    "accept", ["application/rdf+xml", "application/json", "*/*", f"text/html, {CSL_JSON}"]
)
def test_records_without_metadata_redirect_as_before(here: str, accept: str) -> None:
    answer = accepting(here, accept, "/10.1000/plain")
    assert (answer.status, answer.headers["vary"]) == (302, "Accept")


def test_aliases_come_first(here: str) -> None:
    answer = accepting(here, CSL_JSON, "/10.1000/alias")
    assert (answer.status, answer.headers["location"]) == (301, "/10.1000/cited")


@pytest.mark.parametrize(("path", "status"), [("/10.1000/both", 200), ("/10.1000/loc", 302)])
def test_locations_that_negotiate_keep_what_metadata_lacks(
    here: str, path: str, status: int
) -> None:
    assert accepting(here, BIBTEX, path).status == status
    answer = accepting(here, "text/turtle", path)
    assert (answer.status, answer.headers["location"]) == (302, "https://example.org/rdf")
    assert answer.headers["vary"] == "Accept"


@pytest.mark.parametrize("query", ["noredirect", "action=showurls", "type=URL", "index=1", "auth"])
def test_questions_about_the_record_are_not_negotiated(here: str, query: str) -> None:
    assert (b"@book" in accepting(here, BIBTEX, f"/10.1000/cited?{query}").body) == (
        query == "auth"
    )


def test_a_resolver_reads_them(here: str) -> None:
    with Resolver(here, store=None) as resolver:
        assert resolver.work("10.1000/cited").authors[0].family == "Kahn"
        assert resolver.bibtex("10.1000/cited") == METADATA[BIBTEX]
        assert (
            resolver.metadata("10.1000/cited", bibliography("apa", "en-US")).text
            == "Kahn, R. (n.d.). Ä."
        )
        outcomes = resolver.works(["10.1000/plain", "10.1000/none"])
        assert [outcome.status for outcome in outcomes] == ["no-values", "not-found"]


def test_what_upstream_sends_is_of_its_own_type(doi_proxy: Proxies) -> None:
    """A header may name several types: a page must not be kept as BibTeX, nor CSL-JSON."""
    metadata = metadata_proxy(
        [{"handle": "10.1000/csl", "metadata": {CSL_JSON: CSL}}, {"handle": "10.1000/page"}]
    )

    def metadata_or_page(asked: web.Asked) -> web.Answer:
        if asked.target == "/10.1000/page":
            return web.Answer(200, {"Content-Type": "text/html"}, b"<html>")
        return metadata(asked)

    with web.site(metadata_or_page) as there:
        proxy = doi_proxy([], upstream=there.url, cache=":memory:")
        csl = accepting(proxy.url, f"{BIBTEX}, {CSL_JSON};q=0.5", "/10.1000/csl")
        assert (csl.headers["content-type"], csl.json()) == (CSL_JSON, CSL)
        for others in ("text/html;q=0.5", "*/*;q=0.1"):
            answer = accepting(proxy.url, f"{BIBTEX}, {others}", "/10.1000/page")
            assert (answer.status, answer.headers["location"]) == (302, "https://example.org/"), (
                others
            )


def test_upstream_is_asked_for_what_is_not_here(tmp_path: Path, doi_proxy: Proxies) -> None:
    mine = {**link("10.1000/mine", URL), "metadata": {BIBTEX: "@misc{mine}"}}
    there = doi_proxy(RECORDS)
    proxy = doi_proxy([mine], upstream=there.url, cache=str(tmp_path / "cache.sqlite3"))
    assert accepting(proxy.url, BIBTEX, "/10.1000/mine").text == "@misc{mine}"
    for _ in range(2):
        assert accepting(proxy.url, bibliography("apa", "de-DE")).text == "Kahn, R. (n.d.). Ä."
        assert accepting(proxy.url, bibliography("nature", "en-US")).status == 406
    assert accepting(proxy.url, CSL_JSON, "/10.1000/plain").status == 406
    assert accepting(proxy.url, CSL_JSON, "/10.1000/none").status == 404
    assert ask(proxy.url, "/10.1000/cited").headers["location"] == URL
    asked = [
        request.headers.get("accept") for request in there.log if request.path == b"/10.1000/cited"
    ]
    assert asked == [bibliography("apa", "de-DE"), bibliography("nature", "en-US")]
