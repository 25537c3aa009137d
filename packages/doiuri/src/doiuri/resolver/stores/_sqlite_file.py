"""Open an SQLite file, create its tables, set it aside when damaged, fall back to read-only."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, nullcontext, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri.resolver.stores._folder_lock import locked_folder
from doiuri.resolver.stores._store import warn

if TYPE_CHECKING:
    from collections.abc import Callable

FORMAT = 2  # of the tables; kept in SQLite's user_version
APPLICATION_ID = 0x444F4931  # "DOI1"; in bytes 68 to 71 of the file
SHORT_TIMEOUT = 0.1  # seconds to wait for a lock after a full timeout was in vain, until a write succeeds

_SMALLEST = 512  # octets of an SQLite file that is not empty
_MAGIC = b"SQLite format 3\0"
_COLUMNS = """
        id INTEGER PRIMARY KEY, key TEXT, body BLOB, media_type TEXT, expires REAL, stored REAL
    """
_COLUMN_NAMES = "id,key,body,media_type,expires,stored"
# Entries that expire after 1e11 (the year 5138) are registered, not cached: they are kept, and not indexed.
_SCHEMA = (
    # the id is a hash of the key: a lookup in this one shallow tree of integers reads one page
    f"CREATE TABLE IF NOT EXISTS entries ({_COLUMNS})",
    "CREATE INDEX IF NOT EXISTS entries_stored ON entries (stored) WHERE expires < 1e11",
    f"PRAGMA user_version = {FORMAT}",
)
_Version = tuple[int, ...]
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class SQLiteFile:
    """A connection to the SQLite file ``path``, opened when first needed. Not thread-safe.

    :param path: an absolute path.
    :param timeout: seconds to wait for other processes.
    """

    def __init__(self, path: Path, timeout: float) -> None:
        self.db: sqlite3.Connection | None = None
        self.path = path
        self._timeout = self._current_timeout = timeout
        self._inode: int | None = None
        self._version: _Version | None = None  # of a file that SQLite takes for immutable
        self._warned: set[str] = set()

    def connection(self) -> sqlite3.Connection:
        """Return the connection to the file that is at the path now."""
        # Another process set the file aside, somebody deleted it, or an immutable one was written
        if self._inode != _inode(self.path) or self._is_outdated():
            self.close()
        if self.db is None:
            self.db = self._open()
        return self.db

    def close(self) -> None:
        """Close the file, if it is open."""
        self._version = None
        if self.db is not None:
            self.db.close()
            self.db = None

    def size(self) -> int:
        """Return the size in bytes, with the files that SQLite keeps beside it."""
        names = (self.path.with_name(f"{self.path.name}{end}") for end in ("", "-wal", "-shm"))
        return sum(name.stat().st_size for name in names if name.exists())

    def recover(self, error: Exception) -> bool:
        """Set a damaged store aside; return False for any other error or file, or if it cannot be renamed."""
        if self._is_outdated():  # written while it was read without locks
            self.close()
            return True
        if not has_code(error, _DAMAGED):
            return False
        self.close()
        try:
            with locked_folder(self.path.parent, self._current_timeout):
                if self._inode == _inode(self.path):  # otherwise another process has done so
                    if not was_store(self.path):
                        return False
                    aside = self._rename()
                    self.warn(f"is damaged ({error}) and was set aside as {aside.name}")
        except OSError:
            return False
        return True

    def shorten_timeout(self) -> None:
        """Wait only a short time for locks, after a full timeout was in vain."""
        self._set_timeout(SHORT_TIMEOUT)

    def restore_timeout(self) -> None:
        """Wait the full timeout for locks again."""
        self._set_timeout(self._timeout)

    def warn(self, text: str) -> None:
        """Warn once about the file."""
        if text not in self._warned:
            self._warned.add(text)
            warn(f"the DOI store {self.path} {text}")

    def _is_outdated(self) -> bool:
        return self._version is not None and self._version != _version(self.path)

    def _set_timeout(self, timeout: float) -> None:
        timeout = min(timeout, self._timeout)
        if timeout != self._current_timeout:
            self._current_timeout = timeout
            if self.db is not None:
                self.db.execute(f"PRAGMA busy_timeout = {int(1000 * timeout)}")

    def _open(self) -> sqlite3.Connection:
        uri = self.path.as_uri()
        try:
            # Locked: SQLite would apply the WAL of a file that replaces a damaged one to the damaged one
            with locked_folder(self.path.parent, self._current_timeout):
                return self._connect(f"{uri}?mode=rwc", _prepare)
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            # A locked file may be half-written: reading it without locks could take it for damaged
            if has_code(error, _DAMAGED | LOCKED) or not self.path.exists():
                raise
            db = self._open_read_only(uri)
            self.warn(f"can only be read ({error}); new answers are kept in memory")
            return db

    def _open_read_only(self, uri: str) -> sqlite3.Connection:
        try:
            return self._connect(f"{uri}?mode=ro", _check)
        except sqlite3.OperationalError:  # the folder has no room for the files that WAL needs
            # SQLite would never notice that another process writes the file
            self._version = _version(self.path)
            return self._connect(f"{uri}?immutable=1", _check)

    def _connect(self, uri: str, prepare: Callable[[sqlite3.Connection, float], None]) -> sqlite3.Connection:
        self._inode = _inode(self.path)
        timeout = self._current_timeout
        db = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False)
        try:
            prepare(db, timeout)
        except BaseException:
            db.close()
            raise
        self._inode = self._inode or _inode(self.path)
        return db

    def _rename(self) -> Path:
        aside = next(p for n in count(1) if not (p := Path(f"{self.path}.damaged-{n}")).exists())
        for suffix in ("-wal", "-shm", ""):  # the WAL first: SQLite would apply it to the new file
            with suppress(FileNotFoundError):
                Path(f"{self.path}{suffix}").replace(f"{aside}{suffix}")
        return aside


def default_path() -> Path:
    """Return the path of the file in the user's cache folder."""
    import platformdirs

    return platformdirs.user_cache_path("doiuri", appauthor=False) / f"store-{FORMAT}.sqlite3"


