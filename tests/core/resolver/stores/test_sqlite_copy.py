"""Snapshots and copies of a store in an SQLite file, and the locks of a process that opens it twice."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from doiuri.resolver import Entry, Key, SQLiteStore
from doiuri_proxy.records._open import open_source
from support.store_contract import BASE, JSON, NONE, json_entries, key

NAMES = ["10.1/X", "10.1/Y", "10.1/É", "10.1/%_*", "10.10/X", "10.1000/1"]
ENTRIES = {key(name): Entry(name.encode() * 300, JSON, 9e12) for name in NAMES} | {
    key("10.1/X", "exists"): Entry(b"", JSON, 2e9),
    key("10.1/X", base="http://h"): Entry(b"", JSON, 2e9),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(tmp_path / "store.sqlite3")) as store:
        store.put_many(ENTRIES)
        yield store


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("start", ["", "10.1/", "10.1/%", "10.2", "10.1/Éx"])
def test_a_snapshot_has_the_keys_of_one_kind_and_base_by_the_start_of_their_dois(
    store: SQLiteStore, start: str
) -> None:
    with store.snapshot() as snapshot:
        found = [*snapshot.keys("record", BASE, start)]
        assert found == [key(name) for name in sorted(NAMES) if name.startswith(start)]
        assert snapshot.get_many([*found, NONE]) == {one: ENTRIES[one] for one in found}
        counts = [snapshot.count(*one) for one in (("record", BASE), ("exists", BASE), ("work", BASE))]
        assert counts == [len(NAMES), 1, 0]


def test_a_snapshot_shows_one_moment_and_blocks_no_writer(store: SQLiteStore) -> None:
    with store.snapshot() as snapshot, closing(SQLiteStore(store.path)) as other:
        keys = snapshot.keys("record", BASE)
        first = next(keys)
        other.update({NONE: Entry(b"", JSON, 2e9)}, [key("10.1/X")])
        assert [first, *keys] == [key(name) for name in sorted(NAMES)]
        assert snapshot.get_many([key("10.1/X"), NONE]) == {key("10.1/X"): ENTRIES[key("10.1/X")]}
    with store.snapshot() as snapshot:
        assert snapshot.get_many([key("10.1/X"), NONE]) == {NONE: Entry(b"", JSON, 2e9)}


def test_what_cannot_be_read_is_an_oserror_and_nothing_is_made(tmp_path: Path) -> None:
    with closing(SQLiteStore(tmp_path / "none")) as store:
        with pytest.raises(FileNotFoundError), store.snapshot():
            pass
        with pytest.raises(FileNotFoundError):
            store.backup(tmp_path / "copy")
        store.path.write_bytes(b"hello" * 500)
        with (
            pytest.raises(OSError, match=r"cannot read the store .*: file is not a database"),
            store.snapshot(),
        ):
            pass
        with pytest.raises(OSError, match=r"cannot copy the store .*: file is not a database"):
            store.backup(tmp_path / "copy")
    assert names(tmp_path) == ["none"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_a_copy_is_one_file_with_the_permissions_of_the_store(
    store: SQLiteStore, tmp_path: Path, mode: int
) -> None:
    copy = tmp_path / "copies" / "copy.sqlite3"
    copy.parent.mkdir()
    store.path.chmod(mode)
    store.backup(copy)
    assert names(copy.parent) == ["copy.sqlite3"]
    assert copy.stat().st_mode & 0o777 == mode
    with closing(SQLiteStore(copy)) as copied:
        copied.put_many({NONE: Entry(b"", JSON, 0.0)})  # a store as any other
        assert copied.get_many([*ENTRIES, NONE]) == ENTRIES | {NONE: Entry(b"", JSON, 0.0)}


def test_a_store_is_not_replaced_by_its_own_copy(store: SQLiteStore, tmp_path: Path) -> None:
    link = tmp_path / "link.sqlite3"
    link.symlink_to(store.path)
    before = store.path.stat().st_ino
    for path in (store.path, link):
        with pytest.raises(ValueError, match="is the store itself; give another file"):
            store.backup(path)
    assert store.path.stat().st_ino == before
    assert link.is_symlink()


def test_a_copy_replaces_a_link_but_not_a_pipe(store: SQLiteStore, tmp_path: Path) -> None:
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


def test_a_damaged_store_is_not_copied_over_a_good_copy(store: SQLiteStore, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite3"
    store.backup(copy)
    good = copy.read_bytes()
    store.close()
    with store.path.open("r+b") as file:
        file.truncate(3 * 4096 - 100)
        file.seek(2 * 4096)
        file.write(b"\xff" * 3000)
    with pytest.raises(OSError, match=r"cannot copy the store .*(damaged|malformed)"):
        store.backup(copy)
    assert copy.read_bytes() == good
    assert {*names(tmp_path)} <= {"store.sqlite3", "copy.sqlite3", "store.sqlite3-shm", "store.sqlite3-wal"}


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


def test_a_copy_that_does_not_fit_leaves_nothing_behind(store: SQLiteStore, tmp_path: Path) -> None:
    store.put_many(json_entries(map(str, range(100)), size=1000))
    folder = tmp_path / "copies"
    folder.mkdir()
    with file_size_limit(50_000), pytest.raises(OSError, match=r"cannot copy the store .* (full|I/O error)"):
        store.backup(folder / "copy.sqlite3")
    assert names(folder) == []
    with pytest.raises(OSError, match=r"No such file .*none/copy\.sqlite3"):
        store.backup(tmp_path / "none" / "copy.sqlite3")


def test_a_store_can_be_cleared_on_a_full_disk(store: SQLiteStore, tmp_path: Path) -> None:
    entries, count = json_entries(map(str, range(100)), size=1000), store.usage().entries
    store.put_many(entries)
    with file_size_limit(0):
        assert store.clear().entries == count + 100
        assert names(tmp_path) == []
    store.put_many(entries)
    assert store.get_many(list(entries)) == entries


KILLED = """
import os, sys
from doiuri.resolver import Entry, Key, SQLiteStore
store = SQLiteStore(sys.argv[1])
store.put_many({Key("record", "h", f"10.1/{n}"): Entry(b"x" * 3000, "t", 9e9) for n in range(300)})
os.kill(os.getpid(), 9)
"""


def test_a_copy_replaces_a_store_whose_writer_was_killed(store: SQLiteStore, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite3"
    assert subprocess.run([sys.executable, "-c", KILLED, copy], check=False).returncode == -signal.SIGKILL
    assert copy.with_name("copy.sqlite3-wal").stat().st_size
    store.backup(copy)
    with closing(SQLiteStore(copy)) as copied:
        assert copied.get_many([*ENTRIES, Key("record", "h", "10.1/1")]) == ENTRIES


# POSIX drops all locks of a process on a file as soon as it closes any descriptor of it. Another process
# would then take itself for the last user of the WAL, and delete it.

WRITE = """
import sys
from doiuri.resolver import Entry, Key, SQLiteStore
store = SQLiteStore(sys.argv[1])
keys = [Key("record", "h", f"10.1/{sys.argv[2]}{n}") for n in range(100)]
store.put_many(dict.fromkeys(keys, Entry(b"x" * 3000, "t", 9e9)))
store.close()
"""


def take_a_snapshot(store: SQLiteStore) -> None:
    with store.snapshot() as snapshot:
        assert snapshot.count("record", BASE) == len(NAMES)


@pytest.mark.parametrize(
    "use",
    [
        lambda store: SQLiteStore(store.path).close(),
        take_a_snapshot,
        lambda store: store.backup(store.path.with_name("copy.sqlite3")),
        # as the proxy does at SIGHUP, before it closes the source that it had until then
        lambda store: open_source(store.path).close(),
    ],
    ids=["open", "snapshot", "backup", "proxy"],
)
def test_a_process_that_opens_the_file_again_keeps_its_locks(
    store: SQLiteStore, use: Callable[[SQLiteStore], None]
) -> None:
    def write_elsewhere(name: str) -> None:
        subprocess.run([sys.executable, "-c", WRITE, store.path, name], check=True)

    use(store)
    write_elsewhere("b")
    assert Path(f"{store.path}-wal").exists()
    more = json_entries(map(str, range(100)), size=3000)
    store.put_many(more)
    write_elsewhere("d")
    written = [Key("record", "h", f"10.1/{name}{n}") for name in "bd" for n in range(100)]
    assert store.get_many([*ENTRIES, *more, *written]).keys() == {*ENTRIES, *more, *written}
    store.close()
    with closing(sqlite3.connect(store.path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
