"""CSL styles: the two of ours, and what the attributes of a style say about citations."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from doiuri.citations._locale import NAMESPACE, citeproc_folder

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

DEFAULT = "author-date"
SHIPPED = (DEFAULT, "numeric")
"""The names of our styles: in APA's manner, and in that of engineering journals."""

_OUR_MACROS = {"people-or-title": ("author", "editor", "title"), "year": ("issued",)}
"""The variables that sort in our styles, which need no processor."""

_NUMERIC = re.compile(
    "ieee|vancouver|nature|science|medic|chemi|physic|ama|acm|acs|aip|aps|cell|num", re.IGNORECASE
)


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
    def load(cls, name: str = DEFAULT, folder: str | os.PathLike[str] = ".") -> Style:
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
                raise ValueError(f": only refers to another style; get that one: {link.get('href')}")
        if self._find("bibliography/layout") is None:
            raise ValueError(": a CSL style without a bibliography, so it has no entries")
        folder = citeproc_folder()
        from lxml import etree

        schema = etree.RelaxNG(file=str(folder / "data" / "schema" / "schemas" / "styles" / "csl.rng"))
        if not schema.validate(etree.fromstring(self.xml)):
            error = schema.error_log[0]
            raise ValueError(f":{error.line}: not a valid CSL style: {error.message.replace(NAMESPACE, '')}")
        for element in self._root.iter():
            if element.get("macro", "") not in {"", *self._macros}:
                raise ValueError(f": there is no macro {element.get('macro')!r}")

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

    @property
    def is_shipped(self) -> bool:
        """Whether it is one of ours, whose citations need no processor."""
        return self.name in SHIPPED

    @cached_property
    def demotes_particles(self) -> bool:
        """Whether "van Gogh" stands under G."""
        return self._root.get("demote-non-dropping-particle") != "never"

    @cached_property
    def formats_pages(self) -> bool:
        """Whether ranges of pages have the form that the style names, not that of the metadata."""
        return "page-range-format" in self._root.attrib

    @cached_property
    def repeated_names(self) -> str:
        """What stands for the names of an entry that are those of the entry before it."""
        bibliography = self._find("bibliography")
        return "" if bibliography is None else bibliography.get("subsequent-author-substitute", "")

    @cached_property
    def numbered(self) -> bool:
        """Whether citations are numbers."""
        layout = self._find("citation/layout")
        return any(element.get("variable") == "citation-number" for element in self._expanded(layout))

    @cache  # noqa: B019 (styles are few)
    def sort_keys(self, area: Literal["bibliography", "citation"]) -> tuple[SortKey, ...]:
        """The keys by which the list or a citation is sorted; empty for the order of the citations."""
        sort = self._find(f"{area}/sort")
        return tuple(self._sort_key(key, area) for key in (() if sort is None else sort))

    def _sort_key(self, key: ET.Element, area: Literal["bibliography", "citation"]) -> SortKey:
        macro, descends = key.get("macro"), key.get("sort") == "descending"
        names: dict[str, str] = {}
        if not macro or self.is_shipped:  # otherwise, the names in the macro have their own
            names = {**self._root.attrib, **getattr(self._find(area), "attrib", {})}
        names |= {name.replace("names", "et-al"): value for name, value in key.items()}
        options = tuple((name, value) for name, value in names.items() if name.startswith("et-al"))
        variables = _OUR_MACROS[macro] if self.is_shipped and macro else (key.get("variable", ""),)
        only_years, macro = self.is_shipped and macro == "year", None if self.is_shipped else macro
        return SortKey(variables, descends, only_years, macro, options, area)

    @cached_property
    def names_letters(self) -> bool:
        """Whether the style says where the letters after years are."""
        return any(e.get("variable") == "year-suffix" for e in self._root.iter(f"{NAMESPACE}text"))

    @cached_property
    def tells_apart(self) -> bool:
        """Whether citations of works with one label show more of them."""
        tests = self._expanded(self._find("citation/layout"))
        return any(element.get("disambiguate") == "true" for element in tests)

    @cached_property
    def layout(self) -> Layout:
        """What citations have around and between their works."""
        citation, layout = self._find("citation"), self._find("citation/layout")
        assert citation is not None  # noqa: S101 (the schema says so)
        assert layout is not None  # noqa: S101
        delimiter = layout.get("delimiter", "" if self.numbered else "; ")
        return Layout(
            layout.get("prefix", ""),
            layout.get("suffix", ""),
            delimiter,
            layout.get("vertical-align") == "sup",
            citation.get("collapse", ""),
            citation.get("collapse", "").startswith("year") or "cite-group-delimiter" in citation.attrib,
            citation.get("cite-group-delimiter", ", "),
            citation.get("year-suffix-delimiter", delimiter),
            not self.numbered and citation.get("disambiguate-add-year-suffix") == "true",
        )


class Layout(NamedTuple):
    """What citations have around and between their works."""

    prefix: str
    suffix: str
    """What encloses a citation: "(" and ")"."""
    delimiter: str
    """Stands between two works."""
    superscript: bool
    collapse: str
    """CSL's ``collapse``: "citation-number", or begins with "year"; "" for none."""
    has_groups: bool
    """Whether consecutive works of an author are joined in another way."""
    group_delimiter: str
    """Stands between two works of an author."""
    letter_delimiter: str
    """Stands between two letters of a year."""
    has_letters: bool
    """Whether works of one label and year get letters."""


class SortKey(NamedTuple):
    """A key by which a style sorts a list."""

    variables: tuple[str, ...]
    """The first one that a work has counts."""
    is_descending: bool
    only_years: bool
    """Whether months and days of dates do not count."""
    macro: str | None
    """The macro whose text counts instead; None in our styles, which need no processor."""
    names: tuple[tuple[str, str], ...]
    """How many names count in it, as options of names."""
    area: Literal["bibliography", "citation"]
    """What it sorts."""
