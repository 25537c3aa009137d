"""Look DOIs up and keep the answers as a lock file has them."""

from __future__ import annotations

import time
from math import inf
from typing import TYPE_CHECKING, Literal

from doiuri.plugins import Settings
from doiuri.resolver import RecordingStore, open_store

from doiuri_cli.registry._check import open_resolver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doiuri import DOI
    from doiuri.resolver import Cause, Entry, Key, Outcome

    from doiuri_cli._config import Config
    from doiuri_cli.registry._check import Progress

_LEAST_BUDGET = 0.001  # seconds: what is stored is read in any case


class LookUp:
    """What the store and the registry say about DOIs.

    :param config: the configuration.
    :raises ValueError: if the resolver or the cache is not configured rightly.
    """

    statuses: dict[str, str]
    """The status of each DOI that was looked up, by its key."""

    def __init__(self, config: Config) -> None:
        address = Settings.from_environ(config.resolver, config.offline, config.mailto, config.cache).cache
        try:
            self._cache = open_store(address)
        except (ValueError, ImportError) as error:
            raise ValueError(f"cache: {error}") from None
        self._store = RecordingStore(self._cache)
        self._resolver = open_resolver(config, store=self._store)
        self._started = time.time()
        self._deadline = inf if config.budget is None else time.monotonic() + config.budget
        self._stale: set[str] = set()
        self.statuses = {}
        self._unknown: dict[DOI, Cause] = {}

    @property
    def unknown(self) -> list[Cause]:
        """Why DOIs have no answer, or only a part of it, one cause for each."""
        return list(self._unknown.values())

    def close(self) -> None:
        """Close the resolver and the cache."""
        self._resolver.close()
        self._cache.close()

    def check(
        self, dois: Sequence[DOI], how: Literal["records", "existence"], progress: Progress | None
    ) -> None:
        """Look up whether DOIs exist."""
        outcomes = self._resolver.check(dois, how, budget=self._left, progress=progress)
        for doi, outcome in zip(dois, outcomes, strict=True):
            self._note(doi, outcome)
            self.statuses[doi.key] = outcome.status

    def describe(
        self, dois: Sequence[DOI], style: str, locale: str, progress: Progress | None = None
    ) -> None:
        """Look up the works and the formatted references of DOIs."""
        works = []
        outcomes = self._resolver.works(dois, budget=self._left, progress=progress)
        for doi, outcome in zip(dois, outcomes, strict=True):
            self._note(doi, outcome)
            if outcome.work is not None:
                works.append(doi)
            elif outcome.status == "not-found":
                self.statuses[doi.key] = outcome.status
        references = self._resolver.references(works, style, locale, budget=self._left, progress=progress)
        for doi, outcome in zip(works, references, strict=True):
            self._note(doi, outcome)

    def entries(self) -> dict[Key, Entry]:
        """Return the answers, by key."""
        return {
            key: entry
            for key, entry in self._store.entries.items()
            if (self.statuses.get(key.doi) != "unknown" or key.kind in {"work", "reference"})
            and (entry.expires > self._started or key.doi in self._stale)
        }

    @property
    def _left(self) -> float | None:
        left = self._deadline - time.monotonic()
        return None if left == inf else max(left, _LEAST_BUDGET)

    def _note(self, doi: DOI, outcome: Outcome) -> None:
        if outcome.stale:
            self._stale.add(doi.key)
        if outcome.status == "unknown" and outcome.cause is not None:
            self._unknown.setdefault(doi, outcome.cause)
