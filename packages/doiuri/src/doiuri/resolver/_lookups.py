"""What is asked about the names of a batch: their records, or whether they exist and whose they are."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from doiuri._doi import ShortDOI
from doiuri._resolution_errors import BadRecord, NoValues, ResolutionError, ResolverUnavailable
from doiuri.records._json import dump, load
from doiuri.resolver._batch import AHEAD
from doiuri.resolver._outcome import Outcome, Question
from doiuri.resolver._records import JSON, LONGEST, RECORD_LIMIT, quick, verdict
from doiuri.resolver.http._transport import Request
from doiuri.resolver.stores._store import Entry
from doiuri.rest._client import MAX_URL, agency_batches, agency_url, read_agencies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doiuri._doi import Handle
    from doiuri.resolver._records import Records
    from doiuri.resolver._workers import Crew, Job
    from doiuri.resolver.http._client import Client
    from doiuri.rest._client import Agency

    Items = list[Outcome | Question]

LATEST = 1024
"""How many questions are remembered, so that their names are not asked about again."""


class _Lookup:
    """The latest questions of one call: a name that comes again meanwhile is asked about once."""

    def __init__(self, records: Records, crew: Crew) -> None:
        self._records = records
        self._crew = crew
        self._latest: dict[str, Question] = {}

    def _question(self, doi: Handle) -> tuple[Question, bool]:
        """The question about a name, and whether it is new."""
        known = self._latest.get(doi.key)
        if known is not None:
            return known, False
        self._latest[doi.key] = question = Question(doi)
        if len(self._latest) > LATEST:
            del self._latest[next(iter(self._latest))]
        return question, True


class RecordLookup(_Lookup):
    """Asks for the records of names, one request each."""

    first = 16  # so that the first answers come soon

    def prepare(self, dois: list[Handle]) -> Items:
        """Answer from the store, or submit a job."""
        keys = list(map(self._records.key, dois))
        entries = self._records.stored(keys)
        now = time.time()
        items: Items = []
        for doi, key in zip(dois, keys, strict=True):
            entry = entries.get(key)
            outcome = None if entry is None else quick(doi, entry, now)
            items.append(outcome or self._ask(doi, entry))
        return items

    def _ask(self, doi: Handle, entry: Entry | None) -> Question:
        question, new = self._question(doi)
        if new:
            if entry is not None and (spare := quick(doi, entry, 0.0)) and spare.status == "found":
                question.spare = replace(spare, stale=True)
            question.job = self._crew.submit(partial(self._work, question, entry))
        return question

    def _work(self, question: Question, entry: Entry | None, job: Job) -> None:
        records, deadline = self._records, self._crew.deadline
        try:
            record = records.own(question.doi, entry, job, deadline, question)
            record = records.follow(question.doi, record, job, deadline, question)
            question.outcome = Outcome(question.doi, "found", record, stale=question.stale)
        except ResolutionError as error:
            question.outcome = Outcome.of_error(question.doi, error)


class ExistenceLookup(_Lookup):
    """Asks Which RA about many names at once, and the REST API about those that it does not know.

    With ``agency`` a name counts as known only with its registration agency.
    """

    first = AHEAD

    def __init__(self, records: Records, crew: Crew, *, client: Client, agency: bool) -> None:
        super().__init__(records, crew)
        self._client = client
        self._agency = agency

    def prepare(self, dois: list[Handle]) -> Items:
        """Answer from the store, or submit a job for as many as fit into a request."""
        keys = [key for doi in dois for key in (self._key(doi), self._records.key(doi))]
        entries = self._records.stored(keys)
        now = time.time()
        items: Items = []
        new: list[Question] = []
        for doi in dois:
            mine = entries.get(self._key(doi)), entries.get(self._records.key(doi))
            outcome = self._known(doi, *mine, now)
            if outcome is not None:
                items.append(outcome)
                continue
            question, is_new = self._question(doi)
            items.append(question)
            if is_new:
                new.append(question)
                question.spare = self._spare(doi, *mine)
        self._submit(new)
        return items

    def _key(self, doi: Handle) -> str:
        return f"exists {self._client.base} {doi.key}"

    def _known(self, doi: Handle, exists: Entry | None, record: Entry | None, now: float) -> Outcome | None:
        if exists is not None and exists.expires > now:
            name = _stored_agency(exists)
            if name is not None or not self._agency:
                return Outcome(doi, "found", agency=name)
        if record is None or record.expires <= now:
            return None
        outcome = verdict(doi, record)
        return None if self._agency and outcome is not None and outcome.status == "found" else outcome

    def _spare(self, doi: Handle, exists: Entry | None, record: Entry | None) -> Outcome | None:
        outcome = self._known(doi, exists, record, 0.0)
        return replace(outcome, stale=True) if outcome is not None and outcome.status == "found" else None

    def _submit(self, questions: list[Question]) -> None:
        asked = {question.doi: question for question in questions}
        fit = [doi for doi in asked if self._fits(doi)]
        for question in questions:
            if not self._fits(question.doi):
                question.job = self._crew.submit(partial(self._confirm, question))
        for batch, url in agency_batches(fit, base=self._client.base):
            some = [asked[doi] for doi in batch]
            job = self._crew.submit(partial(self._ask, some, url))
            for question in some:
                question.job = question.job or job

    def _fits(self, doi: Handle) -> bool:
        """Which RA knows no short DOIs (and no URL of any length)."""
        return not isinstance(doi, ShortDOI) and len(agency_url([doi], base=self._client.base)) <= MAX_URL

    def _ask(self, questions: Sequence[Question], url: str, job: Job) -> None:
        """Ask Which RA, and have every doubtful answer confirmed."""
        try:
            agencies = self._agencies(questions, url, job)
        except ResolverUnavailable as error:
            for question in questions:
                question.outcome = question.spare or Outcome.of_error(question.doi, error)
            return
        for question, agency in zip(questions, agencies, strict=True):
            if agency is not None and agency.status == "found":
                body = dump({"DOI": question.doi.name, "RA": agency.name}).encode()
                question.fresh[self._key(question.doi)] = Entry(body, JSON, time.time() + LONGEST)
                question.outcome = Outcome(question.doi, "found", agency=agency.name)
            elif not job.lost:
                question.job = self._crew.submit(partial(self._confirm, question))

    def _agencies(self, questions: Sequence[Question], url: str, job: Job) -> Sequence[Agency | None]:
        """What Which RA says; None for each where it has no usable answer but the server is there."""
        dois = [question.doi for question in questions]
        reply = self._client.get(dois[0], Request(url, JSON, RECORD_LIMIT), job, self._crew.deadline)
        try:
            return read_agencies(dois, reply.status, reply.body, reply.headers)
        except BadRecord:
            return [None] * len(dois)
        except ResolverUnavailable as error:
            if error.status in {400, 404, 405, 410, 414, 501}:  # no such service there, or not for so many
                return [None] * len(dois)
            raise

    def _confirm(self, question: Question, job: Job) -> None:
        """Ask the REST API, whose no is definite."""
        try:
            self._records.ask(question.doi, job, self._crew.deadline, question)
            question.outcome = Outcome(question.doi, "found")
        except NoValues:
            question.outcome = Outcome(question.doi, "found")  # what has no values exists
        except ResolutionError as error:
            outcome = Outcome.of_error(question.doi, error)
            question.outcome = (question.spare if outcome.status == "unknown" else None) or outcome


def _stored_agency(entry: Entry) -> str | None:
    try:
        answer = load(entry.body)
    except ValueError:
        return None
    name = answer.get("RA") if isinstance(answer, dict) else None
    return name if isinstance(name, str) else None
