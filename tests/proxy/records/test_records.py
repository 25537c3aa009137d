"""Records from files, folders and Python data; errors give place and reason."""

import json
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from doiuri.resolver import Entry, Key, SQLiteStore
from doiuri.rest import BIBTEX, CSL_JSON
from doiuri_proxy import Records, RecordsError, answer, running
from doiuri_proxy.pytest_plugin import Proxies
from support.command import run
from support.http import ask
from support.proxy_records import FIGURE_1, link, record, value

X = link("10.1000/x", "https://example.org/x")
Y = link("10.1000/y", "https://example.org/y")


def names(records: Any) -> list[str]:
    """Which of three names the records have."""
    found = Records(records)
    return [
        name for name in "xyz" if answer(found, "GET", f"/api/handles/10.1000/{name}").status == 200
    ]


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("r.json", json.dumps([X, Y]), ["x", "y"]),
        ("r.json", "\ufeff" + json.dumps([X]), ["x"]),
        ("r.json", json.dumps({"records": [X]}), ["x"]),
        ("r.json", json.dumps(X), ["x"]),
        ("r.json", json.dumps({"agencies": {}, "records": [Y]}), ["y"]),
        ("r.json", json.dumps({"agencies": {}}), []),
        ("r.json", "[]", []),
        (
            "r.json",
            json.dumps([{"responseCode": 1, **X}, {"responseCode": 100, "handle": "10.1000/y"}]),
            ["x"],
        ),
        ("records", json.dumps([X]), ["x"]),
        ("r.jsonl", f"{json.dumps(X)}\n\n{json.dumps(Y)}\n", ["x", "y"]),
        (
            "r.ndjson",
            json.dumps({"agencies": {"10.1000": "Crossref"}}) + "\n" + json.dumps(Y),
            ["y"],
        ),
        ("r.jsonl", json.dumps({"agencies": {}, **X}), ["x"]),
        ("r.jsonl", "", []),
    ],
)
def test_files(tmp_path: Path, name: str, text: str, expected: list[str]) -> None:
    path = written(tmp_path, name, text)
    assert names(path) == expected
    assert names(str(path)) == expected


def test_folder(tmp_path: Path) -> None:
    written(tmp_path, "a/x.json", json.dumps(X))
    written(tmp_path, "b.jsonl", json.dumps(Y))
    written(tmp_path, "README.md", "not records")
    written(tmp_path, ".hidden/x.json", json.dumps(X))
    written(tmp_path, ".x.json", "being written")
    written(tmp_path, "c.json/README.md", "a folder of that name")
    assert names(tmp_path) == ["x", "y"]


def test_a_link_to_a_folder_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder = tmp_path / "records"
    folder.mkdir()
    (folder / "r.json").write_text("[]")
    (folder / "more").symlink_to(tmp_path / "elsewhere")
    Records(folder)
    assert f"{folder}/more: a symbolic link to a folder, not followed" in caplog.text


def test_a_folder_without_records_is_refused(tmp_path: Path) -> None:
    """Otherwise every name would be "not found" when a volume is not mounted."""
    written(tmp_path, "README.md", "not records")
    with pytest.raises(
        RecordsError, match=r"no file in this folder ends in \.json, \.jsonl, \.ndjson"
    ):
        names(tmp_path)


def test_a_folder_that_cannot_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, "a.json", json.dumps(X))
    written(tmp_path, "closed/b.json", json.dumps(Y))
    scandir = os.scandir

    def refusing(path: str) -> Any:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(RecordsError, match="closed: Permission denied"):
        names(tmp_path)


@pytest.mark.parametrize("name", ["pipe", "pipe.jsonl"])
def test_a_pipe_is_refused_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(RecordsError, match=rf"{name}: neither a file nor a folder"):
        names(tmp_path / name)


@pytest.mark.parametrize("data", [[X], (X,), {"records": [X]}, X, iter([X])])
def test_python_data(data: Any) -> None:
    assert names(data) == ["x"]


