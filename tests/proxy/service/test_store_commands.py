"""The commands list, export and remove."""

import json
import os
import subprocess
import sys
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from doiuri.plugins import DOI_ORG
from doiuri.resolver import Entry, Key, SQLiteStore
from doiuri_proxy import running
from doiuri_proxy.records import _store
from doiuri_proxy.records._store import NEVER_EXPIRES
from support.command import run
from support.http import ask
from support.proxy_records import AGENCIES, RECORDS, link, record, value

METADATA = {
    "application/x-bibtex": '@misc{a,\n title = {Ä\u2028 \\ "}\n}',
    "application/vnd.citationstyles.csl+json": {"title": "é\n", "author": [{"family": "\ud83d\ude00"}]},
}
MANY = [*RECORDS, {**link("10.1000/meta", "https://example.org/"), "metadata": METADATA}]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "records.sqlite3"


def filled(store: object, folder: Path, records: Any = MANY, agencies: Any = AGENCIES) -> None:
    file = folder / "records.json"
    file.write_text(json.dumps({"records": records, "agencies": agencies}))
    done = run("import", file, "--store", store)
    assert (done.returncode, done.stderr) == (0, "")


def entries(store: Path) -> dict[Key, Entry]:
    kinds = ("record", "prefix", "registry")
    with SQLiteStore(store).snapshot() as snapshot:
        return snapshot.get_many([key for kind in kinds for key in snapshot.keys(kind, DOI_ORG)])


def test_an_export_is_imported_with_the_same_bytes(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_store, "BATCH_SIZE", 7)
    filled(store, tmp_path)
    file, second = tmp_path / "export.jsonl", tmp_path / "second.sqlite3"
    done = run("export", file, "--store", store)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert run("import", file, "--store", second).returncode == 0
    assert entries(second) == entries(store)
    assert len(entries(store)) > len(MANY)
    assert run("export", "--store", second).stdout.encode() == file.read_bytes()
    lines = [json.loads(line) for line in file.read_text("utf-8").split("\n")[:-1]]
    assert lines[0] == {"agencies": AGENCIES}
    names = [line["handle"] for line in lines[1:]]
    assert {*names} == {one["handle"] for one in MANY}
    assert run("list", "--store", store).stdout.splitlines() == names


def test_an_export_keeps_the_mode_of_the_file_and_follows_a_link(tmp_path: Path, store: Path) -> None:
    filled(store, tmp_path)
    file, by_link = tmp_path / "export.jsonl", tmp_path / "link.jsonl"
    file.touch(0o600)
    by_link.symlink_to(file)
    for name in (file, by_link):
        assert run("export", name, "--store", store).returncode == 0
        assert file.stat().st_mode & 0o777 == 0o600
    assert by_link.is_symlink()
    assert file.stat().st_size


