"""Lists of abbreviations, as Zotero and Juris-M have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from csl.styles import style_of
from doiuri_csl import Abbreviations, Cite, CSLError, Processor, Style, to_text

LISTS: dict[str, Any] = {
    "default": {
        "container-title": {
            "The Journal of Ants": "J. Ants",
            "Bee World": "!publisher>>>Bee W.",
            "Journal de Oiseau": "J. Ois.",
            "Physica": "Phys.",
        },
        "collection-title": {"Notes on Bees": "N. Bees"},
        "title": {"On Ants": "Ants"},
        "institution-part": {"Ant Press": "AP", "Empty": ""},
        "place": {"New York": "NY"},
        "number": {"volume": "v"},
    },
    "us": {"place": {"New York": "N.Y."}},
}
SHORT = '<text variable="{}" form="short"/>'


def shown(layout: str, item: dict[str, Any], abbreviations: Abbreviations | None) -> str:
    processor = Processor(
        Style.parse(style_of(layout)), [{"id": "a", **item}], abbreviations=abbreviations
    )
    processor.set_citations([[Cite("a")]])
    return to_text(processor.citation(0))


# Variable, long form, short form
EXAMPLES = [
    ("container-title", "The Journal of Ants", "J. Ants"),
    ("container-title", "<i>Journal</i> of ANTS.", "J. Ants"),
    ("container-title", "Journal of Antsy", "Journal of Antsy"),
    ("container-title", "Bee World", "Bee W."),
    ("container-title", "Journal de l’Oiseau", "J. Ois."),
    ("container-title", "Physica D", "Physica D"),
    ("collection-title", "Notes on Bees", "N. Bees"),
    ("title", "On Ants", "Ants"),
    ("publisher", "Ant Press", "AP"),
    ("publisher", "Empty", "Empty"),
    ("publisher", "On Ants", "On Ants"),
    ("publisher-place", "New York", "NY"),
    ("event-place", "New York", "NY"),
]


@pytest.mark.parametrize(("variable", "long", "short"), EXAMPLES)
def test_a_short_form_is_that_of_the_list(variable: str, long: str, short: str) -> None:
    layout = f'{SHORT.format(variable)}<text variable="{variable}" prefix=" | "/>'

    assert shown(layout, {variable: long}, Abbreviations(LISTS)) == f"{short} | {long}".replace(
        "<i>", ""
    ).replace("</i>", "")


# The variables that each field of a list abbreviates, as in citeproc-js
FIELDS = {
    "container-title": ("container-title", "archive"),
    "collection-title": ("collection-title",),
    "title": ("title", "genre", "event", "event-title", "medium"),
    "institution-part": ("publisher", "authority"),
    "place": ("publisher-place", "event-place", "archive-place"),
}


def test_each_field_abbreviates_its_variables() -> None:
    for field, variables in FIELDS.items():
        abbreviations = Abbreviations({"default": {field: {"Long": "Sh."}}})
        for variable in variables:
            text = shown(SHORT.format(variable), {variable: "Long"}, abbreviations)
            assert text == "Sh.", f"{variable} is not abbreviated by {field}: {text!r}"


NOT_COMPARED = (
    *("the", "and", "la", "le", "et", "und", "y", "THE", "l’", "l'", "d’", "d'"),
    *("<i>", "</span>", ".", ",", ":", "&", "(", "–"),
)
COMPARED = ("of", "a", "l", "d", "lo", "oder", "theory", "1", "é")


def test_articles_and_marks_of_a_long_form_are_not_compared() -> None:
    """What Zotero leaves out, too."""
    abbreviations = Abbreviations({"default": {"title": {"Ants World": "A. W."}}})
    for word in (*NOT_COMPARED, *COMPARED):
        short = abbreviations.get("title", f"Ants {word} World")
        assert short == ("A. W." if word in NOT_COMPARED else ""), f"with {word!r}: {short!r}"
    assert abbreviations.get("title", "AntsWorld") == "", "the spaces between words count"


@pytest.mark.parametrize(
    "hint", ["!publisher>>>", "!publisher,title>>>", "!event-place>>>", "!>>>"]
)
def test_a_hint_for_another_field_is_no_part_of_an_abbreviation(hint: str) -> None:
    abbreviations = Abbreviations({"default": {"title": {"Ants": f"{hint}A."}}})

    assert abbreviations.get("title", "Ants") == "A.", f"with {hint!r}"


def test_the_list_wins_over_the_abbreviation_of_the_item() -> None:
    item = {"container-title": "The Journal of Ants", "journalAbbreviation": "JA"}
    layout = SHORT.format("container-title")
    variable = '<text variable="container-title-short"/>'

    for element in (layout, variable):
        assert shown(element, item, None) == "JA"
        assert shown(element, item, Abbreviations(LISTS)) == "J. Ants"
        other = {**item, "container-title": "Other"}
        assert shown(element, other, Abbreviations(LISTS)) == "JA"


@pytest.mark.parametrize(
    ("jurisdiction", "short"), [("us:ny", "N.Y."), ("US", "N.Y."), ("de", "NY")]
)
def test_a_jurisdiction_has_abbreviations_of_its_own(jurisdiction: str, short: str) -> None:
    item = {"publisher-place": "New York", "jurisdiction": jurisdiction}

    assert shown(SHORT.format("publisher-place"), item, Abbreviations(LISTS)) == short


@pytest.mark.parametrize("content", [LISTS, {"info": {"name": "n"}, **LISTS}, {"xdata": LISTS}])
def test_a_list_is_read_from_its_file(content: object, tmp_path: Path) -> None:
    file = tmp_path / "abbreviations.json"
    file.write_text(json.dumps(content), "utf-8")

    abbreviations = Abbreviations.load(file)

    assert abbreviations.get("container-title", "Journal of ants") == "J. Ants"
    assert abbreviations.get("title", "Journal of ants") == ""
    assert abbreviations.digest == Abbreviations(LISTS).digest
    assert abbreviations.digest != Abbreviations({"default": LISTS["us"]}).digest


BROKEN = {
    "{\n,}": ":2: not JSON: Expecting property name",
    "[]": ": not a list of abbreviations: expected an object",
    '{"default": 1}': ": 'default' has no fields, such as container-title",
    '{"default": {"title": []}}': ": 'title' is not an object of abbreviations",
    '{"default": {"title": {"A": 1}}}': ": 'title': the abbreviation of 'A' is not text",
    "\xff": ": not JSON: ",
    "[" * 100_000: ": not JSON: ",
}


@pytest.mark.parametrize(("content", "message"), BROKEN.items(), ids=BROKEN.values())
def test_an_error_says_what_is_wrong_with_a_list(
    content: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "list.json"
    file.write_bytes(content.encode("latin-1"))

    with pytest.raises(CSLError) as caught:
        Abbreviations.load(file)
    assert str(caught.value).startswith(f"{file}{message}")

    with pytest.raises(CSLError, match=r"no\.json: cannot be read"):
        Abbreviations.load(tmp_path / "no.json")