def bad(**changes: Any) -> dict[str, Any]:
    return record("10.1000/bad", {**value("URL", "https://example.org/"), **changes})


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (1, "a record is an object"),
        ({}, "handle None"),
        ({"handle": "10.1000"}, "a slash"),
        ({"handle": "10.1000/"}, "a suffix"),
        ({"handle": "/x"}, "a prefix"),
        ({"handle": "10.1000/x\ny"}, "line break"),
        ({"handle": "10.x/y"}, "not a DOI"),
        ({"handle": "a/\x00"}, "unprintable characters"),
        ({"handle": "10.1000/x"}, 'no list "values"'),
        ({"handle": "10.1000/x", "values": {}}, 'no list "values"'),
        ({"handle": "10.1000/x", "responseCode": 2}, "responseCode is 2"),
        ({"handle": "10.1000/x", "values": [1]}, "10.1000/x: a value is"),
        (bad(index="1"), "index"),
        (bad(index=-1), "index of a value is not in the range 0 to 4294967295: -1"),
        (bad(index=2**32), "index of a value is not in the range"),
        (record("10.1000/bad", *[value("X", "x", index=7)] * 2), "two values have the same index"),
        (bad(index=True), "index"),
        (bad(type=None), "type"),
        (bad(data="https://example.org/"), "data"),
        (bad(data={"format": "string"}), "data"),
        (bad(data={"value": "x"}), "format"),
        (bad(data={"format": "string", "value": 1}), "format 'string'"),
        (bad(data={"format": "vlist", "value": {}}), "format 'vlist'"),
        (bad(ttl="soon"), "soon"),
        (bad(ttl=[]), "ttl"),
        (bad(timestamp=5), "timestamp"),
        (bad(ttl="9999-12-31T23:59:59-14:00"), "outside the years"),
        ({**X, "handle": "10.1000/X"}, "10.1000/X already exists"),
        *(
            ({"handle": "10.1000/z", "values": [], "metadata": metadata}, f"10.1000/z: {reason}")
            for metadata, reason in (
                ([], r"metadata is \[\]"),
                ({"bibtex": "x"}, "not a media type in metadata: 'bibtex'"),
                ({"a/b, c/d": "x"}, "not a media type in metadata"),
                ({"text/*": "x"}, "not a media type in metadata"),
                ({"": "x"}, "not a media type in metadata"),
                ({CSL_JSON: None}, "metadata as .* is None, expected text or an object"),
                ({BIBTEX: 7}, "metadata as application/x-bibtex is 7"),
            )
        ),
    ],
)
def test_bad_records_are_refused_with_place_and_reason(
    tmp_path: Path, item: Any, reason: str
) -> None:
    lines = "\n".join(json.dumps(one) for one in (X, item, Y))
    listed = f"[{lines}]".replace("\n", ",")
    for path, line, place in (
        (written(tmp_path, "a.json", listed), 0, ": record 2"),
        (
            written(tmp_path, "b.json", f'{{"agencies": {{}}, "records": {listed}}}'),
            0,
            ": record 2",
        ),
        (written(tmp_path, "c.jsonl", lines), 2, ":2"),
    ):
        with pytest.raises(RecordsError, match=rf"^{path}{place}: .*{reason}") as caught:
            Records(path)
        assert (caught.value.source, caught.value.line) == (str(path), line)
        assert "\n" not in str(caught.value), (path, line, place)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("10.123/ABC", "10.123/AbC"),
        ("10.123/ABC", "10.123/ABC"),
        ("10.123/É.abc", "10.123/É.ABC"),
        ("20.500.12345/x", "20.500.12345/X"),
        ("0.NA/10.1000", "0.na/10.1000"),
    ],
)
def test_a_suffix_is_unique_within_its_prefix(tmp_path: Path, first: str, second: str) -> None:
    """A DOI can be registered once, without regard to the case of ASCII letters (N-065, N-078).

    Files that break this are refused, in one file or two.
    """
    taken = [link(first, "https://example.org/1"), link(second, "https://example.org/2")]
    listed = written(tmp_path, "list.json", json.dumps(taken))
    lines = written(tmp_path, "lines.jsonl", "\n".join(map(json.dumps, taken)))
    for number, one in enumerate(taken):
        written(tmp_path, f"folder/{number}.json", json.dumps(one))

    for records in (taken, listed, lines, tmp_path / "folder"):
        with pytest.raises(RecordsError, match=f"{second} already exists"):
            pytest.fail(f"{first} and {second} were both taken: {Records(records)}")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("10.123/ÉTÉ", "10.123/été"),
        ("10.123/á", "10.123/a\u0301"),
        ("10.123/ABC", "10.1234/ABC"),
        ("10.123/ABC", "10.123.4/ABC"),
        ("10.123/x", "10.123/x/"),
        ("10.123/x", "10.0123/x"),
    ],
    ids=ascii,
)
def test_other_names_stand_side_by_side(first: str, second: str) -> None:
    """Other letters have case, and a suffix is unique within its prefix only (N-065)."""
    records = Records([link(first, "https://example.org/1"), link(second, "https://example.org/2")])
    for name, target in ((first, "https://example.org/1"), (second, "https://example.org/2")):
        led = dict(answer(records, "GET", f"/{quote(name)}").headers).get("Location")
        assert led == target, f"{name!a}, of {first!a} and {second!a}, leads to {led}"


