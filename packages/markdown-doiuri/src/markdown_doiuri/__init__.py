"""DOIs in Python-Markdown: right links, verified, and marked where the DOI does not exist."""

from markdown_doiuri._extension import DOIExtension, makeExtension
from markdown_doiuri._report import Problem
from markdown_doiuri._verification import forget

__all__ = ["DOIExtension", "Problem", "forget", "makeExtension"]
