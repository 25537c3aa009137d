"""Joining: punctuation and spaces where pieces meet, and the shapes of quotation marks."""

from __future__ import annotations

from typing import NamedTuple

from doiuri_csl.text._pieces import Kind, Piece

# What two marks become where they meet; a pair that is not named keeps both. The specification leaves
# this to processors; the pairs are those of citeproc-js, which styles are written for.
_MERGED = {
    "!.": "!", "!:": "!", "!!": "!",
    "?.": "?", "?:": "?", "??": "?",
    "..": ".",
    ":!": "!", ":?": "?", ":.": ":", "::": ":",
    ",,": ",",
    ";!": "!", ";?": "?", ";:": ";", ";.": ";", ";;": ";",
}  # fmt: skip
_FORMATS = ("font-style", "font-variant", "font-weight", "text-decoration", "vertical-align")
_MARKS = ".,:;?!"
_STAYS_OUT_OF_QUOTE = ":;"
_SPACES = " \u00a0\u202f\u2009"


def finish(pieces: list[Piece], marks: QuoteMarks, *, into_quotes: bool) -> list[Piece]:
    """Return the pieces of a whole citation or entry, joined, and with quotation marks.

    :param into_quotes: whether full stops and commas move into quotation marks (CSL 1.0.2, Locale Options)
    """
    shown = [piece for piece in pieces if piece.text or piece.kind is not Kind.TEXT]
    return _draw_quotes(_merge_joints(shown, into_quotes), marks)


class QuoteMarks(NamedTuple):
    """The quotation marks of a locale: of quotations, and of those inside of them."""

    opening: tuple[str, str]
    closing: tuple[str, str]


def _last_text(pieces: list[Piece]) -> int:
    """Return the index of the last piece that shows text, or -1."""
    for index in range(len(pieces) - 1, -1, -1):
        if pieces[index].kind is Kind.TEXT and pieces[index].text:
            return index
        if pieces[index].kind is Kind.OPEN_QUOTE:
            return -1
    return -1


def _merge_joints(pieces: list[Piece], into_quotes: bool) -> list[Piece]:
    """Merge marks and drop doubled spaces where two pieces meet."""
    done: list[Piece] = []
    for piece in pieces:
        if piece.kind is not Kind.TEXT or piece.inner:
            done.append(piece)
            continue
        text = _merge_into(done, piece, piece.text, into_quotes)
        if text == piece.text:
            done.append(piece)
        elif text:
            done.append(piece.with_text(text))
    return done


def _merge_into(done: list[Piece], piece: Piece, text: str, into_quotes: bool) -> str:
    """Merge the start of a piece's text with the end of what is done, and return the rest of the text."""
    index = _last_text(done)
    if index < 0:
        return text
    crosses_quote = index < len(done) - 1
    last = done[index].text[-1]
    first = text[0]
    if first in _SPACES and last in _SPACES and not crosses_quote:
        rest = text.lstrip(_SPACES)
        return _merge_into(done, piece, rest, into_quotes) if rest else ""
    merged = _MERGED.get(last + first)
    if crosses_quote:
        return _merge_at_quote(done, index, piece, text, into_quotes)
    if merged is None:
        return text
    if merged == last:
        return text[1:]
    shortened = done[index].text[:-1]
    if shortened:
        done[index] = done[index].with_text(shortened)
        return text
    del done[index]
    return _merge_into(done, piece, text, into_quotes)


def _merge_at_quote(
    done: list[Piece], index: int, piece: Piece, text: str, into_quotes: bool
) -> str:
    """Merge a mark with the end of the text at ``index``, which closing quotation marks follow.

    Return the rest of the text.
    """
    mark = text[0]
    if mark not in _MARKS:
        return text
    if not into_quotes or mark in _STAYS_OUT_OF_QUOTE:
        return _without_merged(done[index].text[-1], text)

    last = done[index].text[-1]
    merged = _MERGED.get(last + mark)
    place = _place_in_quotes(done, index, piece)
    is_behind_some = place > index + 1
    if is_behind_some and merged != last:
        if place == len(done):
            return text
        done.insert(place, Piece(mark, done[place].wraps, inner=True))
        return _without_merged(mark, text[1:])
    if merged is not None:
        done[index] = done[index].with_text(done[index].text[:-1] + merged)
        return _without_merged(merged, text[1:])
    # The mark is the style's, so it does not look like the data before it.
    wraps = tuple(wrap for wrap in done[index].wraps if not wrap.toggle)
    done.insert(index + 1, Piece(mark, wraps, inner=True))
    return _without_merged(mark, text[1:])


def _place_in_quotes(done: list[Piece], index: int, piece: Piece) -> int:
    """Return where a mark of a piece goes: before the closing marks at the end that look like the piece.

    Not into a quotation inside of a title in italics: neither citeproc-js nor pandoc moves a mark there.
    """
    place = len(done)
    while place > index + 1 and _is_around(done[place - 1], piece):
        place -= 1
    return place


def _is_around(quote: Piece, piece: Piece) -> bool:
    """Return whether a quotation mark is the style's, or in no format that the piece is not in too."""
    if not quote.inner:
        return True
    formats = [wrap for wrap in quote.wraps if wrap.kind in _FORMATS and not wrap.toggle]
    return all(wrap in piece.wraps for wrap in formats)


def _without_merged(last: str, text: str) -> str:
    """Return text without the marks at its start that a mark before them stands for."""
    start = 0
    while start < len(text) and _MERGED.get(last + text[start]) == last:
        start += 1
    return text[start:]


def _draw_quotes(pieces: list[Piece], marks: QuoteMarks) -> list[Piece]:
    """Give every quotation mark the shape of its depth.

    Marks that were typed in the shape of another language stay.
    """
    drawn: list[Piece] = []
    depths: list[int] = []
    for piece in pieces:
        if _is_of_other_language(piece, marks):
            drawn.append(Piece(piece.text, piece.wraps))
        elif piece.kind is Kind.OPEN_QUOTE:
            # Outside of others, single marks stay single if they were typed so
            outermost = int(piece.text == "‘" == marks.opening[1])
            depth = depths[-1] + 1 if depths else outermost
            depths.append(depth)
            drawn.append(Piece(marks.opening[depth % 2], piece.wraps))
        elif piece.kind is Kind.CLOSE_QUOTE:
            depth = depths.pop() if depths else 0
            drawn.append(Piece(marks.closing[depth % 2], piece.wraps))
        else:
            drawn.append(piece)
    return drawn


def _is_of_other_language(piece: Piece, marks: QuoteMarks) -> bool:
    """Return whether a quotation mark was typed in a shape that the language does not have."""
    if piece.kind is Kind.TEXT or not piece.text:
        return False
    own = marks.opening if piece.kind is Kind.OPEN_QUOTE else marks.closing
    return piece.text not in own
