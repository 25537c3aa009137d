"""Lists of names: their delimiters, the word before the last, "et al." (CSL 1.0.2, Name and Et-al)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_csl.elements._name import OneName
from doiuri_csl.text._markup import parse
from doiuri_csl.text._pieces import Piece, join_pieces, plain_text, text_pieces, wrap_pieces

if TYPE_CHECKING:
    from doiuri_csl._context import Context
    from doiuri_csl.data._people import Person
    from doiuri_csl.elements._nameoptions import NameOptions, NameStyle

NAME_BREAK = "\x02"
"""Stands between two names in a sort key, above the break between the parts of a name."""

_OTHERS = "others"
"""The last name of a list that goes on, as BibTeX and pandoc have it: "et al." stands for it."""

_FIRST_HEBREW = 0x590


def _stands_apart(character: str) -> bool:
    """Return whether a word that begins or ends with a character stands between spaces."""
    return character in ("&", ".") or (character.isalpha() and ord(character) < _FIRST_HEBREW)


def _wants_delimiter(rule: str, *, is_several: bool, is_inverted: bool) -> bool:
    """Return whether the delimiter stands before "and" or "et al.".

    :param is_several: what the contextual rule goes by
    """
    if rule == "contextual":
        return is_several
    if rule == "after-inverted-name":
        return is_inverted
    return rule == "always"


class NameWriter:
    """Writes one list of names."""

    def __init__(
        self, style: NameStyle, options: NameOptions, context: Context, variable: str
    ) -> None:
        self._style = style
        self._options = options
        self._context = context
        self._name_writer = OneName(style, options, context, variable)

    def write(self, people: list[Person]) -> list[Piece]:
        """Return the names with their delimiters, "and" or "et al."."""
        options = self._options
        shown = self.shown_count(len(people))
        has_others = len(people) > 1 and people[-1].literal == _OTHERS
        if has_others:
            people = people[:-1]
            shown = min(shown, len(people))
        if options.form == "count":
            return text_pieces(str(shown))
        uses_last = options.et_al_use_last and not has_others
        names = []
        for index, person in enumerate(people):
            is_last = uses_last and index == len(people) - 1
            if index < shown or is_last:
                written = self._name_writer.write(person, index)
                name = self._style.appearance.apply(written, self._context)
                names.append(wrap_pieces(name, "part", "name"))
        if self._context.is_sorting:
            # "Sorting": neither "and" nor "et al." counts.
            return join_pieces(names, NAME_BREAK)
        if shown >= len(people) and not has_others:
            return self._join_all(names, people)
        if uses_last:
            return self._join_with_last(names, is_complete=shown == len(people) - 1)
        return self._join_with_et_al(names, people)

    def shown_count(self, count: int) -> int:
        """Return how many names are written before "et al."; all of them if there is no "et al."."""
        if not self._options.shortens(count):
            return count
        wanted = self._options.et_al_use_first
        if not self._context.is_sorting:
            wanted = max(wanted, self._context.entry.names.count)
        return min(wanted, count)

    def _join_all(self, names: list[list[Piece]], people: list[Person]) -> list[Piece]:
        """Return all names, with "and" before the last."""
        delimiter = self._options.delimiter
        if len(names) == 1 or not self._options.conjunction:
            return join_pieces(names, delimiter)
        head = join_pieces(names[:-1], delimiter)
        before_last = len(people) - 2
        if not _wants_delimiter(
            self._options.precedes_last,
            is_several=len(people) > 2,
            is_inverted=self._name_writer.inverts(people[before_last], before_last),
        ):
            delimiter = ""
        return [*head, *self._conjunction(delimiter), *names[-1]]

    def _conjunction(self, delimiter: str) -> list[Piece]:
        """Return the delimiter, if any, and the word between the last two names."""
        word = self._context.terms.term("and")
        if self._options.conjunction == "symbol" and not self._context.in_sentence:
            word = "&"
        if word == delimiter:
            delimiter = ""  # a dash for both stands once
        if not delimiter.endswith(" ") and _stands_apart(word[:1]):
            word = f" {word}"
        if _stands_apart(word[-1:]):
            word = f"{word} "
        return [*text_pieces(delimiter), *text_pieces(word)]

    def _join_with_last(self, names: list[list[Piece]], *, is_complete: bool) -> list[Piece]:
        """Return the first names and the last, with an ellipsis for those between (``et-al-use-last``)."""
        delimiter = self._options.delimiter
        if is_complete:
            return join_pieces(names, delimiter)
        head = join_pieces(names[:-1], delimiter)
        return [*head, Piece(f"{delimiter}… "), *names[-1]]

    def _join_with_et_al(self, names: list[list[Piece]], people: list[Person]) -> list[Piece]:
        """Return the first names and "et al."."""
        delimiter = self._options.delimiter
        head = join_pieces(names, delimiter)
        term = parse(self._context.terms.term(self._style.et_al_term))
        if not term or not head:
            return head
        last = len(names) - 1
        if not _wants_delimiter(
            self._options.precedes_et_al,
            is_several=len(names) > 1,
            is_inverted=self._name_writer.inverts(people[last], last),
        ):
            delimiter = self._space_before(plain_text(term))
        et_al = self._style.et_al_appearance.apply(term, self._context)
        return [*head, *text_pieces(delimiter), *et_al]

    def _space_before(self, term: str) -> str:
        """Return what stands before "et al.": nothing in Chinese or Japanese."""
        has_no_spaces = self._context.terms.lang.startswith(("zh", "ja"))
        if has_no_spaces and not term[:1].isascii():
            return ""
        return " "
