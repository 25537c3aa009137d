"""Read the XML of a style into areas, macros and options (CSL 1.0.2, Styles - Structure)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from doiuri_csl._context import StyleOptions
from doiuri_csl._xml import Node
from doiuri_csl.elements._appearance import Appearance, read_appearance
from doiuri_csl.elements._choose import Content
from doiuri_csl.elements._elements import ElementParser
from doiuri_csl.elements._macros import check_macros, macros_of
from doiuri_csl.elements._nameoptions import inherited_attributes

_SORT_OPTIONS = {
    "names-min": "et-al-min",
    "names-use-first": "et-al-use-first",
    "names-use-last": "et-al-use-last",
}
_AREAS = ("citation", "bibliography")
Alignment = Literal["", "flush", "margin"]
_ALIGNMENTS: dict[str, Alignment] = {"flush": "flush", "margin": "margin"}
_NEAR_NOTE_DISTANCE = 5


@dataclass
class SortKey:
    """``<key>``: a variable or a macro, and how names shorten in it (CSL 1.0.2, Sorting)."""

    variable: str
    macro: str
    descending: bool
    names: dict[str, str]

    @classmethod
    def read(cls, node: Node) -> SortKey:
        """Return the key of an element.

        :raises CSLError: if it has neither a variable nor a macro
        """
        if "variable" not in node and "macro" not in node:
            raise node.error("has neither a variable nor a macro")
        names = {"name-as-sort-order": "all"}  # "Doe, Ann" sorts under D
        for attribute, option in _SORT_OPTIONS.items():
            if attribute in node:
                names[option] = node.get(attribute)
        for attribute in ("names-min", "names-use-first"):
            node.number(attribute)  # raises
        descending = node.get("sort") == "descending"
        return cls(node.get("variable"), node.get("macro"), descending, names)


@dataclass
class Area:
    """``<citation>`` or ``<bibliography>``."""

    name: str
    attributes: dict[str, str]
    names: dict[str, str]
    elements: list[Content]
    delimiter: str
    appearance: Appearance
    sort_keys: list[SortKey]

    variables: frozenset[str]
    """Those that its layout shows as text or as numbers, in macros, too."""

    def get(self, name: str, default: str = "") -> str:
        """Return the value of an attribute."""
        return self.attributes.get(name, default)

    def flag(self, name: str) -> bool:
        """Return whether an attribute is "true"."""
        return self.attributes.get(name) == "true"


class ListFormat(NamedTuple):
    """How the list of references is set (CSL 1.0.2, Bibliography-specific Options), with its defaults."""

    hanging_indent: bool = False
    second_field_align: Alignment = ""
    line_spacing: int = 1
    entry_spacing: int = 1

    @classmethod
    def read(cls, node: Node) -> ListFormat:
        """Return the format of a ``<bibliography>``.

        :raises CSLError: if a distance is not a number
        """
        return cls(
            hanging_indent=node.get("hanging-indent") == "true",
            second_field_align=_ALIGNMENTS.get(node.get("second-field-align"), ""),
            line_spacing=node.number("line-spacing", 1),
            entry_spacing=node.number("entry-spacing", 1),
        )


@dataclass
class Sheet:
    """A style as the processor needs it."""

    title: str

    is_note: bool
    """Whether its citations stand in notes."""

    is_numeric: bool
    """Whether its citations are numbers."""

    default_locale: str
    areas: dict[str, Area]
    macros: dict[str, list[Content]]
    style_options: StyleOptions

    own_locales: list[Node]
    """Its ``<locale>`` elements, with terms that win over those of the language."""

    conditions: int
    """How many tests for ``disambiguate`` it has."""

    near_note_distance: int
    list_format: ListFormat

    @property
    def citation(self) -> Area:
        """How citations look."""
        return self.areas["citation"]

    @property
    def bibliography(self) -> Area | None:
        """How the list of references looks; None if there is none."""
        return self.areas.get("bibliography")


def read_sheet(root: Node) -> Sheet:
    """Return the style of a root element: its macros, then its areas, then what the whole style says.

    :raises CSLError: if it is not an independent style
    """
    macro_nodes = macros_of(root)
    macros: dict[str, list[Content]] = {}
    parser = ElementParser(macros)
    for name, macro in macro_nodes.items():
        macros[name] = parser.elements(macro)

    areas = {}
    for name in _AREAS:
        node = root.child(name)
        if node is not None:
            inherited = inherited_attributes(root)
            areas[name] = _read_area(node, inherited, parser, macro_nodes)
    citation = root.child("citation")
    if citation is None:
        raise root.error("has no <citation>")
    bibliography = root.child("bibliography")
    list_format = ListFormat() if bibliography is None else ListFormat.read(bibliography)

    with_year_suffix = (name for name, area in areas.items() if "year-suffix" in area.variables)
    return Sheet(
        title=title_of(root),
        is_note=root.get("class") == "note",
        is_numeric="citation-number" in areas["citation"].variables,
        default_locale=root.get("default-locale"),
        areas=areas,
        macros=macros,
        style_options=StyleOptions(root.get("page-range-format"), frozenset(with_year_suffix)),
        own_locales=root.children("locale"),
        # At most: those in macros that no layout calls are counted too
        conditions=sum("disambiguate" in node for node in root.all()),
        near_note_distance=citation.number("near-note-distance", _NEAR_NOTE_DISTANCE),
        list_format=list_format,
    )


def title_of(root: Node) -> str:
    """Return the title of a style; "" if it has none."""
    info = root.child("info")
    title = info.child("title") if info else None
    return " ".join(title.text.split()) if title else ""


def _read_area(
    node: Node, inherited: dict[str, str], parser: ElementParser, macros: dict[str, Node]
) -> Area:
    """Return an area.

    :param inherited: the options of names that it inherits from the style
    :param macros: those of the style, which its layout and sort keys may call
    :raises CSLError: if it has no layout, or if a macro is missing or calls itself
    """
    layout = node.child("layout")
    if layout is None:
        raise node.error("has no <layout>")
    keys = []
    for sort in node.children("sort"):
        keys += [SortKey.read(key) for key in sort.children("key")]
    elements = parser.elements(layout)
    drawn = check_macros(node, macros)
    shown = [element for element in drawn if element.name in ("text", "number")]
    return Area(
        name=node.name,
        attributes=node.attributes,
        names={**inherited, **inherited_attributes(node)},
        elements=elements,
        delimiter=layout.get("delimiter"),
        appearance=read_appearance(layout),
        sort_keys=keys,
        variables=frozenset(element.get("variable") for element in shown),
    )
