"""Labels of works: what a citation says in the text, and the order of a list of references."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doiuri.records._work import Work

MAX_LABEL = 40
"""Characters of a title in place of an author."""

_LAST = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class CitationWords:
    """The words of citations, for hosts to translate.

    >>> CitationWords(conjunction="und", no_date="o. J.")
    CitationWords(conjunction='und', et_al='et al.', no_date='o. J.')
    """

    conjunction: str = "and"
    """Stands between two names."""

    et_al: str = "et al."
    """Stands for all names after the first, if there are three or more."""

    no_date: str = "n.d."
    """Stands for the year, if there is none."""


def author_label(work: Work, words: CitationWords) -> str:
    """Return the author part of a label: one or two family names, or the first of three and more.

    Without authors, the names are those of the editors. Without editors, it is the title, cut after 40
    characters, or else the publisher, the container, or the name of the DOI.
    """
    names = [name.family for name in work.authors or work.editors]
    if not names:
        return _cut(_substitute(work))
    if len(names) == 1:
        return names[0]
    return f"{names[0]} {words.conjunction} {names[1]}" if len(names) == 2 else f"{names[0]} {words.et_al}"


def year_label(work: Work, words: CitationWords, suffix: str = "") -> str:
    """Return the year with the letter that tells works of one label apart: "2006a", "n.d.-a"."""
    if work.year is None:
        return f"{words.no_date}-{suffix}" if suffix else words.no_date
    return f"{work.year}{suffix}"


def sort_key(work: Work) -> tuple[object, ...]:
    """Return the key by which references are sorted.

    The order is that of the author labels, then of the years (none first), the titles and the DOIs. Case,
    accents and punctuation do not matter, nor does the language of the words: "Kahn" comes before "Kahn and
    Wilensky", and this before "Kahn et al.".
    """
    names = [name.family for name in work.authors or work.editors] or [_substitute(work)]
    shown = names if len(names) < 3 else [names[0], _LAST]
    return [*map(_sortable, shown)], work.year or 0, _sortable(work.title), work.doi.key


def label_key(work: Work, words: CitationWords) -> tuple[str, int | None]:
    """Return the key that works share if their labels look the same."""
    return unicodedata.normalize("NFC", author_label(work, words)).casefold(), work.year


def letters(number: int) -> str:
    """Return the letter with a number from 0: a to z, then aa, ab and so on."""
    text = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("a") + digit) + text
    return text


def _cut(text: str) -> str:
    """Return a text of at most ``MAX_LABEL`` characters; it is cut between words if it has any."""
    if len(text) <= MAX_LABEL:
        return text
    words, space, _ = text[:MAX_LABEL].rpartition(" ")
    return f"{words}…" if space else f"{text[: MAX_LABEL - 1]}…"


def _substitute(work: Work) -> str:
    return work.title or work.publisher or work.container or work.doi.name


def _sortable(text: str) -> str:
    if text == _LAST:
        return text
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    kept = (c if c.isalnum() else " " for c in decomposed if not unicodedata.combining(c) and c not in "'’-")
    return " ".join("".join(kept).split())
