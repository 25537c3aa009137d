"""Items as people have them: whole, odd, broken; and text that is made to take long."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from csl.styles import AUTHOR_DATE, BAK, DOE, NUMERIC, SHIPPED, processor_of, style_of
from doiuri_csl import BibliographyEntry, Cite, CSLError, Processor, Style, to_html, to_text
from hypothesis import given
from hypothesis import strategies as st
from support.growth import is_linear

TEXTS = [
    *(
        "archive",
        "archive-place",
        "authority",
        "call-number",
        "collection-title",
        "container-title",
    ),
    *(
        "dimensions",
        "division",
        "event-title",
        "event-place",
        "genre",
        "ISBN",
        "ISSN",
        "jurisdiction",
    ),
    *(
        "keyword",
        "license",
        "medium",
        "original-publisher",
        "original-title",
        "part-title",
        "PMCID",
    ),
    *("PMID", "publisher", "publisher-place", "references", "reviewed-title", "scale", "source"),
    *(
        "status",
        "title",
        "title-short",
        "URL",
        "volume-title",
        "chapter-number",
        "edition",
        "issue",
    ),
    *("number", "number-of-pages", "page", "part-number", "printing-number", "section", "version"),
]
PEOPLE = ["author", "director", "editor-translator", "guest", "interviewer", "reviewed-author"]


def entry_of(layout: str, item: dict[str, Any], options: str = "") -> BibliographyEntry:
    """The entry of one item in a list with a layout."""
    xml = style_of('<text variable="title"/>', options).replace(
        "</style>", f"<bibliography><layout>{layout}</layout></bibliography></style>"
    )
    [reference] = processor_of(xml, [{"id": "x", **item}], [[Cite("x")]]).bibliography()
    return reference


@pytest.mark.parametrize("variable", TEXTS)
def test_every_variable_that_a_style_asks_for_is_shown(variable: str) -> None:
    reference = entry_of(f'<text variable="{variable}"/>', {variable: "some value"})

    assert to_text(reference.runs) == "some value"


@pytest.mark.parametrize("variable", PEOPLE)
def test_every_role_that_a_style_asks_for_is_shown(variable: str) -> None:
    reference = entry_of(f'<names variable="{variable}"/>', {variable: [{"family": "Doe"}]})

    assert to_text(reference.runs) == "Doe"


@pytest.mark.parametrize(
    "style", ["", 'page-range-format="chicago"', 'page-range-format="minimal"']
)
@pytest.mark.parametrize(
    "page",
    [
        "12",
        "e1001",
        "S2-S9",
        "12-18",
        "12–18",
        "iv–x",
        "A1, B2-3",
        "317-A",
        "1-",
        "§ 4",
        "1; 3",
        "n/a",
    ],
)
def test_no_page_is_lost(page: str, style: str) -> None:
    """Whatever format the style has, the first page and any that is no plain number are there."""
    shown = to_text(entry_of('<text variable="page"/>', {"page": page}, style).runs)

    first = page.replace("–", "-").partition("-")[0]
    assert shown.startswith(first)
    assert len(shown) >= len(first)


YEAR = '<date variable="issued"><date-part name="year"/></date>'
NO_DATE = f'<choose><if variable="issued">{YEAR}</if><else><text term="no date" form="short"/></else></choose>'


@pytest.mark.parametrize(
    ("issued", "expected"),
    [
        ({"date-parts": [[1999]]}, "1999"),
        ({"date-parts": [["1999", "2", 3]]}, "1999"),
        ({"date-parts": [[1999.0]]}, "1999"),
        ({"date-parts": [[1999], [2001]]}, "1999–2001"),
        ({"date-parts": [[2018], [0]]}, "2018–"),
        ({"date-parts": [["in press"]]}, "in press"),
        ({"literal": "in press"}, "in press"),
        ({"raw": "2014-05-12"}, "2014"),
        ({"raw": "12 May 2014"}, "2014"),
        ({"raw": "1999/2001"}, "1999–2001"),
        ({"raw": "around 1900"}, "around 1900"),
        ("1999-12", "1999"),
        (1999, "1999"),
        ({"date-parts": [[]]}, "n.d."),
        ({"date-parts": []}, "n.d."),
        ({}, "n.d."),
        ("", "n.d."),
        (None, "n.d."),
    ],
    ids=str,
)
def test_only_works_without_a_date_have_none(issued: object, expected: str) -> None:
    shown = to_text(entry_of(f"<group prefix='in '>{NO_DATE}</group>", {"issued": issued}).runs)

    assert shown == f"in {expected}"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("author", 5),
        ("author", [[]]),
        ("issued", [1999]),
        ("issued", {"date-parts": "1999"}),
        ("title", {"en": "Ants"}),
        ("volume", True),
    ],
    ids=str,
)
def test_a_value_that_cannot_be_read_is_the_problem_of_its_entry(key: str, value: object) -> None:
    items: list[dict[str, Any]] = [{**DOE, key: value}, BAK]
    processor = processor_of(NUMERIC, items, [[Cite("doe")], [Cite("bak")]])

    [wrong, right] = processor.bibliography()

    assert wrong.problem.startswith(f"{key}: cannot be read: ")
    assert wrong.runs
    assert right.problem == ""


@pytest.mark.parametrize(
    ("member", "problem"),
    [
        ({"issued": {"date-parts": [[1999, 37]]}}, "issued: 37 is not a month"),
        ({"issued": {"date-parts": [[1999, 5, 1], [1999, 5, "45"]]}}, "issued: '45' is not a day"),
        ({"type": "zzz"}, "type: CSL has no type 'zzz'"),
        ({"note": "type: zzz"}, "type: CSL has no type 'zzz'"),
    ],
    ids=str,
)
def test_a_value_that_csl_does_not_have_is_a_problem(member: dict[str, Any], problem: str) -> None:
    [entry] = processor_of(NUMERIC, [{**DOE, **member}], [[Cite("doe")]]).bibliography()

    assert entry.problem == problem
    assert entry.runs


def test_months_seasons_and_missing_parts_are_no_problem() -> None:
    for parts in (
        [1999, 12, 31],
        [1999, 24],
        ["1999", "05"],
        [1999, 0],
        [1999, None, ""],
        ["1999", "00", "0"],
    ):
        item = {**DOE, "issued": {"date-parts": [parts]}}
        [entry] = processor_of(NUMERIC, [item], [[Cite("doe")]]).bibliography()
        assert entry.problem == "", parts


def test_of_two_items_with_an_id_the_last_counts_and_it_is_a_problem() -> None:
    [entry] = processor_of(
        NUMERIC, [BAK, {**BAK, "id": "doe"}, DOE], [[Cite("doe")]]
    ).bibliography()

    assert entry.problem == "id: item 3 has the same id as an earlier one, which it replaces"
    assert to_text(entry.runs) == "Ann Doe, Ants."


def test_a_label_that_csl_does_not_have_is_a_problem_of_the_item_that_is_cited() -> None:
    cites = [Cite("doe", "5", "pge"), Cite("bak", "5", "sub verbo"), Cite("bak", label="pge")]
    processor = processor_of(NUMERIC, [DOE, BAK], [cites])

    assert [entry.problem for entry in processor.bibliography()] == [
        "locator: CSL has no label 'pge'",
        "",
    ]

    processor.set_citations([[Cite("doe", "5")]])
    assert [entry.problem for entry in processor.bibliography()] == [""]


def test_a_note_may_hold_variables() -> None:
    layout = (
        '<group delimiter="; "><text variable="note"/><text variable="genre"/><names variable="guest"/>'
        '<date variable="original-date" form="text"/></group>'
    )
    note = "Mine.\ngenre: Preprint\nguest: Doe || Ann\n{:original-date: 1900-05}"

    assert to_text(entry_of(layout, {"note": note}).runs) == "Mine.; Preprint; Ann Doe; May 1900"


def test_dates_and_the_type_in_a_note_win_over_those_of_the_item() -> None:
    """As Zotero has it; other variables are only added."""
    layout = """<choose><if type="book"><text value="book"/></if><else><text value="other"/></else></choose>
        <date variable="issued" form="numeric" date-parts="year"/><text variable="genre"/>"""
    item = {"type": "document", "issued": 1999, "genre": "own"}
    for note, expected in {
        "type: book": "book1999own",
        "{:type: book}": "book1999own",
        "issued: 2001": "other2001own",
        "genre: noted": "other1999own",
        "Type: book\nIssued: 2001\nGenre: noted": "book2001own",
    }.items():
        text = to_text(entry_of(layout, {**item, "note": note}).runs)

        assert text == expected, f"{note!r} gives {text!r}, expected {expected!r}"


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd"])
def test_only_addresses_of_the_web_are_links(url: str) -> None:
    [run] = entry_of('<text variable="URL"/>', {"URL": url}).runs

    assert (run.text, run.link) == (url, "")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["family", "given", "date-parts", "raw", "literal", "x"]), inner
        )
    ),
    max_leaves=6,
)
ITEMS = st.dictionaries(
    st.sampled_from(
        [*TEXTS[:6], *PEOPLE, "author", "issued", "title", "note", "page", "type", "language"]
    ),
    VALUES,
)
ALL_STYLES = [AUTHOR_DATE, NUMERIC, *(path.read_text("utf-8") for path in SHIPPED)]


@given(items=st.lists(ITEMS, min_size=1, max_size=3))
def test_all_items_end_in_all_styles(items: list[dict[str, Any]]) -> None:
    numbered = [{**item, "id": number} for number, item in enumerate(items)]
    cites = [Cite(str(number)) for number in range(len(items))]

    for xml in ALL_STYLES:
        processor = processor_of(xml, numbered, [cites, [*cites, *cites]])

        assert isinstance(to_html(processor.citation(0)), str)
        assert len(processor.bibliography()) == len(items), f"an entry is missing in {xml}"


SOME = ["title", "container-title", "page", "volume", "edition", "publisher", "URL"]
HOSTILE_TEXTS = [
    *(" ", "-", "–", "(", "[", "<", ">", '"', "'", "“", "a ", "a'", "A. ", "1-", "1,", ":", "."),
    *("<i>", "<i>a</i>", '"a" ', "\u00a0", "de ", "{:a:", "x:", "( a ", "a. 1 "),
]
# Everything that reads a text: cases, quotation marks, ranges, numbers, labels, short forms, sort keys
READS_ALL = f"""
<style xmlns="http://purl.org/net/xbiblio/csl" class="note" version="1.0" page-range-format="minimal">
  <macro name="all"><group delimiter=". ">
    <names variable="author"><name initialize-with=". " name-as-sort-order="all"/></names>
    <text variable="title" text-case="title" quotes="true"/>
    <text variable="title" text-case="sentence"/><text variable="title" text-case="capitalize-all"/>
    {"".join(f'<text variable="{name}" form="short" strip-periods="true"/>' for name in SOME)}
    <label variable="page"/><number variable="volume" form="ordinal"/><number variable="edition"/>
    <date variable="issued" form="text"/><text variable="note"/>
    <label variable="locator"/><text variable="locator"/></group></macro>
  <citation><layout delimiter="; "><text macro="all"/></layout></citation>
  <bibliography><sort><key variable="title"/><key variable="author"/></sort>
    <layout suffix="."><text variable="note"/></layout></bibliography>
