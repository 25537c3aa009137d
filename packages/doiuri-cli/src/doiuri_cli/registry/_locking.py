"""The new content of the lock file: what it has, and what the registry says about the other DOIs."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Literal

from doiuri import ResolutionError
from doiuri.records import Record
from doiuri.resolver import Entry, key_base, key_doi

from doiuri_cli.registry._lock import DOI_ORG, ascii_key, status_of
from doiuri_cli.registry._lookup import LookUp

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from doiuri import DOI
    from doiuri.resolver import LockFile

    from doiuri_cli._config import Config
    from doiuri_cli.registry._check import Progress

_NOT_FOUND = b'{"responseCode":100,'
_ALIAS = b"HS_ALIAS"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to lock.

    :ivar how: whether to lock whole records, or only that the DOIs exist.
    :ivar works: whether to lock works and references, too.
    :ivar style: the CSL style of the references.
    :ivar locale: their language.
    :ivar refresh: whether to ask for what the file has already.
    """

    how: Literal["records", "existence"] = "records"
    works: bool = False
    style: str = "apa"
    locale: str = "en-US"
    refresh: bool = False

    def references(self, key: str) -> str:
        """Return the name of the entry with the reference of a DOI."""
        return f"reference {self.style} {self.locale} {DOI_ORG} {key}"


