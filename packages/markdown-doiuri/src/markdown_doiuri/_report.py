"""Reports to the author: one problem for each invalid or missing DOI, with its line."""

from __future__ import annotations

import logging
import re
from collections import Counter
from typing import TYPE_CHECKING, Self

from doiuri import advise
from doiuri.plugins import DOI_ORG, unescape_html
from markdown.preprocessors import Preprocessor

if TYPE_CHECKING:
    from collections.abc import Callable

    from doiuri import DOI, DOISyntaxError

_logger = logging.getLogger("doiuri")
_LONGER_NAME = re.compile(r"[^\w\s<>()\[\]{}\"'*?#]?\w")
_MAX_SEARCHED = 100_000_000  # characters searched for line numbers, in one document


class Problem(str):
    """A message about one DOI, and its parts as attributes."""

    __slots__ = ("doi", "line", "reason", "suggestion")
    doi: str
    """The DOI as written, or the URI of one that does not exist."""
    reason: str
    """What is wrong."""
    suggestion: str | None
    """What was probably meant, or None."""
    line: int | None
    """The line in the source, from 1; None if it is not known."""

    def __new__(cls, doi: str, reason: str, suggestion: str | None, line: int | None) -> Self:
        """Return the problem; as a string it is the message."""
        where = f"line {line}: " if line else ""
        advice = f"; write {suggestion}" if suggestion else ""
        self = super().__new__(cls, f"{where}{doi}: {reason}{advice}")
        self.doi = doi
        self.reason = reason
        self.suggestion = suggestion
        self.line = line
        return self

    def __getnewargs__(self) -> tuple[str, str, str | None, int | None]:  # type: ignore[override]
        return self.doi, self.reason, self.suggestion, self.line


class Report:
    """Calls ``warn`` with each problem of a document, once."""

    def __init__(self, warn: Callable[[str], object]) -> None:
        self._warn = warn
        self.begin([])

    def begin(self, lines: list[str]) -> None:
        """Begin a document with the source ``lines``."""
        self._lines = lines
        self._reported: set[str] = set()
        self._sources: tuple[str, str] | None = None
        self._left = _MAX_SEARCHED

    def bad(self, text: str, error: DOISyntaxError) -> None:
        """Report ``text``, which looks like a DOI but is not one."""
        self._report(text, error.reason, error.suggestion, (text,))

    def missing(self, doi: DOI) -> None:
        """Report a DOI that does not exist, with what was probably meant."""
        advice = next((advice for advice in advise(doi) if advice.suggestion), None)
        reason = "not found" if advice is None else f"not found ({advice.message})"
        spellings = (doi.name, doi.uri.removeprefix("doi:"), doi.url.removeprefix(f"{DOI_ORG}/"))
        self._report(doi.uri, reason, None if advice is None else advice.suggestion, spellings)

    def unknown(self, reasons: list[str], total: int) -> None:
        """Log how many of ``total`` DOIs could not be checked, and why.

        That is no mistake of the author: it is not for ``warn``, and fails no build.
        """
        if reasons:
            [(reason, _)] = Counter(reasons).most_common(1)
            _logger.info("%d of %d DOIs could not be checked: %s", len(reasons), total, reason)

    def _report(self, doi: str, reason: str, suggestion: str | None, spellings: tuple[str, ...]) -> None:
        if doi not in self._reported:
            self._reported.add(doi)
            self._warn(Problem(doi, reason, suggestion, self._line(spellings)))

    def _line(self, spellings: tuple[str, ...]) -> int | None:
        """Return the first line that has one of ``spellings``, as written or once decoded."""
        if self._sources is None:
            plain = (unescape_html(line).replace("\n", " ").replace("\\", "") for line in self._lines)
            self._sources = "\n".join(self._lines), "\n".join(plain)
        for source in self._sources:
            for spelling in spellings:
                position = self._find(source, spelling)
                if position >= 0:
                    return source.count("\n", 0, position) + 1
        return None

    def _find(self, source: str, spelling: str) -> int:
        """Return the position of ``spelling`` in ``source``, not as the beginning of a longer name; or -1."""
        position = -1
        while self._left > 0:
            start = position + 1
            position = source.find(spelling, start)
            self._left -= (position if position >= 0 else len(source)) - start + 1
            if position < 0 or not _LONGER_NAME.match(source, position + len(spelling)):
                return position
        return -1


class SourcePreprocessor(Preprocessor):
    """Passes the source to the report, unchanged."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self._report = report

    def run(self, lines: list[str]) -> list[str]:
        """Return ``lines`` unchanged."""
        self._report.begin(lines)
        return lines
