"""Reports to the author: one problem for each invalid or missing DOI, with its line."""

from __future__ import annotations

import logging
import re
import sys
from collections import Counter
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from doiuri import advise, find
from doiuri.plugins import unescape_html, with_suggestion
from doiuri.plugins.markdown import without_code
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
        place = self._place
        if not place:
            return self.message
        return f"{place}: {self.message}"

    @property
    def _place(self) -> str:
        """The file and the line, as far as they are known; "" if neither is."""
        if not self.line:
            return self.file or ""
        if self.file is None:
            return f"line {self.line}"
        return f"{self.file}:{self.line}"

    @property
    def message(self) -> str:
        """What is wrong and what to write, without the place."""
        advice = f"; write {self.suggestion}" if self.suggestion else ""
        return f"{self.doi}: {self.reason}{advice}"


class _PendingProblem(NamedTuple):
    """A problem that is still to be reported, and what to call with it."""

    problem: Problem
    warn: Callable[[Problem], object]

    @property
    def sort_key(self) -> int:
        """The line; problems without a line come last."""
        return self.problem.line or sys.maxsize


@dataclass(slots=True)
class Scope:
    """What conversions share: that of a page and those of the texts in it, or all of a site."""

    page: bool = True
    """Whether the next text is a page. Other texts, such as docstrings and summaries, end up on pages: they
    have no list of references, no ids and no cards, and their problems have no line."""
    file: str | None = None
    """The file that is converted, if it is known."""
    pending: list[_PendingProblem] = field(default_factory=list)
    """The problems that are still to be reported."""
    reported: set[tuple[str, str]] = field(default_factory=set)
    """What was reported: ``doi`` and ``reason`` of the problems."""

    def report(self) -> None:
        """Report the pending problems, in the order of lines; one without a line only if it is new."""
        pending = sorted(self.pending, key=lambda report: report.sort_key)
        self.pending = []
        for problem, warn in pending:
            identity = (problem.doi, problem.reason)
            if problem.line is None and identity in self.reported:
                continue
            self.reported.add(identity)
            warn(problem)


_scope: ContextVar[Scope | None] = ContextVar("scope", default=None)