CONTROLS = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))


@pytest.mark.parametrize("prefix", ["10.1000", "20.500.12345"])
def test_no_handle_of_a_record_has_a_control_character(prefix: str) -> None:
    """None of the 65, raw; requests for them are answered, escaped in the page (N-081, N-082)."""
    empty = Records([])
    for character in CONTROLS:
        handle = f"{prefix}/x{character}y"
        with pytest.raises(RecordsError):
            pytest.fail(f"{handle!a} was taken: {Records([link(handle, 'https://example.org/')])}")
        assert answer(empty, "GET", f"/{quote(handle)}").status == 404, f"{handle!a} is requested"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("none.json", None, ": No such file"),
        ("none.jsonl", None, ": No such file"),
        ("r.json", b"", ":1: not JSON: Expecting value"),
        (
            "r.json",
            b"doi,url\n10.1000/x,https://example.org/",
            r":1: not JSON: Expecting value \(column 1\)",
        ),
        ("r.json", b"{}\n{}", ":2: not JSON: Extra data"),
        # newer Pythons report the comma, older ones the character after it
        ("r.json", b"[{},]", ":1: not JSON: .*comma|:1: not JSON: Expecting value"),
        ("r.json", b"[\n\n{]", ":3: not JSON"),
        ("r.json", b"[1", ":1: not JSON"),
        ("r.json", b"[" * 100_000, ": not JSON: nested too deeply"),
        ("r.json", b"[NaN]", ": not JSON: NaN is not a JSON number"),
        ("r.json", b"9" * 5000, ": not JSON"),
        ("r.json", b'[\n"\xff"]', ":2: not UTF-8"),
        ("r.jsonl", b'\n"\xff"\n', ":2: not UTF-8"),
        ("r.json", "[]".encode("utf-16"), ":1: not UTF-8"),
        ("r.jsonl", "[]".encode("utf-16"), ":1: not UTF-8"),
        ("r.jsonl", b"{},\n{}", ":1: not JSON: Extra data"),
        ("r.jsonl", b"[\n{}\n]", ":1: not JSON"),
        ("r.json", b"3", ": neither a list of records"),
        ("r.json", b"{}", ": neither a list of records"),
        ("r.json", b'{"records": 3}', ": neither a list of records"),
        ("r.json", b'{"agencies": []}', ': "agencies" is not'),
        ("r.json", b'{"agencies": {"10.1000": 1}}', ': "agencies" is not'),
        ("r.json", b'{"handle": "10.1000/x"}', ': 10.1000/x: no list "values"'),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: bytes | None, reason: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(RecordsError, match=f"{name}(?:{reason})"):
        Records(tmp_path / name)


LOOP: dict[str, Any] = {}
LOOP["self"] = LOOP


@pytest.mark.parametrize(
    "data", [b"x", float("nan"), {1, 2}, LOOP], ids=["bytes", "NaN", "a set", "a loop"]
)
def test_python_data_that_is_not_json_is_refused(data: Any) -> None:
    in_a_value = record("10.1000/x", value("X", data, fmt="new"))
    in_metadata = {"handle": "10.1000/x", "values": [], "metadata": {CSL_JSON: {"title": data}}}
    for wrong in (in_a_value, in_metadata):
        with pytest.raises(RecordsError, match=r"record 1: 10\.1000/x: "):
            Records([wrong])


