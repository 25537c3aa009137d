"""Relations that hold after any history: of answers in a store, and of a lock file that is renewed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from doiuri import DOI
from doiuri.plugins.survey import Need, Survey
from doiuri.resolver import (
    Entry,
    Key,
    LockContent,
    LockFile,
    MemoryStore,
    Outcome,
    RedisStore,
    Reply,
    Request,
    Resolver,
    SQLiteStore,
    TransportError,
)
from doiuri.works import Work
from doiuri_proxy import resolver_for
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from support.processes import in_child
from support.servers.fake_redis import Redis
from support.store_contract import AnyStore

CSL = "application/vnd.citationstyles.csl+json"
RIS = "application/x-research-info-systems"
NAMES = [f"10.1000/{letter}" for letter in "abc"]
DOIS = [DOI(name) for name in NAMES]
MONTH = 31 * 86400.0
TARGET = "10.1000/target"
DOI_ORG = "https://doi.org"
MIRROR = "https://mirror.example"
LINK = {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"}}
ALIAS = {"index": 1, "type": "HS_ALIAS", "data": {"format": "string", "value": TARGET}}
METADATA = {
    CSL: {"type": "book", "title": "A"},
    RIS: "TY  - BOOK\r\n",
    "application/x-bibtex": "@book{a}",
}
# What is registered, if anything. "new" has other content than "old".
FACTS: dict[str, dict[str, Any] | None] = {
    "old": {"values": [LINK], "metadata": METADATA},
    "new": {
        "values": [LINK | {"index": 2}],
        "metadata": METADATA | {CSL: {"type": "book", "title": "B"}},
    },
    "bare": {"values": [LINK]},
    "empty": {"values": []},
    "alias": {"values": [ALIAS]},
    "gone": None,
}
Facts = dict[str, str]
Lock = Literal["record", "exists"]
Ask = Callable[[Resolver, Sequence[DOI]], Iterator[Outcome]]
ASKS: dict[str, Ask] = {
    "resolve_many": Resolver.resolve_many,
    "check": Resolver.check,
    "batch": lambda resolver, dois: resolver.check(dois, batch=True),
    "agencies": Resolver.agencies,
    "works": Resolver.works,
    "metadata": lambda resolver, dois: resolver.metadata_many(dois, RIS),
}
some_facts = st.fixed_dictionaries({name: st.sampled_from([*FACTS]) for name in NAMES})
some_dois = st.lists(st.sampled_from(DOIS), min_size=1, unique=True)


class Down:
    """A server that does not answer."""

    def get(self, request: Request) -> Reply:
        raise TransportError(f"no answer to {request.url}", counts=False)


class Noting:
    """A store that notes its keys, so that a day can pass for its entries."""

    def __init__(self, store: AnyStore) -> None:
        self.store = store
        self.keys: set[Key] = set()

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        return self.store.get_many(keys)

    def put_many(self, entries: dict[Key, Entry]) -> None:
        self.keys |= entries.keys()
        self.store.put_many(entries)

    def age(self) -> None:
        older = {}
        for key, entry in self.store.get_many([*self.keys]).items():
            older[key] = entry._replace(expires=entry.expires - MONTH)
        self.store.put_many(older)


def registry(facts: Facts, store: Noting | None = None, base: str = DOI_ORG) -> Resolver:
    """A resolver whose server knows these facts."""
    registered = {name: FACTS[fact] for name, fact in facts.items()}
    items = [{"handle": name, **known} for name, known in registered.items() if known is not None]
    target = {"handle": TARGET, "values": [LINK]}
    return resolver_for(
        {"records": [*items, target], "agencies": {"10.1000": "Crossref"}}, store=store, base=base
    )


def without_server(store: Noting | AnyStore, *, offline: bool, base: str = DOI_ORG) -> Resolver:
    return Resolver(base, store=store, offline=offline, transport=Down(), rate=None)


def answer(what: str, outcome: Outcome) -> tuple[object, ...]:
    """What an outcome says; whether a DOI exists may be known with or without its agency."""
    if what in {"check", "batch"}:
        return (outcome.status,)
    record = outcome.record and (outcome.record.doi, outcome.record.url, len(outcome.record.values))
    # what came in place of the metadata is not stored
    metadata = outcome.metadata if outcome.found else None
    return outcome.status, record, outcome.agency, outcome.work, metadata


def answers(what: str, resolver: Resolver, dois: Sequence[DOI]) -> list[tuple[object, ...]]:
    return [answer(what, outcome) for outcome in ASKS[what](resolver, dois)]


class Stored(RuleBasedStateMachine):
    """With a server every outcome is true; without one it is what was true when asked last, or unknown.

    What was found is never lost; what was not found is unknown a day later.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.stores = [Noting(store) for store in self.open()]
        self.facts: Facts = dict.fromkeys(NAMES, "old")
        self.past: list[Facts] = []
        # what is known, since which day
        self.asked: dict[tuple[str, DOI], tuple[tuple[object, ...], int]] = {}

    def open(self) -> list[AnyStore]:
        return [MemoryStore()] * 2

    def teardown(self) -> None:
        for store in self.stores:
            store.store.close()
        shutil.rmtree(self.folder)

    @initialize(facts=some_facts)
    def begin(self, facts: Facts) -> None:
        self.facts = facts
        self.past = [facts]

    @rule(what=st.sampled_from([*ASKS]), dois=some_dois, number=st.integers(0, 1))
    def ask(self, what: str, dois: list[DOI], number: int) -> None:
        true = answers(what, registry(self.facts), dois)
        assert answers(what, registry(self.facts, self.stores[number]), dois) == true
        self.asked = {
            one: (said, day)
            for one, (said, day) in self.asked.items()
            if one[1] not in dois or day == len(self.past)
        }
        self.asked |= {
            (what, doi): (said, len(self.past)) for doi, said in zip(dois, true, strict=True)
        }

    @rule(what=st.sampled_from([*ASKS]), number=st.integers(0, 1), offline=st.booleans())
    def ask_without_a_server(self, what: str, number: int, offline: bool) -> None:
        resolver = without_server(self.stores[number], offline=offline)
        ever = [answers(what, registry(facts), DOIS) for facts in self.past]
        for doi, outcome, true in zip(
            DOIS, ASKS[what](resolver, DOIS), zip(*ever, strict=True), strict=True
        ):
            said = answer(what, outcome)
            known, _ = self.asked.get((what, doi), (None, 0))
            if known is None:
                today = any(
                    one == doi and day == len(self.past)
                    for (_, one), (_, day) in self.asked.items()
                )
                assert outcome.status == "unknown" or (said in true and (outcome.found or today))
            else:
                was_alias = any(facts[doi.name] == "alias" for facts in self.past)
                leads_nowhere = what == "check" and was_alias and outcome.status == "unknown"
                assert said == known or leads_nowhere

    @rule(what=st.sampled_from([*ASKS]), number=st.integers(0, 1))
    def ask_in_a_forked_child(self, what: str, number: int) -> None:
        assert in_child(lambda: self.ask_without_a_server(what, number, offline=True)) == 0

    @rule(facts=some_facts)
    def a_day_later(self, facts: Facts) -> None:
        for store in self.stores:
            store.age()
        self.facts = facts
        self.past.append(facts)
        self.asked = {one: known for one, known in self.asked.items() if known[0][0] == "found"}

    @rule(number=st.integers(0, 1))
    def close(self, number: int) -> None:
        self.stores[number].store.close()

    @rule()
    def clear(self) -> None:
        self.stores[0].store.clear()  # type: ignore[union-attr]
        assert self.stores[1].store.usage().entries == 0  # type: ignore[union-attr]
        self.asked.clear()


