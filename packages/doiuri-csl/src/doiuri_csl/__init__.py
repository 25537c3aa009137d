"""Citations and lists of references in any style of the Citation Style Language (CSL 1.0.2).

``Style.load`` reads a ``.csl`` file, and a ``Processor`` formats the citations of a document and its list of
references. What it returns are ``Run`` s of text, which ``to_html``, ``to_markdown``, ``to_latex`` and ``to_text``
write. Needs only the standard library.
"""

from doiuri_csl._abbreviations import Abbreviations
from doiuri_csl._context import Cite, ListedItem, Place, Position
from doiuri_csl._errors import CSLError
from doiuri_csl._lists import list_to_html
from doiuri_csl._locale import Locale
from doiuri_csl._locator import Locator, parse_locator
from doiuri_csl._processor import BibliographyEntry, Processor
from doiuri_csl._style import Style
from doiuri_csl.text._html import to_html
from doiuri_csl.text._latex import to_latex
from doiuri_csl.text._markdown import to_markdown
from doiuri_csl.text._runs import Format, Run, merge, to_text

__all__ = [
    "Abbreviations",
    "BibliographyEntry",
    "CSLError",
    "Cite",
    "Format",
    "ListedItem",
    "Locale",
    "Locator",
    "Place",
    "Position",
    "Processor",
    "Run",
    "Style",
    "list_to_html",
    "merge",
    "parse_locator",
    "to_html",
    "to_latex",
    "to_markdown",
    "to_text",
]

for _public in (
    Abbreviations,
    BibliographyEntry,
    CSLError,
    Cite,
    ListedItem,
    Locale,
    Locator,
    Place,
    Position,
    Processor,
    Run,
    Style,
):
    _public.__module__ = __name__  # for tracebacks and pickles
