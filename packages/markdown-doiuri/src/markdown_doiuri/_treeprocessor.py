"""The last step, on the tree of a page: finish ``doi:`` links, undo bad ones, and verify every DOI."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from doiuri import DOI, DOISyntaxError
from doiuri.markdown import NO_LINKS
from doiuri.plugins import unescape_html, untrimmed
from doiuri.plugins.display import details_of, needs_work
from doiuri.plugins.survey import Need
from markdown.treeprocessors import Treeprocessor
from markdown.util import HTML_PLACEHOLDER_RE, STX, AtomicString

from markdown_doiuri._links import proxy_doi, proxy_dois, tidy, unlink
from markdown_doiuri._references import HEADINGS, Citations, add_text, toc_of, works_of
from markdown_doiuri._stash import literal, unescaped

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping
    from xml.etree.ElementTree import Element

    from doiuri import Handle
    from doiuri.plugins.display import Details
    from doiuri.plugins.survey import Answer
    from markdown import Markdown
    from markdown.util import HtmlStash

    from markdown_doiuri._links import Links
    from markdown_doiuri._options import MarkdownOptions
    from markdown_doiuri._report import Problems

_NOT_LISTED = "not in the list of references: its agency has no metadata"
_NO_METADATA = "cited without its author and year: its agency has no metadata"
_NOT_LOCKED = "not in the lock file; build once without the option locked to add it"
_DOI_URI = re.compile(r"\s*<?\s*doi:", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()>#+\-.!])")
_CLICKED = "label", "summary"  # a click on them shows or hides text, such as that of a tab
_NO_LINKS = re.compile(rf"<(/?)({NO_LINKS})(?=[\s/>])", re.IGNORECASE)


def _links_in(root: Element, tags: Iterable[str]) -> set[Element]:
    return {link for tag in tags for element in root.iter(tag) for link in element.iter("a")}


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
    if root.tag == "a":
        yield root
    yield root.text or ""
    for child in root:
        yield from _walk(child)
        yield child.tail or ""


def dissolve(root: Element, links: Container[Element]) -> None:
    """Replace each of ``links`` by its content."""
    parents = [parent for parent in root.iter() if any(child in links for child in parent)]
    for parent in reversed(parents):  # inner ones first
        content: list[Element | str] = [parent.text or ""]
        for child in parent:
            if child in links:
                content.append(child.text or "")
                for grandchild in child:
                    content += grandchild, grandchild.tail or ""
                content.append(child.tail or "")
            else:
                content += child, child.tail or ""
        parent.text, parent[:] = None, []
        for item in content:
            if not isinstance(item, str):
                item.tail = None
                parent.append(item)
            elif len(parent):
                parent[-1].tail = (parent[-1].tail or "") + item or None
            else:
                parent.text = (parent.text or "") + item or None


@dataclass(slots=True)
class _Page:
    """What a page links to."""

    links: dict[DOI, list[Element]] = field(default_factory=dict)
    """The page's DOIs, in order, each with the links to mark if it does not exist: not the author's own."""
    bad: set[Element] = field(default_factory=set)
    """The links that become text again."""
    in_headings: set[Element] = field(default_factory=set)

    def add(self, doi: DOI, *ours: Element) -> None:
        self.links.setdefault(doi, []).extend(ours)


class LinkTreeprocessor(Treeprocessor):
    """Finishes a page's links when the inline patterns are done."""

    def __init__(
        self,
        md: Markdown,
        options: MarkdownOptions,
        links: Links,
        report: Problems,
        look_up: Callable[[Mapping[DOI, Need]], dict[DOI, Answer]],
    ) -> None:
        super().__init__(md)
        self._options, self._links, self._report, self._look_up = options, links, report, look_up
        self._needs_works = needs_work(options.shared.text)
        self.citations = Citations(links)

    def run(self, root: Element) -> None:
        """Finish the links in ``root``, in place."""
        page = self._read(root)
        if page.bad:
            dissolve(root, page.bad)
        cited = [cite.key for citation in self.citations.cited.values() for cite in citation.cites]
        listed = self._listed(page, cited)
        needs = self._needs(page, listed)
        answers = self._look_up(needs) if needs else {}
        if self._follow_slashes(page, answers):
            listed = self._listed(page, cited)
            needs = self._needs(page, listed)
            answers = self._look_up(needs)
        self._report.nocite = {f"doi:{doi.name}" for doi in needs.keys() - page.links.keys()}
        missing = [
            doi
            for doi in {**page.links, **needs}
            if doi in answers and answers[doi].status == "not-found"
        ]
        for link in (link for doi in missing for link in page.links.get(doi, ())):
            link.set("class", f"{link.get('class') or ''} doi-not-found".strip())
        self._report.missing({doi: answers[doi].meant for doi in missing})
        without_own = set(listed).difference(self._options.citing.library.complete({}, listed))
        for doi in needs:
            if doi in without_own and answers[doi].lacks_metadata:
                is_linked = doi not in cited and doi not in self._options.nocite
                reason = _NOT_LISTED if is_linked else _NO_METADATA
                self._report.add_first(doi, reason)
            if (work := answers[doi].work) is not None and work.retraction is not None:
                self._report.add_first(doi, str(work.retraction))
            if self._options.locked and answers[doi].cause:
                self._report.add_first(doi, _NOT_LOCKED)
        self._report.finish()
        self._links.cards = dict(self._cards(page, answers))
        self.citations.listed, self.citations.answers = tuple(listed), answers

    def _listed(self, page: _Page, cited: list[Handle | str]) -> list[Handle | str]:
        """Return the works of the list of references, some of them more than once; of other texts the cited."""
        linked = page.links if self._options.list_links else {}
        if not self._report.page or not (cited or linked or self._report.markers):
            return cited
        return [*cited, *self._options.nocite, *linked]

    def _follow_slashes(self, page: _Page, answers: Mapping[DOI, Answer]) -> bool:
        """Make links lead to names that are registered only with the slash after them; return whether any do."""
        followed: dict[DOI, tuple[DOI, list[Element]]] = {}
        for doi, links in page.links.items():
            if doi in answers and answers[doi].status == "not-found":
                for link in links:
                    if whole := untrimmed(doi, link.tail or ""):
                        followed.setdefault(whole, (doi, []))[1].append(link)
        if not followed:
            return False
        whole_answers = self._look_up(dict.fromkeys(followed, Need.EXISTENCE))
        registered = [whole for whole in followed if whole_answers[whole].status == "found"]
        for whole in registered:
            doi, links = followed[whole]
            page.links[whole] = links
            page.links[doi] = [link for link in page.links[doi] if link not in links]
            if not page.links[doi]:
                del page.links[doi]
            for link in links:
                self._links.set_target(link, whole)
        return bool(registered)

    def _needs(self, page: _Page, listed: list[Handle | str]) -> dict[DOI, Need]:
        """Return what is needed about the DOIs of a page; works may come from the lock file alone."""
        shared = self._options.shared
        link = Need.CARD if self._options.details and self._report.page else Need.EXISTENCE
        needs = dict.fromkeys(page.links, link) if shared.resolve else {}
        if shared.resolve or shared.lock:
            dois = (key for key in listed if isinstance(key, DOI))
            needs |= dict.fromkeys([*self.citations.untitled.values(), *dois], Need.WORK)
        return needs

    def _cards(
        self, page: _Page, answers: Mapping[DOI, Answer]
    ) -> Iterator[tuple[Element, Details]]:
        """Yield links, and the text of their cards; images have a name, and headings become titles."""
        if not self._options.details or not self._report.page:
            return
        works = self._options.citing.library.complete(works_of(answers), page.links)
        for doi, links in page.links.items():
            details = details_of(works[doi]) if doi in works else None
            for link in links:
                if details and link not in page.in_headings and link.find(".//img") is None:
                    yield link, details

    def _read(self, root: Element) -> _Page:
        """Return the page's links; those that need no other element are finished here."""
        page = _Page(in_headings=_links_in(root, HEADINGS))
        made, cited = self._links.take()
        toc = toc_of(self.md)
        unlinked = _links_in(root, _CLICKED) | (
            page.in_headings if toc and toc.use_anchors else set()
        )
        citations = self.citations
        citations.cited, citations.untitled, citations.unlinked = {}, {}, unlinked
        citations.page = self._report.page
        citations.in_headings = page.in_headings
        enclosed = in_raw_html(root, self.md.htmlStash)
        for link in list(root.iter("a")):
            href = link.get("href") or ""
            if (link in made or link in cited) and link in enclosed:
                page.bad.add(link)  # no link inside a raw <a> or <code>
            elif link in cited:
                citations.cited[link] = cited[link]
                for doi in cited[link].dois:
                    page.add(doi)
            elif link in made and link in unlinked:
                page.add(made[link])
                unlink(link)
            elif link in made:
                page.add(made[link], link)
            elif _DOI_URI.match(href):
                self._finish(page, link, href)
            elif target := proxy_doi(href):
                page.add(target)
                self._tidy(link, href)
                self._set_text(link, target)
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
            self._report.bad(text.strip(), error, link=True)
            title = f' "{link.get("title")}"' if link.get("title") else ""
            link.text = f"[{link.text or ''}"
            add_text(link, f"]({href}{title})")
            page.bad.add(link)
            return
        self._links.set_target(link, doi)
        self._set_text(link, doi)
        page.add(doi, link)

    def _set_text(self, link: Element, doi: DOI) -> None:
        """Give a link without text the text that the options say; later, if that needs the work."""
        if len(link) or (link.text or "").strip():
            return
        text = self._options.shared.display(doi)
        if self._needs_works:
            self.citations.untitled[link], text = doi, f"doi:{doi.name}"
        link.text = AtomicString(literal(text))

    def _tidy(self, link: Element, href: str) -> None:
        """Tidy the author's own link if that is wanted, and its text if that is the URL."""
        if not self._options.tidy_links or (new := tidy(href)) == href:
            return
        link.set("href", new)
        if link.text == href:
            link.text = AtomicString(new)
