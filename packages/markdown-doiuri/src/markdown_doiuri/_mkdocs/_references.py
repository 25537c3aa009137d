"""The references of a whole site: their labels on all pages, and their list on one."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement

from doiuri.plugins import unescape_html
from doiuri.records import Bibliography
from markdown.serializers import to_xhtml_string
from markdown.util import AMP_SUBSTITUTE, AtomicString
from mkdocs.utils import get_relative_url

from markdown_doiuri._links import Links
from markdown_doiuri._looks import finish_links
from markdown_doiuri._references import Citations, Writer, slug
from markdown_doiuri._stash import literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri import DOI, Handle
    from doiuri.records import Reference
    from mkdocs.structure.files import File

    from markdown_doiuri._mkdocs._verification import SiteLookups
    from markdown_doiuri._options import Options

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
        new = [doi for doi in cited if doi not in self._cited and doi in self._site.known_works]
        if new:
            self._cited |= dict.fromkeys(new)
            style = self._options.shared.citation
            self.bibliography = Bibliography(self._cited, self._site.known_works, style)

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
        citations = Citations(works=site.known_works, references=site.references)
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
