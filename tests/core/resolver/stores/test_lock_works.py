"""Works and formatted references in the lock file: format 2."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from doiuri import DOI, NoValues, ResolverUnavailable
from doiuri.records import Work
from doiuri.resolver import (
    LockedAnswers,
    LockFile,
    MemoryStore,
    Resolver,
    key_base,
    key_doi,
    lock_key,
    lock_name,
)
from doiuri.rest import CSL_JSON
from doiuri.testing import resolver_for

BASE = "https://doi.org"
KAHN = DOI("10.1000/Kähn <1>")
EMPTY = DOI("10.1000/empty")
CSL = {
    "title": "A <i>framework</i>",
    "author": ["Kahn"],
}
URL = {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://a.example/"}}
METADATA = {
    CSL_JSON: CSL,
    "text/x-bibliography": "Kahn, R. &amp; Co. (2006).",
    "application/x-bibtex": "@misc{a}",
}
ITEMS: list[dict[str, Any]] = [
    {"handle": KAHN.name, "values": [URL], "metadata": METADATA},
    {"handle": EMPTY.name, "values": []},
]
CONTENT = """{"doiuri-lock": 2, "entries": {
"bibtex https://doi.org 10.1000/KäHN <1>": {"type":"application/x-bibtex","text":"@misc{a}"},
"record https://doi.org 10.1000/KäHN <1>": {"json":{"responseCode":1,"handle":"10.1000/Kähn <1>","values":[{"index":1,"type":"URL","data":{"format":"string","value":"https://a.example/"}}]}}
},
"works": {
"10.1000/EMPTY": null,
"10.1000/KäHN <1>": {"type":"document","title":"A framework","author":[{"literal":"Kahn"}]}
},
"references": {
"apa de-DE 10.1000/KäHN <1>": "Kahn, R. & Co. (2006).",
"apa en-US 10.1000/EMPTY": null,
"apa en-US 10.1000/KäHN <1>": "Kahn, R. & Co. (2006)."
}}
"""


def answers() -> MemoryStore:
    """A store with every kind of answer."""
    store = MemoryStore()
    resolver = resolver_for(ITEMS, store=store)
    resolver.resolve(KAHN)
    resolver.bibtex(KAHN)
    resolver.reference(KAHN, locale="de-DE")
    assert [outcome.status for outcome in resolver.works([KAHN, EMPTY])] == ["found", "no-values"]
    assert [outcome.status for outcome in resolver.references([KAHN, EMPTY])] == ["found", "no-values"]
    return store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "doi.lock.json"


def test_a_line_a_doi_in_each_object_and_the_same_bytes_in_any_order(path: Path) -> None:
    entries = answers()._entries
    keys = list(entries)
    for seed in range(5):
        path.unlink(missing_ok=True)
        random.Random(seed).shuffle(keys)
        for key in keys:
            LockFile(path).put_many({key: entries[key]})
        assert path.read_text("utf-8") == CONTENT


def test_a_committed_file_answers_offline_and_is_not_changed(path: Path) -> None:
    path.write_text(CONTENT, "utf-8")
    for base in (BASE, "https://mirror.example"):
        locked = LockedAnswers(LockFile(path), base)
        resolver = Resolver(base, store=locked, offline=True)
        assert resolver.work(KAHN) == Work(KAHN, CSL)
        assert resolver.bibtex(KAHN) == "@misc{a}"
        assert (
            resolver.reference(KAHN) == resolver.reference(KAHN, "apa", "de-DE") == "Kahn, R. & Co. (2006)."
        )
        for ask in (resolver.work, resolver.reference):
            with pytest.raises(NoValues):
                ask(EMPTY)
        with pytest.raises(ResolverUnavailable, match="offline"):
            resolver.reference(KAHN, "ieee")
    entries = LockFile(path).get_many(LockFile(path).keys())
    LockFile(path).put_many(entries)
    assert path.read_text("utf-8") == CONTENT


def test_the_keys_are_in_the_order_of_the_file(path: Path) -> None:
    path.write_text(CONTENT, "utf-8")
    names = [
        line.split('": ')[0][1:] for line in CONTENT.splitlines() if line.startswith('"') and "1000" in line
    ]
    keys = LockFile(path).keys()
    assert [lock_name(key) for key in keys] == names
    assert {key_doi(key) for key in keys} == {KAHN.key, EMPTY.key}
    assert {key_base(key) for key in keys} == {BASE}
    assert key_base("another program's") == ""


def test_answers_of_another_base_are_none_of_this_one(path: Path) -> None:
    other = "http://127.0.0.1:8053"
    entries = {key.replace(BASE, other): entry for key, entry in answers()._entries.items()}
    LockFile(path).put_many(entries)
    keys = LockFile(path).keys()
    assert {key_base(key) for key in keys} == {other}
    for store in (LockFile(path), LockedAnswers(LockFile(path), BASE)):
        with Resolver(BASE, store=store, offline=True) as resolver:
            assert {outcome.status for outcome in resolver.resolve_many([KAHN])} == {"unknown"}


def test_a_file_without_works_stays_format_1(path: Path) -> None:
    entries = {key: entry for key, entry in answers()._entries.items() if key.startswith("record ")}
    LockFile(path).put_many(entries)
    assert path.read_text("utf-8").startswith('{"doiuri-lock": 1, "entries": {\n"record ')
    LockFile(path).put_many(answers()._entries)
    assert path.read_text("utf-8") == CONTENT


def test_answers_of_another_resolver_keep_its_address(path: Path) -> None:
    """Only the plugins' lock files count all answers as doi.org's; a lock file as a cache does not."""
    other = {
        lock_key(key, BASE).replace(BASE, "https://b.example"): e for key, e in answers()._entries.items()
    }
    LockFile(path).put_many(other)
    assert '"doiuri-lock": 1' in path.read_text("utf-8")
    assert LockFile(path).get_many(list(other)).keys() == other.keys()
    assert Resolver("https://b.example", store=LockFile(path), offline=True).work(KAHN).title == "A framework"


@pytest.mark.parametrize("body", [b"\xff", b"[]", b'"text"', b"{"])
def test_a_damaged_answer_is_kept_and_read_as_missing(path: Path, body: bytes) -> None:
    (key,) = (key for key in answers()._entries if key.startswith("work ") and "EMPTY" not in key)
    entry = answers()._entries[key]
    LockFile(path).put_many({key: type(entry)(body, entry.media_type, entry.expires)})
    with pytest.raises(ResolverUnavailable, match="offline"):
        Resolver(BASE, store=LockFile(path), offline=True).work(KAHN)


@pytest.mark.parametrize(
    ("key", "doi"),
    [
        ("record https://doi.org 10.1000/A B", "10.1000/A B"),
        ("exists http://127.0.0.1:8080/x 10/ABC", "10/ABC"),
        ("metadata text/x-bibliography; style=apa https://doi.org 10.1000/1", "10.1000/1"),
        (
            "metadata text/plain https://doi.org 10.1000/A https://doi.org 10.1",
            "10.1000/A https://doi.org 10.1",
        ),
        ("bibtex https://doi.org 10.1000/1", "10.1000/1"),
        ("another key", "another key"),
    ],
)
def test_the_doi_of_a_key(key: str, doi: str) -> None:
    assert key_doi(key) == doi


def test_an_edited_reference_is_read_as_text_on_one_line(path: Path) -> None:
    lines = '"apa en-US 10.1000/1": "<b>A</b>\\u202e\\n(2006).","apa en-US 10.1000/2": "<br>"'
    path.write_text(f'{{"doiuri-lock": 2, "entries": {{}}, "references": {{{lines}}}}}\n', "utf-8")
    outcomes = Resolver(store=LockedAnswers(LockFile(path), BASE), offline=True).references(
        [DOI("10.1000/1"), DOI("10.1000/2")]
    )
    assert [(o.status, o.reference) for o in outcomes] == [("found", "A (2006)."), ("unknown", "")]
