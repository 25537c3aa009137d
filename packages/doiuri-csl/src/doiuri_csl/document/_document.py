"""The items that a document cites: their order, their numbers, and the surroundings of each rendering."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doiuri_csl._context import (
    Cite,
    CitedItem,
    Context,
    GivenName,
    Listed,
    ListedNames,
    NamesShown,
)
from doiuri_csl.data._items import Item, citation_label
from doiuri_csl.document._memo import Memo
from doiuri_csl.document._sorting import key_text, sort_by_keys

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from doiuri_csl._locale import Terms
    from doiuri_csl._sheet import Area, Sheet


class Look(NamedTuple):
    """What disambiguation compares of a cite."""

    text: str
    lists: list[ListedNames]


class Document:
    """What a document cites, in a style and a language."""

    given_names: dict[str, GivenName]
    """How much of the given name each person needs in citations, by ``Person.key``."""

    def __init__(self, sheet: Sheet, terms: Terms, items: Mapping[str, Item]) -> None:
        self.sheet = sheet
        self.terms = terms
        self._items = items
        self._made: dict[str, CitedItem] = {}
        """The entries of all registrations, as making one takes time."""

        self._entries: dict[str, CitedItem] = {}
        self._order: list[CitedItem] = []
        rule = sheet.citation.get("givenname-disambiguation-rule")
        self._only_first_names = rule.startswith("primary")
        self.given_names = {}
        self._areas_sorted_by_number: set[str] = set()
        self._sort_texts = Memo[list[str]]()
        self.looks = Memo[Look]()

    def set_items(self, ids: Iterable[str]) -> None:
        """Set the items that the document cites, in the order in which it does, and number them."""
        self.given_names = {}
        self._sort_texts.start()
        self.looks.start()
        self._entries = {}
        for number, key in enumerate(dict.fromkeys(ids), 1):
            item = self._items.get(key)
            if item is None:
                continue
            if key not in self._made:
                self._made[key] = _entry_of(item, Listed(key))
            entry = self._entries[key] = self._made[key]
            entry.listed = Listed(key, number)
            entry.names = NamesShown()
        self._order = list(self._entries.values())
        if self.sheet.bibliography is not None:
            # A key that shows the number of an item sorts by the order of citing
            cites = [Cite(key) for key in self._entries]
            in_order = self.sort(cites, self.sheet.bibliography)
            self._order = [self._entries[cite.id] for cite in in_order]
        for number, entry in enumerate(self._order, 1):
            entry.listed = entry.listed._replace(number=number)

    def set_entries(self, listed: Iterable[Listed]) -> None:
        """Set the list of another document: its items, with their numbers and what tells them apart."""
        self._order = [_entry_of(self._items[item.id], item) for item in listed]
        self._entries = {entry.id: entry for entry in self._order}

    @property
    def entries(self) -> list[CitedItem]:
        """The items in the order of citing."""
        return list(self._entries.values())

    @property
    def ordered_entries(self) -> list[CitedItem]:
        """The items in the order of the list of references."""
        return self._order

    def entry(self, key: str) -> CitedItem:
        """Return the entry of an item; if there is no such item, one that has only its id."""
        entry = self._entries.get(key)
        if entry is None:
            return CitedItem({"id": key}, Listed(key), is_known=False)
        return entry

    def context(self, cite: Cite, area: Area) -> Context:
        """Return the context of a cite or an entry."""
        # Given names are added to make citations unambiguous; the list of references shows them as the style does.
        given_names = self.given_names if area.name == "citation" else {}
        return Context(
            style_options=self.sheet.style_options,
            terms=self.terms,
            entry=self.entry(cite.id),
            cite=cite,
            area=area.name,
            names=area.names,
            given_names=given_names,
            only_first_names=self._only_first_names,
        )

    def sort(self, cites: Sequence[Cite], area: Area) -> list[Cite]:
        """Return cites in the order of an area's keys."""

        def texts_of(cite: Cite) -> list[str]:
            number = 0
            if area.name in self._areas_sorted_by_number:
                number = self.entry(cite.id).listed.number
            inputs = (area.name, number, self.inputs(cite))
            return self._sort_texts.get(inputs, lambda: self._texts_of(cite, area))

        return sort_by_keys(cites, area.sort_keys, texts_of)

    def _texts_of(self, cite: Cite, area: Area) -> list[str]:
        """Return the texts that an area's keys sort a cite by."""
        texts = []
        for key in area.sort_keys:
            context = self.context(cite, area)
            context.sort_names = key.names
            texts.append(key_text(key, context, self.sheet.macros))
            if context.progress.has_number:
                self._areas_sorted_by_number.add(area.name)
        return texts

    def inputs(self, cite: Cite) -> Hashable:
        """Return what the text of a cite depends on; it is the same text if this is equal."""
        entry = self.entry(cite.id)
        listed = entry.listed
        if not self.sheet.is_numeric:
            listed = listed._replace(number=0)
        given_names = tuple(entry.names.given_names.items())
        of_people: list[GivenName] = []
        if self.given_names:
            for person in entry.people:
                of_people.append(self.given_names.get(person.key, GivenName.AS_STYLED))
        return cite, entry.is_known, listed, entry.names.count, given_names, tuple(of_people)


def _entry_of(item: Item, listed: Listed) -> CitedItem:
    return CitedItem(item, listed, citation_label=citation_label(item))
