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


# The vowel signs of the scripts of India and South-East Asia are no letters for ``re``, but tell words apart
_WORD = lazy(r"(?:[^\W_]|[\u0900-\u0963\u0966-\u109F\u1780-\u17D3])+")
_MARKUP = lazy(r"</?[A-Za-z][^<>]{0,300}>")
_SUBTITLE = lazy(r"\s*[:;.?!–—]\s+|\s+[-–—]+\s+|\s*[–—:]\s*|\s*\(")
# Accents are dropped; these letters have none, or are also written with two letters
_LATIN = {
    "æ": "a",
    "œ": "o",
    "ø": "o",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "ı": "i",
    "ŋ": "n",
}
_GREEK = {
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "ε": "epsilon",
    "κ": "kappa",
    "λ": "lambda",
    "μ": "mu",
    "π": "pi",
    "σ": "sigma",
    "τ": "tau",
    "ω": "omega",
}
_AS_WORDS = {character: f" {word} " for character, word in {**_GREEK, "&": "and"}.items()}
_APOSTROPHES = dict.fromkeys(map(ord, "'’ʼ‘`´"))
_LETTERS = str.maketrans(_LATIN | _AS_WORDS)
_TWO_LETTERS = lazy(r"a[ae]|[ou]e")  # also written "å", "ä", "ö" and "ü"
_ROMAN = {
    numeral: str(number)
    for number, numeral in enumerate(
        "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split(),  # noqa: SIM905
        1,
    )
}
_ROMAN_NUMBER = lazy(
    r"""
    \b (?: part | volume | vol | chapter | section | teil | band | partie | tome ) \s+ ( [ivx]+ ) \b
    | \b ( [ivx]{2,5} ) \b      # on its own, from two letters on
    """,
    re.VERBOSE,
)
_PART = lazy(
    r"\b(?:part|volume|vol|section|series|teil|band|partie) ([a-h]|one|two|three|four|five|first|second|third)\b"
)
_SIGNS = lazy(r"\+|(?<=[A-Za-z])#")  # "C", "C++" and "C#", and the charges of particles
_RETRACTED = lazy(
    r"""
    (?: retracted | withdrawn | removed )
    (?: [ ] (?: article | paper | chapter | manuscript ) )?
    [ ]
    """,
    re.VERBOSE,
)
_PARTICLES = frozenset(
    "van von vom zu zum zur de der den del della dello des di da das do dos du la le las les lo los el al bin"  # noqa: SIM905
    " ibn ben ter ten te af av y e und and the of jr sr ii iii iv phd dr st saint".split()
)
_OTHERS = lazy(r"\bet al\b\.?.*", re.IGNORECASE)
_NOBODY = frozenset(
    {"others", "anonymous", "anon", "unknown", "na", "n a", "n n", "none", "author"}
)
_GROUPS = frozenset(
    "agency association bank board bureau center centre collaboration commission committee company community"  # noqa: SIM905
    " consortium corporation council department developers foundation gmbh government group inc initiative"
    " institute institution laboratory llc ltd ministry museum nations network office organisation"
    " organization project press society team union university universitat universite world".split()
)
_MOST_WORDS = 4  # of a person's name


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
    first = _title(one)
    second = _title(other)
    if not _are_comparable(first, second) or _joined(first) == _joined(second):
        return True
    if _is_main_title(one, second) or _is_main_title(other, first):
        return True
    if _is_beginning(first, second):
        return True
    have_same_numbers = _numbers(first) == _numbers(second)
    return have_same_numbers and _are_similar(_joined(first), _joined(second))


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
    return _compare_authors(written, name) is not False


def equal_titles(one: str, other: str) -> bool:
    """Return whether two titles are the same title, not only alike; false if one is empty.

    They are if they differ in case, accents, markup and punctuation, or if one lacks the subtitle.

    >>> equal_titles("On cold fusion: A review", "On <i>Cold</i> Fusion")
    True
    >>> equal_titles("On cold fusion", "On warm fusion"), equal_titles("On cold fusion: II", "On cold fusion")
    (False, False)
    """
    first = _title(one)
    second = _title(other)
    if not first or not second or _signs(one) != _signs(other):
        return False
    if _joined(first) == _joined(second):
        return True
    if _numbers(first) != _numbers(second) or _PART.findall(first) != _PART.findall(second):
        return False
    return _has_subtitle(one, second) or _has_subtitle(other, first)


def equal_authors(written: str, name: Name) -> bool:
    """Return whether a name is that of an author, as ``same_author`` compares them; false if it cannot."""
    return _compare_authors(written, name) is True


