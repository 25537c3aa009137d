"""What one task asks the server: records, the ends of chains of aliases, and metadata."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from doiuri._doi import Handle
from doiuri._errors import BadRecord, DOINotFound, DOISyntaxError, NoValues, ResolverUnavailable
from doiuri.resolver._entries import MAX_SIZE, negative_entry, read_entry, record_entry, record_key
from doiuri.resolver._outcome import Cause, Unanswered
from doiuri.resolver.http._client import host_of
from doiuri.resolver.http._request import Request
from doiuri.resolver.stores._store import JSON
from doiuri.rest._client import read_record, record_url, retry_after

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from doiuri.records._record import Record
    from doiuri.resolver._workers import Task
    from doiuri.resolver.http._client import Client
    from doiuri.resolver.http._request import Reply
    from doiuri.resolver.stores._store import Entry, Key

    T = TypeVar("T")

MAX_RECORD = 1_000_000
"""Bytes of a record: known ones have some thousand, and parsing takes many times as much memory."""

MAX_URL = 16_000
"""Characters of a URL that we send; servers refuse longer ones."""

MAX_ALIASES = 20
"""Aliases followed in a row, as many as the proxy follows."""

_ABSENT = frozenset({204, 404, 406})  # HTTP statuses of a server without such metadata


class Call:
    """The requests of one task.

    :param client: the client of the server.
    :param stored: returns the store's entry for a key, even if it is stale.
    :param task: the task, which has a deadline.
    :param entries: gets the new entries to store.
    """

    entries: dict[Key, Entry]
    """The new entries to store."""

    stale: bool
    """Whether a stale record was used, because there was no answer."""

    def __init__(
        self,
        client: Client,
        stored: Callable[[Key], Entry | None],
        task: Task,
        entries: dict[Key, Entry],
    ) -> None:
        self.entries = entries
        self.stale = False
        self._client = client
        self._stored = stored
        self._task = task

    def get(self, doi: Handle, request: Request, read: Callable[[Reply], T]) -> T:
        """Send a request about a DOI; return what ``read`` returns. See ``Client.get``."""
        if len(request.url) > MAX_URL:
            detail = f"name too long: its URL has {len(request.url):,} characters"
            raise Unanswered(doi, Cause("too-long", detail=detail))
        return self._client.get(doi, request, self._task, read)

    def record(
        self,
        doi: Handle,
        types: tuple[str, ...] = (),
        indexes: tuple[int, ...] = (),
        *,
        auth: bool = False,
        cert: bool = False,
    ) -> Record:
        """Request a record; a definite answer is stored, unless it has values of some types or indices only.

        Raises what ``read_record`` raises, and ResolverUnavailable.
        """
        base, is_whole = self._client.base, not (types or indexes)
        url = record_url(doi, base=base, type=types, index=indexes, auth=auth, cert=cert)
        try:
            record = self.get(
                doi,
                Request(url, JSON, MAX_RECORD),
                lambda reply: read_record(doi, reply.status, reply.body, reply.headers),
            )
        except (DOINotFound, NoValues) as error:
            if is_whole:
                self.entries[record_key(base, doi)] = negative_entry(doi, error)
            raise
        if is_whole:
            self.entries[record_key(base, doi)] = record_entry(record)
        return record

    def current(self, doi: Handle) -> Record:
        """Return the record in the store, if it is fresh, or from the server; if neither, a stale one."""
        entry = self._stored(record_key(self._client.base, doi))
        known = read_entry(doi, entry, time.time())
        if known is not None:
            known.raise_for_status()
            if known.record is not None:
                return known.record
        try:
            return self.record(doi)
        except (ResolverUnavailable, BadRecord):
            stale = read_entry(doi, entry, 0.0)
            if stale is None or stale.record is None:
                raise
            self.stale = True
            return stale.record

    def followed(self, doi: Handle, record: Record, *, auth: bool = False, cert: bool = False) -> Record:
        """Return the record at the end of the chain of aliases that begins with ``record``.

        With ``auth`` or ``cert`` the store is not read.

        :raises BadRecord: if the chain is too long or a loop.
        :raises DOINotFound: if it leads to a name that does not exist.
        """
        seen = {doi.key}
        while (name := record.alias) is not None:
            target = _alias_target(doi, name)
            if target.key in seen or len(seen) > MAX_ALIASES:
                raise BadRecord(doi, f"alias loop or too many aliases: {len(seen)} followed, last to {name}")
            seen.add(target.key)
            try:
                record = self.record(target, auth=auth, cert=cert) if auth or cert else self.current(target)
            except DOINotFound:
                raise DOINotFound(doi, f"it is an alias of {name}, which does not exist") from None
        return record

    def negotiated(self, doi: Handle, accept: str) -> Reply:
        """Return the reply to a request for metadata, whose HTTP status is 200.

        Redirects may lead to any server that is not in a private network: there is no list of the agencies'
        servers, and an agency without content negotiation leaves it to the landing page.

        :param accept: the Accept header.
        :raises NoValues: if the last server says that it has no such metadata, or that there is no such DOI.
        :raises ResolverUnavailable: if there is no answer.
        """
        url = doi.link(self._client.base)
        reply = self.get(doi, Request(url, accept, MAX_SIZE, any_host=True), lambda reply: reply)
        if reply.status in _ABSENT:
            place = f"HTTP status {reply.status} from {host_of(reply)}"
            raise NoValues(doi, f"not available as {accept} ({place})")
        if reply.status != 200:
            wait = retry_after(reply.headers, time.time())
            detail = f"HTTP status {reply.status}"
            raise Unanswered(doi, Cause("status", host_of(reply), reply.status, detail, wait))
        return reply


def _alias_target(doi: Handle, name: str) -> Handle:
    try:
        return Handle.from_name(name)
    except DOISyntaxError as error:
        raise BadRecord(doi, f"it is an alias of an invalid name: {error}") from None
