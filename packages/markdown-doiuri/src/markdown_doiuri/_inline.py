"""The inline patterns: ``<doi:…>`` and mentions in running text become links."""

import re
from xml.etree.ElementTree import Element

from doiuri import DOI, DOISyntaxError
from markdown import Markdown
from markdown.inlinepatterns import InlineProcessor

from markdown_doiuri._links import LinkMaker
from markdown_doiuri._mentions import Mention, Mentions
from markdown_doiuri._options import Options
from markdown_doiuri._report import Report
from markdown_doiuri._stash import Stash, literal

Result = tuple[Element | str | None, int | None, int | None]

# Angle brackets in pairs belong to the name (SICI); without pairs the first ">" ends it.
# None reaches over the beginning of another: so the time is linear where none is closed.
_AUTOLINK = r"([dD][oO][iI]:(?:[^<>]*+(?:<[^<>]*+>[^<>]*+)*+(?=>)|[^<>]*+(?:<(?![dD][oO][iI]:)[^<>]*+)*+))>"
# Raw tags and comments are matched too, and left alone: a "<doi:…>" inside an attribute is no link.
_TAG = r"/?[a-zA-Z][^<>\"']*+(?:\"[^\"]*+\"[^<>\"']*+|'[^']*+'[^<>\"']*+)*+>"
_COMMENT = r"!--(?:(?!<!--|-->).)*+-->"
_NAME = r"10(?=[.\x02])"  # nearly no prose stops here; the label before it is found afterwards


class AutolinkProcessor(InlineProcessor):
    """``<doi:…>``: without this the name would vanish from the page as a raw tag."""

    def __init__(self, md: Markdown, maker: LinkMaker, report: Report) -> None:
        super().__init__(f"<(?:{_AUTOLINK}|{_TAG}|{_COMMENT})", md)
        self._stash = Stash(md)
        self._make = maker.make
        self._report = report

    def handleMatch(self, m: re.Match[str], data: str) -> Result:  # type: ignore[override]  # noqa: N802, ARG002
        """Return the link; where there is no DOI, or a link around it, the text."""
        if not m[1]:
            return None, None, None
        start, end = m.span()
        text, size = self._stash.written(m[1])
        if size < len(m[1]):
            self._report.bad(text, DOISyntaxError(text, len(text), "there is other markup in it"))
            return literal(f"<{text}"), start, m.start(1) + size
        try:
            doi = DOI.parse(text)
        except DOISyntaxError as error:
            self._report.bad(text, error)
            return literal(f"<{text}>"), start, end
        return literal(text) if self._stash.in_link() else self._make(doi, text), start, end


class MentionProcessor(InlineProcessor):
    """``doi:…`` in running text, and unlabelled names if the options say so."""

    ANCESTOR_EXCLUDES = ("a",)

    def __init__(self, md: Markdown, options: Options, maker: LinkMaker, report: Report) -> None:
        super().__init__(_NAME, md)
        self._make = maker.make
        self._stash = Stash(md)
        self._mentions = Mentions(self._stash, options, report)
        self._nodes: object = None
        self._text = ""
        self._size = 0  # of the text when it was searched; since then only what stands before has changed
        self._found: dict[int, Mention] = {}

    def handleMatch(self, m: re.Match[str], data: str) -> Result:  # type: ignore[override]  # noqa: N802
        """Return the link of the mention whose name begins here."""
        if data != self._text or self._nodes is not self._stash.nodes:
            if plain := self._mentions.plain(data, m.start()):
                return self._make(plain.doi, plain.text), plain.start, plain.end
            self._text, self._nodes, self._size = data, self._stash.nodes, len(data)
            self._found = {mention.name: mention for mention in self._mentions.find(data)}
        shift = len(data) - self._size
        mention = self._found.get(m.start() - shift)
        if mention is None:
            return None, None, None
        start, end = mention.start + shift, mention.end + shift
        # Markdown will be back with this text, and the other mentions in it need not be found again
        self._text = data[:start] + self._stash.next_marker() + data[end:]
        return self._make(mention.doi, mention.text), start, end
