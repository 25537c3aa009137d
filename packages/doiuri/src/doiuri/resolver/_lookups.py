"""The two lookups of a batch: records, and existence with registration agencies."""

from __future__ import annotations

import time
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from doiuri._doi import ShortDOI
from doiuri._json import dump, load
from doiuri._resolution_errors import BadRecord, NoValues, ResolutionError, ResolverUnavailable
from doiuri.records._values import ascii_upper
from doiuri.resolver._batch import AHEAD, Pending
from doiuri.resolver._call import Call
from doiuri.resolver._entries import JSON, MAX_AGE, is_fresh, read_entry
from doiuri.resolver._outcome import Outcome
from doiuri.resolver._records import MAX_RECORD
from doiuri.resolver.http._request import Request
from doiuri.resolver.stores._store import Key, new_entry
from doiuri.rest._client import MAX_AGENCY_URL, agency_batches, agency_url, read_agencies

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from doiuri._doi import Handle
    from doiuri.resolver._records import Records
    from doiuri.resolver._workers import Task, WorkerPool
    from doiuri.resolver.stores._store import Entry
    from doiuri.rest._client import Agency

    Answers = list[Outcome | Pending]

REMEMBERED = 1024
"""Names that are remembered while a batch runs, so that a repeated name is not requested again."""


class BaseLookup:
    """Names that were looked up lately, and the entries to store."""

    def __init__(self, records: Records, pool: WorkerPool) -> None:
        self.fresh: dict[Key, Entry] = {}
        self._records = records
        self._pool = pool
        self._recent: dict[str, Pending] = {}

    def _pending(self, doi: Handle) -> tuple[Pending, bool]:
        """Return the pending lookup of a name, and whether it is new."""
        known = self._recent.get(doi.key)
        if known is not None:
            return known, False
        self._recent[doi.key] = pending = Pending(doi)
        if len(self._recent) > REMEMBERED:
            del self._recent[next(iter(self._recent))]
        return pending, True

    def _submit(self, function: Callable[[Call], None]) -> Task:
        self._pool.deadline += self._records.client.load()
        return self._pool.submit(lambda task: function(Call(task, self.fresh)))


class RecordLookup(BaseLookup):
    """Looks up records, one request each."""

    first = 16  # small, so that the first answers come soon

    def prepare(self, dois: list[Handle]) -> Answers:
        """Answer from the store, or submit a request."""
        keys = list(map(self._records.key, dois))
        entries = self._records.read(keys)
        now = time.time()
        answers: Answers = []
        for doi, key in zip(dois, keys, strict=True):
            entry = entries.get(key)
            answers.append(self._stored(doi, entry, now) or self._request(doi, entry))
        return answers

    def _stored(self, doi: Handle, entry: Entry | None, now: float) -> Outcome | None:
        """Return what the store says; None if nothing, or if an alias has to be followed."""
        outcome = read_entry(doi, entry, now)
        is_alias = outcome is not None and outcome.record is not None and outcome.record.alias is not None
        return None if is_alias else outcome

    def _request(self, doi: Handle, entry: Entry | None) -> Pending:
        pending, is_new = self._pending(doi)
        if is_new:
            pending.fallback = _fallback(self._stored(doi, entry, 0.0))
            pending.task = self._submit(partial(self._fetch, pending, entry))
        return pending

    def _fetch(self, pending: Pending, entry: Entry | None, call: Call) -> None:
        doi = pending.doi
        try:
            record = self._records.current(doi, entry, call)
            record = self._records.follow(doi, record, call)
            pending.outcome = Outcome(doi, "found", record, stale=call.stale)
        except ResolutionError as error:
            pending.outcome = Outcome.from_error(doi, error)


