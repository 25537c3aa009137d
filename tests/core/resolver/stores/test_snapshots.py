"""Snapshots, deletion and copies of stores."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from doiuri.resolver import Entry, SQLiteStore

KEYS = ["a", "b 10.1/X", "b 10.1/Y", "b 10.1/É", "b 10.1/%_*", "b 10.10/X", "c"]


def entry(text: str) -> Entry:
    return Entry(text.encode(), "text/plain", 2e9)


@pytest.fixture
def store(tmp_path: Path) -> SQLiteStore:
    store = SQLiteStore(tmp_path / "store.sqlite3")
    store.put_many({key: entry(key) for key in KEYS})
    return store


def test_a_snapshot_of_sqlite(store: SQLiteStore) -> None:
    with store.snapshot() as snapshot:
        assert [*snapshot.keys("b 10.1/")] == sorted(key for key in KEYS if key.startswith("b 10.1/"))
        assert [*snapshot.keys("")] == sorted(KEYS)
        assert [*snapshot.keys("b 10.1/%")] == ["b 10.1/%_*"]
        assert [*snapshot.keys("x")] == []
        assert (snapshot.count("b"), snapshot.count(""), snapshot.count("[a]")) == (5, 7, 0)
        assert snapshot.get_many(["a", "none"]) == {"a": entry("a")}
    store.delete_many(["a", "none", *(f"none {n}" for n in range(1200)), "c"])
    store.delete_many([])
    with store.snapshot() as snapshot:
        assert [*snapshot.keys("")] == sorted({*KEYS} - {"a", "c"})
    assert store.get_many(["a", "b 10.1/X"]) == {"b 10.1/X": entry("b 10.1/X")}


def test_a_snapshot_shows_one_moment_and_blocks_no_writer(store: SQLiteStore) -> None:
    with store.snapshot() as snapshot:
        keys = snapshot.keys("")
        first = next(keys)
        with closing(SQLiteStore(store.path)) as other:
            other.put_many({"d": entry("d"), "c": entry("new")})
            other.delete_many(["b 10.1/X"])
        assert [first, *keys] == sorted(KEYS)
        assert snapshot.get_many(["c", "d", "b 10.1/X"]) == {key: entry(key) for key in ("c", "b 10.1/X")}
    with store.snapshot() as snapshot:
        assert snapshot.get_many(["c", "d", "b 10.1/X"]) == {"c": entry("new"), "d": entry("d")}


def test_deletion_spares_another_key_with_the_same_id(store: SQLiteStore) -> None:
    store.close()
    with closing(sqlite3.connect(store.path)) as db, db:
        db.execute("UPDATE entries SET key = 'other' WHERE key = 'a'")
    store.delete_many(["a"])
    with store.snapshot() as snapshot:
        assert "other" in [*snapshot.keys("")]


def test_rows_of_other_programs_are_skipped(store: SQLiteStore) -> None:
    store.close()
    with closing(sqlite3.connect(store.path)) as db, db:
        for number, key in enumerate(("CAST(x'ff61' AS TEXT)", "x'61'", "NULL")):
            db.execute(f"INSERT INTO entries VALUES ({number}, {key}, x'', 'x', 1, 1)")
    with store.snapshot() as snapshot:
        assert [*snapshot.keys("")] == sorted(KEYS)


def test_what_cannot_be_read_is_an_oserror_and_stays(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), SQLiteStore(tmp_path / "none").snapshot():
        pass
    assert not (tmp_path / "none").exists()
    for name, content in (("text", b"hello"), ("other", b"SQLite format 3\0" + bytes(5000))):
        file = tmp_path / name
        store = SQLiteStore(file)
        file.write_bytes(content)
        with pytest.raises(OSError, match="is not a store"), store.snapshot():
            pass
        with pytest.raises(OSError, match="is not a store"):
            store.backup(tmp_path / "copy")
        assert file.read_bytes() == content
    assert not (tmp_path / "copy").exists()


def test_a_damaged_store_is_not_copied_over_a_good_copy(store: SQLiteStore, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite3"
    store.backup(copy)
    good = copy.read_bytes()
    store.close()
    with store.path.open("r+b") as file:
        file.truncate(3 * 4096 - 100)
        file.seek(2 * 4096)
        file.write(b"\xff" * 3000)
    with pytest.raises(OSError, match=r"cannot (read|copy) the store"):
        store.backup(copy)
    assert copy.read_bytes() == good
    assert not [*tmp_path.glob("*.part")]


def test_a_copy_is_one_file_that_opens_in_a_read_only_folder(store: SQLiteStore, tmp_path: Path) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    store.backup(folder / "copy.sqlite3")
    assert [path.name for path in folder.iterdir()] == ["copy.sqlite3"]
    copied = SQLiteStore(folder / "copy.sqlite3")
    with copied.snapshot() as snapshot:
        assert [*snapshot.keys("")] == sorted(KEYS)
    copied.put_many({"d": entry("d")})  # a store as any other
    assert copied.get_many(["d", "a"]) == {"d": entry("d"), "a": entry("a")}


def test_a_deletion_that_cannot_be_written_is_an_error(store: SQLiteStore) -> None:
    store.close()
    with closing(sqlite3.connect(store.path)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(OSError, match="format is 99"):
        store.delete_many(["a"])
