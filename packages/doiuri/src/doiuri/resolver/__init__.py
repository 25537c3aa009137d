"""What DOIs resolve to: the Resolver and its stores (``doiuri[resolver]``)."""

from doiuri.resolver._metadata import Metadata
from doiuri.resolver._outcome import Outcome
from doiuri.resolver._resolver import Resolver
from doiuri.resolver.http._connection import Flight
from doiuri.resolver.http._transport import Reply, Request, Transport, TransportError
from doiuri.resolver.stores._lock_file import LockFile
from doiuri.resolver.stores._locked import LockedAnswers, at_home
from doiuri.resolver.stores._memory import Entry, MemoryStore, ReadStore, Store, StoreWarning, WriteStore
from doiuri.resolver.stores._open import open_store
from doiuri.resolver.stores._redis import RedisStore
from doiuri.resolver.stores._sqlite import SQLiteStore

__all__ = [
    "Entry",
    "Flight",
    "LockFile",
    "LockedAnswers",
    "MemoryStore",
    "Metadata",
    "Outcome",
    "ReadStore",
    "RedisStore",
    "Reply",
    "Request",
    "Resolver",
    "SQLiteStore",
    "Store",
    "StoreWarning",
    "Transport",
    "TransportError",
    "WriteStore",
    "at_home",
    "open_store",
]
