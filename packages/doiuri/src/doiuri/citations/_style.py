"""CSL styles: the two of ours, and what the attributes of a style say about citations."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from doiuri.citations._locale import NAMESPACE, citeproc_folder

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

DEFAULT = "author-date"
SHIPPED = (DEFAULT, "numeric")
"""The names of our styles: in APA's manner, and in that of engineering journals."""

Area: TypeAlias = Literal["bibliography", "citation"]
"""What a style sorts."""

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

    def descends(self, area: Area) -> list[bool]:
        """Return the keys by which a list or a citation is sorted: whether in descending order."""
        sort = self._find(f"{area}/sort")
        return [key.get("sort") == "descending" for key in (() if sort is None else sort)]

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
    def layout(self) -> Mapping[str, str]:
        """The attributes of citations and their layout, with their defaults."""
        elements = self._find("citation"), self._find("citation/layout")
        given = {
            name: value for element in elements if element is not None for name, value in element.items()
        }
        delimiter = given.get("delimiter", "" if self.numbered else "; ")
        defaults = dict.fromkeys(("prefix", "suffix", "collapse"), "")
        defaults |= {"delimiter": delimiter, "year-suffix-delimiter": delimiter, "cite-group-delimiter": ", "}
        return defaults | given

    @property
    def raised(self) -> bool:
        """Whether citations are superscripts."""
        return self.layout.get("vertical-align") == "sup"

    @cached_property
    def has_groups(self) -> bool:
        """Whether consecutive works of an author are joined in another way."""
        citation = self._find("citation")
        has_delimiter = citation is not None and "cite-group-delimiter" in citation.attrib
        return has_delimiter or self.layout["collapse"].startswith("year")

    @property
    def has_letters(self) -> bool:
        """Whether works of one label and year get letters."""
        return not self.numbered and self.layout.get("disambiguate-add-year-suffix") == "true"
