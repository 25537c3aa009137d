"""CSL styles: the two of ours, and what the attributes of a style say about citations."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doiuri.citations._locale import NAMESPACE, citeproc_folder
from doiuri.records._csl import NAMES

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

DEFAULT = "author-date"
SHIPPED = (DEFAULT, "numeric")
"""The names of our styles: in APA's manner, and in that of engineering journals."""

_NUMERIC = re.compile(
    "ieee|vancouver|nature|science|medic|chemi|physic|ama|acm|acs|aip|aps|cell|num", re.IGNORECASE
)


@dataclass(frozen=True)
class Style:
    """A CSL style, and the manner of citations that its attributes describe.

    Get one with ``Style.load``. Styles are equal if their files are.

    >>> Style.load().numbered, Style.load("numeric").numbered
    (False, True)
    """

    name: str = field(compare=False)
    """The name of a style of ours, or the path of the file, as it was given."""

    xml: bytes = field(repr=False)
    """The content of the file."""

    @classmethod
    def load(cls, name: str = DEFAULT, folder: str | os.PathLike[str] = ".") -> Style:
        """Return a style.

        :param name: "author-date" or "numeric", or the path of a file whose name ends in ``.csl``
        :param folder: the folder of relative paths
        :raises ValueError: for any other name, and for a file that cannot be read or is not a CSL style
        :raises ModuleNotFoundError: for a file, if the extra ``citations`` is not installed
        """
        if name in SHIPPED:
            return cls(name, Path(__file__).with_name(f"{name}.csl").read_bytes())
        if not name.endswith(".csl"):
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
        except KeyError as error:
            raise ValueError(f"{path}: there is no macro {error}") from None
        except RecursionError:
            raise ValueError(f"{path}: a macro calls itself") from None
        except ValueError as error:
            raise ValueError(f"{path}{error}") from None
        return style

    def _check(self) -> None:
        """Raise an error that says what is wrong with the file, after its name."""
        if self._root.tag != f"{NAMESPACE}style":
            raise ValueError(": not a CSL style")
        for link in self._root.iter(f"{NAMESPACE}link"):
            if link.get("rel") == "independent-parent":
                raise ValueError(f": only refers to another style; get that one: {link.get('href')}")
        if self._find("bibliography/layout") is None:
            raise ValueError(": a CSL style without a bibliography, so it has no entries")
        folder = citeproc_folder()
        from lxml import etree

        schema = etree.RelaxNG(file=str(folder / "data" / "schema" / "schemas" / "styles" / "csl.rng"))
        if not schema.validate(etree.fromstring(self.xml)):
            error = schema.error_log[0]
            raise ValueError(f":{error.line}: not a valid CSL style: {error.message.replace(NAMESPACE, '')}")
        self._variables(self._root)  # calls all macros

    @cached_property
    def _root(self) -> ET.Element:
        return ET.fromstring(self.xml)  # noqa: S314 (the author's own file; expat bounds entities)

    @cached_property
    def _macros(self) -> dict[str, ET.Element]:
        return {macro.get("name", ""): macro for macro in self._root.iter(f"{NAMESPACE}macro")}

    def _find(self, path: str) -> ET.Element | None:
        return self._root.find("/".join(f"{NAMESPACE}{name}" for name in path.split("/")))

    def _expanded(
        self, elements: Iterable[ET.Element] | None, seen: set[str] | None = None
    ) -> Iterator[ET.Element]:
        """Yield elements in their order, each before those in it and in the macro that it calls.

        A macro that is called again is left out: macros that call each other in many places would take long.
        """
        seen = set() if seen is None else seen
        for child in () if elements is None else elements:
            yield child
            macro = child.get("macro")
            if macro is not None and macro not in seen:
                seen.add(macro)
                yield from self._expanded(self._macros[macro], seen)
            yield from self._expanded(child, seen)

    def _variables(self, element: ET.Element) -> frozenset[str]:
        """Return the variables that an element shows, itself or by the macros that it calls."""
        if "macro" in element.attrib:
            return self._variables_of_macro(element.attrib["macro"])
        own = () if _is_test(element) else element.get("variable", "").split()
        return frozenset(own).union(*map(self._variables, element))

    @cache  # noqa: B019 (styles are few)
    def _variables_of_macro(self, name: str) -> frozenset[str]:
        return self._variables(self._macros[name])

    @cached_property
    def prepared(self) -> bytes:
        """The style as citeproc-py can read it."""
        root = deepcopy(self._root)
        for parent in root.iter():
            if parent.tag == f"{NAMESPACE}name-part" and "capital" in parent.get("text-case", ""):
                del parent.attrib["text-case"]  # citeproc-py fails, and names have capitals
            for names in parent.findall(f"{NAMESPACE}names"):
                if parent.tag != f"{NAMESPACE}substitute" and names.find(f"{NAMESPACE}name") is None:
                    names.insert(0, ET.Element(f"{NAMESPACE}name"))  # citeproc-py would add one of its own
        return ET.tostring(root)

    @cached_property
    def numbered(self) -> bool:
        """Whether citations are numbers."""
        layout = self._find("citation/layout")
        return any(element.get("variable") == "citation-number" for element in self._expanded(layout))

    @cached_property
    def sort_keys(self) -> tuple[SortKey, ...]:
        """The keys by which the list is sorted; empty if the list has the order of the citations."""
        sort = self._find("bibliography/sort")
        return tuple(self._sort_key(key) for key in (() if sort is None else sort))

    def _sort_key(self, key: ET.Element) -> SortKey:
        elements = [element for element in self._expanded([key]) if not _is_test(element)]
        variables = " ".join(element.get("variable", "") for element in elements).split()
        dates = {element.get("name") for element in elements if element.tag == f"{NAMESPACE}date-part"}
        variables.sort(key=lambda variable: variable not in NAMES)  # what it does for some types comes later
        return SortKey(tuple(dict.fromkeys(variables)), key.get("sort") == "descending", dates == {"year"})

    @cached_property
    def manner(self) -> Manner:
        """How citations look."""
        return Manner(self)


