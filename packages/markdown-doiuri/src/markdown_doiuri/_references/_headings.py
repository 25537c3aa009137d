"""Ids of headings that show authors and years: made of what the author wrote, the same with any metadata."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from markdown.extensions.toc import TocTreeprocessor, unique
from markdown.treeprocessors import Treeprocessor
from markdown.util import AMP_SUBSTITUTE, HTML_PLACEHOLDER_RE

from markdown_doiuri._references._writer import used_ids
from markdown_doiuri._stash import unescaped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from markdown import Markdown

    from markdown_doiuri._references._writer import Citations

_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


class HeadingTreeprocessor(Treeprocessor):
    """Sets the ids that the extension toc would make of metadata; other ids are left to it."""

    def __init__(self, md: Markdown, citations: Citations) -> None:
        super().__init__(md)
        self._citations = citations

    def run(self, root: Element) -> None:
        """Set the ids of the headings in ``root``, in place, before the citations are written."""
        written = {link: f"doi:{doi.name}" for link, doi in self._citations.untitled.items()}
        written |= {element: element.text or "" for element in self._citations.cited}
        if not written or "toc" not in self.md.treeprocessors:
            return
        toc = self.md.treeprocessors["toc"]
        if not isinstance(toc, TocTreeprocessor):
            return
        used: set[str] | None = None
        for heading in root.iter():
            if (
                heading.tag not in _HEADINGS
                or "id" in heading.attrib
                or written.keys().isdisjoint(heading.iter())
            ):
                continue
            used = used_ids(root, self.md) if used is None else used
            text = "".join(_texts(heading, written)).replace(AMP_SUBSTITUTE, "&")
            text = html.unescape(unescaped(HTML_PLACEHOLDER_RE.sub("", text)))
            heading.set("id", unique(toc.slugify(text, toc.sep), used))


def _texts(element: Element, written: dict[Element, str]) -> Iterator[str]:
    """Yield the texts in an element, as ``written`` for those in it; marks of footnotes are left out."""
    if element in written:
        yield written[element]
        return
    yield element.text or ""
    for child in element:
        if not (child.tag == "sup" and child.get("id", "").startswith("fnref")):
            yield from _texts(child, written)
        yield child.tail or ""
