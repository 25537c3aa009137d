"""Markup in the data: ``<i>``, ``<b>``, ``<sub>``, ``<sup>``, spans, quotation marks and apostrophes.

The tags are those that CSL-JSON allows in fields (citeproc-js, HTML-like formatting tags).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import islice

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
    """Return the pieces of a field: its markup as wraps, its quotation marks as pieces of their own."""
    if not _SPECIAL.search(text):
        return [Piece(text)] if text else []
    # The space that French has before these marks may not end a line; so do citeproc-js and pandoc
    text = _FRENCH_SPACE.sub("\u202f", text)
    pieces = _mark_quotes(_parse_tags(_raise_superscripts(text)))
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
    """Return the format that a start tag asks for, or None if it asks for none."""
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
    """Return the start tags and end tags that belong together; others are text."""
    waiting: list[re.Match[str]] = []
    names: Counter[str] = Counter()
    matched: list[re.Match[str]] = []
    for tag in islice(_TAG.finditer(text), _MOST):
        name = tag["name"]
        if not tag["slash"]:
            if len(waiting) < _DEEPEST:
                waiting.append(tag)
                names[name] += 1
            continue
        while names[name]:
            start = waiting.pop()
            names[start["name"]] -= 1
            if start["name"] == name:
                matched += [start, tag]
                break
    return sorted(matched, key=re.Match.start)


def _parse_tags(text: str) -> list[Piece]:
    """Return a field as pieces, each in the formats of the tags around it."""
    pieces: list[Piece] = []
    wraps: list[Wrap | None] = []
    position = 0
    for tag in _tags_with_partner(text):
        pieces += _tagged_piece(text[position : tag.start()], wraps)
        position = tag.end()
        if tag["slash"]:
            wraps.pop()
            continue
        wanted = _format_of(tag["name"], tag["attributes"])
        wrap = Wrap(*wanted, toggle=True) if wanted else None
        wraps.append(wrap)
    return pieces + _tagged_piece(text[position:], wraps)


def _tagged_piece(text: str, wraps: list[Wrap | None]) -> list[Piece]:
    """Return the text between two tags in the formats that are open there."""
    if not text:
        return []
    return [Piece(text, tuple(wrap for wrap in wraps if wrap is not None))]


def _opens_quote(mark: str, before: str, after: str) -> bool:
    """Return whether a mark may open a quotation between two characters."""
    if mark in "“„":
        return True
    if not after.strip():
        return False
    return not before or (before in _BEFORE_OPENING and before != mark)


def _matching_marks(text: str) -> dict[int, Kind]:
    """Return the kinds of the quotation marks that have a partner, by their positions."""
    pairs: dict[int, Kind] = {}
    waiting: list[tuple[int, str]] = []
    for match in islice(_MARKS.finditer(text), _MOST):
        position = match.start()
        mark = match[0]
        before = text[position - 1 : position]
        after = text[position + 1 : position + 2]
        is_apostrophe = mark in _APOSTROPHES and before.isalnum() and after.isalnum()
        if is_apostrophe:
            continue
        closes = bool(waiting) and mark == waiting[-1][1]
        goes_on = mark in "'\"’" and after.isalnum()
        if closes and before.strip() and not goes_on:
            opened, _ = waiting.pop()
            pairs[opened] = Kind.OPEN_QUOTE
            pairs[position] = Kind.CLOSE_QUOTE
        elif mark in _OPENING and _opens_quote(mark, before, after):
            waiting.append((position, _OPENING[mark]))
            del waiting[:-_DEEPEST]
        elif mark not in _APOSTROPHES and before.strip():
            _close_earlier(waiting, mark, position, pairs)
    return pairs


def _close_earlier(
    waiting: list[tuple[int, str]], mark: str, position: int, pairs: dict[int, Kind]
) -> None:
    """Close a quotation below unfinished ones, which then were apostrophes."""
    for index in reversed(range(len(waiting))):
        if waiting[index][1] == mark:
            pairs[waiting[index][0]] = Kind.OPEN_QUOTE
            pairs[position] = Kind.CLOSE_QUOTE
            del waiting[index:]
            return


def _mark_quotes(pieces: list[Piece]) -> list[Piece]:
    """Return pieces split at quotation marks that have a partner; other single marks become apostrophes."""
    text = "".join(piece.text for piece in pieces)
    pairs = _matching_marks(text)
    marked: list[Piece] = []
    start = 0
    for piece in pieces:
        marked.extend(_split_at_quotes(piece, start, pairs))
        start += len(piece.text)
    return marked


def _split_at_quotes(piece: Piece, start: int, pairs: dict[int, Kind]) -> list[Piece]:
    """Return the parts of a piece that begins at ``start`` of the field."""
    parts: list[Piece] = []
    pending: list[str] = []
    for index, character in enumerate(piece.text):
        kind = pairs.get(start + index)
        if kind is None:
            pending.append(character)
            continue
        if pending:
            parts.append(Piece(_with_apostrophes(pending), piece.wraps))
            pending.clear()
        typed = "" if character in "'\"" else character
        parts.append(Piece(typed, piece.wraps, kind))
    if pending:
        parts.append(Piece(_with_apostrophes(pending), piece.wraps))
    return parts


def _with_apostrophes(characters: list[str]) -> str:
    return "".join(characters).replace("'", "’")
