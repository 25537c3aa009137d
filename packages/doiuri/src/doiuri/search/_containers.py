"""Whether two titles of journals, proceedings or books are those of one, however they are shortened."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri._patterns import lazy
from doiuri.works._likeness import folded

if TYPE_CHECKING:
    from collections.abc import Iterable

_SMALL_WORDS = frozenset("a an and for in of on the".split())  # noqa: SIM905
_PROCEEDINGS = frozenset({"proc", "proceedings"})
_STOP_WORDS = frozenset(
    "a an and annual conference der des die et for fur in international la le les of on proc proceedings"  # noqa: SIM905
    " symposium the und".split()
)
_JOURNAL_WORDS = frozenset(
    "communications j journal lett letters mag magazine trans transactions".split()  # noqa: SIM905
)
_MEETING_WORDS = frozenset(
    "conf conference congress meeting symp symposium workshop workshops".split()  # noqa: SIM905
)
# What has proceedings of its own beside those of a conference, or is a journal beside another one
_MEETING_PARTS = frozenset(
    "abstracts adjunct companion demos posters sketches workshop workshops".split()  # noqa: SIM905
)
_JOURNAL_PARTS = frozenset("letters supplement supplementary".split())  # noqa: SIM905
# Their acronyms stand in the titles of many journals and conferences
_PUBLISHERS = frozenset("acm aip aps ieee iet ifip osa siam spie usenix".split())  # noqa: SIM905
_ORDINALS = lazy(
    r"""
    [0-9]+(?:st|nd|rd|th)?
    | first | second | third | fourth | fifth | sixth | seventh | eighth | ninth | tenth | eleventh | twelfth
    | (?: thir | four | fif | six | seven | eigh | nine )teenth
    | (?: twent | thirt | fort | fift | sixt | sevent | eight | ninet )(?: ieth | y )
    """,
    re.VERBOSE,
)
_ACRONYM = lazy(r"\b[A-Z][A-Za-z0-9]*[A-Z][A-Za-z0-9]*\b")
_LEAST_WORDS = 3
"""Words that the shorter of two titles needs to stand for a longer one: "Nature" is not "Nature Physics"."""


def same_container(one: str, other: str) -> bool:
    """Return whether two titles of containers are those of one.

    One may be abbreviated, an acronym, or lack the place and the year of a conference.

    >>> same_container("Phys. Rev. Lett.", "Physical Review Letters")
    True
    >>> same_container("AAMAS", "Autonomous Agents and Multi-Agent Systems")
    True
    >>> same_container("Nature", "Nature Physics"), same_container("Phys. Rev. A", "Physical Review B")
    (False, False)
    """
    if _are_of_other_kinds(one, other):
        return False
    first = _words(one)
    second = _words(other)
    if not first or not second:
        return folded(one) == folded(other) != ""
    if first == second or _are_abbreviated(first, second):
        return True
    if _shares_acronym(one, other) or _shares_acronym(other, one):
        return True

    # One may have more words than the other, such as the place and the year of a conference
    short, long = sorted((first, second), key=len)
    if len(short) < _LEAST_WORDS or not set(short) <= set(long):
        return False
    added = set(long) - set(short)
    return _JOURNAL_PARTS.isdisjoint(added) and all(len(word) > 1 for word in added)


def may_be_same_container(one: str, other: str) -> bool:
    """Return whether two titles of containers may be those of one: perhaps one is abbreviated in its own way.

    >>> may_be_same_container("Celest. Mech.", "Celestial Mechanics and Dynamical Astronomy")
    True
    >>> may_be_same_container("ApJ", "The Astrophysical Journal")
    True
    """
    if _are_of_other_kinds(one, other):
        return False
    short, long = sorted(("".join(_words(one)), "".join(_words(other))), key=len)
    return _is_abbreviated(short, long)


def is_meeting(title: str) -> bool:
    """Return whether a title says that it is that of a conference."""
    return _has(title, _MEETING_WORDS) and not _has(title, _JOURNAL_WORDS)


def _is_journal(title: str) -> bool:
    return _has(title, _JOURNAL_WORDS) and not _has(title, _MEETING_WORDS)


def _has(title: str, words: frozenset[str]) -> bool:
    """Return whether a title has any of the words."""
    return not words.isdisjoint(folded(title).split())


def _are_of_other_kinds(one: str, other: str) -> bool:
    """Return whether two titles say that they are a journal and a conference, or a conference and a part of it."""
    if _has(one, _MEETING_PARTS) != _has(other, _MEETING_PARTS):
        return True
    if _is_journal(one):
        return is_meeting(other)
    return is_meeting(one) and _is_journal(other)


def _words(title: str) -> list[str]:
    """Return the words that tell a container from others: not "Proceedings of the 12th International …"."""
    words = folded(title).split()
    return [word for word in words if word not in _STOP_WORDS and not _ORDINALS.fullmatch(word)]


def _are_abbreviated(first: list[str], second: list[str]) -> bool:
    """Return whether each word of one is that of the other, or its abbreviation."""
    if len(first) != len(second):
        return False
    return all(map(_is_abbreviated, first, second))


def _is_abbreviated(one: str, other: str) -> bool:
    """Return whether one word abbreviates the other: "natl" has letters of "national" in their order."""
    short, long = sorted((one, other), key=len)
    if short[:1] != long[:1]:
        return False
    letters = iter(long)  # of which each "in" takes those up to the letter
    return all(letter in letters for letter in short)


def _shares_acronym(title: str, other: str) -> bool:
    """Return whether an acronym in a title is made of the initials of another's words, or stands in it.

    Of "Proceedings of the National Academy of Sciences", "PNAS" and "NAS" are such initials.
    """
    acronyms = _acronyms(title)
    if not acronyms:
        return False

    words = [word for word in folded(other).split() if word not in _SMALL_WORDS]
    initials = [
        _initials(words),
        _initials(word for word in words if word not in _PROCEEDINGS),
        _initials(_words(other)),
    ]
    for acronym in acronyms:
        if len(acronym) >= 3 and any(acronym in letters for letters in initials):
            return True

    # "JETP Letters" is not "JETP"
    is_part_of_other = _has(title, _JOURNAL_PARTS) != _has(other, _JOURNAL_PARTS)
    return not is_part_of_other and not acronyms.isdisjoint(_acronyms(other))


def _acronyms(title: str) -> set[str]:
    """Return the words with several capitals, such as "AAMAS"; not those of publishers, such as "IEEE"."""
    return {folded(acronym) for acronym in _ACRONYM.findall(title)} - _PUBLISHERS


def _initials(words: Iterable[str]) -> str:
    return "".join(word[0] for word in words)
