"""The extension as the plugin uses it: what it knows is shared by all pages of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markdown_doiuri._extension import DOIExtension
from markdown_doiuri._mkdocs._references import PageWriter, SiteReferences
from markdown_doiuri._mkdocs._verification import SiteLookups

if TYPE_CHECKING:
    from mkdocs.structure.files import File

    from markdown_doiuri._links import Links
    from markdown_doiuri._references import Citations, Writer
    from markdown_doiuri._verification import Lookups


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

    def _lookups(self) -> Lookups:
        return self.site

    def _writer(self, links: Links, citations: Citations, used: set[str]) -> Writer:
        if self.references is None:
            return super()._writer(links, citations, used)
        return PageWriter(self.options, links, citations, used, self.references, self.file)
