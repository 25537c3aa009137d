"""Places: whether a cite is the first of its item, a later one, or "ibid." (CSL 1.0.2, Choose, "position")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_csl._context import Cite, Place, Position

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from doiuri_csl._sheet import Sheet


def cites_of(cites: Sequence[Cite], where: str) -> list[Cite]:
    """Return the cites of a citation that a caller gave, as a list.

    :param where: which citation it is, for the error, such as "citation 3"
    :raises TypeError: if it is a single cite, or contains anything but cites
    """
    if isinstance(cites, Cite):
        raise TypeError(f"{where} is a Cite, not a list of cites; pass [Cite({cites.id!r})]")
    checked = list(cites)
    for cite in checked:
        if not isinstance(cite, Cite):
            raise TypeError(
                f"{where} contains {cite!r}; expected a list of cites, such as [Cite('a')]"
            )
    return checked


def notes_of(
    sheet: Sheet, citations: Sequence[Sequence[Cite]], notes: Iterable[int] | None
) -> list[int]:
    """Return the number of the note that each citation stands in; 0 for a citation in the text.

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
    places = _PlaceFinder(sheet.near_note_distance)
    return [places.place(cites, note) for cites, note in zip(citations, notes, strict=True)]


def _default_notes(sheet: Sheet, citations: Iterable[Sequence[Cite]]) -> list[int]:
    """Return 1, 2, 3 … in a style of notes, and 0 for each citation in any other style.

    Names in a sentence are in the text: a citation of nothing else has the number of the note before.
    """
    notes = []
    last = 0
    for cites in citations:
        is_reference = not all(cite.author_only for cite in cites)
        if sheet.is_note and is_reference:
            last += 1
        notes.append(last)
    return notes


class _PlaceFinder:
    """Finds the places of cites, citation by citation; those in notes and in the text are two sequences.

    For each citation, in the order of the document:

    1. The cite before, which "ibid." would mean: the last one in the same note, or the only one of the citation
       before in its sequence. For the second cite of a citation, it is the first, and so on.
    2. The position of each cite is worked out from that, and the rest of its place from the notes that cited its
       item before.
    3. The citation is kept as the one before the next.
    """

    def __init__(self, near_note_distance: int) -> None:
        self._near_note_distance = near_note_distance

        # By the ids of items: the number of the note that cited it first, or last; 0 for the text
        self._first_note_of: dict[str, int] = {}
        self._last_note_of: dict[str, int] = {}

        # The cites before, of the last note and of the last citation in the text
        self._last_note = 0
        self._cites_of_last_note: list[Cite] = []
        self._cites_of_last_in_text: list[Cite] = []

    def place(self, cites: Sequence[Cite], note: int) -> list[Cite]:
        """Return the cites of the next citation with their places.

        :param note: the number of the note that it stands in; 0 in the text
        """
        before = self._cite_before(note)
        placed: list[Cite] = []
        for cite in cites:
            # Names in a sentence are no reference: what follows them is.
            if cite.author_only:
                placed.append(cite)
                continue
            before = cite._replace(place=self._place_after(before, cite, note))
            placed.append(before)

        references = [cite for cite in placed if not cite.author_only]
        if not references:
            return placed
        if note <= 0:
            self._cites_of_last_in_text = references
        elif note == self._last_note:
            self._cites_of_last_note = [*self._cites_of_last_note, *references]
        else:
            self._last_note = note
            self._cites_of_last_note = references
        return placed

    def _cite_before(self, note: int) -> Cite | None:
        """Return the cite that "ibid." at the start of a citation would mean; None if that is not clear."""
        if note <= 0:
            cites = self._cites_of_last_in_text
        elif note == self._last_note:
            return self._cites_of_last_note[-1]  # in one note, the last cite is the one before
        elif note == self._last_note + 1:
            cites = self._cites_of_last_note
        else:  # a note without citations stands between
            return None
        # After a note with several cites, "ibid." could mean any of them
        return cites[0] if len(cites) == 1 else None

    def _place_after(self, before: Cite | None, cite: Cite, note: int) -> Place:
        """Return the place of a cite, and remember that its item was cited in the note, or in the text if 0."""
        last_note = self._last_note_of.get(cite.id, 0)
        are_in_notes = last_note > 0 and note > 0
        is_near = are_in_notes and note - last_note <= self._near_note_distance
        position = _position(cite, before, is_seen=cite.id in self._last_note_of)

        self._last_note_of[cite.id] = note
        # Only an earlier note is worth naming: "see note 3"
        first_note = self._first_note_of.setdefault(cite.id, note)
        if first_note == note:
            first_note = 0
        return Place(position, is_near, first_note)


def _position(cite: Cite, before: Cite | None, *, is_seen: bool) -> Position:
    """Return the position of a cite whose item was cited before or not (``is_seen``).

    After a cite of the same item, "ibid." stands for both the item and the locator, "ibid., p. 5" for the item.
    """
    if not is_seen:
        return Position.FIRST
    if before is None or before.id != cite.id:
        return Position.SUBSEQUENT
    if cite.locator == before.locator and cite.label == before.label:
        return Position.IBID
    if cite.locator:
        return Position.IBID_WITH_LOCATOR
    return Position.SUBSEQUENT  # "ibid." would mean the locator before
