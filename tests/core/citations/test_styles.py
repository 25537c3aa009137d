"""What a style says about citations is what they show: all combinations, beside a plain model."""

from __future__ import annotations

from itertools import groupby, product
from pathlib import Path
from typing import NamedTuple

import pytest
from doiuri.citations import Bibliography, Cite, Style
from doiuri.records import Work

PEOPLE: dict[str, list[str]] = {
    "a1": ["Abel"], "z": ["Zorn"], "z2": ["Zorn"], "a2": ["Abel"], "a3": ["Abel"], "a4": ["Abel"],
    "b": ["Berg", "Abel"], "c": ["Cole", "Berg", "Abel"], "u": ["Urban"],
}  # fmt: skip
YEARS = {
    "a1": 2001,
    "z": 2003,
    "z2": 2003,
    "a2": 2001,
    "a3": 2001,
    "a4": 2005,
    "b": 1999,
    "c": 2005,
    "u": None,
}
WORKS = {
    key: Work(
        key, {"title": key, "author": [{"family": family} for family in people], "issued": YEARS[key] or ""}
    )
    for key, people in PEOPLE.items()
}
TERMS = {"en-US": ("and", "et al.", "p."), "pt_BR": ("e", "et al.", "p."), "de": ("und", "u.\u00a0a.", "S.")}
STYLE = """<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
<info><title>T</title><id>i</id><updated>2026-01-01T00:00:00Z</updated></info>
<citation {citation}>{sort}<layout prefix="(" suffix=")" delimiter="; ">{layout}</layout></citation>
<bibliography>{list_sort}<layout><text variable="title"/></layout></bibliography></style>"""
LOCATOR = '<group delimiter=" "><label variable="locator" form="short"/><text variable="locator"/></group>'
YEAR = '<group><date variable="issued"><date-part name="year"/></date><text variable="year-suffix"/></group>'
AUTHOR_YEAR = (
    f'<group delimiter=" "><names variable="author"><name form="short" {{}}/></names>{YEAR}{LOCATOR}</group>'
)
NUMBER = f'<group delimiter=", "><text variable="citation-number"/>{LOCATOR}</group>'


class Options(NamedTuple):
    """The attributes of a style that are combined."""

    collapse: str
    order: str
    """Of the list and of citations: "", "ascending" or "descending"."""
    et_al: bool
    letters: bool
    symbol: bool
    locale: str


def sort(order: str) -> str:
    return f'<sort><key variable="issued" sort="{order}"/></sort>' if order else ""


def style(options: Options, layout: str, folder: Path) -> Style:
    citation = (
        f'disambiguate-add-year-suffix="{str(options.letters).lower()}" year-suffix-delimiter="+"'
        ' cite-group-delimiter=", "'
    )
    collapse = f' collapse="{options.collapse}"' if options.collapse else ""
    name = (
        'et-al-min="3" et-al-use-first="1" ' if options.et_al else ""
    ) + f'and="{"symbol" if options.symbol else "text"}"'
    xml = STYLE.format(
        citation=citation + collapse,
        sort=sort(options.order),
        list_sort=sort(options.order),
        layout=layout.format(name),
    )
    (folder / "own.csl").write_text(xml)
    return Style.load("own.csl", folder)


def in_order(keys: list[str], order: str) -> list[str]:
    """The keys by years; those without one come last."""
    sign = -1 if order == "descending" else 1
    return sorted(keys, key=lambda key: (YEARS[key] is None, sign * (YEARS[key] or 0))) if order else keys


def names(key: str, options: Options) -> str:
    and_, et_al, _ = TERMS[options.locale]
    people, last = PEOPLE[key], "&" if options.symbol else and_
    if options.et_al and len(people) > 2:
        return f"{people[0]} {et_al}"
    comma = "," if len(people) > 2 else ""
    return people[0] if len(people) == 1 else f"{', '.join(people[:-1])}{comma} {last} {people[-1]}"


def letters(listed: list[str], options: Options) -> dict[str, str]:
    found: dict[str, str] = {}
    for key in listed:
        alike = [one for one in listed if (PEOPLE[one], YEARS[one]) == (PEOPLE[key], YEARS[key])]
        found[key] = "abc"[alike.index(key)] if options.letters and len(alike) > 1 else ""
    return found


