"""The choice of a store by its address."""

from __future__ import annotations

import os
import re
from pathlib import Path

from doiuri.resolver._stores import MemoryStore
from doiuri.resolver._stores_lock import LockFile
from doiuri.resolver._stores_redis import RedisStore
from doiuri.resolver._stores_sqlite import SQLiteStore

MEMORY = ":memory:"

_REDIS = frozenset({"redis", "rediss", "valkey", "valkeys", "unix"})
_LOCK_FILES = (".json", ".lock")


def open_store(
    where: str | os.PathLike[str] | None = None,
) -> MemoryStore | SQLiteStore | LockFile | RedisStore:
    """Open the store at an address, the value of ``DOIURI_CACHE``.

    ``:memory:``; ``redis://`` and ``rediss://`` URLs; a path that ends in ``.json`` or ``.lock`` is that of a
    lock file; any other path is that of an SQLite file, or the folder for one; None is the SQLite file in the
    user's cache folder. Raises ValueError for anything else, ImportError where redis-py is not installed.
    """
    if where is None:
        return SQLiteStore(None)
    text = os.fspath(where)
    if text == MEMORY:
        return MemoryStore()
    scheme, colon, rest = text.partition(":")
    if colon and scheme.lower() in _REDIS and rest.startswith("//"):
        return RedisStore(text)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", text):
        if scheme.lower() != "sqlite":
            raise ValueError(f"no store is known for {scheme}: (a path, {MEMORY}, redis://… or rediss://…)")
        text = rest.removeprefix("//")
    if not text.strip() or "\0" in text:
        raise ValueError(f"{text!r} is no path for a store")
    try:
        path = Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{text!r} is no path for a store: {error}") from None
    if path.name.lower().endswith(_LOCK_FILES):
        return LockFile(path)
    # not Path.is_dir, which raises where a folder above may not be read
    folder = os.path.isdir(path) or text.endswith(("/", os.sep))  # noqa: PTH112
    return SQLiteStore(path / "doiuri.sqlite3" if folder else path)
