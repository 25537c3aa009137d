"""The store in an SQLite file: many processes, kill -9, damage, full disks, read-only folders, its limit."""

from __future__ import annotations

import random
import re
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import product
from pathlib import Path

import pytest
from doiuri.resolver import Entry, Key, Resolver, SQLiteStore, StoreWarning
from support import foreign
from support.processes import forked, status_of
from support.store_contract import json_entries, key

APPLICATION_ID = 0x444F4931  # "DOI1"
FORMAT = 3  # that of the table
ENTRIES = json_entries((str(number) for number in range(50)), size=500)
KEYS = list(ENTRIES)
NEW = json_entries(["new"])

HEAD = (
    b"SQLite format 3\0\x10\0\2\2\0\x40\x20\x20"
    + bytes(44)
    + APPLICATION_ID.to_bytes(4, "big")
    + bytes(28)
)
GARBAGE = HEAD + b"garbage" * 1000
"""A store of which only the header is left."""

PREAMBLE = """
import os, resource, sys, time, warnings
from doiuri.resolver import Entry, Key, SQLiteStore, StoreWarning
def entries(name, count, size=100):
    keys = (Key("record", "http://h", f"10.1000/{name}-{number}") for number in range(count))
    return {key: Entry(b"x" * size, "application/json", 2e9) for key in keys}
"""


def script(text: str) -> list[str]:
    """Return the command that runs a program in a new process, with warnings as errors."""
    return [sys.executable, "-W", "error", "-c", PREAMBLE + textwrap.dedent(text)]


