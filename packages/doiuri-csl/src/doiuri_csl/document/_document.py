"""The items that a document cites: their order, their numbers, and the surroundings of each rendering."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from doiuri_csl._context import (
    Cite,
    CitedItem,
    ComparedNames,
    Context,
    GivenName,
    ListedItem,
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
    """Its text without formats, such as "(Doe et al., 2001)"."""

    lists: list[ComparedNames]
    """Its lists of names."""


class Document:
    """What a document cites, in a style and a language."""

    given_names: dict[str, GivenName]
    """How much of the given name each person needs in citations, by ``Person.key``."""

    def __init__(self, sheet: Sheet, terms: Terms, items: Mapping[str, Item]) -> None:
        self.sheet = sheet
        self.terms = terms
        self._items = items
        self._ever_cited: dict[str, CitedItem] = {}
        """All items that were ever cited, since reading their labels and names takes time."""

        self._cited_items: dict[str, CitedItem] = {}
        """The items that are cited now, by their ids, in the order of citing."""

        self._listed_items: list[CitedItem] = []
        """The same in the order of the list of references."""

        rule = sheet.citation.get("givenname-disambiguation-rule")
        self._only_first_names = rule.startswith("primary")
        self.given_names = {}
        self._areas_sorted_by_number: set[str] = set()
        """The areas with a sort key that shows an item's number, which changes when others are added."""

        self._sort_texts = Memo[list[str]]()
        self.looks = Memo[Look]()

    def set_items(self, ids: Iterable[str]) -> None:
        """Set the items that the document cites, and number them in the order of the list of references.

        The names and year suffixes by which items were told apart in earlier calls are forgotten. An id without an
        item is left out.

        :param ids: in the order in which the document cites them; may be repeated
        """
        self.given_names = {}
        self._sort_texts.start()
        self.looks.start()

        self._cited_items = {}
        for number, key in enumerate(dict.fromkeys(ids), 1):
            item = self._items.get(key)
            if item is None:
                continue
            if key not in self._ever_cited:
                self._ever_cited[key] = _cited_item_of(item, ListedItem(key))
            # Kept from an earlier call, the item may still have its number and letter of then
            cited_item = self._ever_cited[key]
            cited_item.listed = ListedItem(key, number)
            cited_item.names_shown = NamesShown()
            self._cited_items[key] = cited_item

        self._listed_items = list(self._cited_items.values())
        if self.sheet.bibliography is not None:
            # At this time, numbers are in the order of citing: a list with the key "citation-number" keeps it
            cites = [Cite(key) for key in self._cited_items]
            in_order = self.sort(cites, self.sheet.bibliography)
            self._listed_items = [self._cited_items[cite.id] for cite in in_order]
        for number, cited_item in enumerate(self._listed_items, 1):
            cited_item.listed = cited_item.listed._replace(number=number)

    def set_entries(self, listed: Iterable[ListedItem]) -> None:
        """Set the list of another document: its items, with their numbers and what tells them apart."""
        self._listed_items = [_cited_item_of(self._items[item.id], item) for item in listed]
        self._cited_items = {cited_item.id: cited_item for cited_item in self._listed_items}

    @property
    def cited_items(self) -> list[CitedItem]:
        """The items that the document cites, in the order of citing."""
        return list(self._cited_items.values())

    @property
    def listed_items(self) -> list[CitedItem]:
        """The items in the order of the list of references."""
        return self._listed_items

    def cited_item(self, key: str) -> CitedItem:
        """Return what the document knows of an item; if there is no such item, only its id."""
        cited_item = self._cited_items.get(key)
        if cited_item is None:
            return CitedItem({"id": key}, ListedItem(key), is_known=False)
        return cited_item

    def context(self, cite: Cite, area: Area) -> Context:
        """Return what the rendering of a cite knows, or of an entry, which is a cite in "bibliography"."""
        cited_item = self.cited_item(cite.id)
        given_names = self.given_names
        if area.name != "citation":
            # Names are added to make citations unambiguous; the list of references shows them as the style does.
            cited_item = replace(cited_item, names_shown=NamesShown())
            given_names = {}
        return Context(
            style_options=self.sheet.style_options,
            terms=self.terms,
            cited_item=cited_item,
            cite=cite,
            area=area.name,
            names=area.names,
            given_names=given_names,
            only_first_names=self._only_first_names,
        )

    def sort(self, cites: Sequence[Cite], area: Area) -> list[Cite]:
        """Return cites in the order of an area's sort keys (CSL 1.0.2, Sorting)."""
        return sort_by_keys(cites, area.sort_keys, lambda cite: self._sort_texts_of(cite, area))

    def _sort_texts_of(self, cite: Cite, area: Area) -> list[str]:
        """Return the text of each sort key of an area for a cite, rendered if something in it may be new."""
        number = 0
        # Citations may show no number, so that ``inputs`` has none, though a sort key shows it
        if area.name in self._areas_sorted_by_number:
            number = self.cited_item(cite.id).listed.number
        inputs = (area.name, number, self.inputs(cite))
        return self._sort_texts.get(inputs, lambda: self._render_sort_texts(cite, area))

    def _render_sort_texts(self, cite: Cite, area: Area) -> list[str]:
        """Return the text of each sort key of an area for a cite; "" for a key without a value."""
        texts = []
        for key in area.sort_keys:
            context = self.context(cite, area)
            context.sort_names = key.names
            texts.append(key_text(key, context, self.sheet.macros))
            if context.progress.has_number:
                self._areas_sorted_by_number.add(area.name)
        return texts

    def inputs(self, cite: Cite) -> Hashable:
        """Return all that the text of a cite depends on: if this is equal, the text is the same.

        So after an edit, only citations are rendered again that have a new number, letter, place or name.
        """
        cited_item = self.cited_item(cite.id)
        listed = cited_item.listed
        if not self.sheet.is_numeric:
            listed = listed._replace(number=0)  # not shown, so a new number needs no new text

        names_shown = cited_item.names_shown
        given_names_in_cite = tuple(names_shown.given_names.items())
        given_names_in_document: tuple[GivenName | None, ...] = ()
        if self.given_names:
            # Only those of the item's people: a new "A. Doe" elsewhere changes no cite of Roe
            keys = [person.key for person in cited_item.people]
            given_names_in_document = tuple(map(self.given_names.get, keys))
        return (
            cite,
            cited_item.is_known,
            listed,
            names_shown.count,
            given_names_in_cite,
            given_names_in_document,
        )


def _cited_item_of(item: Item, listed: ListedItem) -> CitedItem:
    return CitedItem(item, listed, citation_label=citation_label(item))
