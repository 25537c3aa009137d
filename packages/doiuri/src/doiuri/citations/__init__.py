"""Citations and lists of references in any CSL style: what authors write, and what readers see.

Needs the extra ``citations``, which is the package ``doiuri-csl``. Texts are runs of ``doiuri_csl``, from which
a host makes its own nodes or elements; they are never markup.
"""

from importlib.util import find_spec

if find_spec("doiuri_csl") is None:
    raise ModuleNotFoundError(
        'doiuri.citations needs doiuri-csl: pip install "doiuri[citations]"', name="doiuri_csl"
    )

from doiuri_csl import Locator, parse_locator

from doiuri.citations._bibliography import Bibliography, EntryCache, Form, ListEntry, Reference
from doiuri.citations._cites import CitationItem, parse_citation
from doiuri.citations._citing import Citing
from doiuri.citations._notes import Around, as_in_note, move_mark
from doiuri.citations._spans import Span, text_of
from doiuri.citations._style import ReferenceStyle, load_locale
from doiuri.citations._works import Library, read_bibtex, read_works

__all__ = [
    "Around",
    "Bibliography",
    "CitationItem",
    "Citing",
    "EntryCache",
    "Form",
    "Library",
    "ListEntry",
    "Locator",
    "Reference",
    "ReferenceStyle",
    "Span",
    "as_in_note",
    "load_locale",
    "move_mark",
    "parse_citation",
    "parse_locator",
    "read_bibtex",
    "read_works",
    "text_of",
]

for _public in (
    Around,
    Bibliography,
    CitationItem,
    Citing,
    EntryCache,
    Library,
    ListEntry,
    Reference,
    ReferenceStyle,
    Span,
):
    _public.__module__ = __name__  # for tracebacks and pickles
