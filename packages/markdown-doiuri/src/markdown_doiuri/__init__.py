"""DOIs in Python-Markdown: right links, verified, and marked where the DOI does not exist."""

from markdown_doiuri._extension import DOIExtension, makeExtension
from markdown_doiuri._memory import forget
from markdown_doiuri._report import Problem

__all__ = ["DOIExtension", "Problem", "forget", "makeExtension"]
__version__ = "0.1.0"
