"""Look up DOIs once per process, however many documents a site has."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from doiuri.plugins import Survey, open_resolver
from doiuri.resolver import Cause, LockFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from doiuri import DOI
    from doiuri.plugins import Options
    from doiuri.records import Work
_TTL = 3_600.0  # seconds that an answer is kept
_UNKNOWN_TTL = 60.0  # seconds before a DOI is requested again if nothing could be learned
_LEAST_BUDGET = 0.001  # seconds: what is stored is read in any case
_MAX_ANSWERS = 200_000  # then all are dropped; the cache still has them

_verifiers: dict[tuple[object, ...], Verifier] = {}


def verifier(options: Options) -> Verifier:
    """Return the process's verifier for this resolver and lock file.

    Raises ValueError for a file that is not a lock file.
    """
    key = options.settings, options.resolve, options.lock
    known = _verifiers.get(key)
    # Other threads may add one or forget all in between.
    return known or _verifiers.setdefault(key, Verifier(options))


def forget() -> None:
    """Drop the answers that this process keeps; caches and lock files stay as they are."""
    _verifiers.clear()


class Answers(NamedTuple):
    """What is known about the DOIs of a document."""

    missing: list[DOI]
    """Those that certainly do not exist, in order, without those that the lock file accepts."""
    unknown: list[Cause]
    """For each DOI that could not be checked, the cause."""
    unchecked: list[DOI]
    """These DOIs."""


class Works(NamedTuple):
    """What is known about the works that a document cites."""

    works: dict[DOI, Work]
    references: dict[DOI, str]
    """Their formatted references."""
    lacking: list[DOI]
    """Those that exist, but have no metadata, in order."""
    missing: list[DOI]
    """Those that certainly do not exist, in order, without those that the lock file accepts."""
    unknown: dict[DOI, Cause]
    """Those without an answer about the work or the reference, with the cause."""


class Lookups(Protocol):
    """Tells which DOIs do not exist and what they name."""

    def check(self, dois: Iterable[DOI], options: Options, deadline: float | None = None) -> Answers:
        """Return what is known about ``dois``."""

    def works(
        self,
        dois: Iterable[DOI],
        options: Options,
        deadline: float | None = None,
        *,
        cited: Iterable[DOI] = (),
    ) -> Works:
        """Return what is known about the works that ``dois`` name."""


class _Answer(NamedTuple):
    status: str  # of the Outcome
    unknown: Cause | None
    work: Work | None
    reference: str
    expires: float  # on the clock of time.monotonic


_Request: TypeAlias = "Callable[[Survey, list[DOI]], None]"


class Verifier:
    """Tells which DOIs do not exist and what they name, and keeps the answers."""

    def __init__(self, options: Options) -> None:
        self._lock_file = LockFile(options.lock) if options.lock else None
        self._records = _Answers()
        self._works = _Answers()
        self._references: dict[tuple[str, str], _Answers] = {}

    def check(self, dois: Iterable[DOI], options: Options, deadline: float | None = None) -> Answers:
        """Return what is known about ``dois``.

        New ones are requested in one batch, within the budget, which includes the wait for other threads that
        request the same ones; what is unknown then is tried again with a later document.

        :param deadline: when the budget ends, on the clock of ``time.monotonic``; by default it begins now.
        """
        dois = list(dois)

        def request(survey: Survey, new: list[DOI]) -> None:
            survey.check(new, options.resolve or "records")

        answers = self._get(self._records, dois, options, deadline, request)
        unknown = {doi: answer.unknown for doi, answer in answers.items() if answer.unknown}
        return Answers(self._missing(answers), list(unknown.values()), list(unknown))

    def works(
        self,
        dois: Iterable[DOI],
        options: Options,
        deadline: float | None = None,
        *,
        cited: Iterable[DOI] = (),
    ) -> Works:
        """Return what is known about the works that ``dois`` name; new ones are requested like in ``check``.

        :param cited: those whose formatted references are needed, too.
        :param deadline: as for ``check``.
        """
        deadline = time.monotonic() + options.budget if deadline is None else deadline
        style = options.reference_style, options.reference_locale

        def request_references(survey: Survey, new: list[DOI]) -> None:
            survey.look_up_references(new, *style)

        answers = self._get(self._works, dois, options, deadline, Survey.look_up_works)
        works = {doi: answer.work for doi, answer in answers.items() if answer.work is not None}
        listed = [doi for doi in dict.fromkeys(cited) if doi in works]
        known = self._references.setdefault(style, _Answers())
        references = self._get(known, listed, options, deadline, request_references)
        return Works(
            works,
            {doi: answer.reference for doi, answer in references.items() if answer.reference},
            [
                doi
                for doi, answer in answers.items()
                if answer.work is None and answer.status in ("found", "no-values")
            ],
            self._missing(answers),
            {
                doi: answer.unknown
                for doi, answer in [*references.items(), *answers.items()]
                if answer.unknown
            },
        )

    def _missing(self, answers: dict[DOI, _Answer]) -> list[DOI]:
        accepted = self._lock_file.read().accepted if self._lock_file else {}
        return [
            doi for doi, answer in answers.items() if answer.status == "not-found" and doi.key not in accepted
        ]

    def _get(
        self,
        known: _Answers,
        dois: Iterable[DOI],
        options: Options,
        deadline: float | None,
        request: _Request,
    ) -> dict[DOI, _Answer]:
        def ask(new: list[DOI], budget: float) -> Survey:
            store = self._lock_file if options.resolve else None  # None: the lock file only, without requests
            with open_resolver(options, "markdown-doiuri", store) as resolver:
                survey = Survey(resolver, budget)
                request(survey, new)
                return survey

        deadline = time.monotonic() + options.budget if deadline is None else deadline
        return known.get(list(dois), options.budget, deadline, ask)


class _Answers:
    """The answers of one kind that a process knows; each DOI is requested by one thread at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # for the next two
        self._answers: dict[str, _Answer] = {}  # by key
        self._requested: dict[str, threading.Event] = {}  # by key: set when another thread has the answer

    def get(
        self,
        dois: list[DOI],
        budget: float,
        deadline: float,
        ask: Callable[[list[DOI], float], Survey],
    ) -> dict[DOI, _Answer]:
        """Return the answers, in order; ``ask`` is called with the new DOIs and the seconds that are left."""
        others: list[threading.Event] | None = None
        # A thread that another one waits for may fail: then this one requests the DOIs.
        while others is None or (self._lacks(dois) and others and all(event.is_set() for event in others)):
            own, done, others = self._claim(dois)
            if own:
                try:
                    self._add(own, ask(own, max(_LEAST_BUDGET, deadline - time.monotonic())))
                finally:
                    self._release(own, done)
            for event in others:
                event.wait(min(max(0.0, deadline - time.monotonic()), threading.TIMEOUT_MAX))
        waited = _Answer("unknown", Cause("budget", detail=f"no answer within {budget:.3g} s"), None, "", 0.0)
        return {doi: self._answers.get(doi.key, waited) for doi in dois}

    def _lacks(self, dois: list[DOI]) -> bool:
        return any(doi.key not in self._answers for doi in dois)

    def _claim(self, dois: list[DOI]) -> tuple[list[DOI], threading.Event, list[threading.Event]]:
        """Return the DOIs to request, the event to set afterwards, and the events of other threads."""
        own: list[DOI] = []
        done = threading.Event()
        others: dict[threading.Event, None] = {}
        with self._lock:
            now = time.monotonic()
            for doi in dois:
                answer, event = self._answers.get(doi.key), self._requested.get(doi.key)
                if answer is not None and answer.expires > now:
                    continue
                if event is None:
                    own.append(doi)
                    self._requested[doi.key] = done
                elif event is not done:
                    others[event] = None
        return own, done, list(others)

    def _release(self, dois: list[DOI], done: threading.Event) -> None:
        with self._lock:
            for doi in dois:
                self._requested.pop(doi.key, None)
        done.set()

    def _add(self, dois: list[DOI], survey: Survey) -> None:
        now = time.monotonic()
        with self._lock:
            if len(self._answers) + len(dois) > _MAX_ANSWERS:
                self._answers = {}
            for doi in dois:
                unknown = survey.unknown.get(doi) or survey.incomplete.get(doi)
                expires = now + (_UNKNOWN_TTL if unknown else _TTL)
                status = survey.statuses.get(doi, "no-values" if doi in survey.works else "unknown")
                work, reference = survey.works.get(doi), survey.references.get(doi) or ""
                self._answers[doi.key] = _Answer(status, unknown, work, reference, expires)
