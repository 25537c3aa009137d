"""Citations in titles, where toctrees and other tables of contents repeat them without links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

from sphinx_doiuri.references._nodes import citations_in

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri.references._listings import Listings


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
