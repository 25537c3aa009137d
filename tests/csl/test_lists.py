"""Lists of references as HTML: the elements and classes that citeproc-js writes too, and indents without CSS."""

from __future__ import annotations

import re
from html import unescape

import pytest
from csl.styles import BAK, DOE, NUMERIC, processor_of, style_of
from doiuri_csl import BibliographyEntry, Cite, Run, Style, list_to_html, to_html, to_text

CITES = [[Cite("doe")], [Cite("bak")]]


def written(layout: str, options: str = "") -> str:
    xml = style_of("", more=f"<bibliography {options}>{layout}</bibliography>")
    processor = processor_of(xml, [DOE, BAK], CITES)
    return list_to_html(processor.bibliography(), Style.parse(xml))


def structure(html: str) -> str:
    """Return HTML as citeproc-js has it: without the attributes that only we write, and on one line."""
    return re.sub(r' style="[^"]*"| hanging-indent|\n', "", html)


# What citeproc-js 2.4.63 prints for the layouts, but for spaces between elements
LAYOUTS = {
    "plain": ('<layout suffix="."><text variable="title"/></layout>', "", "<E>Ants.</div>"),
    "a second field": (
        (
            '<layout suffix="."><text variable="citation-number" prefix="[" suffix="]"/>'
            '<text variable="title" font-style="italic"/></layout>'
        ),
        'second-field-align="flush"',
        (
            '<E><div class="csl-left-margin">[1]</div>'
            '<div class="csl-right-inline"><i>Ants</i>.</div></div>'
        ),
    ),
    "blocks": (
        (
            '<layout><text variable="title" display="block"/>'
            '<text variable="title" display="left-margin"/>'
            '<text variable="title" display="right-inline"/>'
            '<text variable="title" display="indent"/></layout>'
        ),
        "",
        (
            '<E><div class="csl-block">Ants</div><div class="csl-left-margin">Ants</div>'
            '<div class="csl-right-inline">Ants</div><div class="csl-indent">Ants</div></div>'
        ),
    ),
    "text before a block": (
        '<layout><text variable="title"/><text variable="title" display="indent"/></layout>',
        "",
        '<E>Ants<div class="csl-indent">Ants</div></div>',
    ),
}


@pytest.mark.parametrize(("layout", "options", "expected"), LAYOUTS.values(), ids=LAYOUTS)
def test_a_list_has_the_elements_of_citeproc_js(layout: str, options: str, expected: str) -> None:
    shown = structure(written(layout, options))

    first = expected.replace("<E>", '<div class="csl-bib-body"><div class="csl-entry">', 1)
    assert shown.startswith(first)
    assert shown.count('<div class="csl-entry">') == 2
    assert shown.count("<div") == shown.count("</div>")


TITLE = '<layout><text variable="title"/></layout>'
NUMBERED = '<layout><text variable="citation-number"/><text variable="title"/></layout>'
OPTIONS = {
    "": '<div class="csl-bib-body">\n<div class="csl-entry" style="margin-bottom: 1em">',
    'entry-spacing="0"': '<div class="csl-bib-body">\n<div class="csl-entry">',
    'hanging-indent="true"': (
        '<div class="csl-bib-body hanging-indent" style="margin-left: 2em; text-indent: -2em">'
    ),
    'line-spacing="2"': '<div class="csl-bib-body" style="line-height: 2">',
    'entry-spacing="3"': (
        '<div class="csl-bib-body">\n<div class="csl-entry" style="margin-bottom: 3em">'
    ),
}


@pytest.mark.parametrize(("options", "expected"), OPTIONS.items(), ids=OPTIONS)
def test_a_list_has_the_indent_and_the_distances_of_the_style(options: str, expected: str) -> None:
    assert written(TITLE, options).startswith(expected)


def test_labels_make_a_column_in_place_of_the_hanging_indent() -> None:
    shown = written(NUMBERED, 'hanging-indent="true" second-field-align="flush"')

    assert shown.startswith('<div class="csl-bib-body">\n')
    assert '<div class="csl-left-margin" style="float: left">1</div>' in shown


def test_the_column_is_as_wide_as_the_widest_label() -> None:
    style = Style.parse(NUMERIC)
    references = [
        BibliographyEntry(
            str(number),
            (Run(f"[{number}]", display="left-margin"),),
            (Run("x", display="right-inline"),),
        )
        for number in (9, 10)
    ]

    shown = list_to_html(references, style)

    assert (
        re.findall(r'csl-right-inline" style="([^"]*)"', shown)
        == ["margin-left: calc(4ch + 0.5em)"] * 2
    )


def test_an_entry_without_text_is_not_in_the_list() -> None:
    references = [BibliographyEntry("a", (), ()), BibliographyEntry("b", (), (Run("B"),))]

    assert list_to_html(references, Style.parse(NUMERIC)).count("csl-entry") == 1


def test_a_list_has_the_text_and_the_formats_of_its_entries() -> None:
    item = {**DOE, "title": "<i>Ants</i> & <b onclick=x>", "DOI": '10.1000/"><script>'}
    xml = NUMERIC.replace(
        '<text variable="title"/>', '<text variable="title"/><text variable="DOI"/>'
    )
    processor = processor_of(xml, [item], [[Cite("doe")]])
    [reference] = processor.bibliography()

    shown = list_to_html([reference], Style.parse(xml))

    assert f">{to_html(reference.label)}</div>" in shown
    assert f">{to_html(reference.runs)}</div>" in shown
    assert "<script" not in shown


def test_a_whole_entry_has_one_space_after_its_label() -> None:
    label = Run("1."), Run("1. ")
    wholes = [
        BibliographyEntry("a", labels, (Run("Ants"),)).whole
        for labels in [(label[0],), (label[1],), ()]
    ]

    assert [to_text(whole) for whole in wholes] == ["1. Ants", "1. Ants", "Ants"]


def test_no_character_of_an_address_ends_its_attribute() -> None:
    for character in "\"'<>& ":
        address = f"https://a.example/{character}onclick=x"

        shown = to_html([Run("x", link=address)])

        value = shown.removeprefix('<a href="').removesuffix('">x</a>')
        assert '"' not in value, f"{character!r}: {shown}"
        assert unescape(value) == address, f"{character!r}: {shown}"


@pytest.mark.parametrize("before", ["citation-number", "citation-label", "year-suffix"])
def test_names_after_what_tells_entries_apart_are_replaced(before: str) -> None:
    xml = style_of(
        '<names variable="author"/><date variable="issued" form="text" date-parts="year"/>',
        more='<bibliography subsequent-author-substitute="———"><layout>'
        f'<text variable="{before}" suffix=" "/><names variable="author" suffix=". "/>'
        '<text variable="title"/></layout></bibliography>',
    ).replace("<citation>", '<citation disambiguate-add-year-suffix="true">')
    items = [{**DOE, "id": title, "title": title} for title in ("Ants", "Bees")]
    entries = processor_of(xml, items, [[Cite("Ants")], [Cite("Bees")]]).bibliography()

    text = to_text(entries[1].whole)

    assert text.endswith(" ———. Bees"), f"after {before}: {text!r}"
