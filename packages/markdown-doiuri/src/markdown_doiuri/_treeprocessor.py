"""The last step, on the tree of a page: finish ``doi:`` links, undo bad ones, and verify every DOI."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from doiuri import DOI, DOISyntaxError
from doiuri.plugins import needs_work, unescape_html
from markdown.treeprocessors import Treeprocessor
from markdown.util import HTML_PLACEHOLDER_RE, STX, AtomicString

from markdown_doiuri._links import proxy_doi, proxy_dois, tidy
from markdown_doiuri._references import Citations
from markdown_doiuri._stash import literal, unescaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from xml.etree.ElementTree import Element

    from doiuri.records import Work
    from doiuri.resolver import Cause
    from markdown import Markdown
    from markdown.util import HtmlStash

    from markdown_doiuri._links import Links
    from markdown_doiuri._mentions import Citation
    from markdown_doiuri._options import Options
    from markdown_doiuri._report import Report
    from markdown_doiuri._verification import Lookups

# Elements in which a link is invalid, or would change what the author wants to show.
_NO_LINKS = re.compile(
    r"<(/?)(a|button|code|kbd|math|option|pre|samp|script|select|style|svg|textarea|title|tt|var)(?=[\s/>])",
    re.IGNORECASE,
)


def in_raw_html(root: Element, stash: HtmlStash) -> set[Element]:
    """Return the links between raw tags such as ``<a>`` and ``</a>``.

    A tag that is never closed encloses nothing.
    """
    tags = [_NO_LINKS.match(raw) if isinstance(raw, str) else None for raw in stash.rawHtmlBlocks]
    if not any(tags):
        return set()
    opened: dict[str, list[Element]] = {}
    inside: set[Element] = set()
    for item in _walk(root):
        if not isinstance(item, str):
            for links in opened.values():
                links.append(item)
        elif STX in item:
            for marker in HTML_PLACEHOLDER_RE.finditer(item):
                tag = tags[int(marker[1])]
                if tag and tag[1]:
                    inside.update(opened.pop(tag[2].lower(), ()))
                elif tag:
                    opened[tag[2].lower()] = []
    return inside


def _walk(root: Element) -> Iterator[Element | str]:
    """Yield the links and texts of a tree, in document order."""
    stack: list[Element | str] = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
            continue
        if item.tag == "a":
            yield item
        if item.text:
            yield item.text
        if item.tail:
            stack.append(item.tail)
        stack.extend(reversed(item))


def dissolve(root: Element, links: Mapping[Element, tuple[str, str]]) -> None:
    """Replace each of ``links`` by its content, with the two given texts before and after it."""
    parents = [parent for parent in root.iter() if any(child in links for child in parent)]
    for parent in reversed(parents):  # inner ones first
        content = _Content(parent)
        for child in list(parent):
            if child in links:
                before, after = links[child]
                content.add(before + (child.text or ""))
                for grandchild in child:
                    content.add(grandchild)
                content.add(after + (child.tail or ""))
            else:
                content.add(child)
        content.close()


class _Content:
    """Rebuilds the content of ``parent`` from texts and elements, added in order."""

    def __init__(self, parent: Element) -> None:
        self._parent = parent
        self._children: list[Element] = []
        self._texts = [parent.text or ""]

    def add(self, item: Element | str) -> None:
        if isinstance(item, str):
            self._texts.append(item)
            return
        self._flush()
        self._children.append(item)
        self._texts = [item.tail or ""]

    def _flush(self) -> None:
        text = "".join(self._texts) or None
        if self._children:
            self._children[-1].tail = text
        else:
            self._parent.text = text

    def close(self) -> None:
        self._flush()
        self._parent[:] = self._children


_DOI_URI = re.compile(r"\s*<?\s*doi:", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()>#+\-.!])")


@dataclass(slots=True)
class _Page:
    """What a page links to."""

    links: dict[DOI, list[Element]] = field(default_factory=dict)
    """The page's DOIs, in order, each with the links to mark if it does not exist: not the author's own."""
    bad: dict[Element, tuple[str, str]] = field(default_factory=dict)
    """The links that become text again, each with the text before and after its content."""

    cited: dict[Element, Citation] = field(default_factory=dict)
    untitled: dict[Element, DOI] = field(default_factory=dict)
    """The links without a text of their own that show a part of the metadata."""

    def add(self, doi: DOI, *ours: Element) -> None:
        self.links.setdefault(doi, []).extend(ours)


@dataclass(slots=True)
class _Found:
    """What is known about a page's DOIs."""

    works: dict[DOI, Work] = field(default_factory=dict)
    references: dict[DOI, str] = field(default_factory=dict)
    lacking: list[DOI] = field(default_factory=list)
    """Those that are cited, exist, and have no metadata."""
    missing: set[DOI] = field(default_factory=set)
    """Those that do not exist."""


