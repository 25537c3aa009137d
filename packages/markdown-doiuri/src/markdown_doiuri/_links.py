"""Links to DOIs: those that the extension makes, how to recognize the author's own, and how both look."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, NamedTuple
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

    from markdown_doiuri._mentions import InlineCitation
    from markdown_doiuri._options import MarkdownOptions

_PROXY = re.compile(rf"(?=https?:|//){PROXY_PATTERN}/", re.IGNORECASE)
_ANCHOR = re.compile(
    r"""
    <a \s
    (?: [^<>]*? \s )?     # other attributes
    href \s* = \s*
    (?: "([^"<>]*)"
    |   '([^'<>]*)'
    |   ([^\s"'<>]+)      # without quotes
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)


class MadeLinks(NamedTuple):
    """Links that the extension has made."""

    links: dict[Element, DOI]
    """The links to DOIs."""
    citations: dict[Element, InlineCitation]
    """What stands for citations."""
    longer: dict[Element, tuple[DOI, ...]]
    """The names that links may mean if their DOIs do not exist."""


class Links:
    """Makes the links of a document, and keeps their DOIs for the tree processor, which runs last."""

    def __init__(self, options: MarkdownOptions) -> None:
        self._base = options.shared.link + "/"
        self._class = options.css_class
        self._made: dict[Element, DOI] = {}
        self._cited: dict[Element, InlineCitation] = {}
        self._longer: dict[Element, tuple[DOI, ...]] = {}
        self.cards: dict[Element, Details] = {}
        """The links with cards."""

    def make(self, doi: DOI, text: str, longer: tuple[DOI, ...] = ()) -> Element:
        """Return a link to ``doi`` with the text ``text``, which later patterns leave alone.

        :param longer: the names that it may mean if the DOI does not exist.
        """
        link = Element("a")
        self.set_target(link, doi)
        link.text = AtomicString(literal(text))
        self._made[link] = doi
        if longer:
            self._longer[link] = longer
        return link

    def set_target(self, link: Element, doi: DOI) -> None:
        """Make ``link`` a link to ``doi``."""
        if self._class:
            link.set("class", self._class)
        link.set("href", literal(self._base + encode(doi.name, LINK)))

    def cite(self, citation: InlineCitation, text: str) -> Element:
        """Return an element that stands for a citation until the works are known; ``text`` is as written."""
        element = Element("a")
        element.text = AtomicString(literal(text))
        self._cited[element] = citation
        return element

    def take(self) -> MadeLinks:
        """Return the links and the citations made since the last call."""
        taken = MadeLinks(self._made, self._cited, self._longer)
        self._made = {}
        self._cited = {}
        self._longer = {}
        return taken


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
        href = next(filter(None, anchor.groups()), "")
        doi = proxy_doi(href)
        if doi is not None:
            yield doi


def tidy(href: str) -> str:
    """Return a link to a DOI proxy with ``https://doi.org/`` in place of its scheme and host."""
    return _PROXY.sub(f"{DOI_ORG}/", href, count=1)


WORD_BREAK = "<wbr />"
"""What a serialized page has where a name may be broken."""

_MISSING = "doi-not-found"
_NOT_FOUND = "This DOI was not found."
_WITH_CARD = re.compile(
    r"""
    <span\ class="doi-details">
        (?P<link> .*? )                                                # in a feed, it may be text
        <button\ type="button"\ class="doi-more" .*? </span></span>  # the button, and the card
    </span>
    """,
    re.DOTALL | re.VERBOSE,
)
# A summary may end within a link, before its card
_BEGINNING = '<span class="doi-details">'
_DESCRIBED = re.compile(r'<a aria-describedby="doi-card-[^"]*"')


class LooksTreeprocessor(Treeprocessor):
    """Changes what is inside the links of a page, and adds cards, when all others have read their text."""

    def __init__(self, md: Markdown, links: Links, options: MarkdownOptions) -> None:
        super().__init__(md)
        self._links = links
        self._base = options.shared.link
        self._place = options.place

    def run(self, root: Element) -> None:
        """Change the links in ``root``, in place."""
        texts = {link: _text_of(link) for link in self._links.cards}
        finish_links(root, self._base)

        with_cards = [(parent, link) for parent, link in with_parents(root) if link in texts]
        for number, (parent, link) in enumerate(with_cards):
            self._add_card(parent, link, number, texts[link])

    def _add_card(self, parent: Element, link: Element, number: int, text: str) -> None:
        """Put a link into an element of its own, and its card after it.

        :param number: the number of the card on the page.
        :param text: the text of the link.
        """
        details = self._links.cards[link]
        id_ = f"doi-card-{self._place}{number}"
        link.set("aria-describedby", id_)

        around = Element("span", {"class": "doi-details"})
        around.tail = link.tail
        parent[list(parent).index(link)] = around
        around.append(link)
        link.tail = self.md.htmlStash.store(card(details, id_, f"About {text}"))


def _text_of(link: Element) -> str:
    """Return the text of a link, as readers see it."""
    return html.unescape("".join(link.itertext()).replace(AMP_SUBSTITUTE, "&"))


def with_parents(root: Element) -> Iterator[tuple[Element, Element]]:
    """Yield the elements below ``root``, each after its parent."""
    for parent in root.iter():
        for child in parent:
            yield parent, child


def unlink(element: Element) -> None:
    """Make text of the links in an element; ids stay."""
    for link in list(element.iter("a")):
        link.tag = "span"
        link.attrib = {name: value for name, value in link.items() if name == "id"}


def mark_missing(link: Element) -> None:
    """Give a link the class of links to DOIs that do not exist."""
    link.set("class", f"{link.get('class') or ''} {_MISSING}".strip())


def without_cards(page: str) -> str:
    """Return HTML without the cards of links, and without what leads to one that was cut off."""
    links = _WITH_CARD.sub(lambda card: card["link"], page)
    return _DESCRIBED.sub("<a", links.replace(_BEGINNING, "<span>"))


def finish_links(root: Element, base: str) -> None:
    """Change what is inside the links in ``root``, in place.

    :param base: the URL that links begin with, without a slash at the end.
    """
    for link in list(root.iter("a")):
        _break_name(link, base)
        if _MISSING in (link.get("class") or "").split():
            _strike(link)


def _break_name(link: Element, base: str) -> None:
    """Let lines break within the name that a link to a DOI shows."""
    # a title is no AtomicString, and a name has no children
    if not isinstance(link.text, AtomicString) or len(link):
        return
    first, *following = _parts(link.text)
    if not following or not _leads_to_doi(link, base):
        return

    link.text = AtomicString(first)
    for part in following:
        SubElement(link, "wbr").tail = AtomicString(part)


def _parts(name: str) -> list[str]:
    """Return the parts of a name between which a line may break; a short one is one part."""
    ampersand = literal("&")  # one character, without the ";" after which a line may break
    parts = breakable(name.replace(ampersand, "\0"))
    return [part.replace("\0", ampersand) for part in parts]


def _leads_to_doi(link: Element, base: str) -> bool:
    href = link.get("href") or ""
    return href.startswith(f"{base}/") or proxy_doi(href) is not None


def _strike(link: Element) -> None:
    """Put the content of a link into an element that is struck through without a style sheet, too."""
    link.attrib.setdefault("title", _NOT_FOUND)
    struck = Element("s")
    struck.text = link.text
    struck.extend(list(link))
    link.text = None
    link[:] = [struck]
