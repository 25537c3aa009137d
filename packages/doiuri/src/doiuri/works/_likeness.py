"""Compare titles and authors that people write with those of a work."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from doiuri._patterns import lazy

if TYPE_CHECKING:
    from doiuri.works._csl import Name

# How similar two titles have to be, from 0 to 1: so typing errors and other words in a few places pass
_LEAST_SIMILARITY = 0.8
_LEAST_BEGINNING = 15  # letters of a title that may stand for a longer one that begins with it


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = lazy(r"[^\W_]+")
_MARKUP = lazy(r"</?[A-Za-z][^<>]{0,300}>")
_SUBTITLE = lazy(r"\s*[:;.?!–—]\s+|\s+[-–—]+\s+|\s*[–—:]\s*|\s*\(")
# Accents are dropped; these letters have none, or are also written with two letters
_LETTERS = str.maketrans(
    {
        "æ": "a",
        "œ": "o",
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "ı": "i",
        "ŋ": "n",
        "&": " and ",
    }
    | {
        "α": " alpha ",
        "β": " beta ",
        "γ": " gamma ",
        "δ": " delta ",
        "ε": " epsilon ",
        "κ": " kappa ",
    }
    | {"λ": " lambda ", "μ": " mu ", "π": " pi ", "σ": " sigma ", "τ": " tau ", "ω": " omega "}
)
_TWO_LETTERS = lazy(r"a[ae]|o[e]|u[e]")
_ROMAN = {
    "i": "1",
    "ii": "2",
    "iii": "3",
    "iv": "4",
    "v": "5",
    "vi": "6",
    "vii": "7",
    "viii": "8",
    "ix": "9",
}
_ROMAN_NUMBER = lazy(
    r"\b(?:part|volume|vol|chapter|section|teil|band|partie|tome)\s+([ivx]+)\b|\b([ivx]{2,4})\b"
)
_RETRACTED = lazy(r"(?:retracted|withdrawn|removed)(?: (?:article|paper|chapter|manuscript))? ")
_PARTICLES = _words(
    "van von vom zu zum zur de der den del della dello des di da das do dos du la le las les lo los el al bin"
    " ibn ben ter ten te af av y e und and the of jr sr ii iii iv phd dr st saint"
)
_OTHERS = lazy(r"\bet al\b\.?.*", re.IGNORECASE)
_NOBODY = frozenset(
    {"others", "anonymous", "anon", "unknown", "na", "n a", "n n", "none", "author"}
)
_GROUPS = _words(
    "agency association bank board bureau center centre collaboration commission committee company community"
    " consortium corporation council department developers foundation gmbh government group inc initiative"
    " institute institution laboratory llc ltd ministry museum nations network office organisation"
    " organization project press society team union university universitat universite world"
)


def _folded(text: str) -> str:
    """Return the words of a text without case, accents, markup and punctuation.

    >>> _folded("Über <i>Drosophila</i> – Ueber"), _folded("Aarhus & Århus")
    ('uber drosophila uber', 'arhus and arhus')
    """
    plain = unicodedata.normalize("NFKD", _MARKUP.sub("", text).casefold().translate(_LETTERS))
    letters = "".join(character for character in plain if not unicodedata.combining(character))
    return _TWO_LETTERS.sub(
        lambda pair: pair[0][0], " ".join(_WORD.findall(letters.replace("'", "").replace("’", "")))
    )


def same_title(one: str, other: str) -> bool:
    """Return whether two titles may be those of one work; true if they cannot be compared.

    They are if they differ in punctuation, if one lacks the subtitle or the end, or if nearly all letters are
    the same. Other numbers, such as those of parts, make other works.

    >>> same_title("On cold fusion: A review", "On <i>Cold</i> Fusion")
    True
    >>> same_title("On cold fusion, part 1", "On cold fusion, part II")
    False

    :param one: a title
    :param other: another one
    """
    first, second = (_RETRACTED.sub("", _folded(title), count=1) for title in (one, other))
    if not _comparable(first, second):
        return True
    if _joined(first) == _joined(second):
        return True
    if _is_main(one, second) or _is_main(other, first) or _is_beginning(first, second):
        return True
    if _numbers(first) != _numbers(second):
        return False
    return _similarity(_joined(first), _joined(second)) >= _LEAST_SIMILARITY


def same_author(written: str, name: Name) -> bool:
    """Return whether a name may be that of an author; true if they cannot be compared.

    Particles, suffixes and one of two family names may be missing, and given and family name be exchanged. An
    institution and a person are not compared: both may be named as the author of one work.

    >>> from doiuri.works import Name
    >>> same_author("Beethoven", Name(family="van Beethoven", given="Ludwig"))
    True

    :param written: a family name, or the name of an institution
    :param name: the author as the metadata has it
    """
    first, second, full = map(_author, (written, name.family, str(name)))
    if first in _NOBODY or second in _NOBODY or not _comparable(first, second):
        return True
    if _joined(first) == _joined(second) or _joined(first) == _joined(full):
        return True
    if _is_group(first) or _is_group(second) or _is_acronym(name.family):
        return _same_group(written, first, name.family, second)
    one, other, all_names = _name(first), _name(second), _name(full)
    return one <= all_names or other <= one or _joined_name(first) == _joined_name(second)


def _author(name: str) -> str:
    """Return the words of a name without "et al." and what follows."""
    return _folded(_OTHERS.sub("", name))


def _comparable(one: str, other: str) -> bool:
    """Return whether both have letters, of the same script: other scripts are transliterated in many ways."""
    latin = [any("a" <= letter <= "z" for letter in text) for text in (one, other)]
    return bool(one and other) and latin[0] == latin[1]


def _joined(words: str) -> str:
    return words.replace(" ", "")


def _is_main(title: str, other: str) -> bool:
    """Return whether a title without its subtitle is another one."""
    main = _folded(_SUBTITLE.split(title, maxsplit=1)[0])
    return _joined(main) == _joined(other)


def _is_beginning(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return (
        len(_joined(short)) >= _LEAST_BEGINNING
        and f"{long} ".startswith(f"{short} ")
        and not _only_a_number(long[len(short) :])
    )


def _only_a_number(rest: str) -> bool:
    words = rest.split()
    return len(words) <= 2 and any(word.isdigit() or word in _ROMAN for word in words)


def _numbers(words: str) -> list[str]:
    roman = [match[1] or match[2] for match in _ROMAN_NUMBER.finditer(words)]
    return sorted([*re.findall(r"\d+", words), *(_ROMAN[word] for word in roman if word in _ROMAN)])


def _similarity(one: str, other: str) -> float:
    from difflib import SequenceMatcher  # slow to import, and rarely needed

    first, second = sorted((one, other))  # it is not symmetric
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def _name(words: str) -> set[str]:
    return set(words.split()) - _PARTICLES or set(words.split())


def _joined_name(words: str) -> str:
    return "".join(word for word in words.split() if word not in _PARTICLES)


def _is_acronym(name: str) -> bool:
    return len(name) > 1 and name.isupper() and name.isalpha()


def _is_group(words: str) -> bool:
    return not _GROUPS.isdisjoint(words.split()) or len(words.split()) > 4


def _same_group(written: str, first: str, family: str, second: str) -> bool:
    """Return whether institutions share half of their words, or one is the acronym of the other."""
    if not (_is_group(first) or _is_acronym(written)) or not (
        _is_group(second) or _is_acronym(family)
    ):
        return True
    for short, long in ((first, second), (second, first)):
        words = long.split()
        initials = (
            (word[0] for word in words),
            (word[0] for word in words if word not in _PARTICLES),
        )
        if short in {_folded("".join(letters)) for letters in initials}:  # NOAA is folded, too
            return True
    one, other = _name(first), _name(second)
    return len(one & other) * 2 >= min(len(one), len(other))
