"""The record of one DOI: from the store or the server, and along aliases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri._doi import Handle
from doiuri._errors import DOISyntaxError
from doiuri._resolution_errors import BadRecord, DOINotFound, NoValues, ResolverUnavailable
from doiuri.resolver._entries import JSON, fresh_record, negative_entry, record_entry, stale_record
from doiuri.resolver.http._request import Request
from doiuri.resolver.stores._store import Key
from doiuri.rest._answer import ResponseCode
from doiuri.rest._client import read_record, record_url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from doiuri.records._record import Record
    from doiuri.resolver._call import Call
    from doiuri.resolver.http._client import Client
    from doiuri.resolver.stores._store import Entry, ReadStore, Store

MAX_RECORD = 1_000_000
"""Bytes of a record: known ones have some thousand, and parsing takes many times as much memory."""

MAX_URL = 16_000
"""Characters of a URL that we send; servers refuse longer ones."""

MAX_ALIASES = 20
"""Aliases followed in a row, as many as the proxy follows."""


class Records:
    """Records by DOI: a fresh one from the store, if there is one, or one from the server."""

    def __init__(self, client: Client, store: Store | ReadStore | None) -> None:
        self.client = client
        self._store = store

    def key(self, doi: Handle) -> Key:
        """Return the store's key of a record."""
        return Key("record", self.client.base, doi.key)

    def stored(self, doi: Handle) -> Entry | None:
        """Return the store's entry of a record, even if it is stale."""
        key = self.key(doi)
        return self.read([key]).get(key)

    def read(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        """Return the entries that the store has for these keys, stale ones included."""
        return {} if self._store is None else self._store.get_many(keys)

    def write(self, entries: Mapping[Key, Entry]) -> None:
        """Store entries, if there is a store that can be written to."""
        put_many = getattr(self._store, "put_many", None)
        if put_many is not None and entries:
            put_many(entries)

    def fetch(self, doi: Handle, call: Call, *, auth: bool = False, cert: bool = False) -> Record:
        """Request the whole record of a name; a definite answer is added to ``call.fresh``.

        Raises what ``read_record`` raises, and ResolverUnavailable.
        """
        try:
            record = self._read(doi, self._request(doi, auth=auth, cert=cert), call)
        except DOINotFound:
            call.fresh[self.key(doi)] = negative_entry(doi, ResponseCode.HANDLE_NOT_FOUND)
            raise
        except NoValues:
            call.fresh[self.key(doi)] = negative_entry(doi, ResponseCode.VALUE_NOT_FOUND)
            raise
        call.fresh[self.key(doi)] = record_entry(record)
        return record

    def fetch_values(
        self,
        doi: Handle,
        call: Call,
        *,
        types: Sequence[str],
        indexes: Sequence[int],
        auth: bool = False,
        cert: bool = False,
    ) -> Record:
        """Request the values of some types and indices; they are not stored."""
        request = self._request(doi, types, indexes, auth=auth, cert=cert)
        return self._read(doi, request, call)

    def _read(self, doi: Handle, request: Request, call: Call) -> Record:
        return self.client.get(
            doi, request, call, lambda reply: read_record(doi, reply.status, reply.body, reply.headers)
        )

    def _request(
        self, doi: Handle, types: Sequence[str] = (), indexes: Sequence[int] = (), *, auth: bool, cert: bool
    ) -> Request:
        url = record_url(doi, base=self.client.base, type=types, index=indexes, auth=auth, cert=cert)
        if len(url) > MAX_URL:
            raise ResolverUnavailable(doi, f"name too long: its URL has {len(url):,} characters")
        return Request(url, JSON, MAX_RECORD)

    def current(self, doi: Handle, entry: Entry | None, call: Call) -> Record:
        """Return the record in a fresh entry, or from the server; if neither, that in a stale entry."""
        known = fresh_record(doi, entry)
        if known is not None:
            return known
        try:
            return self.fetch(doi, call)
        except (ResolverUnavailable, BadRecord):
            record = stale_record(doi, entry)
            if record is None:
                raise
            call.stale = True
            return record

    def follow(
        self, doi: Handle, record: Record, call: Call, *, auth: bool = False, cert: bool = False
    ) -> Record:
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
                if auth or cert:
                    record = self.fetch(target, call, auth=auth, cert=cert)
                else:
                    record = self.current(target, self.stored(target), call)
            except DOINotFound:
                raise DOINotFound(doi, f"it is an alias of {name}, which does not exist") from None
        return record


def _alias_target(doi: Handle, name: str) -> Handle:
    try:
        return Handle.from_name(name)
    except DOISyntaxError as error:
        raise BadRecord(doi, f"it is an alias of an invalid name: {error}") from None
