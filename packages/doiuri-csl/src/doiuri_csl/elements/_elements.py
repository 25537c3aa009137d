"""The rendering elements but for names, dates and labels (CSL 1.0.2, Rendering Elements)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from doiuri_csl._context import Context, Element, TextOrigin
from doiuri_csl.elements._appearance import Appearance, read_appearance
from doiuri_csl.elements._choose import Choose, Condition, Content, read_tests, rendering_elements
from doiuri_csl.elements._dates import Date
from doiuri_csl.elements._labels import Label
from doiuri_csl.elements._names import read_names
from doiuri_csl.elements._numbers import format_number, format_pages, is_count, is_numeric
from doiuri_csl.text._markup import parse
from doiuri_csl.text._pieces import (
    EMPTY,
    NOTHING,
    Piece,
    RenderedElement,
    State,
    text_pieces,
    wrap_pieces,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doiuri_csl._xml import Node

Macros: TypeAlias = Mapping[str, "Sequence[Content]"]

_PAGES = ("page", "page-first")
_PAGE_LABELS = ("page", "folio")
_RANGES = ("issue", "volume", "edition")

# CSL 1.0.2, Appendix VI; an URL is its own address.
_ADDRESSES = {
    "DOI": "https://doi.org/",
    "PMID": "https://www.ncbi.nlm.nih.gov/pubmed/",
    "PMCID": "https://www.ncbi.nlm.nih.gov/pmc/articles/",
}
_SCHEMES = ("https://", "http://", "ftp://")


def render_parts(elements: Sequence[Content], context: Context) -> list[RenderedElement]:
    """Return what each element renders to, one by one; ``<choose>`` counts as the elements that it chooses."""
    return [element.render(context) for element in rendering_elements(elements, context)]


def render_sequence(
    elements: Sequence[Content], context: Context, delimiter: str = ""
) -> RenderedElement:
    """Return the elements side by side, with the delimiter between those that show something."""
    joined = RenderedElement([])
    for element in rendering_elements(elements, context):
        part = element.render(context)
        joined.state = max(joined.state, part.state)
        if part.pieces:
            if joined.pieces and delimiter:
                joined.pieces.append(Piece(delimiter))
            joined.pieces.extend(part.pieces)
    return joined


def _render_group(
    elements: Sequence[Content], delimiter: str, appearance: Appearance, context: Context
) -> RenderedElement:
    """Return the elements, or nothing if variables were tried and none had a value (CSL 1.0.2, Group).

    "vol. 3", but no "vol." alone. To the group around it, a group that shows something counts as a variable with a
    value, even if it has none.
    """
    rendered = render_sequence(elements, context, delimiter)
    if rendered.state is State.EMPTY:
        return EMPTY
    if not rendered.pieces:
        return rendered
    return RenderedElement(appearance.apply(rendered.pieces, context), State.SHOWN)


def _sort_number(value: str) -> str:
    """Return a number with zeros before it, so that 10 sorts after 9; other text stays."""
    return value.zfill(8) if is_count(value) else value


@dataclass
class _TextVariable:
    """``<text variable>``."""

    variable: str
    form: str
    appearance: Appearance

    def render(self, context: Context) -> RenderedElement:
        """Return the value of the variable as the style has it: pages as a range, a DOI as a link."""
        if self.form == "short":
            value = context.short_variable(self.variable)
        else:
            value = context.variable(self.variable)
        if not value:
            # EMPTY hides the group around it. A missing letter must not: "n.d." and a suffix stay "n.d."
            return NOTHING if self.variable == "year-suffix" else EMPTY

        context.progress.rendered.append(self.variable)
        # The label "Knut84a" ends in the letter too, so no date shows it again
        if self.variable in ("year-suffix", "citation-label"):
            context.progress.has_year_suffix = True
        if context.is_sorting:
            # Letters follow from the order of the list; cites of a year stay as the author has them.
            if self.variable == "year-suffix":
                return NOTHING
            if self.variable == "citation-number":
                value = _sort_number(value)
            return RenderedElement(self.appearance.apply(parse(value), context), State.SHOWN)

        pieces = self.appearance.apply(parse(self._formatted(value, context)), context)
        address = _address(self.variable, value)
        if address:
            pieces = self._linked(pieces, address)
        return RenderedElement(wrap_pieces(pieces, "role", self.variable), State.SHOWN)

    def _linked(self, pieces: list[Piece], address: str) -> list[Piece]:
        """Return the pieces as a link to an address, but not the prefix and the suffix of the element."""
        # ``Appearance.apply`` has put them before and after the value, each as a piece
        start = 1 if self.appearance.prefix else 0
        end = len(pieces) - 1 if self.appearance.suffix else len(pieces)
        linked = wrap_pieces(pieces[start:end], "link", address)
        return [*pieces[:start], *linked, *pieces[end:]]

    def _formatted(self, value: str, context: Context) -> str:
        """Return the value; pages, locators and numbers with the dashes of ranges: "101–7" of "101-107"."""
        # Only pages are shortened as ``page-range-format`` says, "101–7"; the sections 101-107 are "101–107"
        page_format = context.style_options.page_range_format
        is_locator = self.variable == "locator"
        if self.variable == "page" or (is_locator and context.cite.label in _PAGE_LABELS):
            return format_pages(value, page_format, context.terms)
        # Other locators and numbers only get the dash; words with a hyphen, "Suppl-A", stay as they are
        if is_locator and is_numeric(value):
            return format_pages(value, "", context.terms)
        if self.variable in _RANGES and is_numeric(value):
            return format_number(value, "numeric", "", context.terms)
        return value


def _address(variable: str, value: str) -> str:
    """Return the address that a variable leads to; "" if it leads nowhere, as a title does.

    The DOI "10.1000/182" leads to "https://doi.org/10.1000/182". A URL leads to itself if it is an address of the
    web: a "javascript:" from the data is no link.
    """
    if variable != "URL" and variable not in _ADDRESSES:
        return ""
    if value.startswith(_SCHEMES):
        return value
    if variable == "URL":
        return ""
    return _ADDRESSES[variable] + value


@dataclass
class _TextTerm:
    """``<text term>``."""

    term: str
    form: str
    plural: bool
    appearance: Appearance

    def render(self, context: Context) -> RenderedElement:
        """Return the term, such as "in" or "et al."; an empty one counts as ``State.BLANK``."""
        text = context.terms.term(self.term, self.form, plural=self.plural)
        # Not ABSENT, as in ``<substitute>`` an empty term is a choice of the style: nothing in place of the names
        if not text:
            return RenderedElement([], State.BLANK)
        pieces = parse(text)
        # At the start of a note a term begins with a capital, unless the style says "lowercase"
        if self.appearance.text_case != "lowercase":
            pieces = wrap_pieces(pieces, "part", "term")
        return RenderedElement(
            self.appearance.apply(pieces, context, TextOrigin.STYLE), State.ABSENT
        )


@dataclass
class _TextValue:
    """``<text value>``."""

    value: str
    appearance: Appearance

    def render(self, context: Context) -> RenderedElement:
        """Return the text."""
        pieces = self.appearance.apply(parse(self.value), context, TextOrigin.STYLE)
        return RenderedElement(pieces, State.ABSENT)


@dataclass
class _TextMacro:
    """``<text macro>``: the macro's elements, which are a group of their own."""

    name: str
    macros: Macros
    appearance: Appearance

    def render(self, context: Context) -> RenderedElement:
        """Return the elements of the macro in the appearance of this call."""
        rendered = _render_group(self.macros[self.name], "", self.appearance, context)
        if rendered.state is State.ABSENT:
            # CSL 1.0.2, Group, does not count a macro that calls no variable; citeproc-js and pandoc take it
            # for one that has a value, so that a term beside it stays.
            return RenderedElement(rendered.pieces, State.SHOWN)
        return rendered


