"""The choice of a store by its address."""

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
    """Open the store at an address, the value of ``DOIURI_CACHE``.

    ``:memory:``; ``redis://`` and ``rediss://`` URLs; a path that ends in ``.json`` or ``.lock`` is that of a
    lock file; any other path is that of an SQLite file, or the folder for one; None is the SQLite file in the
    user's cache folder. Raises ValueError for anything else, and where redis-py is needed and not installed.
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
        raise ValueError(f"{text!r} is no path for a store: {error}") from None
    if kind == "lock":
        return LockFile(path)
    # not Path.is_dir, which raises where a folder above may not be read
    folder = os.path.isdir(path) or text.endswith(("/", os.sep))  # noqa: PTH112
    return SQLiteStore(path / "doiuri.sqlite3" if folder else path)
