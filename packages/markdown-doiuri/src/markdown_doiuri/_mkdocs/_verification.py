"""Look up the DOIs of a site: in one batch before the first page, and later only those that are new."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from doiuri.plugins import unchecked

from markdown_doiuri._verification import Answers, Works, verifier

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri import DOI
    from doiuri.plugins import Options
    from doiuri.records import Work
    from doiuri.resolver import Cause


class SiteLookups:
    """What is known about the DOIs of a site; each is requested once a build, within the build's budget."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._verifier = verifier(options)
        self._start = time.monotonic()
        self._lock = threading.RLock()  # for all that follows
        self._linked: set[DOI] = set()  # by pages
        self._checked: set[DOI] = set()
        self._missing: set[DOI] = set()
        self._unknown: dict[DOI, Cause] = {}
        self._cited: set[DOI] = set()  # those whose works were requested
        self._lacking: set[DOI] = set()
        self.known_works: dict[DOI, Work] = {}
        self.references: dict[DOI, str] = {}

    def prepare(self, dois: Iterable[DOI], cited: Iterable[DOI]) -> None:
        """Look up ``dois``, and the works of those that are ``cited``, for at most half of the budget."""
        cited = list(dict.fromkeys(cited))
        with self._lock:
            if self._options.resolve or self._options.lock:
                self._request_works(cited, self._options.budget / 2)
            if self._options.resolve:
                self._request([doi for doi in dict.fromkeys(dois) if doi not in self.known_works])

    def check(self, dois: Iterable[DOI], options: Options, deadline: float | None = None) -> Answers:  # noqa: ARG002
        """Return which of a page's ``dois`` do not exist; those without an answer are counted."""
        dois = list(dois)
        with self._lock:
            self._linked.update(dois)
            self._request([doi for doi in dois if doi not in self._checked])
            return Answers([doi for doi in dois if doi in self._missing], [], [])

    def works(
        self,
        dois: Iterable[DOI],
        options: Options,  # noqa: ARG002
        deadline: float | None = None,  # noqa: ARG002
        *,
        cited: Iterable[DOI] = (),  # noqa: ARG002
    ) -> Works:
        """Return what is known about the works that a page's ``dois`` name."""
        dois = list(dict.fromkeys(dois))
        with self._lock:
            self._linked.update(dois)
            self._request_works([doi for doi in dois if doi not in self._cited], self._options.budget)
            return Works(
                {doi: self.known_works[doi] for doi in dois if doi in self.known_works},
                {doi: self.references[doi] for doi in dois if doi in self.references},
                [doi for doi in dois if doi in self._lacking],
                [doi for doi in dois if doi in self._missing],
                {doi: self._unknown[doi] for doi in dois if doi in self._unknown},
            )

    def _request(self, dois: list[DOI]) -> None:
        if not dois:
            return
        answers = self._verifier.check(dois, self._options, self._start + self._options.budget)
        self._checked.update(dois)
        self._missing.update(answers.missing)
        self._unknown |= dict(zip(answers.unchecked, answers.unknown, strict=True))

    def _request_works(self, dois: list[DOI], budget: float) -> None:
        if not dois:
            return
        answers = self._verifier.works(dois, self._options, self._start + budget, cited=dois)
        self._cited.update(dois)
        self.known_works |= answers.works
        self.references |= answers.references
        self._lacking.update(answers.lacking)
        self._missing.update(answers.missing)
        self._unknown |= answers.unknown

    def unknown(self) -> str:
        """Return how many DOIs of the pages could not be checked, and why; "" if none."""
        causes = [self._unknown[doi] for doi in self._linked & self._unknown.keys()]
        return unchecked(causes, len(self._linked))
