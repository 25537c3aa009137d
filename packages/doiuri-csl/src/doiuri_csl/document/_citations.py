"""Citations: from the cites of one citation to its text (CSL 1.0.2, Citation-specific Options).

Rendering one cite is the business of the style's elements; here cites become a citation:

1. ``sort_citation`` puts them in the order of the style.
2. ``render_citation`` parts names in a sentence, "Doe and Bo", from cites in the style's layout.
3. Each of these is rendered by itself, "Doe 2001a", and knows its names and the delimiter that follows it.
4. ``_collapsed`` groups cites of the same names, and shortens them as the style wants: "Doe 2001a, b"
   (``_collapse_group``), "1–3" (``_with_ranges``).
5. ``_joined`` adds the delimiters, and the prefixes and suffixes of the author: "see Doe 2001a, b; Roe 1999".
6. The layout adds its brackets and formats: "(see Doe 2001a, b; Roe 1999)".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, groupby
from typing import TYPE_CHECKING

from doiuri_csl._context import Cite, CitedItem, Context
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

# After these, and before these, text of the author's stands without a space
_OPENING = re.compile(
    r"""
    (?: [\s([\-–—/‘“’']
    |   (?<! [^\s(\[] ) "       # not at the end of a quotation: he wrote "It is so."
    ) \Z
    """,
    re.VERBOSE,
)
_CLOSING = ".,;:!?)]’”"

# Names in a sentence for styles whose citations have none: "Kahn and Wilensky", "Kahn et al."
_IN_SENTENCE = NameStyle(
    {"name-form": "short", "and": "text", "et-al-min": "3", "et-al-use-first": "1"}
)
_FIRST_ROLES = ("author", "editor", "translator", "director", "compiler", "container-author")


@dataclass
class _RenderedCite:
    """A cite, what it renders to, and the delimiter that follows it. Collapsing changes the last two."""

    cite: Cite
    cited_item: CitedItem
    pieces: list[Piece]

    names: str
    """The text of its first names, even if they are not shown: cites with the same text form a group."""

    delimiter: str

    @property
    def is_bare(self) -> bool:
        """Whether the author of the text added nothing, so that the cite may become part of a range."""
        cite = self.cite
        # Many numeric styles show no locators: "1–3", not "1,2,3"
        shows_locator = cite.locator and any(piece.has("role", "locator") for piece in self.pieces)
        # An unknown item shows its id, which is not part of any row of numbers
        return self.cited_item.is_known and not (shows_locator or cite.prefix or cite.suffix)


def sort_citation(document: Document, cites: Sequence[Cite]) -> list[Cite]:
    """Return the cites of a citation in the order of the style; names in a sentence stay before the others."""
    area = document.sheet.citation
    if len(cites) < 2 or not area.sort_keys:
        return list(cites)
    ordered: list[Cite] = []
    for _, group in groupby(cites, lambda cite: cite.author_only):
        ordered += document.sort(list(group), area)  # each group by itself
    return ordered


def render_citation(document: Document, cites: Sequence[Cite]) -> list[Piece]:
    """Return a citation: "(Doe 2001; Roe 1999)", or with names in a sentence, "Doe (2001)".

    :param cites: the cites in their order, as ``sort_citation`` returns them
    """
    # Superscripts follow a word without a space
    is_raised = ("vertical-align", "sup") in document.sheet.citation.appearance.formats
    pieces: list[Piece] = []
    for is_in_sentence, group in groupby(cites, lambda cite: cite.author_only):
        render = _names_in_sentence if is_in_sentence else _in_layout
        part = render(document, list(group))
        if pieces and part and not is_raised:
            pieces.append(Piece(" "))
        pieces += part
    return pieces


def _names_in_sentence(document: Document, cites: list[Cite]) -> list[Piece]:
    """Return the names of cites for a sentence of the text, without the brackets of the layout.

    "Doe and Roe" for one cite, with "and" even if the style has "&"; for two, the delimiter of the layout stands
    between them: "Doe and Roe; Li". A cite whose text has no names shows those of ``_default_names``.
    """
    area = document.sheet.citation
    rendered = []
    for cite in cites:
        context = document.context(cite, area)
        context.in_sentence = True
        # The whole cite is rendered, "Doe and Roe, 2001", and all but its first names is left out
        pieces = _with_part(render_elements(document, context), "first-names")
        if not pieces:
            pieces = _default_names(document, cite)
        rendered.append(_with_group_names(document, cite, pieces))
    return _joined(rendered)


def _default_names(document: Document, cite: Cite) -> list[Piece]:
    """Return names for a style whose citations show none, such as a numeric one: "Doe and Roe".

    Those of the first role that the item has; of an item without names, its title, and without a title its id.
    """
    context = document.context(cite, document.sheet.citation)
    context.in_sentence = True
    item = context.item
    for variable in _FIRST_ROLES:
        if variable in item:
            options = _IN_SENTENCE.options(context)
            names = NameList(_IN_SENTENCE, options, context, variable, item[variable])
            return wrap_pieces(names.write(), "role", variable)

    title = parse(item.get("title", ""))
    if not title:
        return [Piece(str(item["id"]))]
    if "container-title" in item:
        title = quote_pieces(title)  # it is part of another work, as a chapter or an article
    else:
        title = wrap_pieces(title, "font-style", "italic")
    return wrap_pieces(title, "role", "title")


def render_elements(document: Document, context: Context) -> list[Piece]:
    """Return what the elements of ``<citation>`` render to in a context; of an unknown item, its id."""
    if not context.cited_item.is_known:
        return [Piece(context.cited_item.id)]
    return render_sequence(document.sheet.citation.elements, context).pieces


def _render_cite(document: Document, cite: Cite, *, suppress_author: bool = False) -> list[Piece]:
    """Return a cite without the author's prefix and suffix: "Doe 2001, p. 5", or "2001, p. 5" without names."""
    context = document.context(cite, document.sheet.citation)
    context.suppress_author = suppress_author
    return render_elements(document, context)


def _with_part(pieces: list[Piece], part: str) -> list[Piece]:
    return [piece for piece in pieces if piece.has("part", part)]


def _is_year_suffix(piece: Piece) -> bool:
    return piece.has("role", "year-suffix")


def _in_layout(document: Document, cites: list[Cite]) -> list[Piece]:
    """Return cites as the style's ``<layout>`` has them: "(Doe 2001; Roe 1999)", "[1–3]"; "Ibid." in notes."""
    area = document.sheet.citation
    rendered = []
    for index, cite in enumerate(cites):
        pieces = _render_cite(document, cite, suppress_author=cite.suppress_author)
        if document.sheet.is_note and _starts_sentence(cite, is_first=index == 0):
            pieces = capitalize_term(pieces, document.terms.lang)
        rendered.append(_with_group_names(document, cite, pieces))

    joined = _joined(_collapsed(document, rendered))
    if not joined:
        return []
    # The formats of a layout include its affixes: the brackets of a raised number are raised too.
    appearance = area.appearance
    with_affixes = appearance.affix(joined)
    # The context of the first cite decides on the language, if the layout has a text case
    return appearance.without_affixes.apply(with_affixes, document.context(cites[0], area))


def _starts_sentence(cite: Cite, *, is_first: bool) -> bool:
    """Return whether a cite begins a sentence of its note, so that "ibid." becomes "Ibid.".

    The first cite does if it has no prefix; any cite does after a prefix that is a sentence: "As is well known."
    """
    prefix = cite.prefix.strip().rstrip("\"'”’")  # as of 'He wrote "It is so."'
    if not prefix:
        return is_first
    # A single word with a period is an abbreviation: "cf. ibid."
    return " " in prefix and prefix[-1] in ".!?"


def _with_group_names(document: Document, cite: Cite, pieces: list[Piece]) -> _RenderedCite:
    """Return a cite with its rendered pieces, and with the names by which cites are grouped: "Doe and Roe"."""
    with_names = pieces
    if cite.suppress_author:
        # The cite "2001" without its names still stands in the group of "Doe 2000"
        with_names = _render_cite(document, cite)
    names = plain_text(_with_part(with_names, "first-names"))
    delimiter = document.sheet.citation.delimiter
    return _RenderedCite(cite, document.cited_item(cite.id), pieces, names, delimiter)


def _joined(cites: list[_RenderedCite]) -> list[Piece]:
    """Return the cites with the prefixes and suffixes of the author, and the delimiters between them.

    "see Doe 2001; Roe 1999, passim": the author's own punctuation beside a cite takes the delimiter's place.
    """
    joined: list[Piece] = []
    delimiter = ""
    for rendered in cites:
        pieces = _with_affixes(rendered)
        if not pieces:
            continue
        prefix = rendered.cite.prefix
        if joined and not prefix.startswith((",", ".", ";", ":")):
            joined.extend(text_pieces(delimiter))
        joined.extend(pieces)

        # After a suffix such as "see also Roe;" only a space follows
        suffix = rendered.cite.suffix.rstrip()
        delimiter = " " if suffix.endswith((",", ";", ":")) else rendered.delimiter
    return joined


def _with_affixes(rendered: _RenderedCite) -> list[Piece]:
    """Return a cite with the prefix and the suffix of the author, even if the style shows nothing else.

    A space stands between them and the cite if the author wrote none: "see Doe 2001 and others", but "(Doe 2001)".
    """
    prefix = rendered.cite.prefix
    if prefix and not _OPENING.search(prefix):
        prefix += " "
    suffix = rendered.cite.suffix
    if suffix and not suffix[0].isspace() and suffix[0] not in _CLOSING:
        suffix = f" {suffix}"
    cite_pieces = wrap_pieces(rendered.pieces, "item", rendered.cite.id)
    return [*parse(prefix), *cite_pieces, *parse(suffix)]


# Collapsing and grouping (CSL 1.0.2, Cite Grouping, Cite Collapsing)


def _collapsed(document: Document, cites: list[_RenderedCite]) -> list[_RenderedCite]:
    """Return the cites to show: those of a group together, and shortened as ``collapse`` says.

    "citation-number": "1–3, 5". "year": "Doe 2000, 2001". "year-suffix": "Doe 2000a, b".
    "year-suffix-ranged": "Doe 2000a–c". A style without ``collapse`` may still group cites by their names.
    """
    area = document.sheet.citation
    collapse = area.get("collapse")
    if collapse == "citation-number":
        return _with_ranges(cites, _has_next_number)
    if not collapse and "cite-group-delimiter" not in area.attributes:
        return cites

    # As citeproc-js does: cites that the author has put in order stay there.
    if area.sort_keys:
        cites = _with_same_names_together(cites)
    collapsed: list[_RenderedCite] = []
    for group in _split(cites, _has_same_names):
        collapsed += _collapse_group(document, group)
    return collapsed


def _with_same_names_together(cites: list[_RenderedCite]) -> list[_RenderedCite]:
    """Return the cites of the same names side by side: Doe, Roe, Doe becomes Doe, Doe, Roe."""
    by_names: dict[str, list[_RenderedCite]] = {}
    for cite in cites:
        # Two items without names have no author in common, so they are not gathered
        by_names.setdefault(cite.names or cite.cite.id, []).append(cite)
    return list(chain.from_iterable(by_names.values()))


def _split(
    cites: Iterable[_RenderedCite], continues: Callable[[_RenderedCite, _RenderedCite], bool]
) -> list[list[_RenderedCite]]:
    """Return the cites in groups of neighbours.

    :param continues: whether the second of two neighbours belongs to the group of the first
    """
    groups: list[list[_RenderedCite]] = []
    for cite in cites:
        if groups and continues(groups[-1][-1], cite):
            groups[-1].append(cite)
        else:
            groups.append([cite])
    return groups


def _has_same_names(before: _RenderedCite, cite: _RenderedCite) -> bool:
    are_known = before.cited_item.is_known and cite.cited_item.is_known
    return are_known and folded(before.names) == folded(cite.names)


def _collapse_group(document: Document, group: list[_RenderedCite]) -> list[_RenderedCite]:
    """Return the cites of the same names to show, with the delimiters of a group between them.

    If the style collapses, all but the first lose their names: "Doe 2000, 2001" of "Doe 2000" and "Doe 2001".
    """
    if len(group) == 1:
        return group
    area = document.sheet.citation
    # Not of the last cite: what follows it stands between groups
    delimiter = _group_delimiter(document)
    for cite in group[:-1]:
        cite.delimiter = delimiter

    # A style with "cite-group-delimiter" and without "collapse" repeats the names: "Doe 2000, Doe 2001"
    collapse = area.get("collapse")
    if collapse:
        group[-1].delimiter = area.get("after-collapse-delimiter", area.delimiter)
        for cite in group[1:]:
            cite.pieces = _render_cite(document, cite.cite, suppress_author=True)
    if collapse.startswith("year-suffix"):
        return _collapse_years(group, area, in_ranges=collapse == "year-suffix-ranged")
    return group


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


def _collapse_years(
    group: list[_RenderedCite], area: Area, *, in_ranges: bool
) -> list[_RenderedCite]:
    """Return the cites of a group to show: "Doe 2000a, b; 2001" of "Doe 2000a", "2000b" and "2001".

    Here ``year-suffix-delimiter`` is ", " and ``cite-group-delimiter`` is "; ". The cites of a year are changed in
    place: all but the first keep only their letters.

    :param in_ranges: whether three letters or more become a range: "2000a–c" in place of "2000a, b, c"
    """
    default = area.get("cite-group-delimiter", area.delimiter)
    delimiter = area.get("year-suffix-delimiter", default)
    collapsed: list[_RenderedCite] = []
    for of_year in _split(group, _only_suffix_differs):
        # "2000b" becomes "b"
        for cite in of_year[1:]:
            cite.pieces = [piece for piece in cite.pieces if _is_year_suffix(piece)]
        # Between the letters; what follows the last one stands between years or groups
        for cite in of_year[:-1]:
            cite.delimiter = delimiter
        collapsed += _with_ranges(of_year, _has_next_suffix) if in_ranges else of_year
    return collapsed


def _only_suffix_differs(before: _RenderedCite, cite: _RenderedCite) -> bool:
    """Return whether two cites of a group are alike but for their letters, as "Doe 2000a" and "2000b" are."""
    if not (before.is_bare and cite.is_bare):
        return False
    suffixes = (before.cited_item.listed.year_suffix, cite.cited_item.listed.year_suffix)
    return all(suffixes) and _year_text(before) == _year_text(cite)


def _year_text(cite: _RenderedCite) -> str:
    """Return a cite without its names and its letter: "2000" of "Doe, 2000a"."""
    rest = []
    for piece in cite.pieces:
        if not piece.has("part", "first-names") and not _is_year_suffix(piece):
            rest.append(piece)
    # The comma of "Doe, 2000a" is left; the next cite of the group, "2000b", was rendered without names
    return plain_text(rest).strip(" ,.;:()")


def _with_ranges(
    cites: list[_RenderedCite], continues: Callable[[_RenderedCite, _RenderedCite], bool]
) -> list[_RenderedCite]:
    """Return the cites to show: "1–3, 5, 6" of 1, 2, 3, 5 and 6.

    :param continues: whether the number or letter of the second of two neighbours is the next one
    """
    kept: list[_RenderedCite] = []
    for run in _split(cites, continues):
        if len(run) < _SHORTEST_RANGE:
            kept += run
        else:
            # Those between the first and the last are not shown
            run[0].delimiter = "–"
            kept += [run[0], run[-1]]
    return kept


def _has_next_number(before: _RenderedCite, cite: _RenderedCite) -> bool:
    """Return whether the number of a cite is the one after that of the cite before."""
    shows_number = any(piece.has("role", "citation-number") for piece in before.pieces)
    are_bare = before.is_bare and cite.is_bare
    is_next = cite.cited_item.listed.number == before.cited_item.listed.number + 1
    return shows_number and are_bare and is_next


def _has_next_suffix(before: _RenderedCite, cite: _RenderedCite) -> bool:
    """Return whether the letter of a cite is the one after that of the cite before."""
    return _rank(cite) == _rank(before) + 1


def _rank(cite: _RenderedCite) -> int:
    """Return the number of a year suffix, from 1: a to z, then aa, ab and so on."""
    rank = 0
    for letter in cite.cited_item.listed.year_suffix:
        rank = rank * 26 + ord(letter) - ord("a") + 1
    return rank
