"""Open the store at an address."""

from __future__ import annotations

import os
from pathlib import Path

from doiuri._settings import store_kind
from doiuri.resolver.stores._lock_file import LockFile
from doiuri.resolver.stores._memory import MemoryStore
from doiuri.resolver.stores._redis import RedisStore
from doiuri.resolver.stores._sqlite import SQLiteStore


def open_store(
    where: str | os.PathLike[str] | None = None,
) -> MemoryStore | SQLiteStore | LockFile | RedisStore:
    """Open the store at an address.

    :param where: an address as in ``DOIURI_CACHE``: ``:memory:``, a ``redis://`` or ``rediss://`` URL, or a
        path. A path that ends in ``.json`` or ``.lock`` is a lock file; a folder gets an SQLite file; any
        other path is an SQLite file. None is the SQLite file in the user's cache folder.
    :raises ValueError: for any other address, or if redis-py is needed and not installed.

    >>> from doiuri.resolver import open_store
    >>> type(open_store(":memory:")).__name__
    'MemoryStore'
    """
    if where is None:
        return SQLiteStore(None)
    kind, text = store_kind(os.fspath(where))
    if kind == "memory":
        return MemoryStore()
    if kind == "redis":
        return RedisStore(text)
    try:
        path = Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{text!r} is not a path for a store: {error}") from None
    if kind == "lock":
        return LockFile(path)
    # not Path.is_dir, which raises if a parent folder may not be read
    folder = os.path.isdir(path) or text.endswith(("/", os.sep))  # noqa: PTH112
    return SQLiteStore(path / "doiuri.sqlite3" if folder else path)
