"""Citations and lists of references: the domain ``doi``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_doiuri.references._bibtex import CorrectBibtexLinks
from sphinx_doiuri.references._domain import DOIDomain
from sphinx_doiuri.references._resolve import NameWorks, ResolveBibliographies, ResolveCitations

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup"]


def setup(app: Sphinx) -> None:
    """Add the domain and its transforms."""
    app.add_domain(DOIDomain)
    app.add_post_transform(ResolveCitations)
    app.add_post_transform(ResolveBibliographies)
    app.add_post_transform(NameWorks)
    app.add_post_transform(CorrectBibtexLinks)
