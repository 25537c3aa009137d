"""Other ways to write a style change nothing: defaults and aliases written out, options on other levels."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

import pytest
from csl.grammar import Chance, element, shown

if TYPE_CHECKING:
    from collections.abc import Callable

SEEDS = range(4)
STYLES_OF_A_SEED = 6

# CSL 1.0.2: the defaults, by element. Options of names that are inherited stand on the style, below all others.
DEFAULTS = {
    "style": {
        "default-locale": "en-US",
        "demote-non-dropping-particle": "display-and-sort",
        "initialize-with-hyphen": "true",
        "delimiter-precedes-et-al": "contextual",
        "delimiter-precedes-last": "contextual",
        "et-al-use-last": "false",
        "initialize": "true",
        "sort-separator": ", ",
        "name-form": "long",
        "name-delimiter": ", ",
        "names-delimiter": "",
    },
    "citation": {
        "disambiguate-add-names": "false",
        "disambiguate-add-givenname": "false",
        "disambiguate-add-year-suffix": "false",
        "givenname-disambiguation-rule": "by-cite",
        "near-note-distance": "5",
    },
    "bibliography": {
        "hanging-indent": "false",
        "line-spacing": "1",
        "entry-spacing": "1",
        "subsequent-author-substitute-rule": "complete-all",
    },
    "key": {"sort": "ascending"},
    "et-al": {"term": "et-al"},
    "number": {"form": "numeric"},
    "label": {"form": "long", "plural": "contextual"},
    "if": {"match": "all"},
    "else-if": {"match": "all"},
    "text": {"form": "long", "plural": "false", "quotes": "false"},
    "date": {"date-parts": "year-month-day"},
}
FORMATS = {
    "font-style": "normal",
    "font-variant": "normal",
    "font-weight": "normal",
    "text-decoration": "none",
    "vertical-align": "baseline",
    "strip-periods": "false",
}
for _name in ("text", "number", "label"):
    DEFAULTS[_name].update(FORMATS)
DATE_FORMS = {"day": "numeric", "month": "long", "year": "long"}
AREAS = ("citation", "bibliography")
GLOBAL = ("demote-non-dropping-particle", "initialize-with-hyphen")


def _write_out(tag: str, attribute: str, value: str) -> Callable[[Element], None]:
    def rewrite(style: Element) -> None:
        for node in style.iter(tag):
            node.attrib.setdefault(attribute, value)

    return rewrite


def _write_out_date_parts(style: Element) -> None:
    for part in style.iter("date-part"):
        part.attrib.setdefault("form", DATE_FORMS[part.attrib["name"]])
        part.attrib.setdefault("range-delimiter", "–")


def _write_out_collapse(style: Element) -> None:
    """Delimiters of collapsed cites are by default those of the layout, and of groups."""
    for citation in style.iter("citation"):
        [layout] = citation.iter("layout")
        delimiter = layout.attrib["delimiter"]
        citation.attrib.setdefault("after-collapse-delimiter", delimiter)
        group = citation.get("cite-group-delimiter", delimiter)
        citation.attrib.setdefault("year-suffix-delimiter", group)


def _write_out_later_names(style: Element) -> None:
    """Later cites have as many names as the first ones."""
    for node in style.iter():
        for option in ("min", "use-first"):
            if f"et-al-{option}" in node.attrib:
                node.set(f"et-al-subsequent-{option}", node.attrib[f"et-al-{option}"])


DEFAULTS_WRITTEN_OUT: dict[str, Callable[[Element], None]] = {
    f"{tag} {attribute}={value!r}": _write_out(tag, attribute, value)
    for tag, defaults in DEFAULTS.items()
    for attribute, value in defaults.items()
}
DEFAULTS_WRITTEN_OUT |= {
    "forms and delimiters of date-part": _write_out_date_parts,
    "delimiters of collapsed cites": _write_out_collapse,
    "et-al-subsequent-…": _write_out_later_names,
}


def _options(node: Element) -> dict[str, str]:
    """The options of names that an element hands down."""
    names = {*DEFAULTS["style"], "and", "et-al-min", "et-al-use-first", "initialize-with"}
    names |= {"name-as-sort-order"}
    names -= {*GLOBAL, "default-locale"}
    return {option: value for option, value in node.attrib.items() if option in names}


def _style_to_areas(style: Element) -> None:
    for option, value in _options(style).items():
        for area in AREAS:
            for node in style.iter(area):
                node.attrib.setdefault(option, value)


def _areas_to_names(style: Element) -> None:
    for area in AREAS:
        for node in style.iter(area):
            options = _options(style) | _options(node)
            for names in node.iter("names"):
                if "names-delimiter" in options:
                    names.attrib.setdefault("delimiter", options["names-delimiter"])
                for name in names.findall("name"):
                    for option, value in options.items():
                        if option not in ("names-delimiter", "name-as-sort-order"):
                            name.attrib.setdefault(option.removeprefix("name-"), value)
                    if "name-as-sort-order" in options:
                        name.attrib.setdefault("name-as-sort-order", options["name-as-sort-order"])


def _reverse_attributes(style: Element) -> None:
    for node in style.iter():
        attributes = list(node.attrib.items())
        node.attrib.clear()
        node.attrib.update(reversed(attributes))


def _macros_last(style: Element) -> None:
    macros = style.findall("macro")
    for macro in macros:
        style.remove(macro)
    style.extend(reversed(macros))


def _wrap(style: Element, wrap: Callable[[Element], Element]) -> None:
    """Wrap each element that shows a variable."""
    tags = ("text", "number", "date", "names")
    for parent in list(style.iter()):
        for index, child in enumerate(list(parent)):
            is_apart = parent.tag in ("group", "layout", "macro", "if", "else-if", "else")
            if is_apart and child.tag in tags and "variable" in child.attrib:
                parent[index] = wrap(child)


def _wrap_in_choose(style: Element) -> None:
    _wrap(style, lambda child: element("choose", element("else", child)))


def _wrap_in_group(style: Element) -> None:
    _wrap(style, lambda child: element("group", child))


def _short_forms(style: Element) -> None:
    """The short form of a variable is a variable too."""
    for text in style.iter("text"):
        if text.get("variable") == "container-title" and text.get("form") == "short":
            text.set("variable", "container-title-short")
            del text.attrib["form"]


OTHER_WAYS: dict[str, Callable[[Element], None]] = {
    "options of the style on both areas": _style_to_areas,
    "options of an area on its names": _areas_to_names,
    "attributes in another order": _reverse_attributes,
    "macros behind the layouts that call them": _macros_last,
    "each variable in <choose><else>": _wrap_in_choose,
    "each variable in a group of its own": _wrap_in_group,
    "container-title-short for the short form": _short_forms,
}


def _first_that_changes(rewrites: dict[str, Callable[[Element], None]], chance: Chance) -> str:
    """Return the name of a rewrite that changes what a document shows; "" if none does."""
    style, items = chance.style(), chance.items()
    document = chance.document(items)
    expected = shown(style, items, document)

    def result(*names: str) -> list[str]:
        rewritten = deepcopy(style)
        for name in names:
            rewrites[name](rewritten)
        return shown(rewritten, items, document)

    if result(*rewrites) == expected:
        return ""
    for name in rewrites:
        for text, other in zip(expected, result(name), strict=True):
            if text != other:
                return f"{name}: {text!r} became {other!r}"
    return "all of them together"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_default_written_out_changes_nothing(seed: int) -> None:
    for number in range(STYLES_OF_A_SEED):
        changed = _first_that_changes(DEFAULTS_WRITTEN_OUT, Chance(100 * seed + number))

        if changed:
            pytest.fail(f"style {100 * seed + number}, {changed}")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_style_written_in_another_way_shows_the_same(seed: int) -> None:
    for number in range(STYLES_OF_A_SEED):
        changed = _first_that_changes(OTHER_WAYS, Chance(100 * seed + number))

        if changed:
            pytest.fail(f"style {100 * seed + number}, {changed}")
