"""What can be asked about DOIs: their records, whether they exist, their metadata."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from doiuri._doi import ShortDOI
from doiuri._errors import BadRecord, DOINotFound, NoValues, ResolutionError, ResolverUnavailable
from doiuri._json import dump, load
from doiuri.records import select
from doiuri.records._record import Record, ascii_upper
from doiuri.resolver._call import MAX_RECORD
from doiuri.resolver._entries import (
    NOTHING_TTL,
    exists_key,
    is_fresh,
    read_entry,
    record_key,
)
from doiuri.resolver._outcome import Outcome
from doiuri.resolver.http._request import Request
from doiuri.resolver.stores._store import JSON, MAX_AGE, NOTHING, new_entry
from doiuri.rest._client import MAX_AGENCY_URL, agency_batches, agency_url, read_agencies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from doiuri._doi import Handle
    from doiuri.resolver._call import Call
    from doiuri.resolver._entries import Kind
    from doiuri.resolver.stores._store import Entry, Key
    from doiuri.rest._client import Agency

    Ask = Callable[[Sequence[Handle], Call], Sequence[Outcome | None]]
    """Asks the server about DOIs; None: ask about this DOI alone."""

AHEAD = 256
"""DOIs that are read, and asked for, ahead of the next answer."""

FEW = 16
"""New names for which ``Resolver.check`` requests records; more are sent to Which RA."""


class Question(ABC):
    """A question about DOIs."""

    first: ClassVar[int] = 16
    """DOIs in the first look-ahead, which doubles from then on: few, so that the first answers come soon."""

    def waits(self, new: int) -> bool:  # noqa: ARG002
        """Return whether to read on before asking about so many new names."""
        return False

    @abstractmethod
    def keys(self, doi: Handle) -> list[Key]:
        """Return the keys of the entries that may answer it."""

    @abstractmethod
    def stored(self, doi: Handle, entries: Mapping[Key, Entry], now: float) -> Outcome | None:
        """Return what entries say that are fresh at ``now``; at 0 every entry is. None: nothing."""

    @abstractmethod
    def ask(self, dois: Sequence[Handle], call: Call) -> Sequence[Outcome | None]:
        """Ask about one DOI alone."""

    def groups(self, dois: Sequence[Handle]) -> Iterator[tuple[Sequence[Handle], Ask]]:
        """Yield the DOIs to ask about in one task, and how; here each alone."""
        return (([doi], self.ask) for doi in dois)


@dataclass
class RecordQuestion(Question):
    """What is the record? One request each; see ``Resolver.resolve``."""

    base: str
    types: tuple[str, ...] = ()
    indexes: tuple[int, ...] = ()
    auth: bool = False
    cert: bool = False
    follow: bool = True

    def keys(self, doi: Handle) -> list[Key]:
        return [] if self.auth or self.cert else [record_key(self.base, doi)]

    def stored(self, doi: Handle, entries: Mapping[Key, Entry], now: float) -> Outcome | None:
        """Return the record in the store; None for an alias that has to be followed."""
        outcome = read_entry(doi, entries.get(record_key(self.base, doi)), now)
        if outcome is None or outcome.record is None:
            return outcome
        if self.types or self.indexes:
            return self._selected(doi, outcome.record)
        return outcome if outcome.record.alias is None or not self.follow else None

    def ask(self, dois: Sequence[Handle], call: Call) -> Sequence[Outcome]:
        """Request the record of a DOI, and those that it is an alias of."""
        (doi,) = dois
        try:
            return [Outcome(doi, "found", self._record(doi, call), stale=call.stale)]
        except ResolutionError as error:
            return [Outcome.from_error(doi, error)]

    def _record(self, doi: Handle, call: Call) -> Record:
        if self.types or self.indexes:
            return call.record(doi, self.types, self.indexes, auth=self.auth, cert=self.cert)
        if self.auth or self.cert:
            record = call.record(doi, auth=self.auth, cert=self.cert)
        else:
            record = call.current(doi)
        return call.followed(doi, record, auth=self.auth, cert=self.cert) if self.follow else record

    def _selected(self, doi: Handle, record: Record) -> Outcome:
        """Return the record with the selected values only, as the server would."""
        values = select(record.values, self.types, self.indexes)
        if not values:
            return Outcome.from_error(doi, NoValues(doi))
        return Outcome(doi, "found", Record(record.doi, values, record.extra))


@dataclass
class ExistenceQuestion(Question):
    """Does it exist? Which RA answers for many at once, the REST API for those that it does not know.

    :param agency: whether the registration agency is needed, too.
    :param confirm: whether the REST API has to confirm that a name does not exist.
    """

    base: str
    agency: bool
    confirm: bool = True
    first: ClassVar[int] = AHEAD

    def keys(self, doi: Handle) -> list[Key]:
        return [exists_key(self.base, doi), record_key(self.base, doi)]

    def stored(self, doi: Handle, entries: Mapping[Key, Entry], now: float) -> Outcome | None:
        exists = entries.get(exists_key(self.base, doi))
        if exists is not None and is_fresh(exists, now):
            name = _stored_agency(doi, exists)
            if name is not None:
                return Outcome(doi, "found", agency=name)
        outcome = read_entry(doi, entries.get(record_key(self.base, doi)), now)
        if outcome is None or outcome.status == "not-found":
            return outcome
        return None if self.agency else Outcome(doi, "found")  # without values, the name exists, too

    def groups(self, dois: Sequence[Handle]) -> Iterator[tuple[Sequence[Handle], Ask]]:
        """Yield as many DOIs as fit into one request to Which RA, and each that does not suit it."""
        suited: list[Handle] = []
        others: list[Handle] = []
        for doi in dois:
            (suited if self._suits_which_ra(doi) else others).append(doi)
        for batch, url in agency_batches(suited, base=self.base):
            yield batch, partial(self._ask_which_ra, url)
        for doi in others:
            yield [doi], self.ask

    def ask(self, dois: Sequence[Handle], call: Call) -> Sequence[Outcome]:
        """Ask the REST API about one DOI: its negative answer is definite."""
        (doi,) = dois
        try:
            call.record(doi)
        except NoValues:
            pass  # the name exists
        except ResolutionError as error:
            return [Outcome.from_error(doi, error)]
        return [Outcome(doi, "found")]

    def _suits_which_ra(self, doi: Handle) -> bool:
        """Return whether Which RA can be asked: it does not know short DOIs, and limits the URL."""
        return not isinstance(doi, ShortDOI) and len(agency_url([doi], base=self.base)) <= MAX_AGENCY_URL

    def _ask_which_ra(self, url: str, dois: Sequence[Handle], call: Call) -> Sequence[Outcome | None]:
        """Ask Which RA; the REST API is asked about the names that it does not answer for."""
        try:
            agencies = self._agencies(url, dois, call)
        except ResolverUnavailable as error:
            return [Outcome.from_error(doi, error) for doi in dois]
        outcomes: list[Outcome | None] = []
        for doi, agency in zip(dois, agencies, strict=True):
            if agency is not None and agency.status == "not-found" and not self.confirm:
                outcomes.append(Outcome.from_error(doi, DOINotFound(doi)))
                continue
            if agency is None or agency.status != "found":
                outcomes.append(None)
                continue
            body = dump({"DOI": doi.name, "RA": agency.name}).encode()
            call.entries[exists_key(self.base, doi)] = new_entry(body, JSON, MAX_AGE)
            outcomes.append(Outcome(doi, "found", agency=agency.name))
        return outcomes

    def _agencies(self, url: str, dois: Sequence[Handle], call: Call) -> Sequence[Agency | None]:
        """Return what Which RA says; None for each name if its answer is unusable."""
        request = Request(url, JSON, MAX_RECORD)
        try:
            return call.get(
                dois[0],
                request,
                lambda reply: read_agencies(dois, reply.status, reply.body, reply.headers),
            )
        except BadRecord:
            return [None] * len(dois)
        except ResolverUnavailable as error:
            if error.status in {400, 404, 405, 410, 414, 501}:  # no Which RA there, or not for so many names
                return [None] * len(dois)
            raise


@dataclass
class CheckQuestion(ExistenceQuestion):
    """Does it exist? The REST API answers if few names are new; otherwise Which RA comes first."""

    _new: int = 0  # names asked about so far
    _aliases: set[Handle] = field(default_factory=set)

    def waits(self, new: int) -> bool:
        return 0 < new <= FEW - self._new

    def stored(self, doi: Handle, entries: Mapping[Key, Entry], now: float) -> Outcome | None:
        """Return the record or, without one, the answer of Which RA; None for an alias to be followed."""
        outcome = RecordQuestion(self.base).stored(doi, entries, now)
        if outcome is not None and (now or outcome.found):
            return outcome
        outcome = super().stored(doi, entries, now)
        if outcome is None or outcome.agency is not None or not now:
            return outcome
        self._aliases.add(doi)  # not new, but whether its target exists is to be found out
        return None

    def groups(self, dois: Sequence[Handle]) -> Iterator[tuple[Sequence[Handle], Ask]]:
        """Yield each DOI alone, or batches for Which RA as soon as more than a few are new."""
        new = [doi for doi in dois if doi not in self._aliases]
        self._new += len(new)
        if self._new > FEW:
            dois = [doi for doi in dois if doi in self._aliases]
            yield from super().groups(new)
        for doi in dois:
            yield [doi], self.ask

    def ask(self, dois: Sequence[Handle], call: Call) -> Sequence[Outcome]:
        """Request the record of a DOI."""
        return RecordQuestion(self.base).ask(dois, call)


@dataclass
class ContentQuestion(Question):
    """What is its metadata of one kind? One request each."""

    base: str
    kind: Kind

    def keys(self, doi: Handle) -> list[Key]:
        """Return the keys of the metadata and of the record, which may say that the DOI does not exist."""
        return [self.kind.key(self.base, doi), record_key(self.base, doi)]

    def stored(self, doi: Handle, entries: Mapping[Key, Entry], now: float) -> Outcome | None:
        outcome = self.kind.read(doi, entries.get(self.kind.key(self.base, doi)), now)
        if outcome is None and now:
            record = read_entry(doi, entries.get(record_key(self.base, doi)), now)
            return record if record is not None and record.status == "not-found" else None
        return outcome

    def ask(self, dois: Sequence[Handle], call: Call) -> Sequence[Outcome]:
        """Request the metadata of a DOI; a definite answer is stored."""
        (doi,) = dois
        try:
            entry = self.kind.entry(doi, call.negotiated(doi, self.kind.accept))
            outcome = Outcome(doi, "found", **self.kind.value(doi, entry))
        except NoValues as error:
            return [self._without(doi, error, call)]
        except ResolutionError as error:
            return [Outcome.from_error(doi, error)]
        call.entries[self.kind.key(self.base, doi)] = entry
        return [outcome]

    def _without(self, doi: Handle, error: NoValues, call: Call) -> Outcome:
        """Return that there is no such metadata if the DOI exists: a captive portal answers any request."""
        try:
            call.current(doi)
        except NoValues:
            pass  # the name exists
        except ResolutionError as other:
            return Outcome.from_error(doi, other)
        if self.kind.media_type is not None:
            call.entries[self.kind.key(self.base, doi)] = new_entry(NOTHING, JSON, NOTHING_TTL)
        return Outcome.from_error(doi, error)


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
