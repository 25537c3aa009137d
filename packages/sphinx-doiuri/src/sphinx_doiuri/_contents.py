"""What the pages of a build show: uses of DOIs, citations, and lists of references."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI
from doiuri.plugins.display import needs_work

from sphinx_doiuri._citations import domain_of
from sphinx_doiuri._config import options
from sphinx_doiuri._environment import doi_data, in_documents, is_shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx.application import Sphinx

    from sphinx_doiuri._citations import DocumentCitation, ListPlace
    from sphinx_doiuri._environment import DOIData, Use


class WorkUse(NamedTuple):
    """A place at which the build needs the work that a DOI names."""

    docname: str
    doi: DOI
    location: str


@dataclass(frozen=True, slots=True)
class Contents:
    """What the pages of a build show, by document name: nothing that ``only`` and the like leave out."""

    uses: dict[str, dict[int, Use]]
    """The uses of DOIs, by their positions among all uses in the document."""
    citations: dict[str, list[DocumentCitation]]
    places: dict[str, list[ListPlace]]
    """The lists of references."""
    shows_works: bool
    """Whether links show authors, year or title, because of ``doi_text``."""

    def with_whole_names(self, statuses: Mapping[DOI, str]) -> Contents:
        """Return the contents with each use of the DOI that it means, as far as it is known."""
        uses = {}
        for docname, in_document in self.uses.items():
            uses[docname] = {
                position: use.with_whole_name(statuses) for position, use in in_document.items()
            }
        return replace(self, uses=uses)

    @property
    def all_uses(self) -> list[Use]:
        """All uses, sorted by document name."""
        return [use for uses in self.uses.values() for use in uses.values()]

    def links_in(self, docname: str) -> list[Use]:
        """Return the uses in a document, except those of sphinxcontrib-bibtex."""
        return [use for use in self.uses.get(docname, {}).values() if not use.entry]

    @property
    def cited(self) -> list[WorkUse]:
        """The works that are cited, and then those that are listed because of ``nocite``."""
        sources: list[DocumentCitation | ListPlace] = [
            *in_documents(self.citations),
            *in_documents(self.places),
        ]
        cited = []
        for source in sources:
            for cite in source.cites:
                if isinstance(cite.key, DOI):
                    cited.append(WorkUse(source.docname, cite.key, source.location))
        return cited

    @property
    def linked(self) -> list[WorkUse]:
        """The links whose works are listed: a list with the option ``links`` has their page or the project."""
        places = [place for place in in_documents(self.places) if place.links]
        lists_project = any(place.scope == "project" for place in places)
        pages = {place.docname for place in places}
        linked = []
        for docname in self.uses:
            if lists_project or docname in pages:
                for use in self.links_in(docname):
                    linked.append(WorkUse(docname, use.doi, use.location))
        return linked

    def unknown_works(self, data: DOIData) -> list[DOI]:
        """Return the DOIs whose works are needed but not known yet, and which may have some.

        Works are needed of what is cited or listed, or of all DOIs if links show works.
        """
        needed = data.dois()
        if not self.shows_works:
            needed = list(dict.fromkeys(use.doi for use in (*self.cited, *self.linked)))
        new = [doi for doi in needed if doi not in data.works]
        return [doi for doi in new if data.statuses.get(doi) != "not-found"]


def contents_of(app: Sphinx) -> Contents:
    """Return what the pages of this build show, as it is written; all documents have been read."""
    shows_works = needs_work(options(app.config).text)
    uses = {}
    for docname, written_uses in sorted(doi_data(app.env).uses.items()):
        uses[docname] = {
            position: use
            for position, use in enumerate(written_uses)
            if is_shown(app, use.conditions)
        }
    domain = domain_of(app.env)
    citations = {}
    for docname, written_citations in domain.citations.items():
        citations[docname] = [item for item in written_citations if is_shown(app, item.conditions)]
    places = {}
    for docname, written_places in domain.places.items():
        places[docname] = [place for place in written_places if is_shown(app, place.conditions)]
    return Contents(uses, citations, places, shows_works)
