"""The face: styles, locales and processors, as callers use them."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest
from csl.styles import (
    ANONYMOUS,
    AUTHOR_DATE,
    BAK,
    DOE,
    NUMERIC,
    SHIPPED,
    processor_of,
    style_of,
)
from doiuri_csl import (
    Cite,
    CSLError,
    Format,
    ListedItem,
    Locale,
    Processor,
    Run,
    Style,
    to_html,
    to_text,
)

LOCALE = """
<locale xmlns="http://purl.org/net/xbiblio/csl" version="1.0" xml:lang="eo">
  <terms><term name="and">kaj</term></terms>
</locale>"""


def test_citations_and_the_list_may_be_asked_for_in_any_order() -> None:
    items = [BAK, DOE]
    citations = [[Cite("bak")], [Cite("doe")]]
    first = processor_of(AUTHOR_DATE, items, citations)
    second = processor_of(AUTHOR_DATE, items, citations)

    forwards = [first.citation(0), first.citation(1), first.bibliography()]
    backwards = [second.bibliography(), second.citation(1), second.citation(0)]

    assert forwards == backwards[::-1]


def test_a_run_of_a_citation_says_which_item_it_cites() -> None:
    processor = processor_of(AUTHOR_DATE, [BAK, DOE], [[Cite("bak", prefix="see"), Cite("doe")]])

    runs = processor.citation(0)

    assert [(run.text, run.item) for run in runs if run.item] == [
        ("Bak & Tang", "bak"),
        (" ", "bak"),
        ("1987", "bak"),
        ("Doe", "doe"),
        (" ", "doe"),
        ("2001", "doe"),
    ]
    assert to_text(runs) == "(see Bak & Tang 1987; Doe 2001)"


def test_a_run_says_which_variable_it_shows() -> None:
    processor = processor_of(AUTHOR_DATE, [BAK], [[Cite("bak", locator="5")]])

    roles = {run.role: run.text for run in processor.citation(0) if run.role}

    assert roles == {"author": "Bak & Tang", "issued": "1987", "locator": "5"}


LATER = {**DOE, "id": "later", "title": "Bees"}


def test_a_citation_without_a_place_cites_each_item_for_the_first_time() -> None:
    layout = '<choose><if position="first"><text variable="title"/></if><else><text value="ibid"/></else></choose>'
    cites = [Cite("doe")]
    processor = processor_of(style_of(layout, 'class="note"'), [DOE], [cites, cites])

    assert to_text(processor.citation(1)) == "ibid"
    assert to_text(processor.cite(cites)) == DOE["title"]


def test_a_list_in_another_style_has_the_numbers_and_letters_of_the_first() -> None:
    first = processor_of(AUTHOR_DATE, [DOE, LATER], [[Cite("later"), Cite("doe")]])
    second = Processor(Style.parse(NUMERIC), [DOE, LATER])

    second.set_entries(first.listed)

    assert first.listed == (ListedItem("later", 1, "a"), ListedItem("doe", 2, "b"))
    assert second.listed == first.listed
    assert [reference.id for reference in second.bibliography()] == ["later", "doe"]


def test_a_part_of_a_list_keeps_its_letters() -> None:
    first = processor_of(AUTHOR_DATE, [DOE, LATER], [[Cite("later"), Cite("doe")]])
    second = Processor(Style.parse(AUTHOR_DATE), [DOE, LATER])

    second.set_entries(first.listed[1:])

    assert [to_text(one.runs) for one in second.bibliography()] == ["Doe, Ann. 2001b. Ants."]


def test_cites_without_their_names_are_grouped_by_them() -> None:
    cites = [
        Cite("doe", suppress_author=True),
        Cite("later", suppress_author=True),
        Cite("bak", suppress_author=True),
    ]
    sort = '<sort><key variable="author" sort="descending"/></sort>'
    xml = AUTHOR_DATE.replace('<layout prefix="("', f'{sort}<layout prefix="("', 1)

    processor = processor_of(xml, [DOE, LATER, BAK], [cites])

    assert to_text(processor.citation(0)) == "(2001a, 2001b; 1987)"


def test_names_in_a_sentence_are_followed_by_the_rest() -> None:
    narrative = [Cite("bak", author_only=True), Cite("bak", locator="5", suppress_author=True)]
    processor = processor_of(AUTHOR_DATE, [BAK], [narrative])

    assert to_text(processor.citation(0)) == "Bak and Tang (1987, p. 5)"


def test_names_in_a_sentence_are_no_reference_of_their_own() -> None:
    layout = '<choose><if position="first"><text variable="title"/></if><else><text value="ibid"/></else></choose>'
    narrative = [Cite("doe", author_only=True), Cite("doe", suppress_author=True)]
    processor = processor_of(style_of(layout, 'class="note"'), [DOE], [narrative, narrative])

    assert to_text(processor.citation(0)) == "Doe Ants"
    assert to_text(processor.citation(1)) == "Doe ibid"


IN_SENTENCE: dict[str, dict[str, Any]] = {
    "Bak and Tang [1]": BAK,
    "A et al. [1]": {"id": "x", "author": [{"family": name} for name in "ABC"]},
    "<i>The Handbook</i> [1]": ANONYMOUS,
    "“The Handbook” [1]": {**ANONYMOUS, "container-title": "Books"},
    "x [1]": {"id": "x"},
}


@pytest.mark.parametrize(("expected", "item"), IN_SENTENCE.items(), ids=IN_SENTENCE)
def test_a_numeric_style_has_names_for_a_sentence_too(expected: str, item: dict[str, Any]) -> None:
    narrative = [Cite(item["id"], author_only=True), Cite(item["id"], suppress_author=True)]
    processor = processor_of(NUMERIC, [item], [narrative])

    assert to_html(processor.citation(0)) == expected


@pytest.mark.parametrize("element", ["text", "number", "key", "if"])
def test_a_style_is_numeric_if_its_citations_show_numbers(element: str) -> None:
    title = '<text variable="title"/>'
    layout = {
        "key": title,
        "if": f'<choose><if variable="citation-number">{title}</if></choose>',
    }.get(element, f'<{element} variable="citation-number"/>')
    xml = style_of(layout)
    if element == "key":
        sort = '<sort><key variable="citation-number"/></sort>'
        xml = xml.replace("<citation>", f"<citation>{sort}")

    shows_number = element in {"text", "number"}
    assert Style.parse(xml).is_numeric is shows_number, f"with <{element}>"


# CSL 1.0.2, Terms: the form that is used in place of one that is missing
NEXT_FORMS = {
    "verb-short": ("verb", "long"),
    "verb": ("long",),
    "symbol": ("short", "long"),
    "short": ("long",),
}


def test_a_form_that_is_missing_is_the_next_one() -> None:
    for form, others in NEXT_FORMS.items():
        for index, other in enumerate(others):
            terms = "".join(
                f'<term name="in" form="{name}">{name}</term>' for name in others[index:]
            )
            more = f'<locale><terms><term name="in">long</term>{terms}</terms></locale>'
            xml = style_of(f'<text term="in" form="{form}"/>', more=more)

            shown = to_text(processor_of(xml, [DOE], [[Cite("doe")]]).citation(0))

            assert shown == other, f"the next form of {form} is {other}, got {shown!r}"


ROLES = ("author", "editor", "translator", "director", "compiler", "container-author")


def test_names_in_a_sentence_are_those_of_the_first_role_that_a_work_has() -> None:
    for index, role in enumerate(ROLES):
        people = {name: [{"family": name.title()}] for name in ROLES[index:]}
        item = {"id": "x", "title": "Ants", "composer": [{"family": "Doe"}], **people}

        shown = to_html(processor_of(NUMERIC, [item], [[Cite("x", author_only=True)]]).citation(0))

        assert shown == role.title(), f"{role} comes first of {ROLES[index:]}, but got {shown!r}"


def test_a_raised_number_follows_the_name_without_a_space() -> None:
    xml = NUMERIC.replace('<layout prefix="[" suffix="]"', '<layout vertical-align="sup"')
    narrative = [Cite("doe", author_only=True), Cite("doe", suppress_author=True)]
    processor = processor_of(xml, [DOE], [narrative])

    assert to_html(processor.citation(0)) == "Doe<sup>1</sup>"


def test_the_label_of_an_entry_stands_apart() -> None:
    processor = processor_of(NUMERIC, [DOE], [[Cite("doe")]])

    [reference] = processor.bibliography()

    assert (reference.id, reference.problem) == ("doe", "")
    assert to_text(reference.label) == "[1]"
    assert to_text(reference.runs) == "Ann Doe, Ants."


def test_an_id_without_an_item_is_shown_in_its_place() -> None:
    processor = processor_of(AUTHOR_DATE, [DOE], [[Cite("doe"), Cite("nobody")]])

    runs = processor.citation(0)

    assert to_text(runs) == "(Doe 2001; nobody)"
    assert runs[-2] == Run("nobody", item="nobody")
    assert [reference.id for reference in processor.bibliography()] == ["doe"]


def test_uncited_items_are_in_the_list_after_the_others() -> None:
    processor = Processor(Style.parse(NUMERIC), [BAK, DOE])

    processor.set_citations([[Cite("doe")]], uncited=["bak", "doe"])

    assert [reference.id for reference in processor.bibliography()] == ["doe", "bak"]


def test_citations_in_the_text_and_in_notes_have_positions_of_their_own() -> None:
    layout = (
        '<choose><if position="ibid"><text value="ibid"/></if>'
        '<else-if position="subsequent"><text variable="first-reference-note-number"/></else-if>'
        '<else><text variable="title"/></else></choose>'
    )
    processor = Processor(Style.parse(style_of(layout, 'class="note"')), [DOE, BAK])
    doe = [Cite("doe")]
    bak = [Cite("bak")]

    processor.set_citations([doe, bak, doe, doe], notes=[2, 3, 4, 4])

    shown = [to_text(processor.citation(number)) for number in range(4)]
    assert shown == ["Ants", "Self-organized criticality", "2", "ibid"]


def test_as_many_notes_as_citations() -> None:
    processor = Processor(Style.parse(NUMERIC), [DOE])

    with pytest.raises(ValueError, match="2 notes for 1 citations"):
        processor.set_citations([[Cite("doe")]], notes=[1, 2])


def test_an_item_needs_an_id() -> None:
    with pytest.raises(ValueError, match="item 2 has no id"):
        Processor(Style.parse(NUMERIC), [DOE, {"title": "Two"}])


def test_items_are_no_mapping_by_id() -> None:
    by_id: Any = {"doe": DOE}

    with pytest.raises(TypeError, match="item 1 is 'doe'; expected an object of CSL-JSON"):
        Processor(Style.parse(NUMERIC), by_id)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_style_is_read_from_its_file(path: Path) -> None:
    style = Style.load(path)

    assert style.is_numeric is (path.stem == "numeric")
    assert style.has_bibliography
    assert style.class_ == "in-text"
    assert style.default_locale == "en-US"


def test_a_style_says_how_its_list_is_set() -> None:
    plain = Style.parse(style_of("", "class='note'", "<info><title>\n  My\n  style</title></info>"))
    attributes = (
        'hanging-indent="true" line-spacing="2" entry-spacing="0" second-field-align="margin"'
    )
    bibliography = f"<bibliography {attributes}><layout/></bibliography>"
    set_out = Style.parse(style_of("", more=bibliography))

    assert (plain.title, plain.class_) == ("My style", "note")
    assert (set_out.title, set_out.class_) == ("", "in-text")
    # CSL 1.0.2, Bibliography-specific Options: the defaults
    assert (plain.hanging_indent, plain.second_field_align) == (False, "")
    assert (plain.line_spacing, plain.entry_spacing) == (1, 1)
    assert (set_out.hanging_indent, set_out.second_field_align) == (True, "margin")
    assert (set_out.line_spacing, set_out.entry_spacing) == (2, 0)


BROKEN = {
    "not XML": ('<style xmlns="http://purl.org/net/xbiblio/csl">\n<', "line 2: not XML: "),
    "another language": ("<html/>", "line 1: <html>: is not an element of CSL"),
    "no style": (
        '<locale xmlns="http://purl.org/net/xbiblio/csl"/>',
        "line 1: <locale>: is not a style of CSL",
    ),
    "unknown element": (style_of("\n<txt/>"), "line 2: <txt>: is not a rendering element"),
    "unknown condition": (
        style_of("<choose>\n<when/></choose>"),
        "line 2: <when>: is not a part of <choose>",
    ),
    "unknown macro": (style_of('\n<text macro="m"/>'), "line 2: <text>: there is no macro 'm'"),
    "no variable": (style_of("\n<text/>"), "line 2: <text>: has no variable"),
    "not a number": (
        style_of("\n<names variable='author'><name et-al-min='two'/></names>"),
        "line 2: <name>: et-al-min='two' is not a number",
    ),
    "no distance": (
        style_of("", more='\n<bibliography line-spacing="double"><layout/></bibliography>'),
        "line 2: <bibliography>: line-spacing='double' is not a number",
    ),
    "no citation": (
        '<style xmlns="http://purl.org/net/xbiblio/csl"/>',
        "line 1: <style>: has no <citation>",
    ),
    "no layout": (
        '<style xmlns="http://purl.org/net/xbiblio/csl">\n<citation/></style>',
        "line 2: <citation>: has no <layout>",
    ),
}


@pytest.mark.parametrize(("xml", "message"), BROKEN.values(), ids=BROKEN)
def test_an_error_says_the_line_and_the_element(xml: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "broken.csl"
    file.write_text(xml, encoding="utf-8")

    with pytest.raises(CSLError) as parsed:
        Style.parse(xml)
    with pytest.raises(CSLError) as loaded:
        Style.load(file)

    assert str(parsed.value).startswith(message)
    assert str(loaded.value).startswith(f"{file}:{parsed.value.line}: ")
    assert (loaded.value.path, loaded.value.element) == (str(file), parsed.value.element)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing.csl"

    with pytest.raises(CSLError, match="cannot be read: No such file") as error:
        Style.load(missing)

    assert error.value.path == str(missing)


def test_an_error_can_be_pickled() -> None:
    error = CSLError("is wrong", path="a.csl", line=3, element="text")

    copy = pickle.loads(pickle.dumps(error))

    assert str(copy) == str(error) == "a.csl:3: <text>: is wrong"
    assert vars(copy) == vars(error)


def test_a_locale_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(CSLError) as error:
        Locale.load("tlh")

    assert "there is no locale 'tlh', only " in str(error.value)
    assert all(tag in str(error.value) for tag in Locale.available())
    assert "Locale.read" in str(error.value)


def test_a_locale_is_read_from_a_file_and_english_fills_its_gaps(tmp_path: Path) -> None:
    file = tmp_path / "locales-eo.xml"
    file.write_text(LOCALE, encoding="utf-8")

    locale = Locale.read(file)

    assert (locale.lang, locale.term("and")) == ("eo", "kaj")
    assert locale.term("editor", "short", plural=True) == "eds."


def test_the_locale_of_the_caller_comes_before_that_of_the_style() -> None:
    xml = style_of('<text term="and"/>', 'default-locale="fr-FR"')
    processor = processor_of(xml, [DOE], [[Cite("doe")]], locale=Locale.load("de"))

    assert to_text(processor.citation(0)) == "und"
    assert processor.locale.lang == "de-DE"


def test_the_locale_of_the_style_is_the_default() -> None:
    xml = style_of('<text term="and"/>', 'default-locale="fr-FR"')
    processor = processor_of(xml, [DOE], [[Cite("doe")]])

    assert to_text(processor.citation(0)) == "et"


def test_a_style_in_another_language_has_english_terms_and_one_warning() -> None:
    style = Style.parse(style_of('<text term="and"/>', 'default-locale="tlh"'))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        processor = Processor(style, [DOE])
        processor.set_citations([[Cite("doe")]])
        shown = to_text(processor.citation(0))

    assert shown == "and"
    [warning] = caught
    assert "there is no locale 'tlh' for the style" in str(warning.message)
    assert Path(warning.filename) == Path(__file__)


def test_html_escapes_text_and_addresses() -> None:
    runs = [Run("<b> & "), Run("x", frozenset({"bold"}), link='https://example.org/"')]

    shown = to_html(runs)

    assert shown == '&lt;b&gt; &amp; <a href="https://example.org/&quot;"><b>x</b></a>'


def test_html_does_not_close_what_goes_on() -> None:
    italic: frozenset[Format] = frozenset({"italic"})
    bold: frozenset[Format] = frozenset({"bold"})
    runs = [Run("a", italic), Run("b", italic | bold), Run("c", bold)]

    assert to_html(runs) == "<i>a<b>b</b></i><b>c</b>"


@pytest.mark.parametrize("tag", Locale.available())
def test_a_citation_and_an_entry_in_every_language(tag: str) -> None:
    citations = [[Cite("bak", locator="381"), Cite("handbook")]]
    processor = processor_of(AUTHOR_DATE, [BAK, ANONYMOUS], citations, locale=Locale.load(tag))

    citation = to_text(processor.citation(0))
    entries = [to_text(reference.runs) for reference in processor.bibliography()]

    shown = [
        "Bak",
        "Tang",
        "1987",
        "381",
        "The Handbook",
        processor.locale.term("no date", "short"),
    ]
    assert [text for text in shown if text not in citation] == []
    assert any("Bak, Per" in entry and "1987" in entry and "381" in entry for entry in entries)


ARABIC = [{"family": "الجاحظ"}, {"family": "سيبويه"}]


def test_arabic_has_its_terms_and_joins_the_last_two_names() -> None:
    xml = AUTHOR_DATE.replace('and="symbol"', 'and="text"')
    item = {"id": "a", "author": ARABIC, "title": "كتاب", "issued": {"date-parts": [[2001]]}}
    cites = [[Cite("a", locator="١٢-١٤")]]

    arabic = processor_of(xml, [item], cites, locale=Locale.load("ar-EG"))

    assert arabic.locale.lang == "ar-EG"
    assert to_text(arabic.citation(0)) == "(الجاحظ وسيبويه 2001, ص. ص. ١٢–١٤)"


def test_persian_has_spaces_around_the_same_word(tmp_path: Path) -> None:
    (tmp_path / "fa.xml").write_text(
        LOCALE.replace('xml:lang="eo"', 'xml:lang="fa-IR"').replace("kaj", "و"), "utf-8"
    )
    names = '<names variable="author"><name and="text"/></names>'
    item = {"id": "a", "author": ARABIC}

    persian = processor_of(
        style_of(names), [item], [[Cite("a")]], locale=Locale.read(tmp_path / "fa.xml")
    )

    assert to_text(persian.citation(0)) == "الجاحظ و سيبويه"
