"""Of two levels that say something, the more special one wins."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
from csl.grammar import element, shown, xml_of
from doiuri_csl import Cite, Locale

WORK = {
    "id": "x",
    "author": [
        {"family": "Doe", "given": "Ann"}, {"family": "Roe", "given": "Bo"}, {"family": "Li", "given": "Cy"}
    ],
    "editor": [{"family": "Poe", "given": "Dee"}, {"family": "Ray", "given": "Ed"}],
    "title": "Ants",
    "edition": "1",
    "issued": {"date-parts": [[2001, 5, 3]]},
}  # fmt: skip
TWICE = [[Cite("x")], [Cite("x")]]

SHORTENED = {"et-al-min": "2", "et-al-use-first": "1"}

# Two values of each option, and other options that it needs to be seen
OPTIONS: dict[str, tuple[str, str, dict[str, str]]] = {
    "and": ("text", "symbol", {}),
    "delimiter-precedes-et-al": ("always", "never", SHORTENED),
    "delimiter-precedes-last": ("always", "never", {"and": "text"}),
    "et-al-min": ("2", "3", {"et-al-use-first": "1"}),
    "et-al-use-first": ("1", "2", {"et-al-min": "3"}),
    "et-al-use-last": ("true", "false", SHORTENED),
    "et-al-subsequent-min": ("2", "9", {"et-al-subsequent-use-first": "1"}),
    "et-al-subsequent-use-first": ("1", "2", {"et-al-subsequent-min": "2"}),
    "initialize": ("true", "false", {"initialize-with": "."}),
    "initialize-with": (".", "", {}),
    "name-as-sort-order": ("first", "all", {}),
    "name-delimiter": ("; ", " / ", {}),
    "name-form": ("short", "count", {}),
    "names-delimiter": ("; ", " / ", {}),
    "sort-separator": ("; ", " : ", {"name-as-sort-order": "all"}),
}
LEVELS = ("style", "area", "element")


def _style(options: dict[str, dict[str, str]]) -> str:
    """A style whose levels have these options; on the element, they are those of ``<name>`` or ``<names>``."""
    of_name = dict(options.get("element", {}))
    of_names = {}
    for option in ("form", "delimiter"):
        if f"name-{option}" in of_name:
            of_name[option] = of_name.pop(f"name-{option}")
    if "names-delimiter" in of_name:
        of_names["delimiter"] = of_name.pop("names-delimiter")
    style = element("style", version="1.0", class_="note")
    style.attrib.update(options.get("style", {}))
    for area in ("citation", "bibliography"):
        name, names = element("name"), element("names", variable="author editor")
        name.attrib.update(of_name)
        names.attrib.update(of_names)
        names.append(name)
        node = element(area, element("layout", names))
        node.attrib.update(options.get("area", {}))
        style.append(node)
    return xml_of(style)


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_of_names_counts_where_it_is_more_special(option: str) -> None:
    """CSL 1.0.2, Inheritable Name Options: <name> before <citation> and <bibliography>, these before <style>."""
    *values, needed = OPTIONS[option]

    for general, special in combinations(LEVELS, 2):
        for first, second in (values, values[::-1]):
            expected, other, both = (
                shown(_style(_merged({"style": needed}, levels)), [WORK], TWICE)
                for levels in (
                    {special: {option: second}},
                    {general: {option: first}},
                    {general: {option: first}, special: {option: second}},
                )
            )
            where = f"{option}={first!r} on {general}, {second!r} on {special}"
            assert expected != other, f"no difference to see: {where}"
            assert both == expected, where


def _merged(*levels: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """The options of all levels."""
    merged: dict[str, dict[str, str]] = {}
    for options in levels:
        for level, values in options.items():
            merged[level] = {**merged.get(level, {}), **values}
    return merged


# What a <locale> of a style may say, with two values, and the layout that shows it
OWN: dict[str, tuple[str, str]] = {
    "term": ('<terms><term name="and">{}</term></terms>', '<text term="and"/>'),
    "form of a term": (
        '<terms><term name="editor" form="short">{}</term></terms>',
        '<text term="editor" form="short"/>',
    ),
    "term that falls back": (
        '<terms><term name="page">{}</term><term name="page" form="short">{}</term></terms>',
        '<text term="page" form="symbol"/>',
    ),
    "date": (
        '<date form="text"><date-part name="year" prefix="{}"/></date>',
        '<date variable="issued" form="text"/>',
    ),
    "ordinal": (
        '<terms><term name="ordinal">{}</term></terms>',
        '<number variable="edition" form="ordinal"/>',
    ),
    "long ordinal": (
        """<terms><term name="long-ordinal-01">{}</term>
        <term name="long-ordinal-01" gender-form="feminine">{}</term></terms>""",
        '<number variable="edition" form="long-ordinal"/>',
    ),
    "option": (
        '<style-options punctuation-in-quote="{}"/>',
        '<text variable="title" quotes="true" suffix="."/>',
    ),
}


def _shown_with(layout: str, lang: str, locales: list[str], given: Locale | None = None) -> str:
    xml = (
        '<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0" '
        f'default-locale="{lang}">{"".join(locales)}<citation><layout>{layout}</layout></citation></style>'
    )
    return shown(xml, [WORK], [[Cite("x")]], locale=given)[0]


@pytest.mark.parametrize("what", OWN)
def test_of_the_locales_of_a_style_that_of_the_dialect_counts(what: str) -> None:
    """CSL 1.0.2, Locale Fallback: dialect, language, any language, then the file; another language never."""
    content, layout = OWN[what]

    def locale(lang: str, value: str) -> str:
        attribute = f'xml:lang="{lang}"' if lang else ""
        return f"<locale {attribute}>{content.format(value, value)}</locale>"

    for dialect in ("de-AT", "pt-BR"):
        language = dialect.partition("-")[0]
        by_file = _shown_with(layout, dialect, [])
        others = [locale("fr", "true"), locale(f"{language}-XX", "true")]
        assert _shown_with(layout, dialect, others) == by_file, f"{what} of others in {dialect}"

        for general, special in combinations(("", language, dialect), 2):
            for first, second in permutations(("true", "false")):
                expected = _shown_with(layout, dialect, [locale(special, second)])
                pair = [locale(general, first), locale(special, second)]
                for own in (pair, pair[::-1]):
                    result = _shown_with(layout, "fr", own, Locale.load(dialect))
                    assert result == expected, f"{what}: {own} in {dialect}"
                shown_of_first = _shown_with(layout, dialect, [locale(general, first)])
                assert shown_of_first != expected, f"{what}: no difference to see in {dialect}"


@pytest.mark.parametrize("what", OWN)
def test_what_a_style_says_of_a_language_stays_in_this_style(what: str) -> None:
    """All styles of a program share a locale."""
    content, layout = OWN[what]
    own = f"<locale>{content.format('true', 'true')}</locale>"
    shared = Locale.load("de-AT")
    before = _shown_with(layout, "de-AT", [], shared)

    changed = _shown_with(layout, "de-AT", [own], shared)
    after = _shown_with(layout, "de-AT", [], shared)

    assert changed != before, f"{what}: no difference to see"
    assert after == before, f"{what} of another style is shown: {after}"


def test_ordinals_of_a_style_take_the_place_of_all_those_of_the_language() -> None:
    """CSL 1.0.2, Ordinal Suffixes."""
    own = '<locale xml:lang="en"><terms><term name="ordinal">!</term></terms></locale>'

    assert _shown_with('<number variable="edition" form="ordinal"/>', "en-GB", [own]) == "1!"


PRIMARY = {"de": "de-DE", "en": "en-US", "es": "es-ES", "fr": "fr-FR", "pt": "pt-PT", "zh": "zh-CN"}
TERMS = (
    "and",
    "accessed",
    "editor",
    "et-al",
    "month-05",
    "page",
    "no date",
    "retrieved",
    "presented at",
)


def test_a_language_alone_is_its_primary_dialect_and_stands_in_for_those_that_are_missing() -> None:
    """CSL 1.0.2, Locale Fallback."""
    for tag in Locale.available():
        language = tag.partition("-")[0]
        primary = PRIMARY.get(language, tag)

        by_tag, by_language, missing = map(Locale.load, (tag, language.upper(), f"{language}_xx"))

        assert by_tag.lang == Locale.load(tag.lower().replace("-", "_")).lang == tag
        assert by_language == Locale.load(primary), f"{language!r} is not {primary}"
        assert missing.lang == f"{language}-XX"
        for term in TERMS:
            assert missing.term(term) == by_language.term(term), f"{term!r} in {missing.lang}"


def test_the_short_form_of_csl_comes_before_its_older_name() -> None:
    item = {**WORK, "title-short": "new", "shortTitle": "old", "journalAbbreviation": "old",
            "container-title": "long", "container-title-short": "new"}  # fmt: skip
    for variable in ("title", "container-title"):
        for layout in (f'variable="{variable}" form="short"', f'variable="{variable}-short"'):
            xml = (f'<style xmlns="http://purl.org/net/xbiblio/csl"><citation><layout><text {layout}/></layout>'
                   "</citation></style>")  # fmt: skip
            assert shown(xml, [item], [[Cite("x")]])[0] == "new", layout


def test_the_part_of_a_date_in_the_style_wins_over_that_of_the_locale() -> None:
    of_locale = (
        '<locale><date form="text"><date-part name="month" form="long" font-style="italic" text-case="uppercase"/>'
        '<date-part name="year" prefix=" "/></date></locale>'
    )
    own = '<date-part name="month" form="short" font-style="normal" text-case="lowercase"/>'
    date = '<date variable="issued" form="text">{}</date>'

    plain = _shown_with(date.format(""), "de", [of_locale])
    changed = _shown_with(date.format(own), "de", [of_locale])

    assert (plain, changed) == ("<i>MAI</i> 2001", "mai 2001")
