"""DOIs in inline text: citations in brackets and mentions in running text, where they begin and end."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI, DOISyntaxError, find
from doiuri.citations import parse_citation, parse_locator

from markdown_doiuri._stash import BOUNDARY, RenderedText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri import Match
    from doiuri.citations import Cite, Form
    from doiuri.plugins.citing import Citing

    from markdown_doiuri._options import MarkdownOptions
    from markdown_doiuri._report import Problems
    from markdown_doiuri._stash import Stash

# Brackets in a name are in pairs, to a depth of two. Atomic groups: the time is linear if one is left open.
_UNBRACED = r"doi:(?>(?:[^\s\[\]]++|\[(?>(?:[^\s\[\]]++|\[[^\s\[\]]*+\])*)\])+)"
_BRACED = r"\{(?>(?:[^\s{}]++|\{[^\s{}]*+\})+)\}"
ID = r"\w(?>(?:\w|[:.#$%&+?<>~/-](?=\w))*)"
_CITATION = re.compile(
    rf"\[((?>(?:@(?:{_BRACED}|{_UNBRACED})|[^\[\]])+))\]|@(?P<name>{_BRACED}|{ID})", re.IGNORECASE
)
_AT = re.compile("@")
_AT_DOI = re.compile(r"@\{?doi:", re.IGNORECASE)
_SEPARATOR = re.compile(r";(?=-?@)")
_LOCATOR = re.compile(r"[ \n]\[([^\[\]@]+)\]")
_MARKUP = re.compile(r"[*_<]")
# Before the "@" of a mail address, or of a path or link
_WORD_BEFORE = "._%+-@/\\="
_IN_ADDRESSES = "_=+"  # of emphasis and similar, and also part of mail addresses
_MAX_DELIMITER = 4


class Citation(NamedTuple):
    """What an author cites in one place."""

    cites: tuple[Cite, ...]
    form: Form
    """"t" if it is part of the sentence: "Kahn (2001)" and not "(Kahn, 2001)"."""

    @property
    def dois(self) -> Iterator[DOI]:
        """The DOIs that are cited."""
        return (cite.key for cite in self.cites if isinstance(cite.key, DOI))


class CitationReader:
    """Reads the citations in inline text."""

    def __init__(self, stash: Stash, citing: Citing, report: Problems) -> None:
        self._stash, self._citing, self._report = stash, citing, report

    def read(self, data: str) -> Iterator[tuple[int, int, Citation, str]]:
        """Yield the citations in brackets, in braces and by id: start, end, and the text as written."""
        ids = self._citing.library.ids
        for match in _CITATION.finditer(data):
            start, end = match.span()
            written, name = match[1] or match[0], match["name"]
            if name and (is_in_word(data, start) or (name[0] != "{" and name not in (ids or ()))):
                continue
            cites = self._cites(written)
            if cites and name:
                cites, end = self.with_locator(data, end, cites[0])
            if cites:
                yield (
                    start,
                    end,
                    Citation(cites, "t" if name else "p"),
                    self._stash.source(match[0])[0],
                )

    def with_locator(self, data: str, end: int, cite: Cite) -> tuple[tuple[Cite], int]:
        """Return a citation in a sentence, with the locator that follows its end, and where that ends."""
        if found := _LOCATOR.match(data, end):
            text, length = self._stash.source(found[1])
            label, locator, suffix = parse_locator(text, self._citing.locale)
            if label and length == len(found[1]) and not _MARKUP.search(suffix):
                return (replace(cite, label=label, locator=locator, suffix=suffix),), found.end()
        return (cite,), end

    def _cites(self, written: str) -> tuple[Cite, ...]:
        """Return what a citation cites, or nothing if it is not a citation."""
        text, length = self._stash.source(written)
        if length < len(written) or "@" not in text:
            return ()
        words = _SEPARATOR.sub("; ", text).split()
        text = " ".join(_without_stop(word) if "@" in word[:2] else word for word in words)
        ids = self._citing.library.ids
        try:
            cites = parse_citation(text, self._citing.locale, ids)
        except DOISyntaxError:
            return ()
        except ValueError as error:
            if ids is not None:
                self._report.bad(written, DOISyntaxError(written, 0, str(error)))
            return ()
        ours = _AT if ids is not None else _AT_DOI
        if all(
            ours.match(one.typed) and not _MARKUP.search(one.prefix + one.suffix) for one in cites
        ):
            return cites
        return ()


def _without_stop(name: str) -> str:
    """Return a name without the stop at its end; a comma or a semicolon after it stays."""
    end = name.rstrip(",;")
    return end.rstrip(".:!?") + name[len(end) :]


def is_in_word(data: str, at: int) -> bool:
    """Return whether the "@" at this position follows a word, as in a mail address."""
    # Delimiters of emphasis, but for those that end a word
    before = data[max(0, at - _MAX_DELIMITER) : at].rstrip(_IN_ADDRESSES)[-1:]
    # Letters without case are those of scripts that need no space before a citation.
    if before.isalnum():
        return before.isascii() or before.lower() != before.upper()
    return before != "" and before in _WORD_BEFORE


_SCHEMES = ("https://", "http://")
_BEGINNING = re.compile(r"10(?=[.\x02])")  # rare in prose; the label before it is found afterwards
_LABELLED = re.compile(
    rf"(?<![A-Za-z0-9\u00c0-\u024f_-]) doi[:\uff1a][ ]? 10\.[^\s{BOUNDARY}]*",
    re.IGNORECASE | re.VERBOSE,
)
_CLOSING = ".,;:!?)]}>\"'”’»"
# What makes a mention a part of a word, path or address if it stands before
_BEFORE_LABEL = "_-/"
_BEFORE_NAME = "_-/.:@&=?#%+"
_MAX_URL = 2_000  # characters searched backwards for the scheme of a URL


class BareMention(NamedTuple):
    """A mention from ``start`` to ``end`` in the data; readers see ``text``."""

    start: int
    end: int
    text: str
    doi: DOI
    cites: bool = False
    """Whether an "@" before it makes it a citation."""


class Mentions:
    """Finds the mentions in a text, and reports labelled ones that are not DOIs."""

    def __init__(self, stash: Stash, options: MarkdownOptions, report: Problems) -> None:
        self._stash, self._options, self._report = stash, options, report

    def find(self, data: str) -> list[BareMention]:
        """Return the mentions in ``data``, in order."""
        options = self._options
        if not _BEGINNING.search(data):
            return []
        if not options.bare_names and not any(label in data.lower() for label in ("doi", "hdl")):
            return []
        if not (options.bare or options.bare_names or options.bare_links or "@" in data):
            return []
        rendered = RenderedText(data, self._stash)
        matches = list(find(rendered.text))
        if options.bare:
            self._report_invalid(rendered.text, matches)
        return [mention for match in matches if (mention := self._mention(match, rendered))]

    def _mention(self, match: Match, rendered: RenderedText) -> BareMention | None:
        """Return the mention for a match in the rendered text, or None if it is not to be linked."""
        if self._options.citations and (citation := self._citation(match, rendered)):
            return citation
        if not self._is_wanted(match.label) or _in_word(rendered.text, match):
            return None
        start = match.start
        name = start + len(match.label)
        if rendered.is_broken(start, name):
            start = name  # **DOI:** 10.1000/182
        return _mention_from(rendered, start, match)

    def _is_wanted(self, label: str) -> bool:
        """Return whether the options ask for links of mentions with such a label or link."""
        if not label:
            return self._options.bare_names
        if "doi.org" in label.lower():
            return self._options.bare_links and label.lower().startswith(_SCHEMES)
        return self._options.bare

    def _citation(self, match: Match, rendered: RenderedText) -> BareMention | None:
        """Return the citation if a match is one: ``@doi:`` and a name, and not in a word."""
        text, at = rendered.text, match.start - 1
        if text[at : at + 7].lower() != "@doi:10" or at < 0 or is_in_word(text, at):
            return None
        if rendered.is_broken(at, at + 5):
            return None
        mention = _mention_from(rendered, at, match)
        return mention and mention._replace(cites=True)

    def _report_invalid(self, text: str, matches: list[Match]) -> None:
        """Report what has a label and a prefix, but is not a DOI."""
        last = 0
        for start, end in [*((match.start, match.end) for match in matches), (len(text), 0)]:
            for labelled in _LABELLED.finditer(text, last, start):
                written = labelled[0].rstrip(_CLOSING)
                try:
                    DOI.parse(written.replace("\uff1a", ":", 1))
                except DOISyntaxError as error:
                    self._report.bad(written, error)
            last = end


def _mention_from(rendered: RenderedText, start: int, match: Match) -> BareMention | None:
    """Return the mention from a place in the rendered text on; None if it begins or ends in markup."""
    first, end = rendered.data_position(start), rendered.data_position(match.end)
    if first is None or end is None:
        return None
    return BareMention(first, end, rendered.text[start : match.end], match.doi)


def _in_word(text: str, match: Match) -> bool:
    """Return whether a match is inside a longer word, a path or a URL."""
    before = text[max(0, match.start - 1) : match.start]
    if not before or before.isspace() or before == BOUNDARY:
        return False
    joining = _BEFORE_LABEL if match.label else _BEFORE_NAME
    # find() has checked other letters: in some scripts they precede a name without a space.
    if (before.isascii() and before.isalnum()) or before in joining:
        return True
    return "://" in text[max(0, match.start - _MAX_URL) : match.start].rsplit(maxsplit=1)[-1]
