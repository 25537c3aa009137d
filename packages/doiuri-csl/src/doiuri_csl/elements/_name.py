"""One name: its parts in their order and formats (CSL 1.0.2, Name and Name-part)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doiuri_csl._context import GivenName, TextOrigin
from doiuri_csl.data._people import Person, glue, initials, space_after
from doiuri_csl.text._markup import parse
from doiuri_csl.text._pieces import Piece, join_pieces, text_pieces

if TYPE_CHECKING:
    from doiuri_csl._context import Context
    from doiuri_csl.elements._appearance import Appearance
    from doiuri_csl.elements._nameoptions import NameOptions, NameStyle

PART_BREAK = "\x01"
"""Stands between the parts of a name in a sort key, below all letters."""


class _NamePart(NamedTuple):
    """A part of a name and how it looks."""

    text: str
    appearance: Appearance


class NameWriter:
    """Writes the names of one list, one by one."""

    def __init__(
        self, style: NameStyle, options: NameOptions, context: Context, variable: str
    ) -> None:
        self._style = style
        self._options = options
        self._context = context
        self._variable = variable

    def write(self, person: Person, index: int) -> list[Piece]:
        """Return the name of the person with an index in the list."""
        return self.write_with(self._given_name_of(person, index), person, index)

    def write_with(self, given_name: GivenName, person: Person, index: int) -> list[Piece]:
        """Return the name as it is if disambiguation asks for so much of the given name.

        "Ann Berg", "Berg, Ann" in sort order, "Berg" in the short form, "A. Berg" with initials, "山田太郎".
        """
        # The order of the exits: names without parts; names whose family name is always first; sort keys; the
        # short form; and last the two orders of a long name
        if person.literal:
            return self._affixed(parse(person.literal), self._style.family)
        is_sorting = self._context.is_sorting
        needs_given_name = given_name > GivenName.AS_STYLED and not is_sorting
        is_long = self._options.form == "long" or needs_given_name
        if person.is_east_asian:
            return self._family_first(person, person.given, is_long=is_long)
        given = self._given(person, given_name) if is_long else ""
        if person.static:
            return self._family_first(person, given, is_long=is_long)
        if is_sorting:
            return text_pieces(self._sort_name(person, given))
        if not is_long:
            return self._family(person, with_particle=True)
        if self.inverts(person, index):
            return self._inverted(person, given)
        return self._in_order(person, given)

    def inverts(self, person: Person, index: int) -> bool:
        """Return whether the family name stands first because the style wants it (``name-as-sort-order``)."""
        order = self._options.sort_order
        # A family name alone has nothing to change places with
        if person.literal or not (person.given or person.suffix):
            return False
        return order == "all" or (order == "first" and index == 0)

    def _given_name_of(self, person: Person, index: int) -> GivenName:
        """Return how much of the given name disambiguation asks for, in this cite or in all cites of the document.

        By the rules "primary-name…", all cites need only that of the first name in a list.
        """
        key = (self._variable, index)
        in_cite = self._context.cited_item.names_shown.given_names.get(key, GivenName.AS_STYLED)
        if self._context.only_first_names and index > 0:
            return in_cite
        in_document = self._context.given_names.get(person.key, GivenName.AS_STYLED)
        return max(in_cite, in_document)

    def _given(self, person: Person, given_name: GivenName) -> str:
        """Return the given names in full, "Ann Mary", or as initials, "A. M."."""
        options = self._options
        if options.initialize_with is None or given_name is GivenName.FULL:
            return person.given
        return initials(
            person.given,
            options.initialize_with,
            hyphen=options.hyphen,
            only_normalizes=not options.initialize,
        )

    def _affixed(self, pieces: list[Piece], appearance: Appearance) -> list[Piece]:
        return appearance.apply(pieces, self._context, TextOrigin.PART)

    def _family(self, person: Person, *, with_particle: bool) -> list[Piece]:
        """Return the family name, "van der Berg", or "Berg" without its particle."""
        family = self._style.family
        parts = [_NamePart(person.family, family)]
        if with_particle:
            parts.insert(0, _NamePart(person.non_dropping, family))
        return family.affix(self._glued(parts))

    def _family_first(self, person: Person, given: str, *, is_long: bool) -> list[Piece]:
        """Return a name whose family name always stands first: "山田太郎", or "Nagy Anna" in Hungarian."""
        # A sort key has the particle of no such name
        family = self._family(person, with_particle=not self._context.is_sorting)
        if not is_long:
            return family
        style = self._style
        parts = [_NamePart(given, style.given), _NamePart(person.dropping, style.given)]
        first = style.given.affix(self._glued(parts))
        delimiter = "" if person.is_east_asian else " "
        return join_pieces([family, first, parse(self._suffix(person))], delimiter)

    def _glued(self, parts: list[_NamePart]) -> list[Piece]:
        """Return parts of a name side by side, each in its formats, without affixes: "van der Berg", "d'Arcy"."""
        pieces: list[Piece] = []
        before = ""
        for part in parts:
            if not part.text:
                continue
            if before:
                pieces += text_pieces(space_after(before))
            plain = part.appearance.without_affixes
            pieces += plain.apply(parse(part.text), self._context, TextOrigin.PART)
            before = part.text
        return pieces

    def _in_order(self, person: Person, given: str) -> list[Piece]:
        """Return given name, particles, family name, suffix: "Ann van der Berg Jr."."""
        style = self._style
        family = self._glued(
            [
                _NamePart(person.dropping, style.given),
                _NamePart(person.non_dropping, style.family),
                _NamePart(person.family, style.family),
            ]
        )
        if person.suffix:
            delimiter = ", " if person.comma_suffix else " "
            family = join_pieces([family, parse(self._suffix(person))], delimiter)
        first = self._affixed(parse(given), style.given)
        return join_pieces([first, style.family.affix(family)], " ")

    def _suffix(self, person: Person) -> str:
        """Return the suffix, without its period if initials have none."""
        mark = self._options.initialize_with
        if mark is not None and "." not in mark:
            return person.suffix.rstrip(".")
        return person.suffix

    def _inverted(self, person: Person, given: str) -> list[Piece]:
        """Return family name, given name, particles, suffix: "Berg, Ann van der, Jr.".

        Where ``demote-non-dropping-particle`` is "never" or "sort-only", "van der Berg, Ann, Jr.".
        """
        style = self._style
        is_demoted = self._options.demote == "display-and-sort"
        parts = [_NamePart(given, style.given), _NamePart(person.dropping, style.given)]
        if is_demoted:
            parts.append(_NamePart(person.non_dropping, style.family))
        family = self._family(person, with_particle=not is_demoted)
        pieces = [family, style.given.affix(self._glued(parts))]
        if person.suffix:
            pieces.append(parse(self._suffix(person)))
        return join_pieces(pieces, self._options.sort_separator)

    def _sort_name(self, person: Person, given: str) -> str:
        """Return the name as a sort key: "Berg", a break, and "van der Ann" (CSL 1.0.2, Sorting).

        With ``demote-non-dropping-particle="never"``, "van der Berg" and "Ann".
        """
        family = person.family
        particles = glue(person.dropping, person.non_dropping)
        if self._options.demote == "never":
            family = glue(person.non_dropping, person.family)
            particles = person.dropping
        suffix = person.suffix if given else ""
        rest = glue(particles, given, suffix)
        return f"{family}{PART_BREAK}{rest}" if rest else family
