"""Lists of names: their delimiters, the word before the last, "et al." (CSL 1.0.2, Name and Et-al)."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from doiuri_csl._context import TextOrigin
from doiuri_csl.elements._name import NameWriter
from doiuri_csl.text._markup import parse
from doiuri_csl.text._pieces import Piece, folded, join_pieces, plain_text, text_pieces, wrap_pieces

if TYPE_CHECKING:
    from doiuri_csl._context import Context, GivenName
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


def _is_arabic(character: str) -> bool:
    """Return whether a character is a letter of the Arabic script."""
    return character.isalpha() and "\u0600" <= character <= "\u06ff"


def _wants_delimiter(rule: str, *, is_several: bool, is_inverted: bool) -> bool:
    """Return whether the delimiter stands before "and" or "et al.": the comma of "Doe, Roe, and Li".

    :param rule: the value of ``delimiter-precedes-last`` or ``delimiter-precedes-et-al``
    :param is_several: whether there are enough names for it by the rule "contextual"
    :param is_inverted: whether the name before is in the order "Doe, Ann"
    """
    if rule == "contextual":
        return is_several
    if rule == "after-inverted-name":
        return is_inverted
    return rule == "always"


def _compared(pieces: list[Piece]) -> str:
    """Return a name to compare it with others, without formats."""
    return folded(plain_text(pieces))


class _Ending(Enum):
    """How a list ends after its first names."""

    ALL = "there are no others"
    ET_AL = "et al."
    LAST = "the last name, which is the next one"
    LAST_OF_MORE = "an ellipsis and the last name"


class _Extent(NamedTuple):
    """How much of a list is shown, as in "Doe, Roe, et al." or "Doe, Roe, … Li"."""

    first: int
    """How many of the first names: 2 in both examples."""

    ending: _Ending


class NameList:
    """One list of names in a cite or an entry."""

    def __init__(
        self,
        style: NameStyle,
        options: NameOptions,
        context: Context,
        variable: str,
        people: list[Person],
    ) -> None:
        self.variable = variable
        self.people = people
        self._options = options
        self._style = style
        self._context = context
        self._name_writer = NameWriter(style, options, context, variable)
        self._has_others = len(people) > 1 and people[-1].literal == _OTHERS
        # How many names the list has: "others" is none
        self._length = len(people) - 1 if self._has_others else len(people)

    def write(self) -> list[Piece]:
        """Return the list: "Doe, Roe, and Li", "Doe et al.", "Doe, Roe, … Li", or a number in the form "count"."""
        extent = self._extent(self._context.cited_item.names_shown.count)
        if self._options.is_count:
            return text_pieces(str(extent.first))
        if extent.first == 0:
            # et-al-use-first="0": neither citeproc-js nor pandoc shows an "et al." alone
            return []
        names = [self._name(index) for index in range(extent.first)]
        if extent.ending in (_Ending.LAST, _Ending.LAST_OF_MORE):
            names.append(self._name(self._length - 1))

        if self._context.is_sorting:
            # "Sorting": neither "and" nor "et al." counts.
            return join_pieces(names, NAME_BREAK)
        if extent.ending is _Ending.ALL:
            return self._join_all(names)
        if extent.ending is _Ending.ET_AL:
            return self._join_with_et_al(names)
        delimiter = self._options.delimiter
        if extent.ending is _Ending.LAST:
            return join_pieces(names, delimiter)
        # "et-al-use-last": an ellipsis for those between
        return [*join_pieces(names[:-1], delimiter), Piece(f"{delimiter}… "), *names[-1]]

    def _name(self, index: int) -> list[Piece]:
        """Return one name, marked with the person that it means."""
        written = self._name_writer.write(self.people[index], index)
        name = self._style.appearance.apply(written, self._context)
        # The keys "||WHO|||" of a family name alone and "WHO|||||" of a literal name are made the same
        person = self.people[index].key.strip("|")
        name = wrap_pieces(name, "person", person)
        return wrap_pieces(name, "part", "name")

    def shown_count(self) -> int:
        """Return how many names are written before "et al."; all of them if there is no "et al."."""
        return self._count_before_et_al(self._context.cited_item.names_shown.count)

    def _count_before_et_al(self, wanted: int) -> int:
        """Return how many names are written before "et al.", and at least so many if disambiguation wants them."""
        # For et-al-min="3", "Doe, Roe and others" has three names, though "others" itself is never written
        count = len(self.people)
        if not self._options.shortens(count):
            return count
        first = self._options.et_al_use_first
        # A sort key does not depend on the names that are added to tell citations apart
        if not self._context.is_sorting:
            first = max(first, wanted)
        return min(first, count)

    def _extent(self, wanted: int) -> _Extent:
        """Return how much is shown if disambiguation wants so many names; 0 if it wants none."""
        first = min(self._count_before_et_al(wanted), self._length)
        if self._has_others:
            return _Extent(first, _Ending.ET_AL)
        if first == self._length:
            return _Extent(first, _Ending.ALL)
        if not self._options.et_al_use_last:
            return _Extent(first, _Ending.ET_AL)
        if first == self._length - 1:
            return _Extent(first, _Ending.LAST)
        return _Extent(first, _Ending.LAST_OF_MORE)

    @property
    def initial_mark(self) -> str | None:
        """What follows initials; None if the style has no initials."""
        return self._options.initialize_with if self._options.initialize else None

    @property
    def is_demoted(self) -> bool:
        """Whether particles are no part of family names (``demote-non-dropping-particle``)."""
        return self._options.demote == "display-and-sort"

    def added_by(self, wanted: int) -> object:
        """Return what the list shows with so many names, and not with one fewer; None if it shows the same.

        For "Doe, Li, et al." in place of "Doe et al.", the name "Li" and that "et al." follows. Lists that were
        alike stay so if this is equal.
        """
        # The style's own et-al-use-first may be above both counts
        extent = self._extent(wanted)
        if extent == self._extent(wanted - 1):
            return None
        if self._options.is_count:
            return extent.first
        index = extent.first - 1
        name = self._name_writer.write(self.people[index], index)
        return _compared(name), extent.ending

    def changed_by(self, index: int, given_name: GivenName, wanted: int) -> str | None:
        """Return the name with an index as it becomes if it shows so much of its given name: "A. Doe" for "Doe".

        None if that changes nothing, or if the name is not shown.

        :param wanted: how many names disambiguation wants
        """
        extent = self._extent(wanted)
        ends_in_last = extent.ending in (_Ending.LAST, _Ending.LAST_OF_MORE)
        is_shown_last = ends_in_last and index == self._length - 1
        is_shown = index < extent.first or is_shown_last
        if not is_shown or self._options.is_count:
            return None
        person = self.people[index]
        before = _compared(self._name_writer.write(person, index))
        name = _compared(self._name_writer.write_with(given_name, person, index))
        return None if name == before else name

    def _join_all(self, names: list[list[Piece]]) -> list[Piece]:
        """Return all names, with "and" before the last: "Doe and Roe", "Doe, Roe, and Li"."""
        delimiter = self._options.delimiter
        if len(names) == 1 or not self._options.conjunction:  # without ``and``: "Doe, Roe, Li"
            return join_pieces(names, delimiter)
        head = join_pieces(names[:-1], delimiter)
        before_last = self._length - 2
        if not _wants_delimiter(
            self._options.precedes_last,
            is_several=self._length > 2,
            is_inverted=self._name_writer.inverts(self.people[before_last], before_last),
        ):
            delimiter = ""
        return [*head, *self._conjunction(delimiter), *names[-1]]

    def _conjunction(self, delimiter: str) -> list[Piece]:
        """Return what stands between the last two names: the delimiter, if it stands there, and the word.

        " and ", ", & "; in Chinese, "和" without spaces.

        :param delimiter: "" if it does not stand there
        """
        terms = self._context.terms
        is_symbol = self._options.conjunction == "symbol" and not self._context.in_sentence
        word = "&" if is_symbol else terms.term("and")
        if word == delimiter:  # a dash for both stands once
            delimiter = ""
        follows_space = _stands_apart(word[:1]) or _is_arabic(word[:1])
        space_before = " " if follows_space and not delimiter.endswith(" ") else ""
        # In Arabic it is written as a part of the next word; in Persian it is a word
        is_persian = _is_arabic(word[-1:]) and not terms.lang.startswith("ar")
        space_after = " " if _stands_apart(word[-1:]) or is_persian else ""
        return [*text_pieces(delimiter), *text_pieces(f"{space_before}{word}{space_after}")]

    def _join_with_et_al(self, names: list[list[Piece]]) -> list[Piece]:
        """Return the first names and "et al.": "Doe et al.", "Doe, Roe, et al."."""
        delimiter = self._options.delimiter
        head = join_pieces(names, delimiter)
        term = parse(self._context.terms.term(self._style.et_al_term))
        if not term or not head:
            return head
        last = len(names) - 1
        if not _wants_delimiter(
            self._options.precedes_et_al,
            is_several=len(names) > 1,
            is_inverted=self._name_writer.inverts(self.people[last], last),
        ):
            delimiter = self._space_before(plain_text(term))
        et_al = self._style.et_al_appearance.apply(term, self._context, TextOrigin.STYLE)
        return [*head, *text_pieces(delimiter), *et_al]

    def _space_before(self, term: str) -> str:
        """Return what stands before "et al.": nothing in Chinese or Japanese."""
        has_no_spaces = self._context.terms.lang.startswith(("zh", "ja"))
        if has_no_spaces and not term[:1].isascii():
            return ""
        return " "
