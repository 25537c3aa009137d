"""Disambiguation: more names, given names, the style's own condition, year suffixes.

CSL 1.0.2, Citation-specific Options, Disambiguation: the methods are tried in this order.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from doiuri_csl._context import Cite, Entry, ListedNames, Place, Position
from doiuri_csl.data._people import Person, initials
from doiuri_csl.document._citations import render_in
from doiuri_csl.document._document import Look
from doiuri_csl.text._pieces import folded, plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from doiuri_csl.document._document import Document

_Group: TypeAlias = list[Entry]

_NORMALIZED = 1
"""The level of a name whose given names are shown as initials."""

_FULL = 2
"""The level of a name whose given names are shown in full."""


def disambiguate(document: Document, first_notes: Mapping[str, int]) -> None:
    """Find out what every entry needs to be unlike the others.

    :param first_notes: the number of the note in which each item is cited first; later cites may show it
    """
    area = document.sheet.citation
    conditions = document.sheet.conditions
    adds_names = area.flag("disambiguate-add-names")
    adds_given = area.flag("disambiguate-add-givenname")
    adds_suffix = area.flag("disambiguate-add-year-suffix")
    entries = document.entries

    solver = _Solver(document, first_notes)
    by_cite = solver.rule == "by-cite"
    if adds_given and not by_cite:
        solver.expand_all_names(entries)
    if not (adds_names or adds_given or adds_suffix or conditions):
        return
    groups = solver.ambiguous(entries)
    groups = solver.split(groups, adds_names=adds_names, adds_given=adds_given and by_cite)
    if conditions:
        groups = solver.try_conditions(groups, conditions)
    if adds_suffix:
        solver.add_suffixes(groups)


class _Solver:
    """Works on groups of entries whose cites look the same."""

    keeps_names = False
    """Whether given names may need names that were hidden behind "et al."."""

    def __init__(self, document: Document, first_notes: Mapping[str, int]) -> None:
        self._document = document
        self._first_notes = first_notes
        self._area = document.sheet.citation
        self.rule = self._area.get("givenname-disambiguation-rule", "by-cite")
        self._lists: dict[str, list[ListedNames]] = {}

    def _look(self, entry: Entry) -> Look:
        """Return what has to be unlike: in notes the later cites, as the first is a reference in full."""
        place = Place()
        if self._document.sheet.is_note:
            first_note = self._first_notes.get(entry.id, 0)
            place = Place(Position.SUBSEQUENT, is_near_note=True, first_note=first_note)
        cite = Cite(entry.id, place=place)

        def render() -> Look:
            context = self._document.context(cite, self._area)
            # Two cites that differ in the day of access alone are still alike.
            context.progress.substituted.add("accessed")
            text = plain_text(render_in(self._document, context))
            return Look(folded(text), context.progress.listed)

        look = self._document.looks.get(self._document.inputs(cite), render)
        self._lists[entry.id] = look.lists
        return look

    def ambiguous(self, entries: _Group) -> list[_Group]:
        """Return the groups of entries whose cites look the same."""
        return _alike(entries, lambda entry: self._look(entry).text)

    def _most_names(self, group: _Group) -> int:
        """Return the length of the longest list that the cites of a group begin with."""
        firsts = chain.from_iterable(self._lists[entry.id][:1] for entry in group)
        return max((len(names.people) for names in firsts), default=0)

    def split(self, groups: list[_Group], *, adds_names: bool, adds_given: bool) -> list[_Group]:
        """Show more names, and more of each, wherever it splits a group; return the groups still alike.

        As citeproc-js and pandoc do, a name is shown in full before another one is added; the
        specification has it that all names come first.
        """
        self.keeps_names = adds_names
        alike: list[_Group] = []
        index = 0
        while groups:
            alike += [group for group in groups if self._most_names(group) <= index]
            groups = [group for group in groups if self._most_names(group) > index]
            if adds_names and index > 0:
                groups = [
                    part for group in groups for part in self._with_more_names(group, index + 1)
                ]
            if adds_given:
                for level in (_NORMALIZED, _FULL):
                    groups = [
                        part
                        for group in groups
                        for part in self._with_given_name(group, index, level)
                    ]
            index += 1
        return alike

    def _with_more_names(self, group: _Group, wanted: int) -> list[_Group]:
        """Return the groups that are alike even if they show so many names."""
        groups = _alike(group, lambda entry: self._added_by(entry, wanted))
        if _is_split(group, groups):
            for entry in group:
                entry.names.count = wanted
        return groups

    def _added_by(self, entry: Entry, wanted: int) -> object:
        """Return what one name more adds to a cite: cites that were alike stay so if this is equal."""
        added = [names.added_by(wanted) for names in self._lists[entry.id]]
        return tuple((place, more) for place, more in enumerate(added) if more is not None)

    def _with_given_name(self, group: _Group, index: int, level: int) -> list[_Group]:
        """Return the groups that are alike even if they show more of the name with an index."""
        groups = _alike(group, lambda entry: self._changed_by(entry, index, level))
        if _is_split(group, groups):
            for entry in group:
                self._raise(entry, index, level)
        return groups

    def _changed_by(self, entry: Entry, index: int, level: int) -> object:
        """Return what more of a given name changes: cites that were alike stay so if this is equal."""
        wanted = entry.names.count
        if self.keeps_names:
            wanted = max(index + 1, wanted)
        changed = []
        lists = self._lists[entry.id]
        for place, names in enumerate(lists):
            name = names.changed_by(index, level, wanted)
            if name is not None and names.variable == lists[0].variable:
                changed.append((place, name))
        return tuple(changed)

    def _raise(self, entry: Entry, index: int, level: int) -> None:
        """Show more of the given name of the person with an index."""
        lists = self._lists[entry.id]
        variable = lists[0].variable if lists else ""
        entry.names.given_levels[variable, index] = level
        if self.keeps_names:
            entry.names.count = max(index + 1, entry.names.count)

    def try_conditions(self, groups: list[_Group], conditions: int) -> list[_Group]:
        """Let the style's conditions hold, one after the other, for entries that are still alike."""
        for number in range(1, conditions + 1):
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
            for names in self._look(entry).lists[:1]:
                mark = names.initial_mark
                people = names.people[:1] if is_primary else names.people
                for person in people:
                    family_key = person.family_key(is_demoted=names.is_demoted)
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
        if len(shorts) == 1 and self.rule.endswith("-with-initials"):
            return
        for same in shorts.values():
            level = _NORMALIZED
            if len(same) > 1 and not self.rule.endswith("-with-initials"):
                level = _FULL
            for person in same:
                levels[person.key] = level


def _alike(entries: _Group, look: Callable[[Entry], object]) -> list[_Group]:
    """Return the groups of two or more entries that look the same."""
    by_look: dict[object, _Group] = defaultdict(list)
    for entry in entries:
        by_look[look(entry)].append(entry)
    return [group for group in by_look.values() if len(group) > 1]


def _is_split(group: _Group, groups: list[_Group]) -> bool:
    """Return whether the entries of a group look less alike than before."""
    return [len(group)] != [len(part) for part in groups]


def _letters(rank: int) -> str:
    """Return the year suffix with a number from 1: a to z, then aa and so on."""
    letters = ""
    while rank:
        rank, remainder = divmod(rank - 1, 26)
        letters = chr(ord("a") + remainder) + letters
    return letters
