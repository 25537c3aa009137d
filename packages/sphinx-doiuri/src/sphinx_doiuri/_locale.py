"""The translated messages: ``_`` for what readers see, ``__`` for what the author sees on the console."""

from sphinx.locale import get_translation

CATALOG = "sphinx_doiuri"

_ = get_translation(CATALOG)
__ = get_translation(CATALOG, "console")
