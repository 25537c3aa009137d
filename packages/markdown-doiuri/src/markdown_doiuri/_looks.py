"""How links look: those to DOIs that do not exist are struck out, and long names may be broken."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement

from doiuri.plugins import breakable
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

from markdown_doiuri._links import proxy_doi
from markdown_doiuri._stash import literal

if TYPE_CHECKING:
    from markdown import Markdown

WORD_BREAK = "<wbr />"
"""What a serialized page has where a name may be broken."""

_NOT_FOUND = "This DOI was not found."


class LooksTreeprocessor(Treeprocessor):
    """Changes what is inside the links of a page, when all others have read their text.

    :param base: the URL that links begin with, without a slash at the end.
    """

    def __init__(self, md: Markdown, base: str) -> None:
        super().__init__(md)
        self._base = base

    def run(self, root: Element) -> None:
        """Change the links in ``root``, in place."""
        finish_links(root, self._base)


def finish_links(root: Element, base: str) -> None:
    """Change what is inside the links in ``root``, in place.

    :param base: the URL that links begin with, without a slash at the end.
    """
    for link in list(root.iter("a")):
        href = link.get("href") or ""
        # a title is no AtomicString, and a name has no children
        if isinstance(link.text, AtomicString) and not len(link):
            parts = _parts(link.text)
            if len(parts) > 1 and (href.startswith(f"{base}/") or proxy_doi(href)):
                _break(link, parts)
        if "doi-not-found" in (link.get("class") or "").split():
            _strike(link)


def _parts(text: str) -> list[str]:
    ampersand = literal("&")  # one character, without the ";" after which a line may break
    return [part.replace("\0", ampersand) for part in breakable(text.replace(ampersand, "\0"))]


def _break(link: Element, parts: list[str]) -> None:
    link.text = AtomicString(parts[0])
    for part in parts[1:]:
        SubElement(link, "wbr").tail = AtomicString(part)


def _strike(link: Element) -> None:
    """Put the content of a link into an element that looks like that without a style sheet, too."""
    link.attrib.setdefault("title", _NOT_FOUND)
    struck = Element("s")
    struck.text, link.text = link.text, None
    struck[:], link[:] = link[:], [struck]
