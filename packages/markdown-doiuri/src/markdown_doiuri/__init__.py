"""DOIs in Python-Markdown: linked, verified, and marked if they do not exist.

>>> import markdown
>>> markdown.markdown(
...     "See doi:10.1000/182.", extensions=["doiuri"], extension_configs={"doiuri": {"resolve": False}}
... )
'<p>See <a class="doi" href="https://doi.org/10.1000/182">doi:10.1000/182</a>.</p>'
"""

from markdown_doiuri._extension import DOIExtension, makeExtension
from markdown_doiuri._pelican import register
from markdown_doiuri._report import Problem
from markdown_doiuri._verification import forget

__all__ = ["DOIExtension", "Problem", "forget", "makeExtension", "register"]

for _public in (DOIExtension, Problem):
    _public.__module__ = __name__  # for tracebacks and pickles
