"""Joining: punctuation and spaces where pieces meet, and the shapes of quotation marks."""

from __future__ import annotations

from typing import NamedTuple

from doiuri_csl.text._pieces import Kind, Piece, Wrap

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
    text = _merge(done, piece, into_quotes)
    if text:
        done.append(piece.with_text(text))


def _merge(done: list[Piece], piece: Piece, into_quotes: bool) -> str:
    """Return what a piece still shows after what is done, which loses its last mark if the piece's stands for it.

    " In" of ". In" after "Who?"; all of "? In" after "Bees:", of which "Bees" is left.
    """
    text = piece.text
    index = _last_text(done)
    if index < 0:  # the start of all or of a quotation
        return text
    if index < len(done) - 1:  # closing quotation marks stand between
        return _merge_at_quote(done, index, piece, into_quotes)

    last = done[index].text[-1]
    if text[0] in _SPACES and last in _SPACES:
        return text.lstrip(_SPACES)
    merged = _MERGED.get(last + text[0])
    if merged is None:
        return text
    if merged == last:
        return text[1:]

    # The first character of the text stands for both
    shortened = done[index].text[:-1]
    if shortened:
        done[index] = done[index].with_text(shortened)
        return text
    # The piece was that mark alone, so the text meets the piece before
    del done[index]
    return _merge(done, piece, into_quotes)


def _merge_at_quote(done: list[Piece], index: int, piece: Piece, into_quotes: bool) -> str:
    """Merge a mark at the start of a piece with what closing quotation marks end; return the rest of its text.

    “Who?” and ". In": nothing is left of the full stop. “Bees” and ". In": it moves into the quotation marks, or
    stays in the text, as the language has it.

    :param done: what stands before; changed if the mark moves into it
    :param index: which piece of it is the last text, before the closing marks
    """
    text = piece.text
    mark = text[0]
    if mark not in _MARKS:
        return text
    last = done[index].text[-1]
    merged = _MERGED.get(last + mark)
    if merged == last or mark in _STAYS_OUT_OF_QUOTE or not into_quotes:
        return _without_merged(last, text)

    # Some closing marks are of quotations that the mark does not move into, as one inside of a title in italics
    position = _position_in_quotes(done, index, piece)
    if position == len(done):
        return text
    if position > index + 1:  # into the outer quotation only
        done.insert(position, Piece(mark, done[position].wraps, inner=True))
    elif merged is None:
        # The mark is the style's, so it does not look like the data before it.
        wraps = tuple(wrap for wrap in done[index].wraps if not wrap.toggle)
        done.insert(position, Piece(mark, wraps, inner=True))
    else:  # it stands for the last one, too: “Bees?” of “Bees:” and "?"
        done[index] = done[index].with_text(done[index].text[:-1] + mark)
    return _without_merged(mark, text[1:])


def _position_in_quotes(done: list[Piece], index: int, piece: Piece) -> int:
    """Return the index at which a mark of a piece goes in: before the closing marks at the end.

    Not into a quotation inside of a title in italics: neither citeproc-js nor pandoc moves a mark there.

    :param index: that of the text before the closing marks
    """
    position = len(done)
    while position > index + 1 and _may_enter(piece, done[position - 1]):
        position -= 1
    return position


def _may_enter(mark: Piece, quote: Piece) -> bool:
    """Return whether a mark may move before a closing quotation mark: of “Bees”, yes; of *The “Bees”*, no.

    It may enter the style's own quotation marks, and those in the data that are in no format without it.
    """
    if not quote.inner:
        return True
    return all(wrap in mark.wraps for wrap in quote.wraps if _is_style_format(wrap))


def _is_style_format(wrap: Wrap) -> bool:
    """Return whether a wrap is a format that the style has set, such as bold; "normal" is none."""
    return wrap.kind in _FORMATS and wrap.value not in _NO_FORMAT and not wrap.toggle


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
