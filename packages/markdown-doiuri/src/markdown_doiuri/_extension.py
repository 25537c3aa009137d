"""The extension, and the places of its processors among Markdown's own."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from doiuri.plugins.options import hint
from markdown.extensions import Extension

from markdown_doiuri._inline import AutolinkProcessor, CitationPattern, MentionPattern
from markdown_doiuri._links import Links, LooksTreeprocessor
from markdown_doiuri._notes import NotesTreeprocessor
from markdown_doiuri._options import MarkdownOptions, default_config
from markdown_doiuri._references import (
    HeadingTreeprocessor,
    PlaceProcessor,
    ReferencesTreeprocessor,
    Writer,
)
from markdown_doiuri._report import Problems
from markdown_doiuri._treeprocessor import LinkTreeprocessor
from markdown_doiuri._verification import unchecked_dois, verifier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doiuri import DOI
    from doiuri.citations import EntryCache
    from doiuri.plugins.survey import Answer, Need
    from markdown import Markdown

    from markdown_doiuri._references import Citations, Key
    from markdown_doiuri._report import Scope
    from markdown_doiuri._verification import LongerNames

_logger = logging.getLogger("doiuri")


class DOIExtension(Extension):
    """Python-Markdown's extension ``doiuri``: links DOIs, verifies them, and marks those that do not exist.

    :param options: those of the manual's page "Options"; ``getConfigInfo()`` returns them with descriptions.
    :raises ValueError: if an option is invalid; the message begins with its name.
    :raises KeyError: if an option is unknown; the message names the option that was probably meant.
    """

    def __init__(self, **options: object) -> None:
        self.config = default_config()
        """The default and description of each option."""
        super().__init__(**options)
        self.options = MarkdownOptions.read(self.getConfigs())
        """The options in use, checked."""
        self.entries: EntryCache | None = None
        """The texts of entries that are kept."""
        self.scope: Scope | None = None
        """What all conversions share, on a site."""

    def setConfig(self, key: str, value: object) -> None:  # noqa: N802
        """Set an option unchanged; Markdown's method makes a bool of it if its default is one or None."""
        if key not in self.config:
            raise KeyError(f"unknown option {key!r}{hint(key, self.config)}")
        self.config[key][0] = value

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Register the processors of this extension."""
        if self.options.shared.resolve:
            verifier(self.options.shared)  # raises ValueError for a file that is not a lock file
        options = self.options
        report = Problems(options.warn, options.file, self.scope)
        links = Links(options)

        # After links (160), which match [x](<doi:…>); before autolink (120) and raw HTML (90).
        md.inlinePatterns.register(AutolinkProcessor(md, links, report), "doiuri-autolink", 125)
        if options.citations:
            # Before raw HTML (90), for names with angle brackets.
            citations = CitationPattern(md, options, links, report)
            md.inlinePatterns.register(citations, "doiuri-citation", 126)
        if options.citations or options.mentions:
            # After raw HTML (90), before magiclink (85) and emphasis (60).
            mentions = MentionPattern(md, options, links, report)
            md.inlinePatterns.register(mentions, "doiuri-mention", 86)

        # After inline (20), before attr_list (8), which may add attributes to the links.
        processor = LinkTreeprocessor(
            md,
            options,
            links,
            report,
            self._look_up,
            self._nocite_of_all,
            partial(self._metadata_nocite, md),
        )
        md.treeprocessors.register(processor, "doiuri-links", 19)
        # After attr_list (8), abbr (7) and smarty (6), which change text; before citations are written (5.5).
        headings = HeadingTreeprocessor(md, processor.citations, options.shared.display)
        md.treeprocessors.register(headings, "doiuri-headings", 5.6)
        if options.citations:
            # Before paragraphs (10), after all other blocks.
            place = PlaceProcessor(md.parser, report)
            md.parser.blockprocessors.register(place, "doiuri-place", 12)
            # After links; before footnote-duplicate (15), which reads notes, and smarty (6), which hides quotes.
            notes = NotesTreeprocessor(md, options, processor.citations, report, self._inform)
            md.treeprocessors.register(notes, "doiuri-notes", 18)
            # After the same as headings; before toc (5), which reads the text.
            processor.citations.entries = self.entries
            references = ReferencesTreeprocessor(
                md, processor.citations, self._writer, options, report
            )
            md.treeprocessors.register(references, "doiuri-references", 5.5)
        # After toc (5), which reads the headings.
        md.treeprocessors.register(LooksTreeprocessor(md, links, options), "doiuri-looks", 4)
        report.follow(md)

    def _look_up(self, needs: Mapping[DOI, Need], longer_names: LongerNames) -> dict[DOI, Answer]:
        """Return what is known about the DOIs of a document; log how many could not be checked."""
        answers = verifier(self.options.shared).look_up(needs, self.options.shared, longer_names)
        # The author made no mistake, so this is not passed to ``warn``, and no build fails.
        unchecked = unchecked_dois(needs, answers)
        if unchecked:
            _logger.info("%s", unchecked)
        return answers

    @property
    def _nocite_of_all(self) -> tuple[Key, ...]:
        """The works that each list has, though nothing cites them."""
        return self.options.nocite

    def _metadata_nocite(self, md: Markdown) -> str:
        """Return what the metadata of a document list, as the extension ``meta`` has read them."""
        lines: list[str] = getattr(md, "Meta", {}).get("nocite", [])
        return "\n".join(lines)

    def _inform(self, message: str) -> None:
        """Log what is no problem."""
        _logger.info("%s", message)

    def _writer(self, citations: Citations, used: set[str]) -> Writer | None:
        """Return what writes the citations and the list of a document, or None if it has none."""
        return Writer(self.options, citations, used) if citations.listed else None


def makeExtension(**options: object) -> DOIExtension:  # noqa: N802
    """Return the extension; Python-Markdown calls this for the name ``markdown_doiuri``."""
    return DOIExtension(**options)
