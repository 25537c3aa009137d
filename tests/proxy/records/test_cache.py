"""Records in a store: import, add, and serving from it."""

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from doiuri.resolver import Entry, Key, SQLiteStore
from doiuri_proxy import RecordsError, running
from doiuri_proxy.records._store import Registry
from support.command import command, run
from support.http import ask
from support.proxy_records import AGENCIES, FIGURE_1, RECORDS, link, record, value


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "records.sqlite3"


def register(store: Path, *records: dict[str, Any], base: str = "https://doi.org") -> None:
    registry = Registry(str(store), base)
    registry.register(list(records))
    registry.close()


def put(file: Path, *records: object) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in records))
    return file


def test_a_store_answers_as_the_file_that_it_was_made_of(tmp_path: Path, store: Path, url: str) -> None:
    file = tmp_path / "r.json"
    file.write_text(json.dumps({"records": RECORDS, "agencies": AGENCIES}))
    done = run("import", file, "--store", store)
    assert (done.returncode, done.stderr) == (0, "")
    assert str(len(RECORDS)) in done.stdout
    paths = [f"/api/handles/{one['handle']}" for one in RECORDS if str(one["handle"]).isalnum()]
    paths += ["/api/handles/10.1000/182", "/api/handles/10.1000/half", "/api/handles/10.1000/FORMATS?pretty"]
    paths += [
        "/api/handles/10.1000/none",
        "/api/handles/10.9999/x",
        "/10.1000/loc",
        "/10.1000/alias2",
        "/10/abcd",
    ]
    paths += [
        "/doiRA/10.1000/1,10.2000/x,10.2000,10.1045,10.1000.10/x,10.3000,10.3000/x,10.4000,10.1000/none,x"
    ]
    with running(store) as proxy:
        for path in paths:
            here, there = ask(proxy.url, path), ask(url, path)
            assert (here.status, here.body) == (there.status, there.body), path
            assert here.headers.get("location") == there.headers.get("location")


def test_names_that_differ_in_ascii_case_only_are_already_there(tmp_path: Path, store: Path) -> None:
    """Z39.84 §4, N-077: an attempt to register 10.123/abc is refused, since it already exists."""
    register(store, link("10.123/ABC", "https://example.org/1"))
    second = put(
        tmp_path / "b.jsonl",
        link("10.123/def", "https://example.org/2"),
        link("10.123/abc", "https://x.example/"),
    )
    done = run("import", second, "--store", store)
    assert done.returncode == 1
    assert "b.jsonl:2: 10.123/abc already exists" in done.stderr
    assert "10.123/ABC" in done.stderr
    twice = put(
        tmp_path / "c.jsonl",
        link("10.123/g", "https://example.org/"),
        link("10.123/G", "https://example.org/"),
    )
    assert "c.jsonl:2: 10.123/G already exists" in run("import", twice, "--store", store).stderr
    added = run("add", "10.123/aBc", "https://example.org/3", "--store", store)
    assert (added.returncode, added.stdout) == (1, "")
    assert "10.123/aBc already exists as 10.123/ABC" in added.stderr


def test_import_again_updates(store: Path) -> None:
    for target in ("1", "2"):
        register(store, link("10.123/ABC", f"https://example.org/{target}"))
    with running(store) as proxy:
        assert ask(proxy.url, "/10.123/ABC").headers["location"] == "https://example.org/2"


def test_add(store: Path) -> None:
    assert run("add", "doi:10.1000/%C3%BC", "https://example.org/", "--store", store).returncode == 0
    assert run("add", "10.1000/x", "https://example.org/x", DOIURI_CACHE=str(store)).returncode == 0
    with running(store) as proxy:
        assert ask(proxy.url, "/10.1000/%C3%BC").headers["location"] == "https://example.org/"
        value = ask(proxy.url, "/api/handles/10.1000/x").json()["values"][0]
        assert (value["index"], value["type"], value["ttl"]) == (1, "URL", 86400)
        assert ask(proxy.url, "/doiRA/10.1000").json() == [{"DOI": "10.1000", "status": "Unknown"}]
        assert run("add", "10.1000/x", "https://example.org/y", "--store", store).returncode == 1
        assert run("add", "10.1000/x", "https://example.org/y", "--replace", "--store", store).returncode == 0
        assert ask(proxy.url, "/10.1000/x").headers["location"] == "https://example.org/y"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["add", "10.1000", "https://example.org/"], "10.1000"),
        (["add", "10.1000/x", "javascript:alert(1)"], "not an http"),
        (["add", "10.1000/x", "example.org"], "not an http"),
        (["add", "10.1000/x", "https:///x"], "not an http"),
        (["add", "10.1000/x", "https://a b/"], "not an http"),
        (["import", "none.json"], "none.json: No such file"),
    ],
)
def test_bad_words(store: Path, words: list[str], reason: str) -> None:
    done = run(*words, "--store", store)
    assert done.returncode == 1
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


