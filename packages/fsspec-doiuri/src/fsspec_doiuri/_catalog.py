"""Which data set an address is in: the DOI that it begins with, and the listing of that DOI."""

from __future__ import annotations

import errno
import os
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI, DOINotFound, ResolutionError

from fsspec_doiuri._addresses import names
from fsspec_doiuri._dataset import Dataset, read_locked
from fsspec_doiuri._repositories import list_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from doiuri.resolver import Resolver

    from fsspec_doiuri._web import Web


class _Located(NamedTuple):
    """The parts of an address."""

    doi: DOI
    dataset: Dataset  # its listing
    path: str  # what follows the name of the DOI


class Catalog:
    """The listings of data sets, each requested once.

    :param resolver: finds out which DOIs are registered, and where they lead.
    :param only_cache: the same, but without requests.
    :param kinds: kinds of repositories by host.
    :param web: requests the listings.
    :param lock: the lock file; if there is one, it has the only data sets.
    """

    def __init__(
        self,
        resolver: Resolver,
        only_cache: Resolver,
        kinds: Mapping[str, str],
        web: Web,
        lock: Path | None,
    ) -> None:
        self._resolver = resolver
        self._only_cache = only_cache
        self._kinds = kinds
        self._web = web
        self._lock = lock
        # by process, since a lock does not survive a fork, and by the key of a DOI
        self._guards: dict[tuple[int, str], threading.RLock] = {}
        self.start()

    def start(self) -> None:
        """Begin with the listings in the lock file, or else with none."""
        # by the key of the DOI, or by URL
        self._listings = {} if self._lock is None else read_locked(self._lock)
        self._absent: set[str] = set()  # keys of DOIs that are not registered

    def all_files(self, address: str) -> tuple[DOI, Dataset]:
        """Return the DOI that an address begins with, and its listing: also the files of the data sets in it."""
        doi, dataset, _ = self._locate(address)
        files = list(dataset.files)
        for folder, url in dataset.parts.items():
            for file in self._listed(doi, url).files:
                files.append(replace(file, path=f"{folder}/{file.path}"))
        return doi, Dataset(dataset.kind, dataset.version, files)

    def find(self, address: str) -> tuple[Dataset, str]:
        """Return the data set that has a file or folder, and its path there; raises FileNotFoundError.

        The data set may be an article of a collection of figshare: its folder there is then left out.
        """
        # Which of the names is registered is not known yet, but they all begin with the shortest
        shortest, _ = names(address)[-1]
        guard = self._guards.setdefault((os.getpid(), shortest.key), threading.RLock())
        with guard:  # one thread requests the listing; others that need it wait
            doi, dataset, path = self._locate(address)
            folder, _, path_in_folder = path.partition("/")
            if folder in dataset.parts:  # a data set of its own
                dataset = self._listed(doi, dataset.parts[folder])
                path = path_in_folder
        if path in dataset.by_path or dataset.is_folder(path):
            return dataset, path
        if path in dataset.refused:
            raise OSError(f"{address} cannot be opened: {dataset.refused[path]}")
        raise FileNotFoundError(errno.ENOENT, f"{doi.name} has no such file or folder", address)

    def _locate(self, address: str) -> _Located:
        """Return the parts of an address.

        A DOI with a listing is preferred, as it needs no look-up; with a lock file, only such DOIs count.
        """
        paths = dict(names(address))  # the path after each name, the longest name first
        with_listing = [doi for doi in paths if doi.key in self._listings]
        if with_listing:
            doi = with_listing[0]
        elif self._lock is None:
            doi = self._registered(address, list(paths))
        else:
            reason = f"its listing is not in {self._lock}; fsspec_doiuri.lock() adds it"
            raise OSError(f"{address}: {reason}")

        located = _Located(doi, self._listed(doi), paths[doi])
        if self._lock is not None or located.dataset.knows(located.path):
            return located
        # A longer name may be registered, too: only the shorter one was in a listing or the cache. The longer a
        # name, the shorter is the path after it.
        longer_names = [name for name in paths if len(paths[name]) < len(located.path)]
        longer = self._first_registered(longer_names)
        if longer is None:
            return located
        return _Located(longer, self._listed(longer), paths[longer])

    def _registered(self, address: str, dois: Sequence[DOI]) -> DOI:
        """Return the first DOI that the cache knows, else the first that is registered.

        :raises FileNotFoundError: if none is registered.
        :raises OSError: if that is not known.
        """
        if len(dois) == 1:  # its record, which is needed anyway, will tell
            return dois[0]
        for doi, outcome in zip(dois, self._only_cache.check(dois), strict=True):
            if outcome.found:
                return doi
        # First one request about those not known to be missing. It may call a registered DOI missing, so only the
        # second, which asks the REST API about each, decides that none is registered.
        registered = self._first_registered(dois)
        if registered is None:
            registered = self._first_registered(dois, confirm=True)
        if registered is not None:
            return registered
        reason = f"{dois[-1].name} is not registered, nor is a longer name"
        raise FileNotFoundError(errno.ENOENT, reason, address)

    def _first_registered(self, dois: Sequence[DOI], *, confirm: bool = False) -> DOI | None:
        """Return the first DOI that is registered; None if none is. Raises OSError if that is not known.

        :param confirm: whether to ask about all names, and in a second way that confirms that one does not exist.
        """
        asked = [doi for doi in dois if confirm or doi.key not in self._absent]
        outcomes = list(self._resolver.check(asked, batch=True, confirm=confirm))
        for doi, outcome in zip(asked, outcomes, strict=True):
            if outcome.found:
                return doi
        # None is registered for certain; with an "unknown" among them, "not found" would be a guess.
        for outcome in outcomes:
            if outcome.status == "unknown":
                raise OSError(f"{dois[-1].name}: {outcome.reason}")
        self._absent.update(doi.key for doi in asked)
        return None

    def _listed(self, doi: DOI, part: str = "") -> Dataset:
        """Return the listing of a DOI, or of a data set in it.

        :param part: the URL of the listing of the data set in it; "" for that of the DOI.
        """
        key = part or doi.key
        if key in self._listings:
            return self._listings[key]
        try:
            url = self._resolver.resolve(doi).url
        except DOINotFound as error:
            raise FileNotFoundError(errno.ENOENT, "not registered", doi.name) from error
        except ResolutionError as error:
            raise OSError(str(error)) from error
        if url is None:
            raise OSError(f"{doi.name}: its record has no http or https URL")
        dataset = list_files(doi, url, self._kinds, self._web, part)
        dataset.warn_of_refused(doi.name)
        self._listings[key] = dataset
        return dataset
