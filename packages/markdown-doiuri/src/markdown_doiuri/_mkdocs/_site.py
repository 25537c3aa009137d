"""What the pages of a site share: the answers about its DOIs, and the list of references."""

from __future__ import annotations

import posixpath
import time
from typing import TYPE_CHECKING, cast
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement

from doiuri.plugins import unescape_html
from doiuri.plugins.survey import Need
from markdown.serializers import to_xhtml_string
from markdown.util import AMP_SUBSTITUTE
from mkdocs.utils import get_relative_url

from markdown_doiuri._extension import DOIExtension
from markdown_doiuri._links import Links, finish_links
from markdown_doiuri._references import Citations, Writer, add_text, reference_list
from markdown_doiuri._report import Scope
from markdown_doiuri._stash import literal, slug
from markdown_doiuri._verification import sentence, verifier

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from doiuri import DOI
    from doiuri.plugins.citing import Backlink, ReferenceList
    from doiuri.plugins.survey import Answer
    from mkdocs.structure.files import File

    from markdown_doiuri._options import MarkdownOptions
    from markdown_doiuri._references import Entries, Key


class SiteLookups:
    """What is known about the DOIs of a site; new ones are requested within the build's budget."""

    def __init__(self, options: MarkdownOptions) -> None:
        self._options, self._cards = options.shared, options.details
        self._verifier = verifier(options.shared)
        self._start = time.monotonic()
        self._linked: dict[DOI, Need] = {}  # by pages
        self.known: dict[DOI, Answer] = {}

    def prepare(self, dois: Iterable[DOI], cited: Iterable[DOI]) -> None:
        """Look up ``dois``, and the works of those that are ``cited``."""
        need = Need.CARD if self._cards else Need.EXISTENCE
        needs = dict.fromkeys(dois, need) if self._options.resolve else {}
        if self._options.resolve or self._options.lock:
            needs |= dict.fromkeys(cited, Need.WORK)
        self._request(needs)

    def look_up(self, needs: Mapping[DOI, Need]) -> dict[DOI, Answer]:
        """Return what is known about the DOIs of a page."""
        self._linked |= {doi: max(need, self._linked.get(doi, need)) for doi, need in needs.items()}
        return self._request(needs)

    def _request(self, needs: Mapping[DOI, Need]) -> dict[DOI, Answer]:
        answers = self._verifier.look_up(needs, self._options, self._start + self._options.budget)
        self.known |= answers
        return answers

    def unknown(self) -> str:
        """Return how many DOIs of the pages could not be checked, and why; "" if none."""
        return sentence(self._linked, self.known)


_PLACE = '<div data-doiuri="references"></div>'


class SiteReferences:
    """The works that a site cites, and the places of their citations."""

    def __init__(self, path: str, extension: SiteExtension) -> None:
        self.path = path
        """The path of the page with the list, in the folder of pages."""
        self.options, self._site, self._entries = (
            extension.options,
            extension.site,
            extension.entries,
        )
        self._cited: dict[Key, list[Backlink]] = {}
        self._current = reference_list(self.options.citing, {}, {})
        self.files: dict[str, File] = {}
        """The files of the pages that cite works, by their paths."""

    def add(self, listed: Iterable[Key]) -> None:
        """Add works, after those that are known."""
        for key in listed:
            self._cited.setdefault(key, [])

    def current(self) -> ReferenceList:
        """Return the list of the works so far."""
        if len(self._current.cited) != len(self._cited):
            cited = dict(self._cited)  # with the same lists of places
            self._current = reference_list(self.options.citing, cited, self._site.known)
        return self._current

    def write(self, file: File, page: str, *, everything: bool) -> str:
        """Return the page of references with the list in its place.

        :param everything: whether to list works that are cited in sources, but on no page.
        """
        citations = Citations(Links(self.options), answers=self._site.known, entries=self._entries)
        current = self.current()
        references = current.references
        if not everything and not current.is_numbered:
            listed = {*self.options.nocite, *(key for key in current.cited if current.cited[key])}
            references = tuple(one for one in references if one.key in listed)
        entries = PageWriter(self, file, citations, set()).list_of(references)
        if entries is None:
            return page.replace(_PLACE, "")
        finish_links(entries, self.options.shared.link)
        return page.replace(
            _PLACE, to_xhtml_string(entries).replace(AMP_SUBSTITUTE, "&").rstrip(), 1
        )

    @property
    def ids(self) -> set[str]:
        """The ids of the entries."""
        return {entry_id(reference.key) for reference in self.current().references}


class PageWriter(Writer):
    """Writes the citations of a page; they link to the list on the site's page of references."""

    def __init__(
        self, references: SiteReferences, file: File | None, citations: Citations, used: set[str]
    ) -> None:
        # other texts than pages have no links to entries
        self._site_references, self._file = references, cast("File", file)
        page = "" if file is None else file.src_uri
        super().__init__(references.options, citations, used, page)

    def _list(self, listed: tuple[Key, ...]) -> ReferenceList:
        self._site_references.add(listed)
        return self._site_references.current()

    def _entry_id(self, key: Key) -> str:
        return entry_id(key)

    def _entry_url(self, key: Key) -> str:
        # MkDocs makes a URL of this path, and checks it.
        folder = posixpath.dirname(self._file.src_uri) or "."
        return f"{quote(posixpath.relpath(self._site_references.path, folder))}#{self._ids[key]}"

    def _link_back(self, entry: Element, backlinks: list[Backlink]) -> None:
        first: dict[str, str] = {}
        for page, id_ in backlinks:
            first.setdefault(page, id_)
        for page, id_ in first.items():
            file = self._site_references.files[page]
            add_text(entry, " ")
            url = literal(f"{get_relative_url(file.url, self._file.url)}#{id_}")
            link = SubElement(
                entry, "a", {"class": "doi-backref", "href": url, "role": "doc-backlink"}
            )
            title = file.page.title if file.page else None  # HTML, unlike the text of an element
            add_text(link, f"↩ {unescape_html(title or file.name)}")

    def entries(self) -> Element | None:
        """Return what stands for the list until all pages are known; None if the list is on another page."""
        if self._file.src_uri != self._site_references.path:
            return None
        return Element("div", {"data-doiuri": "references"})


def entry_id(key: Key) -> str:
    """Return the id of the entry of a work."""
    return f"ref-{slug(key)}"


class SiteExtension(DOIExtension):
    """The extension, for one build of a site.

    :param entries: the formatted entries of earlier builds; those of this one are added.
    :param bibliography: path of the page with the list of references; "" for a list on each page.
    """

    scope: Scope

    def __init__(self, entries: Entries, bibliography: str, **options: object) -> None:
        super().__init__(**options)
        self.entries, self.scope = entries, Scope()
        self.site = SiteLookups(self.options)
        """What looks up the DOIs."""
        self.references = SiteReferences(bibliography, self) if bibliography else None
        """The references of the site, if they are on one page."""
        self.begin(None)

    def begin(self, file: File | None) -> None:
        """Make the next conversion that of a page with this file; without one, no conversion is."""
        self.file, self.scope.page = file, file is not None

    def _look_up(self, needs: Mapping[DOI, Need]) -> dict[DOI, Answer]:
        return self.site.look_up(needs)

    def _writer(self, citations: Citations, used: set[str]) -> Writer | None:
        references, file = self.references, self.file
        if references is None:
            return super()._writer(citations, used)
        if not citations.listed and (file is None or file.src_uri != references.path):
            return None
        if file is not None:
            references.files[file.src_uri] = file
        return PageWriter(references, file, citations, used)