</style>"""


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_text_takes_no_longer_than_its_length(text: str) -> None:
    """A program that looks back at each character would take minutes for a long one."""

    def show(length: int) -> None:
        value = text * (length // len(text)) + "x"
        item = {
            "id": "x",
            **dict.fromkeys(SOME, value),
            "author": [{"family": value, "given": value}],
            "note": value,
            "issued": {"raw": value[:150]},
        }
        cites = [Cite("x", value), Cite("y", prefix=value, suffix=value)]
        processor = processor_of(READS_ALL, [item, {"id": "y", "title": "Ants"}], [cites])
        assert processor.citation(0)
        assert processor.bibliography()

    assert is_linear(show, 250, 2_000), f"{text!r} repeated takes more than linear time"


MACROS = {
    "itself": (
        '<macro name="a"><text macro="a"/></macro>',
        "macro 'a' calls itself: a → a",
    ),
    "each other": (
        '<macro name="a"><group><text macro="b"/></group></macro>\n<macro name="b"><text macro="a"/></macro>',
        "macro 'a' calls itself: a → b → a",
    ),
    "doubling": (
        '<macro name="a0"><text value="x"/></macro>'
        + "".join(
            f'<macro name="a{n}"><text macro="a{n - 1}"/><text macro="a{n - 1}"/></macro>'
            for n in range(1, 20)
        )
        + '<macro name="a"><text macro="a19"/></macro>',
        "elements with its macros, more than 20,000",
    ),
    "a long chain": (
        '<macro name="a0"><text value="x"/></macro>'
        + "".join(f'<macro name="a{n}"><text macro="a{n - 1}"/></macro>' for n in range(1, 2000))
        + '<macro name="a"><text macro="a1999"/></macro>',
        "nested more than 100 deep",
    ),
}


@pytest.mark.parametrize(("macros", "message"), MACROS.values(), ids=MACROS)
def test_hostile_macros_are_named_before_anything_is_drawn(macros: str, message: str) -> None:
    with pytest.raises(CSLError) as error:
        Style.parse(style_of('\n<text macro="a"/>', more=macros))

    assert message in str(error.value)
    assert error.value.line > 0


HOSTILE = {
    "entities": (
        '<!DOCTYPE style [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n' + style_of("&b;"),
        "has a document type",
    ),
    "depth": (style_of("<group>" * 200 + "</group>" * 200), "nested more than 100 deep"),
    "size": (style_of(" " * 5_000_000), "is larger than 4 MB"),
    "not text": ("\0", "not XML"),
}


@pytest.mark.parametrize(("xml", "message"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_xml_is_refused(xml: str, message: str) -> None:
    with pytest.raises(CSLError, match=message):
        Style.parse(xml)


def test_elements_of_other_namespaces_mean_nothing() -> None:
    more = '<x:note xmlns:x="https://example.org/"><text/></x:note>'

    processor = processor_of(
        style_of('<text variable="title"/>', more=more), [DOE], [[Cite("doe")]]
    )

    assert to_text(processor.citation(0)) == "Ants"


def test_items_are_not_changed() -> None:
    item = {**DOE, "note": "genre: Preprint"}
    before = json.dumps(item)

    processor_of(AUTHOR_DATE, [item], [[Cite("doe")]]).bibliography()

    assert json.dumps(item) == before


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
@given(order=st.permutations(range(6)))
def test_the_order_of_citing_does_not_change_a_sorted_list(path: Path, order: list[int]) -> None:
    people = ["Doe", "Doe", "Roe", "Émile", "de Vries", "Zorn"]
    items = [
        {"id": str(n), "type": "book", "title": f"Title {n}", "author": [{"family": people[n]}],
         "issued": {"date-parts": [[2000 + n % 2]]}}
        for n in range(6)
    ]  # fmt: skip
    processor = Processor(Style.load(path), items)

    processor.set_citations([[Cite(str(number))] for number in order])

    listed = [reference.id for reference in processor.bibliography()]
    expected = [str(number) for number in order]
    if not processor_sorts(path):
        assert listed == expected
    else:
        assert listed == ["4", "0", "1", "3", "2", "5"]


def processor_sorts(path: Path) -> bool:
    """Whether the list of a style is sorted."""
    return "<sort>" in path.read_text("utf-8").partition("<bibliography")[2]


def test_a_citation_twice_is_the_same() -> None:
    for xml in ALL_STYLES:
        processor = processor_of(
            xml, [BAK, DOE], [[Cite("bak"), Cite("doe")], [Cite("bak"), Cite("doe")]]
        )

        assert processor.citation(0) == processor.citation(1) == processor.citation(0), xml


DEEP = {
    "groups": ("<group>", "</group>", 95),
    "conditions": ('<choose><if type="book">', "</if></choose>", 48),
    "substitutes": ('<names variable="editor"><substitute>', "</substitute></names>", 48),
}


@pytest.mark.parametrize(("start", "end", "times"), DEEP.values(), ids=DEEP)
def test_what_is_not_refused_for_its_depth_can_be_drawn(start: str, end: str, times: int) -> None:
    layout = f'{start * times}<text variable="title"/>{end * times}'

    processor = processor_of(style_of(layout), [DOE], [[Cite("doe")]])

    assert to_text(processor.citation(0)) == "Ants"
