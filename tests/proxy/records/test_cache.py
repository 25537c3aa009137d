"""The cache of a build, served as it is: what it lacks is not known."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from doiuri.resolver import Entry, Key, SQLiteStore
from doiuri_proxy import RecordsError, running
from support.command import command, run
from support.http import ask
from support.proxy_records import AGENCIES, FIGURE_1, RECORDS, record, value


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache.sqlite3"


def filled(cache: Path, base: str = "https://doi.org") -> Path:
    hidden = record("10.1000/x", value(1, "URL", "https://example.org/", permissions="1100"))
    bodies = {
        "10.1000/182": json.dumps(FIGURE_1),
        "10.1000/NONE": '{"responseCode":100,"handle":"10.1000/none","values":[]}',
        "10.1000/OLD": '{"responseCode":100,"handle":"10.1000/old","values":[]}',
        "10.1000/BROKEN": "<html>",
        "10.1000/X": json.dumps({"responseCode": 1, **hidden}),
    }
    with closing(SQLiteStore(cache)) as store:
        store.put_many(
            {
                Key("record", base, name): Entry(
                    body.encode(), "application/json", 9e12 if name == "10.1000/NONE" else 0
                )
                for name, body in bodies.items()
            }
        )
    return cache


def test_old_records_are_served_and_what_is_not_known_is_an_error(cache: Path) -> None:
    with running(filled(cache)) as proxy:
        assert ask(proxy.url, "/api/handles/10.1000/182").json() == FIGURE_1
        assert ask(proxy.url, "/api/handles/10.1000/none").status == 404
        assert ask(proxy.url, "/api/handles/10.1000/x").json()["responseCode"] == 200  # the value is hidden
        for name in ("10.1000/unknown", "10.1000/old", "10.1000/broken", "0.NA/10.1000"):
            answer = ask(proxy.url, f"/api/handles/{name}")
            assert (answer.status, answer.json()["responseCode"]) == (500, 2), name
        asked = ask(proxy.url, "/doiRA/10.1000/182,10.1000/none,10.1000/unknown,10.1000").json()
        statuses = [one["status"] for one in asked]
        assert statuses == ["Unknown", "DOI does not exist", "Unknown", "Unknown"]


def test_answers_are_those_that_filled_the_cache(cache: Path) -> None:
    csl = {"Accept": "application/vnd.citationstyles.csl+json"}
    metadata = {csl["Accept"]: {"type": "book"}}
    known = {"records": [*RECORDS, {"handle": "10.1000/m", "values": [], "metadata": metadata}]}
    paths = ["/api/handles/10.1000/FORMATS", "/10.1000/loc", "/10.1000/none", "/doiRA/10.1000/1,10.2000/x"]
    with running({**known, "agencies": AGENCIES}) as there:
        with running(upstream=there.url, cache=str(cache)) as here:
            before = [ask(here.url, path) for path in paths] + [ask(here.url, "/10.1000/m", headers=csl)]
        base = there.url
    assert before[-1].json() == {"type": "book"}
    with command(cache.parent, "--records", cache, "--base", base) as proxy:
        after = [ask(proxy.url, path) for path in paths] + [ask(proxy.url, "/10.1000/m", headers=csl)]
    assert [(one.status, one.body) for one in after] == [(one.status, one.body) for one in before]


@pytest.mark.parametrize(
    "damage", [b"SQLite format 3\0" + bytes(5000), None], ids=["damaged", "another program's"]
)
def test_an_sqlite_file_that_is_no_cache_is_refused_and_left_alone(cache: Path, damage: bytes | None) -> None:
    if damage:
        cache.write_bytes(damage)
    else:
        with closing(sqlite3.connect(cache)) as db:
            db.execute("CREATE TABLE bookmarks (url)")
    before = cache.read_bytes()
    with pytest.raises(RecordsError, match=r"an SQLite file, but not a cache|not JSON"), running(cache):
        pass
    assert [(path.name, path.read_bytes()) for path in cache.parent.iterdir()] == [(cache.name, before)]


def test_a_cache_given_as_records_beside_an_upstream_is_refused(cache: Path) -> None:
    done = run("--records", filled(cache), "--upstream", "http://127.0.0.1:9", "--port", "0")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("a cache: with an upstream, give it as the cache, not as records\n")


@pytest.mark.parametrize("address", ["redis://:x:y:z", "nothing://x"])
def test_urls_are_no_records(address: str) -> None:
    with pytest.raises(RecordsError, match="not from a URL"), running(address):
        pass
