"""The names of CSL-JSON: their parts, particles and initials (CSL 1.0.2, Name Variables)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_NAME = 200
# Words in lower case before the family name: "van der", "d'", "al-"
_LEADING_PARTICLES = re.compile(
    r"""
    (?: ['’]? [a-zß-öø-ÿ] [\w.]* [-'’]? \s+
    |   [a-zß-öø-ÿ]+ ['’] \s*
    |   al- | el- | [a-zß-öø-ÿ]+ - (?= [^\W\d_a-zß-öø-ÿ] )  # "ben-David"
    )+
    (?= \S )
    """,
    re.VERBOSE,
)
_PERIOD_IN_WORD = re.compile(r"\.(?=[^\s\-.])")
_PARTICLE = re.compile(r"[a-zß-öø-ÿ]\w*(?:['’][a-zß-öø-ÿ]\w*)*['’]?")
_TAGGED_WORD = re.compile(
    r"(?P<before> (?: </?\w+> )* ) (?P<word> [^<>]+ ) (?P<after> (?: </?\w+> )* )", re.VERBOSE
)
_SUFFIX = re.compile(r"[JS]r\b|[IVX]+\b|Esq")


@dataclass(frozen=True)
class Person:
    """A name of CSL-JSON."""

    family: str = ""
    given: str = ""
    dropping: str = ""
    non_dropping: str = ""
    suffix: str = ""

    comma_suffix: bool = False
    """Whether a comma stands before the suffix."""

    static: bool = False
    """Whether the family name comes first in any style, as in Hungarian (``static-ordering``)."""

    literal: str = ""
    """The whole name, of an institution or as the author wrote it; the parts are empty then."""

    @cached_property
    def is_east_asian(self) -> bool:
        """Whether the given name follows the family name without a space, as in "山田太郎".

        The scripts are those whose letters are wide (Unicode Standard Annex 11). ``doiuri.works`` decides in the
        same way, but may be installed without this package; a test compares the two.
        """
        for character in self.family or self.given:
            if character.isalpha() and unicodedata.east_asian_width(character) in "WF":
                return True
        return False

    @property
    def parts(self) -> tuple[str, ...]:
        """The texts of the name."""
        return (
            self.family,
            self.given,
            self.dropping,
            self.non_dropping,
            self.suffix,
            self.literal,
        )

    @cached_property
    def key(self) -> str:
        """Text that is the same for two names of one person.

        "J. R. Doe" and "J.R. Doe" have the key "||Doe||J R|".
        """
        given = re.sub(r"[\s.]+", " ", self.given).strip()
        return "|".join(
            (self.literal, self.non_dropping, self.family, self.dropping, given, self.suffix)
        )

    def family_key(self, *, is_demoted: bool) -> str:
        """Return what people of one family name have in common; a particle that is demoted is no part of it."""
        if is_demoted:
            return self.literal or self.family
        return self.literal or f"{self.non_dropping}|{self.family}"


def read_person(value: Mapping[str, Any]) -> Person:
    """Return the person of a CSL-JSON name, with the particles and the suffix that are part of other fields.

    {"family": "van der Berg", "given": "Ann, Jr."} has the particle "van der" and the suffix "Jr.".
    """
    if value.get("literal"):
        return Person(literal=str(value["literal"]))
    if not value.get("family") and value.get("name"):
        return Person(literal=str(value["name"]))
    person = Person(
        family=str(value.get("family") or "").strip(),
        given=str(value.get("given") or "").strip(),
        dropping=str(value.get("dropping-particle") or ""),
        non_dropping=str(value.get("non-dropping-particle") or ""),
        suffix=str(value.get("suffix") or ""),
        comma_suffix=bool(value.get("comma-suffix")),
        static=bool(value.get("static-ordering")),
    )
    # A given name alone, as of Plato, is the whole name
    if not person.family and person.given:
        return Person(literal=person.given)
    return _parse_particles(_parse_suffix(person))


def _parse_suffix(person: Person) -> Person:
    """Return a person with the suffix that the given name ends in, after a comma: "Ann, Jr.", "Ann, III".

    After ",!" anything is a suffix, and a comma stands before it (citeproc-js, Names).
    """
    given, comma, rest = person.given.partition(",")
    if not comma or person.suffix or person.dropping:
        return person
    rest = rest.strip()
    if rest.startswith("!"):
        return replace(person, given=given.strip(), suffix=rest[1:].strip(), comma_suffix=True)
    if _SUFFIX.match(rest):
        return replace(person, given=given.strip(), suffix=rest)
    return person


def _parse_particles(person: Person) -> Person:
    """Return a person with the particles that the names have: the family name at its start, the given at its end.

    "van der Berg" has the non-dropping particle "van der", "Ludwig van" the dropping particle "van".
    """
    family = person.family
    if len(family) > _LONGEST_NAME or len(person.given) > _LONGEST_NAME:
        return person
    # A family name in quotation marks is whole, whatever it begins with.
    if family.startswith('"') and family.endswith('"') and len(family) > 1:
        return replace(person, family=family[1:-1])

    return _parse_dropping(_parse_non_dropping(person))


def _parse_non_dropping(person: Person) -> Person:
    """Return a person with the particles at the start of the family name: "van der" of "van der Berg"."""
    particles = _LEADING_PARTICLES.match(person.family)
    if person.non_dropping or not particles:
        return person
    rest = person.family[particles.end() :]
    return replace(person, non_dropping=particles[0].strip(), family=rest)


def _parse_dropping(person: Person) -> Person:
    """Return a person with the particles at the end of the given name: "van" of "Ludwig van"."""
    # In a given name without capitals, such as "danah michele", every word but the first would be a particle
    if person.dropping or person.given.islower():
        return person
    words = person.given.split()
    # From the last word back to the first that is no particle; the first word never is one
    start = len(words)
    while start > 1 and _PARTICLE.fullmatch(words[start - 1]):
        start -= 1
    if start == len(words):
        return person
    return replace(person, given=" ".join(words[:start]), dropping=" ".join(words[start:]))


def glue(*parts: str) -> str:
    """Return parts of a name with spaces between them if the first needs one: "de Gaulle", "d'Arcy", "al-Din"."""
    glued = ""
    for part in parts:
        if not part:
            continue
        if glued and not _has_no_space(glued):
            glued += " "
        glued += part
    return glued


def space_after(particle: str) -> str:
    """Return what stands between a particle and the name."""
    return "" if _has_no_space(particle) else " "


def _has_no_space(particle: str) -> bool:
    """Return whether a particle has no space after it: "al-" and "d'" have none, "van" and "de'" have one."""
    if particle.endswith(("-", "\u2010")):
        return True
    last_word = particle.rsplit(maxsplit=1)[-1]
    return len(last_word) == 2 and last_word.endswith(("'", "’"))


def initials(given: str, mark: str, *, hyphen: bool, only_normalizes: bool = False) -> str:
    """Return given names as initials (CSL 1.0.2, Name, "initialize-with"): "Jean-Paul M." as "J.-P. M.".

    :param mark: what follows an initial, such as ". "
    :param hyphen: whether the hyphens of the names stay between the initials
    :param only_normalizes: whether names stay as they are, but for those that are initials already
    """
    has_no_capital = given.islower()
    # Of the mark ". ", the period belongs to the initial and to its markup; the space stands after both
    mark_itself = mark.rstrip()
    space = mark[len(mark_itself) :]
    written: list[str] = []
    for word in _words(given):
        letters = _initial_of(word.text, only_normalizes=only_normalizes)
        if letters:
            hyphen_before = "-" if word.after_hyphen and hyphen else ""
            initial = f"{word.tags_before}{letters}{mark_itself}{word.tags_after}"
            written.append(f"{hyphen_before}{initial}{space}")
            continue
        # A word without an initial stays whole, as "de" in "A. de"; but of "Guo-ping", "ping" goes: "G."
        # A name without capitals, "bell", stays as it is written
        is_lower_after_hyphen = word.after_hyphen and word.text[:1].islower()
        if only_normalizes or has_no_capital or not is_lower_after_hyphen:
            written.append(_in_full(word, written))
    # "J. " and "-P. " of "Jean-Paul" become "J.-P."
    joined = "".join(written)
    while " -" in joined:
        joined = joined.replace(" -", "-")
    return joined.strip()


class _Word(NamedTuple):
    """A word of a given name."""

    text: str
    after_hyphen: bool

    tags_before: str = ""
    """The markup around it, as in "<b>John</b> Quincy"."""

    tags_after: str = ""


def _words(given: str) -> list[_Word]:
    """Return the words of a given name: three of "J.R.R.", two of "Jean-Paul", the second after a hyphen."""
    text = _PERIOD_IN_WORD.sub(". ", given.replace("\u00a0", " "))
    words = []
    for chunk in text.split():
        for index, part in enumerate(chunk.split("-")):
            after_hyphen = index > 0
            tagged = _TAGGED_WORD.fullmatch(part)
            if tagged:
                words.append(_Word(tagged["word"], after_hyphen, tagged["before"], tagged["after"]))
            elif part:
                words.append(_Word(part, after_hyphen))
    return words


def _initial_of(word: str, *, only_normalizes: bool) -> str:
    """Return the letters of a word's initial, "A" of "Ann"; "" if the word stays whole, as the particle "de".

    With ``only_normalizes``, "Ann" stays whole too, and only what is short already has letters: "A", "Chr.".
    """
    bare = word.rstrip(".")
    is_initial = len(bare) == 1 and bare.isalpha() and bare.isupper()
    if is_initial:
        return bare
    if only_normalizes:
        return bare if word.endswith(".") else ""
    if not word[0].isupper():
        return ""
    if word.endswith("."):
        return bare  # an abbreviation, as in "Chr. Huygens"
    # Two capitals and a small letter: "LJubica" begins with one letter, which is written with two.
    if bare[:2].isalpha() and bare[:2].isupper() and bare[2:3].islower():
        return bare[0] + bare[1].lower()
    return word[0]


def _in_full(word: _Word, before: list[str]) -> str:
    """Return a word that stays whole, such as "de", with spaces between it and its neighbours.

    :param before: what is written of the words before it
    """
    text = f"{word.tags_before}{word.text}{word.tags_after}"
    if word.after_hyphen:
        return f"-{text} "
    if before and not before[-1].endswith(" "):
        return f" {text} "
    return f"{text} "
