"""Citations in titles, where tables of contents and cross-references repeat them without links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.nodes import clean_astext

from sphinx_doiuri.references._nodes import citations_in

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri.references._domain import DOIDomain
    from sphinx_doiuri.references._listings import Listings


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
