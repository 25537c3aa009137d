"""Read an SQLite store: entries by key, all keys in one snapshot, a copy of the file."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri._files._replacing import replacing
from doiuri.resolver.stores._store import Entry
from doiuri.resolver.stores.sqlite._format import has_code, is_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BATCH = 500  # keys in one query; SQLite's lowest limit is 999 parameters

# Text as bytes: text of another program that is not UTF-8 would make the whole query fail
_SELECT = """SELECT id, CAST(key AS BLOB), body,
    CASE typeof(media_type) WHEN 'text' THEN CAST(media_type AS BLOB) END, expires
    FROM entries WHERE id IN"""
# Of a clock that was set back; other types than a number are greater than numbers
_SELECT_DATE = "SELECT stored FROM entries WHERE id = ? AND CAST(key AS BLOB) = ? AND stored <= ?"
_WRITE_ERRORS = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY})
_READ_ERRORS = frozenset({sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ})
_KEYS = "FROM entries WHERE typeof(key) = 'text' AND substr(key, 1, ?) = ?"


class SQLiteSnapshot:
    """The entries of an SQLite store at one moment; see ``StoreSnapshot``."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._path = path

    def keys(self, prefix: str) -> Iterator[str]:
        """Yield the keys that begin with ``prefix``, in the order of their code points."""
        with _readable(self._path):
            rows = self._db.execute(
                f"SELECT CAST(key AS BLOB) {_KEYS} ORDER BY CAST(key AS BLOB)",
                (len(prefix), prefix),
            )
            for (encoded,) in rows:
                with suppress(UnicodeDecodeError):  # another program's
                    yield encoded.decode()

    def count(self, prefix: str) -> int:
        """Return how many keys begin with ``prefix``."""
        with _readable(self._path):
            query = f"SELECT count(*) {_KEYS}"
            return int(self._db.execute(query, (len(prefix), prefix)).fetchone()[0])

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the entries that exist for these keys."""
        with _readable(self._path):
            return read_entries(self._db, keys)


@contextmanager
def open_snapshot(path: Path, timeout: float) -> Iterator[SQLiteSnapshot]:
    """Open a snapshot of the store at ``path``, which is never created, renamed or written.

    :raises OSError: if it cannot be read.
    """
    with _opened(path, timeout) as db:
        db.execute("BEGIN")
        db.execute("SELECT 1 FROM entries LIMIT 1").fetchone()  # a transaction begins with its first query
        yield SQLiteSnapshot(db, path)


def copy_store(path: Path, target: Path, timeout: float) -> None:
    """Write a copy of the store at ``path`` to a new file with the same mode, complete or not at all.

    :raises OSError: if the store is damaged or cannot be read, or the file cannot be written.
    :raises ValueError: if ``target`` is the store.
    """
    mode = stat.S_IMODE(path.stat().st_mode)
    if target.exists() and target.samefile(path):
        raise ValueError(f"{target} is the store itself; give another file for the copy")
    if target.exists() and not target.is_file():
        raise OSError(f"cannot write {target}: not a regular file")
    with (
        _opened(path, timeout) as source,
        _draft(target, mode) as draft,
        closing(sqlite3.connect(draft)) as copy,
    ):
        with _writable(target):
            # In one step, so that writers cannot make it start again
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, also in a read-only folder
        (problem,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if problem != "ok":  # damaged pages are copied as they are
            raise OSError(f"cannot copy the store {path}, because it is damaged: {problem}")
    _sync(target.parent)


@contextmanager
def _draft(target: Path, mode: int) -> Iterator[Path]:
    """Yield the path of a new file, which replaces ``target`` at the end."""
    with ExitStack() as stack:
        try:
            draft = stack.enter_context(replacing(target, mode=mode, follow_symlinks=False))
        except OSError as error:
            raise OSError(f"cannot write {target}: {error.strerror}") from None
        try:
            yield draft
        finally:
            _unlink_beside(draft, "-journal", "-wal", "-shm")
        _unlink_beside(target, "-wal", "-shm")  # of an earlier file: SQLite would apply them to the new one


def _unlink_beside(path: Path, *suffixes: str) -> None:
    for suffix in suffixes:
        Path(f"{path}{suffix}").unlink(missing_ok=True)


@contextmanager
def _writable(target: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        if error.sqlite_errorcode in _READ_ERRORS or not has_code(error, _WRITE_ERRORS):
            raise  # the error is the source's
        raise OSError(f"cannot write {target}: {error}") from None


def read_entries(db: sqlite3.Connection, keys: Sequence[str]) -> dict[str, Entry]:
    """Return the entries that exist for these keys."""
    found = {}
    for start in range(0, len(keys), BATCH):
        batch = {entry_id(key): key for key in keys[start : start + BATCH]}
        query = f"{_SELECT} ({','.join('?' * len(batch))})"
        for number, encoded, body, media_type, expires in db.execute(query, tuple(batch)):
            key = batch[number]
            if encoded == key.encode() and _is_entry(body, media_type, expires):
                found[key] = Entry(body, media_type.decode(errors="replace"), expires)
    return found


def read_dates(db: sqlite3.Connection, keys: Sequence[str]) -> dict[str, float]:
    """Return when the entries that exist for these keys were stored, in Unix time, unless in the future."""
    found, now = {}, time.time()
    for key in keys:
        row = db.execute(_SELECT_DATE, (entry_id(key), key.encode(), now)).fetchone()
        if row is not None:
            found[key] = row[0]
    return found


def entry_id(key: str) -> int:
    """Return the id of an entry. Of two keys with one id the later replaces the earlier.

    With a million entries the chance of any such pair is 1 in 37 million.
    """
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), signed=True)


def _is_entry(body: object, media_type: object, expires: object) -> bool:
    """Return whether the columns of a row, whose types SQLite does not enforce, are those of an entry."""
    return isinstance(body, bytes) and isinstance(media_type, bytes) and isinstance(expires, (int, float))


@contextmanager
def _opened(path: Path, timeout: float) -> Iterator[sqlite3.Connection]:
    with _readable(path), closing(_open(path, timeout)) as db:
        if not is_store(db):
            raise OSError(f"{path} is not a store")
        yield db


def _open(path: Path, timeout: float) -> sqlite3.Connection:
    # SQLite does not name the reason. To try with open() would release the process's locks on the file.
    path.stat()
    if not os.access(path, os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    try:
        return _connect(path, "mode=ro", timeout)
    except sqlite3.OperationalError:
        # A folder without room for the files that WAL needs; but a WAL holds the latest entries
        wal = Path(f"{path}-wal")
        if wal.exists() and wal.stat().st_size:
            raise
        return _connect(path, "immutable=1", timeout)


def _connect(path: Path, mode: str, timeout: float) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{mode}"
    db = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA schema_version").fetchone()
    except BaseException:
        db.close()
        raise
    return db


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if has_code(error, frozenset({sqlite3.SQLITE_NOTADB})):
            raise OSError(f"{path} is not a store") from None
        raise OSError(f"cannot read the store {path}: {error}") from error


def _sync(folder: Path) -> None:
    """Write a folder to the disk, so that not even a power failure loses a new file in it."""
    if os.name == "nt":  # a folder cannot be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
