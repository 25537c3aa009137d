"""Verify the DOIs of a site: in one batch before the first page, and later only those that are new."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from markdown_doiuri._verification import Answers, verifier

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri import DOI
    from doiuri.plugins import Options


class SiteVerifier:
    """Tells which DOIs of a site do not exist; each is requested once a build, within the build's budget."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._verifier = verifier(options)
        self._deadline = time.monotonic() + options.budget
        self._lock = threading.Lock()  # for the next three
        self._missing: set[DOI] = set()
        self._unknown: dict[DOI, str] = {}
        self._known: set[DOI] = set()
        self._linked: set[DOI] = set()

    def prepare(self, dois: Iterable[DOI]) -> None:
        """Request ``dois``, in one batch."""
        with self._lock:
            self._request(list(dict.fromkeys(dois)))

    def check(self, dois: Iterable[DOI], options: Options) -> Answers:  # noqa: ARG002
        """Return which of a page's ``dois`` do not exist; those without an answer are counted."""
        dois = list(dois)
        with self._lock:
            self._linked.update(dois)
            self._request([doi for doi in dois if doi not in self._known])
        return Answers([doi for doi in dois if doi in self._missing], {})

    def _request(self, dois: list[DOI]) -> None:
        if not dois:
            return
        left = max(self._deadline - time.monotonic(), 0.001)
        answers = self._verifier.check(dois, replace(self._options, budget=left))
        self._known.update(dois)
        self._missing.update(answers.missing)
        self._unknown.update(answers.unknown)

    def unknown(self) -> str:
        """Return how many DOIs of the pages could not be checked, and why; "" if none."""
        reasons = Counter(self._unknown[doi] for doi in self._linked & self._unknown.keys())
        if not reasons:
            return ""
        [(reason, _)] = reasons.most_common(1)
        return f"{reasons.total()} of {len(self._linked)} DOIs could not be checked: {reason}"
