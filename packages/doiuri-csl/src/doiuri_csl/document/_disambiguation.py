"""Disambiguation: more names, given names, the style's own condition, year suffixes.

CSL 1.0.2, Citation-specific Options, Disambiguation: the methods are tried in this order.
"""

from __future__ import annotations

from collections import defaultdict
from copy import deepcopy
from typing import TYPE_CHECKING, TypeAlias

from doiuri_csl._context import Cite, Entry, Listed, ListedNames, NamesShown, Place, Position
from doiuri_csl.data._people import Person, initials
from doiuri_csl.document._citations import render_in
from doiuri_csl.text._pieces import folded, plain_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from doiuri_csl.document._document import Document

_Group: TypeAlias = list[Entry]

_NORMALIZED = 1
"""The level of a name whose given names are shown as initials."""

_FULL = 2
"""The level of a name whose given names are shown in full."""


def disambiguate(document: Document) -> None:
    """Find out what every entry needs to be unlike the others."""
    area = document.sheet.citation
    conditions = document.sheet.conditions
    adds_names = area.flag("disambiguate-add-names")
    adds_given = area.flag("disambiguate-add-givenname")
    adds_suffix = area.flag("disambiguate-add-year-suffix")
    entries = document.entries
    for entry in entries:
        entry.listed = Listed(entry.id, entry.listed.number)
        entry.names = NamesShown()
    document.given_levels = {}

    solver = _Solver(document)
    by_cite = solver.rule == "by-cite"
    if adds_given and not by_cite:
        solver.expand_all_names(entries)
    if not (adds_names or adds_given or adds_suffix or conditions):
        return
    groups = solver.ambiguous(entries)
    if adds_names:
        groups = solver.split_all(groups, solver.split_by_names)
    if adds_given and by_cite:
        solver.keeps_names = adds_names
        groups = solver.split_all(groups, solver.split_by_given)
    if conditions:
        groups = solver.try_conditions(groups, conditions)
    if adds_suffix:
        solver.add_suffixes(groups)


