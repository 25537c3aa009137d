"""Whether DOIs are registered, and what they name: by the lock file, the store and the registry."""

from __future__ import annotations

import time
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from itertools import chain
from sys import intern
from typing import TYPE_CHECKING, NamedTuple, cast

from doiuri import Handle
from doiuri.plugins import whole_name

from doiuri_cli._config import DEFAULT_MAX_AGE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from sqlite3 import Connection
    from typing import Any, Self

    from doiuri import DOI
    from doiuri.plugins.survey import Show, Survey
    from doiuri.resolver import Cause, Entry, LockContent, Resolver
    from doiuri.works import Work

    from doiuri_cli._config import Config

    Progress = Callable[[int, int | None], None]

_NO_LONGER: Mapping[str, Sequence[DOI]] = {}


def handle(name: str) -> DOI:
    """Return the DOI of a name, or a short DOI: the registry is asked about both in the same way."""
    return cast("DOI", Handle.from_name(name))


@dataclass(slots=True)
class LookupCounts:
    """How DOIs got their answers, in figures, and why some have none."""

    dois: int = 0  # how many there are
    known: int = 0  # how many answers are from the lock file and the store
    asked: int = 0  # for how many DOIs the registry was asked
    requests: int = 0  # how many were sent
    # for each DOI that could not be checked, why
    unknown: list[Cause] = field(default_factory=list)
    # for each outdated work that could not be renewed, why
    old: list[Cause] = field(default_factory=list)

    def add(self, counts: LookupCounts) -> None:
        """Add the figures of further DOIs."""
        self.dois += counts.dois
        self.known += counts.known
        self.asked += counts.asked
        self.requests += counts.requests
        self.unknown += counts.unknown
        self.old += counts.old


@dataclass(slots=True)
class Answers:
    """What is known about the DOIs of a batch. The keys are those of the DOIs."""

    statuses: dict[str, str] = field(default_factory=dict)
    # those that are not in the lock file; empty if it need not have them
    missing: frozenset[str] = frozenset()
    meant: dict[str, str] = field(default_factory=dict)  # registered names that were probably meant
    counts: LookupCounts = field(default_factory=LookupCounts)  # of those that are new in the batch


def check_names(names: Iterable[str], config: Config) -> Answers:
    """Return what the store and the registry know about some DOIs, each by its name.

    :raises ValueError: if the resolver or the cache is misconfigured.
    """
    with Inquiry(config) as inquiry:
        return inquiry.ask(names)


