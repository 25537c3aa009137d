"""The store in an SQLite file, shared by all processes of a user."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from doiuri.resolver._breaker import Breaker
from doiuri.resolver.stores._store import Entry, ForkSafe, Key, Usage, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from sqlite3 import Connection

    T = TypeVar("T")

FORMAT = 3  # of the table, as SQLite's user_version
APPLICATION_ID = 0x444F4931  # "DOI1"
KEEP = 180 * 86400  # seconds after which a stale entry that was not renewed is deleted
PAUSE = 10.0  # seconds without attempts after a failure
BATCH = 500  # keys in one query; SQLite's lowest limit is 999 parameters
DELETED = 5_000  # entries that one write deletes at most: others wait for it

_OVERHEAD = 150  # approximate bytes that an entry takes besides its DOI and body
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
# UnicodeDecodeError: for messages that quote damaged names
_FAILURES = (sqlite3.Error, OSError, UnicodeDecodeError)

# The id is a hash of the key: a look-up in this one shallow tree of integers reads one page.
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY, kind TEXT, base TEXT, doi TEXT, detail TEXT,
    body BLOB, media_type TEXT, expires REAL, stored REAL
);
CREATE INDEX IF NOT EXISTS entries_stored ON entries (stored);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT};
COMMIT;
"""
_HEADER = """SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)
    FROM pragma_application_id, pragma_user_version"""
_COUNT = "SELECT count(*) FROM entries"
_SELECT = (
    "SELECT id, kind, base, doi, detail, body, media_type, expires FROM entries WHERE id IN ({})"
)
_CONTENT_SIZE = """SELECT (page_count - freelist_count) * page_size
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size"""
_OLDEST = "SELECT id, stored, length(doi) + length(body) FROM entries ORDER BY stored LIMIT ?"


