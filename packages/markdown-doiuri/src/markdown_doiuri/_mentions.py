"""DOIs in inline text: citations in brackets and mentions in running text, where they begin and end."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI, DOISyntaxError, find
from doiuri.citations import parse_citation, parse_locator
from doiuri.plugins import untrimmed

from markdown_doiuri._stash import RAW_HTML, RenderedText, is_caseless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from doiuri import Match
    from doiuri.citations import CitationItem, Citing, Form

    from markdown_doiuri._options import MarkdownOptions
    from markdown_doiuri._report import Problems
    from markdown_doiuri._stash import Stash

# Brackets in a name are in pairs, to a depth of two. Atomic groups: the time is linear if one is left open.
_UNBRACED = r"doi:(?>(?:[^\s\[\]]++|\[(?>(?:[^\s\[\]]++|\[[^\s\[\]]*+\])*)\])+)"
_BRACED = r"\{(?>(?:[^\s{}]++|\{[^\s{}]*+\})+)\}"
ID = r"\w(?>(?:\w|[:.#$%&+?<>~/-](?=\w))*)"
_CITATION = re.compile(
    # in brackets: [see @kahn, p. 12; @doi:10.1000/182]
    rf"\[((?>(?:@(?:{_BRACED}|{_UNBRACED})"
    r"|[^\[\]])+))\]"
    # in a sentence: @kahn, @{doi:10.1000/182}
    rf"|@(?P<name>{_BRACED}|{ID})",
    re.IGNORECASE,
)
_RAW_HTML = re.compile(RAW_HTML)
_AT = re.compile("@")
_AT_DOI = re.compile(r"@\{?doi:", re.IGNORECASE)
_SEPARATOR = re.compile(r";(?=-?@)")
_LOCATOR = re.compile(r"[ \n]\[([^\[\]@]+)\]")
_MARKUP = re.compile(r"[*_<]")
# Before the "@" of a mail address, or of a path or link
_WORD_BEFORE = "._%+-@/\\="
# These may begin emphasis, as in _@kahn_, or end the name of a mail address
_AMBIGUOUS = "_=+"
_MAX_DELIMITER = 4


class InlineCitation(NamedTuple):
    """What an author cites in one place."""

    cites: tuple[CitationItem, ...]
    form: Form
    """"t" if it is part of the sentence: "Kahn (2001)" and not "(Kahn, 2001)"."""

    @property
    def dois(self) -> Iterator[DOI]:
        """The DOIs that are cited."""
        return (cite.key for cite in self.cites if isinstance(cite.key, DOI))


class WrittenCitation(NamedTuple):
    """A citation, and where it begins and ends in the data."""

    start: int
    end: int
    citation: InlineCitation
    text: str
    """The text as written, without a locator in brackets."""


class CitationReader:
    """Reads the citations in inline text."""

    def __init__(self, stash: Stash, citing: Citing, report: Problems) -> None:
        self._stash = stash
        self._citing = citing
        self._report = report

    def read(self, data: str) -> Iterator[WrittenCitation]:
        """Yield the citations in brackets, in braces and by id; those in raw HTML are none."""
        is_raw = raw_html_in(data)
        for match in _CITATION.finditer(data):
            if is_raw(data.find("@", *match.span())):
                continue
            in_brackets = match["name"] is None
            written = self._in_brackets(match) if in_brackets else self._in_sentence(match)
            if written is not None:
                yield written

    def _in_brackets(self, match: re.Match[str]) -> WrittenCitation | None:
        """Return the citation, such as ``[see @kahn, p. 12]``, or None if it is other text in brackets."""
        cites = self._cites(match[1])
        if not cites:
            return None
        text = self._stash.written(match[0]).text
        return WrittenCitation(match.start(), match.end(), InlineCitation(cites, "p"), text)

    def _in_sentence(self, match: re.Match[str]) -> WrittenCitation | None:
        """Return the citation, such as ``@kahn [p. 12]``.

        It is None for a mail address, for a name that is not a work's, and for braces that name no work.
        """
        data = match.string
        if is_in_word(data, match.start()) or not self._is_work(match["name"]):
            return None
        cites = self._cites(match[0])
        if not cites:
            return None
        cite, end = self.with_locator(data, match.end(), cites[0])
        text = self._stash.written(match[0]).text
        return WrittenCitation(match.start(), end, InlineCitation((cite,), "t"), text)

    def _is_work(self, name: str) -> bool:
        """Return whether the name after an "@" is in braces, or an id of the author's files of works."""
        ids = self._citing.library.ids
        return name.startswith("{") or (ids is not None and name in ids)

    def with_locator(self, data: str, end: int, cite: CitationItem) -> tuple[CitationItem, int]:
        """Return a citation in a sentence with the locator after it, as in ``@kahn [p. 3]``, and where that ends.

        If no locator follows, these are the citation and the end that were given.
        """
        brackets = _LOCATOR.match(data, end)
        if brackets is None:
            return cite, end
        source = self._stash.written(brackets[1])
        where = parse_locator(source.text, self._citing.locale)  # label, locator and suffix
        if not where.label or not source.is_whole or _MARKUP.search(where.suffix):
            return cite, end
        return replace(cite, **where._asdict()), brackets.end()

    def _cites(self, written: str) -> tuple[CitationItem, ...]:
        """Return what a citation such as ``see @kahn, p. 3; @doi:10.1000/182`` cites, or nothing if it is none.

        An unknown id is reported, if there are files of works that could have it.
        """
        source = self._stash.written(written)
        if not source.is_whole or "@" not in source.text:
            return ()
        words = _SEPARATOR.sub("; ", source.text).split()  # "@kahn;@li" is "@kahn; @li"
        text = " ".join(_without_stop(word) for word in words)
        ids = self._citing.library.ids
        try:
            cites = parse_citation(text, self._citing.locale, ids)
        except DOISyntaxError:
            return ()
        except ValueError as error:
            if ids is not None:
                self._report.add_bad_text(written, DOISyntaxError(written, 0, str(error)))
            return ()

        beginning = _AT_DOI if ids is None else _AT
        for cite in cites:
            if not beginning.match(cite.typed) or _MARKUP.search(cite.prefix + cite.suffix):
                return ()
        return cites


