"""Citations and the list of references in the tree of a page."""

from markdown_doiuri._references._headings import HeadingTreeprocessor
from markdown_doiuri._references._places import PlaceProcessor
from markdown_doiuri._references._writer import Citations, ReferencesTreeprocessor, Writer, slug

__all__ = ["Citations", "HeadingTreeprocessor", "PlaceProcessor", "ReferencesTreeprocessor", "Writer", "slug"]
