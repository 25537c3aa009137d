"""Positions: whether a cite is the first of its item, a later one, or right after another.

CSL 1.0.2, Choose, "position".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_csl._context import Cite, Place, Position

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from doiuri_csl._sheet import Sheet


def cites_of(cites: Sequence[Cite], where: str) -> list[Cite]:
    """Return the cites of a citation.

    :param where: which citation it is, for the error
    :raises TypeError: if it is not a list of cites
    """
    if isinstance(cites, Cite):
        raise TypeError(f"{where} is a Cite, not a list of cites; pass [Cite({cites.id!r})]")
    listed = list(cites)
    for cite in listed:
        if not isinstance(cite, Cite):
            raise TypeError(
                f"{where} contains {cite!r}; expected a list of cites, such as [Cite('a')]"
            )
    return listed


def notes_of(
    sheet: Sheet, citations: Sequence[Sequence[Cite]], notes: Iterable[int] | None
) -> list[int]:
    """Return the number of the note of each citation, 0 for the text.

    :param notes: the numbers if they are known; by default, in a style of notes, each is a note of its own
    :raises ValueError: if there are more or fewer notes than citations
    """
    if notes is None:
        return _default_notes(sheet, citations)
    numbers = list(notes)
    if len(numbers) != len(citations):
        raise ValueError(f"{len(numbers)} notes for {len(citations)} citations; give one for each")
    return numbers


def first_notes(citations: Sequence[Sequence[Cite]], notes: Sequence[int]) -> dict[str, int]:
    """Return the number of the note in which each item is cited first, by the ids of the items."""
    firsts: dict[str, int] = {}
    for cites, note in zip(citations, notes, strict=True):
        for cite in cites:
            if not cite.author_only:
                firsts.setdefault(cite.id, note)
    return firsts


def place_cites(
    sheet: Sheet, citations: Sequence[Sequence[Cite]], notes: Sequence[int]
) -> list[list[Cite]]:
    """Return the citations of a document with the places of their cites.

    :param citations: their cites in the order in which the style shows them
    :param notes: the number of the note of each citation, 0 for the text
    """
    places = _Places(sheet.near_note_distance)
    return [places.place(cites, note) for cites, note in zip(citations, notes, strict=True)]


def _default_notes(sheet: Sheet, citations: Iterable[Sequence[Cite]]) -> list[int]:
    """Return numbers of notes for citations that each, in a style of notes, have one of their own."""
    notes = []
    last = 0
    for cites in citations:
        is_reference = not all(cite.author_only for cite in cites)
        if sheet.is_note and is_reference:
            last += 1
        notes.append(last)
    return notes


class _Places:
    """Goes through the citations of a document; those in notes and in the text are two sequences."""

    def __init__(self, near_note_distance: int) -> None:
        self._distance = near_note_distance
        self._first_note_of: dict[str, int] = {}
        self._last_note_of: dict[str, int] = {}
        self._previous_note = 0
        self._previous: dict[bool, list[Cite]] = {True: [], False: []}

    def place(self, cites: Sequence[Cite], note: int) -> list[Cite]:
        """Return the cites of the next citation at their places.

        :param note: the number of the note that it stands in; 0 in the text
        """
        in_note = note > 0
        previous = self._previous[in_note]
        in_same_note = in_note and bool(previous) and note == self._previous_note
        is_next = not in_note or note == self._previous_note + 1
        earlier = None
        if in_same_note or is_next:
            earlier = _meant_by_ibid(previous, in_same_note=in_same_note)

        placed: list[Cite] = []
        for cite in cites:
            # Names in a sentence are no reference: what follows them is.
            if cite.author_only:
                placed.append(cite)
                continue
            earlier = cite._replace(place=self._place(cite, note, earlier))
            placed.append(earlier)

        references = [cite for cite in placed if not cite.author_only]
        if references:
            self._previous[in_note] = [*previous, *references] if in_same_note else references
        if references and in_note:
            self._previous_note = note
        return placed

    def _place(self, cite: Cite, note: int, earlier: Cite | None) -> Place:
        position = _position(cite, earlier, is_seen=cite.id in self._last_note_of)
        last_note = self._last_note_of.get(cite.id, 0)
        are_in_notes = last_note > 0 and note > 0
        is_near = are_in_notes and note - last_note <= self._distance
        self._last_note_of[cite.id] = note
        first_note = self._first_note_of.setdefault(cite.id, note)
        if first_note == note:
            first_note = 0
        return Place(position, is_near, first_note)


def _meant_by_ibid(previous: list[Cite], *, in_same_note: bool) -> Cite | None:
    """Return the cite that "ibid." would mean, or None if there is none.

    The one before in this note, or the only one of the note before.
    """
    if in_same_note:
        return previous[-1]
    return previous[0] if len(previous) == 1 else None


def _position(cite: Cite, earlier: Cite | None, *, is_seen: bool) -> Position:
    """Return the position of a cite after another."""
    if not is_seen:
        return Position.FIRST
    if earlier is None or earlier.id != cite.id:
        return Position.SUBSEQUENT
    if cite.locator == earlier.locator and cite.label == earlier.label:
        return Position.IBID
    if cite.locator:
        return Position.IBID_WITH_LOCATOR
    return Position.SUBSEQUENT
