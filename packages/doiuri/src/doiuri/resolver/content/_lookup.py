"""The lookup of a batch that reads metadata of one kind."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from doiuri._resolution_errors import ResolutionError
from doiuri.resolver._lookups import BaseLookup
from doiuri.resolver._outcome import Outcome
from doiuri.resolver.content._negotiation import check_exists, content_key, fetch_content, read_content

if TYPE_CHECKING:
    from collections.abc import Callable

    from doiuri._doi import Handle
    from doiuri.records._work import Work
    from doiuri.resolver._batch import Pending
    from doiuri.resolver._call import Call
    from doiuri.resolver._records import Records
    from doiuri.resolver._workers import WorkerPool
    from doiuri.resolver.content._kinds import Kind
    from doiuri.resolver.stores._store import Entry, Key

T = TypeVar("T")


def work_outcome(doi: Handle, work: Work, stale: bool) -> Outcome:
    """Return the outcome with a work."""
    return Outcome(doi, "found", work=work, stale=stale)


def reference_outcome(doi: Handle, text: str, stale: bool) -> Outcome:
    """Return the outcome with a formatted reference."""
    return Outcome(doi, "found", reference=text, stale=stale)


class ContentLookup(BaseLookup, Generic[T]):
    """Looks up metadata, one request each.

    :param kind: the kind of metadata.
    :param found: returns the outcome with a value; its third argument is whether the value is stale.
    """

    first = 16  # small, so that the first answers come soon

    def __init__(
        self, records: Records, pool: WorkerPool, kind: Kind[T], found: Callable[[Handle, T, bool], Outcome]
    ) -> None:
        super().__init__(records, pool)
        self._kind = kind
        self._found = found

    def prepare(self, dois: list[Handle]) -> list[Outcome | Pending]:
        """Answer from the store, or submit a request."""
        keys = [(self._key(doi), self._records.key(doi)) for doi in dois]
        entries = self._records.read([key for pair in keys for key in pair])
        now = time.time()
        return [
            self._stored(doi, entries.get(key), entries.get(record), now)
            or self._request(doi, entries.get(key))
            for doi, (key, record) in zip(dois, keys, strict=True)
        ]

    def _key(self, doi: Handle) -> Key:
        return content_key(self._kind, self._records.client.base, doi)

    def _stored(self, doi: Handle, entry: Entry | None, record: Entry | None, now: float) -> Outcome | None:
        try:
            value = read_content(self._kind, doi, entry, now)
            if value is None:
                check_exists(doi, record)
        except ResolutionError as error:
            return Outcome.from_error(doi, error)
        return None if value is None else self._found(doi, value, False)

    def _request(self, doi: Handle, entry: Entry | None) -> Pending:
        pending, is_new = self._pending(doi)
        if is_new:
            stale = read_content(self._kind, doi, entry, 0.0)
            pending.fallback = None if stale is None else self._found(doi, stale, True)
            pending.task = self._submit(partial(self._fetch, pending))
        return pending

    def _fetch(self, pending: Pending, call: Call) -> None:
        doi = pending.doi
        try:
            value = fetch_content(self._kind, doi, self._records, call)
            pending.outcome = self._found(doi, value, False)
        except ResolutionError as error:
            outcome = Outcome.from_error(doi, error)
            pending.outcome = (pending.fallback if outcome.status == "unknown" else None) or outcome
