"""CSL files: styles, among them the two of ours, and the terms of locales.

Terms are those of the locale files that citeproc-py brings along, or without it, of a table of ours.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

NAMESPACE = "{http://purl.org/net/xbiblio/csl}"
ENGLISH = "en-US"
SHIPPED = ("author-date", "numeric")
"""The names of our styles: in APA's manner, and in that of engineering journals."""

Area: TypeAlias = Literal["bibliography", "citation"]
"""What a style formats and sorts."""

_NUMERIC = re.compile(
    "ieee|vancouver|nature|science|medic|chemi|physic|ama|acm|acs|aip|aps|cell|num", re.IGNORECASE
)


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


@dataclass(frozen=True)
class Style:
    """A CSL style.

    Get one with ``Style.load``. Styles are equal if their files are.

    >>> Style.load().numbered, Style.load("numeric").numbered
    (False, True)
    """

    name: str = field(compare=False)
    """The name of a style of ours, or the path of the file, as it was given."""

    xml: bytes = field(repr=False)
    """The content of the file."""

    @classmethod
    def load(cls, name: str = "author-date", folder: str | os.PathLike[str] = ".") -> Style:
        """Return a style.

        :param name: "author-date" or "numeric", or the path of a file whose name ends in ``.csl``
        :param folder: the folder of relative paths
        :raises ValueError: for any other name, and for a file that cannot be read or is not a CSL style
        :raises ModuleNotFoundError: for a file, if the extra ``citations`` is not installed
        """
        if name in SHIPPED:
            return cls(name, Path(__file__).with_name(f"{name}.csl").read_bytes())
        if not name.lower().endswith(".csl") or "\0" in name:
            closest = SHIPPED[bool(_NUMERIC.search(name))]
            raise ValueError(
                f"unknown style {name!r}: write {closest!r}, the closest of ours, or the path of a .csl file"
            )
        path = Path(folder, name)
        try:
            style = cls(name, path.read_bytes())
            style._check()
        except OSError as error:
            raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
        except ET.ParseError as error:
            raise ValueError(f"{path}:{error.position[0]}: not XML: {error.msg}") from None
        except ValueError as error:
            raise ValueError(f"{path}{error}") from None
        return style

    def _check(self) -> None:
        """Raise an error that says what is wrong with the file, after its name."""
        if self._root.tag != f"{NAMESPACE}style":
            raise ValueError(": not a CSL style")
        for link in self._root.iter(f"{NAMESPACE}link"):
            if link.get("rel") == "independent-parent":
                raise ValueError(
                    f": only refers to another style; get that one: {link.get('href')}"
                )
        if self._root.find(f"{NAMESPACE}bibliography") is None:
            raise ValueError(": a CSL style without a bibliography, so it has no entries")
        folder = citeproc_folder()
        from lxml import etree

        schema = etree.RelaxNG(
            file=str(folder / "data" / "schema" / "schemas" / "styles" / "csl.rng")
        )
        if not schema.validate(etree.fromstring(self.xml)):
            error = schema.error_log[0]
            raise ValueError(
                f":{error.line}: not a valid CSL style: {error.message.replace(NAMESPACE, '')}"
            )
        for element in self._root.iter():
            if element.get("macro", "") not in {"", *self._macros}:
                raise ValueError(f": there is no macro {element.get('macro')!r}")

    @cached_property
    def _root(self) -> ET.Element:
        return ET.fromstring(self.xml)  # noqa: S314 (the author's own file; expat bounds entities)

    @cached_property
    def _macros(self) -> dict[str, ET.Element]:
        return {macro.get("name", ""): macro for macro in self._root.iter(f"{NAMESPACE}macro")}

    def _find(self, path: str) -> ET.Element:
        """Return an element, or an empty one if the style does not have it."""
        found = self._root.find("/".join(f"{NAMESPACE}{name}" for name in path.split("/")))
        return ET.Element("none") if found is None else found

    @cached_property
    def _in_citations(self) -> list[ET.Element]:
        """The elements of the layout of citations, and of the macros that it calls."""
        elements = [*self._find("citation/layout").iter()]
        called = set[str]()
        for element in elements:  # grows
            macro = element.get("macro")
            if macro is not None and macro not in called:
                called.add(macro)
                elements += self._macros[macro].iter()
        return elements

    @property
    def is_shipped(self) -> bool:
        """Whether it is one of ours, whose citations need no processor."""
        return self.name in SHIPPED

    @property
    def options(self) -> Mapping[str, str]:
        """Its global options."""
        return self._root.attrib

    @cached_property
    def repeated_names(self) -> str:
        """What stands for the names of an entry that are those of the entry before it."""
        return self._find("bibliography").get("subsequent-author-substitute", "")

    @cached_property
    def numbered(self) -> bool:
        """Whether citations are numbers."""
        return any(element.get("variable") == "citation-number" for element in self._in_citations)

    @cached_property
    def tells_apart(self) -> bool:
        """Whether citations of works with one label show more of them."""
        return any(element.get("disambiguate") == "true" for element in self._in_citations)

    @cached_property
    def has_letters(self) -> bool:
        """Whether works of one label and year get letters."""
        return not self.numbered and self.layout.get("disambiguate-add-year-suffix") == "true"

    @cached_property
    def names_letters(self) -> bool:
        """Whether the style says where the letters after years are."""
        return any(e.get("variable") == "year-suffix" for e in self._root.iter(f"{NAMESPACE}text"))

    @property
    def raised(self) -> bool:
        """Whether citations are superscripts."""
        return self.layout.get("vertical-align") == "sup"

    def descends(self, area: Area) -> list[bool]:
        """Return the keys by which a list or a citation is sorted: whether in descending order."""
        return [key.get("sort") == "descending" for key in self._find(f"{area}/sort")]

    @cached_property
    def layout(self) -> Mapping[str, str]:
        """The attributes of citations and their layout, with their defaults.

        Works of an author are grouped if there is a ``cite-group-delimiter`` (CSL 1.0.2, Cite Grouping).
        """
        given = {**self._find("citation").attrib, **self._find("citation/layout").attrib}
        delimiter = given.get("delimiter", "" if self.numbered else "; ")
        defaults = dict.fromkeys(("prefix", "suffix", "collapse"), "")
        if given.get("collapse", "").startswith("year"):
            defaults["cite-group-delimiter"] = ", "
        return {**defaults, "delimiter": delimiter, "year-suffix-delimiter": delimiter, **given}


