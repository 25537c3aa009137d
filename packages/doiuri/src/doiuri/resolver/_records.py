"""One DOI's record: from the store, from the server, along aliases."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from doiuri._doi import DOI, Prefix, ShortDOI
from doiuri._errors import DOISyntaxError
from doiuri._resolution_errors import BadRecord, DOINotFound, NoValues, ResolutionError, ResolverUnavailable
from doiuri.records._json import dump
from doiuri.records._record import Record
from doiuri.resolver._outcome import Outcome, Question
from doiuri.resolver._workers import in_time
from doiuri.resolver.http._transport import Request
from doiuri.resolver.stores._store import Entry
from doiuri.rest._client import read_record, record_url

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeVar

    from doiuri._doi import Handle
    from doiuri.resolver._workers import Job
    from doiuri.resolver.http._client import Client
    from doiuri.resolver.stores._store import ReadStore, Store

    T = TypeVar("T")

JSON = "application/json"
RECORD_LIMIT = 1_000_000
"""Octets of a record: the largest that are known have some thousand, and reading takes many times as much."""

LONGEST_URL = 16_000
"""Characters of a URL that we send; servers give up earlier or later."""

HOPS = 20
"""Aliases followed one after another; as many as the proxy follows."""

NEGATIVE = 3600.0
"""Seconds for which a definite no is believed."""

LONGEST = 30 * 86400.0
"""Seconds for which a record is believed, whatever its TTL says."""

UNSAID = 86400.0
"""Seconds for which a record is believed that has no TTL: what the DOI system usually gives."""

OVERTIME = 0.2
"""Seconds that the store gets in any case: what came has to be stored, even at the end of the time."""

_FOUND = b'{"responseCode":1,'


class Records:
    """Records by DOI: a fresh one in the store is taken, else the server is asked.

    With a ``deadline`` (monotonic seconds) the store gets half of the time that is left; then it is not
    waited for any more.
    """

    def __init__(self, client: Client, store: Store | ReadStore | None, deadline: float = inf) -> None:
        self._client = client
        self._store = store
        self._deadline = deadline
        self._late = False

    def until(self, deadline: float) -> Records:
        """The same for one call, which ends at ``deadline``."""
        return Records(self._client, self._store, deadline)

    def key(self, doi: Handle) -> str:
        """Under which key the store has the record."""
        return f"record {self._client.base} {doi.key}"

    def stored(self, keys: Sequence[str]) -> Mapping[str, Entry]:
        """The entries that the store has, stale ones too."""
        if self._store is None or self._late:
            return {}
        return self._in_time(partial(self._store.get_many, keys)) or {}

    def put(self, entries: Mapping[str, Entry]) -> None:
        """Store entries, if there is a store to write to."""
        write = getattr(self._store, "put_many", None)
        if write is not None and entries:
            self._in_time(partial(write, entries))

    def _in_time(self, work: Callable[[], T]) -> T | None:
        """Have the store do something; it goes on behind our back where that takes too long."""
        if sys.is_finalizing():  # too late: nothing can be imported or started any more
            return None
        if self._deadline == inf:
            return work()
        now = time.monotonic()
        share = 0.0 if self._late else (self._deadline - now) / 2
        try:
            return in_time(lambda _job: work(), now + max(share, OVERTIME))
        except TimeoutError:
            self._late = True
            return None
        except RuntimeError:  # no thread is started at the interpreter's end
            return work()

    def ask(self, doi: Handle, job: Job, deadline: float, question: Question, **query: bool) -> Record:
        """Ask for the whole record of this very name; a definite answer is noted for the store.

        Raises what ``read_record`` raises.
        """
        reply = self._client.get(doi, self._request(doi, **query), job, deadline)
        try:
            record = read_record(doi, reply.status, reply.body, reply.headers)
        except DOINotFound:
            question.fresh[self.key(doi)] = _negative(doi, 100)
            raise
        except NoValues:
            question.fresh[self.key(doi)] = _negative(doi, 200)
            raise
        ttl = UNSAID if record.ttl is None else min(record.ttl, LONGEST)
        question.fresh[self.key(doi)] = Entry(record.to_json().encode(), JSON, time.time() + ttl)
        return record

    def select(self, doi: Handle, job: Job, deadline: float, **query: object) -> Record:
        """Ask for the values of some types and indices; nothing of that is stored."""
        reply = self._client.get(doi, self._request(doi, **query), job, deadline)
        return read_record(doi, reply.status, reply.body, reply.headers)

    def _request(self, doi: Handle, **query: object) -> Request:
        url = record_url(doi, base=self._client.base, **query)  # type: ignore[arg-type]
        if len(url) > LONGEST_URL:
            raise ResolverUnavailable(doi, f"too long to ask for: its URL has {len(url):,} characters")
        return Request(url, JSON, RECORD_LIMIT)

    def own(self, doi: Handle, entry: Entry | None, job: Job, deadline: float, question: Question) -> Record:
        """The record of this very name: the stored one if it is fresh, or if the server has none to give."""
        known = self.fresh(doi, entry)
        if known is not None:
            return known
        try:
            return self.ask(doi, job, deadline, question)
        except (ResolverUnavailable, BadRecord):
            record = stale(doi, entry)
            if record is None:
                raise
            question.stale = True
            return record

    def fresh(self, doi: Handle, entry: Entry | None) -> Record | None:
        """The record in an entry whose time is not over; raises DOINotFound and NoValues where it says so."""
        if entry is None or entry.expires <= time.time():
            return None
        with suppress(BadRecord):  # not our writing: as if it were not there
            return read_stored(doi, entry)
        return None

    def follow(
        self, doi: Handle, record: Record, job: Job, deadline: float, question: Question, **query: bool
    ) -> Record:
        """The record at the end of the chain of aliases that begins with ``record``.

        With ``auth`` or ``cert`` in ``query`` past the store. Raises BadRecord for a chain that is too long
        or closed, DOINotFound where it leads nowhere.
        """
        seen = {doi.key}
        while (name := record.alias) is not None:
            target = _target(doi, name)
            if target.key in seen or len(seen) > HOPS:
                raise BadRecord(doi, f"its aliases do not end: {len(seen)} followed, the last to {name}")
            seen.add(target.key)
            try:
                if any(query.values()):
                    record = self.ask(target, job, deadline, question, **query)
                else:
                    entry = self.stored([self.key(target)]).get(self.key(target))
                    record = self.own(target, entry, job, deadline, question)
            except DOINotFound:
                raise DOINotFound(doi, f"it stands for {name}, which does not exist") from None
        return record


def quick(doi: Handle, entry: Entry, now: float) -> Outcome | None:
    """The outcome of a fresh entry, where that takes no further question; the common case, hence fast."""
    if entry.expires <= now:
        return None
    if entry.body.startswith(_FOUND):
        if b"HS_ALIAS" in entry.body.upper():
            return None
        # our own writing, checked before it was stored: read when somebody looks at it
        return Outcome(doi, "found", Record.deferred(doi, entry.body))
    try:
        record = read_stored(doi, entry)
    except BadRecord:
        return None  # not our writing: ask again
    except ResolutionError as error:
        return Outcome.of_error(doi, error)
    return None if record.alias else Outcome(doi, "found", record)


def verdict(doi: Handle, entry: Entry) -> Outcome | None:
    """What an entry says of the existence of a name alone; None where it is not our writing."""
    if entry.body.startswith(_FOUND):
        return Outcome(doi, "found")
    try:
        read_stored(doi, entry)
    except (DOINotFound, BadRecord) as error:
        return None if isinstance(error, BadRecord) else Outcome.of_error(doi, error)
    except NoValues:
        pass  # it exists nevertheless
    return Outcome(doi, "found")


def stale(doi: Handle, entry: Entry | None) -> Record | None:
    """The record in an entry whose time may be over; None where it has none: an old no says nothing."""
    with suppress(ResolutionError):
        return None if entry is None else read_stored(doi, entry)
    return None


def read_stored(doi: Handle, entry: Entry) -> Record:
    """Read what the store has; raises as ``read_record`` does."""
    return read_record(doi, 200, entry.body)


def _negative(doi: Handle, code: int) -> Entry:
    body = dump({"responseCode": code, "handle": doi.name, "values": []})
    return Entry(body.encode(), JSON, time.time() + NEGATIVE)


def _target(doi: Handle, name: str) -> Handle:
    """What an alias names: a handle, taken literally."""
    try:
        if name.startswith("10/"):
            return ShortDOI(name)
        return DOI(name) if "/" in name else Prefix(name)
    except DOISyntaxError as error:
        raise BadRecord(doi, f"it stands for what is no DOI: {error}") from None
