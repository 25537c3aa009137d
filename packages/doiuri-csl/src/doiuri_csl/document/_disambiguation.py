"""Disambiguation: more names, given names, the style's own condition, year suffixes.

CSL 1.0.2, Citation-specific Options, Disambiguation: the methods are tried in this order.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from doiuri_csl._context import Cite, CitedItem, ComparedNames, GivenName, Place, Position
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
    """Find out what each cited item needs so that its cites look unlike those of other items.

    CSL 1.0.2, Disambiguation. The results are in ``document.given_names`` and in the cited items. In order:

    1. Names of the whole document (any rule but "by-cite"): all cites of two people named Doe show "A. Doe"
       and "B. Doe".
    2. Names of single cites, for items that still look the same: two cites "Doe et al. 2001" become
       "Doe, Li, et al. 2001" and "Doe, Roe, et al. 2001" or, with given names, "A. Doe et al. 2001" and so on.
    3. What the style shows ``<if disambiguate="true">``, such as the title.
    4. Letters: "Doe 2001a", "Doe 2001b".

    :param first_notes: the number of the note in which each item is cited first; later cites may show it
    """
    area = document.sheet.citation
    adds_names = area.flag("disambiguate-add-names")
    adds_given = area.flag("disambiguate-add-givenname")
    adds_suffix = area.flag("disambiguate-add-year-suffix")

    # By "by-cite", given names are only added in single cites, by ``show_more_names``
    solver = _Solver(document, first_notes)
    if adds_given and not solver.is_by_cite:
        solver.expand_names_of_document()
    # Nothing more to change: spare the search for cites that look the same, which renders all of them
    if not (adds_names or adds_given or adds_suffix or document.sheet.conditions):
        return

    groups = solver.ambiguous(document.cited_items)
    groups = solver.show_more_names(groups)
    groups = solver.try_conditions(groups)
    if adds_suffix:
        _add_suffixes(groups)


class _Solver:
    """Makes cites of different items unlike, in groups of items whose cites look the same.

    :param first_notes: the number of the note in which each item is cited first.
    """

    def __init__(self, document: Document, first_notes: Mapping[str, int]) -> None:
        self._document = document
        self._first_notes = first_notes
        self._area = document.sheet.citation
        self._compares_later = document.sheet.is_note or _shortens_later(self._area)
        self._adds_names = self._area.flag("disambiguate-add-names")
        self._rule = self._area.get("givenname-disambiguation-rule", "by-cite")
        self._adds_given_names = self._area.flag("disambiguate-add-givenname") and self.is_by_cite
        self._looks: dict[str, Look] = {}
        """What the cite of each item looked like when ``ambiguous`` last compared it."""

    @property
    def is_by_cite(self) -> bool:
        """Whether given names are added only to cites that need them, not to each name in the document."""
        return self._rule == "by-cite"

    def _look(self, cited_item: CitedItem) -> Look:
        """Return what the cite of an item looks like, with the names and letters that it has now."""
        cite = self._compared_cite(cited_item)
        return self._document.looks.get(self._document.inputs(cite), lambda: self._render(cite))

    def _compared_cite(self, cited_item: CitedItem) -> Cite:
        """Return the cite of an item that is compared: a later one, in notes and if the style shortens those."""
        if not self._compares_later:
            return Cite(cited_item.id)
        # A style may have its shortest form for near notes, so this is where cites look the same first
        first_note = self._first_notes.get(cited_item.id, 0)
        place = Place(Position.SUBSEQUENT, is_near_note=True, first_note=first_note)
        return Cite(cited_item.id, place=place)

    def _render(self, cite: Cite) -> Look:
        """Return what a cite looks like without the date of access.

        Cites that differ in that date alone are alike, as the date does not tell their items apart.
        """
        context = self._document.context(cite, self._area)
        # It is left out as if it had been shown in place of names
        context.progress.substituted.add("accessed")
        text = plain_text(render_elements(self._document, context))
        return Look(folded(text), context.progress.name_lists)

    def ambiguous(self, cited_items: _Group) -> list[_Group]:
        """Return the groups of items whose cites look the same now."""
        for cited_item in cited_items:
            self._looks[cited_item.id] = self._look(cited_item)
        return _alike(cited_items, lambda cited_item: self._looks[cited_item.id].text)

    def _lists(self, cited_item: CitedItem) -> list[ComparedNames]:
        """Return the lists of names in the cite of an item, as it was compared last."""
        return self._looks[cited_item.id].lists

    def show_more_names(self, groups: list[_Group]) -> list[_Group]:
        """Show more names, and more of each, wherever it splits a group; return the groups still alike.

        "Doe et al." is first "A. Doe et al.", then "Ann Doe et al.", then "Doe, Li, et al.", and so on to the last
        name. As citeproc-js and pandoc do, a name is shown in full before another one is added; the specification
        has it that all names come first.
        """
        most = max(map(self._most_names, groups), default=0)
        for index in range(most):
            parts = [self._show_name(group, index) for group in groups]
            groups = list(chain.from_iterable(parts))
        return groups

    def _show_name(self, group: _Group, index: int) -> list[_Group]:
        """Show the name with an index, and more of it, in the cites of a group if that tells some of them apart.

        :return: the groups of those that are still alike
        """
        if index >= self._most_names(group):
            return [group]
        groups = [group]
        # The first name is always shown
        if self._adds_names and index > 0:
            groups = self._with_more_names(group, index + 1)
        if self._adds_given_names:
            for given_name in (GivenName.INITIALS, GivenName.FULL):
                parts = [self._with_given_name(part, index, given_name) for part in groups]
                groups = list(chain.from_iterable(parts))
        return groups

    def _most_names(self, group: _Group) -> int:
        """Return the length of the longest list of names that a cite of the group begins with."""
        first_lists = chain.from_iterable(self._lists(cited_item)[:1] for cited_item in group)
        return max((len(names.people) for names in first_lists), default=0)

    def _with_more_names(self, group: _Group, count: int) -> list[_Group]:
        """Let the cites of a group show ``count`` names if that tells some of them apart.

        The cites looked the same before, so they are not rendered again: only what the last of these names adds to
        each is compared.

        :return: the groups of those that are still alike
        """

        def added_to(cited_item: CitedItem) -> object:
            """Return what the name with the number ``count`` adds to each list of the cite, with the list's index.

            Lists to which it adds nothing are left out, so that cites without a second list may be like others.
            """
            added = [names.added_by(count) for names in self._lists(cited_item)]
            return tuple((number, name) for number, name in enumerate(added) if name is not None)

        groups = _alike(group, added_to)
        if _is_split(group, groups):
            for cited_item in group:
                cited_item.names_shown.count = count
        return groups

    def _with_given_name(self, group: _Group, index: int, given_name: GivenName) -> list[_Group]:
        """Let the cites of a group show initials or the whole of one given name if that tells some apart.

        :param index: which name it is of the list that the cite begins with
        :return: the groups of those that are still alike
        """

        def changed_in(cited_item: CitedItem) -> object:
            """Return the longer name, "A. Doe" for "Doe", by the number of each list that it stands in.

            Lists of other variables stay: ``names_shown.given_names`` has what is shown by the variable.
            """
            count = self._count_with(index)
            lists = self._lists(cited_item)
            changed = []
            for number, names in enumerate(lists):
                name = names.changed_by(index, given_name, count)
                if name is not None and names.variable == lists[0].variable:
                    changed.append((number, name))
            return tuple(changed)

        groups = _alike(group, changed_in)
        if _is_split(group, groups):
            for cited_item in group:
                for names in self._lists(cited_item)[:1]:  # if the cite has names
                    cited_item.names_shown.given_names[names.variable, index] = given_name
                cited_item.names_shown.count = self._count_with(index)
        return groups

    def _count_with(self, index: int) -> int:
        """Return how many names a cite has to show so that the one with an index is among them.

        0 if the style adds no names (``disambiguate-add-names``): the cite shows as many as the style wants.
        """
        return index + 1 if self._adds_names else 0

    def try_conditions(self, groups: list[_Group]) -> list[_Group]:
        """Make the style's tests for ``disambiguate`` true, one after the other, for items still alike.

        :return: the groups that are alike when all tests are true
        """
        # With the number 2, the first two ``<if disambiguate="true">`` that a rendering meets hold
        for number in range(1, self._document.sheet.conditions + 1):
            left: list[_Group] = []
            for group in groups:
                for cited_item in group:
                    cited_item.listed = cited_item.listed._replace(conditions=number)
                left += self.ambiguous(group)
            groups = left
        return groups

    def expand_names_of_document(self) -> None:
        """Give people of one family name as much of their given names as tells them apart, in all cites.

        These are the people of the first list of each cite; by the rules "primary-name…", only the first of each.
        """
        is_primary = self._rule.startswith("primary")
        families: dict[str, dict[str, Person]] = defaultdict(dict)
        mark = None  # what follows initials in this style
        for cited_item in self._document.cited_items:
            for names in self._look(cited_item).lists[:1]:  # if the cite has names
                mark = names.initial_mark
                people = names.people[:1] if is_primary else names.people
                for person in people:
                    family_key = person.family_key(is_demoted=names.is_demoted)
                    families[family_key][person.key] = person

        if mark is None and self._has_only_initials:
            return  # the style has no initials, and full names are not allowed
        for family in families.values():
            if len(family) > 1:
                self._expand_family(list(family.values()), mark)

    @property
    def _has_only_initials(self) -> bool:
        """Whether given names are never shown in full."""
        return self._rule.endswith("-with-initials")

    def _expand_family(self, family: list[Person], mark: str | None) -> None:
        """Show the initials of people of one family name, and the given names of those who share initials.

        "A. Doe" for Ann Doe, but "Bea Doe" and "Bob Doe".

        :param mark: what follows an initial; None if the style has no initials
        """
        by_initials: dict[str, list[Person]] = defaultdict(list)
        for person in family:
            # Without initials, the whole given name is the shortest form
            short = person.given
            if mark is not None:
                short = initials(person.given, mark, hyphen=True)
            by_initials[short].append(person)
        if len(by_initials) == 1 and self._has_only_initials:
            return  # initials tell nobody apart

        # In a style without initials, ``GivenName.INITIALS`` shows the given name in full too
        for people in by_initials.values():
            needs_full_name = len(people) > 1 and not self._has_only_initials
            given_name = GivenName.FULL if needs_full_name else GivenName.INITIALS
            for person in people:
                self._document.given_names[person.key] = given_name


def _add_suffixes(groups: list[_Group]) -> None:
    """Give letters to the items of each group, in the order of the list of references."""
    for group in groups:
        ordered = sorted(group, key=lambda cited_item: cited_item.listed.number)
        for rank, cited_item in enumerate(ordered, 1):
            cited_item.listed = cited_item.listed._replace(year_suffix=_letters(rank))


def _shortens_later(area: Area) -> bool:
    """Return whether later cites have fewer names than the first one: "et-al-min" 6, and 3 for the later."""
    first = area.names.get("et-al-min")
    later = area.names.get("et-al-subsequent-min")
    return later is not None and (first is None or int(later) < int(first))


def _alike(cited_items: _Group, look_of: Callable[[CitedItem], object]) -> list[_Group]:
    """Return the groups of two or more items that look the same; items that look like no other are left out."""
    by_look: dict[object, _Group] = defaultdict(list)
    for cited_item in cited_items:
        by_look[look_of(cited_item)].append(cited_item)
    return [group for group in by_look.values() if len(group) > 1]


def _is_split(group: _Group, alike: list[_Group]) -> bool:
    """Return whether not all items of a group are alike any more.

    :param alike: the groups that ``_alike`` made of it: one of the same length if nothing has changed
    """
    return [len(group)] != [len(part) for part in alike]


def _letters(rank: int) -> str:
    """Return the year suffix with a number from 1: a to z, then aa, ab and so on."""
    letters = ""
    while rank:
        rank, remainder = divmod(rank - 1, 26)
        letters = chr(ord("a") + remainder) + letters
    return letters
