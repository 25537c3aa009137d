"""Exact limits of the stores, what is told apart, and what may be renamed or shown."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import threading
import time
from math import inf
from typing import TYPE_CHECKING

import pytest
from doiuri._files._folder_lock import locked_folder
from doiuri.resolver import Entry, LockFile, MemoryStore, SQLiteStore, lock_key
from doiuri.resolver.stores._bounded import BoundedStore
from doiuri.resolver.stores._lock_file import LockedAnswers
from doiuri.resolver.stores.redis._connection import _public, _safe
from doiuri.resolver.stores.redis._format import pack, unpack
from doiuri.resolver.stores.redis._store import BATCH, KEEP, _last, _newest, _write
from doiuri.resolver.stores.sqlite._file import SQLiteFile
from doiuri.resolver.stores.sqlite._format import APPLICATION_ID, LOCKED, check_kind, has_code, was_store
from doiuri.resolver.stores.sqlite._read import _is_entry
from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

ENTRY = Entry(b"12345", "text/plain", 0.0)
SIZE = 300 + len("a") + len(ENTRY.body)


@pytest.mark.parametrize(("limit", "kept"), [(2 * SIZE, "bc"), (2 * SIZE - 1, "c"), (3 * SIZE, "abc")])
def test_memory_holds_exactly_what_its_limit_allows(limit: int, kept: str) -> None:
    store = MemoryStore(limit)
    for key in "abc":
        store.put_many({key: ENTRY})
    assert "".join(store.get_many("abc")) == kept


def test_memory_counts_a_replaced_or_discarded_entry_no_more() -> None:
    store = MemoryStore(2 * SIZE)
    for _ in range(3):
        store.put_many({"a": ENTRY})
    store.put_many({"b": ENTRY})
    assert [*store.get_many("ab")] == ["a", "b"]
    store.discard(["a", "unknown"])
    store.put_many({"c": ENTRY})
    assert [*store.get_many("abc")] == ["b", "c"]


class Slow:
    """A store that takes its time."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.asked, self.stopped = seconds, 0, threading.Event()

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        self.asked += 1
        self.stopped.wait(self.seconds)
        return dict.fromkeys(keys, ENTRY)


def test_a_store_that_took_too_long_is_not_read_again() -> None:
    slow = Slow(60)
    store = BoundedStore(slow, time.monotonic() + 0.1)
    begin = time.monotonic()
    try:
        assert store.get("a") is None
        assert store.get_many(["a", "b"]) == {}
        assert time.monotonic() - begin < 50
    finally:
        slow.stopped.set()
    assert slow.asked == 1


@pytest.mark.parametrize("seconds", [inf, 60.0])
def test_a_store_that_answers_in_time(seconds: float) -> None:
    store = BoundedStore(Slow(0.0), time.monotonic() + seconds)
    assert store.get("a") == ENTRY
    store.put_many({"a": ENTRY})  # it cannot be written to
    assert BoundedStore(None, inf).get_many(["a"]) == {}


@pytest.mark.parametrize("late", [False, True])
def test_answers_are_stored_even_after_the_deadline(late: bool) -> None:
    memory = MemoryStore()
    store = BoundedStore(memory, time.monotonic() - 1)
    store._late = late
    store.put_many({"a": ENTRY})  # continues in the background if it takes longer than 0.2 s
    until(lambda: memory.get_many(["a"]) == {"a": ENTRY}, "it was not stored")


