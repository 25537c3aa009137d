"""Our links: how they are made, and which DOI each one is for."""

from xml.etree.ElementTree import Element

from doiuri import DOI, LINK, encode
from markdown.util import AtomicString

from markdown_doiuri._options import Options
from markdown_doiuri._stash import literal


class LinkMaker:
    """Makes the links of one document after the other, and remembers their DOIs until the next begins."""

    def __init__(self, options: Options) -> None:
        self._base = options.shared.link + "/"
        self._class = options.css_class
        self.made: dict[Element, DOI] = {}

    def make(self, doi: DOI, text: str) -> Element:
        """Return a link to ``doi`` that shows ``text``, and into which no later pattern looks."""
        link = Element("a")
        self.point(link, doi)
        link.text = AtomicString(literal(text))
        self.made[link] = doi
        return link

    def point(self, link: Element, doi: DOI) -> None:
        """Let ``link`` lead to ``doi``."""
        if self._class:
            link.set("class", self._class)
        link.set("href", literal(self._base + encode(doi.name, LINK)))
