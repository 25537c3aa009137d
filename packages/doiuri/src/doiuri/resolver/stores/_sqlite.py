"""The store in an SQLite file, by default in the user's cache folder: shared by all processes of a user."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from hashlib import blake2b
from itertools import count
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from doiuri.resolver._fork import ForkSafe
from doiuri.resolver.stores._memory import Entry, MemoryStore, alone_in, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    T = TypeVar("T")

FORMAT = 2  # of the tables, SQLite's user_version
KEEP = 180 * 86400  # seconds after which a stale entry that was not renewed is deleted
BATCH = 500  # keys in one query: SQLite's smallest limit is 999 parameters
IMPATIENT = 0.1  # seconds to wait for other processes, once that was in vain and until it is not
PERIOD = 3600.0  # seconds after which one process looks again whether there is too much

# What expires after 1e11, in the year 5138, was registered, not looked up: it stays, and is not indexed.
_SCHEMA = (
    # by a hash of the key: in one shallow tree of numbers, a look-up in many entries reads one page
    """CREATE TABLE IF NOT EXISTS entries (
        id INTEGER PRIMARY KEY, key TEXT, body BLOB, media_type TEXT, expires REAL, stored REAL
    )""",
    "CREATE INDEX IF NOT EXISTS entries_stored ON entries (stored) WHERE expires < 1e11",
    f"PRAGMA user_version = {FORMAT}",
)
_OLD = "DELETE FROM entries WHERE stored < ? AND expires < ? AND expires < 1e11"
# an entry never takes more than that, so what is left is half as much or more, and is soon told
_OLDEST = """DELETE FROM entries WHERE id IN (
    SELECT id FROM (
        SELECT id, sum(2 * length(body) + 1000) OVER newest_first AS size FROM entries
        WHERE expires < 1e11 WINDOW newest_first AS (ORDER BY stored DESC ROWS UNBOUNDED PRECEDING)
    ) WHERE size > ?
)"""
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class SQLiteStore(ForkSafe):
    """Answers in the SQLite file ``path``, for all threads and processes of a machine.

    ``timeout`` is how long to wait for other processes, in seconds. What was put is there even if the process
    is killed right after. Beyond ``limit`` octets the oldest answers are deleted, half of them perhaps, but
    not what never expires. A damaged file is set aside, and where nothing can be written (a read-only folder,
    a full disk, another program's database) the rest is kept in memory, each with a StoreWarning.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        timeout: float = 5.0,
        limit: int = 1_000_000_000,
    ) -> None:
        self._db: sqlite3.Connection | None = None
        super().__init__()
        self._inode: int | None = None
        self._unusable = False
        # of where we are now: the file is opened later, and again after a fork
        self.path = default_path() if path is None else Path(os.path.abspath(path))  # noqa: PTH100
        self._timeout = self._patience = timeout
        self._limit = limit
        self._bounded = -inf  # when that was looked after
        self._memory = MemoryStore()  # what could not be written
        self._warned: set[str] = set()

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        """The entries of those of the keys that are stored, stale ones too."""
        found = self._work("read", lambda db: _read(db, keys)) or {}
        return found | self._memory.get_many(keys)

    def put_many(self, entries: Mapping[str, Entry]) -> None:
        """Store the entries, all or none, before returning."""
        if entries and not self._work("written", lambda db: self._write(db, entries)):
            self._memory.put_many(entries)
        else:
            self._memory.discard(entries)

    def close(self) -> None:
        """Close the file; the store opens it again when used."""
        if self._lock.acquire(timeout=1.0):  # a thread that waits for the file has it open
            try:
                self._disconnect()
                self._unusable = False
            finally:
                self._lock.release()

    def __del__(self) -> None:
        self._disconnect()  # in time: the interpreter would warn of a file that is open at its end

    def _work(self, what: str, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Do ``work``, again where the file is damaged and was set aside; None if it cannot be done."""
        with self._lock:
            # in a transaction: the garbage collector ends an iteration while this very thread is writing
            busy = self._db is not None and self._db.in_transaction
            for _ in range(2):
                if self._unusable or busy:
                    break
                try:
                    return work(self._connection())
                except (sqlite3.Error, OSError) as error:
                    if not (_is(error, _DAMAGED) and self._set_aside(error)):
                        self._give_up(what, error)
                        break
        return None

    def _give_up(self, what: str, error: Exception) -> None:
        self._complain(f"cannot be {what} ({error}); answers are kept in memory")
        if _is(error, _LOCKED):
            self._wait_for(IMPATIENT)
        else:
            self._unusable = self._db is None

    def _wait_for(self, patience: float) -> None:
        """Wait so many seconds for other processes from now on: not for long again where it was in vain."""
        patience = min(patience, self._timeout)
        if patience != self._patience:
            self._patience = patience
            if self._db is not None:
                self._db.execute(f"PRAGMA busy_timeout = {int(1000 * patience)}")

    def _write(self, db: sqlite3.Connection, entries: Mapping[str, Entry]) -> bool:
        now = time.time()
        rows = [(_id(key), key, e.body, e.media_type, e.expires, now) for key, e in entries.items()]
        with db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?)", rows)
            db.execute(_OLD, (now - KEEP, now))
            if time.monotonic() > self._bounded + PERIOD:
                _bound(db, self._limit)
                self._bounded = time.monotonic()
        self._wait_for(self._timeout)
        return True

    def _connection(self) -> sqlite3.Connection:
        if self._inode != _inode(self.path):  # another process set the file aside, or someone deleted it
            self._disconnect()
        if self._db is None:
            self._db = self._open()
        return self._db

    def _open(self) -> sqlite3.Connection:
        uri = self.path.as_uri()
        try:
            # alone: SQLite would take the logs of the file that replaces a damaged one for the damaged one's
            with alone_in(self.path.parent, self._patience):
                return self._connect(f"{uri}?mode=rwc", _prepare)
        except (sqlite3.Error, OSError) as error:
            # what is locked may be half-written: a second look without locks could take it for damaged
            if _is(error, _DAMAGED | _LOCKED) or not self.path.exists():
                raise
            db = self._read_only(uri)
            self._complain(f"can only be read ({error}); new answers are kept in memory")
            return db

    def _read_only(self, uri: str) -> sqlite3.Connection:
        try:
            return self._connect(f"{uri}?mode=ro", _check)
        except sqlite3.OperationalError:  # no room for the files that WAL needs beside this one
            return self._connect(f"{uri}?immutable=1", _check)

    def _connect(self, uri: str, prepare: Callable[[sqlite3.Connection, float], None]) -> sqlite3.Connection:
        self._inode = _inode(self.path)
        db = sqlite3.connect(
            uri, uri=True, timeout=self._patience, isolation_level=None, check_same_thread=False
        )
        try:
            prepare(db, self._patience)
        except BaseException:
            db.close()
            raise
        self._inode = self._inode or _inode(self.path)
        return db

    def _disconnect(self) -> None:
        """Close the file; before a fork too, for SQLite's locks do not survive one."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def _set_aside(self, error: Exception) -> bool:
        """Rename the damaged file, unless another process has done so; False if it cannot be renamed."""
        self._disconnect()
        try:
            with alone_in(self.path.parent, self._patience):
                if self._inode == _inode(self.path):
                    aside = self._rename()
                    self._complain(f"is damaged ({error}) and was set aside as {aside.name}")
        except OSError:
            return False
        return True

    def _rename(self) -> Path:
        aside = next(p for n in count(1) if not (p := Path(f"{self.path}.damaged-{n}")).exists())
        for suffix in ("-wal", "-shm", ""):  # the log first: SQLite would play it into the new file
            with suppress(FileNotFoundError):
                Path(f"{self.path}{suffix}").replace(f"{aside}{suffix}")
        return aside

    def _complain(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            warn(f"the DOI store {self.path} {text}")


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def default_path() -> Path:
    """The file in the user's cache folder."""
    import platformdirs

    return platformdirs.user_cache_path("doiuri", appauthor=False) / f"store-{FORMAT}.sqlite3"


def _prepare(db: sqlite3.Connection, timeout: float) -> None:
    fresh = _format(db) == (0, False, False)
    if not fresh:
        _check(db, timeout)
    _use_wal(db, timeout)
    db.execute("PRAGMA synchronous = NORMAL")  # in WAL mode safe against a killed process
    if fresh:
        with db:
            db.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA:
                db.execute(statement)


def _use_wal(db: sqlite3.Connection, timeout: float) -> None:
    """Let readers and writers not block each other; SQLite does not wait for this switch, so we do."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if not _is(error, _LOCKED) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _check(db: sqlite3.Connection, _timeout: float) -> None:
    version, _, ours = _format(db)
    if not ours:
        raise sqlite3.OperationalError("it is another program's")
    if version != FORMAT:
        raise sqlite3.OperationalError(f"its format is {version}, this version knows {FORMAT}")


def _format(db: sqlite3.Connection) -> tuple[int, bool, bool]:
    """The format, whether there is anything, and whether there is what we make: in one look."""
    version, tables, ours = db.execute(
        "SELECT user_version, (SELECT count(*) FROM sqlite_master),"
        " (SELECT count(*) FROM sqlite_master WHERE name = 'entries') FROM pragma_user_version"
    ).fetchone()
    return version, bool(tables), bool(ours)


def _read(db: sqlite3.Connection, keys: Sequence[str]) -> dict[str, Entry]:
    found = {}
    for start in range(0, len(keys), BATCH):
        batch = {_id(key): key for key in keys[start : start + BATCH]}
        marks = ",".join("?" * len(batch))
        query = f"SELECT id, key, body, media_type, expires FROM entries WHERE id IN ({marks})"  # noqa: S608
        for number, key, body, media_type, expires in db.execute(query, tuple(batch)):
            if key == batch[number]:
                found[key] = Entry(body, media_type, expires)
    return found


def _id(key: str) -> int:
    """Where an entry is; of two keys in one place the later stays: once in 37 million stores of a million."""
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), signed=True)


def _bound(db: sqlite3.Connection, limit: int) -> None:
    """Delete the oldest of what expires, where it takes more than ``limit`` octets."""
    pages, free, size = (
        db.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_count", "freelist_count", "page_size")
    )
    if (pages - free) * size > limit:
        db.execute(_OLDEST, (limit,))


def _is(error: Exception, codes: frozenset[int]) -> bool:
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in codes