@dataclass
class _Number:
    """``<number>``."""

    variable: str
    form: str
    appearance: Appearance

    def render(self, context: Context) -> RenderedElement:
        """Return the number in its form, such as "2nd"; text that is not numeric stays as it is."""
        value = context.variable(self.variable)
        if not value:
            return EMPTY
        context.progress.rendered.append(self.variable)
        if context.is_sorting:
            return RenderedElement(text_pieces(_sort_number(value)), State.SHOWN)
        # "Second" is a term, "Expanded Edition" a text of the item
        origin = TextOrigin.STYLE if is_numeric(value) else TextOrigin.ITEM
        pieces = self.appearance.apply(parse(self._formatted(value, context)), context, origin)
        return RenderedElement(wrap_pieces(pieces, "role", self.variable), State.SHOWN)

    def _formatted(self, value: str, context: Context) -> str:
        """Return the number in the form of the element, "2nd", or a range of pages."""
        is_page = self.variable == "locator" and context.cite.label == "page"
        if self.variable in _PAGES or is_page:
            return format_pages(value, context.style_options.page_range_format, context.terms)
        gender = context.terms.gender(self.variable)
        return format_number(value, self.form, gender, context.terms)


@dataclass
class _Group:
    """``<group>``: left out if variables were tried and none had a value."""

    elements: list[Content]
    delimiter: str
    appearance: Appearance

    def render(self, context: Context) -> RenderedElement:
        """Return the elements with the delimiter between them."""
        return _render_group(self.elements, self.delimiter, self.appearance, context)


