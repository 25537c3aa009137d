"""A definite "no" needs proof from now; the same question has the same answer in every situation."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from doiuri import DOI, Record
from doiuri.resolver import Entry, Key, LockFile, MemoryStore, Outcome, Reply, Request, Resolver
from doiuri.rest import BIBTEX, CSL_JSON
from doiuri_proxy import running
from support.proxy_records import value
from support.servers.faults import record
from support.servers.web import record as registered
from support.store_contract import Kept

Ask = Callable[[Resolver, list[str]], Iterator[Outcome]]

BASE = "https://doi.org"
NAME = DOI("10.1000/182")
WORK = {"type": "book", "title": "A book"}
OLD = Entry(json.dumps({"title": "An old book"}).encode(), CSL_JSON, time.time() - 1)

PAGE = b"<!doctype html><title>Log in</title>"
PORTALS = {
    "a page": (200, PAGE),
    "404": (404, PAGE),
    "406": (406, b""),
    "204": (204, b""),
}


class Server:
    """A transport that answers requests for records and for metadata.

    :param elsewhere: whether metadata come from another server, after a redirect.
    """

    def __init__(
        self, records: Reply | None, metadata: Reply | Mapping[str, Any], *, elsewhere: bool = False
    ) -> None:
        self.records = records
        self.metadata = metadata
        self.elsewhere = elsewhere
        self.asked: list[str] = []

    def get(self, request: Request) -> Reply:
        self.asked.append(request.url)
        if "/api/handles/" in request.url:
            if self.records is None:
                return Reply(200, {}, record(NAME.name), request.url)
            return self.records
        reply = self.metadata
        if not isinstance(reply, Reply):
            reply = Reply(200, {"Content-Type": CSL_JSON}, json.dumps(reply).encode(), request.url)
        url = "https://portal.example/" if self.elsewhere else request.url
        return Reply(reply.status, reply.headers, reply.body, url)

    def resolver(self, store: Any) -> Resolver:
        return Resolver(BASE, store=store, transport=self, rate=None)


def says(status: int, body: bytes) -> Reply:
    return Reply(status, {"Content-Type": "text/html"}, body, BASE)


def stored(*, work: Entry | None = None, record_is_fresh: bool = True) -> Kept:
    """A store with the record of the DOI, and perhaps its work."""
    store = Kept()
    expires = time.time() + (3600 if record_is_fresh else -1)
    store.put_many(
        {Key("record", BASE, NAME.key): Entry(record(NAME.name), "application/json", expires)}
    )
    if work is not None:
        store.put_many({Key("work", BASE, NAME.key): work})
    return store


@pytest.mark.parametrize("elsewhere", [False, True], ids=["no redirect", "a redirect"])
@pytest.mark.parametrize("fresh", [True, False], ids=["a fresh record", "a stale record"])
@pytest.mark.parametrize("portal", PORTALS.values(), ids=PORTALS)
def test_what_answers_every_request_proves_no_lack_of_metadata(
    portal: tuple[int, bytes], fresh: bool, elsewhere: bool
) -> None:
    server = Server(says(*portal), says(*portal), elsewhere=elsewhere)
    store = stored(record_is_fresh=fresh)
    before = dict(store)

    (outcome,) = server.resolver(store).works([NAME])

    assert outcome.status == "unknown"
    assert outcome.cause is not None
    assert dict(store) == before, "nothing was learned"


@pytest.mark.parametrize("portal", PORTALS.values(), ids=PORTALS)
def test_a_stale_work_beats_what_answers_every_request(portal: tuple[int, bytes]) -> None:
    server = Server(says(*portal), says(*portal))
    store = stored(work=OLD)

    (outcome,) = server.resolver(store).works([NAME])

    assert (outcome.status, outcome.stale) == ("found", True)
    assert outcome.work is not None
    assert outcome.work.title == "An old book"
    assert outcome.cause is not None, "a stale outcome says why"
    assert store[Key("work", BASE, NAME.key)] == OLD


@pytest.mark.parametrize("portal", PORTALS.values(), ids=PORTALS)
def test_a_record_that_is_requested_afterwards_proves_it(portal: tuple[int, bytes]) -> None:
    server = Server(None, says(*portal), elsewhere=True)
    store = stored(work=OLD)

    (outcome,) = server.resolver(store).works([NAME])

    assert outcome.status == "no-values"
    assert [url.partition(BASE)[2] for url in server.asked] == [
        "/10.1000/182",
        "/api/handles/10.1000/182",
    ]
    assert store[Key("work", BASE, NAME.key)].says_none


ODD_CLOCKS = {"a year": 365 * 86400.0, "a day and an hour": 90_000.0}


@pytest.mark.parametrize("ahead", ODD_CLOCKS.values(), ids=ODD_CLOCKS)
@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("record", b'{"responseCode":100,"handle":"10.1000/182"}'),
        ("record", b'{"responseCode":200,"handle":"10.1000/182","values":[]}'),
        ("work", b"null"),
    ],
    ids=["not found", "no values", "no metadata"],
)
def test_a_no_from_a_clock_that_was_ahead_is_stale(kind: str, body: bytes, ahead: float) -> None:
    store = Kept()
    store.put_many(
        {Key(kind, BASE, NAME.key): Entry(body, "application/json", time.time() + ahead)}
    )
    resolver = Server(None, WORK).resolver(store)

    assert [outcome.status for outcome in resolver.works([NAME])] == ["found"]
    assert [outcome.status for outcome in resolver.resolve_many([NAME])] == ["found"]


@pytest.mark.parametrize("ahead", ODD_CLOCKS.values(), ids=ODD_CLOCKS)
def test_a_record_that_would_be_fresh_for_longer_than_a_day_is_stale(ahead: float) -> None:
    """Its values may have changed 24 hours ago (P-25)."""
    old = Record.from_json(record(NAME.name, value("URL", "https://example.org/old"))).to_json()
    store = Kept()
    key = Key("record", BASE, NAME.key)
    store.put_many({key: Entry(old.encode(), "application/json", time.time() + ahead)})
    server = Server(None, WORK)

    url = server.resolver(store).resolve(NAME).url

    assert server.asked, f"an entry that is fresh for {ahead} s was not requested again: {url}"


NAMING: dict[str, tuple[str, str]] = {
    "CSL-JSON": (CSL_JSON, '{{"type": "book", "title": "A book", "DOI": "{}"}}'),
    "BibTeX": (BIBTEX, "@book{{a, title = {{A book}}, DOI = {{{}}}}}"),
    "BibTeX with a link": (f"{BIBTEX}; charset=utf-8", '@book{{a, doi="https://doi.org/{}"}}'),
}
METADATA: dict[str, Ask] = {
    CSL_JSON: lambda resolver, names: resolver.metadata_many(names, CSL_JSON),
    BIBTEX: lambda resolver, names: resolver.metadata_many(names, BIBTEX),
    "works": Resolver.works,
    "bibtex_many": Resolver.bibtex_many,
}
ASKING = [
    *((CSL_JSON, "CSL-JSON"), ("works", "CSL-JSON"), (BIBTEX, "BibTeX"), ("bibtex_many", "BibTeX")),
    *((BIBTEX, "BibTeX with a link"), ("bibtex_many", "BibTeX with a link")),
]


class Aliased(Server):
    """The name is an alias of 10.1000/OTHER."""

    def get(self, request: Request) -> Reply:
        reply = super().get(request)
        if "/api/handles/" not in request.url:
            return reply
        if request.url.endswith("OTHER"):
            return Reply(200, {}, record("10.1000/OTHER"), BASE)
        return Reply(200, {}, record(NAME.name, value("HS_ALIAS", "10.1000/OTHER")), BASE)


@pytest.mark.parametrize(("what", "form"), ASKING)
def test_metadata_of_another_doi_are_refused_unless_the_record_explains_them(
    what: str, form: str
) -> None:
    media_type, template = NAMING[form]

    def naming(name: str) -> Reply:
        return Reply(200, {"Content-Type": media_type}, template.format(name).encode(), BASE)

    unexplained = Server(None, naming("10.1000/other"))
    same = Server(None, naming(NAME.name))
    (wrong,) = METADATA[what](unexplained.resolver(None), [NAME.name])
    (right,) = METADATA[what](Aliased(None, naming("10.1000/other")).resolver(None), [NAME.name])
    (plain,) = METADATA[what](same.resolver(None), [NAME.name])

    assert (wrong.status, wrong.reason) == ("unknown", "doi.org sent the metadata of 10.1000/other")
    assert len(unexplained.asked) == 2
    assert right.status == "found"
    assert plain.status == "found"
    assert len(same.asked) == 1, "the record is only requested if the names differ"


def test_an_unforeseen_error_about_one_name_ends_no_batch() -> None:
    class Odd(Server):
        def get(self, request: Request) -> Reply:
            if request.url.endswith("/odd"):
                raise RuntimeError("http://user:secret@proxy.example")
            return Reply(200, {}, record(request.url.partition("/api/handles/")[2]), request.url)

    names = ["10.1000/a", "10.1000/odd", "10.1000/b"]
    outcomes = list(Odd(None, WORK).resolver(None).resolve_many(names))

    assert [outcome.status for outcome in outcomes] == ["found", "unknown", "found"]
    assert outcomes[1].reason == "unforeseen RuntimeError"


def test_an_exit_in_a_thread_ends_the_batch() -> None:
    """Else the caller would wait for ever for the answer."""

    class Exiting(Server):
        def get(self, request: Request) -> Reply:
            raise SystemExit(request.url)

    with pytest.raises(SystemExit, match=NAME.name):
        list(Exiting(None, WORK).resolver(None).resolve_many([NAME]))


def test_an_error_of_the_callers_callback_ends_the_call() -> None:
    def fail(_reply: object) -> None:
        raise ZeroDivisionError

    resolver = Resolver(BASE, store=None, transport=Server(None, WORK), rate=None, on_reply=fail)
    with pytest.raises(ZeroDivisionError):
        list(resolver.resolve_many([NAME]))


@pytest.mark.parametrize("charset", ["a\x00b", "hex", "rot13", "idna", "unicode_escape", "x" * 999])
def test_a_charset_that_is_none_ends_no_batch(charset: str) -> None:
    body = "@book{a, title = {\xfc}}".encode("latin-1")
    reply = Reply(200, {"Content-Type": f"{BIBTEX};charset={charset}"}, body, BASE)

    (outcome,) = Server(None, reply).resolver(None).bibtex_many([NAME])

    assert outcome.metadata is not None
    assert outcome.metadata.text == "@book{a, title = {\xfc}}"


# Each situation of a name, with its statuses: whether it exists, its record, its work

ALIAS = {"index": 1, "type": "HS_ALIAS", "data": {"format": "string"}}


def alias(name: str, target: str) -> dict[str, Any]:
    data = {"format": "string", "value": target}
    return {"handle": name, "values": [ALIAS | {"data": data}]}


RECORDS: list[dict[str, Any]] = [
    registered("10.1000/found", "https://example.org/") | {"metadata": {CSL_JSON: WORK}},
    registered("10.1000/bare", "https://example.org/"),
    {"handle": "10.1000/empty", "values": []},
    alias("10.1000/alias", "10.1000/found"),
    alias("10.1000/to-dead", "10.1000/dead"),
    alias("10.1000/loop", "10.1000/loop2"),
    alias("10.1000/loop2", "10.1000/loop"),
    alias("10/abc", "10.1000/found"),
]
NAMES = {
    "10.1000/found": "found",
    "https://doi.org/10.1000/FOUND": "found",
    "10.1000/bare": "found",
    "10.1000/empty": "found",
    "10.1000/alias": "found",
    "10.1000/to-dead": "found",
    "10.1000/loop": "found",
    "doi:10/abc": "found",
    "10/abd": "not-found",
    "10.1000/dead": "not-found",
    "10.1000": "invalid",
    "10.1016": "invalid",
    "doi:10.1016": "invalid",
    "10.1000/": "invalid",
    "10.1000/a\nb": "invalid",
    "": "invalid",
}
FILLERS = [registered(f"10.1000/filler{number}", "https://example.org/") for number in range(20)]

ASKS: dict[str, Ask] = {
    "check": Resolver.check,
    "batch": lambda resolver, names: resolver.check(names, batch=True),
    "agencies": Resolver.agencies,
    "resolve_many": Resolver.resolve_many,
    "works": Resolver.works,
    "bibtex_many": Resolver.bibtex_many,
    "metadata_many": lambda resolver, names: resolver.metadata_many(names, CSL_JSON),
}


@pytest.fixture(scope="module")
def urls() -> Iterator[dict[str, str]]:
    """The URLs of a registry, and of a proxy that asks it."""
    known = {"records": [*RECORDS, *FILLERS], "agencies": {"10.1000": "Crossref"}}
    with running(known) as registry, running(upstream=registry.url, cache=":memory:") as proxy:
        yield {"asked": registry.url, "proxied": proxy.url}


def status(outcome: Outcome) -> str:
    """What an outcome says; with a text that is no DOI also why not."""
    return outcome.reason if outcome.status == "invalid" else outcome.status


@pytest.mark.parametrize("what", ASKS)
def test_a_name_has_the_same_status_in_every_situation(
    what: str, urls: dict[str, str], tmp_path: Path
) -> None:
    ask = ASKS[what]

    def asked(names: list[str], url: str = urls["asked"], store: Any = None) -> list[str]:
        resolver = Resolver(url, store=store, rate=None)
        return [status(outcome) for outcome in ask(resolver, names)]

    names = [*NAMES]
    fillers = [str(filler["handle"]) for filler in FILLERS]
    alone = [asked([name])[0] for name in names]
    cache = MemoryStore()
    lock = LockFile(tmp_path / "doi.lock")
    twice = [
        asked(names, store=cache),
        asked(names, store=cache),
        asked([*reversed(names)], store=cache)[::-1],
    ]
    proxied = asked(names, urls["proxied"])
    proxied_again = asked(names, urls["proxied"])
    asked(names, store=lock)
    locked = asked(names, store=LockFile(lock.path))
    many = asked([*fillers, *names, *fillers])[20:-20]

    for situation in (*twice, proxied, proxied_again, locked, many):
        assert dict(zip(names, situation, strict=True)) == dict(zip(names, alone, strict=True))
    if what == "check":
        for name, said in zip(names, alone, strict=True):
            assert said == NAMES[name] or NAMES[name] == "invalid", name
