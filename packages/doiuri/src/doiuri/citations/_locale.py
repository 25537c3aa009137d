"""The terms of a language: from the locale files that citeproc-py brings along, or from a table of ours."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    _Forms = dict[tuple[str, str], tuple[str, str]]

NAMESPACE = "{http://purl.org/net/xbiblio/csl}"
DEFAULT = "en-US"
_TABLE = Path(__file__).with_name("terms.json")


def needs_extra(package: str = "doiuri") -> str:
    """Return what to say if the extra ``citations`` of a package is needed and not installed."""
    languages = ", ".join(sorted(name[:2] for name in _own_locales()))
    return (
        f"lists of references, .csl styles, works in YAML and languages other than {languages} need "
        f'an extra: pip install "{package}[citations]"'
    )


def citeproc_folder() -> Path:
    """Return the folder of citeproc-py.

    :raises ModuleNotFoundError: if it is not installed
    """
    spec = find_spec("citeproc")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(needs_extra(), name="citeproc")
    return Path(spec.origin).parent


@cache
def _own_locales() -> Mapping[str, Mapping[str, Any]]:
    table: Mapping[str, Mapping[str, Any]] = json.loads(_TABLE.read_text("utf-8"))
    return table


@cache
def _locales() -> tuple[Mapping[str, Path], Mapping[str, str]]:
    """Return the file of each locale, and the locale of each language; without citeproc-py, of our table."""
    if find_spec("citeproc") is None:
        return dict.fromkeys(_own_locales(), _TABLE), {name[:2]: name for name in _own_locales()}
    folder = citeproc_folder() / "data" / "locales"
    files = {file.stem.removeprefix("locales-"): file for file in folder.glob("locales-*.xml")}
    return files, json.loads((folder / "locales.json").read_text("utf-8"))["primary-dialects"]


def check_locale(name: str) -> str:
    """Return the name of the CSL locale for a language such as "de", "de-AT" or "pt_BR".

    Without the extra ``citations`` there are six languages, without their dialects.

    :raises ValueError: if there is none; citeproc-py would use English without a word
    :raises ModuleNotFoundError: if it may need the extra ``citations``, which is not installed

    >>> check_locale("de"), check_locale("pt_BR")
    ('de-DE', 'pt-BR')
    """
    files, dialects = _locales()
    wanted = name.replace("_", "-")
    language = wanted.partition("-")[0].lower()
    found = {locale.lower(): locale for locale in files}.get(wanted.lower()) or dialects.get(language)
    if found is None:
        citeproc_folder()
        close = get_close_matches(wanted, files, 1)
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
    name = check_locale(locale)
    file = _locales()[0][name]
    terms, enclose = _own_terms(name) if file == _TABLE else _csl_terms(file)
    return Terms({**({} if name == DEFAULT else terms_of(DEFAULT).forms), **terms}, enclose)


def _own_terms(name: str) -> tuple[_Forms, bool]:
    """Return the terms of our table, which have one form, or the short and the long one."""
    terms: _Forms = {}
    for term, forms in _own_locales()[name].items():
        if isinstance(forms, str):
            terms[term, "long"] = forms, forms
        else:
            terms[term, "short"], terms[term, "long"] = tuple(forms[:2]), tuple(forms[2:])
    return terms, name == DEFAULT


def _csl_terms(file: Path) -> tuple[_Forms, bool]:
    root = ET.parse(file).getroot()  # noqa: S314 (citeproc-py's own file)
    terms: _Forms = {}
    for term in root.iter(f"{NAMESPACE}term"):
        single, multiple = (term.findtext(f"{NAMESPACE}{number}") for number in ("single", "multiple"))
        one = (single or "") if len(term) else (term.text or "")
        terms[term.get("name", ""), term.get("form", "long")] = one, multiple or one
    options = root.find(f"{NAMESPACE}style-options")
    return terms, options is not None and options.get("punctuation-in-quote") == "true"