def test_which_store_must_be_said(tmp_path: Path) -> None:
    assert "no store" in run("add", "10.1000/x", "https://example.org/", DOIURI_CACHE="").stderr
    done = run("add", "10.1000/x", "https://example.org/", "--store", tmp_path / "r.json")
    assert (done.returncode, (tmp_path / "r.json").exists()) == (1, False)
    done = run("add", "10.1000/x", "https://example.org/", "--store", ":memory:")
    assert (done.returncode, done.stdout) == (1, "")


def test_import_says_where_the_records_are(tmp_path: Path) -> None:
    file = put(tmp_path / "r.jsonl", link("10.1000/x", "https://example.org/"))
    assert f"in {tmp_path}/doiuri.sqlite3" in run("import", file, "--store", tmp_path).stdout


@pytest.mark.parametrize(
    "damage",
    [
        b"SQLite format 3\0" + bytes(5000),
        None,  # another program's database
    ],
)
def test_an_sqlite_file_that_is_no_store_is_refused_and_left_alone(store: Path, damage: bytes | None) -> None:
    if damage:
        store.write_bytes(damage)
    else:
        with closing(sqlite3.connect(store)) as db:
            db.execute("CREATE TABLE bookmarks (url)")
    before = store.read_bytes()
    with pytest.raises(RecordsError, match=r"an SQLite file, but not a store|not JSON"), running(store):
        pass
    assert [(path.name, path.read_bytes()) for path in store.parent.iterdir()] == [(store.name, before)]


def test_a_store_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    done = run("add", "10.1000/x", "https://example.org/", "--store", "/proc/nothing/store")
    assert done.returncode == 1
    assert "store" in done.stderr


def test_registered_records_outlive_those_of_a_cache(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(store, link("10.1000/x", "https://example.org/"))
    later = time.time() + 10 * 365 * 86400
    monkeypatch.setattr(time, "time", lambda: later)
    cache = SQLiteStore(store)
    cache.put_many({Key("record", "https://doi.org", "10.1000/Y"): Entry(b"{}", "application/json", later)})
    cache.close()
    with running(store) as proxy:
        assert ask(proxy.url, "/10.1000/x").status == 302


def test_the_cache_of_a_resolver_is_served_and_what_it_lacks_is_not_known(store: Path) -> None:
    cache = SQLiteStore(store)
    body = json.dumps(FIGURE_1).encode()
    negative = b'{"responseCode":100,"handle":"10.1000/none","values":[]}'
    cache.put_many(
        {
            Key("record", "https://doi.org", "10.1000/182"): Entry(body, "application/json", 0),
            Key("record", "https://doi.org", "10.1000/NONE"): Entry(negative, "application/json", 0),
            Key("record", "https://doi.org", "10.1000/BROKEN"): Entry(b"<html>", "application/json", 0),
        }
    )
    cache.close()
    with running(store) as proxy:
        assert ask(proxy.url, "/api/handles/10.1000/182").json() == FIGURE_1
        assert ask(proxy.url, "/api/handles/10.1000/none").status == 404
        for name in ("unknown", "broken"):
            assert ask(proxy.url, f"/api/handles/10.1000/{name}").json()["responseCode"] == 2
        assert ask(proxy.url, "/doiRA/10.1000/unknown").json()[0]["status"] == "Unknown"


def test_a_store_that_changes_is_served_with_another_base(tmp_path: Path, store: Path) -> None:
    base = "https://handles.example.org"
    assert run("add", "10.1000/x", "https://example.org/", "--store", store, "--base", base).returncode == 0
    with command(tmp_path, "--records", store, "--base", base) as proxy:
        assert ask(proxy.url, "/10.1000/x").status == 302
        register(store, link("10.1000/y", "https://example.org/y"), base=base)
        assert ask(proxy.url, "/10.1000/y").status == 302
    with running(store) as proxy:
        assert ask(proxy.url, "/10.1000/x").status == 500


def test_hidden_values_stay_in_the_store(store: Path) -> None:
    register(store, record("10.1000/x", value(1, "URL", "https://example.org/", permissions="1100")))
    key = Key("record", "https://doi.org", "10.1000/X")
    opened = SQLiteStore(store)
    assert b"1100" in opened.get_many([key])[key].body
    opened.close()
    with running(store) as proxy:
        assert ask(proxy.url, "/api/handles/10.1000/x").json()["responseCode"] == 200


@pytest.mark.parametrize("address", ["redis://:x:y:z", "nothing://x"])
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises((ValueError, RecordsError)), running(address):
        pass


def test_a_wrong_cache_is_told_with_the_name_of_the_variable() -> None:
    done = run("add", "10.1000/x", "https://example.org/", DOIURI_CACHE="foo://x")
    assert (done.returncode, done.stdout) == (1, "")
    assert "doiuri-proxy: --store or DOIURI_CACHE: no store is known for foo:" in done.stderr
    done = run("--upstream", "http://127.0.0.1:9", "--port", "0", DOIURI_CACHE="foo://x")
    assert (done.returncode, done.stdout) == (1, "")
    assert "doiuri-proxy: DOIURI_CACHE: no store is known for foo:" in done.stderr
