"""One memory for the process: a site of many documents asks for each DOI once."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from doiuri.resolver import LockFile, open_resolver

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri import DOI
    from doiuri.plugins import Options

_KEPT = 3_600.0  # seconds that an answer is kept
_UNKNOWN_KEPT = 60.0  # seconds before what nobody could tell is asked again
_MOST = 200_000  # answers kept; beyond that all is forgotten, and the store serves

_memories: dict[tuple[object, ...], Memory] = {}


def memory(options: Options) -> Memory:
    """Return the memory of all conversions that ask the same resolver in the same way.

    Raises ValueError for a file that is no lock file.
    """
    key = options.settings, options.resolve, options.lock
    if key not in _memories:
        _memories[key] = Memory(options)
    return _memories[key]


def forget() -> None:
    """Forget all answers in this process; stores and lock files stay as they are."""
    _memories.clear()


class Memory:
    """What is known of DOIs: whether each is missing, and until when that counts."""

    def __init__(self, options: Options) -> None:
        self._lock_file = LockFile(options.lock) if options.lock else None
        self._known: dict[str, tuple[bool, float]] = {}
        self._asking = threading.Lock()

    def missing(self, dois: Iterable[DOI], options: Options) -> list[DOI]:
        """Return those that definitely do not exist; asks, in one batch, for those not known yet."""
        dois = list(dois)
        new = self._unknown(dois)
        if new:
            with self._asking:  # another thread may just have asked the same
                self._ask(self._unknown(new), options)
        known = self._known
        return [doi for doi in dois if (answer := known.get(doi.key)) and answer[0]]

    def _unknown(self, dois: list[DOI]) -> list[DOI]:
        now = time.monotonic()
        known = self._known
        return [doi for doi in dois if (answer := known.get(doi.key)) is None or answer[1] <= now]

    def _ask(self, dois: list[DOI], options: Options) -> None:
        """Ask within the budget; what stays open then is asked again with a later document."""
        with open_resolver(options, "markdown-doiuri", self._lock_file) as resolver:
            outcomes = list(resolver.check(dois, options.resolve))
        if len(self._known) + len(outcomes) > _MOST:
            self._known = {}
        now = time.monotonic()
        for doi, outcome in zip(dois, outcomes, strict=True):
            kept = _UNKNOWN_KEPT if outcome.status == "unknown" else _KEPT
            self._known[doi.key] = outcome.status == "not-found", now + kept
