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
_NO_FORMAT = ("normal", "none", "baseline")
_MARKS = ".,:;?!"
_STAYS_OUT_OF_QUOTE = ":;"
_SPACES = " \u00a0\u202f\u2009"


def finish(pieces: list[Piece], marks: QuoteMarks, *, into_quotes: bool) -> list[Piece]:
    """Return the pieces of a whole citation or entry, joined, and with quotation marks.

    1. Where two pieces meet, spaces become one, and so do marks: "Who?" and "." are "Who?".
    2. Full stops and commas move into quotation marks if the language has them there: “Bees,”.
    3. Quotation marks get their shapes: “…” outside, ‘…’ inside.

    :param into_quotes: whether 2 is done (CSL 1.0.2, Locale Options, ``punctuation-in-quote``)
    """
    joined: list[Piece] = []
    for piece in pieces:
        is_text = piece.kind is Kind.TEXT
        if is_text and not piece.text:
            continue
        # Inside of one field the author chose the marks: "Who<i>?</i>." keeps both
        if is_text and not piece.inner:
            _append_merged(joined, piece, into_quotes)
        else:
            joined.append(piece)
    return _draw_quotes(joined, marks)


class QuoteMarks(NamedTuple):
    """The quotation marks of a locale: of quotations, and of those inside of them."""

    opening: tuple[str, str]
    closing: tuple[str, str]


def _last_text(pieces: list[Piece]) -> int:
    """Return the index of the last piece that shows text; -1 if there is none, or a quotation begins after it."""
    for index in range(len(pieces) - 1, -1, -1):
        if pieces[index].kind is Kind.TEXT and pieces[index].text:
            return index
        if pieces[index].kind is Kind.OPEN_QUOTE:
            return -1
    return -1


def _append_merged(done: list[Piece], piece: Piece, into_quotes: bool) -> None:
    """Append a piece of text; its start and the end of what is done become one where they are spaces or marks.

    After "Who?", ". In" is appended as " In"; after "Bees:", "? In" as it is, and the colon goes.
    """
    text = piece.text
    while text:
        # At the start of all or of a quotation, there is nothing to merge with
        index = _last_text(done)
        if index < 0:
            break
        if index < len(done) - 1:  # closing quotation marks stand between
            text = _merge_at_quote(done, index, piece, into_quotes, text)
            break
        last = done[index].text[-1]
        if text[0] in _SPACES and last in _SPACES:
            text = text.lstrip(_SPACES)
            continue

        merged = _MERGED.get(last + text[0])
        if merged is None:
            break
        if merged == last:
            text = text[1:]
            break
        # The first character of the text stands for both
        shortened = done[index].text[:-1]
        if shortened:
            done[index] = done[index].with_text(shortened)
            break
        # The piece was that mark alone, so the text meets the piece before
        del done[index]

    if text:
        done.append(piece.with_text(text))


def _merge_at_quote(
    done: list[Piece], index: int, piece: Piece, into_quotes: bool, text: str
) -> str:
    """Merge a mark at the start of a text with what closing quotation marks end, and return the rest of the text.

    “Who?” and ". In": nothing is left of the full stop. “Bees” and ". In": it moves into the quotation marks, or
    stays in the text, as the language has it.

    :param done: what stands before; changed if the mark moves into it
    :param index: which piece of it is the last text, before the closing marks
    :param piece: the piece of the text
    """
    mark = text[0]
    if mark not in _MARKS:
        return text
    last = done[index].text[-1]
    if not into_quotes or mark in _STAYS_OUT_OF_QUOTE:
        return _without_merged(last, text)

    merged = _MERGED.get(last + mark)
    position = _position_in_quotes(done, index, piece)
    # Some closing marks are of quotations that the mark does not move into, as one inside of a title in italics
    follows_quote = position > index + 1
    if follows_quote and merged != last:
        if position == len(done):
            return text  # it may not move into any quotation
        # Into the outer quotation only
        done.insert(position, Piece(mark, done[position].wraps, inner=True))
        return _without_merged(mark, text[1:])

    # Inside all the marks, beside the text
    if merged is not None:
        done[index] = done[index].with_text(done[index].text[:-1] + merged)
        return _without_merged(merged, text[1:])
    # The mark is the style's, so it does not look like the data before it.
    wraps = tuple(wrap for wrap in done[index].wraps if not wrap.toggle)
    done.insert(index + 1, Piece(mark, wraps, inner=True))
    return _without_merged(mark, text[1:])


def _position_in_quotes(done: list[Piece], index: int, piece: Piece) -> int:
    """Return the index at which a mark of a piece goes in: before the closing marks at the end.

    Not into a quotation inside of a title in italics: neither citeproc-js nor pandoc moves a mark there.

    :param index: that of the text before the closing marks
    """
    position = len(done)
    while position > index + 1 and _is_around(done[position - 1], piece):
        position -= 1
    return position


def _is_around(quote: Piece, piece: Piece) -> bool:
    """Return whether a quotation mark is the style's, or in no format that the piece is not in too."""
    if not quote.inner:
        return True
    for wrap in quote.wraps:
        is_format = wrap.kind in _FORMATS and wrap.value not in _NO_FORMAT and not wrap.toggle
        if is_format and wrap not in piece.wraps:
            return False
    return True


def _without_merged(last: str, text: str) -> str:
    """Return text without the marks at its start that a mark before it stands for: ". In" after "?" is " In"."""
    start = 0
    while start < len(text) and _MERGED.get(last + text[start]) == last:
        start += 1
    return text[start:]


def _draw_quotes(pieces: list[Piece], marks: QuoteMarks) -> list[Piece]:
    """Return the pieces with quotation marks in the shapes of their depths: “…”, in these ‘…’, then “…” again.

    Marks that were typed in the shape of another language stay.
    """
    drawn: list[Piece] = []
    depths: list[int] = []
    for piece in pieces:
        if _is_of_other_language(piece, marks):
            drawn.append(Piece(piece.text, piece.wraps))
        elif piece.kind is Kind.OPEN_QUOTE:
            # Outside of others, single marks stay single if they were typed so
            is_single = piece.text == "‘" and marks.opening[1] == "‘"
            outermost = 1 if is_single else 0
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
    marks_of_language = marks.opening if piece.kind is Kind.OPEN_QUOTE else marks.closing
    return piece.text not in marks_of_language
