"""One DOI's metadata of one kind: from the store, or from its registration agency by way of the DOI proxy."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from doiuri._resolution_errors import BadRecord, DOINotFound, NoValues, ResolverUnavailable
from doiuri.resolver._call import run_call
from doiuri.resolver._entries import MAX_AGE, is_fresh, read_entry
from doiuri.resolver._records import MAX_URL
from doiuri.resolver.content._kinds import MAX_SIZE
from doiuri.resolver.http._request import Request, is_elsewhere
from doiuri.resolver.stores._store import Key, new_entry
from doiuri.rest._client import retry_after

if TYPE_CHECKING:
    from doiuri._doi import Handle
    from doiuri.resolver._call import Call
    from doiuri.resolver._records import Records
    from doiuri.resolver.content._kinds import Kind
    from doiuri.resolver.http._request import Reply
    from doiuri.resolver.stores._store import Entry

T = TypeVar("T")

NOTHING_TTL = 86400.0
"""Seconds for which it is remembered that an agency has no metadata."""

_NOTHING = b"null"  # the body of the entry that says so
_ABSENT = frozenset({204, 404, 406})  # HTTP statuses of a server without such metadata


def content_key(kind: Kind[T], base: str, doi: Handle) -> Key:
    """Return the store's key."""
    return Key(kind.name, base, doi.key, kind.detail)


def read_content(kind: Kind[T], doi: Handle, entry: Entry | None, now: float) -> T | None:
    """Return the value of an entry that is fresh at ``now``; at 0 every entry is. None: there is none.

    :raises NoValues: if a fresh entry says that there is no such metadata. A stale one says nothing.
    """
    if entry is None:
        return None
    is_nothing = entry.body == _NOTHING
    if not is_fresh(entry, now, NOTHING_TTL if is_nothing else MAX_AGE):
        return None
    if is_nothing:
        if now:
            raise NoValues(doi, f"the registration agency has no metadata as {kind.accept}")
        return None
    try:
        return kind.parse(doi, entry.body.decode())
    except (BadRecord, UnicodeDecodeError):  # not written by us: ask again
        return None


def get_content(kind: Kind[T], doi: Handle, records: Records, deadline: float) -> T:
    """Return a DOI's metadata, from the store if possible.

    :raises DOINotFound: if the DOI does not exist.
    :raises NoValues: if the agency has no such metadata.
    :raises BadRecord: if the answer is unusable.
    :raises ResolverUnavailable: if there is no answer.
    """
    key = content_key(kind, records.client.base, doi)
    entries = records.read([key, records.key(doi)])
    known = read_content(kind, doi, entries.get(key), time.time())
    if known is not None:
        return known
    check_exists(doi, entries.get(records.key(doi)))
    fresh: dict[Key, Entry] = {}
    try:
        deadline += records.client.load()
        return run_call(doi, lambda call: fetch_content(kind, doi, records, call), deadline, fresh)
    except (ResolverUnavailable, BadRecord):
        stale = read_content(kind, doi, entries.get(key), 0.0)
        if stale is None:
            raise
        return stale
    finally:
        records.write(fresh)


def check_exists(doi: Handle, record: Entry | None) -> None:
    """Raise DOINotFound if a fresh entry says that the DOI does not exist, so that no request is needed."""
    outcome = read_entry(doi, record, time.time())
    if outcome is not None and outcome.status == "not-found":
        raise DOINotFound(doi, outcome.reason)


def fetch_content(kind: Kind[T], doi: Handle, records: Records, call: Call) -> T:
    """Request a DOI's metadata; a definite answer is added to ``call.fresh``.

    Raises what ``get_content`` raises.
    """
    key = content_key(kind, records.client.base, doi)
    try:
        text = _request(kind, doi, records, call)
    except NoValues:
        call.fresh[key] = new_entry(_NOTHING, "application/json", NOTHING_TTL)
        raise
    call.fresh[key] = new_entry(text.encode(), kind.media_type, MAX_AGE)
    return kind.parse(doi, text)


def _request(kind: Kind[T], doi: Handle, records: Records, call: Call) -> str:
    reply = negotiate(doi, kind.accept, records, call)
    return kind.read(doi, reply.body, reply.headers.get("Content-Type", ""))


def negotiate(doi: Handle, accept: str, records: Records, call: Call) -> Reply:
    """Return the reply to a request for metadata, whose HTTP status is 200.

    Redirects may lead to any server that is not in a private network: there is no list of the agencies'
    servers, and an agency without content negotiation leaves it to the landing page.

    :param accept: the Accept header.
    :raises DOINotFound: if the DOI does not exist.
    :raises NoValues: if the last server says that it has no such metadata.
    :raises ResolverUnavailable: if there is no answer.
    """
    url = doi.link(records.client.base)
    if len(url) > MAX_URL:
        raise ResolverUnavailable(doi, f"name too long: its URL has {len(url):,} characters")
    request = Request(url, accept, MAX_SIZE, any_host=True)
    reply = records.client.get(doi, request, call, lambda reply: reply)
    if reply.status == 404 and not is_elsewhere(reply.url, url):
        # Only the REST API can say that the DOI does not exist. A redirect shows that it does.
        records.current(doi, records.stored(doi), call)
    if reply.status in _ABSENT:
        raise NoValues(doi, f"not available as {accept} (HTTP status {reply.status} from {host_of(reply)})")
    if reply.status != 200:
        wait = retry_after(reply.headers, time.time())
        raise ResolverUnavailable(
            doi, f"HTTP status {reply.status} from {host_of(reply)}", reply.status, wait
        )
    return reply


def host_of(reply: Reply) -> str:
    """Return the host and port that answered."""
    return f"{urlsplit(reply.url).netloc:.260}"
