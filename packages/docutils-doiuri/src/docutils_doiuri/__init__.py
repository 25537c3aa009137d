"""The role ``doi`` for docutils: rst2html, Pelican, Nikola.

``register()`` adds the role to docutils. ``Parser`` has the role built in, and also understands ``doi:``
URIs and command line options: ``docutils --parser=docutils_doiuri page.rst page.html``.
"""

from docutils_doiuri._parser import Parser, doi_role, register

__all__ = ["Parser", "doi_role", "register"]

Parser.__module__ = __name__  # for tracebacks and pickles
