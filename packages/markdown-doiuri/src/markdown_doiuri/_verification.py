"""Verify DOIs once per process, however many documents a site has."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

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


class Verifier:
    """Tells which DOIs do not exist, and keeps the answers."""

    def __init__(self, options: Options) -> None:
        self._lock_file = LockFile(options.lock) if options.lock else None
        self._answers: dict[str, tuple[bool, float]] = {}  # by key: whether missing, and when that expires
        self._requesting = threading.Lock()

    def missing(self, dois: Iterable[DOI], options: Options) -> list[DOI]:
        """Return those of ``dois`` that certainly do not exist.

        New ones are requested in one batch, within the budget, which includes the wait for other threads;
        what is unknown then is tried again with a later document.
        """
        dois = list(dois)
        deadline = time.monotonic() + options.budget
        new = self._without_answer(dois)
        if new and self._requesting.acquire(timeout=min(options.budget, threading.TIMEOUT_MAX)):
            try:
                new = self._without_answer(new)  # another thread may have requested some of them meanwhile
                remaining = deadline - time.monotonic()
                if new and remaining > 0:
                    self._request(new, replace(options, budget=remaining))
            finally:
                self._requesting.release()
        answers = self._answers
        return [doi for doi in dois if (answer := answers.get(doi.key)) and answer[0]]

    def _without_answer(self, dois: list[DOI]) -> list[DOI]:
        now = time.monotonic()
        answers = self._answers
        return [doi for doi in dois if (answer := answers.get(doi.key)) is None or answer[1] <= now]

    def _request(self, dois: list[DOI], options: Options) -> None:
        with open_resolver(options, "markdown-doiuri", self._lock_file) as resolver:
            outcomes = list(resolver.check(dois, options.resolve))
        if len(self._answers) + len(outcomes) > _MAX_ANSWERS:
            self._answers = {}
        now = time.monotonic()
        for doi, outcome in zip(dois, outcomes, strict=True):
            ttl = _UNKNOWN_TTL if outcome.status == "unknown" else _TTL
            self._answers[doi.key] = outcome.status == "not-found", now + ttl
