"""The domain ``doi``: which documents cite which DOIs, and where the lists of references are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sphinx.domains import Domain
from sphinx.util.logging import get_node_location

from sphinx_doiuri._environment import conditions_of
from sphinx_doiuri.references._directive import BibliographyDirective
from sphinx_doiuri.references._nodes import (
    bibliography_list,
    citations_in,
    is_copy,
    slug,
    targets_of,
    titles_with_citations,
)
from sphinx_doiuri.references._role import CitationRole

if TYPE_CHECKING:
    from collections.abc import Collection
    from collections.abc import Set as AbstractSet

    from docutils import nodes
    from doiuri import DOI
    from sphinx.builders import Builder
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri.references._nodes import Form, Scope


# What a process reads of documents, by document name
_READ = ("citations", "places", "titles", "targets")


class Citation(NamedTuple):
    """One citation in a document."""

    docname: str
    id: str
    """The id of its place in the document."""
    form: Form
    dois: tuple[DOI, ...]
    location: str
    """The source file and line, as ``file:line``."""
    conditions: tuple[tuple[str, str], ...] = ()
    """The directives ``only`` and ``ifconfig`` around it: their names and expressions."""


class Place(NamedTuple):
    """One list of references in a document."""

    docname: str
    scope: Scope
    style: str
    """The CSL style; "" for that of ``doi_reference_style``."""
    conditions: tuple[tuple[str, str], ...] = ()


class DOIDomain(Domain):
    """Roles ``doi:p`` and ``doi:t``, and the directive ``doi:bibliography``."""

    name = "doi"
    label = "DOI"
    roles: ClassVar = {"p": CitationRole("p"), "t": CitationRole("t")}
    directives: ClassVar = {"bibliography": BibliographyDirective}
    initial_data: ClassVar = {name: {} for name in (*_READ, "rendered", "warned", "labels")}
    data_version = 3

    @property
    def citations(self) -> dict[str, list[Citation]]:
        """The citations by document name, in the order of the document."""
        citations: dict[str, list[Citation]] = self.data["citations"]
        return citations

    @property
    def places(self) -> dict[str, list[Place]]:
        """The lists of references by document name."""
        places: dict[str, list[Place]] = self.data["places"]
        return places

    @property
    def titles(self) -> dict[str, dict[str, nodes.TextElement]]:
        """The titles, captions and rubrics with citations, by document name and by the ids they belong to."""
        titles: dict[str, dict[str, nodes.TextElement]] = self.data["titles"]
        return titles

    @property
    def targets(self) -> dict[str, set[str]]:
        """The labels to which documents refer, by document name."""
        targets: dict[str, set[str]] = self.data["targets"]
        return targets

    @property
    def labels(self) -> dict[str, str]:
        """What references to labels of such titles show, by label."""
        labels: dict[str, str] = self.data["labels"]
        return labels

    @property
    def rendered(self) -> dict[str, str]:
        """A digest of what the citations and lists of a document show, by document name."""
        rendered: dict[str, str] = self.data["rendered"]
        return rendered

    @property
    def warned(self) -> dict[str, set[DOI]]:
        """The DOIs that were reported to have no metadata, by document name."""
        warned: dict[str, set[DOI]] = self.data["warned"]
        return warned

    def clear_doc(self, docname: str) -> None:
        """Remove what a document contains."""
        for name in (*_READ, "rendered", "warned"):
            self.data[name].pop(docname, None)

    def merge_domaindata(self, docnames: AbstractSet[str], otherdata: dict[str, Any]) -> None:
        """Add what documents contain that another process has read."""
        for name in _READ:
            theirs = otherdata[name]
            self.data[name].update((doc, theirs[doc]) for doc in sorted(docnames) if doc in theirs)

    def process_doc(self, env: BuildEnvironment, docname: str, document: nodes.document) -> None:  # noqa: ARG002
        """Record the citations and lists of a document, and give each citation an id."""
        citations = []
        number = 0
        for node in citations_in(document):
            node["doi_docname"] = docname
            if is_copy(node):
                continue
            number += 1
            node["doi_id"] = f"doi-cite-{slug(docname)}-{number}"
            location = get_node_location(node) or docname
            citations.append(
                Citation(
                    docname,
                    node["doi_id"],
                    node["doi_form"],
                    node["doi_cited"],
                    location,
                    conditions_of(node),
                )
            )
        places = []
        for place in document.findall(bibliography_list):
            place["doi_docname"] = docname
            places.append(Place(docname, place["doi_scope"], place["doi_style"], conditions_of(place)))
        self._keep("citations", docname, citations)
        self._keep("places", docname, places)
        self._keep("titles", docname, titles_with_citations(document))
        self._keep("targets", docname, targets_of(document))

    def _keep(self, name: str, docname: str, found: Collection[Any]) -> None:
        if found:
            self.data[name][docname] = found

    def resolve_any_xref(
        self,
        env: BuildEnvironment,  # noqa: ARG002
        fromdocname: str,  # noqa: ARG002
        builder: Builder,  # noqa: ARG002
        target: str,  # noqa: ARG002
        node: nodes.Element,  # noqa: ARG002
        contnode: nodes.Element,  # noqa: ARG002
    ) -> list[tuple[str, nodes.reference]]:
        """Return nothing: no cross-reference leads to a DOI."""
        return []
