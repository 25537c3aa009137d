"""The Resolver and its stores (``pip install "doiuri[resolver]"``)."""

from importlib.util import find_spec

for _needed in ("requests", "platformdirs"):
    if find_spec(_needed) is None:  # found, not imported: that takes long, and stored answers need neither
        raise ModuleNotFoundError(
            f'doiuri.resolver needs {_needed}: pip install "doiuri[resolver]"', name=_needed
        )

from doiuri.resolver._metadata import Metadata
from doiuri.resolver._outcome import Outcome
from doiuri.resolver._resolver import Resolver
from doiuri.resolver.http._request import Reply, Request, Transport, TransportError
from doiuri.resolver.stores._lock_file import Differences, LockedAnswers, LockFile
from doiuri.resolver.stores._lock_format import key_base, key_doi, lock_key, lock_name
from doiuri.resolver.stores._memory import MemoryStore
from doiuri.resolver.stores._open import open_store
from doiuri.resolver.stores._recording import RecordingStore
from doiuri.resolver.stores._store import (
    Entry,
    ReadStore,
    Store,
    StoreSnapshot,
    StoreWarning,
    Usage,
    WriteStore,
)
from doiuri.resolver.stores.redis._store import RedisStore
from doiuri.resolver.stores.sqlite._store import SQLiteStore

__all__ = [
    "Differences",
    "Entry",
    "LockFile",
    "LockedAnswers",
    "MemoryStore",
    "Metadata",
    "Outcome",
    "ReadStore",
    "RecordingStore",
    "RedisStore",
    "Reply",
    "Request",
    "Resolver",
    "SQLiteStore",
    "Store",
    "StoreSnapshot",
    "StoreWarning",
    "Transport",
    "TransportError",
    "Usage",
    "WriteStore",
    "key_base",
    "key_doi",
    "lock_key",
    "lock_name",
    "open_store",
]
