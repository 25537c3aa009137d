"""Lists of references: entries in order, second fields aligned, repeated authors replaced.

CSL 1.0.2, Bibliography-specific Options.
"""

from __future__ import annotations

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
    """Return the entries, each with the id of its item; none if the style has no list."""
    area = document.sheet.bibliography
    if area is None:
        return []
    entry_of = _aligned_entry if document.sheet.list_format.second_field_align else _entry
    entries = []
    before: list[str] = []
    for cited_item in document.listed_items:
        pieces = entry_of(document.context(Cite(cited_item.id), area), area)
        if "subsequent-author-substitute" in area.attributes:
            names = _first_names(pieces)
            pieces = _with_substitute(pieces, names, before, area)
            before = names
        entries.append((cited_item.id, pieces))
    return entries


def _entry(context: Context, area: Area) -> list[Piece]:
    """Return an entry."""
    appearance = area.appearance
    rendered = render_sequence(area.elements, context)
    pieces = capitalize_term(rendered.pieces, context.terms.lang)
    if not pieces:
        return []
    pieces = [*text_pieces(appearance.prefix), *pieces, *_suffix(appearance.suffix, pieces)]
    return appearance.without_affixes.apply(pieces, context)


def _suffix(suffix: str, pieces: list[Piece]) -> list[Piece]:
    """Return the suffix of an entry, in the same block as the end of the entry."""
    blocks = tuple(wrap for wrap in pieces[-1].wraps if wrap.kind == "display")
    return [Piece(suffix, blocks)] if suffix else []


def _aligned_entry(context: Context, area: Area) -> list[Piece]:
    """Return an entry with its first field in the margin (``second-field-align``)."""
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
    return piece.has("part", "first-names")


def _name_of(piece: Piece) -> Wrap | None:
    """Return the name of the first list that a piece belongs to, or None if it belongs to none."""
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
        role = piece.wrap("role")
        if role is not None and role.value not in _NUMBERS:
            return False
    return False


def _first_names(pieces: list[Piece]) -> list[str]:
    """Return the people whose names an entry begins with, or what stands for the names; [] if it has none."""
    if not _begins_with_names(pieces):
        return []
    people: dict[Wrap, str] = {}
    for piece in pieces:
        name = _name_of(piece)
        person = piece.wrap("person")
        if name is not None and person is not None:
            people[name] = person.value
    if people:
        return list(people.values())
    substitute = plain_text(piece for piece in pieces if _is_first_name(piece))
    return [substitute] if substitute else []


def _with_substitute(
    pieces: list[Piece], names: list[str], before: list[str], area: Area
) -> list[Piece]:
    """Return an entry; names that the entry before has too are replaced.

    CSL 1.0.2, ``subsequent-author-substitute-rule``, compares rendered names. As in citeproc-js and pandoc,
    those who are meant are compared: "J. Doe" and "Doe, John, ed." are the same, John and Jack Doe are not.
    """
    mark = area.get("subsequent-author-substitute")
    rule = area.get("subsequent-author-substitute-rule", "complete-all")
    has_people = any(_name_of(piece) for piece in pieces)
    if rule == "complete-all" or not has_people:
        if names and names == before:
            return _replace_all(pieces, mark)
        return pieces
    if rule == "complete-each":
        same = len(names) if names == before else 0
    else:
        same = shared_length(names, before)
    if rule == "partial-first":
        same = min(same, 1)
    return _replace_names(pieces, mark, same)


def _replace_all(pieces: list[Piece], mark: str) -> list[Piece]:
    """Return the entry with its whole first list of names as one mark; labels stay."""
    first = [piece for piece in pieces if _is_first_name(piece)]
    has_list = any(piece.has("part", "names") for piece in first)
    part = "names" if has_list else "first-names"
    replaced: list[Piece] = []
    is_done = False
    for piece in pieces:
        if not (_is_first_name(piece) and piece.has("part", part)):
            replaced.append(piece)
        elif not is_done:
            replaced += parse(mark)
            is_done = True
    if not mark:
        return _without_delimiter(replaced)
    return replaced


def _without_delimiter(pieces: list[Piece]) -> list[Piece]:
    """Return the entry without the delimiter that it begins with, as nothing stands for its names."""
    start = 0
    while start < len(pieces) and _is_delimiter(pieces[start]):
        start += 1
    return pieces[start:]


def _is_delimiter(piece: Piece) -> bool:
    return piece.kind is Kind.TEXT and not piece.text.strip(" .,:;")


def _replace_names(pieces: list[Piece], mark: str, count: int) -> list[Piece]:
    """Return the entry with the first ``count`` names of its list as one mark each."""
    replaced: list[Piece] = []
    marked: set[Wrap] = set()
    for piece in pieces:
        name = _name_of(piece)
        if name in marked:
            continue
        if name is None or len(marked) == count:
            replaced.append(piece)
        else:
            marked.add(name)
            replaced.append(Piece(mark))
    return replaced
