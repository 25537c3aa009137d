"""Citations in titles, where tables of contents and cross-references repeat them without links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.util.nodes import clean_astext

from sphinx_doiuri.references._nodes import citations_in

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri.references._domain import DOIDomain
    from sphinx_doiuri.references._listings import Listings

_REFERENCES = frozenset({"ref", "any", "myst"})  # the roles that show titles


def titles_with_citations(document: nodes.document) -> dict[str, nodes.TextElement]:
    """Return the titles, captions and rubrics with citations, by the ids and names they belong to."""
    titles = {}
    for citation in citations_in(document):
        title: nodes.Node | None = citation
        while title is not None and not isinstance(title, nodes.title | nodes.caption | nodes.rubric):
            title = title.parent
        if title is not None:
            owner = title if isinstance(title, nodes.rubric) else title.parent
            titles.update(dict.fromkeys([*owner["ids"], *owner["names"]], _copy(title)))
    return titles


def _copy(title: nodes.TextElement) -> nodes.TextElement:
    """Return a copy without the document, which would be stored with it."""
    copied = title.deepcopy()
    for node in copied.findall():
        vars(node).pop("_document", None)
    return copied


def targets_of(document: nodes.document) -> set[str]:
    """Return the labels to which a document refers."""
    references = document.findall(addnodes.pending_xref)
    return {node["reftarget"] for node in references if node["reftype"] in _REFERENCES}


def update_labels(env: BuildEnvironment, domain: DOIDomain, listings: Listings) -> list[str]:
    """Show the labels of citations in cross-references to titles; return the documents with changed ones.

    The ids of these titles contain the names, whatever the metadata is.
    """
    labels = env.domaindata["std"]["labels"]
    shown = {}
    for name, (docname, address, _) in labels.items():
        title = domain.titles.get(docname, {}).get(address)
        if title is not None:
            for citation in citations_in(title):
                show_text(citation, listings)
            shown[name] = clean_astext(title)
            labels[name] = docname, address, shown[name]
    changed = {name for name, text in shown.items() if domain.labels.get(name) != text}
    domain.labels.clear()
    domain.labels.update(shown)
    return [docname for docname, targets in sorted(domain.targets.items()) if targets & changed]


def update_titles(env: BuildEnvironment, listings: Listings) -> None:
    """Show the labels of citations in the titles and tables of contents that Sphinx collected."""
    for collected in (env.titles, env.longtitles, env.tocs):
        for element in collected.values():
            for citation in citations_in(element):
                show_text(citation, listings)


def show_text(citation: nodes.inline, listings: Listings) -> None:
    """Show a citation without links."""
    text = listings.text_of(citation["doi_docname"], citation["doi_form"], citation["doi_cited"])
    citation[:] = [nodes.Text(text)]