def ranged(cites: list[tuple[int, str]], delimiter: str) -> str:
    """Texts with numbers; three that follow each other are a range."""
    shown: list[str] = []
    while cites:
        run = 1
        while cites[0][0] and run < len(cites) and cites[run][0] == cites[0][0] + run:
            run += 1
        shown.append(f"{cites[0][1]}–{cites[run - 1][1]}" if run > 2 else cites[0][1])
        cites = cites[run if run > 2 else 1 :]
    return delimiter.join(shown)


def author_year(keys: list[str], locators: dict[str, str], options: Options, letter: dict[str, str]) -> str:
    """What citeproc's specification says of a citation of works in this order."""

    def year(key: str) -> str:
        return f"{YEARS[key]}{letter[key]}" if YEARS[key] else letter[key]

    def alone(key: str) -> str:
        locator = f"{TERMS[options.locale][2]} {locators[key]}" if key in locators else ""
        return " ".join(filter(None, (names(key, options), year(key), locator)))

    shown: list[str] = []
    by_year = "suffix" in options.collapse
    for _, run in groupby(keys, lambda key: key if key in locators else names(key, options)):
        group = [*run]
        if not options.collapse or len(group) == 1:
            shown += map(alone, group)
            continue
        years: list[str] = []
        for _, same in groupby(
            enumerate(group), lambda one: YEARS[one[1]] if by_year and letter[one[1]] else -one[0]
        ):
            first, *others = [key for _, key in same]
            cites = [
                (first, year(first) if years else alone(first)),
                *((key, letter[key]) for key in others),
            ]
            has_ranges = options.collapse == "year-suffix-ranged"
            numbered = [
                ("abc".find(letter[key] or "-") + 1 if has_ranges else 0, text) for key, text in cites
            ]
            years.append(ranged(numbered, "+"))
        shown.append(", ".join(years))
    return f"({'; '.join(shown)})"


COLLAPSES = ("", "year", "year-suffix", "year-suffix-ranged")
ORDERS = ("", "ascending", "descending")
ALL = [*map(Options._make, product(COLLAPSES, ORDERS, *[(False, True)] * 3, TERMS))]
CITATIONS: list[tuple[list[str], dict[str, str]]] = [
    (["a1", "a2", "a3"], {}),
    (["z", "a4", "a1", "a2"], {}),
    (["c", "b", "a3", "a1"], {"a3": "7"}),
    (["u", "a2", "z"], {"u": "3"}),
]


@pytest.mark.parametrize("options", ALL, ids=str)
def test_citations_by_author_and_year(options: Options, tmp_path: Path) -> None:
    own = style(options, AUTHOR_YEAR, tmp_path)
    bibliography = Bibliography(WORKS, WORKS, own, options.locale)
    titles = sorted(WORKS) if options.order else [*WORKS]
    listed = in_order(titles, options.order)
    assert [reference.key for reference in bibliography.references] == listed
    letter = letters(listed, options)
    assert {str(reference.key): reference.letter for reference in bibliography.references} == letter
    wrong = []
    for keys, locators in CITATIONS:
        cites = [
            Cite(key, label="page" if key in locators else "", locator=locators.get(key, "")) for key in keys
        ]
        shown = "".join(part.text for part in bibliography.citation(cites))
        expected = author_year(in_order(keys, options.order), locators, options, letter)
        if shown != expected:
            wrong.append(f"{keys}: {shown} is not {expected}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("collapse", "order"), [*product(("", "citation-number"), ORDERS)])
def test_numbers(collapse: str, order: str, tmp_path: Path) -> None:
    options = Options(collapse, order, False, False, False, "en-US")
    bibliography = Bibliography(WORKS, WORKS, style(options, NUMBER, tmp_path))
    listed = in_order(sorted(WORKS) if order else [*WORKS], order)
    for keys in (["a1", "z", "a2", "a4"], ["u", "b", "c"], ["a2"]):
        numbers = [listed.index(key) + 1 for key in in_order(keys, order)]
        expected = ranged([(number if collapse else 0, str(number)) for number in numbers], "; ")
        assert "".join(part.text for part in bibliography.citation(map(Cite, keys))) == f"({expected})"
