"""The place of the list of references: a line that the author writes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement

from markdown.blockprocessors import BlockProcessor

from markdown_doiuri._report import MARKER

if TYPE_CHECKING:
    from markdown.blockparser import BlockParser

    from markdown_doiuri._report import Report

_LINE = re.compile(rf"^[ \t]*+{re.escape(MARKER)}[ \t]*+$\n?", re.MULTILINE)


class PlaceProcessor(BlockProcessor):
    """Makes a paragraph of a line that marks the place of the list."""

    def __init__(self, parser: BlockParser, report: Report) -> None:
        super().__init__(parser)
        self._report = report

    def test(self, parent: Element, block: str) -> bool:  # noqa: ARG002
        """Return whether the block has such a line."""
        return MARKER in block and _LINE.search(block) is not None

    def run(self, parent: Element, blocks: list[str]) -> None:
        """Add the text before the line, and a paragraph for the line; leave the text after it."""
        before, after = _LINE.split(blocks.pop(0), maxsplit=1)
        if before:
            self.parser.parseBlocks(parent, [before.rstrip("\n")])
        SubElement(parent, "p").text = MARKER
        self._report.marker()
        if after:
            blocks.insert(0, after)


def marked_places(root: Element) -> list[tuple[Element, Element]]:
    """Return the paragraphs that mark places of the list, each after its parent."""
    markers = {p for p in root.iter("p") if p.text == MARKER and not len(p)}
    if not markers:
        return []
    return [(parent, child) for parent in root.iter() for child in parent if child in markers]
