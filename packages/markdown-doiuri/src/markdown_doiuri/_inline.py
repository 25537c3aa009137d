"""The inline patterns: make links of ``<doi:…>``, of citations and of mentions in running text."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from xml.etree.ElementTree import Element

from doiuri import DOI, DOISyntaxError
from doiuri.citations import CitationItem
from markdown.inlinepatterns import InlineProcessor, Pattern

from markdown_doiuri._mentions import BareMention, CitationReader, InlineCitation, MentionFinder
from markdown_doiuri._stash import RAW_HTML, Stash, literal

if TYPE_CHECKING:
    from typing import Self

    from markdown import Markdown

    from markdown_doiuri._links import Links
    from markdown_doiuri._options import MarkdownOptions
    from markdown_doiuri._report import Problems

    Result: TypeAlias = tuple[Element | str | None, int | None, int | None]

# Angle brackets in pairs belong to the name (SICI); without pairs the first ">" ends it.
# A match never extends past the start of another autolink: time is linear if none is closed.
_AUTOLINK = (
    r"([dD][oO][iI]:(?:"
    r"[^<>]*+(?:<[^<>]*+>[^<>]*+)*(?=>)"  # in pairs
    r"|[^<>]*+(?:<(?![dD][oO][iI]:)[^<>]*+)*"
    r"))>"
)


class AutolinkProcessor(InlineProcessor):
    """Links ``<doi:…>``, which plain Markdown takes for a raw tag, so that browsers do not show it."""

    def __init__(self, md: Markdown, links: Links, report: Problems) -> None:
        # Raw HTML is matched too, and left alone: a "<doi:…>" inside an attribute is not a link
        super().__init__(f"(?:<{_AUTOLINK}|{RAW_HTML})", md)
        self._stash = Stash(md)
        self._links = links
        self._report = report

    def handleMatch(self, m: re.Match[str], data: str) -> Result:  # type: ignore[override]  # noqa: N802, ARG002
        """Return the link, or the text if it is not a DOI or already in a link."""
        if not m[1]:
            return None, None, None
        start, end = m.span()
        source = self._stash.written(m[1])
        text = source.text
        if not source.is_whole:
            self._report.add_bad_text(text, DOISyntaxError(text, len(text), "other markup inside"))
            return literal(f"<{text}"), start, m.start(1) + source.length

        try:
            doi = DOI.parse(text)
        except DOISyntaxError as error:
            self._report.add_bad_text(text, error, link=True)
            return literal(f"<{text}>"), start, end

        if self._stash.in_link():
            return literal(text), start, end
        return self._links.make(doi, text), start, end


class _AllAtOncePattern(Pattern, ABC):
    """A pattern that replaces all its matches in a text together.

    Markdown copies the text after each match of a pattern, which takes quadratic time in a long line. It
    asks an old-style ``Pattern`` for the texts before and after a match, and this one answers for the last
    match, with all others replaced.
    """

    ANCESTOR_EXCLUDES = ("a",)

    def __init__(self, md: Markdown) -> None:
        super().__init__("", md)
        self._stash = Stash(md)
        self._rest: str | None = None  # of the text just searched, which Markdown passes again

    def getCompiledRegExp(self) -> Self:  # type: ignore[override]  # noqa: N802
        """Return what searches a text: this."""
        return self

    @abstractmethod
    def links(self, text: str) -> list[PlacedLink]:
        """Return the links in ``text``, in order, without overlaps."""

    def match(self, text: str) -> _LastMatch | None:
        """Return the last match in ``text``; the others are replaced by their links."""
        is_rest = self._rest is not None and text.endswith(self._rest)
        self._rest = None
        if is_rest:  # it has no match: the one before it was the last
            return None
        links = self.links(text)
        if not links:
            return None

        *earlier, last = links
        parts: list[str] = []
        end = 0
        for link in earlier:
            parts.append(text[end : link.start])
            parts.append(self._stash.add(link.element))
            end = link.end
        parts.append(text[end : last.start])
        self._rest = text[last.end :]
        return _LastMatch(last, "".join(parts), self._rest)

    def handleMatch(self, m: _LastMatch) -> Element:  # type: ignore[override]  # noqa: N802
        """Return the link for the match."""
        return m.link.element


class MentionPattern(_AllAtOncePattern):
    """Links ``doi:…`` in running text, names without a label and ``@doi:…``, as the options say."""

    def __init__(
        self, md: Markdown, options: MarkdownOptions, links: Links, report: Problems
    ) -> None:
        super().__init__(md)
        self._links = links
        self._mentions = MentionFinder(self._stash, options, report)
        self._reader = CitationReader(self._stash, options.citing, report)

    def links(self, text: str) -> list[PlacedLink]:
        """Return the links for the mentions in ``text``."""
        return [self._link(mention, text) for mention in self._mentions.find(text)]

    def _link(self, mention: BareMention, text: str) -> PlacedLink:
        """Return the link of a mention, or a citation in a sentence if it cites."""
        if not mention.cites:
            link = self._links.make(mention.doi, mention.text, mention.longer)
            return PlacedLink(mention.start, mention.end, link)

        cite, end = self._reader.with_locator(text, mention.end, CitationItem(mention.doi))
        citation = InlineCitation((cite,), form="t")
        link = self._links.cite(citation, mention.text)
        return PlacedLink(mention.start, end, link)


class CitationPattern(_AllAtOncePattern):
    """Reads ``[see @doi:…, p. 12; @doi:…]``, ``@{doi:…}`` and the ids of works."""

    def __init__(
        self, md: Markdown, options: MarkdownOptions, links: Links, report: Problems
    ) -> None:
        super().__init__(md)
        self._links = links
        self._reader = CitationReader(self._stash, options.citing, report)

    def links(self, text: str) -> list[PlacedLink]:
        """Return the citations in ``text``."""
        if "@" not in text:
            return []
        return [
            PlacedLink(written.start, written.end, self._links.cite(written.citation, written.text))
            for written in self._reader.read(text)
        ]


class PlacedLink(NamedTuple):
    """A link, and where the text begins and ends that it replaces."""

    start: int
    end: int
    element: Element


class _LastMatch:
    """What Markdown uses of a match: the texts before and after it, as groups."""

    def __init__(self, link: PlacedLink, before: str, after: str) -> None:
        self.link = link
        self._groups = (before, after)

    def groups(self) -> tuple[str, str]:
        return self._groups

    def group(self, number: int) -> str:
        return self._groups[number - 1]

    def start(self, _number: int) -> int:
        return self.link.start

    def end(self, _number: int) -> int:
        return self.link.end
