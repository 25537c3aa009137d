"""Works, BibTeX and formatted references: a DOI proxy that redirects to an agency, over real sockets."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from doiuri import DOI, BadRecord, DOINotFound, NoValues, ResolutionError, ResolverUnavailable
from doiuri.resolver import Entry, Key, Metadata, Resolver, SQLiteStore, Store

# Private: a work of the real limit takes long to send
from doiuri.resolver.questions import _content
from doiuri.rest import CSL_JSON
from doiuri.works import Work
from support.servers.faults import Server, reply, serving
from support.servers.rest import header, proxy, targets
from support.store_contract import Kept

KAHN = DOI("10.1000/Kahn <1>#a;b")
CSL = {
    "title": "A <i>framework</i>",
    "author": [{"family": "Kahn"}],
    "issued": {"date-parts": [[2006]]},
}
BODY = json.dumps(CSL).encode()


@dataclass
class Agency:
    """What the agency answers, and the two servers."""

    answer: bytes
    proxy: Server
    server: Server

    def resolver(self, store: Store | None = None, **options: object) -> Resolver:
        return Resolver(self.proxy.url, store=store, private=True, **options)  # type: ignore[arg-type]

    @property
    def requests(self) -> int:
        return len(self.proxy.requests) + len(self.server.requests)


@contextmanager
def agency(answer: bytes, known: Callable[[str], bool] = lambda _name: True) -> Iterator[Agency]:
    """A proxy that redirects to an agency; names that are not ``known`` do not exist."""

    def redirect(server: Server, connection: socket.socket, request: bytes) -> None:
        target = request.split(b" ")[1].decode()
        name = target.removeprefix("/api/handles/")
        if name != target:
            handle = proxy() if known(name) else proxy({})
            connection.sendall(handle(target))
        elif known(target):
            to = f"Location: {both.server.url}/agency{target}"
            connection.sendall(reply("302 Found", b"", to))
        else:
            connection.sendall(reply("404 Not Found", b"<html>", kind="text/html"))

    with serving(lambda _s, c, _r: c.sendall(both.answer)) as other, serving(redirect) as first:
        both = Agency(answer, first, other)
        yield both


def csl(body: bytes = BODY) -> bytes:
    return reply("200 OK", body, kind=CSL_JSON)


def text(body: str, kind: str = "application/x-bibtex") -> bytes:
    return reply("200 OK", body.encode(), kind=kind)


def test_a_work_costs_two_requests_and_none_when_it_is_known(tmp_path: Path) -> None:
    with agency(csl()) as both, closing(SQLiteStore(tmp_path / "store.sqlite3")) as store:
        resolver = both.resolver(store)
        assert resolver.work(KAHN) == Work(KAHN, CSL)
        assert both.requests == 2
        assert targets(both.proxy) == ["/10.1000/Kahn%20%3C1%3E%23a;b"]
        assert {header(r, "Accept") for r in both.proxy.requests + both.server.requests} == {
            CSL_JSON
        }
        assert resolver.work("doi:10.1000/KAHN%20%3C1%3E%23A;B").title == "A framework"
        (outcome,) = resolver.works([KAHN])
        assert (outcome.status, outcome.work, outcome.stale) == ("found", Work(KAHN, CSL), False)
        assert Resolver(both.proxy.url, store=store, offline=True).work(KAHN).year == 2006
        assert both.requests == 2


def test_bibtex() -> None:
    cleaned = "@article{Kahn,\n\ttitle={5\xa0km}}"
    with agency(text("\n@article{Kahn,\r\n\ttitle={5\xa0km}\x00\x1b}\n")) as both:
        resolver = both.resolver(Kept())
        assert resolver.bibtex(KAHN) == resolver.bibtex(KAHN) == cleaned
        (outcome,) = both.resolver().bibtex_many([KAHN])
        assert outcome.metadata == Metadata(cleaned.encode(), "application/x-bibtex")
        assert both.requests == 4
        assert both.resolver().metadata(KAHN, "application/x-bibtex").text.startswith("\n@article")


@pytest.mark.parametrize(
    ("encoding", "parameter"),
    [
        ("utf-8", ""),
        ("latin-1", ";charset=ISO-8859-1"),
        ("utf-8", ";charset=ISO-8859-1"),
        ("latin-1", ";charset=nonsense"),
        ("latin-1", ""),
        *(
            ("cp1252", parameter)
            for parameter in ("", ";charset=ISO-8859-1", ";charset=windows-1252", ";charset=utf-8")
        ),
    ],
)
def test_character_sets(encoding: str, parameter: str) -> None:
    entry = "@a{Müller}"
    if encoding == "cp1252":
        entry = "@a{Müller’s “Übung”… pp. 1–25}"
    answer = reply("200 OK", entry.encode(encoding), kind=f"application/x-bibtex{parameter}")
    with agency(answer) as both:
        assert both.resolver().bibtex(KAHN) == entry


def test_text_of_windows_that_an_agency_read_as_latin_1_loses_no_character() -> None:
    title = "Müller’s “Übung” 1–25…"
    spoiled = title.encode("cp1252").decode("latin-1")
    with agency(reply("200 OK", f"@a{{{spoiled}}}".encode(), kind="application/x-bibtex")) as both:
        assert both.resolver().bibtex(KAHN) == f"@a{{{title}}}"


PAGE = b"\xef\xbb\xbf <!DOCTYPE html><html><title>Landing page</title></html>"
NOTHING = {
    "204": reply("204 No Content", b""),
    "404": reply("404 Not Found", b"Resource not found.", kind="text/plain"),
    "406": reply("406 Not Acceptable", b""),
    "a page": reply("200 OK", PAGE, kind="text/html"),
    "a page that says it is JSON": reply("200 OK", PAGE, kind=CSL_JSON),
    "a page in XHTML": reply(
        "200 OK", b"<?xml version='1.0'?><html/>", kind="application/xhtml+xml"
    ),
    "an empty object": csl(b"{}"),
    "codes for unknown text": csl(b'{"title":"(:unav)","author":[{"literal":":null"}]}'),
}
UNKNOWN: dict[str, tuple[bytes, type[ResolutionError]]] = {
    "429": (reply("429 Too Many Requests", b"", "Retry-After: 3600"), ResolverUnavailable),
    "403": (reply("403 Forbidden", PAGE, kind="text/html"), ResolverUnavailable),
    "500": (reply("500 Internal Server Error", b'{"status":"error"}'), ResolverUnavailable),
    "401": (reply("401 Unauthorized", b""), ResolverUnavailable),
    "a reset": (b"", ResolverUnavailable),
    "led into nothing": (
        reply("302 Found", b"", "Location: http://127.0.0.1:1/"),
        ResolverUnavailable,
    ),
    "led to a script": (
        reply("302 Found", b"", "Location: javascript:alert(1)"),
        ResolverUnavailable,
    ),
    "no body": (csl(b""), BadRecord),
    "a list": (csl(b"[]"), BadRecord),
    "half of it": (csl(BODY[:20]), BadRecord),
    "too deep": (csl(b"[" * 5000 + b"]" * 5000), BadRecord),
    "not UTF-8": (csl(b'{"title":"\xff"}'), BadRecord),
    "the sign-in of a hotel": (
        reply("200 OK", b'{"title": "Sign in to the hotel network"}', kind="application/json"),
        BadRecord,
    ),
    "a rate limit": (
        reply("200 OK", b'{"message": "rate limit"}', kind="application/json"),
        BadRecord,
    ),
    "a status of no type": (
        reply("200 OK", b'{"type": "error", "title": "x"}', kind=""),
        BadRecord,
    ),
}


def statuses(resolver: Resolver) -> set[str]:
    return {outcome.status for outcome in resolver.works([KAHN])}


@pytest.mark.parametrize("answer", NOTHING.values(), ids=NOTHING)
def test_an_agency_without_metadata_is_a_definite_answer(answer: bytes) -> None:
    with agency(answer) as both:
        store = Kept()
        for _ in range(2):
            with pytest.raises(NoValues):
                both.resolver(store).work(KAHN)
            assert statuses(both.resolver(store)) == {"no-values"}
        assert both.requests == 3  # one for the record: only a DOI that exists can have no metadata
        assert statuses(both.resolver()) == {"no-values"}


def test_a_captive_portal_says_nothing_about_metadata() -> None:
    page = reply("200 OK", b"<!doctype html><title>Log in</title>", kind="text/html")
    with serving(lambda _s, connection, _r: connection.sendall(page)) as portal:
        store = Kept()
        resolver = Resolver(portal.url, store=store)
        assert statuses(resolver) == {"unknown"}
        assert not store


@pytest.mark.parametrize(("answer", "error"), UNKNOWN.values(), ids=UNKNOWN)
def test_any_other_failure_is_unknown_and_not_stored_and_a_stale_work_serves(
    answer: bytes, error: type[ResolutionError]
) -> None:
    with agency(answer) as both:
        store = Kept()
        with pytest.raises(error):
            both.resolver(store).work(KAHN)
        assert (statuses(both.resolver(store)), len(store)) == ({"unknown"}, 0)
        key = Key("work", both.proxy.url, KAHN.key)
        store.put_many({key: Entry(BODY, CSL_JSON, time.time() - 1)})
        assert both.resolver(store).work(KAHN) == Work(KAHN, CSL)
        (outcome,) = both.resolver(store).works([KAHN])
        assert (outcome.status, outcome.work, outcome.stale) == ("found", Work(KAHN, CSL), True)
        assert both.requests >= 2
        both.answer = NOTHING["406"]
        assert statuses(both.resolver(store)) == {"no-values"}, (
            "a definite answer overrules a stale one"
        )
        store.put_many({key: Entry(b"null", "application/json", time.time() - 1)})
        both.answer = answer
        with pytest.raises(error):
            both.resolver(store).work(KAHN)


@pytest.mark.parametrize(
    ("kind", "item", "is_csl"),
    [
        (CSL_JSON, {"title": "A"}, True),
        ("application/citeproc+json; charset=utf-8", {"title": "A"}, True),
        ("Application/CiteProc+JSON ;Charset=UTF-8", {"title": "A"}, True),
        (CSL_JSON.upper(), {"title": "A"}, True),
        ("application/json", {"title": "A", "DOI": KAHN.name}, True),
        ("text/plain", {"title": "A", "type": "journal-article"}, True),
        ("", [{"title": "A", "type": "book"}], True),
        ("application/json", {"title": "A"}, False),
        ("application/json", {"title": "A", "type": "error"}, False),
        ("", ["A"], False),
    ],
)
def test_json_is_csl_json_if_its_media_type_or_its_content_says_so(
    kind: str, item: object, is_csl: bool
) -> None:
    with agency(text(json.dumps(item), kind)) as both:
        outcomes = [
            *both.resolver().works([KAHN]),
            *both.resolver().metadata_many([KAHN], CSL_JSON),
        ]

    expected = "found" if is_csl else "unknown"
    assert [outcome.status for outcome in outcomes] == [expected] * 2


def test_a_name_that_does_not_exist_is_not_found_and_costs_no_second_request() -> None:
    with agency(csl(), lambda _target: False) as both:
        store = Kept()
        for _ in range(2):
            with pytest.raises(DOINotFound):
                both.resolver(store).work(KAHN)
            assert statuses(both.resolver(store)) == {"not-found"}
            with pytest.raises(DOINotFound):
                both.resolver(store).bibtex(KAHN)
        assert targets(both.proxy) == [
            "/10.1000/Kahn%20%3C1%3E%23a;b",
            "/api/handles/10.1000/Kahn%20%3C1%3E%23a%3Bb",
        ]


@pytest.mark.parametrize("body", ["{}", "TY  - JOUR"], ids=lambda body: body[:2])
def test_answers_that_are_not_bibtex_raise_bad_record(body: str) -> None:
    with agency(text(body, "application/x-bibtex")) as both, pytest.raises(BadRecord):
        both.resolver().bibtex(KAHN)


@pytest.mark.parametrize("length", [999_999, 1_000_000, 1_000_001])
def test_bibtex_may_have_a_million_characters(length: int) -> None:
    body = "@misc{a}".ljust(length, "x")
    with agency(text(body, "application/x-bibtex")) as both:
        (outcome,) = both.resolver().bibtex_many([KAHN])

    expected = "found" if length <= 1_000_000 else "unknown"
    assert outcome.status == expected, f"{length} characters: {outcome.reason}"


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_metadata_may_be_as_long_as_the_limit(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_content, "MAX_SIZE", 1000)
    with agency(text("x" * (1000 + more), "text/plain")) as both:
        (outcome,) = both.resolver().metadata_many([KAHN], "text/plain")

    expected = "found" if more <= 0 else "unknown"
    assert outcome.status == expected, f"{1000 + more} bytes of 1000: {outcome.reason}"


def test_the_reduced_form_is_kept_and_a_damaged_one_is_asked_for_again() -> None:
    with agency(csl()) as both:
        store = Kept()
        both.resolver(store).work(KAHN)
        ((key, entry),) = store.items()
        assert key == Key("work", both.proxy.url, KAHN.key)
        assert json.loads(entry.body)["title"] == "A <i>framework</i>", (
            "what is kept is the reduced form"
        )
        for body in (b"\xff", b"[]", b"{", b""):
            store.put_many({key: Entry(body, CSL_JSON, time.time() + 60)})
            before = both.requests
            assert both.resolver(store).work(KAHN) == Work(KAHN, CSL), body
            assert both.requests == before + 2, body


def test_an_answer_of_sixteen_megabytes_is_refused() -> None:
    with (
        agency(csl(b'{"title":"%s"}' % (b"x" * 16_000_001))) as both,
        pytest.raises(ResolverUnavailable),
    ):
        both.resolver().work(KAHN)


@pytest.mark.parametrize("kind", ["application/json", ""], ids=repr)
def test_metadata_may_be_null_and_that_there_is_none_is_kept_for_a_day(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with agency(text("null", kind)) as both:
        resolver = both.resolver(Kept())
        assert [resolver.metadata(KAHN, "*/*").text for _ in range(2)] == ["null"] * 2
        both.answer = NOTHING["406"]
        before = both.requests
        for _ in range(2):
            with pytest.raises(NoValues):
                resolver.metadata(KAHN, "text/plain")
        assert both.requests == before + 3
        both.answer = text("now", "text/plain")
        tomorrow = time.time() + 86_401
        monkeypatch.setattr(time, "time", lambda: tomorrow)
        assert resolver.metadata(KAHN, "text/plain").text == "now"