@contextmanager
def conversions(scope: Scope) -> Iterator[Scope]:
    """Let the conversions in a ``with`` share a scope; the outermost one reports the problems at its end."""
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
        self._warn = warn
        self._file = file
        self._shared_scope = scope
        self._begin("", Scope())

    def follow(self, md: Markdown) -> None:
        """Note the source and the file of each document that ``md`` converts, before any preprocessor.

        The problems are reported when the outermost conversion ends.
        """
        convert = md.convert
        convert_file = md.convertFile

        def convert_noted(source: str) -> str:
            current = self._shared_scope or _scope.get() or Scope()
            with conversions(current) as scope:
                self._begin(source, scope)
                return convert(source)

        def convert_named(input: Any = None, *given: Any, **options: Any) -> Markdown:  # noqa: A002
            file = input if isinstance(input, str) else None
            with conversions(Scope(file=file)):
                return convert_file(input, *given, **options)

        md.convert = convert_noted  # type: ignore[method-assign]
        md.convertFile = convert_named  # type: ignore[method-assign]

    def _begin(self, source: str, scope: Scope) -> None:
        """Begin a document; the texts that are converted in the meantime, such as docstrings, are no pages."""
        self.page = scope.page
        """Whether the document is a page."""
        scope.page = False
        self._scope = scope
        self._source = source if self.page else ""
        self._errors: dict[_BadText, DOISyntaxError] = {}
        self._occurrences: Counter[_BadText] = Counter()
        self._plain_source: str | None = None
        self._searchable = _MAX_SEARCHED  # characters that may still be searched
        self.markers = 0
        """How often the document marks the place of the list of references."""
        self.nocite: set[str] = set()
        """What is only listed because of the option ``nocite``."""

    def add_bad_text(self, text: str, error: DOISyntaxError, *, link: bool = False) -> None:
        """Note an occurrence of ``text``, which looks like a DOI or its URI in a link, but is not one."""
        bad = _BadText(text, link)
        self._errors.setdefault(bad, error)
        self._occurrences[bad] += 1

    def add_missing(self, dois: Mapping[DOI, DOI | None]) -> None:
        """Note the lines of DOIs that do not exist, and for each what to write in its place.

        Of ``10.1000/182.``, the reason is "not found (the name ends in '.')", and the suggestion ``10.1000/182``.

        :param dois: the DOIs, each with the registered one that was probably meant, or None.
        """
        if not dois:
            return

        lines = self._lines_of(dois)
        for doi, meant in dois.items():
            # Advice that suggests another name says what is probably wrong with this one.
            advice = next((advice for advice in advise(doi) if advice.suggestion), None)
            reason = "not found" if advice is None else f"not found ({advice.message})"
            dead = dead_doi(doi, meant=meant)
            self._add_in_lines(f"doi:{doi.name}", reason, dead.suggestion, lines[doi])

    def add(self, problems: Iterable[Problem]) -> None:
        """Note problems whose place is known, or which have none."""
        self._scope.pending += [_PendingProblem(problem, self._warn) for problem in problems]

    def add_at_first_use(self, doi: DOI, reason: str) -> None:
        """Note what is wrong with a DOI, in the first line that has it; on a site, on the first page."""
        text = f"doi:{doi.name}"
        if (text, reason) in self._scope.reported:
            return
        lines = self._lines_of([doi])[doi]
        self._add_in_lines(text, reason, None, lines[:1])

    def finish(self) -> None:
        """Note the bad texts, and a second marker of the list of references."""
        if self.markers > 1 and self.page:
            reason = "the list of references is at the first of these lines"
            self._add_in_lines(MARKER, reason, None, [self._line_of_second_marker()])
        if not self._errors:
            return

        source = self._without_code()
        for bad, first_error in self._errors.items():
            error = with_suggestion(first_error)
            lines = self._lines_of_bad(bad, source)
            self._add_in_lines(bad.text, error.reason, error.suggestion, lines)

    def _add_in_lines(
        self, doi: str, reason: str, suggestion: str | None, lines: Sequence[int | None]
    ) -> None:
        """Note a problem in each of these lines; None is an unknown line."""
        if doi in self.nocite:
            self.add([Problem(doi, reason, suggestion, file="nocite")])
            return
        file = self._scope.file or self._file
        self.add(Problem(doi, reason, suggestion, line, file) for line in lines)

    def _line_of_second_marker(self) -> int | None:
        markers = list(_MARKED.finditer(self._without_code()))
        if len(markers) < 2:
            return None
        second = markers[1].start()
        return _line_at(self._source, second)

    def _lines_of_bad(self, bad: _BadText, source: str) -> Sequence[int | None]:
        """Return the lines of a text that is not a DOI, at most as many as its occurrences.

        For the URI of a link, they are those of links, if there are any. If no line has the text, since it is
        written in another way, such as with an entity, it is one line, or None if that is unknown.
        """
        times = self._occurrences[bad]
        if bad.is_link:
            lines = self._lines_with(source, bad.text, times, _LINK_STARTS)
            if lines:
                return lines
        return self._lines_with(source, bad.text, times) or [self._line(bad.text)]

    def _lines_with(
        self, source: str, text: str, times: int, starts: Sequence[str] = ("",)
    ) -> list[int]:
        """Return the lines in which ``text`` follows one of ``starts``, at most ``times`` of them."""
        positions: list[int] = []
        for start in starts:
            positions += islice(self._positions(source, start + text), times)
        first_positions = sorted(positions)[:times]
        return list(dict.fromkeys(_line_numbers(source, first_positions)))

    def _lines_of(self, dois: Iterable[DOI]) -> dict[DOI, list[int | None]]:
        """Return the lines in which DOIs are written; code and comments are left out.

        A DOI that is not found there has the first line with its name, which is None if there is none.
        """
        source = self._without_code()
        lines: dict[DOI, list[int | None]] = {doi: [] for doi in dois}
        matches = []
        for match in find(source, "markdown"):
            # a bare name after a slash is a part of another address, such as a publisher's
            follows_slash = source[match.start - 1 : match.start] == "/"
            if match.doi in lines and not follows_slash:
                matches.append(match)
        numbers = _line_numbers(source, [match.start for match in matches])
        for match, number in zip(matches, numbers, strict=True):
            if number not in lines[match.doi][-1:]:
                lines[match.doi].append(number)

        for doi, of_doi in lines.items():
            if not of_doi:
                of_doi.append(self._line(doi.name))
        return lines

    def _without_code(self) -> str:
        return without_code(self._source)

    def _line(self, text: str) -> int | None:
        """Return the first line that has ``text``, as written or once decoded."""
        for source in (self._source, self._plain()):
            position = next(self._positions(source, text), None)
            if position is not None:
                return _line_at(source, position)
        return None

    def _plain(self) -> str:
        """Return the source without character references and backslashes, in the same lines."""
        if self._plain_source is None:
            lines = self._source.split("\n")
            decoded = [unescape_html(line).replace("\n", " ") for line in lines]
            self._plain_source = "\n".join(decoded).replace("\\", "")
        return self._plain_source

    def _positions(self, source: str, text: str) -> Iterator[int]:
        """Yield the positions of ``text``, but not in a longer name, until too much has been searched.

        ``10.1000/1`` is not in ``10.1000/12``, nor in ``10.1000/1.2``, but in ``(10.1000/1).``
        """
        start = 0
        while self._searchable > 0:
            position = source.find(text, start)
            if position < 0:
                self._searchable -= len(source) - start + 1
                return
            self._searchable -= position - start + 1
            if not _LONGER_NAME.match(source, position + len(text)):
                yield position
            start = position + 1


class _BadText(NamedTuple):
    """A text that looks like a DOI, but is not one."""

    text: str
    is_link: bool
    """Whether it is the URI of a link."""


def _line_at(source: str, position: int) -> int:
    return source.count("\n", 0, position) + 1


def _line_numbers(source: str, positions: Iterable[int]) -> Iterator[int]:
    """Yield the line of each position; the positions are in order."""
    number = 1
    counted = 0
    for position in positions:
        number += source.count("\n", counted, position)
        counted = position
        yield number
