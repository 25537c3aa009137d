"""Pelican's plugin: what registers the extension for its articles and pages, and adds the style sheet of cards."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Any

from doiuri.plugins.display import STYLE_SHEET

from markdown_doiuri._links import without_cards
from markdown_doiuri._references import without_references
from markdown_doiuri._report import Scope, conversions

if TYPE_CHECKING:
    from collections.abc import Mapping

_STYLE = f"assets/{STYLE_SHEET.name}"
_HEAD = re.compile(r"<head(?:\s[^>]*)?>", re.IGNORECASE)
_logger = logging.getLogger("doiuri")


def register() -> None:
    """Load the extension for all Markdown in Pelican, with the file's name in problems.

    Summaries stand on pages with other articles, so their citations are not links to an entry. Pages with cards
    get the style sheet; feeds have no cards. Pelican's own cache of contents is off, for it would show and tell
    what was known when a file last changed.

    Pelican calls this if ``PLUGINS`` has ``markdown_doiuri``. The options are those in
    ``MARKDOWN["extension_configs"]["doiuri"]``.
    """
    from pelican import signals
    from pelican.log import LimitLogger
    from pelican.readers import MarkdownReader, Readers

    reported: set[tuple[str, str]] = set()  # the problems of this run

    class DOIMarkdownReader(MarkdownReader):  # type: ignore[misc]  # Pelican has no types
        def __init__(self, settings: dict[str, Any]) -> None:
            configs = settings["MARKDOWN"].setdefault("extension_configs", {})
            self._options: dict[str, object] = configs.setdefault("doiuri", {})
            super().__init__(settings)

        def read(self, source_path: str) -> Any:
            self._options["file"] = os.path.relpath(source_path, self.settings["PATH"])
            with conversions(Scope(reported=reported)):  # first the article, then its summary
                return super().read(source_path)

    def begin(pelican: Any) -> None:
        reported.clear()
        pelican.settings |= {"CACHE_CONTENT": False, "LOAD_CONTENT_CACHE": False}

    def add(readers: Readers) -> None:
        of_markdown = [
            extension
            for extension, reader in readers.reader_classes.items()
            if reader is MarkdownReader
        ]
        readers.reader_classes |= dict.fromkeys(of_markdown, DOIMarkdownReader)

    def plain_summary(content: Any) -> None:
        summary = content.get_summary
        content.get_summary = lambda siteurl: without_cards(without_references(summary(siteurl)))

    def without_cards_in_feed(context: Any, feed: Any) -> None:  # noqa: ARG001
        for item in feed.items:
            for name in ("content", "description"):
                item[name] = item[name] and without_cards(item[name])

    _logger.removeFilter(LimitLogger.limit_filter)  # it would hide what an earlier run told, too
    signals.get_generators.connect(begin, weak=False)  # sent first in each run
    signals.readers_init.connect(add, weak=False)
    signals.content_object_init.connect(plain_summary, weak=False)
    signals.content_written.connect(_link_style, weak=False)
    signals.feed_generated.connect(without_cards_in_feed, weak=False)


def _link_style(path: str, context: Mapping[str, Any]) -> None:
    """Link the style sheet from a page that was written, if it has cards, and copy it to the site.

    It is the first in the head, so that those of the theme have the last word.
    """
    page = Path(path)
    text = page.read_text("utf-8")
    if 'class="doi-card"' not in text:
        return

    copy = Path(context["OUTPUT_PATH"], _STYLE)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copyfile(STYLE_SHEET, copy)

    link = f'<link rel="stylesheet" href="{context["SITEURL"]}/{_STYLE}">'
    page.write_text(_HEAD.sub(lambda head: f"{head[0]}\n{link}", text, count=1), "utf-8")