class StoredInSQLite(Stored):
    """Two stores in one file, as in two processes."""

    def open(self) -> list[AnyStore]:
        return [SQLiteStore(self.folder / "store") for _ in range(2)]


class StoredInRedis(Stored):
    """Two machines that share a server."""

    def open(self) -> list[AnyStore]:
        self.server = Redis().__enter__()
        return [RedisStore(self.server.url, timeout=60) for _ in range(2)]

    def teardown(self) -> None:
        super().teardown()
        self.server.__exit__()


class StoredInALockFile(Stored):
    """What is locked never expires, so nothing changes."""

    def open(self) -> list[AnyStore]:
        return [LockFile(self.folder / "doi.lock") for _ in range(2)]

    def a_day_later(self, facts: Facts) -> None:
        """Not a rule here."""

    @rule()
    def clear(self) -> None:
        self.stores[0].store.edit(lambda content: content.remove(content.dois()))  # type: ignore[union-attr]
        self.asked.clear()


changes = st.fixed_dictionaries(
    {name: st.sampled_from(["old", "new", "bare", "gone"]) for name in NAMES}
)
several = st.lists(st.sampled_from(DOIS), min_size=2, unique=True)
cache = st.integers(0, 1)
bases = st.sampled_from([DOI_ORG, MIRROR])


