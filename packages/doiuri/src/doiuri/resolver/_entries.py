"""Records as entries of a store: write and read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri._json import dump
from doiuri._resolution_errors import DOINotFound, NoValues, ResolutionError
from doiuri.records._record import Record
from doiuri.resolver._outcome import Outcome
from doiuri.resolver.stores._store import FOREVER, Key, new_entry
from doiuri.rest._answer import ResponseCode
from doiuri.rest._client import read_record

if TYPE_CHECKING:
    from doiuri._doi import Handle
    from doiuri.resolver.stores._store import Entry

JSON = "application/json"

NEGATIVE_TTL = 3600.0
"""Seconds for which a negative answer is fresh."""

MAX_AGE = 30 * 86400.0
"""Seconds for which an answer is fresh at most, even if its TTL is longer."""

DEFAULT_TTL = 86400.0
"""Seconds for which a record without a TTL is fresh: the usual TTL in the DOI system."""

_SUCCESS = b'{"responseCode":1,'
_NEGATIVE = (b'{"responseCode":100,', b'{"responseCode":200,')


def record_key(base: str, doi: Handle) -> Key:
    """Return the store's key of a record."""
    return Key("record", base, doi.key)


def exists_key(base: str, doi: Handle) -> Key:
    """Return the store's key of the answer that a DOI exists, and which agency registered it."""
    return Key("exists", base, doi.key)


def is_fresh(entry: Entry, now: float, max_age: float = MAX_AGE) -> bool:
    """Return whether an entry is fresh at ``now``, in Unix time; at 0 every entry is.

    An expiry further ahead than any that we give comes from a clock that was wrong: the entry is stale.
    """
    if not now:
        return True
    if entry.expires <= now:
        return False
    if entry.expires >= FOREVER:
        return True
    return entry.expires <= now + (NEGATIVE_TTL if entry.body.startswith(_NEGATIVE) else max_age)


def record_entry(record: Record) -> Entry:
    """Return the entry of a record."""
    ttl = DEFAULT_TTL if record.ttl is None else min(record.ttl, MAX_AGE)
    return new_entry(record.to_json().encode(), JSON, ttl)


def negative_entry(doi: Handle, error: ResolutionError) -> Entry:
    """Return the entry of a negative answer: DOINotFound or NoValues."""
    code = ResponseCode.HANDLE_NOT_FOUND if isinstance(error, DOINotFound) else ResponseCode.VALUE_NOT_FOUND
    body = dump({"responseCode": code, "handle": doi.name, "values": []})
    return new_entry(body.encode(), JSON, NEGATIVE_TTL)


def read_entry(doi: Handle, entry: Entry | None, now: float) -> Outcome | None:
    """Return what an entry that is fresh at ``now`` says about a name.

    None if it is stale, or was not written by us: other programs may have access to the store.
    """
    if entry is None or not is_fresh(entry, now):
        return None
    try:
        if entry.body.startswith(_SUCCESS):
            return Outcome(doi, "found", Record.deferred(doi, entry.body))
        return Outcome(doi, "found", read_record(doi, 200, entry.body))
    except (DOINotFound, NoValues) as error:
        return Outcome.from_error(doi, error)
    except ResolutionError:
        return None