class LinkTreeprocessor(Treeprocessor):
    """Finishes a page's links when the inline patterns are done."""

    def __init__(
        self, md: Markdown, options: Options, links: Links, report: Report, lookups: Callable[[], Lookups]
    ) -> None:
        super().__init__(md)
        self._options = options
        self._links = links
        self._report = report
        self._lookups = lookups
        self._verifier = lookups() if options.shared.resolve else None
        self._needs_works = needs_work(options.shared.text)
        self.citations = Citations()

    def run(self, root: Element) -> None:
        """Finish the links in ``root``, in place."""
        page = self._read(root)
        if page.bad:
            dissolve(root, page.bad)
        found = self._look_up(page) if page.links else _Found()
        for doi, links in page.links.items():
            if doi in found.missing:
                for link in links:
                    link.set("class", f"{link.get('class') or ''} doi-not-found".strip())
        self._report.missing([doi for doi in page.links if doi in found.missing])
        for doi in found.lacking:
            self._report.no_metadata(doi)
        self._report.finish()
        for link, doi in page.untitled.items():
            link.text = AtomicString(literal(self._options.shared.display(doi, found.works.get(doi))))
        self.citations.cited, self.citations.untitled = page.cited, page.untitled
        self.citations.works, self.citations.references = found.works, found.references
        self.citations.missing = found.missing

    def _look_up(self, page: _Page) -> _Found:
        """Return what is known about the DOIs of a page: first the works that it needs, then the others."""
        shared, found = self._options.shared, _Found()
        citing = [doi for citation in page.cited.values() for doi in citation.dois]
        wanted = dict.fromkeys([*citing, *page.untitled.values()])
        deadline = time.monotonic() + shared.budget
        unknown: dict[DOI, Cause] = {}
        if wanted and (shared.resolve or shared.lock):
            works = self._lookups().works(wanted, shared, deadline, cited=citing)
            found.works, found.references, unknown = works.works, works.references, works.unknown
            found.lacking = [doi for doi in works.lacking if doi in set(citing)]
            found.missing = set(works.missing)
        known = {doi for doi in wanted if doi in found.works or doi not in unknown} if shared.resolve else ()
        others = [doi for doi in page.links if doi not in known]
        if others and self._verifier:
            answers = self._verifier.check(others, shared, deadline)
            found.missing.update(answers.missing)
            unknown |= dict(zip(answers.unchecked, answers.unknown, strict=True))
        self._report.unknown([unknown[doi] for doi in page.links if doi in unknown], len(page.links))
        return found

    def _read(self, root: Element) -> _Page:
        """Return the page's links; those that need no other element are finished here."""
        page = _Page()
        made, cited = self._links.take()
        enclosed = in_raw_html(root, self.md.htmlStash)
        for link in root.iter("a"):
            href = link.get("href") or ""
            if (link in made or link in cited) and link in enclosed:
                page.bad[link] = "", ""  # no link inside a raw <a> or <code>
            elif link in cited:
                page.cited[link] = cited[link]
                for doi in cited[link].dois:
                    page.add(doi)
            elif link in made:
                page.add(made[link], link)
            elif _DOI_URI.match(href):
                self._finish(page, link, href)
            elif target := proxy_doi(href):
                page.add(target)
                self._tidy(link, href)
                self._set_text(page, link, target)
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
        self._set_text(page, link, doi)
        page.add(doi, link)

    def _set_text(self, page: _Page, link: Element, doi: DOI) -> None:
        """Give a link without text the text that the options say; if it needs the work, later."""
        if len(link) or (link.text or "").strip():
            return
        if self._needs_works:
            page.untitled[link] = doi
        else:
            link.text = AtomicString(literal(self._options.shared.display(doi)))

    def _tidy(self, link: Element, href: str) -> None:
        """Tidy the author's own link if that is wanted, and its text if that is the URL."""
        if not self._options.tidy_links or (new := tidy(href)) == href:
            return
        link.set("href", new)
        if link.text == href:
            link.text = AtomicString(new)
