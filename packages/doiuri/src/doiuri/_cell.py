"""The DOI of a text that has one: a cell of a table, a field of a form, a line of a list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri._advice import unescape_html
from doiuri._doi import DOI, parse_name
from doiuri._errors import DOISyntaxError
from doiuri._find import find
from doiuri._names import INVISIBLE
from doiuri._urls import PROXY_PATTERN

if TYPE_CHECKING:
    from doiuri._doi import ShortDOI

_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_ENTITY = re.compile(r"&(?:#[0-9]+|#[xX][0-9A-Fa-f]+|[A-Za-z][A-Za-z0-9]*);")
# Most cells: nothing surrounds the name
_PLAIN = re.compile(
    rf"""
    (?: doi: | {PROXY_PATTERN}/ )?
    10\.[0-9]{{4,9}} / [A-Za-z0-9._/-]* [A-Za-z0-9]
    """,
    re.VERBOSE,
)


def find_one(text: str) -> DOI | ShortDOI:
    r"""Return the DOI or short DOI in a text that has one, such as a cell of a table, whatever surrounds it.

    A text without white space is read as by ``DOI.parse``, but without the marks that ``find`` leaves out at
    the end of a name. In any other text, what ``find`` finds counts, however often it stands there.
    No name has entities of HTML, or characters that nobody sees, such as zero-width spaces: the former are
    undone first, and the latter dropped.

    >>> from doiuri import find_one
    >>> find_one("\u200b(see https://doi.org/10.1000/182.)")
    DOI('10.1000/182')

    :param text: the text.
    :raises DOISyntaxError: if there is no DOI in it, or more than one.
    """
    if _PLAIN.fullmatch(text):
        return parse_name(text)

    without_entities = _ENTITY.sub(lambda entity: unescape_html(entity[0]), text)
    visible = _INVISIBLE.sub("", without_entities).strip()
    mentioned = list(dict.fromkeys(match.doi for match in find(visible)))
    if len(mentioned) > 1:
        names = ", ".join(doi.name for doi in mentioned)
        raise DOISyntaxError(text, 0, f"expected one DOI, not {len(mentioned)}: {names:.200}")

    if not mentioned:  # DOI.parse reads more, such as a short DOI
        whole = _parsed(visible)
        return parse_name(text) if whole is None else whole  # an error is about the text as it is

    # In prose, find has to end a name where it may also go on: "10.1000/182”a". In a cell, it goes on
    doi = mentioned[0]
    is_one_name = len(visible.split()) == 1 and visible.count("10.") <= 1
    if is_one_name:
        whole = _parsed(visible)
        if whole is not None and not _ends_in_marks(whole.name, doi.name):
            return whole
    return doi


def _parsed(text: str) -> DOI | ShortDOI | None:
    try:
        return parse_name(text)
    except DOISyntaxError:
        return None


def _ends_in_marks(name: str, shorter: str) -> bool:
    """Return whether a name has only punctuation after a shorter one, as "10.1000/182.)" after "10.1000/182"."""
    rest = name.removeprefix(shorter)
    return rest != name and not any(map(str.isalnum, rest))
