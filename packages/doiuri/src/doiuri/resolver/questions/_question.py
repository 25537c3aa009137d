"""What the pipeline expects of a question, and of the tasks in which it is asked."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from doiuri._errors import ResolutionError
from doiuri.resolver._outcome import Outcome
from doiuri.resolver.questions._entries import fresh_entry, uncontradicted
from doiuri.resolver.stores._store import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doiuri._doi import Handle
    from doiuri.resolver._sources import Sources
    from doiuri.resolver.stores._store import Entry, Key, ReadStore, Store

AHEAD = 256
"""DOIs that are read, and asked for, ahead of the next answer."""


class Stored(NamedTuple):
    """What a store has about one DOI."""

    entries: dict[Key, Entry | None]
    """The entries that may have the answer, stale ones included; None for a missing or a void one."""

    answer: Outcome | None
    """The answer in the fresh ones, if they have it."""


class Question(ABC):
    """A question about DOIs to the server at ``base``, for one call of the pipeline.

    The pipeline reads DOIs ahead, and takes each of them through these steps:

    1. ``keys`` says which entries of the store may have the answer, and ``read`` reads those that are fresh.
    2. DOIs that the store does not answer are new. While ``waits``, more are read; then ``tasks`` divides them.
    3. A task asks the server, in a thread. What it leaves open is asked with ``Alone``, about each DOI.
    4. If there is no answer, the one that ``read_stale`` finds in the store is used.
    """

    first_look_ahead: ClassVar[int] = 16
    """DOIs in the first look-ahead, which doubles from then on: few, so that the first answers come soon."""

    def __init__(self, base: str) -> None:
        self.base = base

    def look_up(self, dois: Sequence[Handle], store: Store | ReadStore | None) -> list[Stored]:
        """Return what a store has about each of these DOIs."""
        keys = [self.keys(doi) for doi in dois]
        entries = read(store, list(chain.from_iterable(keys)))
        now = time.time()

        stored = []
        for doi, keys_of_doi in zip(dois, keys, strict=True):
            standing = uncontradicted(keys_of_doi, entries)
            fresh = [fresh_entry(key, entry, now) for key, entry in standing.items()]
            stored.append(Stored(standing, self.read(doi, fresh)))
        return stored

    @abstractmethod
    def keys(self, doi: Handle) -> list[Key]:
        """Return the keys of the entries that may have the answer."""

    @abstractmethod
    def read(self, doi: Handle, entries: Sequence[Entry | None]) -> Outcome | None:
        """Return the answer in the entries, or None if they have none.

        :param entries: those of ``keys``, in that order; None for a missing or a stale one.
        """

    def read_stale(self, doi: Handle, entries: Sequence[Entry | None]) -> Outcome | None:
        """Return the answer in entries that may be stale, or None if they have none.

        Only a DOI that was found counts: it will hardly have vanished, but a missing one may exist by now.
        """
        outcome = self.read(doi, entries)
        return outcome if outcome is not None and outcome.found else None

    def waits(self, new: int) -> bool:  # noqa: ARG002
        """Return whether to read more DOIs before any of the ``new`` ones is asked about."""
        return False

    def tasks(self, dois: Sequence[Handle]) -> Iterator[Task]:
        """Divide new DOIs into tasks; here each is asked about alone."""
        for doi in dois:
            yield Alone(self, doi)

    @abstractmethod
    def request(self, doi: Handle, sources: Sources) -> Outcome:
        """Request the answer about one DOI. If it is definite, it goes to the store, too.

        :raises ResolutionError: if there is none, or a negative one.
        """


class Task(ABC):
    """One thing to ask the server, about one or several DOIs."""

    def __init__(self, dois: Sequence[Handle]) -> None:
        self.dois = dois

    @abstractmethod
    def run(self, sources: Sources) -> dict[Handle, Outcome]:
        """Ask the server, and return the outcomes; DOIs without one have to be asked about alone."""


class Alone(Task):
    """Asks about one DOI alone, which always has an outcome."""

    def __init__(self, question: Question, doi: Handle) -> None:
        super().__init__([doi])
        self._question = question
        self._doi = doi

    def run(self, sources: Sources) -> dict[Handle, Outcome]:
        """Return the outcome of the question's ``request``."""
        try:
            outcome = self._question.request(self._doi, sources)
        except ResolutionError as error:
            outcome = Outcome.from_error(self._doi, error)
        return {self._doi: outcome}
