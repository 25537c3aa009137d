"""DOIs in inline text: citations in brackets and mentions in running text, where they begin and end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI, DOISyntaxError, find

from markdown_doiuri._stash import BOUNDARY, RenderedText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri import Match

    from markdown_doiuri._options import Options
    from markdown_doiuri._report import Report
    from markdown_doiuri._stash import Stash

# Brackets in a name are in pairs, to a depth of two. Atomic groups: the time is linear if one is left open.
_UNBRACED = r"doi:(?>(?:[^\s\[\]]++|\[(?>(?:[^\s\[\]]++|\[[^\s\[\]]*+\])*)\])+)"
_BRACED = r"\{doi:(?>(?:[^\s{}]++|\{[^\s{}]*+\})+)\}"
_KEY = rf"-?+@(?:{_BRACED}(?![^\s;\]])|{_UNBRACED})"
_CITATION = re.compile(
    rf"\[({_KEY}(?>(?:(?<=;)[ \n]*+{_KEY}|;[ \n]*+{_KEY})*))\]|@({_BRACED})", re.IGNORECASE
)
_SEPARATOR = re.compile(r";[ \n]*(?=-?@\{?doi:)", re.IGNORECASE)
_PUNCTUATION = ".,;:!?"
# Before the "@" of a mail address, or of a path or link
_WORD_BEFORE = "._%+-@/\\="
_IN_ADDRESSES = "_=+"  # of emphasis and similar, and also part of mail addresses
_MAX_DELIMITER = 4


class Citation(NamedTuple):
    """What an author cites in one place."""

    dois: tuple[DOI, ...]
    textual: bool
    """Whether it is part of the sentence: "Kahn (2001)" and not "(Kahn, 2001)"."""
    without_author: frozenset[DOI] = frozenset()
    """Those of which only the year is shown: "(2001)"."""


def bracketed(data: str, stash: Stash) -> Iterator[tuple[int, int, Citation, str]]:
    """Yield the citations in brackets or braces in inline ``data``: start, end, and the text as written."""
    for match in _CITATION.finditer(data):
        start, end = match.span()
        if match[2]:
            if is_in_word(data, start):
                continue
            keys = [match[2]]
        else:
            keys = _SEPARATOR.split(match[1])
        dois = _dois([key.lstrip("-@") for key in keys], stash)
        if dois:
            written, _ = stash.source(match[0])
            without = frozenset(doi for key, doi in zip(keys, dois, strict=True) if key[0] == "-")
            yield start, end, Citation(dois, bool(match[2]), without), written


def is_in_word(data: str, at: int) -> bool:
    """Return whether the "@" at this position follows a word, as in a mail address."""
    # Delimiters of emphasis, but for those that end a word
    before = data[max(0, at - _MAX_DELIMITER) : at].rstrip(_IN_ADDRESSES)[-1:]
    # Letters without case are those of scripts that need no space before a citation.
    if before.isalnum():
        return before.isascii() or before.lower() != before.upper()
    return before != "" and before in _WORD_BEFORE


def _dois(keys: list[str], stash: Stash) -> tuple[DOI, ...]:
    """Return the DOIs of all ``keys``, or none if one of them is not a DOI."""
    dois = []
    for key in keys:
        written = key[1:-1] if key[0] == "{" else key.rstrip(_PUNCTUATION)
        text, length = stash.source(written)
        doi = _doi(text) if length == len(written) else None
        if doi is None:
            return ()
        dois.append(doi)
    return tuple(dois)


def _doi(text: str) -> DOI | None:
    """Return the DOI, or None; a raw "#" or "?", which ends a ``doi:`` URI, is part of the name here."""
    for written in (text, text[len("doi:") :]):
        try:
            return DOI.parse(written)
        except DOISyntaxError:
            continue
    return None


_LABEL = re.compile(r"(?:urn:|info:)?(?:doi|hdl)(?![.\w])", re.IGNORECASE)
_LABEL_BEFORE = re.compile(r"(?<![A-Za-z0-9À-ɏ_-])doi[:\uff1a][ ]?", re.IGNORECASE)
_URL = re.compile(r"https?://(?:dx\.|www\.)?doi\.org/", re.IGNORECASE)
_NAME = re.compile(rf"10\.[^\s{BOUNDARY}]*")
# Most mentions: a common label and name between spaces, without characters that mean something in Markdown.
_PLAIN = re.compile(
    r"(?:(?<=(?<![^ \n])doi:)|(?<=(?<![^ \n])DOI:)|(?<=(?<![^ \n])doi:[ ])|(?<=(?<![^ \n])DOI:[ ])"
    r"|(?<=(?<![^ \n])@doi:))"
    r"10\.[0-9]{4,9}+/(?>(?:[./-]*+[A-Za-z0-9]++){1,200})(?=[.,;:!?]{0,3}+(?:[ \n]|\Z))"
)
_BEGINNING = re.compile(r"10(?=[.\x02])")  # rare in prose; the label before it is found afterwards
_CLOSING = ".,;:!?)]}>\"'”’»"
_MAX_URL = 2_000  # characters searched backwards for the scheme of a URL


class Mention(NamedTuple):
    """A mention from ``start`` to ``end`` in the data, its name at ``name``; readers see ``text``."""

    start: int
    name: int
    end: int
    text: str
    doi: DOI
    cites: bool = False
    """Whether an "@" before it makes it a citation."""


class Mentions:
    """Finds the mentions in a text, and reports labelled ones that are not DOIs."""

    def __init__(self, stash: Stash, options: Options, report: Report) -> None:
        self._stash = stash
        self._with_label = options.bare
        self._without_label = options.bare_names
        self._links = options.bare_links
        self._citations = options.citations
        self._report = report

    def find(self, data: str) -> list[Mention]:
        """Return the mentions in ``data``, in order."""
        names = [name.start() for name in _BEGINNING.finditer(data)]
        if not names:
            return []
        plain = self.plain(data, names)
        if plain is not None:
            return plain
        if not self._without_label and not any(label in data.lower() for label in ("doi", "hdl")):
            return []
        if not self._with_label and not self._without_label and not self._links and "@" not in data:
            return []
        rendered = RenderedText(data, self._stash)
        matches = list(find(rendered.text))
        if self._with_label:
            self._report_invalid(rendered.text, matches)
        return [mention for match in matches if (mention := self._mention(match, rendered))]

    def plain(self, data: str, names: list[int]) -> list[Mention] | None:
        """Return the mentions whose names begin at ``names``, if all are too plain to need a search."""
        if not self._with_label or "$" in data or "{" in data:  # they may be in math, or in an attribute
            return None
        mentions: list[Mention] = []
        for name in names:
            if (match := _PLAIN.match(data, name)) is None:
                return None
            cites = data.startswith("@", name - 5) if name > 4 else False
            if cites and not self._citations:
                return None
            start, end = name - (5 if cites or data[name - 1] == " " else 4), match.end()
            mentions.append(Mention(start, name, end, data[start:end], DOI.parse(match[0]), cites))
        return mentions

    def _mention(self, match: Match, rendered: RenderedText) -> Mention | None:
        """Return the mention for a match in the rendered text, or None if it is not to be linked."""
        text, start = rendered.text, match.start
        name = text.find("10", start, match.end)
        labelled = _LABEL.match(match.text) is not None
        if not labelled and (label := _label_before(text, start)):
            start, labelled = start - label, True  # if a raw "#" follows, the match is without its label
        if self._citations and (citation := self._citation(match, rendered)):
            return citation
        if _URL.match(match.text):
            return self._url(match, rendered) if self._links else None
        if not (self._with_label if labelled else self._without_label and name == start):
            return None
        if _in_word(text, start, labelled=labelled):
            return None
        if rendered.is_broken(start, name):
            start = name  # **DOI:** 10.1000/182
        data_start = rendered.data_position(start)
        data_name = rendered.data_position(name)
        data_end = rendered.data_position(match.end)
        if data_start is None or data_name is None or data_end is None:
            return None
        return Mention(data_start, data_name, data_end, text[start : match.end], match.doi)

    def _citation(self, match: Match, rendered: RenderedText) -> Mention | None:
        """Return the citation if a match is one: ``@doi:`` and a name, and not in a word."""
        text, at = rendered.text, match.start - 1
        if match.text.startswith("10"):
            at -= len("doi:")  # if a raw "#" follows, the match is without its label
        if text[at : at + 7].lower() != "@doi:10" or at < 0 or is_in_word(text, at):
            return None
        start, end = rendered.data_position(at), rendered.data_position(match.end)
        if start is None or end is None or rendered.is_broken(at, at + 5):
            return None
        return Mention(start, start + 5, end, text[at : match.end], match.doi, cites=True)

    def _url(self, match: Match, rendered: RenderedText) -> Mention | None:
        """Return the mention for a bare link to the DOI proxy."""
        data_start, data_end = rendered.data_position(match.start), rendered.data_position(match.end)
        if data_start is None or data_end is None or _in_word(rendered.text, match.start, labelled=True):
            return None
        return Mention(data_start, data_start, data_end, match.text, match.doi)

    def _report_invalid(self, text: str, matches: list[Match]) -> None:
        """Report what has a label and a prefix, but is not a DOI."""
        last = 0
        for start, end in [*((match.start, match.end) for match in matches), (len(text), 0)]:
            for name in _NAME.finditer(text, last, start):
                label = _label_before(text, name.start())
                written = text[name.start() - label : name.end()].rstrip(_CLOSING)
                try:
                    DOI.parse(written.replace("\uff1a", ":", 1))
                except DOISyntaxError as error:
                    if label:
                        self._report.bad(written, error)
            last = end


def _label_before(text: str, start: int) -> int:
    """Return the length of a label "doi:" just before ``start``, or 0."""
    for length in (4, 5):
        if start >= length and _LABEL_BEFORE.fullmatch(text, start - length, start):
            return length
    return 0


def _in_word(text: str, start: int, *, labelled: bool) -> bool:
    """Return whether ``start`` is inside a longer word, a path or a URL."""
    before = text[start - 1 : start] if start else " "
    if before.isspace() or before == BOUNDARY:
        return False
    # find() has checked other letters: in some scripts they precede a name without a space.
    if (before.isascii() and before.isalnum()) or before in ("_-/" if labelled else "_-/.:@&=?#%+"):
        return True
    return "://" in text[max(0, start - _MAX_URL) : start].rsplit(maxsplit=1)[-1]