def run(text: str, *arguments: str | Path) -> str:
    done = subprocess.run(
        [*script(text), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def theirs(*names: str, count: int) -> list[Key]:
    """The keys that the processes use."""
    pairs = product(names, range(count))
    return [key(f"10.1000/{name}-{number}", base="http://h") for name, number in pairs]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite3"


@pytest.fixture
def stored(path: Path) -> Path:
    with closing(SQLiteStore(path)) as store:
        store.put_many(ENTRIES)
    return path


@contextmanager
def changing(path: Path) -> Iterator[sqlite3.Connection]:
    """The database, to change it in one transaction."""
    with closing(sqlite3.connect(path)) as db, db:
        yield db


@contextmanager
def locking(path: Path, how: str = "IMMEDIATE") -> Iterator[sqlite3.Connection]:
    """The database, locked as by another process until the end."""
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as db:
        if how == "EXCLUSIVE":
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute(f"BEGIN {how}")
        yield db
        if db.in_transaction:
            db.execute("ROLLBACK")


# Processes


def test_four_processes_at_once_on_a_fresh_file(tmp_path: Path) -> None:
    text = """
        folder, name = sys.argv[1:]
        for turn in range(5):
            store = SQLiteStore(f"{folder}/{turn}/store", timeout=60)
            open(f"{folder}/ready-{turn}-{name}", "w").close()
            while len([1 for file in os.listdir(folder) if file.startswith(f"ready-{turn}-")]) < 4:
                time.sleep(0.001)
            for part in range(20):
                own = entries(f"{name}-{part}", 10)
                store.put_many(own)
                assert store.get_many(list(own)) == own
            store.close()
    """
    processes = [
        subprocess.Popen([*script(text), str(tmp_path), name], stderr=subprocess.PIPE)
        for name in "abcd"
    ]
    for process in processes:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors.decode()
    for turn in range(5):
        with closing(SQLiteStore(tmp_path / str(turn) / "store")) as store:
            assert store.usage().entries == 800, turn


def test_kill_9_loses_nothing_that_was_acknowledged(path: Path) -> None:
    text = """
        store = SQLiteStore(sys.argv[1])
        for turn in range(sys.maxsize):
            store.put_many(entries(str(turn), 20, 300))
            print(turn, flush=True)
    """
    with subprocess.Popen([*script(text), str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        process.kill()
        turns = 1 + len([*process.stdout])
    with closing(SQLiteStore(path)) as store:
        keys = theirs(*map(str, range(turns)), count=20)
        assert len(store.get_many(keys)) == len(keys)
        assert len(store.get_many(theirs(str(turns), count=20))) in {0, 20}, "all or none"


def test_a_fork_while_another_thread_writes(stored: Path) -> None:
    """As Sphinx does."""
    stop = threading.Event()

    def write() -> None:
        while not stop.wait(0.001):
            store.put_many(NEW)

    def use() -> None:
        assert store.get_many(KEYS) == ENTRIES
        store.put_many(json_entries(["child"]))

    with closing(SQLiteStore(stored, timeout=60)) as store:
        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        children = [forked(use) for _ in range(10)]
        assert [status_of(child) for child in children] == [0] * 10
        stop.set()
        thread.join()
        assert len(store.get_many([*json_entries(["child"]), *NEW])) == 2


# Files that are no stores, and damaged ones


def damage_pages(content: bytes) -> bytes:
    return content[:4096] + random.Random(5).randbytes(len(content) - 4096)


def damage_schema(content: bytes) -> bytes:
    """The message about it quotes it, whatever its bytes are."""
    return content.replace(
        b"CREATE INDEX entries_stored", b"CREATE \xff\xfe\xff\xfe\xff entries_stored"
    )


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "only the header": lambda _: GARBAGE,
    "binary": lambda _: HEAD + b"\xff" * 5000,
    "half of it": lambda content: content[: len(content) // 2],
    "noise in all pages but the first": damage_pages,
    "a schema that is not UTF-8": damage_schema,
}


USES: dict[str, Callable[[SQLiteStore], object]] = {
    "read": lambda store: store.get_many([*NEW, *KEYS]),
    "written": lambda store: store.put_many(NEW),
}


@pytest.mark.parametrize("what", USES)
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_a_miss_and_a_warning_that_says_to_delete_it(
    stored: Path, damage: Callable[[bytes], bytes], what: str, now: list[float]
) -> None:
    damaged = damage(stored.read_bytes())
    use = USES[what]
    advice = "it is damaged: delete it if doiuri made it, or choose another path"
    stored.write_bytes(damaged)
    with closing(SQLiteStore(stored)) as store:
        with pytest.warns(StoreWarning, match=f"{stored} cannot be {what} .*; {advice}"):
            assert not use(store)
        for _ in range(2):
            now[0] += 10
            assert not use(store)  # no second warning, which would be an error
        assert stored.read_bytes() == damaged
        now[0] += 10
        stored.unlink()
        store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES


@pytest.mark.parametrize(
    "content",
    [*foreign.FOREIGN.values(), b"The only copy of a thesis.\n" * 999, b"x", GARBAGE[1:]],
    ids=len,
)
def test_a_file_of_another_kind_is_an_error_and_stays(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for make in (SQLiteStore, lambda path: Resolver(store=path)):
        with pytest.raises(
            ValueError, match=re.escape(f"{path} is not a store but some other file")
        ):
            make(path)
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


FOREIGN = "it is the database of another program; choose another path"


@pytest.mark.parametrize(
    ("table", "application_id", "version", "complaint"),
    [
        ("theirs", 0, 0, FOREIGN),
        ("theirs", 7, FORMAT, FOREIGN),
        ("entries", 0, FORMAT, FOREIGN),
        ("", 0, 5, FOREIGN),
        ("", 7, 0, FOREIGN),
        (
            "entries",
            APPLICATION_ID,
            99,
            f"its format is 99; this version of doiuri reads {FORMAT}: choose another path",
        ),
    ],
)
def test_a_database_of_another_program_or_format_is_left_alone(
    path: Path, table: str, application_id: int, version: int, complaint: str
) -> None:
    with changing(path) as db:
        if table:
            db.execute(f"CREATE TABLE {table} (something)")
        db.execute(f"PRAGMA user_version = {version}")
        db.execute(f"PRAGMA application_id = {application_id}")
    before = path.read_bytes()
    with closing(SQLiteStore(path)) as store:
        with pytest.warns(StoreWarning, match=complaint) as caught:
            store.put_many(ENTRIES)
        assert "delete" not in str(caught[0].message)
        assert store.get_many(KEYS) == {}
        with pytest.raises(OSError, match=complaint):
            store.clear()
    assert path.read_bytes() == before


def test_what_another_program_has_left_in_its_log_stays_there(path: Path, tmp_path: Path) -> None:
    """As after a crash; the last connection that may write would move it into the database."""
    source = tmp_path / "theirs"
    with closing(sqlite3.connect(source)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        with db:
            db.execute("CREATE TABLE theirs (something)")
        log = path.with_name(f"{path.name}-wal")
        path.write_bytes(source.read_bytes())
        log.write_bytes(Path(f"{source}-wal").read_bytes())
    before = (path.read_bytes(), log.read_bytes())

    with closing(SQLiteStore(path)) as store, pytest.warns(StoreWarning, match=FOREIGN):
        store.put_many(ENTRIES)

    assert (path.read_bytes(), log.read_bytes()) == before


@pytest.mark.parametrize("empty", [False, True], ids=["deleted", "emptied"])
def test_a_file_that_is_deleted_while_it_is_open_is_a_fresh_one(stored: Path, empty: bool) -> None:
    with closing(SQLiteStore(stored)) as store:
        assert store.get_many(KEYS) == ENTRIES
        for file in stored.parent.iterdir():
            file.unlink()
        if empty:
            stored.touch()
        assert store.get_many(KEYS) == {}
        store.put_many(ENTRIES)
    with closing(SQLiteStore(stored)) as store:
        assert store.get_many(KEYS) == ENTRIES


# Full disks


@pytest.mark.parametrize("limit", [0, 40_000, 300_000])
def test_a_full_disk_costs_nothing_but_new_answers(path: Path, limit: int) -> None:
    text = """
        path, limit = sys.argv[1:]
        usual = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), usual[1]))
        store = SQLiteStore(path)
        written = 0
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for turn in range(60):
                store.put_many(entries(str(turn), 10, 2000))
                written += not caught
                assert len(store.get_many(list(entries(str(turn), 10)))) in {0, 10}
        (message,) = {str(one.message) for one in caught if one.category is StoreWarning}
        assert len(caught) == 1 and "damaged" not in message, message
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)  # coverage writes a file at the end
        print(written)
    """
    written = int(run(text, path, str(limit)))
    assert written < 60
    with closing(SQLiteStore(path)) as store:
        keys = theirs(*map(str, range(written)), count=10)
        assert len(store.get_many(keys)) == len(keys), "what was written before the disk was full"
        store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES


# Locks


def test_a_writer_waits_for_its_turn_and_readers_do_not_wait(stored: Path) -> None:
    with locking(stored) as other, closing(SQLiteStore(stored, timeout=100)) as store:
        assert store.get_many(KEYS) == ENTRIES
        timer = threading.Timer(0.2, other.execute, ["COMMIT"])
        timer.start()
        store.put_many(NEW)
        timer.join()
        assert store.get_many(list(NEW)) == NEW


@pytest.mark.parametrize(("how", "what"), [("IMMEDIATE", "written"), ("EXCLUSIVE", "read")])
def test_it_pauses_after_the_file_was_locked(
    stored: Path, how: str, what: str, now: list[float]
) -> None:
    use = USES[what]
    with closing(SQLiteStore(stored, timeout=0.1)) as store:
        with (
            locking(stored, how),
            pytest.warns(StoreWarning, match=f"cannot be {what} .database is locked"),
        ):
            assert not use(store)
        assert not use(store)  # no attempt
        if what == "written":  # what is there is still read
            assert store.get_many(KEYS) == ENTRIES
        now[0] += 10
        use(store)
        assert store.get_many([*NEW, *KEYS]) == ({} if what == "read" else NEW) | ENTRIES


def test_explicit_operations_on_a_locked_file_raise_oserror(stored: Path) -> None:
    with closing(SQLiteStore(stored, timeout=0.1)) as store:
        with locking(stored):
            assert store.usage().entries == len(ENTRIES)
            with pytest.raises(OSError, match=r"cannot clear the store .*: database is locked"):
                store.clear()
        assert store.get_many([*NEW, *KEYS]) == ENTRIES
        store.close()
        with (
            locking(stored, "EXCLUSIVE"),
            pytest.raises(OSError, match=r"cannot read the .*: database is l"),
        ):
            store.usage()
        assert store.clear().entries == len(ENTRIES)


def test_a_reentrant_write_does_not_break_the_transaction(path: Path) -> None:
    """The garbage collector may close an iteration at any moment, in the thread that is writing."""
    seen: list[dict[Key, Entry]] = []

    class Reentrant(dict[Key, Entry]):
        def items(self):  # type: ignore[no-untyped-def]
            store.put_many(NEW)
            seen.append(store.get_many(KEYS))
            return super().items()

    with closing(SQLiteStore(path)) as store:
        store.put_many(Reentrant(ENTRIES))
        assert {} in seen, "it is not read in the middle of a transaction"
        assert store.get_many([*NEW, *KEYS]) == NEW | ENTRIES


# What is deleted


def content_size(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        names = ("page_count", "freelist_count", "page_size")
        pages, free, size = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    return int((pages - free) * size)


def test_entries_that_were_not_renewed_for_half_a_year_are_deleted(path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        store.put_many(ENTRIES)
        for days, left in ((179, ENTRIES), (181, {})):
            with changing(path) as db:
                db.execute("UPDATE entries SET stored = ?", (time.time() - days * 86400,))
            store.put_many(NEW)
            assert store.get_many([*KEYS, *NEW]) == left | NEW


@pytest.mark.parametrize("batch", [5, 20])
def test_beyond_the_limit_the_oldest_entries_are_deleted_in_small_steps(
    path: Path, batch: int
) -> None:
    limit = 200_000
    counts = []
    with closing(SQLiteStore(path, limit=limit)) as store:
        for start in range(0, 3_200, batch):
            latest = json_entries(str(n) for n in range(start, start + batch))
            store.put_many(latest)
            if start % 80 == 0:
                counts.append(store.usage().entries)
                assert content_size(path) < 1.1 * limit, start
        assert store.get_many([*latest]) == latest
        assert max(counts) < 2_400, "the limit was reached"
        assert min(counts[counts.index(max(counts)) :]) > 0.8 * max(counts)
        for n in range(60):  # large answers displace small ones of their size
            store.put_many(json_entries([f"large {n}"], size=5000))
        assert content_size(path) < 1.3 * limit


# POSIX drops all locks of a process on a file as soon as it closes any descriptor of it. Another process
# would then take itself for the last user of the WAL, and delete it.


def test_a_process_that_opens_the_file_again_keeps_its_locks(stored: Path) -> None:
    write = "store = SQLiteStore(sys.argv[1]); store.put_many(entries(sys.argv[2], 100, 3000))"
    more = json_entries(map(str, range(100, 200)), size=3000)
    with closing(SQLiteStore(stored)) as store:
        assert store.get_many(KEYS) == ENTRIES
        SQLiteStore(stored).close()
        run(write, stored, "b")
        assert Path(f"{stored}-wal").exists()
        store.put_many(more)
        run(write, stored, "d")
        assert len(store.get_many([*KEYS, *more, *theirs("b", "d", count=100)])) == len(KEYS) + 300
    with closing(sqlite3.connect(stored)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
