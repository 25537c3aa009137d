"""What an author writes inside a citation: works with prefixes, locators and suffixes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import doiuri_csl as csl

from doiuri._doi import DOI
from doiuri._urls import PROXY_PATTERN
from doiuri.citations._style import ENGLISH, locale_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from doiuri._doi import Handle

_BETWEEN = re.compile(  # works
    rf"""
    ;\s+ | ;\Z
    | ,\s+(?=-?(?:
        @  # an id, or any DOI
        | (?:(?:urn:)?(?:doi|hdl): | info:(?:doi|hdl)/ | {PROXY_PATTERN}/)?
          10\.[\d.]+(?:/|%2f)\S
    ))
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Of the letters of ids: "khan" and "kahn" are as similar as this, "dobbe" and "noble" are less
_LEAST_SIMILARITY = 0.75
# Letters with which a longer id may begin, as "kahn2006framework" does with those of "kahn2006"
_SHORTEST_NAME = 4
_LIKE_A_NAME = re.compile(r"-?(?:@|doi:|https?:|10\.)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CitationItem:
    """One work in a citation."""

    key: Handle | str
    """The DOI, or the id of a work without one."""

    prefix: str = ""
    """What stands before it, such as "see"."""

    label: str = ""
    """CSL's name for the kind of the locator, such as "page"; "" if there is none."""

    locator: str = ""
    """Where in the work, such as "12" or "12-14"."""

    suffix: str = ""
    """What follows it, with the white space or comma before it."""

    no_author: bool = False
    """Whether only the year is shown."""

    plural: bool = False
    """Whether the author wrote the plural of the label, as in "pp. 41 (no. 58)"."""

    typed: str = field(default="", compare=False)
    """The name as the author wrote it, with its ``@``."""

    place: csl.Place = field(default=csl.Place(), compare=False)
    """Where it stands among those of its work; see ``Bibliography.placed``."""


def parse_citation(
    text: str,
    locale: csl.Locale | str = ENGLISH,
    ids: Mapping[str, Handle | str] | None = None,
) -> tuple[CitationItem, ...]:
    """Read what stands inside a citation.

    White space ends a name, and so does a ``,`` or ``;`` before it; write the ``doi:`` URI of a name that
    contains white space. A ``;`` and white space separate works, and so does a ``,`` before a DOI or an
    ``@``. Other words are a locator if they begin with one of CSL's terms in the language or in English, or
    else a suffix. In braces, as in "{pp. iv, vi-xi}", all of them are the locator.

    >>> [see] = parse_citation("see 10.1000/182, p. 12")
    >>> see.key.name, see.prefix, see.label, see.locator
    ('10.1000/182', 'see', 'page', '12')

    :param text: such as "see 10.1000/182, p. 12; -@knuth1984"; DOIs may have an ``@`` too, ids must
    :param locale: the language of the terms, such as "de-DE", or what ``load_locale`` returned
    :param ids: what the ids of the works files stand for; None if there are no such files
    :raises DOISyntaxError: if a part contains no DOI and no id
    :raises ValueError: if there is no work with an id, or no such locale
    """
    pieces = [piece for piece in _BETWEEN.split(text.strip()) if piece.strip()]
    return tuple(_read(piece, locale, ids) for piece in pieces or [text])


def _read(
    piece: str, locale: csl.Locale | str, ids: Mapping[str, Handle | str] | None
) -> CitationItem:
    """Read one work, such as "see -@knuth1984, p. 12": the first word that looks like a name is its name."""
    words = re.finditer(r"\S+", piece)
    name = next((word for word in words if _LIKE_A_NAME.match(word[0])), None)
    if name is None:
        # nothing but a DOI with another label, or an error
        return CitationItem(DOI.parse(piece), typed=piece)

    written = name[0].rstrip(",;")
    typed = written.removeprefix("-")
    rest = piece[name.start() + len(written) :]
    where = csl.parse_locator(rest, locale_of(locale))
    return CitationItem(
        _key(typed, ids),
        piece[: name.start()].strip(),
        where.label,
        where.locator,
        where.suffix,
        no_author=typed != written,
        plural=where.plural,
        typed=typed,
    )


def _key(typed: str, ids: Mapping[str, Handle | str] | None) -> Handle | str:
    """Return the DOI or id that a name stands for, such as "10.1000/182", "@knuth1984" or "@{a:b}".

    :raises ValueError: if there is no work with an id, with the id that was probably meant
    """
    if typed[0] != "@":
        return DOI.parse(typed)

    name = typed[2:-1] if typed[1:2] == "{" else typed[1:]
    if ids is not None and name in ids:
        return ids[name]
    if _LIKE_A_NAME.match(name):  # a raw "#", which ends a ``doi:`` URI, is part of the name here
        has_label = name[:4].lower() == "doi:"
        if has_label:
            name = name[4:]
        return DOI.parse(name)
    if ids is None:
        raise ValueError(
            f"{typed} is not a DOI, and there are no files of works; name them in the option works"
        )
    similar = _most_similar(name, ids)
    hint = "" if similar is None else f"; did you mean {similar!r}?"
    raise ValueError(f"no file of works has the id {name!r}{hint}")


def _most_similar(name: str, ids: Iterable[str]) -> str | None:
    """Return the id whose letters are most similar to those of a name; None if no id is similar enough.

    Most ids are a name and a year, and the ids of all works of a year have its four digits in common.
    """
    letters = _letters(name)
    if not letters:
        return None
    similarities = {id_: _similarity(letters, _letters(id_)) for id_ in ids}
    candidates = [id_ for id_ in similarities if similarities[id_] >= _LEAST_SIMILARITY]

    def likeness(id_: str) -> tuple[float, float]:
        """Return how similar the letters of an id are, and, among equals, all of it."""
        return similarities[id_], SequenceMatcher(None, id_, name).ratio()

    return max(candidates, key=likeness, default=None)


def _similarity(one: str, other: str) -> float:
    """Return how similar the letters of two ids are, from 0 to 1; 1 if one id begins with all of the other.

    Below ``_LEAST_SIMILARITY``, 0 may stand for the similarity, which takes long to compute.
    """
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) >= _SHORTEST_NAME and longer.startswith(shorter):
        return 1
    matcher = SequenceMatcher(None, one, other)
    if matcher.real_quick_ratio() < _LEAST_SIMILARITY:
        return 0
    return matcher.ratio()


def _letters(id_: str) -> str:
    """Return the letters of an id: "kahn" of "Kahn2006"."""
    return "".join(filter(str.isalpha, id_.casefold()))
