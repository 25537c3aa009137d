"""Verify DOIs once per process, however many documents a site has."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

from doiuri.plugins import open_resolver
from doiuri.resolver import LockFile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri import DOI
    from doiuri.plugins import Options

_TTL = 3_600.0  # seconds that an answer is kept
_UNKNOWN_TTL = 60.0  # seconds before a DOI is requested again if nothing could be learned
_MAX_ANSWERS = 200_000  # then all are dropped; the cache still has them

_verifiers: dict[tuple[object, ...], Verifier] = {}


def verifier(options: Options) -> Verifier:
    """Return the process's verifier for this resolver and lock file.

    Raises ValueError for a file that is not a lock file.
    """
    key = options.settings, options.resolve, options.lock
    if key not in _verifiers:
        _verifiers[key] = Verifier(options)
    return _verifiers[key]


def forget() -> None:
    """Drop the answers that this process keeps; caches and lock files stay as they are."""
    _verifiers.clear()


class Answers(NamedTuple):
    """What is known about the DOIs of a document."""

    missing: list[DOI]
    """Those that certainly do not exist, in order."""
    unknown: dict[DOI, str]
    """The DOIs that could not be checked, each with the reason."""


class Check(Protocol):
    """Tells which DOIs do not exist."""

    def check(self, dois: Iterable[DOI], options: Options) -> Answers:
        """Return what is known about ``dois``."""


class _Answer(NamedTuple):
    missing: bool
    unknown: str  # the reason, or ""
    expires: float  # on the clock of time.monotonic


class Verifier:
    """Tells which DOIs do not exist, and keeps the answers."""

    def __init__(self, options: Options) -> None:
        self._lock_file = LockFile(options.lock) if options.lock else None
        self._lock = threading.Lock()  # for the next two
        self._answers: dict[str, _Answer] = {}  # by key
        self._requested: dict[str, threading.Event] = {}  # by key: set when another thread has the answer

    def check(self, dois: Iterable[DOI], options: Options) -> Answers:
        """Return what is known about ``dois``.

        New ones are requested in one batch, within the budget, which includes the wait for other threads that
        request the same ones; what is unknown then is tried again with a later document.
        """
        dois = list(dois)
        deadline = time.monotonic() + options.budget
        own, done, others = self._claim(dois)
        if own:
            try:
                self._request(own, options)
            finally:
                self._release(own, done)
        for event in others:
            event.wait(min(max(0.0, deadline - time.monotonic()), threading.TIMEOUT_MAX))
        waited = _Answer(False, f"no answer within {options.budget:.3g} s", 0.0)
        answers = [(doi, self._answers.get(doi.key, waited)) for doi in dois]
        return Answers(
            [doi for doi, answer in answers if answer.missing],
            {doi: answer.unknown for doi, answer in answers if answer.unknown},
        )

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
                else:
                    others[event] = None
        return own, done, list(others)

    def _release(self, dois: list[DOI], done: threading.Event) -> None:
        with self._lock:
            for doi in dois:
                self._requested.pop(doi.key, None)
        done.set()

    def _request(self, dois: list[DOI], options: Options) -> None:
        with open_resolver(options, "markdown-doiuri", self._lock_file) as resolver:
            outcomes = list(resolver.check(dois, options.resolve))
        now = time.monotonic()
        with self._lock:
            if len(self._answers) + len(outcomes) > _MAX_ANSWERS:
                self._answers = {}
            for doi, outcome in zip(dois, outcomes, strict=True):
                unknown = outcome.reason or "unknown" if outcome.status == "unknown" else ""
                expires = now + (_UNKNOWN_TTL if unknown else _TTL)
                self._answers[doi.key] = _Answer(outcome.status == "not-found", unknown, expires)
