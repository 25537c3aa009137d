"""What is wanted of one record, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from doiuri._resolution_errors import NoValues
from doiuri.records._record import Record

if TYPE_CHECKING:
    from doiuri.resolver._outcome import Question
    from doiuri.resolver._records import Records
    from doiuri.resolver._workers import Job
    from doiuri.resolver.stores._store import Entry


@dataclass(frozen=True, slots=True)
class Query:
    """The parameters of ``Resolver.resolve``."""

    types: tuple[str, ...] = ()
    indexes: tuple[int, ...] = ()
    auth: bool = False
    cert: bool = False
    follow: bool = True

    @property
    def past_store(self) -> bool:
        """Whether a stored answer will not do."""
        return self.auth or self.cert

    @property
    def selects(self) -> bool:
        """Whether only some values are wanted: then aliases are not followed."""
        return bool(self.types or self.indexes)

    def settled_by(self, record: Record | None) -> bool:
        """Whether a record is all that it takes, without another one at the end of its aliases."""
        return record is not None and (self.selects or not self.follow or record.alias is None)

    def chosen(self, record: Record) -> Record:
        """What is wanted of a record, as the server would choose it; raises NoValues."""
        if not self.selects:
            return record
        values = tuple(
            value
            for value in record.values
            if value.index in self.indexes or any(map(value.has_type, self.types))
        )
        if not values:
            raise NoValues(record.doi)
        return Record(record.doi, values, record.extra)

    def ask(
        self, question: Question, entry: Entry | None, records: Records, job: Job, deadline: float
    ) -> Record:
        """Ask the server; runs within a crew's job."""
        doi, how = question.doi, {"auth": self.auth, "cert": self.cert}
        if self.selects:
            return records.select(doi, job, deadline, type=self.types, index=self.indexes, **how)
        if self.past_store:
            record = records.ask(doi, job, deadline, question, **how)
        else:
            record = records.own(doi, entry, job, deadline, question)
        return records.follow(doi, record, job, deadline, question, **how) if self.follow else record
