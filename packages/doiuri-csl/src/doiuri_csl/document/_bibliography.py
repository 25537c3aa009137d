"""Lists of references: entries in order, second fields aligned, repeated authors replaced.

CSL 1.0.2, Bibliography-specific Options.
"""

from __future__ import annotations

from itertools import dropwhile
from typing import TYPE_CHECKING

from doiuri_csl._context import Cite, Context
from doiuri_csl.elements._elements import render_parts, render_sequence
from doiuri_csl.text._markup import parse
from doiuri_csl.text._pieces import (
    Kind,
    Piece,
    Wrap,
    join_pieces,
    plain_text,
    shared_length,
    text_pieces,
    wrap_pieces,
)
from doiuri_csl.text._textcase import capitalize_term

if TYPE_CHECKING:
    from doiuri_csl._sheet import Area
    from doiuri_csl.document._document import Document


# What may stand before the names that a mark replaces
_NUMBERS = ("citation-number", "citation-label", "year-suffix")


def render_bibliography(document: Document) -> list[tuple[str, list[Piece]]]:
    """Return the entries, each with the id of its item; an empty list if the style has no ``<bibliography>``.

    With ``subsequent-author-substitute``, "———. 2002. Bees." follows "Doe, Ann. 2001. Ants.".
    """
    area = document.sheet.bibliography
    if area is None:
        return []
    render_entry = _aligned_entry if document.sheet.list_format.second_field_align else _entry
    ids = [cited_item.id for cited_item in document.listed_items]
    # An entry is rendered as a cite of its item in the area "bibliography"
    entries = [render_entry(document.context(Cite(key), area), area) for key in ids]
    if "subsequent-author-substitute" in area.attributes:
        entries = _with_substitutes(entries, area)
    return list(zip(ids, entries, strict=True))


def _entry(context: Context, area: Area) -> list[Piece]:
    """Return an entry in the affixes and formats of the layout; nothing if the style shows nothing of the item."""
    appearance = area.appearance
    rendered = render_sequence(area.elements, context)
    # An entry that begins with a term, such as "in" or "edited by", begins with a capital
    pieces = capitalize_term(rendered.pieces, context.terms.lang)
    if not pieces:
        return []
    pieces = [*text_pieces(appearance.prefix), *pieces, *_suffix(appearance.suffix, pieces)]
    return appearance.without_affixes.apply(pieces, context)


def _suffix(suffix: str, pieces: list[Piece]) -> list[Piece]:
    """Return the suffix of an entry, such as ".", in the block that the entry ends in (CSL 1.0.2, Display)."""
    blocks = tuple(wrap for wrap in pieces[-1].wraps if wrap.kind == "display")
    return [Piece(suffix, blocks)] if suffix else []


def _aligned_entry(context: Context, area: Area) -> list[Piece]:
    """Return an entry with its first field, such as "[1]", as a block in the margin (``second-field-align``)."""
    parts = [part.pieces for part in render_parts(area.elements, context) if part.pieces]
    if not parts:
        return []
    appearance = area.appearance
    margin = [*text_pieces(appearance.prefix), *parts[0]]
    body = [*join_pieces(parts[1:], ""), *text_pieces(appearance.suffix)]
    plain = appearance.without_affixes
    return [
        *wrap_pieces(plain.apply(margin, context), "display", "left-margin"),
        *wrap_pieces(plain.apply(body, context), "display", "right-inline"),
    ]


def _is_first_name(piece: Piece) -> bool:
    """Return whether a piece belongs to what the first ``<names>`` of the entry shows: names, labels, a title."""
    return piece.has("part", "first-names")


def _name_of(piece: Piece) -> Wrap | None:
    """Return the wrap of the person's name that a piece belongs to, among the first names of the entry.

    In "Doe, Ann and Roe, eds. Bees.", the pieces "Doe" and "Ann" have one wrap, "Roe" has another one; None for
    "and", the label "eds." and the title. Wraps are compared by identity, so each name has its own.
    """
    if not _is_first_name(piece):
        return None
    for wrap in piece.wraps:
        if wrap.kind == "part" and wrap.value == "name":
            return wrap
    return None


def _begins_with_names(pieces: list[Piece]) -> bool:
    """Return whether only numbers and the style's own text stand before the first names.

    As in citeproc-js and pandoc, names after a title or a date are not replaced.
    """
    for piece in pieces:
        if _is_first_name(piece):
            return True
        # A piece without a role is text of the style, such as the brackets of "[1]"
        role = piece.wrap("role")
        if role is not None and role.value not in _NUMBERS:
            return False
    return False


