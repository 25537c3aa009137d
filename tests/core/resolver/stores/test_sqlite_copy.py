"""Copies of a store in an SQLite file: two at once, their mode, and where they cannot be written."""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from doiuri._files import _replacing
from doiuri.resolver import Entry, SQLiteStore

ENTRIES = {f"a{n}": Entry(b"x" * 1000, "t", 9e12) for n in range(500)}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(tmp_path / "store.sqlite3")) as store:
        store.put_many(ENTRIES)
        yield store


@contextmanager
def file_size_limit(octets: int) -> Iterator[None]:
    """Refuse to write more into any file, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (octets, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_two_copies_to_one_path_at_once(
    store: SQLiteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, finish, finished = tmp_path / "copies" / "copy.sqlite3", _replacing._finish, []

    def finish_and_copy_again(draft: Path, mode: int | None, status: os.stat_result | None) -> None:
        finish(draft, mode, status)
        finished.append(draft)
        if len(finished) == 1:  # the first copy is complete, but not yet in its place
            store.backup(copy)

    copy.parent.mkdir()
    monkeypatch.setattr(_replacing, "_finish", finish_and_copy_again)
    store.backup(copy)
    assert len({*finished}) == 2
    assert names(copy.parent) == ["copy.sqlite3"]
    with SQLiteStore(copy).snapshot() as snapshot:
        assert snapshot.count("") == 500


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_a_copy_may_be_read_by_those_who_may_read_the_store(
    store: SQLiteStore, tmp_path: Path, mode: int
) -> None:
    store.path.chmod(mode)
    store.backup(tmp_path / "copy.sqlite3")
    assert (tmp_path / "copy.sqlite3").stat().st_mode & 0o777 == mode


def test_a_store_is_not_replaced_by_its_own_copy(store: SQLiteStore, tmp_path: Path) -> None:
    link = tmp_path / "link.sqlite3"
    link.symlink_to(store.path)
    before = store.path.stat().st_ino
    for path in (store.path, link):
        with pytest.raises(ValueError, match="is the store itself; give another file"):
            store.backup(path)
    assert store.path.stat().st_ino == before
    assert link.is_symlink()


def test_a_full_disk_is_not_the_stores_fault(store: SQLiteStore, tmp_path: Path) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    with file_size_limit(100_000), pytest.raises(OSError, match=r"cannot write .*copies/copy\.sqlite3: "):
        store.backup(folder / "copy.sqlite3")
    assert names(folder) == []


def test_what_sqlite_left_beside_an_incomplete_copy_is_deleted(
    store: SQLiteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    connect = sqlite3.connect

    def connect_and_leave_files(path: str | Path, **options: Any) -> sqlite3.Connection:
        if isinstance(path, Path):
            for suffix in ("-journal", "-wal", "-shm"):
                path.with_name(path.name + suffix).touch()
            raise sqlite3.OperationalError("interrupted")
        opened: sqlite3.Connection = connect(path, **options)
        return opened

    monkeypatch.setattr(sqlite3, "connect", connect_and_leave_files)
    with pytest.raises(OSError, match="interrupted"):
        store.backup(folder / "copy.sqlite3")
    assert names(folder) == []


def test_a_copy_replaces_a_link_and_no_pipe(store: SQLiteStore, tmp_path: Path) -> None:
    earlier, link, pipe = (tmp_path / name for name in ("earlier", "link", "pipe"))
    earlier.write_text("the copy of yesterday")
    link.symlink_to(earlier)
    store.backup(link)
    assert not link.is_symlink()
    assert earlier.read_text() == "the copy of yesterday"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match=r"cannot write .*pipe: not a regular file"):
        store.backup(pipe)
    assert pipe.is_fifo()


def test_a_folder_that_does_not_exist_is_not_the_stores_fault(store: SQLiteStore, tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"cannot write .*none/copy\.sqlite3: No such file"):
        store.backup(tmp_path / "none" / "copy.sqlite3")


def test_a_copy_replaces_a_store_whose_writer_was_killed(store: SQLiteStore, tmp_path: Path) -> None:
    write = (
        "import os, sys; from doiuri.resolver import Entry, SQLiteStore; s = SQLiteStore(sys.argv[1]);"
        "s.put_many({f'old{n}': Entry(b'x' * 3000, 't', 9e9) for n in range(300)}); os.kill(os.getpid(), 9)"
    )
    copy = tmp_path / "copy.sqlite3"
    assert subprocess.run([sys.executable, "-c", write, copy], check=False).returncode == -signal.SIGKILL
    assert copy.with_name("copy.sqlite3-wal").stat().st_size
    store.backup(copy)
    with closing(SQLiteStore(copy)) as copied:
        assert copied.get_many([*ENTRIES, "old1"]) == ENTRIES
