"""What the pages of a site share: the answers about its DOIs, and the list of references."""

from __future__ import annotations

import posixpath
import time
from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement

from doiuri.plugins import unescape_html
from doiuri.records import Bibliography
from markdown.serializers import to_xhtml_string
from markdown.util import AMP_SUBSTITUTE, AtomicString
from mkdocs.utils import get_relative_url

from markdown_doiuri._extension import DOIExtension
from markdown_doiuri._links import Links, finish_links
from markdown_doiuri._references import Citations, Writer, slug, works
from markdown_doiuri._stash import literal
from markdown_doiuri._verification import Need, sentence, verifier

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from doiuri import DOI, Handle, plugins
    from doiuri.records import Reference
    from mkdocs.structure.files import File

    from markdown_doiuri._options import Options
    from markdown_doiuri._verification import Answer


class SiteLookups:
    """What is known about the DOIs of a site; new ones are requested within the build's budget."""

    def __init__(self, options: plugins.Options) -> None:
        self._options = options
        self._verifier = verifier(options)
        self._start = time.monotonic()
        self._linked: dict[DOI, Need] = {}  # by pages
        self.known: dict[DOI, Answer] = {}

    def prepare(self, dois: Iterable[DOI], cited: Iterable[DOI]) -> None:
        """Look up ``dois``, and for at most half of the budget the works of those that are ``cited``."""
        needs = dict.fromkeys(dois, Need.EXISTENCE) if self._options.resolve else {}
        if self._options.resolve or self._options.lock:
            needs |= dict.fromkeys(cited, Need.REFERENCE)
        self._request(needs, self._options.budget / 2)

    def look_up(self, needs: Mapping[DOI, Need]) -> dict[DOI, Answer]:
        """Return what is known about the DOIs of a page."""
        self._linked |= {doi: max(need, self._linked.get(doi, need)) for doi, need in needs.items()}
        return self._request(needs, self._options.budget)

    def _request(self, needs: Mapping[DOI, Need], works_budget: float) -> dict[DOI, Answer]:
        start = self._start
        deadline, works_deadline = start + self._options.budget, start + works_budget
        answers = self._verifier.look_up(needs, self._options, deadline, works_deadline)
        self.known |= answers
        return answers

    def unknown(self) -> str:
        """Return how many DOIs of the pages could not be checked, and why; "" if none."""
        return sentence(self._linked, self.known)


_PLACE = '<div data-doiuri="references"></div>'


class SiteReferences:
    """The works that a site cites, and the places of their citations."""

    def __init__(self, path: str, options: Options, site: SiteLookups) -> None:
        self.path = path
        """The path of the page with the list, in the folder of pages."""
        self._options = options
        self._site = site
        self._cited: dict[DOI, None] = {}
        self.bibliography = Bibliography((), {})
        self.places: dict[str, dict[File, str]] = {}
        """By key of a DOI: the pages that cite it, and the id of the first citation on each."""

    def add(self, cited: Iterable[DOI]) -> None:
        """Add works, after those that are known."""
        known = works(self._site.known)
        new = [doi for doi in cited if doi not in self._cited and doi in known]
        if new:
            self._cited |= dict.fromkeys(new)
            style = self._options.shared.citation
            self.bibliography = Bibliography(self._cited, known, style)

    def html(self, file: File, *, everything: bool) -> str:
        """Return the list, as HTML for a page.

        :param everything: whether to list works that are cited in sources, but on no page.
        """
        entries = _ListWriter(self, self._options, self._site, file).entries()
        if entries is None:
            return ""
        if not everything and self._options.shared.citation != "number":
            cited = {entry_id(key) for key in self.places}
            for entry in [entry for entry in entries[0] if entry.get("id") not in cited]:
                entries[0].remove(entry)
        finish_links(entries, self._options.shared.link)
        return to_xhtml_string(entries).replace(AMP_SUBSTITUTE, "&").rstrip()

    @property
    def ids(self) -> set[str]:
        """The ids of the entries."""
        return {entry_id(reference.doi.key) for reference in self.bibliography.references}


