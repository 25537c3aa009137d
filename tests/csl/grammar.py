"""Styles, items and documents by a small grammar, the same ones for each seed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, tostring

from doiuri_csl import Cite, Processor, Style, to_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from doiuri_csl import Locale, Run

# Values of the options of names that may stand on the style, an area and a name (CSL 1.0.2, Name)
NAME_OPTIONS = {
    "and": ("text", "symbol"),
    "delimiter-precedes-et-al": ("always", "never", "after-inverted-name"),
    "delimiter-precedes-last": ("always", "never", "after-inverted-name"),
    "et-al-min": ("2", "3"),
    "et-al-use-first": ("1", "2"),
    "et-al-use-last": ("true",),
    "initialize": ("false",),
    "initialize-with": (".", ". ", ""),
    "name-as-sort-order": ("first", "all"),
    "sort-separator": ("; ",),
    "name-form": ("short", "long"),
    "name-delimiter": (" / ",),
    "names-delimiter": (" + ",),
}
_CITATION_OPTIONS = {
    "disambiguate-add-names": ("true",),
    "disambiguate-add-givenname": ("true",),
    "disambiguate-add-year-suffix": ("true",),
    "givenname-disambiguation-rule": ("all-names", "primary-name", "by-cite"),
    "collapse": ("citation-number", "year", "year-suffix", "year-suffix-ranged"),
    "cite-group-delimiter": (", ", "; "),
    "near-note-distance": ("1", "3"),
}
_LIST_OPTIONS = {
    "hanging-indent": ("true",),
    "line-spacing": ("2",),
    "entry-spacing": ("0", "3"),
    "second-field-align": ("flush", "margin"),
    "subsequent-author-substitute": ("———",),
    "subsequent-author-substitute-rule": ("complete-each", "partial-each", "partial-first"),
}
_STYLE_OPTIONS = {
    "demote-non-dropping-particle": ("never", "sort-only"),
    "initialize-with-hyphen": ("false",),
    "page-range-format": ("expanded", "minimal", "minimal-two", "chicago-16"),
}
_FORMATS = {
    "font-style": ("italic",),
    "font-weight": ("bold",),
    "text-case": ("uppercase", "capitalize-first", "title"),
}
POSITIONS = ("first", "subsequent", "ibid", "ibid-with-locator", "near-note")

_PEOPLE: list[dict[str, str]] = [
    {"family": "Doe", "given": "Ann"},
    {"family": "Doe", "given": "Max"},
    {"family": "Roe", "given": "Jean-Paul"},
    {"family": "van der Berg", "given": "Ludwig"},
    {"family": "King", "given": "Martin Luther", "suffix": "Jr."},
    {"literal": "The Institute"},
]
_TITLES = ("Ants", "On “Bees”", "Who Was It?", "The <i>Apis</i> of Rome: A Story")
_DATES: list[dict[str, Any]] = [
    {"date-parts": [[2001]]},
    {"date-parts": [[2001, 5, 3]]},
    {"date-parts": [[2001, 5, 3], [2001, 6, 1]]},
    {"date-parts": [[-44, 3]]},
    {"raw": "Summer 1999"},
    {"literal": "in press"},
]


def element(tag: str, /, *children: Element, **attributes: str) -> Element:
    """An element of CSL: ``date_parts`` becomes the attribute "date-parts", ``and_`` becomes "and"."""
    node = Element(tag, {key.strip("_").replace("_", "-"): attributes[key] for key in attributes})
    node.extend(children)
    return node


def xml_of(style: Element) -> str:
    """The text of a style."""
    style.set("xmlns", "http://purl.org/net/xbiblio/csl")
    return tostring(style, "unicode")


class Chance:
    """Draws styles, items and documents."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def _some(self, options: dict[str, tuple[str, ...]], chance: float) -> dict[str, str]:
        return {
            key: self.random.choice(values)
            for key, values in options.items()
            if self.random.random() < chance
        }

    def _shuffled(self, elements: list[Element]) -> list[Element]:
        return self.random.sample(elements, len(elements))

    def style(self) -> Element:
        """A style of any class, with macros, both areas and all elements."""
        class_ = self.random.choice(("in-text", "note"))
        style = element("style", class_=class_, version="1.0")
        style.attrib.update(self._some(_STYLE_OPTIONS, 0.3) | self._some(NAME_OPTIONS, 0.15))
        if self.random.random() < 0.5:
            style.attrib.update({"et-al-min": "3", "et-al-use-first": self.random.choice("12")})
        style.append(element("macro", self.names(), name="who"))
        style.append(element("macro", *self._shuffled(self._parts())[:3], name="what"))
        for name, options in (("citation", _CITATION_OPTIONS), ("bibliography", _LIST_OPTIONS)):
            area = element(name)
            area.attrib.update(self._some(options, 0.4) | self._some(NAME_OPTIONS, 0.15))
            if self.random.random() < 0.5:
                area.append(self._sort())
            area.append(self._layout())
            style.append(area)
        return style

    def _sort(self) -> Element:
        keys = [element("key", macro="who"), element("key", variable="issued")]
        keys.append(element("key", variable="volume", sort="descending"))
        return element("sort", *self._shuffled(keys)[:2])

    def _layout(self) -> Element:
        locator = element("group", element("label", variable="locator", form="short"))
        locator.append(element("text", variable="locator"))
        names = self.random.choice((self.names(), element("text", macro="who")))
        parts = [*self._parts(), self._conditions(), element("text", macro="what")]
        content = [names, *self._shuffled(parts)[:5], locator]
        if self.random.random() < 0.3:
            content.insert(0, element("text", variable="citation-number", suffix=". "))
        group = element("group", *content, delimiter=self.random.choice((", ", ". ")))
        return element("layout", group, delimiter=self.random.choice(("; ", ", ")), suffix=".")

    def names(self) -> Element:
        """Names with any options of theirs."""
        options = self._some(NAME_OPTIONS, 0.15)
        options.pop("names-delimiter", "")
        name = element("name")
        name.attrib.update({key.removeprefix("name-"): options[key] for key in options
                            if key != "name-as-sort-order"})  # fmt: skip
        if "name-as-sort-order" in options:
            name.set("name-as-sort-order", options["name-as-sort-order"])
        family = element("name-part", name="family")
        family.attrib.update(self._some(_FORMATS, 0.2))
        name.append(family)
        children = [name, element("et-al")]
        if self.random.random() < 0.5:
            children.append(element("label", form="short", prefix=" (", suffix=")"))
        substitute = element("substitute", element("names", variable="editor"))
        substitute.append(self._text(variable="title"))
        variable = self.random.choice(("author", "author editor"))
        return element("names", *children, substitute, variable=variable)

    def _text(self, **attributes: str) -> Element:
        text = element("text", **attributes)
        text.attrib.update(self._some(_FORMATS, 0.2))
        return text

    def _parts(self) -> list[Element]:
        return [
            self._text(variable="title", quotes=self.random.choice(("true", "false"))),
            self._text(variable="container-title", form=self.random.choice(("short", "long"))),
            element(
                "group", self._text(term="in"), self._text(variable="publisher"), delimiter=" "
            ),
            element("number", variable="edition", form=self.random.choice(("ordinal", "roman"))),
            element("number", variable="volume"),
            element("group", element("label", variable="page"), element("text", variable="page")),
            element("date", variable="issued", form=self.random.choice(("text", "numeric"))),
            element("date", *self._date_parts(), variable="issued", delimiter=" "),
            element("text", variable="DOI", prefix="doi:"),
        ]

    def _date_parts(self) -> list[Element]:
        names = self.random.choice((("year",), ("month", "year"), ("day", "month", "year")))
        return [element("date-part", name=name) for name in names]

    def _conditions(self) -> Element:
        tests: list[dict[str, str]] = [
            {"type": "book", "variable": "volume"},
            {"is-numeric": "edition volume"},
            {"position": self.random.choice(POSITIONS)},
            {"locator": "chapter"},
            {"disambiguate": "true"},
        ]
        first, second = element("if", self._text(value="yes")), element("else-if")
        second.append(self._text(variable="title"))
        for condition in (first, second):
            condition.attrib.update(self.random.choice(tests))
            if self.random.random() < 0.5:
                condition.set("match", self.random.choice(("any", "none")))
        return element("choose", first, second, element("else", self._text(value="no")))

    def items(self, count: int = 7) -> list[dict[str, Any]]:
        """Works whose authors and years overlap."""
        items = []
        for number in range(count):
            people = self.random.sample(_PEOPLE, self.random.choice((1, 1, 2, 3, 4)))
            item: dict[str, Any] = {
                "id": f"w{number}",
                "type": self.random.choice(("book", "article-journal")),
                "title": self.random.choice(_TITLES),
                self.random.choice(("author", "author", "author", "editor")): people,
                "issued": self.random.choice(_DATES),
                "edition": self.random.choice(("1", "2", "11", "23rd", "revised")),
                "page": self.random.choice(("5", "101-107", "e12--e15", "1 & 3")),
                "DOI": "10.1000/182",
                "publisher": "Press",
                "container-title": "Journal of Ants",
                "container-title-short": "J. Ants",
                "volume": self.random.choice(("1", "3-4", "9", "10")),
            }
            for key in self.random.sample(
                sorted({*item} - {"id", "type", "title", "container-title-short"}), 2
            ):
                del item[key]
            items.append(item)
        return items

    def document(self, items: Sequence[dict[str, Any]], count: int = 8) -> list[list[Cite]]:
        """Citations of one to three works, with locators, and with names in the sentence or without."""
        citations = []
        for _ in range(count):
            cites = []
            for item in self.random.sample(items, self.random.choice((1, 1, 2, 3))):
                locator = self.random.choice(("", "", "5", "7-9"))
                label = self.random.choice(("page", "page", "chapter", "sub-verbo"))
                suppressed = self.random.random() < 0.1
                cites.append(Cite(item["id"], locator, label, suppress_author=suppressed))
            if self.random.random() < 0.1:
                cites.insert(0, Cite(cites[0].id, author_only=True))
            citations.append(cites)
        return citations


def shown(
    style: Element | str,
    items: Sequence[dict[str, Any]],
    citations: list[list[Cite]],
    locale: Locale | None = None,
    write: Callable[[Iterable[Run]], str] = to_html,
) -> list[str]:
    """All that a document shows in a style: its citations, its list, and how that is set."""
    parsed = Style.parse(style if isinstance(style, str) else xml_of(style))
    processor = Processor(parsed, items, locale)
    processor.set_citations(citations)
    texts = [write(processor.citation(number)) for number in range(len(citations))]
    for entry in processor.bibliography():
        texts.append(f"{write(entry.label)} | {write(entry.runs)} | {entry.problem}")
    list_format = (parsed.hanging_indent, parsed.second_field_align, parsed.line_spacing)
    return [*texts, f"{list_format} {parsed.entry_spacing}"]
