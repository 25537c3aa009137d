"""The message catalogue: ``_`` translates texts of the pages, ``__`` messages of the build."""

from __future__ import annotations

from sphinx.locale import get_translation

CATALOG = "sphinx_doiuri"

_ = get_translation(CATALOG)
__ = get_translation(CATALOG, "console")
