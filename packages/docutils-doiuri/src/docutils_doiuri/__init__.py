"""The doi role for docutils: rst2html, Pelican, Nikola.

``register()`` adds the role to what docutils knows. ``Parser`` has it built in, with command line options
and ``doi:`` references as well: ``docutils --parser=docutils_doiuri page.rst page.html``.
"""

from docutils_doiuri._parser import Parser
from docutils_doiuri._role import doi_role, reference, register, remarks, unlinked
from docutils_doiuri._target import Target, read_target
from docutils_doiuri._transforms import LinkDOIs, VerifyDOIs, as_written, doi_references, link_uri, suggestion

__all__ = [
    "LinkDOIs",
    "Parser",
    "Target",
    "VerifyDOIs",
    "as_written",
    "doi_references",
    "doi_role",
    "link_uri",
    "read_target",
    "reference",
    "register",
    "remarks",
    "suggestion",
    "unlinked",
]
