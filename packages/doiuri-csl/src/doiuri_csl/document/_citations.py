"""Citations: cites in order, grouped, collapsed, with their affixes (CSL 1.0.2, Citation-specific Options)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from doiuri_csl._context import Cite, CitedItem, Context
from doiuri_csl.data._items import Item
from doiuri_csl.elements._elements import render_sequence
from doiuri_csl.elements._namelist import NameList
from doiuri_csl.elements._nameoptions import NameStyle
from doiuri_csl.text._markup import parse
from doiuri_csl.text._pieces import (
    Piece,
    folded,
    plain_text,
    quote_pieces,
    text_pieces,
    wrap_pieces,
)
from doiuri_csl.text._textcase import capitalize_term

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from doiuri_csl._sheet import Area
    from doiuri_csl.document._document import Document

_SHORTEST_RANGE = 3  # "[1, 2]", but "[1–3]"
_OPENING = "([-–—/‘“’'\"\u00a0"
_CLOSING = ".,;:!?)]’”\u00a0"

# Names in a sentence for styles whose citations have none: "Kahn and Wilensky", "Kahn et al."
_IN_SENTENCE = NameStyle(
    {"name-form": "short", "and": "text", "et-al-min": "3", "et-al-use-first": "1"}
)
_FIRST_ROLES = ("author", "editor", "translator", "director", "compiler", "container-author")


@dataclass
class _RenderedCite:
    """A cite, what it renders to, and the delimiter that follows it."""

    cite: Cite
    entry: CitedItem
    pieces: list[Piece]

    names: str
    """The text of its first names: cites with the same text form a group."""

    delimiter: str

    @property
    def is_bare(self) -> bool:
        """Whether the author of the text added nothing, so that the cite may become part of a range."""
        cite = self.cite
        # Many numeric styles show no locators: "1–3", not "1,2,3"
        shows_locator = cite.locator and any(piece.has("role", "locator") for piece in self.pieces)
        return self.entry.is_known and not (shows_locator or cite.prefix or cite.suffix)


def sort_citation(document: Document, cites: Sequence[Cite]) -> list[Cite]:
    """Return the cites of a citation in the order of the style; names in a sentence stay before the others."""
    area = document.sheet.citation
    if len(cites) < 2 or not area.sort_keys:
        return list(cites)
    ordered: list[Cite] = []
    for _, group in groupby(cites, lambda cite: cite.author_only):
        ordered += document.sort(list(group), area)
    return ordered


def render_citation(document: Document, cites: Sequence[Cite]) -> list[Piece]:
    """Return a citation: names in a sentence, and the other cites in the style's layout.

    :param cites: the cites in their order, as ``sort_citation`` returns them
    """
    # Superscripts follow a word without a space
    is_raised = ("vertical-align", "sup") in document.sheet.citation.appearance.formats
    pieces: list[Piece] = []
    for is_name, group in groupby(cites, lambda cite: cite.author_only):
        write = _names_in_sentence if is_name else _in_layout
        part = write(document, list(group))
        if pieces and part and not is_raised:
            pieces.append(Piece(" "))
        pieces += part
    return pieces


def _names_in_sentence(document: Document, cites: list[Cite]) -> list[Piece]:
    """Return the names of cites, without the affixes of the layout."""
    area = document.sheet.citation
    rendered = []
    for cite in cites:
        context = document.context(cite, area)
        context.in_sentence = True
        pieces = _with_part(render_elements(document, context), "first-names")
        if not pieces:
            pieces = _default_names(document, cite)
        rendered.append(_with_group_names(document, cite, pieces))
    return _joined(rendered)


def _default_names(document: Document, cite: Cite) -> list[Piece]:
    """Return names for a style whose citations have none, or else the title."""
    context = document.context(cite, document.sheet.citation)
    context.in_sentence = True
    item = context.item
    for variable in _FIRST_ROLES:
        if variable in item:
            options = _IN_SENTENCE.options(context)
            names = NameList(_IN_SENTENCE, options, context, variable, item[variable])
            return wrap_pieces(names.write(), "role", variable)
    return _title(item)


def _title(item: Item) -> list[Piece]:
    """Return a title: in quotes if the item is part of another, otherwise in italics."""
    title = parse(item.get("title", ""))
    if not title:
        return [Piece(str(item["id"]))]
    if "container-title" in item:
        return wrap_pieces(quote_pieces(title), "role", "title")
    return wrap_pieces(wrap_pieces(title, "font-style", "italic"), "role", "title")


def render_elements(document: Document, context: Context) -> list[Piece]:
    """Return what the citation's elements render to in a context; of an unknown item, its id."""
    if not context.entry.is_known:
        return [Piece(context.entry.id)]
    return render_sequence(document.sheet.citation.elements, context).pieces