class Locked(RuleBasedStateMachine):
    """A new answer replaces what is locked, and nothing else does, from whichever machine's cache.

    There are two exceptions: that a DOI does not exist counts only from https://doi.org, and that it has no
    metadata does not replace a work.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.file = LockFile(self.folder / "doi.lock")
        self.caches = [Noting(MemoryStore()) for _ in range(2)]
        self.facts: Facts = dict.fromkeys(NAMES, "old")

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize(facts=changes)
    def begin(self, facts: Facts) -> None:
        self.facts = facts

    @rule(facts=changes)
    def a_day_later(self, facts: Facts) -> None:
        self.facts = facts
        for store in self.caches:
            store.age()

    @rule(doi=st.sampled_from(DOIS))
    def accept(self, doi: DOI) -> None:
        self.file.edit(lambda content: content.accepted.update({doi.key: "mine"}))

    @rule(doi=st.sampled_from(DOIS))
    def prune(self, doi: DOI) -> None:
        others = {one for one in DOIS if one != doi}
        self.file.edit(lambda content: content.prune(one.key for one in others))
        content = self.file.read()
        assert (doi.key in content.dois()) == (doi.key in content.accepted)

    @rule(
        dois=several,
        number=cache,
        up=st.booleans(),
        lock=st.sampled_from(["record", "exists"]),
        base=bases,
    )
    def renew_records(self, dois: list[DOI], number: int, up: bool, lock: Lock, base: str) -> None:
        before = self.said()
        accepted = self.file.read().accepted
        records = self.records()
        survey = self.survey(self.caches[number], lock, up=up, base=base)
        survey.ask(dict.fromkeys(dois, Need.EXISTENCE))
        self.file.edit(lambda content: survey.renew(content, dois))
        after = self.said()
        for doi in DOIS:
            status, work = before[doi]
            if doi in dois and up:
                true = self.true("check", doi).status
                if true == "not-found" and base != DOI_ORG:
                    assert (after[doi], self.records()[doi]) == (before[doi], records[doi])
                    assert (doi in survey.unlockable(self.file.read(), dois)) == (
                        status != "not-found" and doi.key not in accepted
                    )
                    continue
                assert after[doi][0] == ("not-found" if true == "not-found" else "found")
                assert after[doi][1] == (None if true == "not-found" else work)
                assert (doi.key in self.file.read().accepted) == (
                    doi.key in accepted and true == "not-found"
                )
            elif doi in survey.stale and status is None:
                assert after[doi] == ("found", work)
            elif doi not in dois or doi in survey.unknown or doi in survey.stale:
                assert (after[doi], self.records()[doi]) == (
                    before[doi],
                    records[doi] or self.records()[doi],
                )

    @rule(dois=several, number=cache, up=st.booleans())
    def renew_works(self, dois: list[DOI], number: int, up: bool) -> None:
        before = self.said()
        survey = self.survey(self.caches[number], "record", up=up)
        survey.look_up_works(dois)
        self.file.edit(lambda content: survey.renew(content, []))
        after = self.said()
        for doi in DOIS:
            work = before[doi][1]
            if doi in dois and up:
                true = self.true("works", doi)
                now = after[doi][1]
                found = {"found": true.work, "no-values": b"null", "not-found": None}[true.status]
                is_kept = true.status == "no-values" and work not in {None, b"null"}
                assert (doi in survey.kept_works(self.file.read())) == is_kept
                if is_kept:
                    assert now == work
                    continue
                assert found == (
                    now if now in {None, b"null"} else Work.from_json(now or b"", doi=doi)
                )
            elif doi in survey.stale and work is None and before[doi][0] != "not-found":
                assert after[doi][1] is not None
            elif doi not in dois or doi in survey.incomplete or doi in survey.stale:
                assert after[doi][1] == work
            assert after[doi][0] is not None or before[doi][0] is None

    def survey(self, cache: Noting, lock: Lock, *, up: bool, base: str = DOI_ORG) -> Survey:
        if up:
            resolver = registry(self.facts, cache, base)
        else:
            resolver = without_server(cache, offline=False, base=base)
        return Survey(resolver, None, lock=lock)

    def said(self) -> dict[DOI, tuple[str | None, bytes | None]]:
        """The status and the work of each DOI in the file."""
        content = self.file.read()
        works = {doi: content.get(Key("work", "https://doi.org", doi.key)) for doi in DOIS}
        return {
            doi: (content.status(doi.key), entry and entry.body) for doi, entry in works.items()
        }

    def records(self) -> dict[DOI, Entry | None]:
        content = self.file.read()
        return {doi: content.get(Key("record", "https://doi.org", doi.key)) for doi in DOIS}

    def true(self, what: str, doi: DOI) -> Outcome:
        (outcome,) = ASKS[what](registry(self.facts), [doi])
        return outcome

    @invariant()
    def the_bytes_depend_on_the_content_alone(self) -> None:
        if self.file.path.exists():
            assert self.file.path.read_bytes() == LockContent.read(self.file.path).render()


@dataclass(frozen=True)
class Run:
    """One run of ``doiuri lock`` over documents that mention some DOIs."""

    facts: Facts
    dois: list[DOI]
    existence: bool
    works: bool
    refresh: bool
    prune: bool

    def update(self, content: LockContent) -> Survey:
        """Bring the content of a lock file up to date."""
        lock: Lock = "exists" if self.existence else "record"
        survey = Survey(registry(self.facts), None, lock=lock)
        due = [doi for doi in self.dois if self.refresh or content.status(doi.key) is None]
        survey.ask(dict.fromkeys(due, Need.EXISTENCE))
        if self.works:
            survey.look_up_works(due)
        survey.renew(content, due)
        if self.prune:
            content.prune(doi.key for doi in self.dois)
        return survey


def runs(**options: bool) -> st.SearchStrategy[Run]:
    names = ("existence", "works", "refresh", "prune")
    flags = dict.fromkeys(names, st.booleans())
    flags |= {name: st.just(value) for name, value in options.items()}
    return st.builds(Run, facts=some_facts, dois=some_dois, **flags)


@given(history=st.lists(runs(), max_size=4), last=runs(refresh=True, prune=True))
def test_after_any_history_a_refreshed_lock_file_is_like_a_new_one(
    history: list[Run], last: Run
) -> None:
    """Works stay if there is no metadata any more, or if the last run does not ask for works.

    The record that an alias leads to stays if the last run asks for existence only.
    """
    old = LockContent()
    for run in history:
        run.update(old)
    new = LockContent()

    survey = last.update(old)
    last.update(new)

    left_out = set(DOIS)
    if last.works:
        left_out = set(survey.kept_works(old))
    for content in (old, new):
        content.remove({doi.key for doi in left_out}, ["work"])
        if last.existence:
            content.remove([DOI(TARGET).key])
    assert old.keys == new.keys
    assert not any(new.differences(old))


WEEKLY = settings().max_examples > 1000
EXAMPLES = {Stored: 8, StoredInSQLite: 10, StoredInRedis: 8, StoredInALockFile: 8, Locked: 40}
for machine, examples in EXAMPLES.items():
    number = (20 if WEEKLY else 1) * examples
    machine.TestCase.settings = settings(settings(), max_examples=number, stateful_step_count=20)
TestStored, TestStoredInSQLite, TestStoredInRedis, TestStoredInALockFile, TestLocked = (
    one.TestCase for one in EXAMPLES
)
