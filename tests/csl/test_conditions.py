"""Conditions, links and options of names: each value that an attribute may have (CSL 1.0.2)."""

from __future__ import annotations

from typing import Any

from csl.grammar import shown
from csl.styles import style_of
from doiuri_csl import Cite, Processor, Style, to_html
from support.checks import assert_same

ITEM: dict[str, Any] = {
    "type": "book",
    "volume": "3",
    "title": "Ants",
    "issued": {"date-parts": [[2001, 5, 3]], "circa": True},
}
# (CSL 1.0.2, Choose) what is tested, and whether it is true for all, any or none of its values
CONDITIONS = {
    'variable="volume"': (True, True, False), 'variable="volume edition"': (False, True, False),
    'variable="edition issue"': (False, False, True), 'type="book"': (True, True, False),
    'type="book chapter"': (True, True, False), 'type="report chapter"': (False, False, True),
    'is-numeric="volume"': (True, True, False), 'is-numeric="volume title"': (False, True, False),
    'is-uncertain-date="issued"': (True, True, False), 'is-uncertain-date="accessed"': (False, False, True),
    'locator="page"': (True, True, False), 'locator="page line"': (True, True, False),
    'locator="line note"': (False, False, True), 'position="first"': (True, True, False),
    'position="ibid"': (False, False, True), 'disambiguate="true"': (False, False, True),
    'type="book" variable="edition"': (False, True, False), 'unknown="x"': (False, False, True),
}  # fmt: skip


def test_each_condition_for_all_any_or_none_of_its_values() -> None:
    for condition, results in CONDITIONS.items():
        for match, expected in zip(("all", "any", "none"), results, strict=True):
            test = f'<if {condition} match="{match}"><text value="yes"/></if>'
            xml = style_of(f'<choose>{test}<else><text value="no"/></else></choose>')
            [text, _] = shown(xml, [{"id": "x", **ITEM}], [[Cite("x", "5", "page")]])
            assert_same(f"{condition} {match}", text, "yes" if expected else "no")
        default = f'<choose><if {condition}><text value="yes"/></if><else><text value="no"/></else></choose>'
        [text, _] = shown(style_of(default), [{"id": "x", **ITEM}], [[Cite("x", "5", "page")]])
        assert_same(f"{condition} without match", text, "yes" if results[0] else "no")


# CSL 1.0.2, Choose, position; near-note holds for cites close to each other
POSITIONS = {
    "first": "x....", "subsequent": ".xxxx", "ibid": ".xx..", "ibid-with-locator": "..x..", "near-note": ".xxx.",
}  # fmt: skip


def test_each_position() -> None:
    cites = [[Cite("x")], [Cite("x")], [Cite("x", "5")], [Cite("y")], [Cite("x")], [Cite("x")]]
    notes = [1, 2, 3, 4, 5, 20]
    for position, expected in POSITIONS.items():
        test = f'<if position="{position}"><text value="x"/></if><else><text value="."/></else>'
        processor = Processor(
            Style.parse(style_of(f"<choose>{test}</choose>")), [{"id": "x"}, {"id": "y"}]
        )
        processor.set_citations(cites, notes=notes)
        text = "".join(to_html(processor.citation(number)) for number in (0, 1, 2, 4, 5))
        assert_same(f"position {position}", text, expected)


# CSL 1.0.2, Appendix VI
LINKS = {
    ("DOI", "10.1000/1"): "https://doi.org/10.1000/1",
    ("PMID", "123"): "https://www.ncbi.nlm.nih.gov/pubmed/123",
    ("PMCID", "PMC123"): "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123",
    **{
        (name, f"{scheme}://example.org/1"): f"{scheme}://example.org/1"
        for name in ("DOI", "URL", "PMID", "PMCID")
        for scheme in ("https", "http", "ftp")
    },
}


def test_each_link_of_a_variable() -> None:
    for (name, value), address in LINKS.items():
        [text, _] = shown(
            style_of(f'<text variable="{name}"/>'), [{"id": "x", name: value}], [[Cite("x")]]
        )
        assert_same(f"the link of {name} {value}", text, f'<a href="{address}">{value}</a>')
    for name, value in (("URL", "mailto:a@example.org"), ("ISBN", "https://example.org/")):
        [text, _] = shown(
            style_of(f'<text variable="{name}"/>'), [{"id": "x", name: value}], [[Cite("x")]]
        )
        assert_same(f"{name} {value} is no link", text, value)


DATE_PARTS = {
    "year": "2001",
    "year-month": "May 2001",
    "year-month-day": "May 3, 2001",
    None: "May 3, 2001",
}
PART_FORMS = {
    ("year", "long"): "2001", ("year", "short"): "01", ("year", ""): "2001", ("month", "long"): "May",
    ("month", "short"): "May", ("month", "numeric"): "5", ("month", "numeric-leading-zeros"): "05",
    ("month", ""): "May", ("day", "numeric"): "3", ("day", "numeric-leading-zeros"): "03",
    ("day", "ordinal"): "3rd", ("day", ""): "3",
}  # fmt: skip


