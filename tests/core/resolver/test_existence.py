"""Whether a DOI exists is one fact: after any history, all questions agree with the newest definite answer."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from doiuri import DOI, ResolutionError
from doiuri.resolver import (
    Entry,
    Key,
    LockFile,
    MemoryStore,
    Outcome,
    RedisStore,
    Resolver,
    SQLiteStore,
)
from doiuri.rest import BIBTEX, CSL_JSON
from doiuri_proxy import resolver_for
from hypothesis import given
from hypothesis import strategies as st
from support.servers.fake_redis import Redis
from support.servers.web import record
from support.store_contract import AnyStore

RIS = "application/x-research-info-systems"
BASE = "https://doi.org"
NAME = DOI("10.1000/a")
METADATA = {
    CSL_JSON: {"type": "book", "title": "A"},
    BIBTEX: "@book{a}",
    RIS: "TY  - BOOK\r\n",
}
EXISTS = {"found": True, "no-values": True, "not-found": False}
"""The statuses that are definite, each with whether the DOI exists."""

Ask = Callable[[Resolver], str]
"""Asks a question about the DOI, and returns the status."""


def alone(ask: Callable[[Resolver], object]) -> Ask:
    """A method that is about one DOI, and raises an error unless it is found."""

    def status(resolver: Resolver) -> str:
        try:
            ask(resolver)
        except ResolutionError as error:
            return Outcome.from_error(NAME, error).status
        return "found"

    return status


def batch(ask: Callable[[Resolver, Sequence[DOI]], Iterator[Outcome]]) -> Ask:
    """A method that is about several DOIs."""
    return lambda resolver: next(ask(resolver, [NAME])).status


ASKS: dict[str, Ask] = {
    "resolve": alone(lambda resolver: resolver.resolve(NAME)),
    "resolve, past the store": alone(lambda resolver: resolver.resolve(NAME, auth=True)),
    "resolve, one type": alone(lambda resolver: resolver.resolve(NAME, type="URL")),
    "resolve, one type, past the store": alone(
        lambda resolver: resolver.resolve(NAME, type="URL", cert=True)
    ),
    "resolve_many": batch(Resolver.resolve_many),
    "check": batch(Resolver.check),
    "check in a batch": batch(lambda resolver, dois: resolver.check(dois, batch=True)),
    "agencies": batch(Resolver.agencies),
    "metadata": alone(lambda resolver: resolver.metadata(NAME, RIS)),
    "metadata_many": batch(lambda resolver, dois: resolver.metadata_many(dois, CSL_JSON)),
    "work": alone(lambda resolver: resolver.work(NAME)),
    "works": batch(Resolver.works),
    "bibtex": alone(lambda resolver: resolver.bibtex(NAME)),
    "bibtex_many": batch(Resolver.bibtex_many),
}


@dataclass(frozen=True)
class Step:
    """What happens: the registry changes, time passes, a question is asked."""

    registered: str
    hours: float
    ask: str


REGISTERED: dict[str, list[dict[str, object]]] = {
    "with metadata": [record(NAME.name, "https://example.org/") | {"metadata": METADATA}],
    "without metadata": [record(NAME.name, "https://example.org/")],
    "without values": [{"handle": NAME.name, "values": []}],
    "not": [],
}
steps = st.builds(
    Step,
    registered=st.sampled_from([*REGISTERED]),
    hours=st.sampled_from([0.0, 2.0, 48.0, 31 * 24.0]),
    ask=st.sampled_from([*ASKS]),
)


class Ageing:
    """A store whose entries grow older when time passes."""

    def __init__(self, store: AnyStore) -> None:
        self.store = store
        self._keys: set[Key] = set()

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Entry]:
        return self.store.get_many(keys)

    def put_many(self, entries: Mapping[Key, Entry]) -> None:
        self._keys |= entries.keys()
        self.store.put_many(entries)

    def age(self, seconds: float) -> None:
        entries = self.store.get_many([*self._keys])
        older = {}
        for key, entry in entries.items():
            if entry.expires < math.inf:
                older[key] = entry._replace(expires=entry.expires - seconds)
        self.store.put_many(older)


STORES: dict[str, Callable[[str], AnyStore]] = {
    "memory": lambda folder: MemoryStore(),
    "SQLite": lambda folder: SQLiteStore(Path(folder, "store")),
    "a lock file": lambda folder: LockFile(Path(folder, "doi.lock")),
}


@contextmanager
def opened(kind: str) -> Iterator[AnyStore]:
    """Open a store of a kind, and close it."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        if kind == "Redis":
            server = stack.enter_context(Redis())
            store: AnyStore = RedisStore(server.url, timeout=60)
        else:
            store = STORES[kind](folder)
        stack.callback(store.close)
        yield store


def agreeing(store: Ageing, exists: bool | None) -> bool:
    """Return whether all questions get this answer from the store, or none."""
    offline = Resolver(BASE, store=store, offline=True)
    return {EXISTS.get(ask(offline)) for ask in ASKS.values()} <= {None, exists}


@pytest.mark.parametrize(
    "kinds", [["memory"], ["SQLite", "Redis", "a lock file"]], ids=["in memory", "elsewhere"]
)
@given(number=st.integers(0, 2), history=st.lists(steps, min_size=3, max_size=10))
def test_after_any_history_all_questions_agree_with_the_newest_definite_answer(
    kinds: list[str], number: int, history: list[Step]
) -> None:
    """An answer is what the registry says now, or what it said when it was asked last."""
    newest: bool | None = None
    with opened(kinds[number % len(kinds)]) as opened_store:
        store = Ageing(opened_store)
        for step in history:
            known = {"records": REGISTERED[step.registered], "agencies": {"10.1000": "Crossref"}}
            online = resolver_for(known, store=store, base=BASE)
            store.age(step.hours * 3600)
            assert agreeing(store, newest)

            exists = EXISTS.get(ASKS[step.ask](online))

            if exists is not None:
                assert exists in {newest, step.registered != "not"}
                newest = exists
            assert agreeing(store, newest)
