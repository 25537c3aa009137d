"""The new content of the lock file: what it has, and what the registry says about the other DOIs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Literal

from doiuri.plugins import DOI_ORG, whole_name
from doiuri.plugins.survey import Need, Survey
from doiuri.resolver import Entry, Key

from doiuri_cli.registry import open_resolver, showing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from doiuri import DOI
    from doiuri.resolver import Cause, LockContent

    from doiuri_cli._config import Config
    from doiuri_cli.registry import Progress

    Mention = tuple[DOI, Sequence[DOI]]  # a DOI, and the longer names that may be meant
    Change = Callable[[LockContent], None]

_NOT_FOUND = '{{"responseCode":100,"handle":{},"values":[]}}'


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to lock."""

    records: bool = True  # whole records, or only that the DOIs exist
    works: bool = False  # works, too
    refresh: bool = False  # also what the file has already


@dataclass(slots=True)
class Draft:
    """The new content of a lock file."""

    content: LockContent
    unknown: list[Cause] = field(default_factory=list)  # for each DOI without an answer, why
    kept_works: list[DOI] = field(default_factory=list)  # without metadata now, but locked before
    unlockable: list[DOI] = field(default_factory=list)  # missing at a resolver other than doi.org
    _statuses: dict[DOI, str] = field(default_factory=dict)  # what was looked up
    _changes: list[Change] = field(default_factory=list)

    def redo(self, content: LockContent) -> None:
        """Make the same changes to the content of the file, to which others may have written."""
        for change in self._changes:
            change(content)

    def lacks_work(self, doi: DOI) -> bool:
        """Return whether the work that a DOI names is to be looked up."""
        work = self.content.get(Key("work", DOI_ORG, doi.key))
        return work is None and self.content.status(doi.key) != "not-found"

    def missing(self, dois: Iterable[DOI], wanted: Wanted) -> list[DOI]:
        """Return the DOIs for which the file lacks something."""
        return [doi for doi in dois if self._is_missing(doi, wanted)]

    def _is_missing(self, doi: DOI, wanted: Wanted) -> bool:
        if doi.key in self.content.accepted:
            return False
        if self.content.status(doi.key) is None:
            return True
        return wanted.works and self.lacks_work(doi)

    def prune(self, used: Collection[str]) -> None:
        """Drop the entries of DOIs that are neither used nor the target of an alias."""
        self._change(lambda content: content.prune(used))

    def accept(self, doi: DOI, reason: str) -> None:
        """Note that a DOI is known not to exist."""
        self._change(partial(_accept, doi=doi, reason=reason))

    def meant(self, mentions: Iterable[Mention]) -> dict[str, DOI]:
        """Return the DOIs that mentions mean, by their keys, as far as it is known."""
        statuses = dict(self._statuses)
        dois: dict[str, DOI] = {}
        for doi, longer in mentions:
            for name in (doi, *longer):
                locked = self.content.status(name.key)
                if locked is not None:
                    statuses.setdefault(name, locked)
            meant = whole_name(doi, longer, statuses)
            dois.setdefault(meant.key, meant)
        return dois

    def look_up(
        self,
        mentions: Collection[Mention],
        wanted: Wanted,
        config: Config,
        progress: Progress | None,
    ) -> None:
        """Add what the store and the registry say about the DOIs that are mentioned.

        What is unknown stays as it is. A DOI that is accepted and found after all is no longer accepted.

        :raises ValueError: if the resolver or the cache is misconfigured.
        """
        dois = self.meant(mentions).values()
        asked = [doi for doi in dois if self._is_due(doi, wanted)]
        if not asked and not self._without_work(dois, wanted):
            return
        with open_resolver(config) as resolver:
            lock: Literal["record", "exists"] = "record" if wanted.records else "exists"
            survey = Survey(resolver, config.budget, lock=lock)
            show = showing(progress)
            survey.ask(dict.fromkeys(asked, Need.EXISTENCE), longer=mentions, show=show)
            unknown = dict(survey.unknown)
            self._statuses |= survey.statuses
            meant = list(self.meant(mentions).values())
            checked = [doi for doi in meant if doi in survey.statuses or doi in survey.unknown]
            survey.look_up_works(self._without_work(meant, wanted), show=show)
        self._change(lambda content: survey.renew(content, checked))
        self.kept_works += survey.kept_works(self.content)
        self.unlockable += survey.unlockable(self.content, meant)
        self.unknown += (survey.incomplete | unknown).values()

    def _without_work(self, dois: Iterable[DOI], wanted: Wanted) -> list[DOI]:
        """Return the DOIs whose works are to be looked up."""
        if not wanted.works:
            return []
        return [doi for doi in dois if wanted.refresh or self.lacks_work(doi)]

    def _is_due(self, doi: DOI, wanted: Wanted) -> bool:
        """Return whether to ask about a DOI: about one that is not registered, too, if it is not accepted."""
        if wanted.refresh:
            return True
        if doi.key in self.content.accepted:
            return False
        return self.content.status(doi.key) in {None, "not-found"}

    def _change(self, change: Change) -> None:
        change(self.content)
        self._changes.append(change)


def _accept(content: LockContent, doi: DOI, reason: str) -> None:
    content.accepted[doi.key] = reason
    if content.status(doi.key) is None:
        body = _NOT_FOUND.format(json.dumps(doi.name, ensure_ascii=False)).encode()
        content.add({Key("record", DOI_ORG, doi.key): Entry(body, "application/json", inf)})
