"""The last step, on the tree of a page: finish ``doi:`` links, undo bad ones, and verify every DOI."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from doiuri import DOI, DOISyntaxError
from doiuri.plugins import unescape_html
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

from markdown_doiuri._element_tree import dissolve, in_raw_html
from markdown_doiuri._links import proxy_doi, proxy_dois, tidy
from markdown_doiuri._stash import literal, unescaped

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from markdown import Markdown

    from markdown_doiuri._links import Links
    from markdown_doiuri._options import Options
    from markdown_doiuri._report import Report
    from markdown_doiuri._verification import Check

_DOI_URI = re.compile(r"\s*<?\s*doi:", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()>#+\-.!])")


@dataclass(slots=True)
class _Page:
    """What a page links to."""

    links: dict[DOI, list[Element]] = field(default_factory=dict)
    """The page's DOIs, in order, each with the links to mark if it does not exist: not the author's own."""
    bad: dict[Element, tuple[str, str]] = field(default_factory=dict)
    """The links that become text again, each with the text before and after its content."""

    def add(self, doi: DOI, *ours: Element) -> None:
        self.links.setdefault(doi, []).extend(ours)


class LinkTreeprocessor(Treeprocessor):
    """Finishes a page's links when the inline patterns are done."""

    def __init__(
        self, md: Markdown, options: Options, links: Links, report: Report, verifier: Check | None
    ) -> None:
        super().__init__(md)
        self._options = options
        self._links = links
        self._report = report
        self._verifier = verifier

    def run(self, root: Element) -> None:
        """Finish the links in ``root``, in place."""
        page = self._read(root)
        if page.bad:
            dissolve(root, page.bad)
        if page.links and self._verifier:
            answers = self._verifier.check(page.links, self._options.shared)
            self._report.unknown([*answers.unknown.values()], len(page.links))
            for doi in answers.missing:
                self._report.missing(doi)
                for link in page.links[doi]:
                    link.set("class", f"{link.get('class') or ''} doi-not-found".strip())

    def _read(self, root: Element) -> _Page:
        """Return the page's links; those that need no other element are finished here."""
        page = _Page()
        made = self._links.take()
        enclosed = in_raw_html(root, self.md.htmlStash)
        for link in root.iter("a"):
            href = link.get("href") or ""
            if link in made and link in enclosed:
                page.bad[link] = "", ""  # no link inside a raw <a> or <code>
            elif link in made:
                page.add(made[link], link)
            elif _DOI_URI.match(href):
                self._finish(page, link, href)
            elif doi := proxy_doi(href):
                page.add(doi)
                self._tidy(link, href)
        for raw in self.md.htmlStash.rawHtmlBlocks:
            if isinstance(raw, str):
                for doi in proxy_dois(raw):
                    page.add(doi)
        return page

    def _finish(self, page: _Page, link: Element, href: str) -> None:
        """Make a link to a ``doi:`` URI one that browsers can follow, or text again if it is not a DOI."""
        text = unescape_html(unescaped(_ESCAPE.sub(r"\1", href)))
        try:
            doi = DOI.parse(text)
        except DOISyntaxError as error:
            self._report.bad(text.strip(), error)
            title = f' "{link.get("title")}"' if link.get("title") else ""
            page.bad[link] = "[", literal(f"]({href}{title})")
            return
        self._links.set_target(link, doi)
        if not len(link) and not (link.text or "").strip():
            link.text = AtomicString(literal(self._options.shared.display(doi)))
        page.add(doi, link)

    def _tidy(self, link: Element, href: str) -> None:
        """Tidy the author's own link if that is wanted, and its text if that is the URL."""
        if not self._options.tidy_links or (new := tidy(href)) == href:
            return
        link.set("href", new)
        if link.text == href:
            link.text = AtomicString(new)
