"""Bounds: what many authors, many works and long values cost, counted in calls of functions."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from csl.styles import AUTHOR_DATE, processor_of
from doiuri_csl import Cite, Processor, Style, to_text

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


def calls_of(style: Style, items: list[dict[str, Any]]) -> int:
    """How many functions are called until the citations of all items and the list are there."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        processor = Processor(style, items)
        processor.register([[Cite(item["id"])] for item in items])
        for number in range(len(items)):
            processor.citation(number)
        processor.bibliography()
    finally:
        sys.setprofile(before)
    return calls


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

    few = calls_of(style, works(authors_of(24)))
    many = calls_of(style, works(authors_of(48)))

    assert many <= TWICE * few, f"{rule}, {authors_of.__name__}: {few} calls, then {many}"


@pytest.mark.parametrize("rule", RULES)
def test_twice_the_works_take_twice_the_work(rule: str) -> None:
    """Each work differs from all others at an author of its own."""
    style = style_with(rule)
    authors = [
        team(30, **{f"n{number}": {"family": "Li", "given": "Bo"}}) for number in range(1, 25)
    ]

    few = calls_of(style, works(authors[-12:]))
    many = calls_of(style, works(authors))

    assert many <= TWICE * few, f"{rule}: {few} calls, then {many}"


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
