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
from markdown_doiuri._options import read_nocite
from markdown_doiuri._references import HEADINGS, Citations, add_text, toc_of, works_of
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
    from markdown_doiuri._verification import LongerNames

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
    """Return the links between raw tags in which nothing is linked, as in ``<code>[x](doi:10.1000/182)</code>``.

    A tag that is never closed encloses nothing.
    """
    tags = [_no_links_tag(raw) for raw in stash.rawHtmlBlocks]
    if not any(tags):
        return set()

    links_by_open_tag: dict[str, list[Element]] = {}  # those after it, so far
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
            if tag["slash"]:  # an end tag
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
    """What a page links to, cites and lists."""

    links: dict[DOI, list[Element]] = field(default_factory=dict)
    """The DOIs of the page, in order, each with the links that are changed if it does not exist."""
    cited: list[Key] = field(default_factory=list)
    """The works of the citations, in order."""
    nocite: list[Key] = field(default_factory=list)
    """The works that the metadata of the page list, though nothing cites them."""
    in_headings: set[Element] = field(default_factory=set)
    """The links in headings."""
    longer: dict[Element, tuple[DOI, ...]] = field(default_factory=dict)
    """The names that links may mean if their DOIs do not exist."""
    _without_link: set[DOI] = field(default_factory=set)
    """The DOIs that the page has in other places than these links, such as citations and the author's links."""

    def add_link(self, link: Element, doi: DOI) -> None:
        """Add a link that is changed if the DOI does not exist."""
        self.links.setdefault(doi, []).append(link)

    def add(self, doi: DOI) -> None:
        """Add a DOI in a place that stays as it is."""
        self.links.setdefault(doi, [])
        self._without_link.add(doi)

    def longer_names(self) -> LongerNames:
        """Return the DOIs of mentions with the longer names that these may mean."""
        return [
            (doi, self.longer[link])
            for doi, links in self.links.items()
            for link in links
            if link in self.longer
        ]

    def follow_longer_names(self, statuses: Mapping[DOI, str]) -> dict[Element, DOI]:
        """Note the names that mentions mean; return the links that have to lead elsewhere, and where."""
        followed: dict[Element, DOI] = {}
        links_by_doi = self.links
        self.links = {}
        for doi, links in links_by_doi.items():
            if doi in self._without_link:
                self.add(doi)
            for link in links:
                name = whole_name(doi, self.longer.get(link, ()), statuses)
                self.add_link(link, name)
                if name != doi:
                    followed[link] = name
        return followed


def _is_missing(doi: DOI, answers: Mapping[DOI, Answer]) -> bool:
    return doi in answers and answers[doi].status == "not-found"


