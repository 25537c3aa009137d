"""Whether DOIs exist, and who registered them: Which RA about many, the REST API about each."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from doiuri._doi import ShortDOI
from doiuri._errors import BadRecord, DOINotFound, NoValues, ResolverUnavailable
from doiuri._json import dump, load, read_object
from doiuri.records._record import ascii_upper
from doiuri.resolver._outcome import Outcome
from doiuri.resolver.http import Request
from doiuri.resolver.questions._question import AHEAD, Question, Task
from doiuri.resolver.questions._records import Records
from doiuri.resolver.stores._store import JSON, MAX_AGE, Key, new_entry
from doiuri.rest import MAX_AGENCY_URL, MAX_RECORD, agency_batches, agency_url, read_agencies

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doiuri._doi import Handle
    from doiuri.resolver._sources import Sources
    from doiuri.resolver.http import Reply
    from doiuri.resolver.stores._store import Entry
    from doiuri.rest import Agency

FEW = 16
"""New names for which ``Resolver.check`` requests records; more are sent to Which RA."""

# HTTP statuses of a server without Which RA, or whose Which RA does not take so many names
_NO_WHICH_RA = frozenset({400, 404, 405, 410, 414, 501})


class ExistenceQuestion(Question):
    """Whether a DOI exists: the REST API answers about few new names; about many, Which RA comes first.

    An alias exists, wherever it leads, and so does a name without values.

    :param agency: whether the registration agency is asked for, which only Which RA knows.
    :param confirm: whether the REST API has to confirm that a name does not exist.
    :param few: how many new names the REST API is asked about without Which RA.
    """

    first_look_ahead: ClassVar[int] = AHEAD

    def __init__(
        self, base: str, *, agency: bool = False, confirm: bool = True, few: int = 0
    ) -> None:
        super().__init__(base)
        self._records = Records(base)
        self._agency = agency
        self._confirm = confirm
        self._few = few
        self._asked = 0  # names that were divided into tasks so far

    def keys(self, doi: Handle) -> list[Key]:
        return [_agency_key(self.base, doi), self._records.key(doi)]

    def read(self, doi: Handle, entries: Sequence[Entry | None]) -> Outcome | None:
        """Return what the stored answer of Which RA says or, without one, the record, which names no agency."""
        which_ra, record = entries
        agency = None if which_ra is None else _read_agency(doi, which_ra)
        if agency is not None:
            return Outcome(doi, "found", agency=agency)

        outcome = self._records.read(doi, record)
        if outcome is None or outcome.status == "not-found":
            return outcome
        if self._agency:
            return None
        return Outcome(doi, "found")  # a name without values exists, too

    def waits(self, new: int) -> bool:
        """Return whether there are new names, and so far only few: how they are asked about is still open."""
        return 0 < new <= self._few - self._asked

    def tasks(self, dois: Sequence[Handle]) -> Iterator[Task]:
        """Yield a task for each DOI while they are few; then batches for Which RA.

        DOIs that Which RA cannot take are asked about alone.
        """
        self._asked += len(dois)
        if self._asked <= self._few:
            yield from super().tasks(dois)
            return

        together: list[Handle] = []
        alone: list[Handle] = []
        for doi in dois:
            is_too_long = len(agency_url([doi], base=self.base)) > MAX_AGENCY_URL
            if is_too_long or isinstance(doi, ShortDOI):  # Which RA knows no short DOIs
                alone.append(doi)
            else:
                together.append(doi)
        for batch, url in agency_batches(together, base=self.base):
            yield WhichRA(self.base, batch, url, confirm=self._confirm)
        yield from super().tasks(alone)

    def request(self, doi: Handle, sources: Sources) -> Outcome:
        """Ask the REST API about one DOI: its negative answer is definite."""
        with suppress(NoValues):  # the name exists
            self._records.request(doi, sources)
        return Outcome(doi, "found")


class WhichRA(Task):
    """Asks Which RA about DOIs, in one request.

    The DOIs that it does not confirm to exist are left to the REST API; all of them, if there is no Which RA.

    :param url: the URL that asks about these DOIs.
    :param confirm: whether the REST API has to confirm that a name does not exist.
    """

    def __init__(self, base: str, dois: Sequence[Handle], url: str, *, confirm: bool) -> None:
        super().__init__(dois)
        self._base = base
        self._url = url
        self._confirm = confirm

    def run(self, sources: Sources) -> dict[Handle, Outcome]:
        """Return the outcomes of the DOIs about which Which RA is definite; agencies go to the store."""

        def read_reply(reply: Reply) -> Sequence[Agency]:
            return read_agencies(self.dois, reply.status, reply.body, reply.headers)

        request = Request(self._url, JSON, MAX_RECORD)
        try:
            agencies = sources.get(self.dois[0], request, read_reply)
        except BadRecord:
            return {}
        except ResolverUnavailable as error:
            if error.status in _NO_WHICH_RA:
                return {}
            return {doi: Outcome.from_error(doi, error) for doi in self.dois}

        outcomes = {}
        for doi, agency in zip(self.dois, agencies, strict=True):
            if agency.status == "found":
                body = dump({"DOI": doi.name, "RA": agency.name}).encode()
                sources.keep(_agency_key(self._base, doi), new_entry(body, JSON, MAX_AGE))
                outcomes[doi] = Outcome(doi, "found", agency=agency.name)
            elif agency.status == "not-found" and not self._confirm:
                outcomes[doi] = Outcome.from_error(doi, DOINotFound(doi))
        return outcomes


def _agency_key(base: str, doi: Handle) -> Key:
    """Return the key of the answer of Which RA that a DOI exists."""
    return Key("exists", base, doi.key)


def _read_agency(doi: Handle, entry: Entry) -> str | None:
    """Return the agency in an entry; None if it was not written by us."""
    try:
        answer = read_object(load(entry.body))
    except ValueError:
        return None

    name = answer.get("DOI")
    if not isinstance(name, str) or ascii_upper(name) != doi.key:
        return None
    agency = answer.get("RA")
    return agency if isinstance(agency, str) else None