def count_words(title: str) -> int:
    """Return the number of words of a title; two letters of a script without blanks count as one."""
    words = _title(title)
    letters_without_blanks = sum(
        unicodedata.east_asian_width(letter) in "WF" or "\u0e00" <= letter < "\u1800"
        for letter in words
    )
    return max(len(words.split()), letters_without_blanks // 2)


def _compare_authors(written: str, name: Name) -> bool | None:
    """Return whether a name is that of an author, or None if they cannot be compared."""
    author = _author(written)
    family = _author(name.family)
    whole_name = _author(str(name))

    if author in _NOBODY or family in _NOBODY or not _are_comparable(author, family):
        return None
    if _joined(author) in {_joined(family), _joined(whole_name)}:
        return True
    if _is_group(author) or _is_group(family) or _is_acronym(name.family):
        return _compare_groups(written, name.family)

    # "García" of "García Márquez", or the other way round
    author_words = _significant_words(author)
    lacks_a_name = author_words <= _significant_words(whole_name)
    adds_a_name = _significant_words(family) <= author_words
    return lacks_a_name or adds_a_name or _without_particles(author) == _without_particles(family)


def folded(text: str) -> str:
    """Return the words of a text without case, accents, markup and punctuation.

    >>> folded("Über <i>Drosophila</i> – Ueber"), folded("Aarhus & Århus")
    ('uber drosophila uber', 'arhus and arhus')
    """
    without_case = _MARKUP.sub("", text).casefold().translate(_LETTERS)
    decomposed = unicodedata.normalize("NFKD", without_case)
    letters = "".join(char for char in decomposed if not unicodedata.combining(char))
    without_apostrophes = letters.translate(_APOSTROPHES)
    words = " ".join(_WORD.findall(without_apostrophes))
    return _TWO_LETTERS.sub(lambda pair: pair[0][0], words)


def _title(title: str) -> str:
    """Return the words of a title without "RETRACTED ARTICLE" and the like."""
    return _RETRACTED.sub("", folded(title), count=1)


def _author(name: str) -> str:
    """Return the words of a name without "et al." and what follows."""
    return folded(_OTHERS.sub("", name))


def _joined(words: str) -> str:
    return words.replace(" ", "")


def _are_comparable(one: str, other: str) -> bool:
    """Return whether both have letters, of the same script: other scripts are transliterated in many ways."""
    if not one or not other:
        return False
    return _has_latin_letter(one) == _has_latin_letter(other)


def _has_latin_letter(words: str) -> bool:
    return any("a" <= character <= "z" for character in words)


def _is_main_title(title: str, other: str) -> bool:
    """Return whether a title without its subtitle is another one, whose words are given."""
    main_title = _SUBTITLE.split(title, maxsplit=1)[0]
    return _joined(folded(main_title)) == _joined(other)


def _has_subtitle(title: str, other: str) -> bool:
    """Return whether a title up to any of its marks, such as ":", is another one, whose words are given."""
    ends = (mark.start() for mark in _SUBTITLE.finditer(title))
    return any(_joined(_title(title[:end])) == _joined(other) for end in ends)


def _is_beginning(one: str, other: str) -> bool:
    """Return whether the longer title begins with the shorter one, and goes on with more than a number."""
    short, long = sorted((one, other), key=len)
    if len(_joined(short)) < _LEAST_BEGINNING or not f"{long} ".startswith(f"{short} "):
        return False
    return not _is_only_a_number(long.removeprefix(short))


def _is_only_a_number(words: str) -> bool:
    """Return whether words that follow a title number it, as "2" and "part ii" do."""
    rest = words.split()
    return len(rest) <= 2 and any(word.isdigit() or word in _ROMAN for word in rest)


def _signs(title: str) -> list[str]:
    """Return the signs of a title that tell names apart, but are no letters: ["+", "+"] of "On C++"."""
    return _SIGNS.findall(unicodedata.normalize("NFKD", _MARKUP.sub("", title)))


def _numbers(words: str) -> list[str]:
    """Return the numbers of a title, sorted as text; Roman ones become digits."""
    numbers = re.findall(r"\d+", words)
    for match in _ROMAN_NUMBER.finditer(words):
        roman = match[1] or match[2]
        if roman in _ROMAN:
            numbers.append(_ROMAN[roman])
    return sorted(numbers)


def _are_similar(one: str, other: str) -> bool:
    """Return whether most letters of two titles are the same, in the same order."""
    from difflib import SequenceMatcher  # slow to import, and rarely needed

    first, second = sorted((one, other))  # it is not symmetric
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return matcher.ratio() >= _LEAST_SIMILARITY


def _significant_words(name: str) -> set[str]:
    """Return the words of a name without its particles; all of them if it has nothing else."""
    words = set(name.split())
    return words - _PARTICLES or words


def _without_particles(name: str) -> str:
    return "".join(word for word in name.split() if word not in _PARTICLES)


def _is_acronym(name: str) -> bool:
    return len(name) > 1 and name.isupper() and name.isalpha()


def _is_group(name: str) -> bool:
    """Return whether the words of a name are those of an institution."""
    words = name.split()
    return len(words) > _MOST_WORDS or not _GROUPS.isdisjoint(words)


def _compare_groups(one: str, other: str) -> bool | None:
    """Return whether institutions share half of their own words, or one is the acronym of the other.

    None if one is a person.
    """
    first = _author(one)
    second = _author(other)
    is_first_group = _is_group(first) or _is_acronym(one)
    is_second_group = _is_group(second) or _is_acronym(other)
    if not is_first_group or not is_second_group:
        return None

    if _is_acronym_of(first, second) or _is_acronym_of(second, first):
        return True
    first_words = _own_words(first)
    second_words = _own_words(second)
    shared = first_words & second_words
    return len(shared) * 2 >= min(len(first_words), len(second_words))


def _own_words(group: str) -> set[str]:
    """Return the words that tell an institution from others: not "university", if it has more words."""
    words = _significant_words(group)
    return words - _GROUPS or words


def _is_acronym_of(short: str, long: str) -> bool:
    """Return whether a name is made of the initials of another one, with or without its particles."""
    words = long.split()
    initials = "".join(word[0] for word in words)
    without_particles = "".join(word[0] for word in words if word not in _PARTICLES)
    # folded like the name: "noaa" is "noa" then
    return short in {folded(initials), folded(without_particles)}