@dataclass(slots=True)
class Draft:
    """The content of a lock file.

    :ivar entries: the entries by key.
    :ivar accepted: the DOIs that are known not to exist, by their keys, with the reasons.
    :ivar unknown: how many DOIs have no answer, by reason.
    """

    entries: dict[str, Entry]
    accepted: dict[str, str]
    unknown: Counter[str] = field(default_factory=Counter)
    _changes: list[Callable[[Draft], None]] = field(default_factory=list)

    @classmethod
    def read(cls, file: LockFile) -> Draft:
        """Return the content of a file."""
        return cls(file.get_many(file.keys()), file.accepted)

    def status(self, doi: DOI) -> str | None:
        """Return whether a DOI is found; None if the file does not say it."""
        record = self.entries.get(f"record {DOI_ORG} {doi.key}")
        if record is not None:
            return status_of(_parsed(record.body))
        if f"exists {DOI_ORG} {doi.key}" in self.entries or self.has_work(doi):
            return "found"
        return None

    def dois(self) -> set[str]:
        """Return the keys of all DOIs in it."""
        return {key_doi(key) for key in self.entries} | self.accepted.keys()

    def has_work(self, doi: DOI) -> bool:
        """Return whether the file describes the work that a DOI names."""
        work = self.entries.get(f"work {DOI_ORG} {doi.key}")
        return work is not None and work.body != b"null"

    def lacks_work(self, doi: DOI, wanted: Wanted) -> bool:
        """Return whether the work or the reference of a DOI is to be looked up."""
        if self.status(doi) == "not-found":
            return False
        if f"work {DOI_ORG} {doi.key}" not in self.entries:
            return True
        return self.has_work(doi) and wanted.references(doi.key) not in self.entries

    def missing(self, dois: Iterable[DOI], wanted: Wanted) -> list[DOI]:
        """Return the DOIs for which the file lacks something."""
        return [
            doi
            for doi in dois
            if (self.status(doi) is None and doi.key not in self.accepted)
            or (wanted.works and doi.key not in self.accepted and self.lacks_work(doi, wanted))
        ]

    def unused(self, keys: Collection[str]) -> set[str]:
        """Return the keys of the DOIs that the file has, and no file mentions, not even through an alias."""
        used, left = set(keys), list(keys)
        while left:
            alias = self._alias(left.pop())
            if alias is not None and alias not in used:
                used.add(alias)
                left.append(alias)
        return self.dois() - used

    def _alias(self, key: str) -> str | None:
        entry = self.entries.get(f"record {DOI_ORG} {key}")
        if entry is None or _ALIAS not in entry.body:
            return None
        try:
            alias = Record.from_json(entry.body).alias
        except (ResolutionError, ValueError):
            return None
        return None if alias is None else ascii_key(alias)

    def prune(self, keys: Collection[str]) -> None:
        """Drop what is about a DOI that is unused."""
        self._change(partial(Draft._prune, keys=keys))

    def redone(
        self, entries: dict[str, Entry], accepted: dict[str, str]
    ) -> tuple[dict[str, Entry], dict[str, str]]:
        """Return the content of a file, to which others may have written, with the changes of this one."""
        other = Draft(entries, accepted)
        for change in self._changes:
            change(other)
        return other.entries, other.accepted

    def _change(self, change: Callable[[Draft], None]) -> None:
        change(self)
        self._changes.append(change)

    def _prune(self, keys: Collection[str]) -> None:
        unused = self.unused(keys)
        self.entries = {key: entry for key, entry in self.entries.items() if key_doi(key) not in unused}
        self.accepted = {key: reason for key, reason in self.accepted.items() if key not in unused}

    def look_up(
        self, dois: Collection[DOI], wanted: Wanted, config: Config, progress: Progress | None
    ) -> dict[str, str]:
        """Add what the store and the registry say about DOIs; return the status of those that were looked up.

        What is unknown stays as it is. A DOI that is accepted and found after all is no longer accepted.

        :raises ValueError: if the resolver or the cache is not configured rightly.
        """
        asked = [doi for doi in dois if self._is_due(doi, wanted)]
        works = [doi for doi in dois if wanted.works and (wanted.refresh or self.lacks_work(doi, wanted))]
        if not asked and not works:
            return {}
        look_up = LookUp(config)
        try:
            look_up.check(asked, wanted.how, progress)
            gone = self.accepted.keys() | _with(look_up.statuses, "not-found")
            works = [doi for doi in works if doi.key not in gone]
            look_up.describe(works, wanted.style, wanted.locale, progress)
        finally:
            look_up.close()
        new, statuses, bases = dict(look_up.entries()), look_up.statuses, {DOI_ORG, look_up.base}
        self._change(partial(Draft._merge, new=new, statuses=statuses, bases=bases))
        self.unknown += look_up.unknown
        return statuses

    def _is_due(self, doi: DOI, wanted: Wanted) -> bool:
        if wanted.refresh:
            return True
        status = self.status(doi)
        return doi.key not in self.accepted and (status is None or status == "not-found")

    def _merge(self, new: Mapping[str, Entry], statuses: Mapping[str, str], bases: Collection[str]) -> None:
        """Replace the entries, of the resolvers ``bases``, about DOIs that have an answer now."""
        gone = _with(statuses, "not-found")
        decided = statuses.keys() - _with(statuses, "unknown")
        for key in list(self.entries):
            doi, is_status = key_doi(key), key.startswith(("record ", "exists "))
            if key_base(key) in bases and (doi in gone or (doi in decided and is_status)):
                del self.entries[key]
        self.entries |= new
        found = _with(statuses, "found") | _with(statuses, "no-values")
        self.accepted = {key: reason for key, reason in self.accepted.items() if key not in found}

    def accept(self, doi: DOI, reason: str) -> None:
        """Note that a DOI is known not to exist."""
        self._change(partial(Draft._accept, doi=doi, reason=reason))

    def _accept(self, doi: DOI, reason: str) -> None:
        self.accepted[doi.key] = reason
        if self.status(doi) is None:
            body = _NOT_FOUND + f'"handle":{json.dumps(doi.name, ensure_ascii=False)},"values":[]}}'.encode()
            self.entries[f"record {DOI_ORG} {doi.key}"] = Entry(body, "application/json", inf)


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _with(statuses: Mapping[str, str], wanted: str) -> set[str]:
    return {key for key, status in statuses.items() if status == wanted}
