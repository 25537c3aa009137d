"""The last step, on the tree of a page: finish ``doi:`` links, undo bad ones, and verify every DOI."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from doiuri import DOI, DOISyntaxError
from doiuri.plugins import unescape_html, whole_name
from doiuri.plugins.display import details_of, needs_work
from doiuri.plugins.markdown import NO_LINKS
from doiuri.plugins.survey import Need
from markdown.treeprocessors import Treeprocessor
from markdown.util import HTML_PLACEHOLDER_RE, AtomicString

from markdown_doiuri._links import mark_missing, proxy_doi, proxy_dois, tidy, unlink, with_parents
from markdown_doiuri._references import HEADINGS, Citations, add_text, toc_of, works_of
from markdown_doiuri._report import Problem
from markdown_doiuri._stash import literal, unescaped

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping
    from xml.etree.ElementTree import Element

    from doiuri.plugins.display import Details
    from doiuri.plugins.survey import Answer
    from markdown import Markdown
    from markdown.util import HtmlStash

    from markdown_doiuri._links import Links
    from markdown_doiuri._mentions import InlineCitation
    from markdown_doiuri._options import MarkdownOptions
    from markdown_doiuri._references import Key
    from markdown_doiuri._report import Problems
    from markdown_doiuri._verification import Mentions

_NOT_LISTED = "not in the list of references: its agency has no metadata"
_NO_METADATA = "cited without its author and year: its agency has no metadata"
_NOT_LOCKED = "not in the lock file; build once without the option locked to add it"
_DOI_URI = re.compile(r"\s*<?\s*doi:", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()>#+\-.!])")
_CLICKED = ("label", "summary")  # a click on them shows or hides text, such as that of a tab
_NO_LINKS = re.compile(rf"<(?P<slash>/?)(?P<name>{NO_LINKS})(?=[\s/>])", re.IGNORECASE)


def _links_in(root: Element, tags: Iterable[str]) -> set[Element]:
    """Return the links in the elements with these tags."""
    links: set[Element] = set()
    for tag in tags:
        for element in root.iter(tag):
            links.update(element.iter("a"))
    return links


def in_raw_html(root: Element, stash: HtmlStash) -> set[Element]:
    """Return the links between raw tags such as ``<a>`` and ``</a>``.

    A tag that is never closed encloses nothing.
    """
    tags = [_no_links_tag(raw) for raw in stash.rawHtmlBlocks]
    if not any(tags):
        return set()

    links_by_open_tag: dict[str, list[Element]] = {}
    enclosed: set[Element] = set()
    for item in _walk(root):
        if not isinstance(item, str):
            for links in links_by_open_tag.values():
                links.append(item)
            continue
        for placeholder in HTML_PLACEHOLDER_RE.finditer(item):
            tag = tags[int(placeholder[1])]
            if tag is None:
                continue
            name = tag["name"].lower()
            is_end_tag = tag["slash"] != ""
            if is_end_tag:
                enclosed.update(links_by_open_tag.pop(name, ()))
            else:
                links_by_open_tag[name] = []
    return enclosed


def _no_links_tag(raw: object) -> re.Match[str] | None:
    """Return the match if raw HTML is a tag in which nothing is linked."""
    return _NO_LINKS.match(raw) if isinstance(raw, str) else None


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
    parents = dict.fromkeys(parent for parent, child in with_parents(root) if child in links)
    for parent in reversed(parents):  # inner ones first
        content = _content_without(parent, links)
        parent.text = None
        parent[:] = []
        for item in content:
            if isinstance(item, str):
                _append_text(parent, item)
            else:
                item.tail = None
                parent.append(item)


def _content_without(parent: Element, links: Container[Element]) -> list[Element | str]:
    """Return the texts and children of an element, with the content of links in place of the links."""
    content: list[Element | str] = [parent.text or ""]
    for child in parent:
        if child in links:
            content.append(child.text or "")
            for grandchild in child:
                content += (grandchild, grandchild.tail or "")
        else:
            content.append(child)
        content.append(child.tail or "")
    return content


def _append_text(parent: Element, text: str) -> None:
    if not text:
        return
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


@dataclass(slots=True)
class _Page:
    """What a page links to and cites."""

    links: dict[DOI, list[Element]] = field(default_factory=dict)
    """The page's DOIs, in order, each with the links to mark if it does not exist: not the author's own."""
    cited: list[Key] = field(default_factory=list)
    """The works of the citations, in order."""
    bad: set[Element] = field(default_factory=set)
    """The links that become text again."""
    in_headings: set[Element] = field(default_factory=set)
    longer: dict[Element, tuple[DOI, ...]] = field(default_factory=dict)
    """The names that links may mean if their DOIs do not exist."""
    _others: set[DOI] = field(default_factory=set)
    """The DOIs of the author's own links."""

    def add(self, doi: DOI, *ours: Element) -> None:
        self.links.setdefault(doi, []).extend(ours)
        if not ours:
            self._others.add(doi)

    def mentions(self) -> Mentions:
        """Return the DOIs of mentions with the longer names that these may mean."""
        return [
            (doi, self.longer[link])
            for doi, links in self.links.items()
            for link in links
            if link in self.longer
        ]

    def follow_longer_names(self, statuses: Mapping[DOI, str]) -> dict[Element, DOI]:
        """Note the names that mentions mean; return the links that are to lead elsewhere."""
        followed: dict[Element, DOI] = {}
        links_by_doi = self.links
        self.links = {}
        for doi, links in links_by_doi.items():
            if doi in self._others:
                self.add(doi)
            for link in links:
                whole = whole_name(doi, self.longer.get(link, ()), statuses)
                self.add(whole, link)
                if whole != doi:
                    followed[link] = whole
        return followed