def test_each_part_and_form_of_a_date() -> None:
    for parts, expected in DATE_PARTS.items():
        attribute = f'date-parts="{parts}"' if parts else ""
        xml = style_of(f'<date variable="issued" form="text" {attribute}/>')
        [text, _] = shown(xml, [{"id": "x", **ITEM}], [[Cite("x")]])
        assert_same(f"date-parts {parts}", text, expected)
    for (name, form), expected in PART_FORMS.items():
        attribute = f'form="{form}"' if form else ""
        xml = style_of(f'<date variable="issued"><date-part name="{name}" {attribute}/></date>')
        [text, _] = shown(xml, [{"id": "x", **ITEM}], [[Cite("x")]])
        assert_same(f"{name} in the form {form!r}", text, expected)


# Without spaces before "et al." and around "and" are Chinese and Japanese
LISTS = {
    "en-US": ("Doe and Roe", "Doe et al."), "de-DE": ("Doe und Roe", "Doe u.\u00a0a."),
    "zh-CN": ("Doe和Roe", "Doe等"), "zh-TW": ("Doe及Roe", "Doe等"), "ja-JP": ("DoeとRoe", "Doeほか"),
}  # fmt: skip


def test_each_language_without_spaces_between_names() -> None:
    item = {"id": "x", "author": [{"family": "Doe"}, {"family": "Roe"}]}
    for lang, (both, shortened) in LISTS.items():
        for options, expected in (("", both), ('et-al-min="2" et-al-use-first="1"', shortened)):
            layout = f'<names variable="author"><name and="text" {options}/></names>'
            [text, _] = shown(style_of(layout, f'default-locale="{lang}"'), [item], [[Cite("x")]])
            assert_same(f"names in {lang} {options}", text, expected)


FORMATS = {
    'font-style="italic"': "<i>a</i>", 'font-weight="bold"': "<b>a</b>",
    'font-variant="small-caps"': '<span style="font-variant: small-caps">a</span>',
    'text-decoration="underline"': "<u>a</u>",
    'vertical-align="sup"': "<sup>a</sup>", 'vertical-align="sub"': "<sub>a</sub>",
    'quotes="true"': "“a”", 'prefix="("': "(a", 'suffix=")"': "a)", 'text-case="uppercase"': "A",
    'quotes="false"': "a", 'strip-periods="true"': "a",
}  # fmt: skip


def test_each_format() -> None:
    for attribute, expected in FORMATS.items():
        value = "a." if attribute.startswith("strip") else "a"
        [text, _] = shown(
            style_of(f'<text value="{value}" {attribute}/>'), [{"id": "x"}], [[Cite("x")]]
        )
        assert_same(attribute, text, expected)


# Only names without a child are written as those around them
CHILDREN = {
    "": "Ann Doe, editor", "<name/>": "Ann Doe", "<et-al/>": "Ann Doe", '<label prefix=": "/>': "Ann Doe: editor",
    '<substitute><text value="-"/></substitute>': "Ann Doe",
}  # fmt: skip


def test_names_that_stand_for_others_have_their_form_unless_they_have_one() -> None:
    item = {"id": "x", "editor": [{"family": "Doe", "given": "Ann"}]}
    for child, expected in CHILDREN.items():
        inner = f'<names variable="editor">{child}</names>'
        layout = f'<names variable="author"><name/><label prefix=", "/><substitute>{inner}</substitute></names>'
        [text, _] = shown(style_of(layout), [item], [[Cite("x")]])
        assert_same(f"names with {child!r}", text, expected)


RANGED = {
    ("number", "page"): "101–7", ("number", "page-first"): "101", ("text", "page"): "101–7",
    ("text", "page-first"): "101", ("text", "volume"): "101–107", ("text", "issue"): "101–107",
    ("text", "edition"): "101–107", ("text", "section"): "101-107", ("number", "section"): "101–107",
}  # fmt: skip


def test_each_variable_that_is_a_range() -> None:
    for (tag, variable), expected in RANGED.items():
        xml = style_of(f'<{tag} variable="{variable}"/>', 'page-range-format="minimal"')
        name = "page" if variable == "page-first" else variable
        [text, _] = shown(xml, [{"id": "x", name: "101-107"}], [[Cite("x")]])
        assert_same(f"{tag} {variable}", text, expected)
    xml = style_of('<number variable="page-first"/>', 'page-range-format="minimal"')
    [text, _] = shown(xml, [{"id": "x", "page-first": "101-107"}], [[Cite("x")]])
    assert_same("number page-first of its own", text, "101–7")
