"""Whether an entry of a bibliography and the registry's metadata say the same, be it in other words."""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from doiuri.records import Work

    from doiuri_cli.readers._bibliography import CitedWork
    from doiuri_cli.rules import Finding


LEAST_SIMILARITY = 0.8
"""How similar two titles have to be, from 0 to 1: so typing errors and other words in a few places pass."""

LEAST_BEGINNING = 15  # letters of a title that may stand for a longer one that begins with it
YEARS_APART = 1
"""Years between the publication online, which the registry often has, and that in print, which is cited."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = re.compile(r"[^\W_]+")
_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,300}>")
_SUBTITLE = re.compile(r"\s*[:;.?!–—]\s+|\s+[-–—]+\s+|\s*[–—:]\s*|\s*\(")
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
_TWO_LETTERS = re.compile(r"a[ae]|o[e]|u[e]")
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
_ROMAN_NUMBER = re.compile(
    r"\b(?:part|volume|vol|chapter|section|teil|band|partie|tome)\s+([ivx]+)\b|\b([ivx]{2,4})\b"
)
_RETRACTED = re.compile(
    r"(?:retracted|withdrawn|removed)(?: (?:article|paper|chapter|manuscript))? "
)
_PARTICLES = _words(
    "van von vom zu zum zur de der den del della dello des di da das do dos du la le las les lo los el al bin"
    " ibn ben ter ten te af av y e und and the of jr sr ii iii iv phd dr st saint"
)
_NOBODY = frozenset(
    {"others", "anonymous", "anon", "unknown", "na", "n a", "n n", "none", "author"}
)
_GROUPS = _words(
    "agency association bank board bureau center centre collaboration commission committee company community"
    " consortium corporation council department developers foundation gmbh government group inc initiative"
    " institute institution laboratory llc ltd ministry museum nations network office organisation"
    " organization project press society team union university universitat universite world"
)
_LONGEST = 80  # characters of a title in a message


def record_findings(
    entries: Iterable[tuple[CitedWork, Finding]], works: Mapping[str, Work]
) -> Iterator[Finding]:
    """Yield a finding for each difference between an entry and the work that its DOI names."""
    for entry, at in entries:
        if (work := works.get(entry.doi.key)) is not None:
            yield from (
                at._replace(code=code, message=text) for code, text in _differences(entry, work)
            )


def _differences(entry: CitedWork, work: Work) -> Iterator[tuple[str, str]]:
    for notice in work.notices[:1]:  # the gravest
        if notice.type != "correction":
            yield "retracted" if work.retraction else "concern", f"{entry.doi.name}: {notice}"
    if work.published_version is not None:
        yield (
            "preprint-published",
            f"{entry.doi.name} is a preprint of {work.published_version.name}",
        )
    if entry.title and work.title and not same_title(entry.title, work.title):
        yield "title-differs", f"the title of {entry.doi.name} is {_quoted(work.title)}"
    if entry.year is not None and work.year is not None and not same_year(entry.year, work.year):
        yield "year-differs", f"the year of {entry.doi.name} is {work.year}, not {entry.year}"
    names = [*work.authors[:1], *work.editors]
    written = entry.first_author_family
    if (
        written
        and names
        and not any(same_author(written, name.family, str(name)) for name in names)
    ):
        yield "author-differs", f"the first author of {entry.doi.name} is {names[0]}, not {written}"


def _quoted(title: str) -> str:
    return f'"{title if len(title) <= _LONGEST else f"{title[:_LONGEST]}…"}"'


def folded(text: str) -> str:
    """Return the words of a text without case, accents, markup and punctuation.

    >>> folded("Über <i>Drosophila</i> – Ueber"), folded("Aarhus & Århus")
    ('uber drosophila uber', 'arhus and arhus')
    """
    plain = unicodedata.normalize("NFKD", _MARKUP.sub("", text).casefold().translate(_LETTERS))
    letters = "".join(character for character in plain if not unicodedata.combining(character))
    return _TWO_LETTERS.sub(
        lambda pair: pair[0][0], " ".join(_WORD.findall(letters.replace("'", "").replace("’", "")))
    )


def same_title(one: str, other: str) -> bool:
    """Return whether two titles are those of one work; true if they cannot be compared.

    They are if they differ in punctuation, if one lacks the subtitle or the end, or if nearly all letters are
    the same. Other numbers, such as those of parts, make other works.
    """
    first, second = (_RETRACTED.sub("", folded(title), count=1) for title in (one, other))
    if not _comparable(first, second):
        return True
    if _joined(first) == _joined(second):
        return True
    if _is_main(one, second) or _is_main(other, first) or _is_beginning(first, second):
        return True
    if _numbers(first) != _numbers(second):
        return False
    return _similarity(_joined(first), _joined(second)) >= LEAST_SIMILARITY


def same_year(one: int, other: int) -> bool:
    """Return whether two years may be those of one publication."""
    return abs(one - other) <= YEARS_APART


def same_author(written: str, family: str, whole: str) -> bool:
    """Return whether a name is that of an author; true if they cannot be compared.

    Particles, suffixes and one of two family names may be missing, and given and family name be exchanged. An
    institution and a person are not compared: both may be named as the author of one work.

    :param written: the family name in the entry, or the name of an institution.
    :param family: the family name in the metadata, or the name of an institution.
    :param whole: the whole name in the metadata.
    """
    first, second, full = (
        folded(re.sub(r"\bet al\b\.?.*", "", name, flags=re.IGNORECASE))
        for name in (written, family, whole)
    )
    if first in _NOBODY or second in _NOBODY or not _comparable(first, second):
        return True
    if _joined(first) == _joined(second) or _joined(first) == _joined(full):
        return True
    if _is_group(first) or _is_group(second) or _is_acronym(family):
        return _same_group(written, first, family, second)
    one, other, all_names = _name(first), _name(second), _name(full)
    return one <= all_names or other <= one or _joined_name(first) == _joined_name(second)


def _comparable(one: str, other: str) -> bool:
    """Return whether both have letters, of the same script: other scripts are transliterated in many ways."""
    latin = [any("a" <= letter <= "z" for letter in text) for text in (one, other)]
    return bool(one and other) and latin[0] == latin[1]


def _joined(words: str) -> str:
    return words.replace(" ", "")


def _is_main(title: str, other: str) -> bool:
    """Return whether a title without its subtitle is another one."""
    main = folded(_SUBTITLE.split(title, maxsplit=1)[0])
    return _joined(main) == _joined(other)


def _is_beginning(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return (
        len(_joined(short)) >= LEAST_BEGINNING
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
        if short in {folded("".join(letters)) for letters in initials}:  # NOAA is folded, too
            return True
    one, other = _name(first), _name(second)
    return len(one & other) * 2 >= min(len(one), len(other))
