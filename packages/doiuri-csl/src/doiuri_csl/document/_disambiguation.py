"""Disambiguation: more names, given names, the style's own condition, year suffixes.

CSL 1.0.2, Citation-specific Options, Disambiguation: the methods are tried in this order.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from doiuri_csl._context import Cite, CitedItem, GivenName, ListedNames, Place, Position
from doiuri_csl.data._people import Person, initials
from doiuri_csl.document._citations import render_elements
from doiuri_csl.document._document import Look
from doiuri_csl.text._pieces import folded, plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from doiuri_csl._sheet import Area
    from doiuri_csl.document._document import Document

_Group: TypeAlias = list[CitedItem]


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
    if adds_given and not solver.is_by_cite:
        solver.expand_all_names(entries)
    if not (adds_names or adds_given or adds_suffix or conditions):
        return
    groups = solver.ambiguous(entries)
    groups = solver.show_more_names(groups)
    if conditions:
        groups = solver.try_conditions(groups, conditions)
    if adds_suffix:
        solver.add_suffixes(groups)


class _Solver:
    """Works on groups of entries whose cites look the same."""

    def __init__(self, document: Document, first_notes: Mapping[str, int]) -> None:
        self._document = document
        self._first_notes = first_notes
        self._area = document.sheet.citation
        self._compares_later = document.sheet.is_note or _shortens_later(self._area)
        self._adds_names = self._area.flag("disambiguate-add-names")
        self._rule = self._area.get("givenname-disambiguation-rule", "by-cite")
        self._lists: dict[str, list[ListedNames]] = {}

    @property
    def is_by_cite(self) -> bool:
        """Whether given names are added only to cites that need them, not to each name in the document."""
        return self._rule == "by-cite"

    def _look(self, entry: CitedItem) -> Look:
        """Return what has to be unlike: later cites, if they are shorter than the first one."""
        place = Place()
        if self._compares_later:
            first_note = self._first_notes.get(entry.id, 0)
            place = Place(Position.SUBSEQUENT, is_near_note=True, first_note=first_note)
        cite = Cite(entry.id, place=place)

        def render() -> Look:
            context = self._document.context(cite, self._area)
            # Two cites that differ in the day of access alone are still alike.
            context.progress.substituted.add("accessed")
            text = plain_text(render_elements(self._document, context))
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

    def show_more_names(self, groups: list[_Group]) -> list[_Group]:
        """Show more names, and more of each, wherever it splits a group; return the groups still alike.

        As citeproc-js and pandoc do, a name is shown in full before another one is added; the
        specification has it that all names come first.
        """
        adds_given = self._area.flag("disambiguate-add-givenname") and self.is_by_cite
        alike: list[_Group] = []
        index = 0
        while groups:
            alike += [group for group in groups if self._most_names(group) <= index]
            groups = [group for group in groups if self._most_names(group) > index]
            if self._adds_names and index > 0:
                parts = [self._with_more_names(group, index + 1) for group in groups]
                groups = list(chain.from_iterable(parts))
            if adds_given:
                for given_name in (GivenName.INITIALS, GivenName.FULL):
                    parts = [self._with_given_name(group, index, given_name) for group in groups]
                    groups = list(chain.from_iterable(parts))
            index += 1
        return alike

    def _with_more_names(self, group: _Group, wanted: int) -> list[_Group]:
        """Return the groups that are alike even if they show so many names."""
        groups = _alike(group, lambda entry: self._added_by(entry, wanted))
        if _is_split(group, groups):
            for entry in group:
                entry.names.count = wanted
        return groups

    def _added_by(self, entry: CitedItem, wanted: int) -> object:
        """Return what one name more adds to a cite: cites that were alike stay so if this is equal."""
        added = [names.added_by(wanted) for names in self._lists[entry.id]]
        return tuple((number, more) for number, more in enumerate(added) if more is not None)

    def _with_given_name(self, group: _Group, index: int, given_name: GivenName) -> list[_Group]:
        """Return the groups that are alike even if they show so much of the given name with an index."""
        groups = _alike(group, lambda entry: self._changed_by(entry, index, given_name))
        if _is_split(group, groups):
            for entry in group:
                for names in self._lists[entry.id][:1]:
                    entry.names.given_names[names.variable, index] = given_name
                entry.names.count = self._wanted(entry, index)
        return groups

    def _wanted(self, entry: CitedItem, index: int) -> int:
        """Return how many names a cite needs to show the one with an index, if names may be added."""
        if self._adds_names:
            return max(index + 1, entry.names.count)
        return entry.names.count

    def _changed_by(self, entry: CitedItem, index: int, given_name: GivenName) -> object:
        """Return what more of a given name changes: cites that were alike stay so if this is equal."""
        wanted = self._wanted(entry, index)
        changed = []
        lists = self._lists[entry.id]
        for number, names in enumerate(lists):
            name = names.changed_by(index, given_name, wanted)
            if name is not None and names.variable == lists[0].variable:
                changed.append((number, name))
        return tuple(changed)

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
        """Give every person a form of the name that nobody else has, in each citation of the document."""
        is_primary = self._rule.startswith("primary")
        families: dict[str, dict[str, Person]] = defaultdict(dict)
        mark = None
        for entry in entries:
            for names in self._look(entry).lists[:1]:
                mark = names.initial_mark
                people = names.people[:1] if is_primary else names.people
                for person in people:
                    family_key = person.family_key(is_demoted=names.is_demoted)
                    families[family_key][person.key] = person
        if mark is None and self._has_only_initials:
            return  # without initials, there is nothing to try
        for family in families.values():
            if len(family) > 1:
                self._expand_family(list(family.values()), mark)

    @property
    def _has_only_initials(self) -> bool:
        """Whether given names are never shown in full."""
        return self._rule.endswith("-with-initials")

    def _expand_family(self, family: list[Person], mark: str | None) -> None:
        """Show initials if they tell people of one family name apart, else given names."""
        by_initials: dict[str, list[Person]] = defaultdict(list)
        for person in family:
            short = person.given
            if mark is not None:
                short = initials(person.given, mark, hyphen=True)
            by_initials[short].append(person)
        if len(by_initials) == 1 and self._has_only_initials:
            return
        for people in by_initials.values():
            needs_full_name = len(people) > 1 and not self._has_only_initials
            given_name = GivenName.FULL if needs_full_name else GivenName.INITIALS
            for person in people:
                self._document.given_names[person.key] = given_name


def _shortens_later(area: Area) -> bool:
    """Return whether later cites have fewer names than the first one: "et-al-min" 6, and 3 for the later."""
    first = area.names.get("et-al-min")
    later = area.names.get("et-al-subsequent-min")
    return later is not None and (first is None or int(later) < int(first))


def _alike(entries: _Group, look: Callable[[CitedItem], object]) -> list[_Group]:
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
