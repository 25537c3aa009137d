"""What DOIs resolve to: the Resolver and its stores (``doiuri[resolver]``)."""

from doiuri.resolver._connection import Flight
from doiuri.resolver._from_options import open_resolver
from doiuri.resolver._metadata import Metadata
from doiuri.resolver._outcome import Outcome
from doiuri.resolver._resolver import Resolver
from doiuri.resolver._stores import Entry, MemoryStore, ReadStore, Store, StoreWarning, WriteStore
from doiuri.resolver._stores_lock import LockFile
from doiuri.resolver._stores_locked import LockedAnswers, at_home
from doiuri.resolver._stores_open import open_store
from doiuri.resolver._stores_redis import RedisStore
from doiuri.resolver._stores_sqlite import SQLiteStore
from doiuri.resolver._transport import Reply, Request, Transport, TransportError

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
    "open_resolver",
    "open_store",
]