class _Solver:
    """Works on groups of entries whose cites look the same."""

    keeps_names = False
    """Whether given names may need names that were hidden behind "et al."."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._area = document.sheet.citation
        self.rule = self._area.get("givenname-disambiguation-rule", "by-cite")

    def _text(self, entry: Entry) -> str:
        """Return what has to be unlike: in notes the later cites, as the first is a reference in full."""
        position = Position.SUBSEQUENT if self._document.sheet.is_note else Position.FIRST
        context = self._document.context(Cite(entry.id, place=Place(position)), self._area)
        # Two cites that differ in the day of access alone are still alike.
        context.progress.substituted.add("accessed")
        return plain_text(render_in(self._document, context))

    def _partition(self, entries: _Group) -> list[_Group]:
        """Return the entries by what their cites look like."""
        by_text: dict[str, _Group] = defaultdict(list)
        for entry in entries:
            by_text[folded(self._text(entry))].append(entry)
        return list(by_text.values())

    def ambiguous(self, entries: _Group) -> list[_Group]:
        """Return the groups of entries whose cites look the same."""
        return [group for group in self._partition(entries) if len(group) > 1]

    def split_all(
        self, groups: list[_Group], split: Callable[[_Group], list[_Group]]
    ) -> list[_Group]:
        """Return the groups that are left when each was split."""
        left = []
        for group in groups:
            left += [part for part in split(group) if len(part) > 1]
        return left

    def _most_names(self, group: _Group) -> int:
        return max(len(self._people(entry)) for entry in group)

    def _people(self, entry: Entry) -> list[Person]:
        """Return the people that the cite of an entry names first."""
        listed = self._listed(entry)
        return listed.people if listed else []

    def _listed(self, entry: Entry) -> ListedNames | None:
        """Return the first list of names in the cite of an entry, or None if it names nobody."""
        context = self._document.context(Cite(entry.id), self._area)
        render_in(self._document, context)
        listed = context.progress.listed
        return listed[0] if listed else None

    def split_by_names(self, group: _Group) -> list[_Group]:
        """Show one name more until the group splits; names that do not help are not kept."""
        before = [entry.names.count for entry in group]
        for count in range(2, self._most_names(group) + 1):
            for entry in group:
                entry.names.count = count
            parts = self._partition(group)
            if len(parts) > 1:
                return self._split_further(parts, self.split_by_names)
        for entry, shown in zip(group, before, strict=True):
            entry.names.count = shown
        return [group]

    def split_by_given(self, group: _Group) -> list[_Group]:
        """Show given names, one person after the other, until the group splits."""
        before = [deepcopy(entry.names) for entry in group]
        for index in range(self._most_names(group)):
            for level in (_NORMALIZED, _FULL):
                for entry in group:
                    self._raise(entry, index, level)
                parts = self._partition(group)
                if len(parts) > 1:
                    return self._split_further(parts, self.split_by_given)
            for entry, old in zip(group, before, strict=True):
                entry.names.given_levels = dict(old.given_levels)
        for entry, old in zip(group, before, strict=True):
            entry.names = old
        return [group]

    def _split_further(
        self, parts: list[_Group], split: Callable[[_Group], list[_Group]]
    ) -> list[_Group]:
        further: list[_Group] = []
        for part in parts:
            further += split(part) if len(part) > 1 else [part]
        return further

    def _raise(self, entry: Entry, index: int, level: int) -> None:
        """Show more of the given name of the person with an index."""
        listed = self._listed(entry)
        variable = listed.variable if listed else ""
        entry.names.given_levels[variable, index] = level
        if self.keeps_names:
            entry.names.count = max(index + 1, entry.names.count)

    def try_conditions(self, groups: list[_Group], count: int) -> list[_Group]:
        """Let the style's conditions hold, one after the other, for entries that are still alike."""
        for number in range(1, count + 1):
            left: list[_Group] = []
            for group in groups:
                for entry in group:
                    entry.listed = entry.listed._replace(conditions=number)
                left += self.ambiguous(group)
            groups = left
        return groups

    def add_suffixes(self, groups: list[_Group]) -> None:
        """Add letters in the order of the list of references."""
        for group in groups:
            ordered = sorted(group, key=lambda entry: entry.listed.number)
            for rank, entry in enumerate(ordered, 1):
                entry.listed = entry.listed._replace(year_suffix=_letters(rank))

    def expand_all_names(self, entries: _Group) -> None:
        """Give every person a form of the name that nobody else has."""
        is_primary = self.rule.startswith("primary")
        families: dict[str, dict[str, Person]] = defaultdict(dict)
        mark = None
        for entry in entries:
            listed = self._listed(entry)
            if listed is None:
                continue
            mark = listed.initialize_with
            people = listed.people[:1] if is_primary else listed.people
            for person in people:
                family_key = person.family_key(is_demoted=listed.is_demoted)
                families[family_key][person.key] = person
        if mark is None and self.rule.endswith("-with-initials"):
            return  # without initials, there is nothing to try
        for family in families.values():
            if len(family) > 1:
                self._expand_family(list(family.values()), mark)

    def _expand_family(self, family: list[Person], mark: str | None) -> None:
        """Show initials if they tell people of one family name apart, else given names."""
        levels = self._document.given_levels
        shorts: dict[str, list[Person]] = defaultdict(list)
        for person in family:
            short = person.given
            if mark is not None:
                short = initials(person.given, mark, hyphen=True)
            shorts[short].append(person)
        for same in shorts.values():
            if len(same) == 1:
                levels[same[0].key] = _NORMALIZED
            elif not self.rule.endswith("-with-initials"):
                for person in same:
                    levels[person.key] = _FULL


def _letters(rank: int) -> str:
    """Return the year suffix with a number from 1: a to z, then aa and so on."""
    letters = ""
    while rank:
        rank, remainder = divmod(rank - 1, 26)
        letters = chr(ord("a") + remainder) + letters
    return letters
