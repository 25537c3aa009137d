"""The terms of a language in CSL's locale files, which citeproc-py brings along; it is not imported here."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMESPACE = "{http://purl.org/net/xbiblio/csl}"
DEFAULT = "en-US"


def citeproc_folder() -> Path:
    """Return the folder of citeproc-py.

    :raises ModuleNotFoundError: if it is not installed
    """
    spec = find_spec("citeproc")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(
            'citations need citeproc-py: pip install "doiuri[citations]"', name="citeproc"
        )
    return Path(spec.origin).parent


@cache
def _locales() -> tuple[Path, dict[str, str]]:
    """Return the folder of the locale files, and the name of one for each language."""
    folder = citeproc_folder() / "data" / "locales"
    return folder, json.loads((folder / "locales.json").read_text("utf-8"))["primary-dialects"]


def check_locale(name: str) -> str:
    """Return the name of the CSL locale for a language such as "de", "de-AT" or "pt_BR".

    :raises ValueError: if there is none; citeproc-py would use English without a word
    :raises ModuleNotFoundError: if the extra ``citations`` is not installed

    >>> check_locale("de"), check_locale("pt_BR")
    ('de-DE', 'pt-BR')
    """
    folder, dialects = _locales()
    wanted = name.replace("_", "-")
    known = [file.stem.removeprefix("locales-") for file in folder.glob("locales-*.xml")]
    language = wanted.partition("-")[0].lower()
    found = {locale.lower(): locale for locale in known}.get(wanted.lower()) or dialects.get(language)
    if found is None:
        close = get_close_matches(wanted, known, 1)
        hint = f"; did you mean {close[0]}?" if close else "; write one such as de-DE"
        raise ValueError(f"CSL has no locale {name!r}{hint}")
    return found


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of citations in a language."""

    forms: Mapping[tuple[str, str], tuple[str, str]]
    """The singular and the plural of terms, by name and form."""

    quotes_enclose: bool
    """Whether full stops and commas stand inside of quotation marks."""

    def get(self, name: str, form: str = "long", *, plural: bool = False) -> str:
        """Return a term; if it does not have the form, the long one; "" if there is none."""
        for other in dict.fromkeys((form, "short" if form == "symbol" else form, "long")):
            if (name, other) in self.forms:
                return self.forms[name, other][plural]
        return ""


@cache
def terms_of(locale: str) -> Terms:
    """Return the terms of a locale; those that it lacks are English."""
    file = _locales()[0] / f"locales-{check_locale(locale)}.xml"
    root = ET.parse(file).getroot()  # noqa: S314 (citeproc-py's own file)
    english = {} if check_locale(locale) == DEFAULT else terms_of(DEFAULT).forms
    terms = {}
    for term in root.iter(f"{NAMESPACE}term"):
        single, multiple = (term.findtext(f"{NAMESPACE}{number}") for number in ("single", "multiple"))
        text = term.text or ""
        terms[term.get("name", ""), term.get("form", "long")] = single or text, multiple or text
    options = root.find(f"{NAMESPACE}style-options")
    enclose = options is not None and options.get("punctuation-in-quote") == "true"
    return Terms({**english, **terms}, enclose)