class ExistenceLookup(BaseLookup):
    """Looks up whether names exist: many in one request to Which RA, the rest in the REST API.

    :param agency: whether the registration agency is needed, too.
    """

    first = AHEAD

    def __init__(self, records: Records, pool: WorkerPool, *, agency: bool) -> None:
        super().__init__(records, pool)
        self._base = records.client.base
        self._agency = agency

    def prepare(self, dois: list[Handle]) -> Answers:
        """Answer from the store, or submit requests for as many names as fit into each."""
        keys = [(self._key(doi), self._records.key(doi)) for doi in dois]
        entries = self._records.read(list(chain.from_iterable(keys)))
        now = time.time()
        answers: Answers = []
        new: list[Pending] = []
        for doi, (existence, record) in zip(dois, keys, strict=True):
            known = entries.get(existence), entries.get(record)
            outcome = self._stored(doi, *known, now)
            if outcome is not None:
                answers.append(outcome)
                continue
            pending, is_new = self._pending(doi)
            answers.append(pending)
            if is_new:
                pending.fallback = _fallback(self._stored(doi, *known, 0.0))
                new.append(pending)
        self._request(new)
        return answers

    def _key(self, doi: Handle) -> Key:
        return Key("exists", self._base, doi.key)

    def _stored(self, doi: Handle, exists: Entry | None, record: Entry | None, now: float) -> Outcome | None:
        if exists is not None and is_fresh(exists, now):
            name = _stored_agency(doi, exists)
            if name is not None:
                return Outcome(doi, "found", agency=name)
        outcome = read_entry(doi, record, now)
        if outcome is None or outcome.status == "not-found":
            return outcome
        return None if self._agency else Outcome(doi, "found")  # without values, the name exists, too

    def _request(self, new: list[Pending]) -> None:
        by_doi: dict[Handle, Pending] = {}
        for pending in new:
            if self._suits_which_ra(pending.doi):
                by_doi[pending.doi] = pending
            else:
                pending.task = self._submit(partial(self._confirm, pending))
        for dois, url in agency_batches(by_doi, base=self._base):
            batch = [by_doi[doi] for doi in dois]
            task = self._submit(partial(self._ask_which_ra, batch, url))
            for pending in batch:
                pending.task = pending.task or task

    def _suits_which_ra(self, doi: Handle) -> bool:
        """Return whether Which RA can be asked: it does not know short DOIs, and limits the URL."""
        return not isinstance(doi, ShortDOI) and len(agency_url([doi], base=self._base)) <= MAX_AGENCY_URL

    def _ask_which_ra(self, batch: Sequence[Pending], url: str, call: Call) -> None:
        """Ask Which RA, and have every answer but "found" confirmed by the REST API."""
        try:
            agencies = self._agencies([pending.doi for pending in batch], url, call)
        except ResolverUnavailable as error:
            for pending in batch:
                pending.outcome = pending.fallback or Outcome.from_error(pending.doi, error)
            return
        for pending, agency in zip(batch, agencies, strict=True):
            if agency is not None and agency.status == "found":
                body = dump({"DOI": pending.doi.name, "RA": agency.name}).encode()
                call.fresh[self._key(pending.doi)] = new_entry(body, JSON, MAX_AGE)
                pending.outcome = Outcome(pending.doi, "found", agency=agency.name)
            elif not call.cancelled:
                pending.task = self._submit(partial(self._confirm, pending))

    def _agencies(self, dois: Sequence[Handle], url: str, call: Call) -> Sequence[Agency | None]:
        """Return what Which RA says; None for each name if its answer is unusable."""
        request = Request(url, JSON, MAX_RECORD)
        try:
            return self._records.client.get(
                dois[0],
                request,
                call,
                lambda reply: read_agencies(dois, reply.status, reply.body, reply.headers),
            )
        except BadRecord:
            return [None] * len(dois)
        except ResolverUnavailable as error:
            if error.status in {400, 404, 405, 410, 414, 501}:  # no Which RA there, or not for so many names
                return [None] * len(dois)
            raise

    def _confirm(self, pending: Pending, call: Call) -> None:
        """Ask the REST API, whose negative answer is definite."""
        try:
            self._records.fetch(pending.doi, call)
            pending.outcome = Outcome(pending.doi, "found")
        except NoValues:
            pending.outcome = Outcome(pending.doi, "found")  # the name exists
        except ResolutionError as error:
            outcome = Outcome.from_error(pending.doi, error)
            pending.outcome = (pending.fallback if outcome.status == "unknown" else None) or outcome


def _fallback(stored: Outcome | None) -> Outcome | None:
    """Return the stored outcome to use if there is no answer; a stale negative one is ignored."""
    return stored._replace(stale=True) if stored is not None and stored.found else None


def _stored_agency(doi: Handle, entry: Entry) -> str | None:
    """Return the agency in an entry; None if the entry was not written by us."""
    try:
        answer = load(entry.body)
    except ValueError:
        return None
    name, agency = (answer.get("DOI"), answer.get("RA")) if isinstance(answer, dict) else (None, None)
    if not isinstance(name, str) or ascii_upper(name) != doi.key:
        return None
    return agency if isinstance(agency, str) else None
