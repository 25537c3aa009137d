"""CSL-JSON as agencies send it, reduced to the variables of CSL, each with its proper type.

The schema is that of CSL 1.0.2 (csl-data.json). Crossref adds members, and sends lists for text, types of its
own and null. DataCite sends codes for what is unknown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from doiuri._json import integer
from doiuri._text import is_web, plain_text, rich_text, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Date = list[int]  # year, month, day; the last ones may be missing

# Characters of a title, of any other text, of a URL and of a name
MAX_TITLE, MAX_TEXT, _MAX_URL, _MAX_NAME = 1000, 300, 2000, 200
_MAX_NAMES = (
    100  # that are kept of a list, the last one among them; those of collaborations have thousands
)
_MAX_NESTING = 5  # lists around a date; there should be one
# The members that may hold the date of publication, the best first; only the first is CSL's. Crossref's
# "created" is the date on which the DOI was registered, often decades later.
_DATES = ("issued", "published", "published-print", "published-online")
NAMES = tuple(
    "author editor translator container-author collection-editor interviewer recipient chair compiler composer"  # noqa: SIM905
    " contributor curator director editor-translator editorial-director executive-producer guest host illustrator"
    " narrator organizer original-author performer producer reviewed-author script-writer series-creator".split()
)
"""The members that hold names."""

OTHER_DATES = ("accessed", "available-date", "event-date", "original-date", "submitted")
"""The members that hold dates, without that of publication."""

NUMBERS = tuple(
    "chapter-number collection-number edition issue number number-of-pages number-of-volumes part-number"  # noqa: SIM905
    " printing-number supplement-number volume".split()
)
"""The members that hold numbers, if not only numbers."""

# Without "abstract", which no list shows, and "source", in which Crossref sends its own name
_TEXTS = NUMBERS + tuple(
    "container-title-short collection-title event-title event-place publisher publisher-place authority"  # noqa: SIM905
    " section page version genre medium archive language ISBN ISSN annote archive-place archive_collection"
    " archive_location call-number citation-label dimensions division jurisdiction keyword license note"
    " original-publisher original-publisher-place page-first PMCID PMID references reviewed-genre scale"
    " status".split()
)
_TITLES = (
    "container-title",
    "original-title",
    "part-title",
    "reviewed-title",
    "title-short",
    "volume-title",
)
_CSL_TYPES = frozenset(
    "article article-journal article-magazine article-newspaper bill book broadcast chapter classic"  # noqa: SIM905
    " collection dataset document entry entry-dictionary entry-encyclopedia event figure graphic hearing"
    " interview legal_case legislation manuscript map motion_picture musical_score pamphlet paper-conference"
    " patent performance periodical personal_communication post post-weblog regulation report review"
    " review-book software song speech standard thesis treaty webpage".split()
)
_OTHER_TYPES = {
    **dict.fromkeys(("book-chapter", "book-part", "book-section"), "chapter"),
    **dict.fromkeys(("edited-book", "monograph", "proceedings", "reference-book"), "book"),
    **dict.fromkeys(("journal", "journal-issue"), "periodical"),
    "database": "dataset",
    "dissertation": "thesis",
    "journal-article": "article-journal",
    "peer-review": "review",
    "posted-content": "article",
    "proceedings-article": "paper-conference",
    "reference-entry": "entry",
    "report-series": "report",
}
_NOT_VARIABLES = frozenset({"DOI", "custom", "id", "type"})
_CSL_TAGS = re.compile(
    r"""
    </? (?: i | b | sub | sup ) >
    | <span \s (?: class="nocase" | style="font-variant:\s?small-caps;?" ) >
    | </span>
    """,
    re.VERBOSE,
)
_YEAR = re.compile(r"[12][0-9]{3}")
_ISO_DATE = re.compile(r"([0-9]{4})-([01][0-9])(?:-([0-3][0-9]))?")
_TIME = re.compile(r"(?<=[0-9])[T ][0-9]{2}:[0-9:.]+(?:Z|[+-][0-9:]+)?")
_TOKENS = re.compile(r"[^\W\d_]+|[0-9]+|\S")
_DATE_WORDS = frozenset(
    "january february march april may june july august september october november december"  # noqa: SIM905
    " jan feb mar apr jun jul aug sep sept oct nov dec spring summer autumn fall winter"
    " monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun"
    " st nd rd th of the ad ce c ca circa about approximately before after between and or to early mid late"
    " copyright".split()
)
_DATE_MARKS = frozenset(".,;:/-–—()[]?~©")

# What DataCite's schema puts in place of unknown text (appendix 3 of version 4)
_UNKNOWN = re.compile(r"\(?:(?:unac|unal|unap|unas|unav|unkn|none|null|tba|etal)\)?", re.IGNORECASE)


def reduce_csl(csl: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of CSL, without empty ones. The function is idempotent."""
    texts = {member: _text(csl.get(member), MAX_TEXT) for member in _TEXTS}
    texts["event-title"] = texts["event-title"] or _text(csl.get("event"), MAX_TEXT)
    if not isinstance(csl.get("status"), str):
        texts["status"] = ""  # Crossref's is a list
    texts["ISBN"] = texts["ISBN"].rpartition("/")[2]  # Crossref sends a URL
    issued = next(filter(None, (read_date(csl.get(member)) for member in _DATES)), None)
    dates = {"issued": issued} | {member: read_date(csl.get(member)) for member in OTHER_DATES}
    url = csl.get("URL")
    reduced: dict[str, Any] = {
        "type": _type(csl.get("type")),
        "title": _title(csl),
        **{member: _text(csl.get(member), MAX_TEXT, rich_text) for member in _TITLES},
        **{member: [name.to_json() for name in read_names(csl.get(member))] for member in NAMES},
        **{member: {"date-parts": [date]} if date else None for member, date in dates.items()},
        "URL": url if isinstance(url, str) and len(url) <= _MAX_URL and is_web(url) else None,
    }
    return {member: value for member, value in (reduced | texts).items() if value}


