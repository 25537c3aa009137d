"""What the author is told: one problem for each bad or missing DOI, with the line where it stands."""

import html
import re
from collections.abc import Callable
from typing import Self

from doiuri import DOI, DOISyntaxError, advise
from markdown.preprocessors import Preprocessor

_GOES_ON = re.compile(r"[^\w\s<>()\[\]{}\"'*?#]?\w")  # a longer name
_SEARCHED = 100_000_000  # characters looked through for line numbers, at most, in one document


class Problem(str):
    """A message about one DOI, and its parts: ``doi``, ``reason``, ``suggestion``, ``line`` (from 1).

    ``suggestion`` is None where nothing better is known, ``line`` where the text is not found in the source.
    """

    __slots__ = ("doi", "line", "reason", "suggestion")
    doi: str
    reason: str
    suggestion: str | None
    line: int | None

    def __new__(cls, doi: str, reason: str, suggestion: str | None, line: int | None) -> Self:
        """Return the problem; its text is the whole message."""
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
    """Tells ``warn`` each problem of a document once."""

    def __init__(self, warn: Callable[[str], object]) -> None:
        self._warn = warn
        self.begin([])

    def begin(self, lines: list[str]) -> None:
        """Forget the last document; ``lines`` are the source of the next."""
        self._lines = lines
        self._seen: set[str] = set()
        self._sources: tuple[str, str] | None = None
        self._left = _SEARCHED

    def bad(self, text: str, error: DOISyntaxError) -> None:
        """Report ``text``, which looks like a DOI and is none."""
        self._tell(text, error.reason, error.suggestion, (text,))

    def missing(self, doi: DOI) -> None:
        """Report a DOI that does not exist, with what was probably meant."""
        better = [advice for advice in advise(doi) if advice.suggestion]
        reason = f"not found ({better[0].message})" if better else "not found"
        spellings = (doi.name, doi.uri.removeprefix("doi:"), doi.url.removeprefix("https://doi.org/"))
        self._tell(doi.uri, reason, better[0].suggestion if better else None, spellings)

    def _tell(self, doi: str, reason: str, suggestion: str | None, spellings: tuple[str, ...]) -> None:
        if doi not in self._seen:
            self._seen.add(doi)
            self._warn(Problem(doi, reason, suggestion, self._line(spellings)))

    def _line(self, spellings: tuple[str, ...]) -> int | None:
        if self._sources is None:
            plain = (html.unescape(line).replace("\n", " ").replace("\\", "") for line in self._lines)
            self._sources = "\n".join(self._lines), "\n".join(plain)
        for source in self._sources:
            for spelling in spellings:
                place = self._place(source, spelling)
                if place >= 0:
                    return source.count("\n", 0, place) + 1
        return None

    def _place(self, source: str, spelling: str) -> int:
        """Return where ``spelling`` stands in ``source`` and does not go on as a longer name; or -1."""
        place = -1
        while self._left > 0:
            begun = place + 1
            place = source.find(spelling, begun)
            self._left -= (place if place >= 0 else len(source)) - begun + 1
            if place < 0 or not _GOES_ON.match(source, place + len(spelling)):
                return place
        return -1


class SourcePreprocessor(Preprocessor):
    """Shows the report the source as it came, and changes nothing."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self._report = report

    def run(self, lines: list[str]) -> list[str]:
        """Return ``lines`` as they are."""
        self._report.begin(lines)
        return lines
