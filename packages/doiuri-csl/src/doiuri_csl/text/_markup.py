"""Markup in the data: ``<i>``, ``<b>``, ``<sub>``, ``<sup>``, spans, quotation marks and apostrophes.

The tags are those that CSL-JSON allows in fields (citeproc-js, HTML-like formatting tags).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from doiuri_csl.text._pieces import Kind, Piece, Wrap, text_pieces

_TAG = re.compile(
    r"""
    < (?P<slash> /? ) (?P<name> i | b | sub | sup | sc | span )
    (?P<attributes> (?: \s [^<>]{0,200} )? ) >
    """,
    re.VERBOSE,
)
_FORMATS = {
    "i": ("font-style", "italic"),
    "b": ("font-weight", "bold"),
    "sub": ("vertical-align", "sub"),
    "sup": ("vertical-align", "sup"),
    "sc": ("font-variant", "small-caps"),
}
_OPENING = {'"': '"', "'": "'", "“": "”", "„": "“", "‘": "’"}
_BEFORE_OPENING = " \u00a0\u202f\n\t([{-–—/“‘«\"'"
_MARKS = re.compile("[\"'“”„‘’]")
_APOSTROPHES = ("'", "’")
_SUPERSCRIPT = re.compile(
    "["
    "ªº²³¹⁰⁴-⁹⁺⁻⁼⁽⁾ⁿⁱ"
    "ʰ-ʸˠ-ˤᴬ-ᴿᵀ-ᵂᵃ-ᵖᵗ-ᵛᵛ-ᵡᵸᶛ-ᶿ"  # letters
    "℠™"
    "㆒-㆟"  # annotations of Chinese in Japanese
    "ˀˁۥۦ"
    "]"
)
_UNRAISED = {"ˀ": "ʔ", "ˁ": "ʕ", "ۥ": "و", "ۦ": "ي"}  # those that Unicode does not decompose
_FRENCH_SPACE = re.compile("(?<=«) | (?=[;?!»])")
_SPECIAL = re.compile(
    f"<|{_MARKS.pattern}|{_SUPERSCRIPT.pattern}|{_FRENCH_SPACE.pattern}",
)

# No field of a work has more tags or quotation marks, or nests them deeper; those of a hostile one are text.
_MOST = 500
_DEEPEST = 20


def parse(text: str) -> list[Piece]:
    """Return the pieces of a field: its markup as wraps, its quotation marks as pieces of their own.

    'On <i>Bees</i>' is "On " and, in italics, "Bees"; tags and quotation marks without a partner are text.
    """
    if not _SPECIAL.search(text):
        return [Piece(text)] if text else []
    # The space that French has before these marks may not end a line; so do citeproc-js and pandoc
    text = _FRENCH_SPACE.sub("\u202f", text)
    pieces = _mark_quotes(_parse_tags(_raise_superscripts(text)))
    # All but the first go on in the field, so that no punctuation merges between them
    inner = [Piece(piece.text, piece.wraps, piece.kind, inner=True) for piece in pieces[1:]]
    return [*pieces[:1], *inner]


@lru_cache(maxsize=4096)
def affix_pieces(affix: str) -> tuple[Piece, ...]:
    """Return the pieces of a prefix or suffix, whose superscript characters are raised as those of fields are."""
    if not _SUPERSCRIPT.search(affix):
        return tuple(text_pieces(affix))
    return tuple(_parse_tags(_raise_superscripts(affix)))


def _raise_superscripts(text: str) -> str:
    """Return text with superscript characters as markup, so that every font has them."""
    return _SUPERSCRIPT.sub(_raised, text, count=_MOST // 10)


def _raised(superscript: re.Match[str]) -> str:
    """Return the characters that a superscript one stands for, in a tag."""
    # Such as "<super> 0054 004D" for "™"
    codes = unicodedata.decomposition(superscript[0]).split()[1:]
    characters = "".join(chr(int(code, 16)) for code in codes)
    characters = characters or _UNRAISED[superscript[0]]
    return f"<sup>{characters}</sup>"


def _format_of(name: str, attributes: str) -> tuple[str, str] | None:
    """Return the format of a start tag, such as ("font-style", "italic") of "<i>"; None if it has no meaning."""
    if name != "span":
        return _FORMATS[name]
    if "nocase" in attributes:
        return ("nocase", "true")
    if "nodecor" in attributes:
        return ("nodecor", "true")
    if "small-caps" in attributes:
        return ("font-variant", "small-caps")
    return None


def _tags_with_partner(text: str) -> list[re.Match[str]]:
    """Return the start tags and end tags that belong together, in the order of the text.

    An end tag belongs to the last start tag of its name that is open; tags that were opened after that are text,
    as the ``<b>`` of "<i>On <b>Bees</i>".
    """
    opened: list[re.Match[str]] = []
    count_of_opened: Counter[str] = Counter()
    matched: list[re.Match[str]] = []
    for tag in islice(_TAG.finditer(text), _MOST):
        name = tag["name"]
        if not tag["slash"]:
            if len(opened) < _DEEPEST:
                opened.append(tag)
                count_of_opened[name] += 1
            continue
        # An end tag whose name has no open start tag is text
        while count_of_opened[name]:
            start = opened.pop()
            count_of_opened[start["name"]] -= 1
            if start["name"] == name:
                matched += [start, tag]
                break
    return sorted(matched, key=re.Match.start)


def _parse_tags(text: str) -> list[Piece]:
    """Return a field as pieces, each in the formats of the tags around it: "On " and italic "Bees"."""
    pieces: list[Piece] = []
    # Of the tags that are open; None for one without a meaning, as a plain <span>
    wraps: list[Wrap | None] = []
    position = 0
    for tag in _tags_with_partner(text):
        pieces += _tagged_piece(text[position : tag.start()], wraps)
        position = tag.end()
        if tag["slash"]:
            wraps.pop()
            continue
        tag_format = _format_of(tag["name"], tag["attributes"])
        wrap = Wrap(*tag_format, toggle=True) if tag_format else None
        wraps.append(wrap)
    return pieces + _tagged_piece(text[position:], wraps)


def _tagged_piece(text: str, wraps: list[Wrap | None]) -> list[Piece]:
    """Return the text between two tags in the formats that are open there."""
    if not text:
        return []
    return [Piece(text, tuple(wrap for wrap in wraps if wrap is not None))]


def _opens_quote(mark: str, before: str, after: str) -> bool:
    """Return whether a mark may open a quotation between two characters, such as a space and a letter."""
    if mark in "“„":
        return True
    if not after.strip():
        return False
    return not before or (before in _BEFORE_OPENING and before != mark)


def _matching_marks(text: str) -> dict[int, Kind]:
    """Return the kinds of the quotation marks that have a partner, by their positions.

    In “The 'Bees' of '68”, the first two single marks are a quotation; the third one is an apostrophe.
    """
    kinds: dict[int, Kind] = {}
    opened: list[_OpenedQuote] = []
    for match in islice(_MARKS.finditer(text), _MOST):
        position = match.start()
        mark = match[0]
        before = text[position - 1 : position]
        after = text[position + 1 : position + 2]
        is_apostrophe = mark in _APOSTROPHES and before.isalnum() and after.isalnum()
        if is_apostrophe:
            continue

        is_expected = bool(opened) and mark == opened[-1].closing
        continues_word = mark in "'\"’" and after.isalnum()
        if is_expected and before.strip() and not continues_word:
            # It closes the quotation that was opened last
            kinds[opened.pop().position] = Kind.OPEN_QUOTE
            kinds[position] = Kind.CLOSE_QUOTE
        elif mark in _OPENING and _opens_quote(mark, before, after):
            # It has a kind once another mark closes it
            opened.append(_OpenedQuote(position, _OPENING[mark]))
            del opened[:-_DEEPEST]  # of marks that are too deep, the outermost stay text
        elif mark not in _APOSTROPHES and before.strip():
            # It may close a quotation below unfinished ones, which then were apostrophes
            closed = [index for index, quote in enumerate(opened) if quote.closing == mark]
            if closed:
                kinds[opened[closed[-1]].position] = Kind.OPEN_QUOTE
                kinds[position] = Kind.CLOSE_QUOTE
                del opened[closed[-1] :]
    return kinds


class _OpenedQuote(NamedTuple):
    """A mark that may begin a quotation."""

    position: int
    """Where it stands in the field."""

    closing: str
    """The mark that would close the quotation."""


def _mark_quotes(pieces: list[Piece]) -> list[Piece]:
    """Return pieces split at quotation marks that have a partner; other single marks become apostrophes."""
    text = "".join(piece.text for piece in pieces)
    kinds = _matching_marks(text)
    marked: list[Piece] = []
    start = 0
    for piece in pieces:
        marked.extend(_split_at_quotes(piece, start, kinds))
        start += len(piece.text)
    return marked


def _split_at_quotes(piece: Piece, start: int, kinds: dict[int, Kind]) -> list[Piece]:
    """Return a piece as text and quotation marks.

    :param start: where the piece begins in the field
    :param kinds: the kinds of the marks that have a partner, by their positions in the field
    """
    parts: list[Piece] = []
    end = 0  # of the mark before
    for index, character in enumerate(piece.text):
        kind = kinds.get(start + index)
        if kind is None:
            continue
        parts.append(Piece(_with_apostrophes(piece.text[end:index]), piece.wraps))
        end = index + 1
        # Straight marks get the shapes of the language; marks of another language stay as they were typed
        typed = "" if character in "'\"" else character
        parts.append(Piece(typed, piece.wraps, kind))
    parts.append(Piece(_with_apostrophes(piece.text[end:]), piece.wraps))
    return [part for part in parts if part.text or part.kind is not Kind.TEXT]


def _with_apostrophes(text: str) -> str:
    return text.replace("'", "’")
