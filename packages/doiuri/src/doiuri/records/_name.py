"""The names of authors and editors in CSL-JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from doiuri.records._plain_text import plain_text, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_NAMES = 100
"""Names that are kept of a list; those of collaborations have thousands."""

MAX_NAME = 200
"""Characters of a name."""

# What DataCite's schema puts in place of unknown text (appendix 3 of version 4)
_UNKNOWN = re.compile(r"\(?:(?:unac|unal|unap|unas|unav|unkn|none|null|tba|etal)\)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a person, or of an institution.

    >>> name = Name("van der Berg", "Anna", "Jr.")
    >>> str(name), name.family
    ('Anna van der Berg Jr.', 'van der Berg')
    >>> str(Name("International DOI Foundation"))
    'International DOI Foundation'
    """

    family: str
    """The family name with its non-dropping particle; the whole name of an institution, or of a person whose
    name is not divided."""

    given: str = ""
    """The given names, with the dropping particle (the "von" of "Alexander von Humboldt")."""

    suffix: str = ""
    """Such as "Jr." or "III"."""

    def __str__(self) -> str:
        """Return the whole name, given names first."""
        return " ".join(filter(None, (self.given, self.family, self.suffix)))

    def to_json(self) -> dict[str, str]:
        """Return the name as CSL-JSON; one without given names and suffix is a ``literal``."""
        if not self.given and not self.suffix:
            return {"literal": self.family}
        parts = {"family": self.family, "given": self.given, "suffix": self.suffix}
        return {key: text for key, text in parts.items() if text}


def read_names(value: object) -> tuple[Name, ...]:
    """Return the names in a member of CSL-JSON, which may have any type; those that are empty are dropped.

    A ``literal`` or ``name`` stays whole, even "Kahn, Robert": nothing tells it from "NASA, Washington".
    """
    people = value if isinstance(value, list) else [value]
    names = []
    for person in people:
        if (name := _read(person)) is not None:
            names.append(name)
            if len(names) == MAX_NAMES:
                break
    return tuple(names)


def known_text(value: object, limit: int) -> str:
    """Return plain text; "" for a code that stands for unknown text, such as ``(:unav)``."""
    text = plain_text(value, limit)
    return "" if _UNKNOWN.fullmatch(text) else text


def _known_name(value: object) -> str:
    """Return known text without commas and semicolons at its end, which are left over from lists of names."""
    text = plain_text(value, MAX_NAME).rstrip(" ,;")
    return "" if _UNKNOWN.fullmatch(text) else text


def _read(person: object) -> Name | None:
    if isinstance(person, str):
        return _from_text(person)
    if not isinstance(person, dict):
        return None
    family, given = _joined(person, "family"), _joined(person, "given")
    if not family and not given:
        whole = next(_texts(person, "literal", "name"), "")
        return Name(whole) if whole else None
    if not family:
        family, given = given, ""  # a person with one name
    return Name(family, given, _known_name(person.get("suffix")))


def _from_text(text: str) -> Name | None:
    """Read "Kahn, Robert"; any other text may be an institution, and stays whole."""
    whole = _known_name(text)
    family, comma, given = (part.strip() for part in whole.partition(","))
    if comma and family and given and "," not in given:
        return Name(family, given)
    return Name(whole) if whole else None


def _joined(person: Mapping[str, object], part: str) -> str:
    """Return the given or the family name together with its particle."""
    before, after = ("non-dropping-particle", part) if part == "family" else (part, "dropping-particle")
    texts = list(_texts(person, before, after))
    if len(texts) == 2 and part == "family" and texts[1].startswith(f"{texts[0]} "):
        return texts[1]  # the family name repeats the particle
    elided = part == "family" and len(texts) == 2 and texts[0].endswith(("'", "’", "-"))  # d'Alembert
    return shortened(("" if elided else " ").join(texts), MAX_NAME)


def _texts(person: Mapping[str, object], *members: str) -> Iterator[str]:
    return filter(None, (_known_name(person.get(member)) for member in members))
