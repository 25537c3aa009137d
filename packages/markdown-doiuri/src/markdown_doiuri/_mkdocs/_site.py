"""What the pages of a site share: the answers about its DOIs, and the list of references."""

from __future__ import annotations

import posixpath
import time
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from doiuri.plugins import unescape_html
from doiuri.plugins.survey import Need

from markdown_doiuri._extension import DOIExtension
from markdown_doiuri._references import BackTo, Writer, bibliography_of
from markdown_doiuri._report import Scope
from markdown_doiuri._stash import slug
from markdown_doiuri._verification import unchecked_dois, verifier

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from xml.etree.ElementTree import Element

    from doiuri import DOI
    from doiuri.citations import Bibliography, EntryCache, Reference
    from doiuri.plugins.survey import Answer
    from markdown import Markdown
    from mkdocs.structure.files import File

    from markdown_doiuri._options import MarkdownOptions
    from markdown_doiuri._references import Backlink, Citations, Key
    from markdown_doiuri._verification import LongerNames


class SiteLookups:
    """What is known about the DOIs of a site; new ones are requested within the build's budget."""

    def __init__(self, options: MarkdownOptions) -> None:
        self._options = options.shared
        self._has_cards = options.details
        self._verifier = verifier(options.shared)
        self._start = time.monotonic()
        self._linked: dict[DOI, Need] = {}  # by pages
        self.known: dict[DOI, Answer] = {}

    def prepare(self, dois: Iterable[DOI], cited: Iterable[DOI]) -> None:
        """Look up ``dois``, and the works of those that are ``cited``."""
        needs: dict[DOI, Need] = {}
        if self._options.resolve:
            need = Need.CARD if self._has_cards else Need.EXISTENCE
            needs |= dict.fromkeys(dois, need)
        if self._options.resolve or self._options.lock:
            needs |= dict.fromkeys(cited, Need.WORK)
        self._request(needs)

    def look_up(self, needs: Mapping[DOI, Need], longer_names: LongerNames) -> dict[DOI, Answer]:
        """Return what is known about the DOIs of a page, and the longer names that mentions mean."""
        for doi, need in needs.items():
            self._linked[doi] = max(need, self._linked.get(doi, need))
        return self._request(needs, longer_names)

    def _request(
        self, needs: Mapping[DOI, Need], longer_names: LongerNames = ()
    ) -> dict[DOI, Answer]:
        deadline = self._start + self._options.budget
        answers = self._verifier.look_up(needs, self._options, longer_names, deadline)
        self.known |= answers
        return answers

    def unchecked_dois(self) -> str:
        """Return how many DOIs of the pages could not be checked, and why; "" if none."""
        return unchecked_dois(self._linked, self.known)


class SiteReferences:
    """The works that a site cites, and the places of their citations.

    :param is_dirty: whether only changed pages are converted.
    """

    def __init__(
        self, path: str, extension: SiteExtension, *, is_dirty: bool, keeps_page_lists: bool
    ) -> None:
        self.path = path
        """The path of the page with the list, in the folder of pages; that of the build's language."""
        self.keeps_page_lists = keeps_page_lists
        """Whether other pages have lists of their own, too."""
        self.options = extension.options
        self._site = extension.site
        self._lists_all = is_dirty
        self.cited: dict[Key, list[Backlink]] = {}
        """The works of the site so far, each with the places that cite it."""
        self._linked: set[Key] = set()  # in the sources, which do not cite them
        self._on_pages: set[Key] = {*self.options.nocite}
        self._bibliography: Bibliography | None = None  # of the works so far
        self.files: dict[str, File] = {}
        """The files of the pages that cite works, by their paths."""

    def add_sources(self, cited: Iterable[Key], linked: Iterable[DOI]) -> None:
        """Add the works in the sources of the pages: first those that are cited, then those that are linked."""
        self.add(cited)
        self._linked.update(linked)
        self._linked -= self.cited.keys()
        self.add(linked)

    def add(self, listed: Iterable[Key]) -> None:
        """Add works, after those that are known."""
        for key in listed:
            if key not in self.cited:
                self.cited[key] = []
                self._bibliography = None

    def add_page(self, file: File, listed: Iterable[Key]) -> None:
        """Note a converted page and its works."""
        self.files[file.src_uri] = file
        self._on_pages.update(listed)

    def bibliography(self) -> Bibliography:
        """Return the works so far."""
        if self._bibliography is None:
            citing = self.options.citing
            self._bibliography = bibliography_of(citing, self.cited, self._site.known)
        return self._bibliography

    def listed(self) -> tuple[Reference, ...]:
        """Return what the list shows: without works that are in the source of a page, but not on it.

        Numbers are given before pages are converted, so a list with numbers keeps such works if they are cited.
        """
        bibliography = self.bibliography()
        references = bibliography.references
        # pages that did not change were not converted, and may have any of these works
        if self._lists_all:
            return references

        if bibliography.is_numbered:
            omitted = self._linked - self._on_pages
        else:
            omitted = self.cited.keys() - self._on_pages
        return tuple(reference for reference in references if reference.key not in omitted)