def test_a_lone_surrogate_is_escaped_or_replaced() -> None:
    metadata = {BIBTEX: "a\ud800", CSL_JSON: {"title": "\ud800"}}
    one = record("10.1000/x", value("X", "\ud800é")) | {"metadata": metadata}
    records = Records({"records": [one], "agencies": {"10.1000": "\ud800"}})
    assert answer(records, "GET", "/ra/10.1000").body == b'[{"DOI":"10.1000","RA":"\\ud800"}]'
    assert b"\\ud800\\u00e9" in answer(records, "GET", "/api/handles/10.1000/x").body
    for target in ("/api/handles/10.1000/x?callback=f&pretty", "/10.1000/x"):
        assert answer(records, "GET", target).status == 200
    for accept, body in ((BIBTEX, b"a?"), (CSL_JSON, b'{"title":"\\ud800"}')):
        assert answer(records, "GET", "/10.1000/x", {"Accept": accept}).body == body


def test_what_is_not_known_is_carried_through(doi_proxy: Proxies) -> None:
    one = record(
        "10.1000/x", {**value("X", {"new": [1]}, fmt="of-tomorrow"), "permission": {"a": None}}
    )
    proxy = doi_proxy([one])
    assert ask(proxy.url, "/api/handles/10.1000/x").json() == {"responseCode": 1, **one}


# The cache of a build, served as it is: what it lacks is not known.


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "a #b?c%41.sqlite3"


def filled(cache: Path, base: str = "https://doi.org") -> Path:
    hidden = record("10.1000/x", value("URL", "https://example.org/", permissions="1100"))
    bodies = {
        "10.1000/182": json.dumps(FIGURE_1),
        "10.1000/NONE": '{"responseCode":100,"handle":"10.1000/none","values":[]}',
        "10.1000/OLD": '{"responseCode":100,"handle":"10.1000/old","values":[]}',
        "10.1000/BROKEN": "<html>",
        "10.1000/X": json.dumps({"responseCode": 1, **hidden}),
    }
    fresh = time.time() + 1000
    with closing(SQLiteStore(cache)) as store:
        entries = {}
        for name, body in bodies.items():
            expires = fresh if name == "10.1000/NONE" else 0
            entries[Key("record", base, name)] = Entry(body.encode(), "application/json", expires)
        store.put_many(entries)
    return cache


def test_old_records_are_served_and_what_is_not_known_is_an_error(
    cache: Path, doi_proxy: Proxies
) -> None:
    proxy = doi_proxy(filled(cache))
    assert ask(proxy.url, "/api/handles/10.1000/182").json() == FIGURE_1
    assert ask(proxy.url, "/api/handles/10.1000/none").status == 404
    assert (
        ask(proxy.url, "/api/handles/10.1000/x").json()["responseCode"] == 200
    )  # the value is hidden
    for name in ("10.1000/unknown", "10.1000/old", "10.1000/broken", "0.NA/10.1000"):
        answer = ask(proxy.url, f"/api/handles/{name}")
        assert (answer.status, answer.json()["responseCode"]) == (500, 2), name
    asked = ask(proxy.url, "/doiRA/10.1000/182,10.1000/none,10.1000/unknown,10.1000").json()
    statuses = [one["status"] for one in asked]
    assert statuses == ["Unknown", "DOI does not exist", "Unknown", "Unknown"]


@pytest.mark.parametrize(
    "damage", [b"SQLite format 3\0" + bytes(5000), None], ids=["damaged", "another program's"]
)
def test_an_sqlite_file_that_is_no_cache_is_refused_and_left_alone(
    cache: Path, damage: bytes | None
) -> None:
    if damage:
        cache.write_bytes(damage)
    else:
        with closing(sqlite3.connect(cache)) as db:
            db.execute("CREATE TABLE bookmarks (url)")
    before = cache.read_bytes()
    with (
        pytest.raises(RecordsError, match=r"an SQLite file, but not a cache|not JSON"),
        running(cache),
    ):
        pass
    assert [(path.name, path.read_bytes()) for path in cache.parent.iterdir()] == [
        (cache.name, before)
    ]


def test_a_cache_given_as_records_beside_an_upstream_is_refused(cache: Path) -> None:
    done = run("--records", filled(cache), "--upstream", "http://127.0.0.1:9", "--port", "0")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("a cache: with an upstream, give it as the cache, not as records\n")
