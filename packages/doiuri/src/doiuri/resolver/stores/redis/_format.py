"""The keys and values of a Redis store."""

from __future__ import annotations

import json

from doiuri.resolver.stores._store import Entry

FORMAT = 1  # of keys and values, part of every key


def name_of(key: str) -> str:
    """Return the key of an entry on the server."""
    return f"doiuri:{FORMAT}:{key}"


def head_of(entry: Entry) -> bytes:
    """Return the first line of a value; the server may add when the answer came, by its clock."""
    return json.dumps([entry.media_type, entry.expires]).encode()


def pack(entry: Entry) -> bytes:
    """Return the value of an entry, without the time of its answer."""
    return head_of(entry) + b"\n" + entry.body


def unpack(stored: object) -> Entry | None:
    """Return the entry in a value; None if there is no value or it has another format."""
    media_type, expires, body, _ = _parts(stored) or ("", 0.0, None, None)
    return None if body is None else Entry(body, media_type, expires)


def date_in(stored: object) -> float | None:
    """Return when the answer in a value came, by the server's clock; None if that is unknown."""
    parts = _parts(stored)
    return None if parts is None else parts[3]


def _parts(stored: object) -> tuple[str, float, bytes, float | None] | None:
    if not isinstance(stored, bytes):
        return None
    head, _, body = stored.partition(b"\n")
    try:
        media_type, expires, *answered = json.loads(head)
        if not isinstance(media_type, str) or len(answered) > 1:
            return None
        date = answered[0] if answered and isinstance(answered[0], float) else None
        return media_type, float(expires), body, date
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None
