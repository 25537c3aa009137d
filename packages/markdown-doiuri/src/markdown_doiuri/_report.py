"""Reports to the author: one problem for each invalid or missing DOI, with its line."""

from __future__ import annotations

import logging
import re
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from doiuri import advise, find
from doiuri.markdown import without_code
from doiuri.plugins import unescape_html, with_suggestion
from doiuri.plugins.sentences import dead_doi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from doiuri import DOI, DOISyntaxError
    from markdown import Markdown

_logger = logging.getLogger("doiuri")
_LONGER_NAME = re.compile(r"[^\w\s<>()\[\]{}\"'*?#]?\w|/")
MARKER = "///References Go Here///"
"""The line that marks the place of the list of references."""

_LINK_STARTS = "](", "<", "]: "
_MARKED = re.compile(rf"^[ \t>]*+{re.escape(MARKER)}[ \t]*+$", re.MULTILINE)
_MAX_SEARCHED = 100_000_000  # characters searched for line numbers, in one document


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with one DOI; ``str()`` of it is the message."""

    doi: str
    """The text as written, or ``doi:`` and the name of a DOI."""
    reason: str
    """What is wrong."""
    suggestion: str | None = None
    """What was probably meant, or None."""
    line: int | None = None
    """The line in the source, from 1; None if it is not known."""
    file: str | None = None
    """The file given to ``convertFile`` or the command line, else the option ``file``; None if neither is.
    It is "nocite" if the DOI is only in that option."""

    def __str__(self) -> str:
        """Return the place, what is wrong, and what to write."""
        place = f"line {self.line}" if self.file is None else f"{self.file}:{self.line}"
        where = f"{place}: " if self.line else "" if self.file is None else f"{self.file}: "
        return f"{where}{self.message}"

    @property
    def message(self) -> str:
        """What is wrong and what to write, without the place."""
        advice = f"; write {self.suggestion}" if self.suggestion else ""
        return f"{self.doi}: {self.reason}{advice}"


@dataclass(slots=True)
class Scope:
    """What conversions share: that of a page and those of the texts in it, or all of a site."""

    page: bool = True
    """Whether the next text is a page. Other texts, such as docstrings and summaries, end up on pages: they
    have no list of references, no ids and no cards, and their problems have no line."""
    file: str | None = None
    """The file that is converted, if it is known."""
    found: list[tuple[Problem, Callable[[Problem], object]]] = field(default_factory=list)
    """The problems that are still to be reported, and what to call with each."""
    reported: set[tuple[str, str]] = field(default_factory=set)
    """What was reported: ``doi`` and ``reason`` of the problems."""

    def report(self) -> None:
        """Report what was found, in the order of lines; a problem without a line only if it is new."""
        found, self.found = self.found, []
        for problem, warn in sorted(found, key=lambda one: one[0].line or sys.maxsize):
            if problem.line or (problem.doi, problem.reason) not in self.reported:
                self.reported.add((problem.doi, problem.reason))
                warn(problem)


_scope: ContextVar[Scope | None] = ContextVar("scope", default=None)


@contextmanager
def conversions(scope: Scope) -> Iterator[Scope]:
    """Within this, conversions share the scope; what the outermost ones find is reported in the end."""
    outer = _scope.get()
    token = _scope.set(scope)
    try:
        yield scope
    finally:
        _scope.reset(token)
    if outer is not scope:
        scope.report()


class Problems:
    """Finds the problems of a document, each one once in each line; all documents may share a scope."""

    def __init__(
        self, warn: Callable[[Problem], object], file: str | None, scope: Scope | None
    ) -> None:
        self._warn, self._file, self._shared = warn, file, scope
        self._begin([], Scope())

    def follow(self, md: Markdown) -> None:
        """Note the source and the file of each document that ``md`` converts, before any preprocessor."""
        convert, convert_file = md.convert, md.convertFile

        def convert_noted(source: str) -> str:
            with conversions(self._shared or _scope.get() or Scope()) as scope:
                self._begin(source.split("\n"), scope)
                return convert(source)

        def convert_named(input: Any = None, *given: Any, **options: Any) -> Markdown:  # noqa: A002
            with conversions(Scope(file=input if isinstance(input, str) else None)):
                return convert_file(input, *given, **options)

        md.convert = convert_noted  # type: ignore[method-assign]
        md.convertFile = convert_named  # type: ignore[method-assign]

    def _begin(self, lines: list[str], scope: Scope) -> None:
        """Begin a document with the source ``lines``."""
        self.page, scope.page = scope.page, False
        self._scope = scope
        self._lines = lines if self.page else []
        # By text, and whether it is the URI of a link: what is wrong, and how often it occurs
        self._bad: dict[tuple[str, bool], tuple[DOISyntaxError, int]] = {}
        self._sources: tuple[str, str] | None = None
        self._left = _MAX_SEARCHED
        self.markers = 0
        """How often the document marks the place of the list of references."""
        self.nocite: set[str] = set()
        """What is only listed because of the option ``nocite``."""

    def bad(self, text: str, error: DOISyntaxError, *, link: bool = False) -> None:
        """Note an occurrence of ``text``, which looks like a DOI or its URI in a link, but is not one."""
        known, times = self._bad.get((text, link)) or (with_suggestion(error), 0)
        self._bad[text, link] = known, times + 1

    def missing(self, dois: Mapping[DOI, DOI | None]) -> None:
        """Note where DOIs are that do not exist, with the registered ones that were probably meant."""
        lines = self._lines_of(dois) if dois else {}
        for doi, meant in dois.items():
            advice = next((advice for advice in advise(doi) if advice.suggestion), None)
            reason = "not found" if advice is None else f"not found ({advice.message})"
            dead = dead_doi(doi, meant=meant)
            self._add(f"doi:{doi.name}", reason, dead.suggestion, lines[doi])

    def of_list(self, problems: Iterable[Problem]) -> None:
        """Note what is wrong with the list of references."""
        self._scope.found += [(problem, self._warn) for problem in problems]

    def finish(self) -> None:
        """Note the problems that ``bad`` was called with."""
        if self.markers > 1 and self.page:
            starts = [match.start() for match in _MARKED.finditer(self._without_code())]
            line = "\n".join(self._lines).count("\n", 0, starts[1]) + 1 if len(starts) > 1 else None
            self._add(MARKER, "the list of references is at the first of these lines", None, [line])
        if self._bad:
            source = self._without_code()
            for (text, link), (error, times) in self._bad.items():
                lines = self._lines_with(source, text, times, _LINK_STARTS) if link else []
                places: Sequence[int | None] = (
                    lines or self._lines_with(source, text, times) or [self._line(text)]
                )
                self._add(text, error.reason, error.suggestion, places)

    def _add(
        self, doi: str, reason: str, suggestion: str | None, lines: Sequence[int | None]
    ) -> None:
        file = self._scope.file or self._file
        places = [(None, "nocite")] if doi in self.nocite else [(line, file) for line in lines]
        self._scope.found += [
            (Problem(doi, reason, suggestion, *place), self._warn) for place in places
        ]

    def _lines_with(
        self, source: str, text: str, times: int, starts: Sequence[str] = ("",)
    ) -> list[int]:
        """Return the lines in which ``text`` follows one of ``starts``, at most ``times`` of them."""
        positions: list[int] = []
        for start in starts:
            position = -1
            for _ in range(times):
                position = self._find(source, start + text, position + 1)
                if position < 0:
                    break
                positions.append(position)
        return list(dict.fromkeys(line for line, _ in _numbered(source, sorted(positions)[:times])))

    def _lines_of(self, dois: Iterable[DOI]) -> dict[DOI, list[int | None]]:
        """Return the lines in which DOIs are written; code and comments are left out."""
        lines: dict[DOI, dict[int, None]] = {doi: {} for doi in dois}
        source = self._without_code()
        written = (match for match in find(source, "markdown") if match.doi in lines)
        # a bare name after a slash is a part of another address, such as a publisher's
        found = [match for match in written if source[match.start - 1 : match.start] != "/"]
        for line, index in _numbered(source, [match.start for match in found]):
            lines[found[index].doi][line] = None
        return {doi: list(numbers) or [self._line(doi.name)] for doi, numbers in lines.items()}

    def _without_code(self) -> str:
        return without_code("\n".join(self._lines))

    def add_first(self, doi: DOI, reason: str) -> None:
        """Note what is wrong with a DOI, in the first line that has it; on a site, on the first page."""
        if (f"doi:{doi.name}", reason) not in self._scope.reported:
            self._add(f"doi:{doi.name}", reason, None, self._lines_of([doi])[doi][:1])

    def _line(self, text: str) -> int | None:
        """Return the first line that has ``text``, as written or once decoded."""
        if self._sources is None:
            plain = (
                unescape_html(line).replace("\n", " ").replace("\\", "") for line in self._lines
            )
            self._sources = "\n".join(self._lines), "\n".join(plain)
        for source in self._sources:
            position = self._find(source, text, 0)
            if position >= 0:
                return source.count("\n", 0, position) + 1
        return None

    def _find(self, source: str, text: str, start: int) -> int:
        """Return the position of ``text`` from ``start``, not in a longer name, or -1."""
        while self._left > 0:
            position = source.find(text, start)
            self._left -= (position if position >= 0 else len(source)) - start + 1
            if position < 0 or not _LONGER_NAME.match(source, position + len(text)):
                return position
            start = position + 1
        return -1


def _numbered(source: str, positions: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the line of each position, and its index; the positions are in order."""
    line, counted = 1, 0
    for index, position in enumerate(positions):
        line += source.count("\n", counted, position)
        counted = position
        yield line, index