class PageWriter(Writer):
    """Writes the citations of a page; they link to the list on the site's page of references.

    :param file: the file of the page; None for a text that is not a page.
    """

    def __init__(
        self, references: SiteReferences, file: File | None, citations: Citations, used: set[str]
    ) -> None:
        # other texts than pages have no links to entries
        self._site_references = references
        self._file = cast("File", file)
        page = "" if file is None else file.src_uri
        self._has_list_of_site = page == references.path
        # the list of the page itself, beside that of the site
        self._has_own_list = references.keeps_page_lists and not self._has_list_of_site
        super().__init__(references.options, citations, used, page)

    def _works(self, listed: tuple[Key, ...]) -> dict[Key, list[Backlink]]:
        self._site_references.add(listed)
        return self._site_references.cited

    def _bibliography(self) -> Bibliography:
        return self._site_references.bibliography()

    def _entry_id(self, key: Key) -> str:
        return f"ref-{slug(key)}"

    @property
    def lists_elsewhere(self) -> bool:
        """Whether the list is on another page."""
        return not (self._has_list_of_site or self._has_own_list)

    def _entry_url(self, key: Key) -> str:
        if self._has_own_list:
            return f"#{self._ids[key]}"
        return self._url(self._site_references.path, self._ids[key])

    def _url(self, path: str, id_: str) -> str:
        """Return the link to a place on a page; MkDocs makes a URL of the path, and checks it."""
        folder = posixpath.dirname(self._file.src_uri) or "."
        return f"{quote(posixpath.relpath(path, folder))}#{id_}"

    def _link_back(self, entry: Element, backlinks: list[Backlink]) -> None:
        """Link back to the first citation on each page; from a page's own list to all that it has."""
        if self._has_own_list:
            of_this_page = [backlink for backlink in backlinks if backlink.page == self._page]
            super()._link_back(entry, of_this_page)
            return

        first_of_page: dict[str, Backlink] = {}
        for backlink in backlinks:
            first_of_page.setdefault(backlink.page, backlink)
        super()._link_back(entry, [*first_of_page.values()])

    def _back(self, backlink: Backlink, number: int) -> BackTo:
        """Return the link to a citation, which the list of the site names by the title of its page."""
        if self._has_own_list:
            return super()._back(backlink, number)
        file = self._site_references.files[backlink.page]
        title = file.page.title if file.page else None
        # the title is HTML, unlike the text of an attribute
        name = unescape_html(title or file.name)
        return BackTo(self._url(backlink.page, backlink.id), f"Cited in {name}")

    def entries(self) -> Element | None:
        """Return the list of the site, if this is its page, which is converted last; or else that of the page."""
        if self._has_list_of_site:
            return self.list_of(self._site_references.listed())
        if not self._has_own_list:
            return None

        listed = self._citations.listed
        references = [item for item in self._references.references if item.key in listed]
        return self.list_of(references, listed)

    def add_heading(self, root: Element, entries: Element) -> None:
        """Add a heading to the list of a page; the page of the site's list has one."""
        if self._has_own_list:
            super().add_heading(root, entries)


class SiteExtension(DOIExtension):
    """The extension, for one build of a site.

    :param entries: the texts of the entries of earlier builds; those of this one are added.
    :param bibliography: path of the page with the list of references; "" for a list on each page.
    :param is_dirty: whether only changed pages are converted.
    :param page_lists: whether each page has a list of its own, too.
    """

    scope: Scope

    def __init__(
        self,
        entries: EntryCache,
        bibliography: str,
        *,
        is_dirty: bool,
        page_lists: bool = False,
        **options: object,
    ) -> None:
        super().__init__(**options)
        self.entries = entries
        self.scope = Scope()
        self.site = SiteLookups(self.options)
        """What looks up the DOIs."""
        self.references: SiteReferences | None = None
        """The references of the site, if they are on one page."""
        if bibliography:
            self.references = SiteReferences(
                bibliography, self, is_dirty=is_dirty, keeps_page_lists=page_lists
            )
        self.information: dict[str, None] = {}
        """What is said at the end of the build, and is no problem."""
        self.begin(None)  # no page yet

    def begin(self, file: File | None, nocite: str = "") -> None:
        """Make the next conversion that of a page with this file; without one, no conversion is.

        :param nocite: the works that its metadata list, though nothing cites them.
        """
        self.file = file
        self._nocite = nocite
        self.scope.page = file is not None

    @property
    def _nocite_of_all(self) -> tuple[Key, ...]:
        """The works that each list has, which are those of the option ``nocite``.

        If pages have lists of their own beside that of the site, there are none: only the latter has them.
        """
        has_lists_of_pages = self.references is not None and self.references.keeps_page_lists
        return () if has_lists_of_pages else super()._nocite_of_all

    def _metadata_nocite(self, md: Markdown) -> str:  # noqa: ARG002 - MkDocs has read the metadata
        return self._nocite

    def _look_up(self, needs: Mapping[DOI, Need], longer_names: LongerNames) -> dict[DOI, Answer]:
        return self.site.look_up(needs, longer_names)

    def _inform(self, message: str) -> None:
        self.information[message] = None

    def _writer(self, citations: Citations, used: set[str]) -> Writer | None:
        """Return what writes a page; None if it has neither citations nor the list of the site."""
        references = self.references
        file = self.file
        if references is None:
            return super()._writer(citations, used)
        has_list = file is not None and file.src_uri == references.path
        if not citations.listed and not has_list:
            return None

        if file is not None and citations.page:
            references.add_page(file, citations.listed)
        citations.answers = self.site.known  # the list has the works of all pages
        return PageWriter(references, file, citations, used)