class LinkTreeprocessor(Treeprocessor):
    """Finishes a page's links when the inline patterns are done.

    1. Collect what the page links to, cites and lists; finish the links that need no answer.
    2. Ask the registry or the lock file about it. Where the answers say that mentions mean longer names, make
       their links lead there, and ask about these names, too.
    3. Draw what the answers say: marks of missing DOIs, texts of cards. Later processors write the citations.
    4. Report what is wrong.

    :param look_up: returns what is known about the DOIs of a page, and about the longer names.
    :param nocite: the works that each list has, though nothing cites them.
    :param metadata_nocite: returns those that the metadata of a page name, for its own list.
    """

    def __init__(
        self,
        md: Markdown,
        options: MarkdownOptions,
        links: Links,
        report: Problems,
        look_up: Callable[[Mapping[DOI, Need], LongerNames], dict[DOI, Answer]],
        nocite: tuple[Key, ...],
        metadata_nocite: Callable[[], str],
    ) -> None:
        super().__init__(md)
        self._options = options
        self._links = links
        self._report = report
        self._look_up = look_up
        self._nocite = nocite
        self._metadata_nocite = metadata_nocite
        self._needs_works = needs_work(options.shared.text)
        self.citations = Citations(links)

    def run(self, root: Element) -> None:
        """Finish the links in ``root``, in place."""
        page = self._collect(root)

        needs = self._needs(page)
        answers = self._ask(page, needs)
        if self._follow_longer_names(page, answers):
            needs = self._needs(page)
            answers = self._ask(page, needs)

        for doi, links in page.links.items():
            if _is_missing(doi, answers):
                for link in links:
                    mark_missing(link)
        self._links.cards = self._cards(page, answers)
        self.citations.listed = tuple(self._listed(page))
        self.citations.answers = answers

        # DOIs that are needed, but are nowhere on the page, come from "nocite": problems with them have no line.
        without_link = needs.keys() - page.links.keys()
        self._report.nocite = {f"doi:{doi.name}" for doi in without_link}
        missing = [doi for doi in {**page.links, **needs} if _is_missing(doi, answers)]
        self._report.add_missing({doi: answers[doi].meant for doi in missing})
        self._report_works(page, needs, answers)
        self._report.finish()

    # Collect

    def _collect(self, root: Element) -> _Page:
        """Return what the page links to, cites and lists.

        Links that need no answer are finished here: those that the author wrote, those that are text again
        because they are no DOIs, and those in raw HTML or a label, where nothing is linked.
        """
        page = _Page(in_headings=_links_in(root, HEADINGS))
        unlinked = _links_in(root, _CLICKED)
        toc = toc_of(self.md)
        # The option "anchorlink" of "toc" makes a link of each heading, which cannot contain another.
        if toc is not None and toc.use_anchors:
            unlinked |= page.in_headings
        self.citations.begin(self._report.page, unlinked, page.in_headings)

        made, cited, page.longer = self._links.take()
        # No link of ours inside a raw <a> or <code>
        texts = in_raw_html(root, self.md.htmlStash) & {*made, *cited}
        for link in list(root.iter("a")):
            if link in texts:
                continue
            if link in cited:
                self._collect_citation(page, link, cited[link])
            elif link in made and link in unlinked:
                page.add(made[link])
                unlink(link)
            elif link in made:
                page.add_link(link, made[link])
            elif _DOI_URI.match(link.get("href") or ""):
                doi = self._finish_uri(link)
                if doi is None:
                    texts.add(link)
                else:
                    page.add_link(link, doi)
            else:
                self._collect_proxy_link(page, link)
        for raw in self.md.htmlStash.rawHtmlBlocks:
            if isinstance(raw, str):
                for doi in proxy_dois(raw):
                    page.add(doi)
        if texts:
            dissolve(root, texts)

        of_page = read_nocite(self._options.citing, [self._metadata_nocite()])
        page.nocite = of_page.keys
        self._report.add(of_page.problems)
        return page

    def _collect_citation(self, page: _Page, element: Element, citation: InlineCitation) -> None:
        self.citations.cited[element] = citation
        page.cited += [cite.key for cite in citation.cites]
        for doi in citation.dois:
            page.add(doi)

    def _finish_uri(self, link: Element) -> DOI | None:
        """Make a link to a ``doi:`` URI one that browsers can follow, and return its DOI.

        If it is not a DOI, put the source of the link around its text, and return None.
        """
        href = link.get("href") or ""
        text = unescape_html(unescaped(_ESCAPE.sub(r"\1", href)))
        try:
            doi = DOI.parse(text)
        except DOISyntaxError as error:
            self._report.add_bad_text(text.strip(), error, link=True)
            title = link.get("title")
            destination = f'{href} "{title}"' if title else href
            link.text = f"[{link.text or ''}"
            add_text(link, f"]({destination})")
            return None
        self._links.set_target(link, doi)
        self._set_text(link, doi)
        return doi

    def _collect_proxy_link(self, page: _Page, link: Element) -> None:
        """Add the DOI of an author's link to doi.org, and tidy the link if that is wanted."""
        href = link.get("href") or ""
        doi = proxy_doi(href)
        if doi is None:
            return
        page.add(doi)
        if self._options.tidy_links:
            tidied = tidy(href)
            link.set("href", tidied)
            if link.text == href and href != tidied:
                link.text = AtomicString(tidied)
        self._set_text(link, doi)

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

    def _listed(self, page: _Page) -> list[Key]:
        """Return the works of the list of references, some of them more than once; of other texts the cited."""
        linked = page.links if self._options.list_links else {}
        has_list = page.cited or linked or page.nocite or self._report.markers
        if not self._report.page or not has_list:
            return page.cited
        return [*page.cited, *page.nocite, *self._nocite, *linked]

    # Ask

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

    def _ask(self, page: _Page, needs: Mapping[DOI, Need]) -> dict[DOI, Answer]:
        """Return the answers about the DOIs in ``needs``, and about the longer names that mentions may mean."""
        if not needs:
            return {}
        longer_names = page.longer_names() if self._options.shared.resolve else []
        return self._look_up(needs, longer_names)

    def _follow_longer_names(self, page: _Page, answers: Mapping[DOI, Answer]) -> bool:
        """Make links lead to the names that their mentions mean; return whether any leads elsewhere now."""
        statuses = {doi: answer.status for doi, answer in answers.items()}
        followed = page.follow_longer_names(statuses)
        for link, doi in followed.items():
            self._links.set_target(link, doi)
        return bool(followed)

    # Draw

    def _cards(self, page: _Page, answers: Mapping[DOI, Answer]) -> dict[Element, Details]:
        """Return the texts of the cards by link; images have a name, and headings become titles."""
        if not self._options.details or not self._report.page:
            return {}

        cards: dict[Element, Details] = {}
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

    # Report

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
                is_cited = doi in page.cited or doi in self._nocite
                reason = _NO_METADATA if is_cited else _NOT_LISTED
                self._report.add_at_first_use(doi, reason)
            if answer.work is not None and answer.work.retraction is not None:
                self._report.add_at_first_use(doi, str(answer.work.retraction))
            if self._options.locked and answer.cause:
                self._report.add_at_first_use(doi, _NOT_LOCKED)