def test_what_a_resolver_cached_is_left_out(
    tmp_path: Path, store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    filled(store, tmp_path, [link("10.1000/x", "https://example.org/x")], {})
    cached = {**link("10.1000/y", "https://example.org/y"), "responseCode": 1}
    bodies = {
        (DOI_ORG, "10.1000/Y"): json.dumps(cached).encode(),
        (DOI_ORG, "10.1000/NO"): b'{"responseCode":100,"handle":"10.1000/no"}',
        (DOI_ORG, "10.1000/Z"): b"{",
        ("https://other.example", "10.1000/O"): b'{"handle":"10.1000/o","values":[]}',
    }
    with closing(SQLiteStore(store)) as opened:
        opened.put_many(
            {Key("record", *key): Entry(body, "application/json", 2e9) for key, body in bodies.items()}
        )
    file = tmp_path / "e.jsonl"
    done, listed = run("export", file, "--store", store), run("list", "--store", store)
    assert [json.loads(line)["handle"] for line in file.read_text().splitlines()] == ["10.1000/x"]
    assert listed.stdout == "10.1000/x\n"
    assert (done.returncode, listed.returncode) == (0, 0)
    assert caplog.messages == ["3 cached answers left out: they are not registered"] * 2


def codes(store: Path) -> list[int]:
    """The response codes of a proxy that serves the store."""
    with running(store) as proxy:
        names = ("10.1000/x", "10.1000/y", "10.1000/none")
        return [ask(proxy.url, f"/api/handles/{name}").json()["responseCode"] for name in names]


def test_an_export_never_turns_unknown_into_not_found(tmp_path: Path, store: Path) -> None:
    cached = json.dumps({**link("10.1000/x", "https://example.org/x"), "responseCode": 1}).encode()
    with closing(SQLiteStore(store)) as opened:
        opened.put_many({Key("record", DOI_ORG, "10.1000/X"): Entry(cached, "application/json", 2e9)})
    assert codes(store) == [1, 2, 2]
    file, second = tmp_path / "e.jsonl", tmp_path / "second.sqlite3"
    done = run("export", file, "--store", store)
    assert done.returncode == 1
    assert f"{store} is not a complete registry of https://doi.org" in done.stderr
    assert not file.exists()

    filled(store, tmp_path, [link("10.1000/y", "https://example.org/y")], {})
    with closing(SQLiteStore(store)) as opened:
        opened.update(
            {}, [Key("registry", "https://doi.org", "")]
        )  # as an import leaves it that was interrupted
    assert codes(store) == [1, 1, 2]
    assert run("export", file, "--store", store).returncode == 1
    assert run("export", "--store", store).stdout == ""

    filled(store, tmp_path, [link("10.1000/y", "https://example.org/y")], {})
    assert run("export", file, "--store", store).returncode == 0
    assert run("import", file, "--store", second).returncode == 0
    assert codes(second) == [100, 1, 100]


def test_list_begins_where_it_is_told_to(tmp_path: Path, store: Path) -> None:
    names = ["10.1000/abc", "10.1000/ABD", "10.1000/b_c", "10.1000/b%c", "10.2000/abc", "10.1000/é"]
    filled(store, tmp_path, [link(name, "https://example.org/") for name in names], {})

    def listed(*start: str) -> list[str]:
        return run("list", *start, "--store", store).stdout.splitlines()

    assert listed() == sorted(names, key=str.upper)
    assert listed("10.1000/aB") == ["10.1000/abc", "10.1000/ABD"]
    assert listed("10.1000/b_") == ["10.1000/b_c"]
    assert listed("10.1000/é") == ["10.1000/é"]
    assert listed("10.3") == []
    assert listed("--base", "https://other.example") == []


def test_a_removed_record_is_not_found_at_once(tmp_path: Path, store: Path) -> None:
    filled(store, tmp_path)
    with running(store) as proxy:
        assert ask(proxy.url, "/10.1000/meta").status == 302
        done = run("remove", "https://doi.org/10.1000/META", "0.na/10.2000", "--store", store)
        assert done.stdout == "10.1000/meta removed\n0.NA/10.2000 removed\n"
        assert ask(proxy.url, "/10.1000/meta").status == 404
        assert ask(proxy.url, "/api/handles/10.1000/meta").json()["responseCode"] == 100
        assert ask(proxy.url, "/10.1000/1").status == 302
    assert not [key for key in entries(store) if "META" in key]
    assert run("add", "10.1000/meta", "https://example.org/", "--store", store).returncode == 0
    with running(store) as proxy:  # the metadata of the earlier record is gone
        assert ask(proxy.url, "/10.1000/meta", headers={"Accept": "application/x-bibtex"}).status == 406


def test_remove_deletes_all_or_nothing(tmp_path: Path, store: Path) -> None:
    filled(store, tmp_path)
    before = entries(store)
    done = run("remove", "10.1000/1", "10.1000/nowhere", "--store", store)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"doiuri-proxy: 10.1000/nowhere is not in {store}\n"
    assert entries(store) == before
    done = run("remove", "nonsense", "--store", store)
    assert done.returncode == 1
    assert "nonsense" in done.stderr
    assert entries(store) == before


@pytest.mark.parametrize(
    "command", [["list"], ["export"], ["backup", "copy.sqlite3"], ["remove", "10.1000/1"]]
)
def test_a_store_that_does_not_exist_is_not_created(tmp_path: Path, store: Path, command: list[str]) -> None:
    done = run(*command, "--store", store)
    assert (done.returncode, done.stderr) == (1, f"doiuri-proxy: there is no store at {store}\n")
    assert not [*tmp_path.iterdir()]


def test_a_file_that_is_not_a_store_stays_as_it_is(tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite3"
    other.write_bytes(b"SQLite format 3\0 and then nothing of the kind")
    before = other.read_bytes()
    for command in (["list"], ["export"], ["backup", tmp_path / "copy.sqlite3"]):
        done = run(*command, "--store", other)
        assert done.returncode == 1
        assert f"{other}" in done.stderr
    assert other.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["other.sqlite3"]


def test_a_damaged_entry_is_named_and_the_file_stays(tmp_path: Path, store: Path) -> None:
    filled(store, tmp_path, [link("10.1000/x", "https://example.org/x")], {})
    file = tmp_path / "e.jsonl"
    file.write_text("the old export")
    with closing(SQLiteStore(store)) as opened:
        opened.put_many(
            {Key("record", "https://doi.org", "10.1000/Y"): Entry(b"{", "application/json", NEVER_EXPIRES)}
        )
    done = run("export", file, "--store", store)
    assert done.returncode == 1
    assert "10.1000/Y is damaged" in done.stderr
    assert file.read_text() == "the old export"
    assert not [*tmp_path.glob(".*")]


def test_export_writes_into_a_pipe(tmp_path: Path, store: Path) -> None:
    filled(store, tmp_path, [link("10.1000/x", "https://example.org/x")], {})
    pipe = tmp_path / "e.jsonl"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run("export", pipe, "--store", store).returncode == 0
        assert b"https://example.org/x" in os.read(reader, 10_000)
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_export_refuses_a_name_that_import_would_read_otherwise(tmp_path: Path, store: Path) -> None:
    filled(store, tmp_path)
    done = run("export", tmp_path / "e.json", "--store", store)
    assert done.returncode == 1
    assert "must end in .jsonl or .ndjson" in done.stderr


def test_a_closed_pipe_ends_list_quietly(tmp_path: Path, store: Path) -> None:
    filled(store, tmp_path, [link(f"10.1000/{n:050}", "https://example.org/") for n in range(4000)], {})
    words = [sys.executable, "-m", "doiuri_proxy", "list", "--store", str(store)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


def test_names_are_utf8_whatever_the_locale_says(tmp_path: Path, store: Path) -> None:
    filled(store, tmp_path, [record("10.1000/é", value(1, "X", "ü"))], {})
    words = [sys.executable, "-m", "doiuri_proxy", "list", "--store", str(store)]
    env = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    assert subprocess.run(words, capture_output=True, check=True, env=env).stdout == "10.1000/é\n".encode()


def test_export_streams(tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory of an export does not grow with the records."""
    monkeypatch.setattr(_store, "BATCH_SIZE", 50)
    records = [record(f"10.1000/{n:05}", value(1, "X", "x" * 1300)) for n in range(3000)]
    filled(store, tmp_path, records, {})
    file = tmp_path / "e.jsonl"
    tracemalloc.start()
    try:
        assert run("export", file, "--store", store).returncode == 0
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert file.stat().st_size > 4_000_000
    assert peak < 2_000_000