def whole_csl(item: Mapping[str, Any], reduced: Mapping[str, Any]) -> dict[str, Any]:
    """Return an author's item, whole; what is not as in CSL's schema is as ``reduced`` has it."""
    whole = dict(reduced)
    for member, value in item.items():
        if member in _NOT_VARIABLES or not _is_printable(value):
            continue
        if member in NAMES:
            if _has_more_parts(value):
                whole[member] = value
        elif member == "issued" or member in OTHER_DATES:
            if _says_more(value):
                whole[member] = value
        elif member == "URL":
            if isinstance(value, str) and is_web(value):
                whole[member] = value
        elif isinstance(value, str):
            whole[member] = _cleaned(value)
        elif isinstance(value, int | float):
            whole[member] = str(value)
    return whole


def _has_more_parts(names: object) -> bool:
    """Return whether names are more than those that ``read_names`` returns: more of them, or more parts."""
    if not isinstance(names, list) or not all(isinstance(name, dict) for name in names):
        return False
    parts = {part for name in names for part in name}
    return len(names) > _MAX_NAMES or not parts <= {"family", "given", "literal", "suffix"}


def _says_more(date: object) -> bool:
    """Return whether a date is more than a year, a month and a day, or cannot be read."""
    if not isinstance(date, dict):
        return False
    if not date.keys().isdisjoint({"circa", "literal", "raw", "season"}):
        return True
    parts = date.get("date-parts")
    is_period = isinstance(parts, list) and len(parts) > 1
    return is_period or read_date(date) is None


def _cleaned(text: str) -> str:
    """Return text with the tags that CSL knows; other markup is dropped."""
    without_tags = _CSL_TAGS.sub("", text)
    if "<" in without_tags or "&" in without_tags:
        return rich_text(text, len(text))
    return text


def _is_printable(value: object) -> bool:
    """Return whether there are texts and numbers in a value, and nothing invisible."""
    if isinstance(value, dict):
        return all(map(_is_printable, value.values()))
    if isinstance(value, list):
        return all(map(_is_printable, value))
    if isinstance(value, str):
        return value.replace("\n", " ").isprintable()
    return isinstance(value, int | float)


def read_date(value: object) -> Date | None:
    """Return the year, month and day of a date variable; None if it has no year.

    Of a season, an approximate date or free text the year is returned; of a period, its first year. Free text
    is only read if it contains nothing but a date: "c. 1998" and "13 June 2006", but not "pp. 1200-1300".
    """
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value = value[0]  # pandoc's old form, like {"year": 2006, "month": 6}
    if not isinstance(value, dict):
        return _date(value)
    if "year" in value:
        return _date([value.get(part) for part in ("year", "month", "day")])
    dates = (value.get(member) for member in ("date-parts", "raw", "literal", "date-time"))
    return next(filter(None, map(_date, dates)), None)


def _date(value: object) -> Date | None:
    for _ in range(_MAX_NESTING):
        if isinstance(value, list) and value and isinstance(value[0], list):
            value = value[0]
    if isinstance(value, str) and (iso := _ISO_DATE.fullmatch(_TIME.sub("", value))):
        value = [*iso.groups()]
    parts = value if isinstance(value, list) else [value]
    date = _year(parts[0]) if parts else []
    for part, most in zip(parts[1:], (12, 31), strict=False):
        number = _number(part)
        if not date or number is None or not 0 < number <= most:
            break
        date.append(number)
    return date or None


