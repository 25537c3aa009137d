"""Which entries of a store count: those that are fresh, and that no later answer contradicts."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from doiuri.resolver.stores._store import MAX_AGE, SUCCESS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from doiuri.resolver.stores._store import Entry, Key

NEGATIVE_TTL = 3600.0
"""Seconds for which it is remembered that a DOI does not exist or has no values."""

DAY = 86400.0
"""Seconds for which a record is fresh at most, and an answer that does not say for how long: the usual TTL."""


def uncontradicted(keys: Sequence[Key], entries: Mapping[Key, Entry]) -> dict[Key, Entry | None]:
    """Return what stands about one DOI: the entries of its keys, also stale ones; None for missing or void ones.

    Whether a DOI exists is one fact, of which the newest definite answer counts, whichever question it answers.
    So the answer that it does not exist makes all earlier ones void, even after it has expired itself.
    """
    standing = {key: entries.get(key) for key in keys}
    absent_since = -inf  # when the answer was received that the DOI does not exist, if there is one
    for key, entry in standing.items():
        if key.kind == "record" and entry is not None and entry.says_not_found:
            absent_since = _received(key, entry)
    if absent_since == -inf:
        return standing

    for key, entry in list(standing.items()):
        if entry is not None and key.kind != "record" and _received(key, entry) <= absent_since:
            standing[key] = None
    return standing


def _received(key: Key, entry: Entry) -> float:
    """Return when an answer was received; not of a record with values, whose lifetime the server decides.

    In a lock file it is infinity: no answer in it is newer than the one that the DOI does not exist.
    """
    return entry.expires - _longest(key, entry)


def fresh_entry(key: Key, entry: Entry | None, now: float) -> Entry | None:
    """Return an entry if it is fresh at the time ``now``, and None if it is stale or missing.

    One that would be fresh for longer than its kind may be was stored while the clock was ahead: it is stale.
    An entry that never expires is that of a lock file.
    """
    if entry is None or entry.expires <= now:
        return None
    if entry.expires < inf and entry.expires - now > _longest(key, entry):
        return None
    return entry


def _longest(key: Key, entry: Entry) -> float:
    """Return the seconds for which the entry of a key is fresh at most."""
    if key.kind == "record" and not entry.body.startswith(SUCCESS):
        return NEGATIVE_TTL
    if key.kind in {"record", "metadata"} or entry.says_none:
        return DAY
    return MAX_AGE