def absolute(path: str | os.PathLike[str] | None) -> Path:
    """Return the absolute path, so that a later change of directory does not matter."""
    return default_path() if path is None else Path(os.path.abspath(path))  # noqa: PTH100


def is_store(db: sqlite3.Connection) -> bool:
    """Return whether a database is a store.

    Stores of earlier versions have no application id; they are recognised by their table.
    """
    _, _, application_id, columns = _format(db)
    return application_id == APPLICATION_ID or (not application_id and columns == _COLUMN_NAMES)


def was_store(path: Path) -> bool:
    """Return whether the first page of a damaged file is that of a store.

    Only for a file that SQLite cannot read, because closing it releases this process's locks on it.
    """
    with path.open("rb") as file:
        page = file.read(4096)
    if not page.startswith(_MAGIC):
        return False
    return page[68:72] == APPLICATION_ID.to_bytes(4, "big") or (
        page[68:72] == bytes(4) and f"CREATE TABLE entries ({_COLUMNS})".encode() in page
    )


def check_kind(path: Path) -> None:
    """Raise ValueError if there is a file at ``path`` that is not an SQLite file."""
    if not _is_no_database(path):
        return
    try:
        with path.open("rb") as file:
            head = file.read(len(_MAGIC))
    except OSError:  # it may become readable later
        return
    if head and head != _MAGIC:
        raise ValueError(f"{path} is not a store but some other file; choose another path")


def _is_no_database(path: Path) -> bool:
    """Return whether SQLite says so.

    To close the file by ourselves would release the locks of all connections of this process to it
    (sqlite.org, How To Corrupt An SQLite Database File, 2.2), so SQLite is asked first.
    """
    try:
        size = path.stat().st_size
    except (OSError, ValueError):  # it does not exist, or cannot
        return False
    if size < _SMALLEST:  # nobody has a lock on it: SQLite writes whole pages
        return size > 0
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=0)) as db:
            db.execute("PRAGMA schema_version").fetchone()
    except sqlite3.Error as error:
        return has_code(error, frozenset({sqlite3.SQLITE_NOTADB}))
    return False


def has_code(error: Exception, codes: frozenset[int]) -> bool:
    """Return whether an error is an SQLite error with one of these primary result codes."""
    if isinstance(error, UnicodeDecodeError):  # the message about a damaged schema quotes it
        return sqlite3.SQLITE_CORRUPT in codes
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in codes


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _version(path: Path) -> _Version:
    """Return what tells whether a file or its WAL was written."""
    version: list[int] = []
    for file in (path, Path(f"{path}-wal")):
        with suppress(OSError):
            status = file.stat()
            version += (status.st_mtime_ns, status.st_size)
    return tuple(version)


def _prepare(db: sqlite3.Connection, timeout: float) -> None:
    version, tables, application_id, _ = _format(db)
    is_new = not version and not tables and application_id in {0, APPLICATION_ID}
    if not is_new:
        _check(db, timeout)
    if not application_id:  # new, or of an earlier version
        with nullcontext() if is_new else suppress(sqlite3.OperationalError):
            # before WAL mode: a damaged WAL must not hide whose file it is
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    _use_wal(db, timeout)
    db.execute("PRAGMA synchronous = NORMAL")  # in WAL mode safe if the process is killed
    if is_new:
        with db:
            db.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA:
                db.execute(statement)


def _use_wal(db: sqlite3.Connection, timeout: float) -> None:
    """Switch to WAL mode, so that readers and a writer do not block each other."""
    deadline = time.monotonic() + timeout
    while True:  # the busy timeout does not apply to this statement
        try:
            db.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if not has_code(error, LOCKED) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _check(db: sqlite3.Connection, _timeout: float) -> None:
    if not is_store(db):
        raise sqlite3.OperationalError("the database belongs to another program")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version != FORMAT:
        raise sqlite3.OperationalError(f"its format is {version}; this version of doiuri reads {FORMAT}")


def _format(db: sqlite3.Connection) -> tuple[int, int, int, str | None]:
    """Return the format, the number of tables, the application id and our table's columns."""
    version, tables, application_id, columns = db.execute(
        "SELECT user_version, (SELECT count(*) FROM sqlite_master), application_id,"
        " (SELECT group_concat(name) FROM pragma_table_info('entries'))"
        " FROM pragma_user_version, pragma_application_id"
    ).fetchone()
    return version, tables, application_id, columns
