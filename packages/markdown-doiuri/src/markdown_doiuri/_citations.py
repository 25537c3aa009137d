"""Citations in brackets: ``[@doi:10.1000/1; -@doi:10.1000/2]``, and ``@{doi:…}`` for names of any form."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI, DOISyntaxError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_doiuri._stash import Stash

# Brackets in a name are in pairs, to a depth of two. Atomic groups: the time is linear if one is left open.
_PLAIN = r"doi:(?>(?:[^\s\[\]]++|\[(?>(?:[^\s\[\]]++|\[[^\s\[\]]*+\])*)\])+)"
_BRACED = r"\{doi:(?>(?:[^\s{}]++|\{[^\s{}]*+\})+)\}"
_KEY = rf"-?+@(?:{_BRACED}(?![^\s;\]])|{_PLAIN})"
_CITATION = re.compile(
    rf"\[({_KEY}(?>(?:(?<=;)[ \n]*+{_KEY}|;[ \n]*+{_KEY})*))\]|@({_BRACED})", re.IGNORECASE
)
_SEPARATOR = re.compile(r";[ \n]*(?=-?@\{?doi:)", re.IGNORECASE)
_PUNCTUATION = ".,;:!?"
# Before the "@" of a mail address, or of a path or link
_WORD_BEFORE = "._%+-@/\\="
_DELIMITERS = "_=+"  # of emphasis and similar, and also part of mail addresses
_MAX_DELIMITER = 4


class Citation(NamedTuple):
    """What an author cites in one place."""

    dois: tuple[DOI, ...]
    textual: bool
    """Whether it is part of the sentence: "Kahn (2001)" and not "(Kahn, 2001)"."""
    without_author: frozenset[DOI] = frozenset()
    """Those of which only the year is shown: "(2001)"."""


class Bracketed(NamedTuple):
    """A citation from ``start`` to ``end``, and the text as the author wrote it."""

    start: int
    end: int
    citation: Citation
    text: str


def bracketed(data: str, stash: Stash) -> Iterator[Bracketed]:
    """Yield the citations in brackets or braces in inline ``data``, in order."""
    for match in _CITATION.finditer(data):
        start, end = match.span()
        if match[2]:
            if is_in_word(data, start):
                continue
            keys = [match[2]]
        else:
            keys = _SEPARATOR.split(match[1])
        dois = _dois([key.lstrip("-@") for key in keys], stash)
        if dois:
            written, _ = stash.source(match[0])
            without = frozenset(doi for key, doi in zip(keys, dois, strict=True) if key[0] == "-")
            yield Bracketed(start, end, Citation(dois, bool(match[2]), without), written)


def is_in_word(data: str, at: int) -> bool:
    """Return whether the "@" at this position follows a word, as in a mail address."""
    # Delimiters of emphasis, but for those that end a word
    before = data[max(0, at - _MAX_DELIMITER) : at].rstrip(_DELIMITERS)[-1:]
    # Letters without case are those of scripts that need no space before a citation.
    if before.isalnum():
        return before.isascii() or before.lower() != before.upper()
    return before != "" and before in _WORD_BEFORE


def _dois(keys: list[str], stash: Stash) -> tuple[DOI, ...]:
    """Return the DOIs of all ``keys``, or none if one of them is not a DOI."""
    dois = []
    for key in keys:
        written = key[1:-1] if key[0] == "{" else key.rstrip(_PUNCTUATION)
        text, length = stash.source(written)
        doi = _doi(text) if length == len(written) else None
        if doi is None:
            return ()
        dois.append(doi)
    return tuple(dois)


def _doi(text: str) -> DOI | None:
    """Return the DOI, or None; a raw "#" or "?", which ends a ``doi:`` URI, is part of the name here."""
    for written in (text, text[len("doi:") :]):
        try:
            return DOI.parse(written)
        except DOISyntaxError:
            continue
    return None
