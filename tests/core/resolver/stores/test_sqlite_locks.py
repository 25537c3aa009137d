"""The locks of a process on a store, while the same process opens the file again for something else.

POSIX drops all locks of a process on a file as soon as it closes any descriptor of it. Another process would
then take itself for the last user of the WAL, and delete it.
"""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from doiuri.resolver import Entry, SQLiteStore
from doiuri_proxy.records._open import open_source

WRITE = """
import sys
from doiuri.resolver import Entry, SQLiteStore
store = SQLiteStore(sys.argv[1])
store.put_many({f"{sys.argv[2]}{n}": Entry(b"x" * 3000, "t", 9e9) for n in range(100)})
store.close()
"""


def entries(name: str) -> dict[str, Entry]:
    return {f"{name}{n}": Entry(b"x" * 3000, "t", 9e9) for n in range(100)}


def open_again(store: SQLiteStore) -> None:
    SQLiteStore(store.path).close()


def take_a_snapshot(store: SQLiteStore) -> None:
    with store.snapshot() as snapshot:
        assert snapshot.count("a") == 100


def back_up(store: SQLiteStore) -> None:
    store.backup(store.path.with_name("copy.sqlite3"))


def load_records(store: SQLiteStore) -> None:
    """As the proxy does at SIGHUP, before it closes the source that it had until then."""
    open_source(store.path).close()


@pytest.mark.parametrize("use", [open_again, take_a_snapshot, back_up, load_records])
def test_a_process_keeps_its_locks(tmp_path: Path, use: Callable[[SQLiteStore], None]) -> None:
    path = tmp_path / "store.sqlite3"

    def write_elsewhere(name: str) -> None:
        subprocess.run([sys.executable, "-c", WRITE, path, name], check=True)

    with closing(SQLiteStore(path)) as store:
        store.put_many(entries("a"))
        use(store)
        write_elsewhere("b")
        assert path.with_name("store.sqlite3-wal").exists()
        store.put_many(entries("c"))
        write_elsewhere("d")
        assert store.get_many([*entries("a"), *entries("b"), *entries("c"), *entries("d")]).keys() == {
            *entries("a"),
            *entries("b"),
            *entries("c"),
            *entries("d"),
        }
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
