"""The store in an SQLite file: many processes, damaged files, read-only folders, full disks, kill -9."""

from __future__ import annotations

import fcntl
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import warnings
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doiuri.resolver import Entry, Resolver, SQLiteStore, StoreWarning
from doiuri.resolver.stores.sqlite import _read, _store
from doiuri.resolver.stores.sqlite._format import APPLICATION_ID, FORMAT
from doiuri.resolver.stores.sqlite._store import KEEP
from support.processes import all_threads_ended
from support.servers.rest import handling, proxy

if TYPE_CHECKING:
    from collections.abc import Iterator

ENTRIES = {
    f"record http://h 10.1000/{number}": Entry(b"x" * 500, "application/json", 2e9) for number in range(50)
}
KEYS = list(ENTRIES)

HEAD = (
    b"SQLite format 3\0\x10\0\2\2\0\x40\x20\x20" + bytes(44) + APPLICATION_ID.to_bytes(4, "big") + bytes(28)
)
GARBAGE = HEAD + b"garbage" * 1000
"""A store of which only the header is left."""

PREAMBLE = """
import os, resource, sys, time, warnings
from doiuri.resolver import Entry, SQLiteStore, StoreWarning
def entries(name, count, size=100):
    return {f"{name}-{number}": Entry(b"x" * size, "application/json", 2e9) for number in range(count)}
"""


def script(text: str) -> list[str]:
    """Return the command that runs a program in a new process, with warnings as errors."""
    return [sys.executable, "-W", "error", "-c", PREAMBLE + textwrap.dedent(text)]