def _year(value: object) -> Date:
    number = _number(value)
    if number is not None and 0 < number < 10_000:
        return [number]
    found = _year_in_text(value) if isinstance(value, str) and len(value) <= MAX_TEXT else None
    return [found] if found else []


def _year_in_text(text: str) -> int | None:
    """Return the first year in a text; None if it contains anything that is not part of a date."""
    years = []
    for token in _TOKENS.findall(_TIME.sub("", text)):
        if _YEAR.fullmatch(token):
            years.append(int(token))
        elif token.isdecimal():
            if len(token) > 2:
                return None
        elif token.casefold() not in _DATE_WORDS and token not in _DATE_MARKS:
            return None
    return years[0] if years else None


def _number(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 4:
        return int(value)
    return integer(value)


def _text(value: object, limit: int, read: Callable[[object, int], str] = plain_text) -> str:
    """Return the first text in a member, which may be a list of texts, or an object with a name."""
    for item in value if isinstance(value, list) else [value]:
        if text := known_text(item.get("name") if isinstance(item, dict) else item, limit, read):
            return text
    return ""


def _title(csl: Mapping[str, Any]) -> str:
    """Return the title with the subtitle, which Crossref sends apart from it, and sometimes in it, too."""
    title, subtitle = (
        _text(csl.get(member), MAX_TITLE, rich_text) for member in ("title", "subtitle")
    )
    plain = plain_text(title, MAX_TITLE)
    if not title or plain_text(subtitle, MAX_TITLE).casefold() in plain.casefold():
        return title or subtitle
    separator = " " if plain.endswith(("?", "!", ":", ".", "…")) else ": "
    return known_text(f"{title}{separator}{subtitle}", MAX_TITLE, rich_text)


def _type(value: object) -> str:
    name = value if isinstance(value, str) else ""
    return name if name in _CSL_TYPES else _OTHER_TYPES.get(name, "document")


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

    Of more than 100, the first 99 and the last are returned.

    A ``literal`` or ``name`` stays whole, even "Kahn, Robert": nothing tells it from "NASA, Washington".
    """
    people = value if isinstance(value, list) else [value]
    names = [*islice(filter(None, map(_read_name, people)), _MAX_NAMES)]
    if len(people) > _MAX_NAMES == len(names):  # the last one is shown by many styles
        names[-1] = next(filter(None, map(_read_name, reversed(people))), names[-1])
    return tuple(names)


def is_shortened(names: Sequence[Name], most: int) -> bool:
    """Return whether the first name and "et al." are shown, since there are more or the last is "others"."""
    return len(names) > most or (len(names) > 1 and str(names[-1]) == "others")


def known_text(value: object, limit: int, read: Callable[[object, int], str] = plain_text) -> str:
    """Return text as ``read`` does; "" for a code that stands for unknown text, such as ``(:unav)``."""
    text = read(value, limit)
    return "" if _UNKNOWN.fullmatch(text) else text


def _known_name(value: object) -> str:
    """Return known text without commas and semicolons at its end, which are left over from lists of names."""
    return known_text(value, _MAX_NAME, lambda text, limit: plain_text(text, limit).rstrip(" ,;"))


def _read_name(person: object) -> Name | None:
    if isinstance(person, str):
        return _name_in_text(person)
    if not isinstance(person, dict):
        return None
    family, given = _joined(person, "family"), _joined(person, "given")
    if not family and not given:
        whole = next(_texts(person, "literal", "name"), "")
        return Name(whole) if whole else None
    if not family:
        family, given = given, ""  # a person with one name
    return Name(family, given, _known_name(person.get("suffix")))


def _name_in_text(text: str) -> Name | None:
    """Read "Kahn, Robert"; any other text may be an institution, and stays whole."""
    whole = _known_name(text)
    family, comma, given = (part.strip() for part in whole.partition(","))
    if comma and family and given and "," not in given:
        return Name(family, given)
    return Name(whole) if whole else None


def _joined(person: Mapping[str, object], part: str) -> str:
    """Return the given or the family name together with its particle."""
    before, after = (
        ("non-dropping-particle", part) if part == "family" else (part, "dropping-particle")
    )
    texts = list(_texts(person, before, after))
    if len(texts) == 2 and part == "family" and texts[1].startswith(f"{texts[0]} "):
        return texts[1]  # the family name repeats the particle
    elided = (
        part == "family" and len(texts) == 2 and texts[0].endswith(("'", "’", "-"))
    )  # d'Alembert
    return shortened(("" if elided else " ").join(texts), _MAX_NAME)


def _texts(person: Mapping[str, object], *members: str) -> Iterator[str]:
    return filter(None, (_known_name(person.get(member)) for member in members))
