"""``doiuri cache``."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from doiuri.resolver import Entry, Key, SQLiteStore
from support.cli.command import doiuri

LOCK = '{"doiuri-lock":1,"entries":{},"accepted":{"10.1000/182":"mine"}}'
ANSWER = Entry(b"{}" * 500, "application/json", 9e9)
ENTRIES = {Key("record", "https://doi.org", f"10.1000/{number}"): ANSWER for number in range(900)}


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for other users of the file only shortly."""
    monkeypatch.setattr(SQLiteStore.__init__, "__kwdefaults__", {"timeout": 0.05, "limit": 10**9})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    store = SQLiteStore(tmp_path / "answers.sqlite")
    store.put_many(ENTRIES)
    store.close()
    return store.path


def test_place_size_and_clear(path: Path) -> None:
    folder = path.parent
    size = doiuri("cache", cwd=folder, DOIURI_CACHE=str(path)).stdout
    assert size.startswith(f"{path}: 900 entries, ")
    assert int(size.split()[-2].replace(",", "")) >= 900_000
    run = doiuri("cache", "clear", "--cache", path, cwd=folder)
    assert run.stdout.startswith(f"{path}: removed 900 entries, ")
    assert (run.returncode, path.stat().st_size < 100_000) == (0, True)
    assert doiuri("cache", "--cache", path, cwd=folder).stdout.startswith(f"{path}: 0 entries, ")


def test_clear_while_another_process_reads(path: Path) -> None:
    reader = sqlite3.connect(path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM entries").fetchone()
    run = doiuri("cache", "clear", "--cache", path, cwd=path.parent)
    assert (run.returncode, "removed 900 entries" in run.stdout) == (0, True)
    assert reader.execute("SELECT count(*) FROM entries").fetchone() == (900,)
    reader.close()


def test_a_locked_file_is_not_cleared(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        run = doiuri("cache", "clear", "--cache", path, cwd=path.parent)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == f"doiuri: cache: cannot clear the store {path}: database is locked\n"


def test_no_cache_and_no_store(tmp_path: Path) -> None:
    gone = tmp_path / "gone.sqlite"
    assert doiuri("cache", "--cache", gone, cwd=tmp_path).stdout == f"{gone}: 0 entries, 0 bytes\n"
    assert not gone.exists()
    run = doiuri("cache", "clear", "--cache", ":memory:", cwd=tmp_path)
    assert run.stdout == ":memory:: removed 0 entries, 0 bytes\n"
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "doi.lock.json").write_text(LOCK)
    for arguments in (
        ["clear", "--cache", "doi.lock.json"],
        ["--cache", "notes.txt"],
        ["--cache", "ftp://x"],
        ["path"],
    ):
        run = doiuri("cache", *arguments, cwd=tmp_path)
        assert (run.returncode, run.stdout) == (2, ""), run
        assert run.stderr.startswith("doiuri: ")
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert (tmp_path / "doi.lock.json").read_text() == LOCK