class SQLiteStore(ForkSafe):
    """A store in an SQLite file, for all threads and processes of a machine.

    An entry survives even if the process is killed right after ``put_many`` returned. If the file cannot be
    read or written (locked, damaged, a full disk, another program's database), a StoreWarning is issued,
    nothing is found, and new entries are dropped.

    :param path: the file; by default ``doiuri/store-3.sqlite3`` in the user's cache folder.
    :param timeout: seconds to wait for other processes.
    :param limit: size of the content in bytes beyond which the oldest entries are deleted.
    :raises ValueError: if there is a file at ``path`` that is not an SQLite file.
    :raises RuntimeError: if ``path`` is left out, and the user has no home folder.
    """

    path: Path
    """The path of the file, absolute."""

    _db: Connection | None = None

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        timeout: float = 1.0,
        limit: int = 1_000_000_000,
    ) -> None:
        if path is None:
            self.path = _default_path()
        else:
            # absolute, so that a later change of directory does not matter
            self.path = Path(os.path.abspath(path))  # noqa: PTH100
            _check_kind(self.path)
        self._timeout = timeout
        self._limit = limit
        self._inode: int | None = None  # of the open file
        self._breakers = {"read": Breaker(PAUSE), "written": Breaker(PAUSE)}
        self._warned: set[str] = set()
        super().__init__()

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        """Return the entries that exist for these keys, stale ones included."""
        return self._try("read", lambda db: _read(db, keys)) or {}

    def put_many(self, entries: Mapping[Key, Entry]) -> None:
        """Store the entries in one transaction, before returning."""
        if entries:
            self._try("written", lambda db: self._write(db, entries))

    def usage(self) -> Usage:
        """Return how much the store holds.

        :raises OSError: if it cannot be read.
        """
        if not self.path.exists():
            return Usage(0, 0)
        count = self._require("read", _count)
        return Usage(count, self._size())

    def clear(self) -> Usage:
        """Delete all entries; return how much that was. Other processes may use the store meanwhile.

        :raises OSError: if that is impossible, for example while another process locks the file; then no
            entry is deleted.
        """
        if not self.path.exists():
            return Usage(0, 0)
        old_size = self._size()
        count = self._require("clear", _delete_all)
        return Usage(count, max(old_size - self._size(), 0))

    def close(self) -> None:
        """Close the file; the store opens it again when used."""
        with self._mutex:
            self._disconnect()

    def _disconnect(self) -> None:
        """Close the file; before a fork too, since SQLite's locks do not survive one."""
        if self._db is not None:
            self._db.close()
            self._db = None

    __del__ = _disconnect  # or the interpreter warns of an unclosed database when it exits

    def _try(self, access: str, query: Callable[[Connection], T]) -> T | None:
        """Run a query; None if that is impossible, with a StoreWarning, and for a while after that.

        :param access: "read" or "written", for the message, too.
        """
        with self._mutex:
            if self._breakers[access].is_open or self._is_writing():
                return None
            try:
                return query(self._connection())
            except _FAILURES as error:
                self._breakers[access].trip()
                self._warn_once(access, error)
                return None

    def _warn_once(self, access: str, error: Exception) -> None:
        """Warn that the store cannot be "read" or "written"; once for each message."""
        if str(error) in self._warned:
            return
        self._warned.add(str(error))
        is_damaged = isinstance(error, UnicodeDecodeError) or _code(error) in _DAMAGED
        consequence = "does not keep answers"
        if is_damaged:  # or another program's, with a person's data: we delete nothing
            consequence = "is damaged: delete it if doiuri made it, or choose another path"
        warn(f"the DOI store {self.path} cannot be {access} ({error}); it {consequence}")

    def _require(self, verb: str, query: Callable[[Connection], T]) -> T:
        """Run a query; raise OSError if that is impossible.

        :param verb: "read" or "clear", for the message.
        """
        with self._mutex:
            if self._is_writing():
                raise OSError(f"cannot {verb} the store {self.path} while this thread writes it")
            try:
                return query(self._connection())
            except _FAILURES as error:
                raise OSError(f"cannot {verb} the store {self.path}: {error}") from error

    def _is_writing(self) -> bool:
        """Return whether this thread is writing; the mutex, which it holds, is re-entrant.

        The garbage collector may close an iteration, which stores its answers, in the thread that is writing.
        """
        return self._db is not None and self._db.in_transaction

    def _connection(self) -> Connection:
        """Return the connection to the file that is at the path now."""
        if self._inode is None or self._inode != _inode(self.path):
            self._disconnect()
        self._db = self._db or self._open()
        return self._db

    def _open(self) -> Connection:
        """Return a connection to the file, which is created unless it is there.

        :raises sqlite3.Error: or OSError, if it is not a store of this format, or cannot be opened.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._check_owner()

        db = sqlite3.connect(
            self.path, timeout=self._timeout, isolation_level=None, check_same_thread=False
        )
        db.text_factory = lambda text: text.decode(errors="replace")  # one bad row hides no other
        try:
            _prepare(db)
        except BaseException:
            db.close()
            raise
        self._inode = _inode(self.path)
        return db

    def _check_owner(self) -> None:
        """Check that the file, if there is one, is a store, without changing it.

        A connection that may write would move what a program has left in its log into the database.
        """
        if not self.path.exists() or self.path.stat().st_size == 0:
            return
        address = f"{self.path.as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=self._timeout)) as db:
            if not _is_unused(db):
                _check_header(db)

    def _write(self, db: Connection, entries: Mapping[Key, Entry]) -> None:
        """Write entries; delete those that are too old and, if the store is full, more than these take."""
        now = time.time()
        rows = []
        added = 0  # bytes, approximately
        for key, entry in entries.items():
            rows.append((_id(key), *key, *entry, now))
            added += _OVERHEAD + len(key.doi) + len(entry.body)

        with db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany(
                "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
            )
            is_full = db.execute(_CONTENT_SIZE).fetchone()[0] > self._limit
            surplus = 1.5 * added if is_full else 0
            _delete_oldest(db, now - KEEP, surplus)

    def _size(self) -> int:
        """Return the size in bytes, with the files that SQLite keeps beside it."""
        size = 0
        for end in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                size += Path(f"{self.path}{end}").stat().st_size
        return size


def _default_path() -> Path:
    """Return the path of the file in the user's cache folder.

    :raises RuntimeError: if there is no home folder to find that in.
    """
    import platformdirs

    folder = platformdirs.user_cache_path("doiuri", appauthor=False)
    if not folder.is_absolute():  # some versions return "~/.cache" then
        raise RuntimeError(f"could not determine the home folder for {folder}")
    return folder / f"store-{FORMAT}.sqlite3"


def _id(key: Key) -> int:
    """Return the id of a key: 64 bits of its hash.

    Of two keys with one id, the later one wins; in a million entries the chance of that is 1 in 37 million.
    """
    return int.from_bytes(blake2b("\n".join(key).encode(), digest_size=8).digest(), signed=True)


def _read(db: Connection, keys: Sequence[Key]) -> dict[Key, Entry]:
    """Return the entries that exist for these keys, without those that another program has written."""
    entries = {}
    for start in range(0, len(keys), BATCH):
        keys_by_id = {_id(key): key for key in keys[start : start + BATCH]}
        query = _SELECT.format(",".join("?" * len(keys_by_id)))
        for row_id, *columns in db.execute(query, tuple(keys_by_id)):
            key = Key(*columns[:4])
            entry = Entry(*columns[4:])
            # SQLite does not enforce the types
            is_ours = [*map(type, entry)] == [bytes, str, float]
            if is_ours and key == keys_by_id[row_id]:
                entries[key] = entry
    return entries


def _count(db: Connection) -> int:
    (count,) = db.execute(_COUNT).fetchone()
    return int(count)


def _delete_oldest(db: Connection, before: float, octets: float) -> None:
    """Delete the oldest entries: all that were stored before a time, and others to free some bytes.

    The file's size would not tell when to stop: ids are hashes, so that entries leave gaps in all pages.
    """
    deleted = []
    left_to_free = octets
    for row_id, stored, size in db.execute(_OLDEST, (DELETED,)):
        if stored >= before and left_to_free <= 0:
            break
        deleted.append((row_id,))
        left_to_free -= _OVERHEAD + size
    db.executemany("DELETE FROM entries WHERE id = ?", deleted)


def _delete_all(db: Connection) -> int:
    """Delete all entries, and shrink the file if no other process reads it; return how many there were."""
    with db:
        db.execute("BEGIN IMMEDIATE")
        count = db.execute("DELETE FROM entries").rowcount
    with suppress(sqlite3.OperationalError):
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return count


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _prepare(db: Connection) -> None:
    """Make a new database a store, and prepare any store for use by several processes.

    :raises sqlite3.OperationalError: if it is not a store, or one of another format.
    """
    if _is_unused(db):
        db.executescript(_SCHEMA)
    _check_header(db)

    # Readers and a writer then do not block each other. It fails while another process switches the file to this
    # mode, and if the file cannot be written
    with suppress(sqlite3.OperationalError):
        db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")  # in WAL mode safe if the process is killed


def _is_unused(db: Connection) -> bool:
    """Return whether no program has put anything into a database, not even a number into its header."""
    return not any(db.execute(_HEADER).fetchone())


def _check_header(db: Connection) -> None:
    """Raise sqlite3.OperationalError, which says what to do, if a database is not a store of this format."""
    application_id, version, _ = db.execute(_HEADER).fetchone()
    if application_id != APPLICATION_ID:
        raise sqlite3.OperationalError("it is the database of another program; choose another path")
    if version != FORMAT:
        raise sqlite3.OperationalError(
            f"its format is {version}; this version of doiuri reads {FORMAT}: choose another path"
        )


def _code(error: BaseException | None) -> int:
    """Return the primary result code of an error."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _check_kind(path: Path) -> None:
    """Raise ValueError if there is a file at ``path`` that is not an SQLite file."""
    with suppress(OSError):
        size = path.stat().st_size
        # To open a database here and close it would release SQLite's locks (sqlite.org, How To Corrupt An SQLite
        # Database File, 2.2). So SQLite is asked first; a small file, which it takes for empty, is no database
        may_be_opened = 0 < size < 512 or (size and _is_no_database(path))
        if not may_be_opened:
            return
        with path.open("rb") as file:
            is_database = file.read(16) == b"SQLite format 3\0"
        if not is_database:
            raise ValueError(f"{path} is not a store but some other file; choose another path")


def _is_no_database(path: Path) -> bool:
    """Return whether SQLite says that a file is not a database; it does not if it cannot read the file."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=0)) as db:
            db.execute("PRAGMA schema_version").fetchone()
    except sqlite3.Error as error:
        return _code(error) == sqlite3.SQLITE_NOTADB
    return False


SQLiteStore.__module__ = "doiuri.resolver"  # for tracebacks and pickles