class Inquiry:
    """Asks about the DOIs of a run, one batch after the other: one resolver, and one budget for all.

    The answer about a DOI comes from the first of these that has one:

    1. earlier batches, whose answers are kept in a temporary file;
    2. the lock file, if there is one; with ``--locked``, nothing else is asked;
    3. the store, also with a stale answer if no request may be sent;
    4. the registry.

    :param lock: the content of the lock file; None if there is none.
    :param progress: called with how many DOIs of a batch are done, and how many there are.
    """

    locked: set[str]
    """The DOIs in the lock file that were asked about, by their keys."""

    def __init__(
        self, config: Config, lock: LockContent | None = None, progress: Progress | None = None
    ) -> None:
        self.locked = set()

        # What it asks by
        self._config = config
        self._lock = lock
        self._in_lock = set() if lock is None else lock.dois()
        self._progress = progress

        # What was answered; the last batch stays in memory until the next one, so that a single one needs no file
        self._earlier = _Statuses()
        self._last: dict[str, str] = {}
        self._meant: dict[str, str] = {}
        self._causes: dict[tuple[object, ...], Cause] = {}  # the first of each kind

        # What is left of the budget, and who is asked: both resolvers are opened when they are first needed
        self._seconds_left = config.budget  # None: no limit
        self._replies = 0  # how many the registry has sent
        self._opened = ExitStack()
        self._store: Resolver | None = None  # which reads the store, and sends no requests
        self._resolver: Resolver | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()
        self._earlier.close()

    def ask(
        self, names: Iterable[str], longer: Mapping[str, Sequence[DOI]] = _NO_LONGER
    ) -> Answers:
        """Return what is known about the DOIs of a batch, each by its name.

        :param longer: longer names that mentions may mean, by the keys of their DOIs. Those that are meant
            have an answer, too.
        :raises ValueError: if the resolver or the cache is misconfigured.
        """
        dois = {doi.key: doi for doi in map(handle, names)}
        self._earlier.add(self._last)
        earlier = self._earlier.statuses(dois)
        for key in longer:
            if earlier.get(key, "found") != "found":
                # Asked about again: what was no DOI as 10.1000/no may be meant as "10.1000/no." in this batch
                del earlier[key]
        new = {key: doi for key, doi in dois.items() if key not in earlier}

        answers = self._look_up(new, longer)
        # Those without an answer, as with --locked, are kept, too: a later batch does not count them as new
        self._last = dict.fromkeys(dois, "unknown") | earlier | answers.statuses
        answers.statuses |= earlier
        self._meant |= answers.meant
        answers.meant = self._meant

        answered = {*dois, *answers.statuses}
        if self._lock is not None and self._config.needs_lock:
            answers.missing = frozenset(answered - _locked_statuses(answered, self._lock).keys())
        self.locked |= self._in_lock.intersection(answered)
        return answers

    def count_others(self, names: Collection[str]) -> int:
        """Return how many of some names were not asked about."""
        if not names:
            return 0
        self._earlier.add(self._last)
        keys = [handle(name).key for name in names]
        return len(keys) - len(self._earlier.statuses(keys))

    def _look_up(self, dois: Mapping[str, DOI], longer: Mapping[str, Sequence[DOI]]) -> Answers:
        """Return what is known about DOIs that are new, and about the longer names that are meant."""
        locked: dict[str, str] = {}
        left = list(dois.values())
        if self._lock is not None:
            # A mention has its answer if the lock file has its DOI, or says that a longer name is registered
            longer_keys = {key: [doi.key for doi in longer.get(key, ())] for key in dois}
            locked = _locked_statuses([*dois, *chain(*longer_keys.values())], self._lock)
            left = [
                doi
                for key, doi in dois.items()
                if whole_name(key, longer_keys[key], locked) not in locked
            ]

        answers = Answers()
        if self._config.locked:
            from doiuri.resolver import Cause

            answers.counts.unknown = [Cause("lock", detail="not in the lock file")] * len(left)
        elif left:
            answers = self._ask(left, longer)
        answers.statuses = locked | answers.statuses
        answers.counts.dois = len(dois)
        answers.counts.known += len(dois) - len(left)
        return answers

    def _ask(self, dois: Sequence[DOI], longer: Mapping[str, Sequence[DOI]]) -> Answers:
        """Return what the store knows about DOIs, and what the registry answers about the others."""
        from doiuri.plugins.survey import Need, Survey

        needs = dict.fromkeys(dois, Need.EXISTENCE)
        mentions = [(doi, longer.get(doi.key, ())) for doi in dois]
        if self._store is None:
            self._store = self._opened.enter_context(open_resolver(self._config, offline=True))
        stored = Survey(self._store, None)
        stored.ask(needs, longer=mentions)
        # A stale answer counts only if nobody may be asked
        fresh = {doi: status for doi, status in stored.statuses.items() if doi not in stored.stale}
        left = [doi for doi in dois if doi not in fresh]
        # For a missing DOI, the registry knows whether the one that was probably meant is registered
        if self._config.offline or not (left or stored.missing):
            counts = LookupCounts(known=len(dois) - len(stored.unknown))
            counts.unknown += map(self._shared, stored.unknown.values())
            return Answers(_statuses(dois, stored), counts=counts)

        if self._resolver is None:
            resolver = open_resolver(self._config, on_reply=self._count_reply)
            self._resolver = self._opened.enter_context(resolver)
        replies = self._replies
        started = time.monotonic()
        survey = Survey(self._resolver, self._seconds_left)
        survey.statuses = fresh  # so that nobody is asked about these
        survey.ask(needs, longer=mentions, show=showing(self._progress))
        if self._seconds_left is not None:
            elapsed = time.monotonic() - started
            self._seconds_left = max(0.0, self._seconds_left - elapsed)

        counts = LookupCounts(known=len(dois) - len(left), asked=len(left))
        counts.requests = self._replies - replies
        counts.unknown += map(self._shared, survey.unknown.values())
        meant = {doi.key: registered.name for doi, registered in survey.meant.items()}
        statuses = _statuses(dois, stored) | _statuses(left, survey)
        return Answers(statuses, meant=meant, counts=counts)

    def _shared(self, cause: Cause) -> Cause:
        """Return the first cause of its kind, as ``tally`` does, so that not each DOI has one of its own."""
        return self._causes.setdefault((cause.kind, cause.host, cause.status), cause)

    def _count_reply(self, _reply: object) -> None:
        self._replies += 1


def _statuses(dois: Iterable[DOI], survey: Survey) -> dict[str, str]:
    """Return the statuses of DOIs by their keys, and those of longer names that exist."""
    existing = {doi.key: status for doi, status in survey.statuses.items() if status == "found"}
    return existing | {doi.key: survey.answer(doi).status for doi in dois}


