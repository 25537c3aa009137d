"""Entries of a store that we did not write: each counts as missing, and for its name only."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from doiuri import DOI
from doiuri.resolver import Entry, Key, LockFile, MemoryStore, Outcome, Resolver, SQLiteStore, Store
from support.servers.rest import handling, proxy, targets

A, B, C = DOIS = [DOI(f"10.1000/{letter}") for letter in "abc"]
AWAY = "http://resolver.invalid"
JSON = "application/json"
NEVER = 1e11


def stored(name: str, url: object = "https://example.org/", **members: object) -> bytes:
    value = {"index": 1, "type": "URL", "data": {"format": "string", "value": url}}
    return json.dumps(
        {"responseCode": 1, "handle": name, "values": [value], **members}, separators=(",", ":")
    ).encode()


BODIES = {
    "empty": b"",
    "not JSON": b"\x80\x04\x95\x00.",
    "cut off": stored("10.1000/b")[:60],
    "begins like a record": b'{"responseCode":1,',
    "null": b"null",
    "nested": b"[" * 100_000,
    "nested in a record": stored("10.1000/b").replace(b'"https', b"[" * 5000 + b'"https'),
    "not UTF-8": stored("10.1000/b").replace(b"https", b"\xff"),
    "another name": stored("10.1000/a"),
    "no name": b'{"responseCode":1,"values":[]}',
    "no values": b'{"responseCode":1,"handle":"10.1000/b"}',
    "values of other types": stored("10.1000/b", url=5),
    "a member twice": stored("10.1000/b").replace(b'"values"', b'"handle":"10.1000/b","values"', 1),
    "no number of JSON": stored("10.1000/b", more=float("nan")),
    "no code": stored("10.1000/b", responseCode=None),
    "the server failed": b'{"responseCode":2,"handle":"10.1000/b","message":"try later"}',
    "a wrong name": b'{"responseCode":102,"handle":"10.1000/b"}',
    "another name does not exist": b'{"responseCode":100,"handle":"10.1000/a"}',
    "whether another name exists": b'{"DOI":"10.1000/a","RA":"Crossref"}',
    "an agency that is no text": b'{"DOI":"10.1000/b","RA":["Crossref"]}',
    "no agency": b'{"DOI":"10.1000/b"}',
}


ASKS: dict[str, Callable[[Resolver], list[Outcome]]] = {
    "resolve_many": lambda resolver: [*resolver.resolve_many(DOIS)],
    "verify": lambda resolver: [*resolver.verify(DOIS)],
    "agencies": lambda resolver: [*resolver.agencies(DOIS)],
}


def check_only_one_name_is_affected(store: Store, ask: str, spoil: Callable[[Key], object]) -> None:
    """Offline the name with the bad entries is unknown; online it alone is requested.

    ``spoil`` writes a bad entry with a key.
    """
    with handling(proxy(agencies=lambda _name: {"RA": "DataCite"})) as server:
        for base in (AWAY, server.url):
            for doi in DOIS:
                record, exists = Key("record", base, doi.key), Key("exists", base, doi.key)
                agency = json.dumps({"DOI": doi.name, "RA": "Crossref"}).encode()
                store.put_many({record: Entry(stored(doi.name), JSON, NEVER)})
                store.put_many({exists: Entry(agency, JSON, NEVER)})
                if doi == B:
                    spoil(record)
                    spoil(exists)
        offline = ASKS[ask](Resolver(AWAY, store=store, offline=True))
        assert [outcome.status for outcome in offline] == ["found", "unknown", "found"]
        online = ASKS[ask](Resolver(server.url, store=store))
        assert [outcome.status for outcome in online] == ["found"] * 3
        assert [target.rpartition("/")[2] for target in targets(server)] == ["b"]


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_a_body_that_we_did_not_write_counts_as_missing(body: bytes, ask: str) -> None:
    store = MemoryStore()
    check_only_one_name_is_affected(store, ask, lambda key: store.put_many({key: Entry(body, JSON, NEVER)}))


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize(
    "change",
    [
        "body = x'ff00'",
        "body = 'text'",
        "body = NULL",
        "media_type = CAST(x'ff' AS TEXT), body = x''",
        "doi = CAST(x'ff' AS TEXT)",
        "kind = 5",
        "doi = '10.1000/A'",
        "expires = 'never'",
        "expires = x'00'",
        "expires = 'never', body = zeroblob(2000000)",
    ],
)
def test_an_sqlite_row_that_we_did_not_write_counts_as_missing(change: str, ask: str, tmp_path: Path) -> None:
    def spoil(key: Key) -> None:
        with closing(sqlite3.connect(store.path)) as db, db:
            query = f"UPDATE entries SET {change} WHERE kind = ? AND base = ? AND doi = ?"
            assert db.execute(query, key[:3]).rowcount == 1

    with closing(SQLiteStore(tmp_path / "a.sqlite3")) as store:
        check_only_one_name_is_affected(store, ask, spoil)


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize(
    "entry",
    [
        {"json": None},
        {"json": {"responseCode": 2}},
        {"json": {"responseCode": 1, "handle": "10.1000/b", "values": "none"}},
        {"json": {"DOI": "10.1000/c", "RA": "Crossref"}},
        {"text": "a citation", "type": "text/plain"},
    ],
    ids=str,
)
def test_a_lock_file_line_that_we_did_not_write_counts_as_missing(
    entry: dict[str, object], ask: str, tmp_path: Path
) -> None:
    def spoil(key: Key) -> None:
        content = json.loads(path.read_bytes())
        content["entries"][f"{key.kind} https://doi.org {key.doi}"] = entry
        path.write_text(json.dumps(content))

    path = tmp_path / "doi.lock.json"
    check_only_one_name_is_affected(LockFile(path), ask, spoil)
