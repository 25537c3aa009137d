"""The links of a page: ``doi:`` URIs become https links, every DOI is verified, what is bad is undone."""

import html
import re
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from doiuri import DOI, DOISyntaxError
from markdown import Markdown
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

from markdown_doiuri._links import LinkMaker
from markdown_doiuri._options import Options
from markdown_doiuri._report import Report
from markdown_doiuri._stash import literal, unescaped
from markdown_doiuri._tree import dissolve, in_raw_html
from markdown_doiuri._verification import Memory, memory

_OURS = re.compile(r"\s*<?\s*doi:", re.IGNORECASE)
_PROXY = re.compile(r"(?:https?:)?//(?:(dx\.|www\.)?doi\.org)(?::\d+)?/", re.IGNORECASE)
_ANCHOR = re.compile(
    r"""<a\s(?:[^<>]*?\s)?href\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))""", re.IGNORECASE
)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()>#+\-.!])")


@dataclass(slots=True)
class _Page:
    """The DOIs of one page, in order, with our links to each; the author's own have no place here."""

    links: dict[DOI, list[Element]] = field(default_factory=dict)
    bad: dict[Element, tuple[str, str]] = field(default_factory=dict)  # the text before and after

    def add(self, doi: DOI, *ours: Element) -> None:
        self.links.setdefault(doi, []).extend(ours)


class LinkTreeprocessor(Treeprocessor):
    """Finishes the links when the inline patterns are through."""

    def __init__(self, md: Markdown, options: Options, maker: LinkMaker, report: Report) -> None:
        super().__init__(md)
        self._options = options
        self._maker = maker
        self._report = report
        self._memory = memory(options.shared) if options.shared.resolve else None

    def run(self, root: Element) -> None:
        """Finish the links in ``root``, in place."""
        page = _Page()
        made = self._maker.made
        raw = in_raw_html(root, self.md.htmlStash)
        for link in root.iter("a"):
            href = link.get("href") or ""
            if link in raw and link in made:
                page.bad[link] = "", ""  # no link inside a raw <a> or <code>
            elif link in made:
                page.add(made[link], link)
            elif _OURS.match(href):
                self._finish(page, link, href)
            elif _PROXY.match(href):
                self._keep(page, link, href)
        made.clear()
        self._add_raw(page)
        if page.bad:
            dissolve(root, page.bad)
        if page.links and self._memory:
            self._verify(page, self._memory)

    def _finish(self, page: _Page, link: Element, href: str) -> None:
        """Make a link to a ``doi:`` URI one that browsers follow, or text again if it is none."""
        text = html.unescape(unescaped(_ESCAPE.sub(r"\1", href)))
        try:
            doi = DOI.parse(text)
        except DOISyntaxError as error:
            self._report.bad(text.strip(), error)
            title = f' "{link.get("title")}"' if link.get("title") else ""
            page.bad[link] = "[", literal(f"]({href}{title})")
            return
        self._maker.point(link, doi)
        if not len(link) and not (link.text or "").strip():
            link.text = AtomicString(literal(self._options.shared.shown(doi)))
        page.add(doi, link)

    def _keep(self, page: _Page, link: Element, href: str) -> None:
        """Note the DOI of the author's own link, which stays as it is, or is brought up to date."""
        doi = _from_url(unescaped(href))
        if doi is None:
            return
        page.add(doi)
        tidy = _PROXY.sub("https://doi.org/", href, count=1)
        if self._options.tidy_links and tidy != href:
            link.set("href", tidy)
            if link.text == href:
                link.text = AtomicString(tidy)

    def _add_raw(self, page: _Page) -> None:
        """Note the DOIs of raw HTML links, which are verified and otherwise left alone."""
        for block in self.md.htmlStash.rawHtmlBlocks:
            if isinstance(block, str) and "doi.org" in block:
                for anchor in _ANCHOR.finditer(block):
                    href = anchor[1] or anchor[2] or anchor[3] or ""
                    if _PROXY.match(href) and (doi := _from_url(href)):
                        page.add(doi)

    def _verify(self, page: _Page, memory: Memory) -> None:
        """Report DOIs that do not exist, and mark our links to them; what is not known changes nothing."""
        for doi in memory.missing(page.links, self._options.shared):
            self._report.missing(doi)
            for link in page.links[doi]:
                link.set("class", f"{link.get('class') or ''} doi-not-found".strip())


def _from_url(href: str) -> DOI | None:
    try:
        return DOI.from_url(html.unescape(href).strip())
    except DOISyntaxError:
        return None