def _is_missing(doi: DOI, answers: Mapping[DOI, Answer]) -> bool:
    return doi in answers and answers[doi].status == "not-found"


class LinkTreeprocessor(Treeprocessor):
    """Finishes a page's links when the inline patterns are done."""

    def __init__(
        self,
        md: Markdown,
        options: MarkdownOptions,
        links: Links,
        report: Problems,
        look_up: Callable[[Mapping[DOI, Need], Mentions], dict[DOI, Answer]],
    ) -> None:
        super().__init__(md)
        self._options = options
        self._links = links
        self._report = report
        self._look_up = look_up
        self._needs_works = needs_work(options.shared.text)
        self.citations = Citations(links)
        self.nocite = options.nocite
        """The works that each list has, though nothing cites them."""
        self.metadata_nocite: Callable[[], str] = lambda: ""
        """Returns those of the page's own list, as its metadata name them."""
        self._read_nocite: tuple[str, list[Key]] = ("", [])

    def run(self, root: Element) -> None:
        """Finish the links in ``root``, in place."""
        page = self._read(root)
        if page.bad:
            dissolve(root, page.bad)

        answers = self._answers(page)
        if self._follow_longer_names(page, answers):
            answers = self._answers(page)

        needs = self._needs(page)
        without_link = needs.keys() - page.links.keys()
        self._report.nocite = {f"doi:{doi.name}" for doi in without_link}
        self._report_missing(page, needs, answers)
        self._report_works(page, needs, answers)
        self._report.finish()

        self._links.cards = self._cards(page, answers)
        self.citations.listed = tuple(self._listed(page))
        self.citations.answers = answers

    def _answers(self, page: _Page) -> dict[DOI, Answer]:
        """Look up what is needed about the DOIs of a page."""
        needs = self._needs(page)
        mentions = page.mentions() if self._options.shared.resolve else []
        return self._look_up(needs, mentions) if needs else {}

    def _needs(self, page: _Page) -> dict[DOI, Need]:
        """Return what is needed about the DOIs of a page; works may come from the lock file alone."""
        shared = self._options.shared
        needs: dict[DOI, Need] = {}
        if shared.resolve:
            has_cards = self._options.details and self._report.page
            need = Need.CARD if has_cards else Need.EXISTENCE
            needs |= dict.fromkeys(page.links, need)
        if shared.resolve or shared.lock:
            dois = [key for key in self._listed(page) if isinstance(key, DOI)]
            needs |= dict.fromkeys([*self.citations.untitled.values(), *dois], Need.WORK)
        return needs

    def _listed(self, page: _Page) -> list[Key]:
        """Return the works of the list of references, some of them more than once; of other texts the cited."""
        linked = page.links if self._options.list_links else {}
        of_page = self._nocite_of_page()
        has_list = page.cited or linked or of_page or self._report.markers
        if not self._report.page or not has_list:
            return page.cited
        return [*page.cited, *of_page, *self.nocite, *linked]

    def _nocite_of_page(self) -> list[Key]:
        """Return the works that the page's metadata list, though nothing cites them."""
        text = self.metadata_nocite()
        if text != self._read_nocite[0]:

            def report(part: str, error: ValueError) -> None:
                self._report.of_list([Problem(part, str(error), file="nocite")])

            cites = self._options.citing.read_nocite(text, report)
            self._read_nocite = (text, [cite.key for cite in cites])
        return self._read_nocite[1]

    def _follow_longer_names(self, page: _Page, answers: Mapping[DOI, Answer]) -> bool:
        """Make links lead to the names that their mentions mean; return whether any leads elsewhere now."""
        statuses = {doi: answer.status for doi, answer in answers.items()}
        followed = page.follow_longer_names(statuses)
        for link, doi in followed.items():
            self._links.set_target(link, doi)
        return bool(followed)

    def _report_missing(
        self, page: _Page, needs: Mapping[DOI, Need], answers: Mapping[DOI, Answer]
    ) -> None:
        """Mark the links to DOIs that do not exist, and report these."""
        missing = [doi for doi in {**page.links, **needs} if _is_missing(doi, answers)]
        for doi in missing:
            for link in page.links.get(doi, ()):
                mark_missing(link)
        self._report.missing({doi: answers[doi].meant for doi in missing})

    def _report_works(
        self, page: _Page, needs: Mapping[DOI, Need], answers: Mapping[DOI, Answer]
    ) -> None:
        """Report works without metadata, retracted works, and DOIs that the lock file lacks."""
        listed = self._listed(page)
        in_files = self._options.citing.library.merge({}, listed)
        needs_metadata = set(listed).difference(in_files)
        for doi in needs:
            answer = answers[doi]
            if doi in needs_metadata and answer.lacks_metadata:
                is_cited = doi in page.cited or doi in self.nocite
                reason = _NO_METADATA if is_cited else _NOT_LISTED
                self._report.add_first(doi, reason)
            if answer.work is not None and answer.work.retraction is not None:
                self._report.add_first(doi, str(answer.work.retraction))
            if self._options.locked and answer.cause:
                self._report.add_first(doi, _NOT_LOCKED)

    def _cards(self, page: _Page, answers: Mapping[DOI, Answer]) -> dict[Element, Details]:
        """Return the texts of the cards by link; images have a name, and headings become titles."""
        cards: dict[Element, Details] = {}
        if not self._options.details or not self._report.page:
            return cards

        works = self._options.citing.library.merge(works_of(answers), page.links)
        for doi, links in page.links.items():
            details = details_of(works[doi]) if doi in works else None
            if details is None:
                continue
            for link in links:
                has_image = link.find(".//img") is not None
                if link not in page.in_headings and not has_image:
                    cards[link] = details
        return cards

    def _read(self, root: Element) -> _Page:
        """Return the page's links; those that need no other element are finished here."""
        page = _Page(in_headings=_links_in(root, HEADINGS))
        unlinked = _links_in(root, _CLICKED)
        toc = toc_of(self.md)
        if toc is not None and toc.use_anchors:
            unlinked |= page.in_headings
        self.citations.begin(self._report.page, unlinked, page.in_headings)

        made, cited, page.longer = self._links.take()
        enclosed = in_raw_html(root, self.md.htmlStash)
        for link in list(root.iter("a")):
            is_ours = link in made or link in cited
            if is_ours and link in enclosed:
                page.bad.add(link)  # no link inside a raw <a> or <code>
            elif link in cited:
                self._read_citation(page, link, cited[link])
            elif link in made and link in unlinked:
                page.add(made[link])
                unlink(link)
            elif link in made:
                page.add(made[link], link)
            else:
                self._read_other(page, link)
        for raw in self.md.htmlStash.rawHtmlBlocks:
            if isinstance(raw, str):
                for doi in proxy_dois(raw):
                    page.add(doi)
        return page

    def _read_citation(self, page: _Page, element: Element, citation: InlineCitation) -> None:
        self.citations.cited[element] = citation
        page.cited += [cite.key for cite in citation.cites]
        for doi in citation.dois:
            page.add(doi)

    def _read_other(self, page: _Page, link: Element) -> None:
        """Read a link that Markdown or the author made."""
        href = link.get("href") or ""
        if _DOI_URI.match(href):
            self._finish(page, link, href)
            return
        doi = proxy_doi(href)
        if doi is not None:
            page.add(doi)
            self._tidy(link, href)
            self._set_text(link, doi)

    def _finish(self, page: _Page, link: Element, href: str) -> None:
        """Make a link to a ``doi:`` URI one that browsers can follow, or text again if it is not a DOI."""
        text = unescape_html(unescaped(_ESCAPE.sub(r"\1", href)))
        try:
            doi = DOI.parse(text)
        except DOISyntaxError as error:
            self._report.bad(text.strip(), error, link=True)
            self._restore(link, href)
            page.bad.add(link)
            return
        self._links.set_target(link, doi)
        self._set_text(link, doi)
        page.add(doi, link)

    def _restore(self, link: Element, href: str) -> None:
        """Put the source of a link around its text."""
        title = link.get("title")
        destination = f'{href} "{title}"' if title else href
        link.text = f"[{link.text or ''}"
        add_text(link, f"]({destination})")

    def _set_text(self, link: Element, doi: DOI) -> None:
        """Give a link without text the text that the options say; later, if that needs the work."""
        if len(link) or (link.text or "").strip():
            return
        if self._needs_works:
            self.citations.untitled[link] = doi
            text = f"doi:{doi.name}"
        else:
            text = self._options.shared.display(doi)
        link.text = AtomicString(literal(text))

    def _tidy(self, link: Element, href: str) -> None:
        """Tidy the author's own link if that is wanted, and its text if that is the URL."""
        if not self._options.tidy_links:
            return
        tidied = tidy(href)
        link.set("href", tidied)
        if link.text == href and href != tidied:
            link.text = AtomicString(tidied)
