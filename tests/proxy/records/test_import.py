"""Imports that fail: they change nothing, or leave a store that says so."""

import json
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from doiuri.resolver import Key, SQLiteStore
from doiuri_proxy import running
from doiuri_proxy.records import _store
from support.command import run
from support.http import ask
from support.proxy_records import link, record, value


def jsonl(file: Path, records: Iterable[object]) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in records))
    return file


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            json.dumps(record("10.123/x", value(1, "X", 1, "new"))).replace('"value": 1', '"value": 1e400'),
            "10.123/x: Out of range",
        ),
        ('{"agencies": {"10.123": "\\ud800"}}', '"agencies" contains unprintable'),
    ],
)
def test_a_bad_line_late_in_the_file_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, reason: str
) -> None:
    store = tmp_path / "records.sqlite3"
    monkeypatch.setattr(_store, "BATCH_SIZE", 2)
    bad = jsonl(tmp_path / "bad.jsonl", (link(f"10.123/{n}", "https://example.org/") for n in range(5)))
    with bad.open("a") as file:
        file.write(line)
    done = run("import", bad, "--store", store)
    assert done.returncode == 1
    assert f"bad.jsonl:6: {reason}" in done.stderr
    with closing(SQLiteStore(store)) as opened:
        assert not opened.get_many([Key("record", "https://doi.org", f"10.123/{n}") for n in range(5)])


def test_a_half_done_import_answers_nothing_with_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "records.sqlite3"
    monkeypatch.setattr(_store, "BATCH_SIZE", 2)
    update, batches = SQLiteStore.update, list[Any]()

    def put_until_the_disk_is_full(self: SQLiteStore, entries: Any) -> None:
        batches.append(entries)
        if len(batches) == 4:
            raise OSError("no space left on device")
        update(self, entries)

    file = jsonl(tmp_path / "r.jsonl", (link(f"10.123/{n}", "https://example.org/") for n in range(6)))
    with monkeypatch.context() as patch:
        patch.setattr(SQLiteStore, "update", put_until_the_disk_is_full)
        assert run("import", file, "--store", store).returncode == 1
    with running(store) as proxy:
        paths = [f"/api/handles/10.123/{n}" for n in range(7)]
        assert [ask(proxy.url, path).json()["responseCode"] for path in paths] == [1] * 4 + [2] * 3
        assert run("import", file, "--store", store).returncode == 0
        assert [ask(proxy.url, path).json()["responseCode"] for path in paths] == [1] * 6 + [100]


def test_importing_nothing_does_not_make_a_cache_complete(tmp_path: Path) -> None:
    store, file = tmp_path / "cache.sqlite3", tmp_path / "empty.jsonl"
    file.touch()
    assert run("import", file, "--store", store).stdout.startswith("0 records registered")
    with running(store) as proxy:
        assert ask(proxy.url, "/api/handles/10.123/1").json()["responseCode"] == 2
    file.write_text('{"agencies": {"10.123": "Crossref"}}')
    run("import", file, "--store", store)
    with running(store) as proxy:
        assert ask(proxy.url, "/api/handles/10.123/1").json()["responseCode"] == 100