def _render_cite(document: Document, cite: Cite, *, suppress_author: bool = False) -> list[Piece]:
    """Return a cite without its affixes."""
    context = document.context(cite, document.sheet.citation)
    context.suppress_author = suppress_author
    return render_elements(document, context)


def _with_part(pieces: list[Piece], part: str) -> list[Piece]:
    return [piece for piece in pieces if piece.has("part", part)]


def _is_year_suffix(piece: Piece) -> bool:
    return piece.has("role", "year-suffix")


def _in_layout(document: Document, cites: list[Cite]) -> list[Piece]:
    """Return cites in the style's layout."""
    area = document.sheet.citation
    rendered = []
    for index, cite in enumerate(cites):
        pieces = _render_cite(document, cite, suppress_author=cite.suppress_author)
        if document.sheet.is_note and _starts_sentence(cite, is_first=index == 0):
            pieces = capitalize_term(pieces, document.terms.lang)
        rendered.append(_with_group_names(document, cite, pieces))
    joined = _collapsed(document, rendered)
    if not joined:
        return []
    # The formats of a layout include its affixes: the brackets of a raised number are raised too.
    appearance = area.appearance
    with_affixes = appearance.affix(joined)
    return appearance.without_affixes.apply(with_affixes, document.context(cites[0], area))


def _with_group_names(document: Document, cite: Cite, pieces: list[Piece]) -> _RenderedCite:
    """Return a cite that renders to these pieces, with the names that it is grouped by."""
    with_names = pieces
    if cite.suppress_author:
        # Names group cites even where they are not shown.
        with_names = _render_cite(document, cite)
    names = plain_text(_with_part(with_names, "first-names"))
    delimiter = document.sheet.citation.delimiter
    return _RenderedCite(cite, document.entry(cite.id), pieces, names, delimiter)


def _collapsed(document: Document, cites: list[_RenderedCite]) -> list[Piece]:
    """Return the cites with delimiters, collapsed as the style wants (CSL 1.0.2, Cite Collapsing)."""
    area = document.sheet.citation
    collapse = area.get("collapse")
    if collapse == "citation-number":
        return _joined(_with_ranges(cites, _has_next_number))
    if collapse or "cite-group-delimiter" in area.attributes:
        # As citeproc-js does: cites that the author has put in order stay there.
        if area.sort_keys:
            cites = _with_same_names_together(cites)
        collapsed: list[_RenderedCite] = []
        for group in _split(cites, _has_same_names):
            collapsed += _collapse_group(document, group)
        cites = collapsed
    return _joined(cites)


def _joined(cites: list[_RenderedCite]) -> list[Piece]:
    """Return the cites with their affixes, and the delimiters between them."""
    joined: list[Piece] = []
    delimiter = ""
    for cite in cites:
        pieces = _with_affixes(cite)
        if not pieces:
            continue
        if joined:
            joined.extend(text_pieces(_delimiter_before(cite.cite, delimiter)))
        joined.extend(pieces)
        delimiter = _delimiter_after(cite.cite, cite.delimiter)
    return joined


def _delimiter_before(cite: Cite, delimiter: str) -> str:
    """Return the delimiter before a cite, none if its own prefix begins with punctuation."""
    return "" if cite.prefix.startswith((",", ".", ";", ":")) else delimiter


def _delimiter_after(cite: Cite, delimiter: str) -> str:
    """Return the delimiter after a cite, a space if its own suffix ends in punctuation."""
    return " " if cite.suffix.rstrip().endswith((",", ";", ":")) else delimiter


def _starts_sentence(cite: Cite, *, is_first: bool) -> bool:
    """Return whether what the style writes begins a sentence.

    If nothing stands before it, or a sentence of the author's.
    """
    prefix = cite.prefix.strip().rstrip("\"'”’")
    if not prefix:
        return is_first
    return " " in prefix and prefix[-1] in ".!?"


def _with_affixes(cite: _RenderedCite) -> list[Piece]:
    """Return a cite with the prefix and the suffix that the author wrote, even if the style shows nothing."""
    prefix = cite.cite.prefix
    if prefix and not prefix[-1].isspace() and prefix[-1] not in _OPENING:
        prefix += " "
    suffix = cite.cite.suffix
    if suffix and not suffix[0].isspace() and suffix[0] not in _CLOSING:
        suffix = f" {suffix}"
    return [*parse(prefix), *wrap_pieces(cite.pieces, "item", cite.cite.id), *parse(suffix)]


def _with_same_names_together(cites: list[_RenderedCite]) -> list[_RenderedCite]:
    """Return cites of the same names side by side, where the first of them stands."""
    by_names: dict[str, list[_RenderedCite]] = {}
    for cite in cites:
        by_names.setdefault(cite.names or cite.cite.id, []).append(cite)
    ordered: list[_RenderedCite] = []
    for group in by_names.values():
        ordered += group
    return ordered


