"""Text case over pieces: markup and parts marked nocase keep their own (CSL 1.0.2, Text-case)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri_csl.text._pieces import Kind, Piece

if TYPE_CHECKING:
    from collections.abc import Callable

# The words that CSL 1.0.2 names under "Title Case Conversion", and those that citeproc-js adds
_STOP_WORDS = frozenset(
    """
    a according across afore after against ahead along alongside amid amidst among amongst an and
    anenst apart apropos around as aside astride at athwart atop barring before behind below beneath
    beside besides between beyond but by c ca circa contra contre de despite down during except for
    forenenst from given in including inside into lest like modulo near next nor notwithstanding of
    off on onto or out outside over pace past per plus pro qua sans since so than the through
    throughout thru thruout till to toward towards under underneath until unto up upon v van versus
    via vis-à-vis about above von vs when with within without yet et d e
    """.split()  # noqa: SIM905 (a list that is read as a list)
)
_WORD = re.compile(r"[^\s\-–—/\u00a0\u202f]+")
_MARKS_OF_END = ":?!."
_QUOTES = "'’\"”"
_HYPHENS = ("-", "‐")
_TURKISH = {"i": "İ", "ı": "I"}


def _is_fixed(piece: Piece) -> bool:
    """Return whether the case of a piece may not change."""
    for wrap in piece.wraps:
        if wrap.kind in ("nocase", "nodecor"):
            return True
        if wrap.toggle and wrap.kind in ("font-variant", "vertical-align"):
            return True
    return piece.kind is not Kind.TEXT


def _upper(text: str, lang: str) -> str:
    """Return text in upper case, as the language has it."""
    if lang.startswith(("tr", "az")):
        text = "".join(_TURKISH.get(character, character) for character in text)
    return text.upper()


def _capitalize(word: str, lang: str = "") -> str:
    """Return a word with its first letter in upper case."""
    for index, character in enumerate(word):
        if character.isalnum():
            return word[:index] + _upper(character, lang) + word[index + 1 :]
    return word


def apply_case(pieces: list[Piece], case: str, lang: str) -> list[Piece]:
    """Return the pieces in a text case."""
    if case == "uppercase":
        return _change_text(pieces, lambda text: _upper(text, lang))
    if case == "lowercase":
        return _change_text(pieces, str.lower)
    if case == "capitalize-first":
        return _capitalize_first(pieces, lang)
    if case == "capitalize-all":
        return _capitalize_all(pieces, lang)
    if case == "sentence":
        return _capitalize_first(_change_text(pieces, str.lower), lang)
    # "Title Case Conversion": only for items in English
    if case == "title" and lang.lower().startswith("en"):
        return _title_case(pieces)
    return pieces


def _capitalize_first(pieces: list[Piece], lang: str) -> list[Piece]:
    """Return the pieces; the first word begins with a capital if it is in lower case."""
    for index, piece in enumerate(pieces):
        if piece.kind is not Kind.TEXT:
            continue
        if _is_fixed(piece):
            return pieces
        word = _WORD.search(piece.text)
        if word is None:
            continue
        if word[0] != word[0].lower():
            return pieces
        capital = _capitalize(word[0], lang)
        text = f"{piece.text[: word.start()]}{capital}{piece.text[word.end() :]}"
        return [*pieces[:index], piece.with_text(text), *pieces[index + 1 :]]
    return pieces


def _capitalize_all(pieces: list[Piece], lang: str) -> list[Piece]:
    """Return the pieces; every word in lower case begins with a capital."""

    def change(found: re.Match[str]) -> str:
        word = found[0]
        return _capitalize(word, lang) if word.islower() else word

    return _change_text(pieces, lambda text: _WORD.sub(change, text))


def _change_text(pieces: list[Piece], change: Callable[[str], str]) -> list[Piece]:
    """Return the pieces with their text changed, but for those whose case is fixed."""
    changed = []
    for piece in pieces:
        if not _is_fixed(piece):
            piece = piece.with_text(change(piece.text))  # noqa: PLW2901
        changed.append(piece)
    return changed


def _title_case(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces; words in lower case begin with a capital, but for stop words inside the title."""
    whole = "".join(piece.text for piece in pieces)
    last_start = -1
    for word in _WORD.finditer(whole):
        last_start = word.start()
    title = _Title(whole, last_start)
    changed: list[Piece] = []
    offset = 0
    for piece in pieces:
        if _is_fixed(piece):
            changed.append(piece)
        else:
            changed.append(piece.with_text(title.part(piece.text, offset)))
        offset += len(piece.text)
    return changed


class _Title:
    """A whole title, whose words are changed one by one."""

    def __init__(self, text: str, last_start: int) -> None:
        self._text = text
        self._last_start = last_start

    def part(self, text: str, offset: int) -> str:
        """Return a part of the title, which begins at ``offset``, in title case."""

        def change(found: re.Match[str]) -> str:
            return self._word(found[0], offset + found.start())

        return _WORD.sub(change, text)

    def _word(self, word: str, start: int) -> str:
        """Return a word of the title; if it has a capital already, it keeps its case."""
        before = self._text[max(0, start - 1) : start]
        after = self._text[start + len(word) : start + len(word) + 1]
        if before.isalnum():
            return word
        after_hyphen = before in _HYPHENS
        before_hyphen = after in _HYPHENS
        bare = word.strip(".,;:!?\"'“”‘’()[]").lower()
        if len(bare) == 1 and before and (after_hyphen or before_hyphen):
            return word
        # The A of "Catharine A. MacKinnon" is no article
        is_initial = len(bare) == 1 and word[:1].isupper() and word.endswith(".")
        if is_initial:
            return word
        if bare in _STOP_WORDS and not self._stands_out(
            start, begins_compound=before_hyphen and not after_hyphen
        ):
            return word.lower() if word == _capitalize(word.lower()) else word
        return _capitalize(word) if word == word.lower() else word

    def _stands_out(self, start: int, *, begins_compound: bool) -> bool:
        """Return whether even a stop word takes a capital.

        At either end, after a colon, and at the beginning of a compound, as in Pro-Choice.
        """
        if begins_compound or start >= self._last_start:
            return True
        place = self._skip_back(start, " \u00a0\u202f\"'“‘([")
        if place == 0:
            return True
        end = self._skip_back(start, " \u00a0\u202f\n\t")
        end = self._skip_back(end, _QUOTES)
        return self._text[max(0, end - 1) : end] in tuple(_MARKS_OF_END)

    def _skip_back(self, place: int, characters: str) -> int:
        """Return the place after the last character before ``place`` that is not one of these."""
        while place > 0 and self._text[place - 1] in characters:
            place -= 1
        return place


def capitalize_term(pieces: list[Piece], lang: str) -> list[Piece]:
    """Return the pieces; a term at the start, as "ibid.", begins with a capital."""
    if not pieces or not pieces[0].has("part", "term"):
        return pieces
    return _capitalize_first(pieces[:1], lang) + pieces[1:]
