"""The Resolver and its stores (``pip install "doiuri[resolver]"``)."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

# Found, not imported: that takes long, and stored answers need neither
for _needed in ("requests", "platformdirs"):
    if find_spec(_needed) is None:
        raise ModuleNotFoundError(
            f'doiuri.resolver needs {_needed}: pip install "doiuri[resolver]"', name=_needed
        )

if TYPE_CHECKING:
    from doiuri.resolver._lock_file import LockContent, LockFile
    from doiuri.resolver._outcome import Cause, Metadata, Outcome
    from doiuri.resolver._process import open_store
    from doiuri.resolver._resolver import Resolver
    from doiuri.resolver._settings import Settings
    from doiuri.resolver.http import Reply, Request, Transport, TransportError
    from doiuri.resolver.stores._redis import RedisStore
    from doiuri.resolver.stores._sqlite import SQLiteStore
    from doiuri.resolver.stores._store import Entry, Key, MemoryStore, Store, StoreWarning

__all__ = [
    "Cause",
    "Entry",
    "Key",
    "LockContent",
    "LockFile",
    "MemoryStore",
    "Metadata",
    "Outcome",
    "RedisStore",
    "Reply",
    "Request",
    "Resolver",
    "SQLiteStore",
    "Settings",
    "Store",
    "StoreWarning",
    "Transport",
    "TransportError",
    "open_store",
]

# Imported when used: a command that only reads a lock file starts several times as fast
_MODULES = {
    **dict.fromkeys(("Cause", "Metadata", "Outcome"), "_outcome"),
    "Resolver": "_resolver",
    "Settings": "_settings",
    **dict.fromkeys(("Reply", "Request", "Transport", "TransportError"), "http"),
    **dict.fromkeys(("LockContent", "LockFile"), "_lock_file"),
    "open_store": "_process",
    "RedisStore": "stores._redis",
    "SQLiteStore": "stores._sqlite",
    **dict.fromkeys(("Entry", "Key", "MemoryStore", "Store", "StoreWarning"), "stores._store"),
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