def _split(
    cites: Iterable[_RenderedCite], continues: Callable[[_RenderedCite, _RenderedCite], bool]
) -> list[list[_RenderedCite]]:
    """Return the cites in parts; a part ends before a cite that does not continue the one before it."""
    parts: list[list[_RenderedCite]] = []
    for cite in cites:
        if parts and continues(parts[-1][-1], cite):
            parts[-1].append(cite)
        else:
            parts.append([cite])
    return parts


def _has_same_names(before: _RenderedCite, cite: _RenderedCite) -> bool:
    are_known = before.entry.is_known and cite.entry.is_known
    return are_known and folded(before.names) == folded(cite.names)


def _group_delimiter(document: Document) -> str:
    """Return what stands between the cites of a group.

    CSL 1.0.2 has a comma as the default; citeproc-js, which styles are written for, takes it only if
    names or years are collapsed in the text, not in notes.
    """
    area = document.sheet.citation
    default = area.delimiter
    if area.get("collapse") and not document.sheet.is_note:
        default = ", "
    return area.get("cite-group-delimiter", default)


def _collapse_group(document: Document, group: list[_RenderedCite]) -> list[_RenderedCite]:
    """Return cites of the same names with their own delimiter, and collapsed as far as the style wants.

    Collapsed cites show their names once, and their years once with ``year-suffix``.
    """
    if len(group) == 1:
        return group
    area = document.sheet.citation
    between = _group_delimiter(document)
    for cite in group[:-1]:
        cite.delimiter = between

    collapse = area.get("collapse")
    if collapse:
        group[-1].delimiter = area.get("after-collapse-delimiter", area.delimiter)
        for cite in group[1:]:
            cite.pieces = _render_cite(document, cite.cite, suppress_author=True)
    if collapse.startswith("year-suffix"):
        return _collapse_years(group, area, in_ranges=collapse == "year-suffix-ranged")
    return group


def _collapse_years(
    group: list[_RenderedCite], area: Area, *, in_ranges: bool
) -> list[_RenderedCite]:
    """Return cites of the same year as one year with several suffixes."""
    default = area.get("cite-group-delimiter", area.delimiter)
    delimiter = area.get("year-suffix-delimiter", default)
    collapsed: list[_RenderedCite] = []
    for of_year in _split(group, _only_suffix_differs):
        last_delimiter = of_year[-1].delimiter
        for cite in of_year[1:]:
            cite.pieces = [piece for piece in cite.pieces if _is_year_suffix(piece)]
        for cite in of_year[:-1]:
            cite.delimiter = delimiter
        collapsed += _with_ranges(of_year, _has_next_suffix) if in_ranges else of_year
        collapsed[-1].delimiter = last_delimiter
    return collapsed


def _year_text(cite: _RenderedCite) -> str:
    """Return what two cites share that differ in their year suffix alone."""
    rest = []
    for piece in cite.pieces:
        if not piece.has("part", "first-names") and not _is_year_suffix(piece):
            rest.append(piece)
    return plain_text(rest).strip(" ,.;:()")


def _only_suffix_differs(before: _RenderedCite, cite: _RenderedCite) -> bool:
    if not (before.is_bare and cite.is_bare):
        return False
    suffixes = (before.entry.listed.year_suffix, cite.entry.listed.year_suffix)
    return all(suffixes) and _year_text(before) == _year_text(cite)


def _has_next_suffix(before: _RenderedCite, cite: _RenderedCite) -> bool:
    """Return whether the letter of a cite is the one after that of the cite before."""
    return _rank(cite) == _rank(before) + 1


def _rank(cite: _RenderedCite) -> int:
    """Return the number of a year suffix, from 1: a to z, then aa and so on."""
    rank = 0
    for letter in cite.entry.listed.year_suffix:
        rank = rank * 26 + ord(letter) - ord("a") + 1
    return rank


def _with_ranges(
    cites: list[_RenderedCite], continues: Callable[[_RenderedCite, _RenderedCite], bool]
) -> list[_RenderedCite]:
    """Return the cites; of three or more that continue one another the first and the last, with a dash."""
    shown: list[_RenderedCite] = []
    for part in _split(cites, continues):
        if len(part) < _SHORTEST_RANGE:
            shown += part
        else:
            part[0].delimiter = "–"
            shown += [part[0], part[-1]]
    return shown


def _has_next_number(before: _RenderedCite, cite: _RenderedCite) -> bool:
    """Return whether the number of a cite is the one after that of the cite before."""
    shows_number = any(piece.has("role", "citation-number") for piece in before.pieces)
    are_bare = before.is_bare and cite.is_bare
    is_next = cite.entry.listed.number == before.entry.listed.number + 1
    return shows_number and are_bare and is_next