class PageWriter(Writer):
    """Writes the citations of a page; they link to the list on the site's page of references."""

    def __init__(
        self,
        options: Options,
        links: Links,
        citations: Citations,
        used: set[str],
        references: SiteReferences,
        file: File | None,
    ) -> None:
        self._references = references
        self._file = file
        super().__init__(options, links, citations, used)

    def _list(self, cited: list[DOI]) -> Bibliography:
        if self._file is None:  # text that is no page: its citations link to the DOIs
            return Bibliography((), {})
        self._references.add(cited)
        return self._references.bibliography

    def _entry_id(self, doi: Handle) -> str:
        return entry_id(doi.key)

    def _entry_url(self, doi: Handle) -> str:
        # MkDocs makes a URL of this path, and checks it.
        folder = posixpath.dirname(self._file.src_uri) if self._file else ""
        return f"{quote(posixpath.relpath(self._references.path, folder or '.'))}#{self._ids[doi.key]}"

    def _link_to_entry(self, link: Element, doi: Handle, text: str) -> None:
        super()._link_to_entry(link, doi, text)
        if self._file is not None:
            self._references.places.setdefault(doi.key, {}).setdefault(self._file, link.get("id") or "")

    def entries(self) -> Element | None:
        """Return what stands for the list until all pages are known; None if the list is on another page."""
        if self._file is None or self._file.src_uri != self._references.path:
            return None
        return Element("div", {"data-doiuri": "references"})


class _ListWriter(Writer):
    """Writes the list of references of a site; its entries link back to pages."""

    def __init__(self, references: SiteReferences, options: Options, site: SiteLookups, file: File) -> None:
        self._references = references
        self._file = file
        citations = Citations(answers=site.known)
        super().__init__(options, Links(options), citations, set())

    def _list(self, cited: list[DOI]) -> Bibliography:  # noqa: ARG002
        return self._references.bibliography

    def _entry_id(self, doi: Handle) -> str:
        return entry_id(doi.key)

    def _link_back(self, entry: Element, reference: Reference) -> None:
        for file, place in self._references.places.get(reference.doi.key, {}).items():
            entry[-1].tail = AtomicString((entry[-1].tail or "") + " ")
            url = f"{get_relative_url(file.url, self._file.url)}#{place}"
            link = SubElement(
                entry, "a", {"class": "doi-backref", "href": literal(url), "role": "doc-backlink"}
            )
            title = file.page.title if file.page else None  # HTML, unlike the text of an element
            link.text = AtomicString(literal(f"↩ {unescape_html(title or file.name)}"))


def entry_id(key: str) -> str:
    """Return the id of an entry, for the key of its DOI."""
    return f"ref-{slug(key)}"


def with_list(html: str, entries: str) -> str:
    """Return the page of references with the list in its place."""
    return html.replace(_PLACE, entries, 1)


class SiteExtension(DOIExtension):
    """The extension, for one build of a site.

    :param bibliography: path of the page with the list of references; "" for a list on each page.
    """

    def __init__(self, bibliography: str, **options: object) -> None:
        super().__init__(**options)
        self.site = SiteLookups(self.options.shared)
        """What looks up the DOIs."""
        self.references = SiteReferences(bibliography, self.options, self.site) if bibliography else None
        """The references of the site, if they are on one page."""
        self.file: File | None = None
        """The file of the page that is converted."""

    def _look_up(self, needs: Mapping[DOI, Need]) -> dict[DOI, Answer]:
        return self.site.look_up(needs)

    def _writer(self, links: Links, citations: Citations, used: set[str]) -> Writer:
        if self.references is None:
            return super()._writer(links, citations, used)
        return PageWriter(self.options, links, citations, used, self.references, self.file)
