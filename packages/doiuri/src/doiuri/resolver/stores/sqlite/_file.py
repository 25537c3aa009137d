"""Open an SQLite file, set it aside when damaged, fall back to read-only."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri._files._folder_lock import locked_folder
from doiuri.resolver.stores._store import warn
from doiuri.resolver.stores.sqlite._format import (
    DAMAGED,
    FORMAT,
    LOCKED,
    check,
    has_code,
    prepare,
    was_store,
)

if TYPE_CHECKING:
    from collections.abc import Callable

SHORT_TIMEOUT = 0.1  # seconds to wait for a lock after a full timeout was in vain, until a write succeeds

_Version = tuple[int, ...]


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
        if not has_code(error, DAMAGED):
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
                return self._connect(f"{uri}?mode=rwc", prepare)
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            # A locked file may be half-written: reading it without locks could take it for damaged
            if has_code(error, DAMAGED | LOCKED) or not self.path.exists():
                raise
            db = self._open_read_only(uri)
            self.warn(f"can only be read ({error}); new answers are kept in memory")
            return db

    def _open_read_only(self, uri: str) -> sqlite3.Connection:
        try:
            return self._connect(f"{uri}?mode=ro", check)
        except sqlite3.OperationalError:  # the folder has no room for the files that WAL needs
            # SQLite would never notice that another process writes the file
            self._version = _version(self.path)
            return self._connect(f"{uri}?immutable=1", check)

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
