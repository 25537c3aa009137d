"""Bounds: what many authors, many works and long values cost, counted in calls of functions."""

from __future__ import annotations

import sys
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from csl.styles import AUTHOR_DATE, NUMERIC, processor_of, style_of
from doiuri_csl import Cite, Processor, Style, to_text
from support.growth import is_linear

if TYPE_CHECKING:
    from collections.abc import Callable

# What doubling the input may multiply the calls by; a loop in a loop makes it 4.
TWICE = 2.3

RULES = ["by-cite", "all-names", "all-names-with-initials", "primary-name"]


def style_with(rule: str) -> Style:
    """A style that tells cites apart by all methods."""
    options = (
        'disambiguate-add-names="true" disambiguate-add-givenname="true" '
        f'givenname-disambiguation-rule="{rule}"'
    )
    xml = AUTHOR_DATE.replace("<citation ", f"<citation {options} ")
    return Style.parse(xml.replace('<name form="short"', '<name form="short" initialize-with="."'))


def team(size: int, **changed: dict[str, str]) -> list[dict[str, str]]:
    """Authors that have families and initials of their own, but for those that are given by number."""
    people = []
    for number in range(size):
        person = {"family": f"Name{number}", "given": f"Ann{number}"}
        people.append(changed.get(f"n{number}", person))
    return people


def works(authors: list[list[dict[str, str]]]) -> list[dict[str, Any]]:
    """Works of one year, each with its authors."""
    return [
        {"id": str(number), "title": "T", "author": people, "issued": {"date-parts": [[2001]]}}
        for number, people in enumerate(authors)
    ]


