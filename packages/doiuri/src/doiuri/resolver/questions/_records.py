"""The records of DOIs: as the store has them, as the server sends them, along a chain of aliases."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from doiuri._doi import Handle
from doiuri._errors import (
    BadRecord,
    DOINotFound,
    DOISyntaxError,
    NoValues,
    ResolutionError,
    ResolverUnavailable,
)
from doiuri._json import dump
from doiuri.records import select
from doiuri.records._record import Record
from doiuri.resolver._outcome import Cause, Outcome
from doiuri.resolver.http import Request
from doiuri.resolver.questions._entries import DAY, NEGATIVE_TTL, fresh_entry
from doiuri.resolver.questions._question import Question
from doiuri.resolver.stores._store import JSON, SUCCESS, Key, new_entry
from doiuri.rest import MAX_RECORD, ResponseCode, read_record, record_url

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from doiuri.resolver._sources import Sources
    from doiuri.resolver.http import Reply
    from doiuri.resolver.stores._store import Entry

MAX_ALIASES = 20
"""Aliases followed in a row, as many as the proxy follows."""


class Current(NamedTuple):
    """The best record that there is now."""

    record: Record

    why_stale: Cause | None = None
    """Why there is no newer one, if it has expired; None if it is fresh."""


class Records:
    """The records of DOIs at the server at ``base``.

    :param auth: whether to bypass the store and the proxy's cache.
    :param cert: whether to bypass the store, and to request an authenticated answer.
    """

    def __init__(self, base: str, *, auth: bool = False, cert: bool = False) -> None:
        self._base = base
        self._auth = auth
        self._cert = cert
        self.bypasses_store = auth or cert

    def key(self, doi: Handle) -> Key:
        """Return the key of a record, or of the answer that there is none."""
        return Key("record", self._base, doi.key)

    def read(self, doi: Handle, entry: Entry | None) -> Outcome | None:
        """Return what the entry of a record says.

        None if there is no entry, or it was not written by us: other programs may have access to the store.
        """
        if entry is None:
            return None
        try:
            if entry.body.startswith(SUCCESS):
                return Outcome(doi, "found", Record.deferred(doi, entry.body))
            return Outcome(doi, "found", read_record(doi, 200, entry.body))
        except (DOINotFound, NoValues) as error:
            return Outcome.from_error(doi, error)
        except ResolutionError:
            return None

    def request(self, doi: Handle, sources: Sources) -> Record:
        """Request the whole record of a DOI. It, or that there is none, goes to the store.

        :raises DOINotFound: if the DOI does not exist.
        :raises NoValues: if it has no values.
        """
        try:
            record = self.request_values(doi, sources)
        except NoValues:
            sources.keep(self.key(doi), _absence(doi, ResponseCode.VALUE_NOT_FOUND))
            raise

        body = record.to_json().encode()
        # DOI resolution documentation §1: it can take up to 24 hours before a new value is returned
        lifetime = DAY if record.ttl is None else min(record.ttl, DAY)
        sources.keep(self.key(doi), new_entry(body, JSON, lifetime))
        return record

    def request_values(
        self,
        doi: Handle,
        sources: Sources,
        types: Collection[str] = (),
        indexes: Collection[int] = (),
    ) -> Record:
        """Request the values of a DOI with these types or indices, by default all.

        Only that the DOI does not exist goes to the store.

        :raises DOINotFound: if the DOI does not exist.
        :raises NoValues: if it has no such values.
        """
        url = record_url(
            doi,
            base=self._base,
            type=tuple(types),
            index=tuple(indexes),
            auth=self._auth,
            cert=self._cert,
        )

        def read_reply(reply: Reply) -> Record:
            return read_record(doi, reply.status, reply.body, reply.headers)

        try:
            return sources.get(doi, Request(url, JSON, MAX_RECORD), read_reply)
        except DOINotFound:
            sources.keep(self.key(doi), _absence(doi, ResponseCode.HANDLE_NOT_FOUND))
            raise

    def current(self, doi: Handle, sources: Sources) -> Current:
        """Return the record in the store, if it is fresh, or the server's; if neither, a stale one.

        :raises DOINotFound: if the DOI does not exist.
        :raises NoValues: if it has no values.
        """
        if self.bypasses_store:
            return Current(self.request(doi, sources))

        key = self.key(doi)
        entry = sources.stored(key)
        fresh = self.read(doi, fresh_entry(key, entry, time.time()))
        if fresh is not None:
            fresh.raise_for_status()
            if fresh.record is not None:
                return Current(fresh.record)

        try:
            return Current(self.request(doi, sources))
        except (ResolverUnavailable, BadRecord) as error:
            stale = self.read(doi, entry)
            if stale is None or stale.record is None:
                raise
            return Current(stale.record, why_stale=Cause.of(error))

    def chain(self, doi: Handle, sources: Sources) -> Iterator[Current]:
        """Yield the record of a DOI and, if it is an alias, those that it leads to, one after the other.

        :raises DOINotFound: if the DOI, or a name that it is an alias of, does not exist.
        :raises BadRecord: if the chain does not end.
        """
        current = self.current(doi, sources)
        yield current

        seen = {doi.key}
        while (name := current.record.alias) is not None:
            try:
                target = Handle.from_name(name)
            except DOISyntaxError as error:
                raise BadRecord(doi, f"it is an alias of an invalid name: {error}") from None

            if target.key in seen or len(seen) > MAX_ALIASES:
                followed = f"{len(seen)} followed, last to {name}"
                raise BadRecord(doi, f"alias loop or too many aliases: {followed}")
            seen.add(target.key)

            try:
                current = self.current(target, sources)
            except DOINotFound:
                raise DOINotFound(doi, f"it is an alias of {name}, which does not exist") from None
            yield current


def _absence(doi: Handle, code: ResponseCode) -> Entry:
    """Return the entry which says that there is no record, in the words of the REST API."""
    body = dump({"responseCode": code, "handle": doi.name, "values": []})
    return new_entry(body.encode(), JSON, NEGATIVE_TTL)


class RecordQuestion(Question):
    """The record of a DOI, or some of its values, one request each.

    :param types: the types of the values, and
    :param indexes: the indices of the values, if not all are asked for.
    :param auth: whether to bypass the store and the proxy's cache.
    :param cert: whether to bypass the store, and to request an authenticated answer.
    :param follow: whether to request the record that an alias stands for, too.
    """

    def __init__(
        self,
        base: str,
        *,
        types: Collection[str] = (),
        indexes: Collection[int] = (),
        auth: bool = False,
        cert: bool = False,
        follow: bool = True,
    ) -> None:
        super().__init__(base)
        self._records = Records(base, auth=auth, cert=cert)
        self._types = types
        self._indexes = indexes
        self._selects_values = bool(types or indexes)
        self._follow = follow

    def keys(self, doi: Handle) -> list[Key]:
        if self._records.bypasses_store:
            return []
        return [self._records.key(doi)]

    def read(self, doi: Handle, entries: Sequence[Entry | None]) -> Outcome | None:
        """Return the record in the store, or its values.

        None asks the server: nothing is stored, or it is an alias that has to be followed.
        """
        if not entries:  # ``keys`` returned none: this question bypasses the store
            return None
        (entry,) = entries
        outcome = self._records.read(doi, entry)
        if outcome is None or outcome.record is None:
            return outcome

        if self._selects_values:
            return self._selected(doi, outcome.record)
        if self._follow and outcome.record.alias is not None:
            return None
        return outcome

    def _selected(self, doi: Handle, record: Record) -> Outcome:
        """Return the values of a whole record that are asked for."""
        values = select(record.values, self._types, self._indexes)
        if not values:
            return Outcome.from_error(doi, NoValues(doi))
        return Outcome(doi, "found", Record(record.doi, values, record.extra))

    def request(self, doi: Handle, sources: Sources) -> Outcome:
        """Request the values that are asked for, or else the record and, if it is an alias, what it leads to."""
        if self._selects_values:
            absence = sources.stored(self._records.key(doi))
            if absence is not None and absence.says_not_found:
                # Only a whole record, which is stored, can replace this answer, which may have expired
                return self._selected(doi, self._records.request(doi, sources))
            values = self._records.request_values(doi, sources, self._types, self._indexes)
            return Outcome(doi, "found", values)

        if self._follow:
            chain = list(self._records.chain(doi, sources))
        else:
            chain = [self._records.current(doi, sources)]
        why_stale = None
        for current in chain:
            why_stale = current.why_stale or why_stale
        record = chain[-1].record
        return Outcome(doi, "found", record, cause=why_stale, stale=why_stale is not None)