def test_a_folder_is_locked_for_others_until_the_end(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "one"
    other = None
    try:
        with locked_folder(folder):
            other = os.open(folder, os.O_RDONLY)
            with pytest.raises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            begin = time.monotonic()
            with locked_folder(folder, 0.2):
                assert 0.2 <= time.monotonic() - begin < 10
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        if other is not None:
            os.close(other)


MAGIC = b"SQLite format 3\0"
OURS = APPLICATION_ID.to_bytes(4, "big")
TABLE = b"""CREATE TABLE entries (
        id INTEGER PRIMARY KEY, key TEXT, body BLOB, media_type TEXT, expires REAL, stored REAL
    )"""


@pytest.mark.parametrize(
    ("head", "application_id", "rest", "ours"),
    [
        (MAGIC, OURS, b"", True),
        (MAGIC, bytes(4), TABLE, True),
        (MAGIC, bytes(4), b"CREATE TABLE entries (id)", False),
        (MAGIC, b"\0\0\0\1", TABLE, False),
        (b"SQLite format 2\0", OURS, TABLE, False),
        (b"", b"", b"", False),
    ],
)
def test_only_a_store_may_be_set_aside(
    tmp_path: Path, head: bytes, application_id: bytes, rest: bytes, ours: bool
) -> None:
    path = tmp_path / "file"
    path.write_bytes(head.ljust(68, b"\0") + application_id + rest)
    assert was_store(path) is ours
    path.write_bytes(head.ljust(68, b"\0") + application_id + bytes(5000) + rest)
    assert was_store(path) is (application_id == OURS and head == MAGIC)
    file = SQLiteFile(path, 1.0)
    file._inode = path.stat().st_ino
    damaged = sqlite3.DatabaseError("malformed")
    damaged.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    if not was_store(path):
        assert not file.recover(damaged)
        assert path.exists()


@pytest.mark.parametrize("content", [b"text", MAGIC[:-1], b"\0" + MAGIC, b"x"])
def test_some_other_file_is_no_store(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a store but some other file"):
        check_kind(path)
    with pytest.raises(ValueError, match="is not a store but some other file"):
        SQLiteStore(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [b"", MAGIC, MAGIC + b"x"])
def test_an_empty_file_and_an_sqlite_file_may_be_stores(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    check_kind(path)
    check_kind(tmp_path / "none")
    check_kind(tmp_path)


def test_extended_result_codes_count_as_their_primary_ones() -> None:
    busy = sqlite3.OperationalError("database is locked")
    busy.sqlite_errorcode = sqlite3.SQLITE_BUSY_SNAPSHOT
    assert has_code(busy, LOCKED)
    assert not has_code(busy, frozenset({sqlite3.SQLITE_CORRUPT}))
    assert not has_code(OSError("full"), LOCKED)
    schema = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    assert has_code(schema, frozenset({sqlite3.SQLITE_CORRUPT}))
    assert not has_code(schema, LOCKED)


@pytest.mark.parametrize(
    ("row", "valid"),
    [
        ((b"", b"", 0), True),
        ((b"", b"", 0.5), True),
        (("", b"", 0.0), False),
        ((b"", "", 0.0), False),
        ((b"", b"", "0"), False),
        ((b"", b"", None), False),
    ],
)
def test_a_row_with_columns_of_other_types_is_no_entry(
    row: tuple[object, object, object], valid: bool
) -> None:
    assert _is_entry(*row) is valid


class Pipeline:
    """Records what is sent to Redis."""

    def __init__(self) -> None:
        self.batches: list[list[tuple[str, int]]] = []

    def pipeline(self, *, transaction: bool) -> Pipeline:
        assert not transaction
        self.batches.append([])
        return self

    def set(self, name: str, _value: bytes, *, ex: int) -> None:
        self.batches[-1].append((name, ex))

    def execute_command(self, *words: str | bytes | int) -> None:
        assert isinstance(words[3], str)
        assert isinstance(words[-1], int)
        self.batches[-1].append((words[3], words[-1]))

    def execute(self, *, raise_on_error: bool) -> list[int]:
        assert not raise_on_error
        self.batches[-1].append(("sent", 0))
        return [1] * (len(self.batches[-1]) - 1)


@pytest.mark.parametrize("put", [_newest, _last])
def test_redis_keeps_entries_for_a_month_after_they_expire(put: Callable[[object, str, Entry], None]) -> None:
    client, soon = Pipeline(), time.time() + 1000.5
    entries: Mapping[str, Entry] = {str(n): Entry(b"", "", n) for n in (0.0, soon, inf)}
    assert _write(client, entries, put)
    ((past, future, never),) = [[seconds for _, seconds in batch[:-1]] for batch in client.batches]
    assert past == KEEP == 30 * 86400
    assert KEEP + 900 < future <= KEEP + 1000
    assert never == KEEP + 10 * 365 * 86400
    assert client.batches[0][0][0] == "doiuri:1:0.0"


@pytest.mark.parametrize(("count", "sizes"), [(BATCH, [500]), (BATCH + 1, [500, 1]), (0, [])])
def test_redis_gets_so_many_commands_at_once(count: int, sizes: list[int]) -> None:
    client = Pipeline()
    _write(client, {str(n): ENTRY for n in range(count)}, _newest)
    assert [len(batch) - 1 for batch in client.batches] == sizes
    assert all(batch[-1][0] == "sent" for batch in client.batches)


def test_values_in_redis_are_read_as_they_were_written() -> None:
    entry = Entry(b"a\nb\xff", "text/plain", 1.5)
    assert unpack(pack(entry)) == entry


@pytest.mark.parametrize(
    "stored",
    [
        None,
        "text",
        b"",
        b"x\n",
        b"[1]\n",
        b'["a", "b"]\n',
        b'["a", null]\n',
        b"[1, 2, 3]\n",
        b"7\n",
        b"\xff\n",
        b"[" * 100_000,
        b'["a", 1%b]\n' % (b"0" * 400),
        b'["a", 1%b]\n' % (b"0" * 5000),
    ],
    ids=lambda stored: repr(stored)[:20],
)
def test_values_of_another_format_are_no_entries(stored: object) -> None:
    assert unpack(stored) is None


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("redis://me:secret@h:1/0?password=secret", "redis://h:1/0"),
        ("rediss://:se@cret@h/", "rediss://h/"),
        ("redis://h/0", "redis://h/0"),
    ],
)
def test_no_password_is_shown(url: str, public: str) -> None:
    assert _public(url) == public
    hidden = "secret" in url or "@" in url
    assert _safe(ValueError("bad port: secret"), url) == ("ValueError" if hidden else "bad port: secret")
    assert _safe(ValueError("bad: secret"), "redis://h/?PASSWORD=secret") == "ValueError"


def test_a_lock_file_keeps_its_permissions_and_leaves_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "doi.lock.json"
    LockFile(path).put_many({"a": ENTRY})
    path.chmod(0o640)
    store = LockFile(path)
    store.put_many({"b": ENTRY})
    assert path.stat().st_mode & 0o777 == 0o640
    assert [*tmp_path.iterdir()] == [path]
    before = path.stat().st_ino
    store.put_many({"b": ENTRY})
    assert path.stat().st_ino == before  # not written again


def test_no_link_that_others_put_beside_a_lock_file_is_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("x")
    (tmp_path / f".doi.lock.json.{os.getpid()}.tmp").symlink_to(victim)
    LockFile(tmp_path / "doi.lock.json").put_many({"a": ENTRY})
    assert victim.read_text() == "x"
    assert not (tmp_path / "doi.lock.json").is_symlink()


def test_a_lock_file_has_a_fixed_order_and_no_times(tmp_path: Path) -> None:
    path = tmp_path / "doi.lock.json"
    value = {"b": 1, "a": [{"type": 1, "index": 2}], "ttl": 5, "timestamp": "x", "type": "URL", "index": 1}
    record = {"ttl": 1, "values": [value, "odd"], "handle": "10.1000/1", "responseCode": 1}
    body = json.dumps(record).encode()
    LockFile(path).put_many(
        {
            "record https://doi.org 10.1000/1": Entry(body, "application/json", 1.0),
            "agency https://doi.org 10.1000": Entry(b'{"ttl":1,"a":0}', "application/json", 1.0),
            "x": Entry(b"{", "application/json", 1.0),
            "y": Entry(b"\xff", "image/png", 1.0),
        }
    )
    assert path.read_text() == (
        '{"doiuri-lock": 1, "entries": {\n'
        '"agency https://doi.org 10.1000": {"json":{"a":0,"ttl":1}},\n'
        '"record https://doi.org 10.1000/1": {"json":{"responseCode":1,"handle":"10.1000/1","values":'
        '[{"index":1,"type":"URL","a":[{"index":2,"type":1}],"b":1},"odd"],"ttl":1}},\n'
        '"x": {"text":"{"},\n'
        '"y": {"type":"image/png","base64":"/w=="}\n'
        "}}\n"
    )
    found = LockFile(path).get_many(["x", "y", "z"])
    assert found == {"x": Entry(b"{", "application/json", inf), "y": Entry(b"\xff", "image/png", inf)}


@pytest.mark.parametrize(
    "entry",
    [{"type": 1, "text": ""}, {}, {"base64": "!"}, {"base64": "_w=="}, {"text": 1}, 7, None, {"base64": 1}],
)
def test_an_invalid_entry_is_told(tmp_path: Path, entry: object) -> None:
    path = tmp_path / "doi.lock.json"
    path.write_text(json.dumps({"doiuri-lock": 1, "entries": {"a": entry}}))
    with pytest.raises(ValueError, match="contains an invalid entry"):
        LockFile(path)


def test_a_locked_answer_holds_for_every_server(tmp_path: Path) -> None:
    file = LockFile(tmp_path / "doi.lock.json")
    file.put_many({"record https://doi.org 10.1000/1": ENTRY, "record http://h 10.1000/2": ENTRY})
    answers = LockedAnswers(file, "http://h")
    keys = [f"record http://h 10.1000/{number}" for number in (1, 2, 3)]
    assert [*answers.get_many(keys)] == keys[:2]
    assert answers.seen == {"record https://doi.org 10.1000/1", "record http://h 10.1000/2"}
    assert lock_key("a http://h b http://h c", "http://h") == "a https://doi.org b http://h c"