class _Statuses:
    """The statuses of DOIs by their keys, in a temporary file: those of a large tree would fill the memory."""

    def __init__(self) -> None:
        self._database: Connection | None = None

    def add(self, statuses: Mapping[str, str]) -> None:
        """Keep statuses."""
        if not statuses:
            return
        if self._database is None:
            import sqlite3  # slow to import, and rarely needed

            self._database = sqlite3.connect("", isolation_level=None)
            self._database.execute("CREATE TABLE statuses (key PRIMARY KEY, status) WITHOUT ROWID")
        rows = sorted(statuses.items())
        with self._database:
            self._database.execute("BEGIN")
            self._database.executemany("INSERT OR REPLACE INTO statuses VALUES (?, ?)", rows)

    def statuses(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the statuses that are kept of some DOIs."""
        if self._database is None:
            return {}
        statuses: dict[str, str] = {}
        query = "SELECT status FROM statuses WHERE key = ?"
        for key in keys:
            for (status,) in self._database.execute(query, [key]):
                statuses[key] = intern(status)
        return statuses

    def close(self) -> None:
        """Drop the file."""
        if self._database is not None:
            self._database.close()


def _locked_statuses(keys: Iterable[str], lock: LockContent) -> dict[str, str]:
    """Return what a lock file says about DOIs, by their keys."""
    statuses: dict[str, str] = {}
    for key in keys:
        status = "accepted" if key in lock.accepted else lock.status(key)
        if status is not None:
            statuses[key] = status
    return statuses


def _is_fresh(entry: Entry | None, retrieved: str, max_age: int) -> bool:
    """Return whether a work needs no request, as the lock file has it, or says that there is none.

    :param retrieved: the date on which the lock file got the work, as YYYY-MM-DD; "" if it is not known.
    :param max_age: the days for which a work is fresh; none is if they are 0.
    """
    if entry is None or max_age == 0:
        return False
    # That there is no work does not become too old: only --max-age 0 asks again
    if entry.says_none:
        return True
    # Not before 1970, however large the age is: gmtime fails for years that are far away
    oldest = max(time.time() - max_age * 86400, 0)
    return retrieved >= time.strftime("%Y-%m-%d", time.gmtime(oldest))


class WorksLookup(NamedTuple):
    """The works that DOIs name, and what it took to learn of them."""

    works: dict[str, Work]  # by the DOI's key; without those of which nothing is known
    requests: int = 0  # how many were sent
    old: Sequence[Cause] = ()  # for each work in the lock file that could not be renewed, why


def look_up_works(
    names: Iterable[str],
    statuses: Mapping[str, str],
    config: Config,
    progress: Progress | None = None,
) -> WorksLookup:
    """Look up the works with these names: in the lock file, and at the registry those that are too old there.

    A work in the lock file counts, however old, if the registry has no newer answer.

    :param statuses: what is known about the DOIs; those that do not exist name no work.
    :raises ValueError: if the resolver or the cache is misconfigured.
    """
    from doiuri.plugins import DOI_ORG
    from doiuri.plugins.survey import Survey
    from doiuri.resolver import Cause, Key, LockContent, MemoryStore
    from doiuri.works import Work

    from doiuri_cli.registry._locked import read_lock

    lock = LockContent() if config.lock is None else read_lock(config.lock)
    unique = {doi.key: doi for doi in map(handle, names)}.values()
    existing = [doi for doi in unique if statuses.get(doi.key) not in {"not-found", "accepted"}]
    works: dict[str, Work] = {}
    due: list[DOI] = []
    for doi in existing:
        entry = lock.get(Key("work", DOI_ORG, doi.key))
        if entry is not None and not entry.says_none:
            works[doi.key] = Work.from_json(entry.body, doi=doi)
        if not _is_fresh(entry, lock.retrieved.get(doi.key, ""), config.max_age):
            due.append(doi)
    if not due:
        return WorksLookup(works)

    outdated = [doi for doi in due if doi.key in works]
    if config.locked:
        cause = Cause("lock", detail="--locked sends no requests")
        return WorksLookup(works, old=[cause] * len(outdated))

    replies: list[None] = []  # one for each request
    # A work in the cache may be DEFAULT_MAX_AGE days old: if that is too old, a store in memory takes its place
    store = MemoryStore() if config.max_age < DEFAULT_MAX_AGE and not config.offline else None
    with open_resolver(config, store=store, on_reply=lambda _: replies.append(None)) as resolver:
        survey = Survey(resolver, config.budget)
        survey.look_up_works(due, show=showing(progress))

    # A stale answer is no better than the work in the lock file
    stale = {doi for doi in outdated if doi in survey.stale}
    renewed = {doi: work for doi, work in survey.works.items() if doi not in stale}
    works |= {doi.key: work for doi, work in renewed.items() if work is not None}

    causes = survey.stale | survey.incomplete
    unanswered = Cause("unknown", detail="no answer")
    old = [causes.get(doi) or unanswered for doi in outdated if doi not in renewed]
    return WorksLookup(works, len(replies), old)


def open_resolver(config: Config, **arguments: Any) -> Resolver:
    """Return a Resolver for the configuration, as ``doiuri.plugins.open_resolver`` does."""
    from doiuri import plugins

    if config.rate is not None:
        arguments["rate"] = config.rate
    return plugins.open_resolver(config.shared, "doiuri-cli", budget=config.budget, **arguments)


def showing(progress: Progress | None) -> Show:
    """Return the argument ``show`` of ``Survey.ask`` for one progress function."""
    return lambda _stage, _dois: nullcontext(progress)
