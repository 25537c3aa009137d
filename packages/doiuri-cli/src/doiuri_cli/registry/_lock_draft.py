"""The new content of the lock file: read the old one, edit a copy of it, write the same edits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Literal, NamedTuple

from doiuri.plugins import DOI_ORG, whole_name
from doiuri.plugins.survey import Need, Survey
from doiuri.resolver import Entry, Key

from doiuri_cli.registry import open_resolver, showing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from doiuri import DOI
    from doiuri.resolver import Cause, LockContent, LockFile

    from doiuri_cli._config import Config
    from doiuri_cli.registry import Progress

    Mention = tuple[DOI, Sequence[DOI]]  # a DOI, and the longer names that may be meant
    Edit = Callable[[LockContent], None]

_NOT_FOUND = '{{"responseCode":100,"handle":{},"values":[]}}'


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to lock."""

    records: bool = True  # whole records, or only that the DOIs exist
    works: bool = False  # works, too
    refresh: bool = False  # also what the file has already


class Changes(NamedTuple):
    """How many DOIs were added to a lock file, were changed in it and removed from it."""

    added: int
    changed: int
    removed: int


class LockDraft:
    """The new content of a lock file, for the DOIs that files mention.

    1. Reading: the draft begins as the content of the file.
    2. Editing: ``look_up`` adds the registry's answers, ``accept`` a DOI that does not exist, and ``prune``
       drops what no file mentions. Only the draft changes.
    3. Writing: ``write`` makes the same edits to the file as it is by then, for other programs may have
       written to it meanwhile.
    """

    def __init__(
        self, file: LockFile, mentions: Sequence[Mention], wanted: Wanted, config: Config
    ) -> None:
        self.file = file
        self.wanted = wanted
        self.config = config
        self.content: LockContent = file.read()
        self.unknown: list[Cause] = []  # for each DOI without an answer, why
        self.kept_works: list[DOI] = []  # without metadata now, but locked before
        self.unlockable: list[DOI] = []  # missing at a resolver other than doi.org
        self._mentions = mentions
        self._statuses: dict[DOI, str] = {}  # what was looked up
        self._edits: list[Edit] = []
        self.dois = self._meant(mentions)
        """The DOIs that the mentions mean, by their keys, as far as it is known."""

    def missing(self) -> list[DOI]:
        """Return the DOIs for which the draft lacks something."""
        return [doi for doi in self.dois.values() if self._is_missing(doi)]

    def look_up(self, progress: Progress | None) -> None:
        """Add what the store and the registry say about the DOIs that files mention.

        :raises ValueError: if the resolver or the cache is misconfigured.
        """
        self.unknown += self._look_up(self._mentions, progress)
        self.dois = self._meant(self._mentions)

    def accept(self, doi: DOI, reason: str) -> None:
        """Note that a DOI is known not to exist.

        :raises ValueError: if it is registered, or the resolver or the cache is misconfigured.
        """
        # No file has to mention the DOI, so that it may not have been looked up with the others
        if self.content.status(doi.key) is None or self.wanted.refresh:
            self._look_up([(doi, ())], None)
        if self.content.status(doi.key) == "found":
            raise ValueError(f"{doi.name} is registered, so there is nothing to accept")
        self._edit(partial(_accept, doi=doi, reason=reason))
        self.dois = self._meant(self._mentions)

    def prune(self) -> None:
        """Drop the entries of DOIs that are neither mentioned nor the target of an alias."""
        used = self.dois.keys()
        self._edit(lambda content: content.prune(used))

    def write(self) -> Changes:
        """Write the draft to the file; return what changed there."""
        added, changed, removed = self.file.edit(self._redo)
        return Changes(len(added), len(changed), len(removed))

    def _redo(self, content: LockContent) -> None:
        """Make the edits of the draft to the content that the file has by now."""
        for edit in self._edits:
            edit(content)

    def _edit(self, edit: Edit) -> None:
        edit(self.content)
        self._edits.append(edit)

    def _meant(self, mentions: Iterable[Mention]) -> dict[str, DOI]:
        """Return the DOIs that mentions mean, by their keys: what was looked up counts, then the draft."""
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

    def _look_up(
        self, mentions: Collection[Mention], progress: Progress | None
    ) -> Collection[Cause]:
        """Add the answers about the DOIs of mentions; return for each DOI without an answer, why.

        What is unknown stays as it is. A DOI that is accepted and found after all is no longer accepted.

        :raises ValueError: if the resolver or the cache is misconfigured.
        """
        dois = self._meant(mentions).values()
        due = [doi for doi in dois if self._is_due(doi)]
        if not due and not self._without_work(dois):
            return []

        lock: Literal["record", "exists"] = "record" if self.wanted.records else "exists"
        with open_resolver(self.config) as resolver:
            # Existence first: it decides which of its names a mention means, and whose work is needed
            survey = Survey(resolver, self.config.budget, lock=lock)
            show = showing(progress)
            survey.ask(dict.fromkeys(due, Need.EXISTENCE), longer=mentions, show=show)
            unknown = dict(survey.unknown)  # a copy: a DOI whose work is found is no longer in it
            self._statuses |= survey.statuses

            meant = list(self._meant(mentions).values())
            checked = [doi for doi in meant if doi in survey.statuses or doi in survey.unknown]
            survey.look_up_works(self._without_work(meant), show=show)

        self._edit(lambda content: survey.renew(content, checked))
        self.kept_works += survey.kept_works(self.content)
        self.unlockable += survey.unlockable(self.content, meant)
        # Of a DOI of which nothing is known, the cause that hides its existence counts, not that of its work
        return (survey.incomplete | unknown).values()

    def _is_due(self, doi: DOI) -> bool:
        """Return whether to ask about a DOI: about one that is not registered, too, if it is not accepted."""
        if self.wanted.refresh:
            return True
        if doi.key in self.content.accepted:
            return False
        return self.content.status(doi.key) in {None, "not-found"}

    def _is_missing(self, doi: DOI) -> bool:
        """Return whether the draft lacks the answer about a DOI, or a work that is wanted."""
        if doi.key in self.content.accepted:
            return False
        if self.content.status(doi.key) is None:
            return True
        return self.wanted.works and self._lacks_work(doi)

    def _without_work(self, dois: Iterable[DOI]) -> list[DOI]:
        """Return the DOIs whose works are to be looked up."""
        if not self.wanted.works:
            return []
        return [doi for doi in dois if self.wanted.refresh or self._lacks_work(doi)]

    def _lacks_work(self, doi: DOI) -> bool:
        """Return whether a DOI that may exist has no work in the draft."""
        work = self.content.get(Key("work", DOI_ORG, doi.key))
        return work is None and self.content.status(doi.key) != "not-found"


def _accept(content: LockContent, doi: DOI, reason: str) -> None:
    content.accepted[doi.key] = reason
    # Nobody answered, as with --offline: a record that says "not found" is what the reason belongs to
    if content.status(doi.key) is None:
        body = _NOT_FOUND.format(json.dumps(doi.name, ensure_ascii=False)).encode()
        content.add({Key("record", DOI_ORG, doi.key): Entry(body, "application/json", inf)})