class ElementParser:
    """Makes rendering elements of XML; those that call a macro share the style's macros."""

    def __init__(self, macros: Macros) -> None:
        self._macros = macros

    def elements(self, node: Node) -> list[Content]:
        """Return the rendering elements in an element."""
        return [self.element(child) for child in node]

    def element(self, node: Node) -> Content:
        """Return the rendering element of a node.

        :raises CSLError: if CSL has no such rendering element
        """
        match node.name:
            case "text":
                return self._text(node)
            case "number":
                form = node.get("form", "numeric")
                return _Number(_variable(node), form, read_appearance(node))
            case "date":
                return Date.read(node)
            case "names":
                return read_names(node, self.element)
            case "label":
                return Label.read(node)
            case "group":
                return _Group(self.elements(node), node.get("delimiter"), read_appearance(node))
            case "choose":
                return self._choose(node)
        raise node.error("is not a rendering element")

    def _text(self, node: Node) -> Element:
        """Return the ``<text>`` of a node: a macro, a term, a text of the style or a variable.

        :raises CSLError: if it is none of these
        """
        appearance = read_appearance(node)
        form = node.get("form", "long")
        if "macro" in node:
            return _TextMacro(node.get("macro"), self._macros, appearance)
        if "term" in node:
            return _TextTerm(node.get("term"), form, node.get("plural") == "true", appearance)
        if "value" in node:
            return _TextValue(node.get("value"), appearance)
        return _TextVariable(_variable(node), form, appearance)

    def _choose(self, node: Node) -> Choose:
        """Return the ``<choose>`` of a node.

        :raises CSLError: if it has an element other than ``<if>``, ``<else-if>`` and ``<else>``
        """
        conditions = []
        for child in node:
            if child.name not in ("if", "else-if", "else"):
                raise child.error("is not a part of <choose>")
            match = child.get("match", "all")
            conditions.append(Condition(read_tests(child), match, self.elements(child)))
        return Choose(conditions)


def _variable(node: Node) -> str:
    """Return the variable of an element.

    :raises CSLError: if it has none
    """
    if "variable" not in node:
        raise node.error("has no variable")
    return node.get("variable")
