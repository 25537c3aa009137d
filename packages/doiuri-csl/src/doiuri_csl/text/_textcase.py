"""Text case over pieces: markup and parts marked nocase keep their own (CSL 1.0.2, Text-case)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doiuri_csl.text._pieces import Kind, Piece

if TYPE_CHECKING:
    from collections.abc import Callable

# The words of stop-words.json, to which CSL 1.0.2, "Title Case Conversion", refers, and "about", which
# citeproc-js and pandoc have too. They capitalize its phrases, as "According to", so those are not here; nor are
# single letters, which stay small as any others do.
_STOP_WORDS = frozenset(
    """
    about across afore after against along alongside amid amidst among amongst an and anenst
    apropos apud around as aside astride at athwart atop barring before behind below beneath beside
    besides between beyond but by ca circa de despite down during et except for forenenst from
    given in inside into lest like modulo near next nor notwithstanding of off on onto or out over
    per plus pro qua sans since so than the through throughout thru thruout till to toward towards
    under underneath until unto up upon van versus via von vs with within without yet
    """.split()  # noqa: SIM905 (a list that is read as a list)
)
# Those of CSL 1.0.1. Only these are small at the start of a compound: "in-Depth", but "Pro-Choice", as
# citeproc-js and pandoc have it where they agree.
_SHORT_STOP_WORDS = frozenset(
    """
    an and as at but by down for from in into nor of on onto or over so the till to up via with yet
    """.split()  # noqa: SIM905 (the same)
)
_WORD = re.compile(r"[^\s\-‐–—/]+")
_LETTERS = re.compile(r"[^\W_]+")
_FIRST_WORD = re.compile(r"[\s\-‐–—/]*(?:(?!\s)[\W_])*")  # as far as its first letter
_HEAD = re.compile(r"[\W_]*[^\W_]+(?:['’][^\W_]+)*")  # "si" of "si:B", but all of "d’Artagnan"
_BEGINNING = re.compile(r"\W*\w+")  # "si" of "si:B", and "d" of "d’Artagnan"
_HYPHENS = ("-", "‐")
_MARKS_OF_END = (":", "?", "!")
_SPACES_AND_QUOTES = " \u00a0\u202f\n\t'‘’\"“”„«»"
_TURKISH = {"i": "İ", "ı": "I"}


def _is_fixed(piece: Piece) -> bool:
    """Return whether the case of a piece may not change, as in "nocase", or in small capitals of the data."""
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
    """Return a word with its first letter or digit in upper case: "(bees" as "(Bees"."""
    for index, character in enumerate(word):
        if character.isalnum():
            return word[:index] + _upper(character, lang) + word[index + 1 :]
    return word


def _begins_small(word: str) -> bool:
    """Return whether the letters that a word begins with, as far as a mark, have no capital."""
    beginning = _BEGINNING.match(word)
    return beginning is not None and beginning[0] == beginning[0].lower()


class Language(NamedTuple):
    """The language of a text, as far as its case depends on it."""

    tag: str

    has_title_case: bool
    """Whether title case changes it."""


def apply_case(pieces: list[Piece], case: str, language: Language) -> list[Piece]:
    """Return the pieces in a text case (CSL 1.0.2, Text-case).

    :param case: such as "capitalize-first"; pieces stay as they are in any other
    """
    lang = language.tag
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
    if case == "title" and language.has_title_case:
        return _title_case(pieces)
    return pieces


def _capitalize_first(pieces: list[Piece], lang: str) -> list[Piece]:
    """Return the pieces; the first word begins with a capital if it is in lower case: "On bees"."""
    for index, piece in enumerate(pieces):
        if piece.kind is not Kind.TEXT:
            continue
        if _is_fixed(piece):
            return pieces  # the first word may not change, and later ones do not begin the text
        word = _WORD.search(piece.text)
        if word is None:
            continue  # spaces or dashes alone: the first word is in a later piece
        if not _begins_small(word[0]):
            return pieces
        capital = _capitalize(word[0], lang)
        text = f"{piece.text[: word.start()]}{capital}{piece.text[word.end() :]}"
        return [*pieces[:index], piece.with_text(text), *pieces[index + 1 :]]
    return pieces


def _capitalize_all(pieces: list[Piece], lang: str) -> list[Piece]:
    """Return the pieces; every word in lower case begins with a capital: "On The Bees"."""

    def change(match: re.Match[str]) -> str:
        word = match[0]
        return _capitalize(word, lang) if _begins_small(word) else word

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
    """Return the pieces in title case: "On the Origin of Wasps: A History"."""
    title = _Title("".join(piece.text for piece in pieces))
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
    """A whole title, whose words are changed one by one, since markup may divide it into pieces."""

    def __init__(self, text: str) -> None:
        self._text = text
        # Words before it are marks alone, as in "… and Then There Were None"
        before_first_letter = _FIRST_WORD.match(text)
        self._first_letter = before_first_letter.end() if before_first_letter else 0
        self._last_start = 0  # where the last word with letters begins
        for word in _WORD.finditer(text):
            if _LETTERS.search(word[0]):
                self._last_start = word.start()

    def part(self, text: str, offset: int) -> str:
        """Return a part of the title in title case.

        :param offset: where it begins in the title
        """

        def change(word: re.Match[str]) -> str:
            return self._word(word[0], offset + word.start())

        return _WORD.sub(change, text)

    def _word(self, word: str, start: int) -> str:
        """Return a word of the title in title case (CSL 1.0.2, Title Case Conversion).

        It gets a capital, but not if it has one already, as "iPhone", or is a stop word inside the title, as "of".

        Titles in capitals keep them, and so do "A" and "De" where the author wrote them: CSL 1.0.2 lowers these,
        but neither citeproc-js nor pandoc does, since the A may be that of "Physics A".

        :param start: where the word begins in the title
        """
        head = _HEAD.match(word)
        is_inside_word = self._text[max(0, start - 1) : start].isalnum()
        if head is None or is_inside_word:
            return word
        if self._begins_sentence(start):
            return _capitalize(word) if _begins_small(word) else word

        has_capital = head[0] != head[0].lower()
        # A letter alone is a name or an abbreviation: "the p-value", "at 5 p.m.", "l’oiseau"
        letters = [*_LETTERS.finditer(word)]
        is_single_letter = len(letters[0][0]) == 1
        if has_capital or is_single_letter:
            return word

        without_marks = word[letters[0].start() : letters[-1].end()]
        is_last = start >= self._last_start
        if not is_last and self._is_stop_word(without_marks, start, start + len(word)):
            return word
        return _capitalize(word)

    def _begins_sentence(self, start: int) -> bool:
        """Return whether a word is the first of the title, or follows a colon, "?" or "!": "Bees: A History".

        :param start: where the word begins in the title
        """
        if start <= self._first_letter:
            return True
        end = start
        while end > 0 and self._text[end - 1] in _SPACES_AND_QUOTES:
            end -= 1
        return self._text[max(0, end - 1) : end] in _MARKS_OF_END

    def _is_stop_word(self, word: str, start: int, end: int) -> bool:
        """Return whether a word stays small here: "of", the "in" of "in-Depth", not "Pro" of "Pro-Choice".

        :param word: the word without brackets and marks
        :param start: where it begins in the title with these, and ``end`` where it ends
        """
        if word == "al":  # "et al." stays as it is in citeproc-js
            return self._text[max(0, start - 3) : start] == "et "
        begins_compound = self._text[end : end + 1] in _HYPHENS
        continues_compound = self._text[max(0, start - 1) : start] in _HYPHENS
        if begins_compound and not continues_compound:
            return word in _SHORT_STOP_WORDS
        return word in _STOP_WORDS


def capitalize_term(pieces: list[Piece], lang: str) -> list[Piece]:
    """Return the pieces; a term at their start begins with a capital: "ibid." becomes "Ibid."."""
    if not pieces or not pieces[0].has("part", "term"):
        return pieces
    return _capitalize_first(pieces[:1], lang) + pieces[1:]
