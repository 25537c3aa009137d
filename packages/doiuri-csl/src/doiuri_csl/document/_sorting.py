"""Sorting by the keys of a style; entries without a value come last (CSL 1.0.2, Sorting)."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from doiuri_csl.data._dates import DateValue, sort_text
from doiuri_csl.elements._elements import Macros, render_sequence
from doiuri_csl.elements._name import PART_BREAK
from doiuri_csl.elements._namelist import NAME_BREAK, NameList
from doiuri_csl.elements._nameoptions import NameStyle
from doiuri_csl.elements._numbers import is_count
from doiuri_csl.text._markup import parse
from doiuri_csl.text._pieces import plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from doiuri_csl._context import Context
    from doiuri_csl._sheet import SortKey

    _T = TypeVar("_T")

# Letters that Unicode does not decompose
_SMALL_LETTERS = {
    "ø": "o",
    "đ": "d",
    "ð": "d",
    "ł": "l",
    "æ": "ae",
    "œ": "oe",
    "ı": "i",
    "þ": "th",
    "ħ": "h",
    "ŧ": "t",
    "ŋ": "n",
}
_CAPITALS = {letter.upper(): base.upper() for letter, base in _SMALL_LETTERS.items()}
_LETTERS = str.maketrans({**_SMALL_LETTERS, **_CAPITALS})
_KEPT = f" {PART_BREAK}{NAME_BREAK}"
_DASHES = "-–—/"
_APOSTROPHE = "\x03"


class _Collated(NamedTuple):
    """Text to sort by, in an order for readers: "Äbel" stands beside "Abel"."""

    base: str
    """Its letters and digits without accents and case: these count first."""

    text: str
    """The text itself, without case, which decides between equals."""


@lru_cache(maxsize=20_000)
def _collate(text: str) -> _Collated:
    """Return what a text is sorted by: of "Müller-Lüdenscheidt", "muller ludenscheidt" and then itself."""
    decomposed = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    base = []
    for index, character in enumerate(decomposed):
        if character.isalnum() or character in _KEPT:
            base.append(character.casefold())
        elif character in _DASHES:
            # "Müller-Lüdenscheidt" sorts as two words
            base.append(" ")
        elif character in "'’" and _ends_particle(decomposed, index):
            # It sorts before all letters: d’Arcy, Dam; any other apostrophe does not count: Okafor, O’Neill
            base.append(_APOSTROPHE)
    return _Collated(" ".join("".join(base).split()), text.casefold())


def _ends_particle(text: str, index: int) -> bool:
    """Return whether the apostrophe at an index follows a particle: in "d’Arcy", but not in "O’Neill"."""
    # The characters before and after it
    letters_around = text[index - 1 : index + 2 : 2]
    return letters_around.isalpha() and letters_around[0].islower()


def key_text(key: SortKey, context: Context, macros: Macros) -> str:
    """Return the text that a key sorts an entry by; "" if it has no value (CSL 1.0.2, Sorting).

    A name as "Doe", a break and "Ann", a date as "1020010503", the number 12 as "0000000012".
    """
    if key.macro:
        # "Sorting Macros": what the macro renders to; its dates and numbers know that they are in a sort key
        return plain_text(render_sequence(macros[key.macro], context).pieces)

    # "Sorting Variables": dates by time, names in full, numbers by their value. The item's values have the type
    # of their variable; text has to be tried as a number
    value = context.item.get(key.variable)
    if isinstance(value, DateValue):
        return sort_text(value)
    if isinstance(value, list):
        style = NameStyle()
        names = NameList(style, style.options(context), context, key.variable, value)
        return plain_text(names.write())
    text = context.variable(key.variable)
    if is_count(text):
        return text.zfill(10)
    return plain_text(parse(text))


def sort_by_keys(
    things: Sequence[_T],
    keys: list[SortKey],
    texts_of: Callable[[_T], Sequence[str]],
) -> list[_T]:
    """Return the things in the order of the keys; those that the keys do not tell apart keep theirs.

    :param texts_of: the texts that the keys sort a thing by; "" if it has no value
    """
    order = list(range(len(things)))
    rows = [texts_of(thing) for thing in things]

    # The last key is sorted by first: as sorting is stable, it then decides between equals of the others.
    for column, key in reversed(list(enumerate(keys))):
        texts = [row[column] for row in rows]
        values = [_collate(text) for text in texts]
        present = [index for index in order if texts[index]]
        absent = [index for index in order if not texts[index]]
        present.sort(key=values.__getitem__, reverse=key.descending)
        order = present + absent
    return [things[index] for index in order]
