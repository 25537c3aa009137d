"""What makes an SQLite file a store: its id, its format, its tables."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing, nullcontext, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = 2  # of the tables; kept in SQLite's user_version
APPLICATION_ID = 0x444F4931  # "DOI1"; in bytes 68 to 71 of the file

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
DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


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


def prepare(db: sqlite3.Connection, timeout: float) -> None:
    """Make a new database a store, and prepare any store for use by several processes."""
    version, tables, application_id, _ = _format(db)
    is_new = not version and not tables and application_id in {0, APPLICATION_ID}
    if not is_new:
        check(db, timeout)
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


def check(db: sqlite3.Connection, _timeout: float) -> None:
    """Raise sqlite3.OperationalError if a database is no store, or one of another version."""
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