def calls_of(work: Callable[[], None]) -> int:
    """How many functions are called."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def calls_for(style: Style, items: list[dict[str, Any]]) -> int:
    """How many functions are called until the citations of all items and the list are there."""

    def show() -> None:
        processor = Processor(style, items)
        processor.set_citations([[Cite(item["id"])] for item in items])
        for number in range(len(items)):
            processor.citation(number)
        processor.bibliography()

    return calls_of(show)


def same_team(size: int) -> list[list[dict[str, str]]]:
    return [team(size)] * 3


def other_families(size: int) -> list[list[dict[str, str]]]:
    """The works differ late, each from the others at another author."""
    last = {f"n{size - 1}": {"family": "Li", "given": "Bo"}}
    middle = {f"n{size // 2}": {"family": "Li", "given": "Bo"}}
    return [team(size), team(size, **middle), team(size, **last), team(size, **last)]


def other_given_names(size: int) -> list[list[dict[str, str]]]:
    """The works differ late, in a given name with the same initial."""
    last = {f"n{size - 1}": {"family": f"Name{size - 1}", "given": "Ada"}}
    return [team(size), team(size, **last), team(size)]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("authors_of", [same_team, other_families, other_given_names])
def test_twice_the_authors_take_twice_the_work(rule: str, authors_of: Any) -> None:
    """Names are compared as values, so that the lists of 3,000 authors in physics end too."""
    style = style_with(rule)

    few = calls_for(style, works(authors_of(16)))
    many = calls_for(style, works(authors_of(32)))

    assert many <= TWICE * few, f"{rule}, {authors_of.__name__}: {few} calls, then {many}"


@pytest.mark.parametrize("rule", RULES)
def test_twice_the_works_take_twice_the_work(rule: str) -> None:
    """Each work differs from all others at an author of its own."""
    style = style_with(rule)
    authors = [
        team(20, **{f"n{number}": {"family": "Li", "given": "Bo"}}) for number in range(1, 17)
    ]

    few = calls_for(style, works(authors[-8:]))
    many = calls_for(style, works(authors))

    assert many <= TWICE * few, f"{rule}: {few} calls, then {many}"


EDITABLE = {
    "author-date": style_with("by-cite"),
    "given names in all the document": style_with("all-names"),
    "numbers": Style.parse(NUMERIC),
    "notes": Style.parse(
        style_of(
            '<choose><if position="ibid"><text value="ibid"/></if><else-if position="subsequent">'
            '<text variable="first-reference-note-number"/></else-if></choose>'
            '<names variable="author"/><text variable="locator"/>',
            'class="note"',
        )
    ),
}
DOE, DEAN, LI, KIM, ROE = (
    {"family": family, "given": given}
    for family, given in [("Doe", "Ann"), ("Doe", "Bo"), ("Li", "Bo"), ("Kim", "Bo"), ("Roe", "Bo")]
)
COLLIDING = works([[DOE], [DEAN], [DOE], [DOE, LI, KIM], [DOE, ROE, KIM]])

# Each needs something else of its first work: nothing, a given name, a letter, more names, another place
DOCUMENTS = [
    [[Cite("0")], [Cite("3")]],
    [[Cite("0")], [Cite("3")], [Cite("1")]],
    [[Cite("0")], [Cite("3")], [Cite("2")]],
    [[Cite("0")], [Cite("3")], [Cite("4")]],
    [[Cite("3")], [Cite("0")], [Cite("0")]],
    [[Cite("0", locator="12")], [Cite("nobody"), Cite("3")]],
]


@pytest.mark.parametrize("style", EDITABLE.values(), ids=EDITABLE)
def test_a_document_that_was_edited_looks_like_a_new_one(style: Style) -> None:
    edited = Processor(style, COLLIDING)
    for before, after in permutations(DOCUMENTS, 2):
        new = Processor(style, COLLIDING)
        new.set_citations(after)
        expected = [new.citation(number) for number in range(len(after))]

        for citations in (before, after):
            edited.set_citations(citations)
            shown = [edited.citation(number) for number in range(len(citations))]

        assert shown == expected, f"{before} became {after}"
        assert edited.bibliography() == new.bibliography(), f"{before} became {after}"
        assert edited.listed == new.listed, f"{before} became {after}"


def test_an_edit_renders_only_what_it_changes() -> None:
    style = style_with("all-names")
    items = works([team(3, n0={"family": f"Doe{number}", "given": "Ann"}) for number in range(60)])
    citations = [[Cite(item["id"])] for item in items]
    processor = Processor(style, items)

    def show() -> None:
        processor.set_citations(citations)
        for number in range(len(citations)):
            processor.citation(number)

    first = calls_of(show)
    citations[30] = [Cite("30", locator="12")]
    edit = calls_of(show)

    assert edit <= first / 10, f"{first} calls at first, {edit} for one edit"


LONG_VALUES: dict[str, Callable[[str], object]] = {
    "title": lambda text: text,
    "author": lambda text: [{"family": text, "given": "Ann"}],
    "editor": lambda text: [text],
    "issued": lambda text: {"literal": text},
    "note": lambda text: text,
}


@pytest.mark.parametrize(("key", "value_of"), LONG_VALUES.items(), ids=LONG_VALUES)
def test_a_value_that_is_too_long_is_the_problem_of_its_entry(
    key: str, value_of: Callable[[str], object]
) -> None:
    """The longest that is taken has 100,000 characters; a title of 5 MB would take half a minute."""
    item = {"id": "long", "title": "Ants", key: value_of("a" * 100_001)}
    just_short_enough = {"id": "short", "title": "Ants", key: value_of("a" * 100_000)}

    processor = processor_of(NUMERIC, [item, just_short_enough], [[Cite("long"), Cite("short")]])

    too_long, taken = processor.bibliography()
    assert too_long.problem.startswith(f"{key}: has more than 100,000 characters: ")
    assert len(too_long.problem) < 200
    assert "aaa" not in to_text(too_long.runs)
    assert taken.problem == ""


@pytest.mark.parametrize("word", ["de ", "b-", "(b) ", "B."])
def test_long_given_names_are_initials_in_linear_time(word: str) -> None:
    """A look at the whole name for each of its words took 25 s."""
    style = style_with("by-cite")

    def show(count: int) -> None:
        [item] = works([[{"family": "Doe", "given": word * count}]])
        processor = Processor(style, [item])
        processor.set_citations([[Cite("0")]])
        assert processor.bibliography()
        assert to_text(processor.citation(0)) == "(Doe 2001)"

    assert is_linear(show, 2_500, 20_000), f"{word!r} repeated takes more than linear time"


def test_year_suffixes_go_on_after_z() -> None:
    items = works([team(1)] * 705)
    xml = AUTHOR_DATE.replace('collapse="year"', 'collapse="year-suffix-ranged"')
    every = [Cite(item["id"]) for item in items]
    citations = [[every[25]], [every[26]], [every[701]], [every[702]], every]

    processor = processor_of(xml, items, citations[-1:] + citations[:-1])

    shown = [to_text(processor.citation(number)) for number in range(5)]
    assert shown == [
        "(Name0 2001a–aac)",
        "(Name0 2001z)",
        "(Name0 2001aa)",
        "(Name0 2001zz)",
        "(Name0 2001aaa)",
    ]
