"""Citations and lists of references in any CSL style: what authors write, and what readers see.

Needs the extra ``citations``, which is the package ``doiuri-csl``. Texts are parts, data from which a host
makes its own nodes or elements; they are never markup.
"""

from importlib.util import find_spec

if find_spec("doiuri_csl") is None:
    raise ModuleNotFoundError(
        'doiuri.citations needs doiuri-csl: pip install "doiuri[citations]"', name="doiuri_csl"
    )

from doiuri.citations._bibliography import Bibliography, EntryKey, Form, format_entries
from doiuri.citations._cites import Cite, Locator, parse_citation, parse_locator
from doiuri.citations._parts import Format, Part, Reference
from doiuri.citations._style import Style, load_locale
from doiuri.citations._works import Library, read_works

__all__ = [
    "Bibliography",
    "Cite",
    "EntryKey",
    "Form",
    "Format",
    "Library",
    "Locator",
    "Part",
    "Reference",
    "Style",
    "format_entries",
    "load_locale",
    "parse_citation",
    "parse_locator",
    "read_works",
]