def run(text: str, *arguments: str | Path) -> str:
    done = subprocess.run(
        [*script(text), *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite3"


@pytest.fixture
def stored(path: Path) -> Path:
    with closing(SQLiteStore(path)) as store:
        store.put_many(ENTRIES)
    return path


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
        subprocess.Popen([*script(text), str(tmp_path), name], stderr=subprocess.PIPE) for name in "abcd"
    ]
    for process in processes:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors.decode()
    keys = [f"{name}-{part}-{number}" for name in "abcd" for part in range(20) for number in range(10)]
    for turn in range(5):
        with closing(SQLiteStore(tmp_path / str(turn) / "store")) as store:
            assert len(store.get_many(keys)) == 800
        assert not list((tmp_path / str(turn)).glob("*damaged*"))


@pytest.mark.parametrize("content", [GARBAGE, HEAD + b"x" * 50, HEAD + b"\xff" * 5000], ids=len)
def test_a_corrupt_file_is_set_aside_with_a_warning(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with closing(SQLiteStore(path)) as store:
        with pytest.warns(
            StoreWarning, match=r"store\.sqlite3 is damaged .* set aside as store\.sqlite3\.damaged-1"
        ):
            assert store.get_many(KEYS) == {}
        store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES
    assert path.with_name("store.sqlite3.damaged-1").read_bytes() == content
    with closing(SQLiteStore(path)) as store:
        assert store.get_many(KEYS) == ENTRIES


def test_each_damaged_file_is_kept(path: Path) -> None:
    for number in (1, 2, 3):
        path.write_bytes(GARBAGE + b"%d" % number)
        for suffix in ("-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        with closing(SQLiteStore(path)) as store, pytest.warns(StoreWarning, match=f"damaged-{number}"):
            store.put_many(ENTRIES)
        assert Path(f"{path}.damaged-{number}").read_bytes() == GARBAGE + b"%d" % number


def damage_pages(path: Path) -> None:
    """Overwrite all pages of the file but the first with noise."""
    noise = random.Random(5)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(noise.randbytes(path.stat().st_size - 4096))


def test_damage_inside_the_file_is_found_when_reading(stored: Path) -> None:
    damage_pages(stored)
    with closing(SQLiteStore(stored)) as store:
        with pytest.warns(StoreWarning, match="set aside"):
            assert store.get_many(KEYS) == {}
        store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES


def test_damage_inside_the_file_is_found_when_writing(stored: Path) -> None:
    damage_pages(stored)
    with closing(SQLiteStore(stored)) as store:
        with pytest.warns(StoreWarning, match="set aside"):
            store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES


def test_damage_to_a_file_in_use(stored: Path) -> None:
    with closing(SQLiteStore(stored)) as store:
        assert store.get_many(KEYS) == ENTRIES
        stored.write_bytes(b"")
        stored.write_bytes(b"garbage" * 10_000)
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            store.put_many(ENTRIES)
            assert store.get_many(KEYS) == ENTRIES


@pytest.mark.parametrize("column", ["expires = 'soon'", "expires = NULL", "body = 'text'", "media_type = 7"])
def test_a_row_of_other_types_is_not_found(stored: Path, column: str) -> None:
    with closing(sqlite3.connect(stored)) as db, db:
        db.execute("CREATE TABLE other AS SELECT * FROM entries")  # a table without affinities
        db.execute("DROP TABLE entries")
        db.execute("CREATE TABLE entries (id INTEGER PRIMARY KEY, key, body, media_type, expires, stored)")
        db.execute("INSERT INTO entries SELECT * FROM other")
        db.execute(f"UPDATE entries SET {column} WHERE key = ?", (KEYS[0],))
        db.execute("DROP TABLE other")
    with closing(SQLiteStore(stored)) as store:
        assert store.get_many(KEYS) == {key: ENTRIES[key] for key in KEYS[1:]}


def test_an_error_that_cannot_be_decoded_is_damage(stored: Path) -> None:
    """The message about a damaged schema quotes it, whatever its bytes are."""
    content = stored.read_bytes()
    stored.write_bytes(
        content.replace(b"CREATE INDEX entries_stored", b"CREATE \xff\xfe\xff\xfe\xff entries_stored")
    )
    with closing(SQLiteStore(stored)) as store:
        with pytest.warns(StoreWarning, match="set aside"):
            assert store.get_many(KEYS) == {}
        store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES


def test_a_truncated_file(stored: Path) -> None:
    with stored.open("r+b") as file:
        file.truncate(stored.stat().st_size // 2)
    with closing(SQLiteStore(stored)) as store, pytest.warns(StoreWarning, match="set aside"):
        assert store.get_many(KEYS) == {}


@pytest.mark.parametrize("content", [b"The only copy of a thesis.\n" * 999, b"x", GARBAGE[1:]], ids=len)
def test_a_file_of_another_kind_is_an_error_and_stays(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for make in (SQLiteStore, lambda path: Resolver(store=path)):
        with pytest.raises(ValueError, match=re.escape(f"{path} is not a store")):
            make(path)
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("application_id", [0, 7])
def test_a_damaged_file_that_is_no_store_stays(path: Path, application_id: int) -> None:
    content = GARBAGE.replace(APPLICATION_ID.to_bytes(4, "big"), application_id.to_bytes(4, "big"))
    path.write_bytes(content)
    with closing(SQLiteStore(path)) as store:
        with pytest.warns(StoreWarning, match=re.escape(f"{path} cannot be written")):
            store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES, "in memory"
    assert path.read_bytes() == content
    assert not list(path.parent.glob("*damaged*"))


def test_a_file_that_became_another_one_stays(stored: Path) -> None:
    with closing(SQLiteStore(stored)) as store:
        store.close()
        stored.write_bytes(b"The only copy of a thesis.\n" * 999)
        with pytest.warns(StoreWarning, match="cannot be read"):
            assert store.get_many(KEYS) == {}
    assert stored.read_bytes() == b"The only copy of a thesis.\n" * 999


def of_an_earlier_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA application_id = 0")


def test_a_store_without_an_application_id_is_recognised(stored: Path) -> None:
    of_an_earlier_version(stored)
    with closing(SQLiteStore(stored)) as store:
        assert store.get_many(KEYS) == ENTRIES
    assert stored.read_bytes()[68:72] == APPLICATION_ID.to_bytes(4, "big")
    of_an_earlier_version(stored)
    damage_pages(stored)
    before = stored.read_bytes()
    with closing(SQLiteStore(stored)) as store:
        store._file.db = sqlite3.connect(stored)  # as an earlier version has it open: it sets no id
        store._file._inode = stored.stat().st_ino
        with pytest.warns(StoreWarning, match="set aside"):
            assert store.get_many(KEYS) == {}
    assert Path(f"{stored}.damaged-1").read_bytes() == before


@pytest.mark.parametrize(
    "columns", ["id, title, body", "id, key, body, media_type, expires, stored, extra"], ids=len
)
def test_a_table_of_the_same_name_is_not_ours(path: Path, columns: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"CREATE TABLE entries ({columns})")
        db.execute(f"PRAGMA user_version = {FORMAT}")
    before = path.read_bytes()
    with closing(SQLiteStore(path)) as store, pytest.warns(StoreWarning, match="another program"):
        store.put_many(ENTRIES)
    assert path.read_bytes() == before


def test_an_empty_file_is_a_fresh_one(path: Path) -> None:
    path.touch()
    with closing(SQLiteStore(path)) as store:
        store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES


def test_processes_that_find_the_same_damage_lose_nothing_new(tmp_path: Path) -> None:
    text = """
        folder, name = sys.argv[1:]
        warnings.simplefilter("ignore")
        for turn in range(10):
            store = SQLiteStore(f"{folder}/{turn}/store", timeout=60)
            open(f"{folder}/ready-{turn}-{name}", "w").close()
            while len([1 for file in os.listdir(folder) if file.startswith(f"ready-{turn}-")]) < 4:
                pass  # no sleep: all are to begin in the same moment
            store.put_many(entries(name, 10))
            store.close()
    """
    for turn in range(10):
        (tmp_path / str(turn)).mkdir()
        (tmp_path / str(turn) / "store").write_bytes(GARBAGE)
    processes = [subprocess.Popen([*script(text), str(tmp_path), name]) for name in "abcd"]
    assert [process.wait(300) for process in processes] == [0] * 4
    keys = [f"{name}-{number}" for name in "abcd" for number in range(10)]
    for turn in range(10):
        with closing(SQLiteStore(tmp_path / str(turn) / "store")) as store:
            assert len(store.get_many(keys)) == 40
        assert [file.name for file in tmp_path.glob(f"{turn}/*damaged*")] == ["store.damaged-1"]


def test_a_damaged_file_is_not_replaced_while_another_process_opens_it(path: Path) -> None:
    text = """
        from doiuri.resolver.stores.sqlite import _file
        prepare = _file.prepare
        def wait(db, timeout):
            _file.prepare = prepare
            print("opened", flush=True)
            input()
            prepare(db, timeout)
        _file.prepare = wait
        warnings.simplefilter("ignore")
        store = SQLiteStore(sys.argv[1])
        store.put_many(entries("theirs", 10))
        store.close()
    """
    put = """
        warnings.simplefilter("ignore")
        store = SQLiteStore(sys.argv[1], timeout=100)
        store.put_many(entries("ours", 10))
        store.close()
    """
    path.write_bytes(GARBAGE)
    command = [*script(text), str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout
        assert other.stdout.readline() == "opened\n"
        ours = threading.Thread(target=run, args=[put, path])
        ours.start()
        ours.join(0.5)
        assert not list(path.parent.glob("*damaged*"))
        other.communicate("\n", timeout=300)
        ours.join()
    with closing(SQLiteStore(path)) as store:
        assert len(store.get_many([f"{name}-{n}" for name in ("ours", "theirs") for n in range(10)])) == 20
    assert [file.name for file in path.parent.glob("*damaged*")] == [f"{path.name}.damaged-1"]


def test_a_file_that_is_deleted_while_it_is_open(stored: Path) -> None:
    with closing(SQLiteStore(stored)) as store:
        assert store.get_many(KEYS) == ENTRIES
        for file in stored.parent.iterdir():
            file.unlink()
        assert store.get_many(KEYS) == {}
        store.put_many(ENTRIES)
    with closing(SQLiteStore(stored)) as store:
        assert store.get_many(KEYS) == ENTRIES


def test_a_file_of_another_format_is_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE entries (something)")
        db.execute("PRAGMA user_version = 99")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    before = path.read_bytes()
    with closing(SQLiteStore(path)) as store:
        with pytest.warns(StoreWarning, match="its format is 99"):
            store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES, "in memory"
    with closing(sqlite3.connect(path)) as db:
        assert [row[0] for row in db.execute("SELECT name FROM sqlite_master")] == ["entries"]
        assert db.execute("SELECT count(*) FROM entries").fetchone() == (0,)
    assert len(path.read_bytes()) == len(before)


def test_keys_in_one_place_are_told_apart(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (_store, _read):
        monkeypatch.setattr(module, "entry_id", lambda _: 7)
    with closing(SQLiteStore(path)) as store:
        for key in KEYS[:2]:
            store.put_many({key: ENTRIES[key]})
            assert store.get_many([key]) == {key: ENTRIES[key]}
        assert store.get_many(KEYS[:1]) == {}, "never the answer to another question"


@contextmanager
def nobody(content: bytes | None = None) -> Iterator[Path]:
    """A folder that this process may only read: it belongs to root."""
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o755)
        with closing(SQLiteStore(folder / "store")) as store:
            store.put_many(ENTRIES)
        if content is not None:
            (folder / "store").write_bytes(content)
        (folder / "store").chmod(0o444)
        folder.chmod(0o555)
        if os.geteuid() != 0:
            yield folder
            return
        os.seteuid(65534)
        try:
            yield folder
        finally:
            os.seteuid(0)
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_read_only_folder_is_read() -> None:
    with nobody() as folder:
        with pytest.raises(PermissionError):
            (folder / "x").touch()
        with closing(SQLiteStore(folder / "store")) as store:
            with pytest.warns(StoreWarning, match="can only be read"):
                assert store.get_many(KEYS) == ENTRIES
            with pytest.warns(StoreWarning, match="cannot be written"):
                store.put_many({"new": Entry(b"1", "", 0)})
            assert store.get_many(["new", KEYS[0]]) == {"new": Entry(b"1", "", 0), KEYS[0]: ENTRIES[KEYS[0]]}
        assert sorted(file.name for file in folder.iterdir()) == ["store"]


WRITER = """
import sys
from doiuri.resolver import Entry, SQLiteStore
store = SQLiteStore(sys.argv[1])
store.put_many({"later": Entry(b"2", "", 0)})
print("written", flush=True)
sys.stdin.read()
store.close()
"""


@pytest.mark.parametrize("is_closed", [False, True], ids=["open", "closed"])
@pytest.mark.filterwarnings("ignore::doiuri.resolver.StoreWarning")
def test_a_read_only_folder_that_its_owner_writes(is_closed: bool) -> None:
    """As on a read-only mount: the folder may be written from elsewhere."""
    with nobody() as folder, closing(SQLiteStore(folder / "store")) as store:
        assert store.get_many(KEYS) == ENTRIES
        with written_by_owner(folder) as process:
            if is_closed:
                process.communicate()
            for _ in range(2):
                assert store.get_many(["later", KEYS[0]]) == {
                    "later": Entry(b"2", "", 0),
                    KEYS[0]: ENTRIES[KEYS[0]],
                }


@contextmanager
def written_by_owner(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that may write the folder, has written its store, and ends when its input does."""
    user = os.geteuid()
    os.seteuid(os.getuid())
    folder.chmod(0o755)
    (folder / "store").chmod(0o644)
    words = [sys.executable, "-c", WRITER, str(folder / "store")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        (folder / "store").chmod(0o444)
        folder.chmod(0o555)
        os.seteuid(user)
        try:
            yield process
        finally:
            os.seteuid(os.getuid())
            folder.chmod(0o755)
            if process.poll() is None:
                process.communicate()
    os.seteuid(user)


def test_a_corrupt_file_in_a_read_only_folder_stays_where_it_is() -> None:
    with nobody(GARBAGE) as folder, closing(SQLiteStore(folder / "store")) as store:
        with pytest.warns(StoreWarning, match="cannot be written .(file is not a database|.*malformed)"):
            store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES
        assert [file.name for file in folder.iterdir()] == ["store"]


def test_a_read_only_folder_without_a_store() -> None:
    with nobody() as folder, closing(SQLiteStore(folder / "other" / "store")) as store:
        with pytest.warns(StoreWarning, match="cannot be written"):
            store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES


@pytest.mark.parametrize("where", ["file/store", "folder"])
def test_a_path_that_cannot_be_a_file(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with closing(SQLiteStore(tmp_path / where)) as store:
        with pytest.warns(StoreWarning, match="cannot be"):
            store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES


@pytest.mark.parametrize("limit", [0, 1000, 40_000, 300_000])
def test_a_full_disk_costs_nothing_but_the_store(path: Path, limit: int) -> None:
    text = """
        path, limit = sys.argv[1:]
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        store = SQLiteStore(path)
        written = warned = 0
        everything = {}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for turn in range(60):
                own = entries(str(turn), 10, 2000)
                store.put_many(own)
                everything |= own
                assert store.get_many(list(everything)) == everything
                written += not caught
        messages = [f"{one.category.__name__}: {one.message}" for one in caught]
        assert messages and all(one.startswith("StoreWarning: the DOI store ") for one in messages), messages
        assert not any("damaged" in one for one in messages), messages
        print(written)
    """
    written = int(run(text, path, str(limit)))
    assert written < 60
    assert not list(path.parent.glob("*damaged*"))
    with closing(SQLiteStore(path)) as store:
        keys = [f"{turn}-{number}" for turn in range(written) for number in range(10)]
        assert len(store.get_many(keys)) == len(keys), "what was written before the disk was full"
        store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES


def test_kill_9_in_the_middle_of_writing_loses_nothing_that_was_acknowledged(path: Path) -> None:
    text = """
        store = SQLiteStore(sys.argv[1])
        for turn in range(int(sys.argv[2]), sys.maxsize):
            store.put_many(entries(str(turn), 20, 300))
            print(turn, flush=True)
    """
    forks = f"""
        import random, signal
        source, turn = random.Random(11), 0
        for _ in range(30):
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                os.dup2(writing, 1)
                sys.argv = ["", sys.argv[1], str(turn)]
                exec({textwrap.dedent(text)!r})
            os.close(writing)
            with open(reading) as acknowledged:
                turn = int(acknowledged.readline()) + 1
                time.sleep(source.random() / 50)
                os.kill(child, signal.SIGKILL)
                for line in acknowledged:
                    turn = int(line) + 1
            os.waitpid(child, 0)
        print(turn)
    """
    turns = int(run(forks, path))
    assert turns >= 30
    with closing(SQLiteStore(path)) as store:
        keys = [f"{turn}-{number}" for turn in range(turns) for number in range(20)]
        assert len(store.get_many(keys)) == len(keys)
        assert len(store.get_many([f"{turns}-{number}" for number in range(20)])) in {0, 20}, "all or none"
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert not list(path.parent.glob("*damaged*"))


def test_a_fork_shares_no_connection_and_no_lock(path: Path) -> None:
    """Sphinx forks, perhaps while another thread holds the lock."""
    text = """
        import threading
        store = SQLiteStore(sys.argv[1], timeout=60)
        store.put_many(entries("before", 10))
        stop = threading.Event()
        def busy():
            while not stop.is_set():
                begun = time.monotonic()
                store.put_many(entries("busy", 500))
                time.sleep(time.monotonic() - begun)  # half of the time is for the others
        thread = threading.Thread(target=busy)
        thread.start()
        warnings.simplefilter("ignore", DeprecationWarning)
        children = []
        for number in range(10):
            child = os.fork()
            if child == 0:
                assert len(store.get_many([f"before-{n}" for n in range(10)])) == 10
                store.put_many(entries(f"child-{number}", 10))
                os._exit(0)
            children.append(child)
        statuses = [os.waitpid(child, 0)[1] for child in children]
        stop.set()
        thread.join()
        assert statuses == [0] * 10, statuses
        assert len(store.get_many([f"child-{i}-{n}" for i in range(10) for n in range(10)])) == 100
        store.close()
    """
    run(text, path)


def test_readers_do_not_wait_for_a_writer(stored: Path) -> None:
    with (
        closing(sqlite3.connect(stored, isolation_level=None)) as writer,
        closing(SQLiteStore(stored, timeout=100)) as store,
    ):
        writer.execute("BEGIN IMMEDIATE")
        start = time.monotonic()
        assert store.get_many(KEYS) == ENTRIES
        assert time.monotonic() - start < 50  # of the 100 that a writer would wait
        writer.execute("ROLLBACK")


def test_a_writer_waits_for_its_turn(stored: Path) -> None:
    with closing(sqlite3.connect(stored, isolation_level=None, check_same_thread=False)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(0.2, writer.execute, ["COMMIT"])
        timer.start()
        with closing(SQLiteStore(stored, timeout=100)) as store:
            store.put_many({"new": Entry(b"", "", 0)})
        timer.join()
    with closing(SQLiteStore(stored)) as store:
        assert "new" in store.get_many(["new"])


def test_a_file_that_stays_locked_is_given_up_with_a_warning(stored: Path) -> None:
    with (
        closing(sqlite3.connect(stored, isolation_level=None)) as writer,
        closing(SQLiteStore(stored, timeout=0.2)) as store,
    ):
        assert store.get_many(KEYS) == ENTRIES
        writer.execute("BEGIN IMMEDIATE")
        with pytest.warns(StoreWarning, match="database is locked"):
            store.put_many({"new": Entry(b"1", "", 0)})
        assert store.get_many(["new"]) == {"new": Entry(b"1", "", 0)}
        writer.execute("ROLLBACK")
        store.put_many({"newer": Entry(b"2", "", 0)})
        with closing(SQLiteStore(stored)) as other:
            assert list(other.get_many(["new", "newer"])) == ["newer"]
        store.put_many({"new": Entry(b"3", "", 0)})
        assert store.get_many(["new"]) == {"new": Entry(b"3", "", 0)}, "the newest, wherever it is"


def test_what_is_done_to_a_locked_file_by_hand_is_an_error(stored: Path) -> None:
    with (
        closing(sqlite3.connect(stored, isolation_level=None)) as writer,
        closing(SQLiteStore(stored, timeout=0.1)) as store,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        assert store.usage().entries == len(ENTRIES)
        writer.execute("BEGIN IMMEDIATE")
        for _ in range(2):
            with pytest.raises(OSError, match=r"cannot clear the store .*: database is locked"):
                store.clear()
            with pytest.raises(OSError, match=r"cannot delete entries of the store .*: database is locked"):
                store.delete_many(KEYS)
        assert store.get_many(KEYS) == ENTRIES
        writer.execute("ROLLBACK")
        store.close()
        writer.execute("PRAGMA locking_mode = EXCLUSIVE")
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(OSError, match=r"cannot read the store .*: database is locked"):
            store.usage()
        writer.execute("ROLLBACK")
        writer.close()
        store.delete_many(KEYS[:1])
        assert store.clear().entries == len(ENTRIES) - 1


def test_entries_in_memory_are_cleared_with_the_file(stored: Path) -> None:
    with (
        closing(sqlite3.connect(stored, isolation_level=None)) as writer,
        closing(SQLiteStore(stored, timeout=0.1)) as store,
    ):
        writer.execute("BEGIN IMMEDIATE")
        with pytest.warns(StoreWarning, match="database is locked"):
            store.put_many({"new": Entry(b"", "", 0)})
        with pytest.raises(OSError, match="cannot clear"):
            store.clear()
        assert store.get_many(["new"]) == {"new": Entry(b"", "", 0)}
        writer.execute("ROLLBACK")
        store.clear()
        assert store.get_many(["new"]) == {}


def test_a_newer_answer_of_the_file_wins_over_one_in_memory(stored: Path) -> None:
    with (
        closing(sqlite3.connect(stored, isolation_level=None)) as writer,
        closing(SQLiteStore(stored, timeout=0.1)) as store,
        closing(SQLiteStore(stored)) as other,
    ):
        store.put_many({"later": Entry(b"old", "", 0)})
        writer.execute("BEGIN IMMEDIATE")
        with pytest.warns(StoreWarning, match="database is locked"):
            store.put_many({"k": Entry(b"1", "", 0), "later": Entry(b"new", "", 0)})
        writer.execute("ROLLBACK")
        other.put_many({"k": Entry(b"2", "", 0)})
        assert store.get_many(["k", "later"]) == {"k": Entry(b"2", "", 0), "later": Entry(b"new", "", 0)}
        writer.execute("UPDATE entries SET stored = ?", (time.time() + 1000,))  # the clock was set back
        assert store.get_many(["later"]) == {"later": Entry(b"new", "", 0)}


def test_what_is_stale_and_nobody_renews_is_deleted_in_the_end(path: Path) -> None:
    now = time.time()
    old = {name: Entry(b"", "", expires) for name, expires in (("stale", now - 1), ("fresh", now + 1000))}
    with closing(SQLiteStore(path)) as store:
        store.put_many(old)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE entries SET stored = ?", (now - KEEP - 1,))
    with closing(SQLiteStore(path)) as store:
        store.put_many({"new but stale": Entry(b"", "", 0)})
        assert store.get_many(["stale", "fresh", "new but stale"]).keys() == {"fresh", "new but stale"}


def test_beyond_its_limit_the_oldest_answers_go_and_registered_records_stay(path: Path) -> None:
    registered = {f"registered-{n}": Entry(b"x" * 500, "", 253402300799.0) for n in range(100)}
    with closing(SQLiteStore(path, limit=100_000)) as store:
        store.put_many(registered)
        for turn in range(10):
            store.put_many({f"{turn}-{n}": Entry(b"x" * 500, "", 2e9) for n in range(50)})
        keys = [f"{turn}-{n}" for turn in range(10) for n in range(50)]
        assert len(store.get_many(keys)) == 500, "nothing goes in the session that stored it"
    with closing(SQLiteStore(path, limit=100_000)) as store:
        store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES
        assert store.get_many(list(registered)) == registered
        left = store.get_many(keys)
        assert len(left) < 100_000 / 500
        store.put_many({"new": Entry(b"", "", 2e9)})
        assert store.get_many(list(left)) == left, "not every time"
    with closing(SQLiteStore(path)) as store:
        store.put_many({"newer": Entry(b"", "", 2e9)})
        assert store.get_many(list(left)) == left, "there is room"


@pytest.mark.parametrize("version", [0, FORMAT, 7])
def test_another_programs_database_is_left_alone(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE theirs (something)")
        db.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with closing(SQLiteStore(path)) as store:
        with pytest.warns(StoreWarning, match="another program"):
            store.put_many(ENTRIES)
        assert store.get_many(KEYS) == ENTRIES, "in memory"
    assert path.read_bytes() == before


def test_a_file_that_is_locked_when_it_is_opened(stored: Path) -> None:
    """It is not set aside as damaged, and it is used again later."""
    with (
        closing(sqlite3.connect(stored, isolation_level=None)) as other,
        closing(SQLiteStore(stored, timeout=0.2)) as store,
    ):
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM entries")
        with pytest.warns(StoreWarning, match="cannot be read .database is locked"):
            assert store.get_many(KEYS) == {}
        assert store._file.db is None
        other.execute("ROLLBACK")
        other.close()
        assert store.get_many(KEYS) == ENTRIES
    assert not list(stored.parent.glob("*damaged*"))


def test_who_waited_in_vain_does_not_wait_as_long_again(stored: Path) -> None:
    with (
        closing(sqlite3.connect(stored, isolation_level=None)) as writer,
        closing(SQLiteStore(stored, timeout=0.2)) as store,
    ):
        writer.execute("BEGIN IMMEDIATE")
        with pytest.warns(StoreWarning, match="database is locked"):
            store.put_many(ENTRIES)
        assert store._file.db is not None
        assert store._file.db.execute("PRAGMA busy_timeout").fetchone() == (100,)
        store.get_many(KEYS)
        store.put_many(ENTRIES)
        assert store._file.db.execute("PRAGMA busy_timeout").fetchone() == (100,)
        writer.execute("ROLLBACK")
        store.put_many({"new": Entry(b"", "", 0)})
        assert store._file.db.execute("PRAGMA busy_timeout").fetchone() == (200,)


def test_closing_does_not_wait_for_a_thread_that_waits(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_store, "CLOSE_TIMEOUT", 0.1)
    with closing(SQLiteStore(stored)) as store:
        begun, over = threading.Event(), threading.Event()

        def work(_db: object) -> None:
            begun.set()
            over.wait(30)

        thread = threading.Thread(target=store._run, args=("read", work))
        thread.start()
        begun.wait(30)
        store.close()
        assert thread.is_alive()
        over.set()
        thread.join()


def test_a_resolver_keeps_its_budget_while_another_process_has_the_store(
    stored: Path, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_store, "CLOSE_TIMEOUT", 0.1)
    folder, earlier = os.open(stored.parent, os.O_RDONLY), threading.enumerate()
    with closing(SQLiteStore(stored, timeout=100)) as store:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            with handling(proxy()) as server, closing(sqlite3.connect(stored, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                resolver = Resolver(server.url, store=store, budget=50)
                assert resolver.resolve("10.1000/a").url
                outcomes = list(resolver.resolve_many(f"10.1000/{n}" for n in range(20)))
                assert {outcome.status for outcome in outcomes} == {"found"}
                assert max(waits) <= 25
                begun = time.monotonic()
                store.close()  # does not wait for them either
                assert time.monotonic() - begun < 50  # less than any single wait for a lock
        finally:
            os.close(folder)
        assert all_threads_ended(but=earlier), "those that waited open the file again"


def test_an_interrupt_leaves_no_transaction_behind(path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        store.put_many(ENTRIES)

        class Interrupting(dict[str, Entry]):
            def items(self):  # type: ignore[no-untyped-def]
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            store.put_many(Interrupting(x=Entry(b"", "", 0)))
        store.put_many({"after": Entry(b"", "", 0)})
        assert "after" in store.get_many(["after"])


def test_who_comes_again_while_writing_spoils_nothing(path: Path) -> None:
    """The garbage collector may close an iteration at any moment, in the thread that is writing."""
    again = {"again": Entry(b"1", "", 0)}

    def write_again(statement: str) -> None:
        if statement.startswith("DELETE"):
            store.put_many(again)

    with closing(SQLiteStore(path)) as store:
        store.put_many({"before": Entry(b"", "", 0)})
        assert store._file.db is not None
        store._file.db.set_trace_callback(write_again)
        store.put_many(ENTRIES)
        store._file.db.set_trace_callback(None)
        assert store.get_many(["again"]) == again, "in memory"
    with closing(SQLiteStore(path)) as store:
        assert store.get_many(KEYS) == ENTRIES


def test_a_store_that_nobody_closes_makes_no_noise(path: Path) -> None:
    text = "store = SQLiteStore(sys.argv[1]); store.put_many(entries('a', 1))"
    done = subprocess.run([*script(text), str(path)], capture_output=True, text=True, timeout=300, check=True)
    assert done.stderr == ""


def test_sigkill_is_what_it_is() -> None:
    """The kill in the test above cannot be caught, so no clean-up has run."""
    with pytest.raises(OSError, match="Invalid argument"):
        signal.signal(signal.SIGKILL, signal.SIG_IGN)


def test_a_transaction_takes_its_lock_at_once(stored: Path) -> None:
    """A deferred one fails when it turns from reading to writing, without waiting."""
    statements: list[str] = []
    with closing(SQLiteStore(stored)) as store:
        store.get_many(KEYS)
        assert store._file.db is not None
        store._file.db.set_trace_callback(statements.append)
        store.put_many(ENTRIES)
    assert [text for text in statements if text.startswith("BEGIN")] == ["BEGIN IMMEDIATE"]
