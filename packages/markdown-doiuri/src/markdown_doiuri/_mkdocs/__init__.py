"""The MkDocs plugin ``doiuri``; nothing else in this package imports MkDocs."""

from markdown_doiuri._mkdocs._plugin import DOIPlugin

__all__ = ["DOIPlugin"]
