"""Edits: what a registration says has changed is what a host has to draw again."""

from __future__ import annotations

import random
from typing import Any

import pytest
from csl.styles import AUTHOR_DATE, NUMERIC, style_of
from doiuri_csl import Cite, Processor, Run, Style, to_text

NOTES = style_of(
    """<choose><if position="ibid"><text value="Ibid."/></if>
    <else-if position="near-note"><names variable="author"><name form="short"/></names></else-if>
    <else-if position="subsequent"><text variable="first-reference-note-number" prefix="n. "/></else-if>
    <else><text variable="title"/></else></choose>""",
    'class="note"',
)
GIVEN_NAMES = AUTHOR_DATE.replace(
    'collapse="year"',
    'disambiguate-add-names="true" disambiguate-add-givenname="true"',
)
ALL_NAMES = GIVEN_NAMES.replace(
    "disambiguate-add-givenname",
    'givenname-disambiguation-rule="all-names" disambiguate-add-givenname',
)
SORTED = AUTHOR_DATE.replace(
    '<layout prefix="("', '<sort><key macro="author"/></sort><layout prefix="("', 1
)
NAMES = '<names variable="author"><name form="short"/></names>'
STYLES = {
    "author-date": AUTHOR_DATE,
    "given names": GIVEN_NAMES,
    "all names": ALL_NAMES,
    "sorted": SORTED,
    "numeric": NUMERIC,
    "notes": NOTES,
}
PEOPLE = [("Doe", "Ann"), ("Doe", "Max"), ("Roe", "Ann"), ("Li", "Wei"), ("Li", "Na")]


def works(chance: random.Random) -> list[dict[str, Any]]:
    items = []
    for number in range(8):
        people = chance.sample(PEOPLE, chance.choice((1, 1, 2, 3)))
        authors = [{"family": family, "given": given} for family, given in people]
        issued = {"date-parts": [[chance.choice((2001, 2002))]]}
        items.append(
            {"id": f"w{number}", "title": f"T{number}", "author": authors, "issued": issued}
        )
    return items


class Host:
    """An editor: named citations, and the runs that it shows for each."""

    def __init__(self, chance: random.Random, items: list[dict[str, Any]]) -> None:
        self._chance = chance
        self._ids = [item["id"] for item in items]
        self.citations: dict[int, list[Cite]] = {}
        self.shown: dict[int, tuple[Run, ...]] = {}

    def edit(self) -> None:
        """Add a citation anywhere, change one, or remove one."""
        names = list(self.citations)
        action = self._chance.choice(("add", "add", "change", "remove"))
        if action == "remove" and names:
            del self.citations[self._chance.choice(names)]
        elif action == "change" and names:
            self.citations[self._chance.choice(names)] = self._cites()
        else:
            name = max([*self.shown, *names, 0]) + 1
            pairs = [*self.citations.items()]
            pairs.insert(self._chance.randint(0, len(pairs)), (name, self._cites()))
            self.citations = dict(pairs)

    def _cites(self) -> list[Cite]:
        ids = self._chance.sample(self._ids, self._chance.choice((1, 1, 2)))
        return [Cite(key, self._chance.choice(("", "", "5"))) for key in ids]

    def register(self, processor: Processor) -> list[int]:
        names = list(self.citations)
        changed = processor.set_citations(self.citations.values(), names=names)
        for index in changed:
            self.shown[names[index]] = processor.citation(index)
        return changed


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@pytest.mark.parametrize("seed", range(2))
def test_drawing_what_changed_is_drawing_all(style: str, seed: int) -> None:
    chance = random.Random(seed)
    items = works(chance)
    parsed = Style.parse(style)
    edited = Processor(parsed, items)
    host = Host(chance, items)
    history = []

    for _ in range(15):
        host.edit()
        before = dict(host.shown)
        changed = host.register(edited)

        history.append(host.citations)
        fresh = Processor(parsed, items)
        fresh.set_citations(host.citations.values())
        expected = [fresh.citation(number) for number in range(len(host.citations))]
        names = list(host.citations)
        assert [host.shown[name] for name in names] == expected, f"not drawn again: {history[-2:]}"
        unchanged = [n for n in changed if before.get(names[n]) == expected[n]]
        assert unchanged == [], f"drawn again without a change: {history[-2:]}"


@pytest.mark.parametrize("style", [AUTHOR_DATE, SORTED, ALL_NAMES, NUMERIC, NOTES])
def test_a_citation_of_another_item_at_the_end_changes_no_other(style: str) -> None:
    items = works(random.Random(0))
    items.append({"id": "new", "title": "New", "author": [{"family": "Aa"}], "issued": "1990"})
    processor = Processor(Style.parse(style), items)
    citations = [[Cite(f"w{number}")] for number in range(8)]

    assert processor.set_citations(citations) == list(range(8))
    assert processor.set_citations([*citations, [Cite("new")]]) == [8]
    assert processor.set_citations([*citations, [Cite("new")]]) == []


def test_a_citation_has_as_many_names_as_the_works_cited_now_need() -> None:
    """With ``disambiguate-add-names``; "et al." stands for the others as soon as that is clear again."""
    style = style_of(NAMES, 'et-al-min="3" et-al-use-first="1"').replace(
        "<citation>", '<citation disambiguate-add-names="true">'
    )
    items = [{"id": name, "author": [{"family": f} for f in f"A{name}CD"]} for name in "XY"]
    processor = Processor(Style.parse(style), items)
    steps = [("X", "A et al."), ("XY", "A, X, et al."), ("X", "A et al."), ("XY", "A, X, et al.")]

    for ids, expected in steps:
        changed = processor.set_citations([[Cite(name)] for name in ids])

        text = to_text(processor.citation(0))
        assert text == expected, f"beside {ids!r}, X is cited as {text!r}, expected {expected!r}"
        assert 0 in changed, f"the citation of X is not drawn again beside {ids!r}"


def test_without_names_a_citation_is_known_by_its_index() -> None:
    processor = Processor(Style.parse(AUTHOR_DATE), works(random.Random(0)))
    first, second = [Cite("w0")], [Cite("w3")]

    processor.set_citations([first, first, second])

    assert processor.set_citations([first, second]) == [1]


WRONG_NAMES = {"1 names for 2 citations": ["x"], "two citations have the name 'x'": ["x", "x"]}


@pytest.mark.parametrize(("message", "names"), WRONG_NAMES.items())
def test_each_citation_has_a_name_of_its_own(message: str, names: list[str]) -> None:
    processor = Processor(Style.parse(AUTHOR_DATE), works(random.Random(0)))

    with pytest.raises(ValueError, match=message):
        processor.set_citations([[Cite("w0")], [Cite("w1")]], names=names)


def test_what_is_no_list_of_cites_says_what_is_expected() -> None:
    processor = Processor(Style.parse(AUTHOR_DATE), works(random.Random(0)))

    with pytest.raises(TypeError, match=r"citation 1 is a Cite, not a list.*pass \[Cite\('w1'\)\]"):
        processor.set_citations([[Cite("w0")], Cite("w1")])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="citation 0 contains 'w'; expected a list of cites"):
        processor.set_citations(["w0"])  # type: ignore[list-item]