def _first_names(pieces: list[Piece]) -> list[str]:
    """Return what an entry begins with, to be compared with the entry before.

    These are the people of its first names, each as the value of the wrap "person"; in an entry without people,
    the title or other text that stands in their place, as a list of one. An empty list if the entry does not begin
    with names.
    """
    if not _begins_with_names(pieces):
        return []
    people: dict[Wrap, str] = {}  # by the wraps of their names, as a name may be several pieces
    for piece in pieces:
        name = _name_of(piece)
        person = piece.wrap("person")
        if name is not None and person is not None:
            people[name] = person.value
    if people:
        return list(people.values())
    substitute = plain_text(piece for piece in pieces if _is_first_name(piece))
    return [substitute] if substitute else []


def _with_substitutes(entries: list[list[Piece]], area: Area) -> list[list[Piece]]:
    """Return entries; in each, names that the entry before has too are replaced by a mark such as "———"."""
    names_of_each = [_first_names(entry) for entry in entries]
    names_before_each = [[], *names_of_each]
    by_entry = zip(entries, names_of_each, names_before_each, strict=False)
    return [_with_substitute(entry, names, before, area) for entry, names, before in by_entry]


def _with_substitute(
    pieces: list[Piece], names: list[str], names_before: list[str], area: Area
) -> list[Piece]:
    """Return an entry; names that the entry before has too are replaced by a mark such as "———".

    After "Doe, Roe. Ants.", "Doe, Roe. Bees." becomes, by ``subsequent-author-substitute-rule``, "———. Bees."
    ("complete-all") or "———, ———. Bees." ("complete-each" and "partial-each"), and "Doe, Li. Bees." becomes
    "———, Li. Bees." ("partial-each" and "partial-first").

    CSL 1.0.2 compares rendered names. As in citeproc-js and pandoc, those who are meant are compared: "J. Doe"
    and "Doe, John, ed." are the same, John and Jack Doe are not.

    :param names: those of the entry, and ``names_before`` those of the entry before, as of ``_first_names``
    """
    mark = area.get("subsequent-author-substitute")
    rule = area.get("subsequent-author-substitute-rule", "complete-all")
    has_people = any(_name_of(piece) for piece in pieces)
    if rule == "complete-all" or not has_people:
        # A title in place of the names has no single names: it is replaced as a whole by any rule
        if names and names == names_before:
            return _replace_all(pieces, mark)
        return pieces

    if rule == "complete-each":
        count = len(names) if names == names_before else 0
    else:
        # "partial-each" and "partial-first": only the names at the start that both entries have
        count = shared_length(names, names_before)
    if rule == "partial-first":
        count = min(count, 1)
    return _replace_names(pieces, mark, count)


def _replace_all(pieces: list[Piece], mark: str) -> list[Piece]:
    """Return the entry with all its first names as one mark; labels stay, as in "———, ed. Bees.".

    If the mark is empty, the delimiter after the names goes too: of "Doe. Bees.", "Bees." is left.
    """
    # Labels are "first-names" but no "names"; so is a title in place of names, which goes as a whole
    first_names = [piece for piece in pieces if _is_first_name(piece)]
    names = [piece for piece in first_names if piece.has("part", "names")]
    replaced = names or first_names

    start = pieces.index(replaced[0])
    rest = [piece for piece in pieces[start:] if piece not in replaced]
    entry = [*pieces[:start], *parse(mark), *rest]
    return entry if mark else list(dropwhile(_is_delimiter, entry))


def _is_delimiter(piece: Piece) -> bool:
    return piece.kind is Kind.TEXT and not piece.text.strip(" .,:;")


def _replace_names(pieces: list[Piece], mark: str, count: int) -> list[Piece]:
    """Return the entry with the first names of its list as one mark each: "———, Li. Bees." if the count is 1."""
    replaced: list[Piece] = []
    marked: set[Wrap] = set()
    for piece in pieces:
        name = _name_of(piece)
        if name in marked:
            continue  # another piece of a name that has its mark already: "Ann" of "Doe, Ann"
        if name is None or len(marked) == count:
            replaced.append(piece)
        else:
            marked.add(name)
            replaced.append(Piece(mark))
    return replaced
