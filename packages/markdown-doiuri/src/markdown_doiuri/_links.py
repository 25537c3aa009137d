"""Links to DOIs: those that the extension makes, how to recognize the author's own, and how both look."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement

from doiuri import DOI, LINK, DOISyntaxError, encode
from doiuri.plugins import DOI_ORG, PROXY_PATTERN, unescape_html
from doiuri.plugins.display import breakable, card
from markdown.treeprocessors import Treeprocessor
from markdown.util import AMP_SUBSTITUTE, AtomicString

from markdown_doiuri._stash import literal, unescaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri.plugins.display import Details
    from markdown import Markdown

    from markdown_doiuri._mentions import Citation
    from markdown_doiuri._options import MarkdownOptions

_PROXY = re.compile(rf"(?=https?:|//){PROXY_PATTERN}/", re.IGNORECASE)
_ANCHOR = re.compile(
    r"""<a\s(?:[^<>]*?\s)?href\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))""", re.IGNORECASE
)


class Links:
    """Makes the links of a document, and keeps their DOIs for the tree processor, which runs last."""

    def __init__(self, options: MarkdownOptions) -> None:
        self._base = options.shared.link + "/"
        self._class = options.css_class
        self._made: dict[Element, DOI] = {}
        self._cited: dict[Element, Citation] = {}
        self.cards: dict[Element, Details] = {}
        """The links with cards."""

    def make(self, doi: DOI, text: str) -> Element:
        """Return a link to ``doi`` with the text ``text``, which later patterns leave alone."""
        link = Element("a")
        self.set_target(link, doi)
        link.text = AtomicString(literal(text))
        self._made[link] = doi
        return link

    def set_target(self, link: Element, doi: DOI) -> None:
        """Make ``link`` a link to ``doi``."""
        if self._class:
            link.set("class", self._class)
        link.set("href", literal(self._base + encode(doi.name, LINK)))

    def cite(self, citation: Citation, text: str) -> Element:
        """Return an element that stands for a citation until the works are known; ``text`` is as written."""
        element = Element("a")
        element.text = AtomicString(literal(text))
        self._cited[element] = citation
        return element

    def take(self) -> tuple[dict[Element, DOI], dict[Element, Citation]]:
        """Return the links and the citations made since the last call."""
        made, self._made = self._made, {}
        cited, self._cited = self._cited, {}
        return made, cited


def proxy_doi(href: str) -> DOI | None:
    """Return the DOI if ``href`` is a link to doi.org, dx.doi.org or www.doi.org."""
    if not _PROXY.match(href):
        return None
    try:
        return DOI.from_url(unescape_html(unescaped(href)).strip())
    except DOISyntaxError:
        return None


def proxy_dois(raw: str) -> Iterator[DOI]:
    """Yield the DOIs that raw HTML links to."""
    for anchor in _ANCHOR.finditer(raw):
        if doi := proxy_doi(anchor[1] or anchor[2] or anchor[3] or ""):
            yield doi


def tidy(href: str) -> str:
    """Return a link to a DOI proxy with ``https://doi.org/`` in place of its scheme and host."""
    return _PROXY.sub(f"{DOI_ORG}/", href, count=1)


WORD_BREAK = "<wbr />"
"""What a serialized page has where a name may be broken."""

_NOT_FOUND = "This DOI was not found."
_CARD = re.compile(r'<button type="button" class="doi-more".*?</span></span>', re.DOTALL)


class LooksTreeprocessor(Treeprocessor):
    """Changes what is inside the links of a page, and adds cards, when all others have read their text."""

    def __init__(self, md: Markdown, links: Links, options: MarkdownOptions) -> None:
        super().__init__(md)
        self._links, self._base, self._place = links, options.shared.link, options.place

    def run(self, root: Element) -> None:
        """Change the links in ``root``, in place."""
        texts = {
            link: "".join(link.itertext()).replace(AMP_SUBSTITUTE, "&")
            for link in self._links.cards
        }
        finish_links(root, self._base)
        parents = [(parent, link) for parent in root.iter() for link in parent if link in texts]
        for number, (parent, link) in enumerate(parents):
            details, text = self._links.cards[link], html.unescape(texts[link])
            around = Element("span", {"class": "doi-details"})
            parent[list(parent).index(link)] = around
            around.append(link)
            around.tail = link.tail
            link.set("aria-label", literal(details.name(text)))
            link.tail = self.md.htmlStash.store(
                card(details, f"doi-card-{self._place}{number}", f"About {text}")
            )


def unlink(element: Element) -> None:
    """Make text of the links in an element; ids stay."""
    for link in list(element.iter("a")):
        link.tag = "span"
        link.attrib = {name: value for name, value in link.items() if name == "id"}


def without_cards(page: str) -> str:
    """Return HTML without the cards of links."""
    return _CARD.sub("", page)


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