def raw_html_in(data: str) -> Callable[[int], bool]:
    """Return a function that tells whether a position is in raw HTML."""
    if "<" not in data:
        return lambda _: False
    spans = [html.span() for html in _RAW_HTML.finditer(data)]
    starts = [start for start, _ in spans]

    def is_raw(position: int) -> bool:
        before = bisect_right(starts, position)
        return before > 0 and position < spans[before - 1][1]

    return is_raw


def _without_stop(word: str) -> str:
    """Return a word of a citation; if it is a name, without the stop at its end: ``@kahn.,`` is ``@kahn,``."""
    if "@" not in word[:2]:
        return word
    name = word.rstrip(",;")
    separators = word[len(name) :]
    return name.rstrip(".:!?") + separators


def is_in_word(data: str, at: int) -> bool:
    """Return whether the "@" at this position follows a word, as in a mail address."""
    before = data[max(0, at - _MAX_DELIMITER) : at]
    character = before.rstrip(_AMBIGUOUS)[-1:]
    if character.isalnum():
        # Scripts whose letters have no case may have no spaces.
        return not is_caseless(character)
    return character != "" and character in _WORD_BEFORE


_BEGINNING = re.compile(r"10(?=[.\x02])")  # rare in prose; the label before it is found afterwards
_CITED = "@doi:10"


class BareMention(NamedTuple):
    """A mention from ``start`` to ``end`` in the data; readers see ``text``."""

    start: int
    end: int
    text: str
    doi: DOI
    cites: bool = False
    """Whether an "@" before it makes it a citation."""
    longer: tuple[DOI, ...] = ()
    """The names that it may mean if the DOI does not exist."""


class MentionFinder:
    """Finds the mentions in a text, and reports labelled ones that are not DOIs."""

    def __init__(self, stash: Stash, options: MarkdownOptions, report: Problems) -> None:
        self._stash = stash
        self._rule = options.mentions
        self._citations = options.citations
        self._report = report

    def find(self, data: str) -> list[BareMention]:
        """Return the mentions in ``data``, in order."""
        if not self._may_have_mentions(data):
            return []

        rendered = RenderedText(data, self._stash)
        matches = list(find(rendered.text))
        for invalid in self._rule.invalid(rendered.text, matches):
            self._report.add_bad_text(invalid.text, invalid.error)
        mentions: list[BareMention] = []
        linked_end = 0  # in the rendered text, of the last mention
        for match in matches:
            mention = self._mention(match, rendered, linked_end)
            if mention is not None:
                mentions.append(mention)
                linked_end = match.end
        return mentions

    def _may_have_mentions(self, data: str) -> bool:
        """Return whether the options ask for mentions, and ``data`` has what they contain."""
        if not _BEGINNING.search(data):
            return False
        if self._rule.names:
            return True
        lower = data.lower()
        has_label = "doi" in lower or "hdl" in lower
        return has_label and (bool(self._rule) or "@" in data)

    def _mention(self, match: Match, rendered: RenderedText, linked_end: int) -> BareMention | None:
        """Return the mention for a match in the rendered text, or None if it is not to be linked.

        :param linked_end: where the mention before it ends, if that is linked.
        """
        citation = self._citation(match, rendered)
        if citation is not None:
            return citation
        if not self._rule.includes(rendered.text, match, linked_end):
            return None
        name_start = match.start + len(match.label)
        label_is_apart = rendered.is_broken(match.start, name_start)  # **DOI:** 10.1000/182
        start = name_start if label_is_apart else match.start
        return _mention_from(rendered, start, match)

    def _citation(self, match: Match, rendered: RenderedText) -> BareMention | None:
        """Return the citation if a match is one, as in ``by @doi:10.1000/182``, and not ``me@doi:10.1000/182``."""
        if not self._citations or match.start == 0:
            return None
        at = match.start - 1
        beginning = rendered.text[at : at + len(_CITED)]
        if beginning.lower() != _CITED or is_in_word(rendered.text, at):
            return None
        if rendered.is_broken(at, at + len("@doi:")):
            return None
        mention = _mention_from(rendered, at, match)
        return None if mention is None else mention._replace(cites=True)


def _mention_from(rendered: RenderedText, start: int, match: Match) -> BareMention | None:
    """Return the mention from a place in the rendered text on; None if it begins or ends in markup."""
    text = rendered.text[start : match.end]
    data_start = rendered.data_position(start)
    data_end = rendered.data_position(match.end)
    if data_start is None or data_end is None:
        return None
    longer = untrimmed(match.doi, rendered.text, start, match.end)
    return BareMention(data_start, data_end, text, match.doi, longer=longer)