@cache
def _own_locales() -> Mapping[str, Mapping[str, Any]]:
    file = Path(__file__).with_name("terms.json")
    table: Mapping[str, Mapping[str, Any]] = json.loads(file.read_text("utf-8"))
    return table


@cache
def _locales() -> tuple[Mapping[str, Path | None], Mapping[str, str]]:
    """Return the file of each locale, or None if it is in our table, and the locale of each language."""
    if find_spec("citeproc") is None:
        return dict.fromkeys(_own_locales()), {name[:2]: name for name in _own_locales()}
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
    found = {locale.lower(): locale for locale in files}.get(wanted.lower()) or dialects.get(
        language
    )
    if found is None:
        citeproc_folder()
        close = get_close_matches(wanted, files, 1)
        hint = f"; did you mean {close[0]}?" if close else "; write one such as de-DE"
        raise ValueError(f"CSL has no locale {name!r}{hint}")
    return found


class Terms(NamedTuple):
    """The terms of citations in a language."""

    forms: Mapping[tuple[str, str], tuple[str, str]]
    """The singular and the plural of terms, by name and form."""

    quotes_enclose: bool
    """Whether full stops and commas stand inside of quotation marks."""

    def get(self, name: str, form: str = "long", *, plural: bool = False) -> str:
        """Return a term; if it does not have the form, the long one; "" if there is none."""
        return (self.forms.get((name, form)) or self.forms.get((name, "long"), ("", "")))[plural]


@cache
def terms_of(locale: str) -> Terms:
    """Return the terms of a locale; those that it lacks are English."""
    name = check_locale(locale)
    file = _locales()[0][name]
    english = {} if name == ENGLISH else terms_of(ENGLISH).forms
    terms: dict[tuple[str, str], tuple[str, str]] = {}
    if file is None:  # one form, or the short and the long one
        for term, forms in _own_locales()[name].items():
            one, several, *long = [forms, forms] if isinstance(forms, str) else forms
            terms[term, "short"] = one, several
            terms[term, "long"] = (long[0], long[1]) if long else (one, several)
        return Terms({**english, **terms}, name == ENGLISH)
    root = ET.parse(file).getroot()  # noqa: S314 (citeproc-py's own file)
    for element in root.iter(f"{NAMESPACE}term"):
        single, multiple = (
            element.findtext(f"{NAMESPACE}{number}") for number in ("single", "multiple")
        )
        one = (single or "") if len(element) else (element.text or "")
        terms[element.get("name", ""), element.get("form", "long")] = one, multiple or one
    options = root.find(f"{NAMESPACE}style-options")
    encloses = options is not None and options.get("punctuation-in-quote") == "true"
    return Terms({**english, **terms}, encloses)