class SortKey(NamedTuple):
    """A key by which a style sorts a list."""

    variables: tuple[str, ...]
    """The first one that a work has counts."""
    is_descending: bool
    only_years: bool
    """Whether months and days of dates do not count."""


def _is_test(element: ET.Element) -> bool:
    return element.tag.removeprefix(NAMESPACE) in ("if", "else-if", "label")


class Manner:
    """What the attributes of a style say about citations."""

    def __init__(self, style: Style) -> None:
        citation, layout = style._find("citation"), style._find("citation/layout")
        assert citation is not None  # noqa: S101 (the schema says so)
        assert layout is not None  # noqa: S101
        elements = list(style._expanded(layout))
        name = next((e for e in elements if e.tag == f"{NAMESPACE}name"), citation)
        label = next((e for e in elements if e.get("variable") == "locator" and e.get("form")), None)
        affixed = [e for e in elements if e.get("prefix") and "citation-number" in style._variables(e)]
        cite = affixed[-1] if style.numbered and affixed and not layout.get("prefix") else None
        titles = [e for e in elements if e.get("variable") in ("title", "title-short") and not _is_test(e)]

        def option(attribute: str, default: str) -> str:
            found = (element.get(attribute) for element in (name, citation, style._root))
            return next((value for value in found if value is not None), default)

        self.prefix, self.suffix = layout.get("prefix", ""), layout.get("suffix", "")
        """What encloses a citation: "(" and ")"."""
        self.cite_prefix = "" if cite is None else cite.get("prefix", "")
        self.cite_suffix = "" if cite is None else cite.get("suffix", "")
        """What encloses each number in it, if the brackets are there: "[1], [2]"."""
        self.delimiter = layout.get("delimiter", "; ")
        """Stands between two works."""
        self.year_delimiter = _delimiter(style, layout, ("author", "editor"), "issued", " ")
        """Stands between author and year: ", "."""
        self.locator_delimiter = _delimiter(style, layout, ("issued", "citation-number"), "locator", ", ")
        """Stands before a locator."""
        self.locator_form = label.get("form", "long") if label is not None else "short"
        """The form of the terms of locators: "short" for "p. 12"."""
        self.group_delimiter = citation.get("cite-group-delimiter", ", ")
        """Stands between two years of an author."""
        self.collapse = citation.get("collapse", "")
        """CSL's ``collapse``: "citation-number", or begins with "year"; "" for none."""
        self.is_sorted = style._find("citation/sort") is not None
        """Whether the works in a citation have the order of the list."""
        self.has_letters = not style.numbered and citation.get("disambiguate-add-year-suffix") == "true"
        """Whether works of one label and year get letters."""
        self.superscript = layout.get("vertical-align") == "sup"
        self.and_ = option("and", "text" if style.numbered else "")
        """"text" or "symbol"; "" for neither."""
        self.et_al_min = int(option("et-al-min", "3" if style.numbered else "0"))
        self.et_al_use_first = int(option("et-al-use-first", "1"))
        self.last_delimiter = option("delimiter-precedes-last", "contextual")
        """When a comma stands before the "and": "contextual" for three and more, "always", "never"."""
        quoted = {"quoted" for e in titles if e.get("quotes") == "true"}
        self.title_formats = quoted | {"emphasis" for e in titles if e.get("font-style") == "italic"}
        """How titles in place of authors look: of "quoted" and "emphasis"; both if it depends on the work."""


def _delimiter(style: Style, layout: ET.Element, first: tuple[str, ...], second: str, default: str) -> str:
    """Return what the innermost group puts between two of its children that show these variables."""
    found = default
    for group in style._expanded(layout):
        if group.tag == f"{NAMESPACE}group":
            shown = [child for child in group if second in style._variables(child)]
            others = [c for c in group if c not in shown and not style._variables(c).isdisjoint(first)]
            if shown and others:
                found = group.get("delimiter", "") or shown[0].get("prefix", found)
    return found
