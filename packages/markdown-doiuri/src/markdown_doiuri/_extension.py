"""The extension: its options, and where its parts stand among Markdown's own."""

import logging
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension

from markdown_doiuri import _options
from markdown_doiuri._inline import AutolinkProcessor, MentionProcessor
from markdown_doiuri._links import LinkMaker
from markdown_doiuri._report import Report, SourcePreprocessor
from markdown_doiuri._treeprocessor import LinkTreeprocessor


class DOIExtension(Extension):
    """Python-Markdown's extension ``doiuri``.

    Options are those of all the family's plugins: ``resolver``, ``resolve``, ``offline``, ``timeout`` and
    ``budget`` (seconds), ``lock``, ``cache``, ``mailto``, ``text``, ``link``; and ``bare``, ``bare_names``,
    ``css_class``, ``tidy_links``, ``warn``. Raises ValueError for a wrong one.
    """

    def __init__(self, **options: Any) -> None:
        # The default's type matters: Markdown turns values into bool where it is a bool or None.
        self.config = {
            "resolver": ["", "Base URL of the DOI resolver (DOIURI_RESOLVER, https://doi.org)"],
            "resolve": ["records", 'How to verify DOIs: "records", "existence" or False'],
            "offline": ["", "Ask nobody, use what the cache and the lock file have (DOIURI_OFFLINE)"],
            "timeout": [10.0, "Seconds for one request"],
            "budget": [2.0, "Seconds for all requests of one conversion"],
            "lock": ["", "Path of a lock file"],
            "cache": ["", "Path or URL of the store (DOIURI_CACHE)"],
            "mailto": ["", "Mail address to tell the resolver (DOIURI_MAILTO)"],
            "text": ["name", 'Text of links without one: "name", "link" or a template'],
            "link": ["https://doi.org", "Base of the links"],
            "bare": [True, "Link doi:10.1000/182 in running text"],
            "bare_names": [False, "Link 10.1000/182 in running text, without a label"],
            "css_class": ["doi", "Class of the links"],
            "tidy_links": [False, "Bring links to dx.doi.org and http up to date"],
            "warn": [logging.getLogger("doiuri").warning, "Called with each Problem, a str"],
        }
        super().__init__(**options)
        self.options = _options.read(self.getConfigs())

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Register the parts; the priorities say after what and before what each must run."""
        report = Report(self.options.warn)
        maker = LinkMaker(self.options)
        # before every other preprocessor: line numbers are those of the text as it came
        md.preprocessors.register(SourcePreprocessor(report), "doiuri-source", 1000)
        # after links (160), so that [x](<doi:…>) stays one; before autolink (120) and raw HTML (90)
        md.inlinePatterns.register(AutolinkProcessor(md, maker, report), "doiuri-autolink", 125)
        if self.options.bare or self.options.bare_names:
            # after raw HTML (90), before magiclink (85) and emphasis (60)
            mentions = MentionProcessor(md, self.options, maker, report)
            md.inlinePatterns.register(mentions, "doiuri-mention", 86)
        # after inline (20), before attr_list (8), which may add to our links
        md.treeprocessors.register(LinkTreeprocessor(md, self.options, maker, report), "doiuri-links", 19)


def makeExtension(**options: Any) -> DOIExtension:  # noqa: N802
    """Return the extension; Python-Markdown calls this for the name ``markdown_doiuri``."""
    return DOIExtension(**options)
