"""Positions: whether a cite is the first of its item, a later one, or right after another.

CSL 1.0.2, Choose, "position".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_csl._context import Cite, Placed, Position

if TYPE_CHECKING:
    from collections.abc import Sequence


class Positions:
    """Goes through the citations of a document; those in notes and in the text are two sequences."""

    first_notes: dict[str, int]
    """The number of the note that first cites each item."""

    def __init__(self, near_note_distance: int) -> None:
        self._distance = near_note_distance
        self._last: dict[str, Placed] = {}
        self._previous: dict[bool, list[Placed]] = {True: [], False: []}
        self.first_notes = {}

    def place(self, cites: Sequence[Cite], note: int) -> list[Placed]:
        """Return the cites of the next citation at their places.

        :param note: the number of the note that it stands in; 0 in the text
        """
        in_note = note > 0
        previous = self._previous[in_note]
        in_same_note = in_note and bool(previous) and previous[0].note == note
        earlier = self._meant_by_ibid(previous, in_same_note=in_same_note)

        placed: list[Placed] = []
        for cite in cites:
            # Names in a sentence are no reference: what follows them is.
            if cite.author_only:
                placed.append(Placed(cite, note=note))
                continue
            earlier = self._place(cite, note, earlier)
            placed.append(earlier)

        references = [cite for cite in placed if not cite.cite.author_only]
        if references:
            self._previous[in_note] = [*previous, *references] if in_same_note else references
        return placed

    def _meant_by_ibid(self, previous: list[Placed], *, in_same_note: bool) -> Placed | None:
        """Return the cite that "ibid." would mean, or None if there is none.

        The one before in this note, or the only one of the note before.
        """
        if in_same_note:
            return previous[-1]
        return previous[0] if len(previous) == 1 else None

    def _place(self, cite: Cite, note: int, earlier: Placed | None) -> Placed:
        last = self._last.get(cite.id)
        position = _position(cite, earlier, is_seen=last is not None)
        is_near = False
        if last is None:
            self.first_notes[cite.id] = note
        elif note:
            is_near = note - last.note <= self._distance
        placed = Placed(cite, position, is_near, note)
        self._last[cite.id] = placed
        return placed


def _position(cite: Cite, earlier: Placed | None, *, is_seen: bool) -> Position:
    """Return the position of a cite after another."""
    if not is_seen:
        return Position.FIRST
    if earlier is None or earlier.cite.id != cite.id:
        return Position.SUBSEQUENT
    if cite.locator == earlier.cite.locator and cite.label == earlier.cite.label:
        return Position.IBID
    if cite.locator:
        return Position.IBID_WITH_LOCATOR
    return Position.SUBSEQUENT
