"""The store in an SQLite file, shared by all processes of a user."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, TypeVar

from doiuri.resolver._fork import ForkSafe
from doiuri.resolver.stores._memory import UnsavedEntries
from doiuri.resolver.stores._store import Usage
from doiuri.resolver.stores.sqlite._file import SQLiteFile, absolute
from doiuri.resolver.stores.sqlite._format import LOCKED, check_kind, has_code
from doiuri.resolver.stores.sqlite._read import copy_store, entry_id, open_snapshot, read_dates, read_entries

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from doiuri.resolver.stores._store import Entry
    from doiuri.resolver.stores.sqlite._read import SQLiteSnapshot

    T = TypeVar("T")

KEEP = 180 * 86400  # seconds after which a stale entry that was not renewed is deleted
SIZE_CHECK_INTERVAL = 3600.0  # seconds between two checks of the size by one process
CLOSE_TIMEOUT = 1.0  # seconds that close() waits for a thread that uses the file

_FAILURES = (sqlite3.Error, OSError, UnicodeDecodeError)
_DELETE_OLD = "DELETE FROM entries WHERE stored < ? AND expires < ? AND expires < 1e11"
# The size is an upper bound, so at least half of the limit is kept
_DELETE_OLDEST = """DELETE FROM entries WHERE id IN (
    SELECT id FROM (
        SELECT id, sum(2 * length(body) + 1000) OVER newest_first AS size FROM entries
        WHERE expires < 1e11 WINDOW newest_first AS (ORDER BY stored DESC ROWS UNBOUNDED PRECEDING)
    ) WHERE size > ?
)"""


class SQLiteStore(ForkSafe):
    """A store in an SQLite file, for all threads and processes of a machine.

    An entry survives even if the process is killed right after ``put_many`` returned. A damaged store is
    renamed; any other file stays as it is. If the file cannot be written (a read-only folder, a full disk,
    another program's database), new entries are kept in memory, until the file has newer ones. Both cases
    issue a StoreWarning.

    :param path: the file; by default ``doiuri/store-2.sqlite3`` in the user's cache folder.
    :param timeout: seconds to wait for other processes.
    :param limit: size of the file in bytes beyond which the oldest entries are deleted, up to half of them.
        Entries that never expire are kept.
    :raises ValueError: if there is a file at ``path`` that is not an SQLite file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        timeout: float = 5.0,
        limit: int = 1_000_000_000,
    ) -> None:
        # before ForkSafe.__init__: another thread may fork right after it
        self._file = SQLiteFile(absolute(path), timeout)
        self._timeout = timeout
        if path is not None:
            check_kind(self._file.path)
        super().__init__()
        self._unusable = False
        self._limit = limit
        self._size_checked = -inf
        self._memory = UnsavedEntries()  # entries that could not be written

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._file.path

    def get_many(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the entries that exist for these keys, stale ones included."""
        if unsaved := list(self._memory.get_many(keys)):
            self._memory.discard_older(self._run("read", lambda db: read_dates(db, unsaved)) or {})
        found = self._run("read", lambda db: read_entries(db, keys)) or {}
        return found | self._memory.get_many(keys)

    def put_many(self, entries: Mapping[str, Entry]) -> None:
        """Store the entries in one transaction, before returning."""
        if entries and not self._run("written", lambda db: self._write(db, entries)):
            self._memory.put_many(entries)
        else:
            self._memory.discard(entries)

    def usage(self) -> Usage:
        """Return how much the store holds.

        :raises OSError: if it cannot be read.
        """
        if not self.path.exists():
            return Usage(0, 0)
        return Usage(self._require("read", _count), self._file.size())

    def clear(self) -> Usage:
        """Delete all entries; return how much that was. Other processes may use the store meanwhile.

        :raises OSError: if that is impossible, for example while another process locks the file; then no
            entry is deleted.
        """
        count = octets = 0
        if self.path.exists():
            octets = self._file.size()
            count = self._require("clear", _delete_all)
            octets = max(octets - self._file.size(), 0)
        self._memory.clear()
        return Usage(count, octets)

    def delete_many(self, keys: Sequence[str]) -> None:
        """Delete the entries for these keys in one transaction, before returning.

        :raises OSError: if that is impossible; then no entry is deleted.
        """
        if keys:
            self._require("delete entries of", lambda db: _delete(db, keys))
            self._memory.discard(keys)

    def snapshot(self) -> AbstractContextManager[SQLiteSnapshot]:
        """Return a context manager that yields a ``StoreSnapshot`` of the file; writers are not blocked.

        :raises OSError: on entering, if the file does not exist or cannot be read.
        """
        return open_snapshot(self.path, self._timeout)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of all entries to a new file, while other processes read and write the store.

        Every entry that was stored before the call is in the copy. A copy of the file by other means would
        lack the latest entries, which may still be in the file ``PATH-wal``.

        :param path: the file to write, complete or not at all; one that exists is replaced, and must not
            be in use. It gets the mode of the store's file.
        :raises OSError: if the store is damaged or cannot be read, or the copy cannot be written.
        :raises ValueError: if ``path`` is the store's own file.
        """
        copy_store(self.path, absolute(path), self._timeout)

    def close(self) -> None:
        """Close the file; the store opens it again when used."""
        # A thread that waits for a lock of SQLite's may hold ours, and has the file open
        if self._lock.acquire(timeout=CLOSE_TIMEOUT):
            try:
                self._disconnect()
                self._unusable = False
            finally:
                self._lock.release()

    def __del__(self) -> None:
        if hasattr(self, "_file"):  # or the interpreter warns of an unclosed database when it exits
            self._disconnect()

    def _disconnect(self) -> None:
        """Close the file; before a fork too, since SQLite's locks do not survive one."""
        self._file.close()

    def _run(self, what: str, query: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run a query; None if that is impossible, with a StoreWarning."""
        with self._lock:
            if self._unusable or self._is_writing():
                return None
            try:
                return self._result(query)
            except _FAILURES as error:
                self._file.warn(f"cannot be {what} ({error}); answers are kept in memory")
                self._give_up(error)
        return None

    def _require(self, what: str, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query; raise OSError if that is impossible."""
        with self._lock:
            if self._is_writing():
                raise OSError(f"cannot {what} the store {self.path} while this thread writes it")
            try:
                result = self._result(query)
            except _FAILURES as error:
                raise OSError(f"cannot {what} the store {self.path}: {error}") from error
        if result is None:
            raise OSError(f"cannot {what} the store {self.path}, because it is damaged")
        return result

    def _is_writing(self) -> bool:
        # The lock is re-entrant: the garbage collector may close an iteration in the thread that is writing
        return self._file.db is not None and self._file.db.in_transaction

    def _result(self, query: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run a query, again if the file was damaged and set aside; None if that happened twice."""
        for _ in range(2):
            try:
                return query(self._file.connection())
            except _FAILURES as error:
                if not self._file.recover(error):
                    raise
        return None

    def _give_up(self, error: Exception) -> None:
        if has_code(error, LOCKED):
            self._file.shorten_timeout()
        else:
            self._unusable = self._file.db is None

    def _write(self, db: sqlite3.Connection, entries: Mapping[str, Entry]) -> bool:
        now = time.time()
        rows = [(entry_id(key), key, e.body, e.media_type, e.expires, now) for key, e in entries.items()]
        with db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?)", rows)
            db.execute(_DELETE_OLD, (now - KEEP, now))
            if time.monotonic() > self._size_checked + SIZE_CHECK_INTERVAL:
                _limit_size(db, self._limit)
                self._size_checked = time.monotonic()
        self._file.restore_timeout()
        return True


def _count(db: sqlite3.Connection) -> int:
    (count,) = db.execute("SELECT count(*) FROM entries").fetchone()
    return int(count)


def _delete_all(db: sqlite3.Connection) -> int:
    with db:
        db.execute("BEGIN IMMEDIATE")
        count = db.execute("DELETE FROM entries").rowcount
    with suppress(sqlite3.OperationalError):  # another process is reading: the file keeps its size
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return count


def _delete(db: sqlite3.Connection, keys: Sequence[str]) -> bool:
    with db:
        db.execute("BEGIN IMMEDIATE")
        # the key, too: another one may have the same id
        db.executemany(
            "DELETE FROM entries WHERE id = ? AND CAST(key AS BLOB) = ?",
            [(entry_id(key), key.encode()) for key in keys],
        )
    return True


def _limit_size(db: sqlite3.Connection, limit: int) -> None:
    """Delete the oldest entries if the file has more than ``limit`` bytes in use."""
    pages, free, size = (
        db.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_count", "freelist_count", "page_size")
    )
    if (pages - free) * size > limit:
        db.execute(_DELETE_OLDEST, (limit,))
