"""The inline patterns: make links of ``<doi:…>`` and of mentions in running text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from doiuri import DOI, DOISyntaxError
from markdown.inlinepatterns import InlineProcessor

from markdown_doiuri._mentions import Mention, Mentions
from markdown_doiuri._stash import Stash, literal

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from markdown import Markdown

    from markdown_doiuri._links import Links
    from markdown_doiuri._options import Options
    from markdown_doiuri._report import Report

    Result: TypeAlias = tuple[Element | str | None, int | None, int | None]

# Angle brackets in pairs belong to the name (SICI); without pairs the first ">" ends it.
# A match never extends past the start of another autolink: time is linear if none is closed.
_AUTOLINK = r"([dD][oO][iI]:(?:[^<>]*+(?:<[^<>]*+>[^<>]*+)*+(?=>)|[^<>]*+(?:<(?![dD][oO][iI]:)[^<>]*+)*+))>"
# Raw tags and comments are matched too, and left alone: a "<doi:…>" inside an attribute is not a link.
_TAG = r"/?[a-zA-Z][^<>\"']*+(?:\"[^\"]*+\"[^<>\"']*+|'[^']*+'[^<>\"']*+)*+>"
_COMMENT = r"!--(?:(?!<!--|-->).)*+-->"
_NAME = r"10(?=[.\x02])"  # rare in prose, which keeps this fast; the label before it is found afterwards


class AutolinkProcessor(InlineProcessor):
    """Links ``<doi:…>``, which plain Markdown takes for a raw tag, so that browsers do not show it."""

    def __init__(self, md: Markdown, links: Links, report: Report) -> None:
        super().__init__(f"<(?:{_AUTOLINK}|{_TAG}|{_COMMENT})", md)
        self._stash = Stash(md)
        self._links = links
        self._report = report

    def handleMatch(self, m: re.Match[str], data: str) -> Result:  # type: ignore[override]  # noqa: N802, ARG002
        """Return the link, or the text if it is not a DOI or already in a link."""
        if not m[1]:
            return None, None, None
        start, end = m.span()
        text, length = self._stash.source(m[1])
        if length < len(m[1]):
            self._report.bad(text, DOISyntaxError(text, len(text), "other markup inside"))
            return literal(f"<{text}"), start, m.start(1) + length
        try:
            doi = DOI.parse(text)
        except DOISyntaxError as error:
            self._report.bad(text, error)
            return literal(f"<{text}>"), start, end
        return literal(text) if self._stash.in_link() else self._links.make(doi, text), start, end


class MentionProcessor(InlineProcessor):
    """Links ``doi:…`` in running text, and names without a label, as the options say.

    Markdown calls ``handleMatch`` once for each match, after a link with the changed text. So a text is
    searched for mentions once, and ``_text`` is what the next call is expected to be given.
    """

    ANCESTOR_EXCLUDES = ("a",)

    def __init__(self, md: Markdown, options: Options, links: Links, report: Report) -> None:
        super().__init__(_NAME, md)
        self._links = links
        self._stash = Stash(md)
        self._mentions = Mentions(self._stash, options, report)
        self._nodes: object = None  # the stash of the document that the text belongs to
        self._text = ""
        self._length = 0  # of the text when it was searched; since then it has changed before this match only
        self._by_name: dict[int, Mention] = {}  # by the position of the name in the searched text

    def handleMatch(self, m: re.Match[str], data: str) -> Result:  # type: ignore[override]  # noqa: N802
        """Return the link for the mention whose name begins here."""
        if data != self._text or self._nodes is not self._stash.nodes:
            if plain := self._mentions.plain(data, m.start()):
                return self._links.make(plain.doi, plain.text), plain.start, plain.end
            self._text, self._nodes, self._length = data, self._stash.nodes, len(data)
            self._by_name = {mention.name: mention for mention in self._mentions.find(data)}
        shift = len(data) - self._length
        mention = self._by_name.get(m.start() - shift)
        if mention is None:
            return None, None, None
        start, end = mention.start + shift, mention.end + shift
        self._text = data[:start] + self._stash.next_marker() + data[end:]
        return self._links.make(mention.doi, mention.text), start, end
