"""CSL-JSON as agencies send it, reduced to the variables of CSL, each with its proper type.

The schema is that of CSL 1.0.2 (csl-data.json). Crossref adds members, and sends lists for text, types of its
own and null. DataCite sends codes for what is unknown.

1. ``reduce_csl`` reads each variable of CSL that may be shown, as what it is: a type, rich or plain text, names,
   a date, an address. What cannot be read is left out.
2. ``whole_csl`` puts back what an author wrote in an item, as far as the schema allows it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from doiuri._json import integer
from doiuri._text import is_web, plain_text, rich_text, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Date = list[int]  # year, month, day; the last ones may be missing

MAX_TITLE = 1000  # characters
MAX_TEXT = 300  # characters of any text that is not a title
_MAX_URL = 2000  # characters
_MAX_NAME = 200  # characters
_MAX_NAMES = 100  # of a list, with its last one; the lists of collaborations have thousands
_MAX_NESTING = 5  # lists around a date; there should be one
# The members that may hold the date of publication, the best first; only the first is CSL's. Crossref's
# "created" is the date on which the DOI was registered, often decades later.
_PUBLICATION_DATES = ("issued", "published", "published-print", "published-online")
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

# Without "abstract", which would fill lock files, and "source", in which Crossref sends its own name
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
_NAME_PARTS = {"family", "given", "literal", "suffix"}  # as Name.to_json writes them
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
_UNKNOWN = re.compile(
    r"""
    \(? :
    (?: unac | unal | unap | unas | unav | unkn | none | null | tba | etal )
    \)?
    """,
    re.IGNORECASE | re.VERBOSE,
)


def names_csl(item: object) -> bool:
    """Return whether parsed JSON shows that it is CSL-JSON: an item that has a DOI, or a type of CSL."""
    if isinstance(item, list) and len(item) == 1:
        item = item[0]
    if not isinstance(item, dict):
        return False
    item_type = item.get("type")
    has_type = isinstance(item_type, str) and (item_type in _CSL_TYPES or item_type in _OTHER_TYPES)
    return has_type or isinstance(item.get("DOI"), str)


def reduce_csl(csl: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of CSL, without empty ones. The function is idempotent."""
    variables: dict[str, Any] = {"type": _type(csl.get("type")), "title": _title(csl)}
    for member in _TITLES:
        variables[member] = _text(csl.get(member), MAX_TEXT, rich_text)
    for member in NAMES:
        variables[member] = [name.to_json() for name in read_names(csl.get(member))]

    published = (read_date(csl.get(member)) for member in _PUBLICATION_DATES)
    dates = {"issued": next(filter(None, published), None)}
    for member in OTHER_DATES:
        dates[member] = read_date(csl.get(member))
    for member, date in dates.items():
        if date is not None:
            variables[member] = {"date-parts": [date]}

    url = csl.get("URL")
    if isinstance(url, str) and len(url) <= _MAX_URL and is_web(url):
        variables["URL"] = url
    variables |= _plain_texts(csl)
    return {member: value for member, value in variables.items() if value}


def _plain_texts(csl: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that are plain text; "" for those that are missing."""
    texts = {member: _text(csl.get(member), MAX_TEXT) for member in _TEXTS}
    texts["event-title"] = texts["event-title"] or _text(csl.get("event"), MAX_TEXT)
    if not isinstance(csl.get("status"), str):
        texts["status"] = ""  # Crossref's is a list
    texts["ISBN"] = texts["ISBN"].rpartition("/")[2]  # Crossref sends a URL
    return texts


def whole_csl(item: Mapping[str, Any], reduced: Mapping[str, Any]) -> dict[str, Any]:
    """Return an author's item with all its members.

    A member that CSL's schema does not allow is as in ``reduced``, and so are names and dates of which that says
    everything.
    """
    whole = dict(reduced)
    for member, value in item.items():
        if member in _NOT_VARIABLES or not _is_printable(value):
            continue
        if member in NAMES:
            if _has_more_names(value):
                whole[member] = value
        elif member == "issued" or member in OTHER_DATES:
            if _says_more(value):
                whole[member] = value
        elif member == "URL":
            if isinstance(value, str) and is_web(value):
                whole[member] = value
        elif isinstance(value, str):
            whole[member] = _with_known_tags(value)
        elif isinstance(value, int | float):
            whole[member] = str(value)
    return whole


def _has_more_names(value: object) -> bool:
    """Return whether ``read_names`` would leave out names, or parts of them, such as a particle."""
    if not isinstance(value, list) or not all(isinstance(name, dict) for name in value):
        return False
    if len(value) > _MAX_NAMES:
        return True
    return any(not name.keys() <= _NAME_PARTS for name in value)


def _says_more(date: object) -> bool:
    """Return whether a date is more than a year, a month and a day, such as a period, or cannot be read."""
    if not isinstance(date, dict):
        return False
    if not date.keys().isdisjoint({"circa", "literal", "raw", "season"}):
        return True
    parts = date.get("date-parts")
    is_period = isinstance(parts, list) and len(parts) > 1
    return is_period or read_date(date) is None


def _with_known_tags(text: str) -> str:
    """Return text with the tags that CSL knows; other markup is dropped."""
    rest = _CSL_TAGS.sub("", text)
    has_other_markup = "<" in rest or "&" in rest
    if has_other_markup:
        return rich_text(text, len(text))
    return text


def _is_printable(value: object) -> bool:
    """Return whether a value holds only texts and numbers, and no invisible characters."""
    if isinstance(value, dict):
        return all(map(_is_printable, value.values()))
    if isinstance(value, list):
        return all(map(_is_printable, value))
    if isinstance(value, str):
        return value.replace("\n", " ").isprintable()
    return isinstance(value, int | float)


def read_date(value: object) -> Date | None:
    """Return the year, month and day of a date variable, as far as they are known; None if it has no year.

    Of a season, an approximate date or free text the year is returned; of a period, its first year. Free text
    is only read if it contains nothing but a date: "c. 1998" and "13 June 2006", but not "pp. 1200-1300".
    """
    if isinstance(value, dict):
        return _date_of_members(value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return _date_of_members(value[0])  # pandoc's old form, like [{"year": 2006, "month": 6}]
    return _date(value)


def _date_of_members(variable: dict[str, object]) -> Date | None:
    """Return the date in an object: of its year, month and day, or else the first member that holds one."""
    if "year" in variable:
        return _date([variable.get(part) for part in ("year", "month", "day")])

    members = ("date-parts", "raw", "literal", "date-time")
    dates = (_date(variable.get(member)) for member in members)
    return next(filter(None, dates), None)


def _date(value: object) -> Date | None:
    """Return the date in a list of its parts, in ISO 8601 or in free text; None if it has no year.

    It ends before the first part that is wrong: [2006, 4, 31] is a date, [2006, 13, 1] only a year.
    """
    written_year, *month_and_day = _date_parts(value)
    year = _year(written_year)
    if year is None:
        return None

    date = [year]
    for part, highest in zip(month_and_day, (12, 31), strict=False):
        number = _number(part)
        if number is None or not 0 < number <= highest:
            break
        date.append(number)
    return date


def _date_parts(value: object) -> Sequence[object]:
    """Return the year, or what should be one, and perhaps a month and a day, as they are written.

    Of [[2006, 4]] these are [2006, 4], of "2006-04" ("2006", "04", None), of "c. 1998" only that.
    """
    for _ in range(_MAX_NESTING):
        if isinstance(value, list) and value and isinstance(value[0], list):
            value = value[0]
    if isinstance(value, list):
        return value or [None]

    if isinstance(value, str):
        iso = _ISO_DATE.fullmatch(_TIME.sub("", value))
        if iso is not None:
            return iso.groups()
    return [value]


def _year(value: object) -> int | None:
    """Return the year in a number, or the first one in a text that contains nothing but a date; else None."""
    number = _number(value)
    if number is not None and 0 < number < 10_000:
        return number
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        return None

    tokens = _TOKENS.findall(_TIME.sub("", value))
    years = list(filter(_YEAR.fullmatch, tokens))
    if not years or not all(map(_is_of_date, tokens)):
        return None
    return int(years[0])


def _is_of_date(token: str) -> bool:
    """Return whether a word, a number or a mark may be part of a date."""
    if token.isdecimal():
        return len(token) <= 2 or _YEAR.fullmatch(token) is not None
    return token in _DATE_MARKS or token.casefold() in _DATE_WORDS


def _number(value: object) -> int | None:
    """Return a part of a date, which may be written as digits."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 4:
        return int(value)
    return integer(value)


def _text(value: object, limit: int, read: Callable[[object, int], str] = plain_text) -> str:
    """Return the first text in a member, which may be a list of texts, or an object with a name."""
    items = value if isinstance(value, list) else [value]
    for item in items:
        named = item.get("name") if isinstance(item, dict) else item
        text = known_text(named, limit, read)
        if text:
            return text
    return ""


def _title(csl: Mapping[str, Any]) -> str:
    """Return the title with the subtitle: "Ants: A study". Crossref sends it apart, or in the title as well."""
    title = _text(csl.get("title"), MAX_TITLE, rich_text)
    subtitle = _text(csl.get("subtitle"), MAX_TITLE, rich_text)
    if not title:
        return subtitle

    plain_title = plain_text(title, MAX_TITLE)
    plain_subtitle = plain_text(subtitle, MAX_TITLE)
    if plain_subtitle.casefold() in plain_title.casefold():
        return title
    separator = " " if plain_title.endswith(("?", "!", ":", ".", "…")) else ": "
    return known_text(f"{title}{separator}{subtitle}", MAX_TITLE, rich_text)


def _type(value: object) -> str:
    """Return CSL's type for a type of CSL, Crossref or DataCite; ``document`` for any other value."""
    if not isinstance(value, str):
        return "document"
    if value in _CSL_TYPES:
        return value
    return _OTHER_TYPES.get(value, "document")


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a person, or of an institution.

    >>> name = Name("van der Berg", "Anna", "Jr.")
    >>> str(name), name.family
    ('Anna van der Berg Jr.', 'van der Berg')
    >>> str(Name("International DOI Foundation"))
    'International DOI Foundation'
    >>> str(Name("山田", "太郎"))
    '山田太郎'
    """

    family: str
    """The family name with its non-dropping particle; the whole name of an institution, or of a person whose
    name is not divided."""

    given: str = ""
    """The given names, with the dropping particle (the "von" of "Alexander von Humboldt")."""

    suffix: str = ""
    """Such as "Jr." or "III"."""

    def __str__(self) -> str:
        """Return the whole name: given names first, but "山田太郎" in the scripts of East Asia."""
        if _is_east_asian(self.family):
            return f"{self.family}{self.given}{self.suffix}"
        return " ".join(filter(None, (self.given, self.family, self.suffix)))

    def to_json(self) -> dict[str, str]:
        """Return the name as CSL-JSON; one without given names and suffix is a ``literal``."""
        if not self.given and not self.suffix:
            return {"literal": self.family}
        parts = {"family": self.family, "given": self.given, "suffix": self.suffix}
        return {part: text for part, text in parts.items() if text}


def _is_east_asian(family: str) -> bool:
    """Return whether the given name follows a family name without a space, as in "山田太郎".

    The scripts are those whose letters are wide (Unicode Standard Annex 11). doiuri-csl, which the core does not
    need, decides in the same way for entries; a test compares the two.
    """
    letters = filter(str.isalpha, family)
    return any(unicodedata.east_asian_width(letter) in "WF" for letter in letters)


def read_names(value: object) -> tuple[Name, ...]:
    """Return the names in a member of CSL-JSON, which may have any type; those that are empty are dropped.

    Of more than 100, the first 99 and the last are returned.

    A ``literal`` or ``name`` stays whole, even "Kahn, Robert": nothing tells it from "NASA, Washington".
    """
    people = value if isinstance(value, list) else [value]
    names = list(islice(_names(people), _MAX_NAMES))
    if len(people) > _MAX_NAMES == len(names):
        names[-1] = next(_names(reversed(people)))  # many styles show the last one
    return tuple(names)


def _names(people: Iterable[object]) -> Iterator[Name]:
    """Yield the names that are not empty."""
    for person in people:
        name = _read_name(person)
        if name is not None:
            yield name


def is_shortened(names: Sequence[Name | str], most: int) -> bool:
    """Return whether only the first name and "et al." are shown.

    :param most: the most names that are shown in full; the name "others" at the end stands for more
    """
    if len(names) > most:
        return True
    return len(names) > 1 and str(names[-1]) == "others"


def known_text(value: object, limit: int, read: Callable[[object, int], str]) -> str:
    """Return text as ``read`` does; "" for a code that stands for unknown text, such as ``(:unav)``."""
    text = read(value, limit)
    return "" if _UNKNOWN.fullmatch(text) else text


def _known_name(value: object) -> str:
    """Return known text without commas and semicolons at its end, which are left over from lists of names."""
    text = plain_text(value, _MAX_NAME).rstrip(" ,;")
    return "" if _UNKNOWN.fullmatch(text) else text


def _read_name(person: object) -> Name | None:
    """Return the name in an item of a member of names, or None if it is empty."""
    if isinstance(person, str):
        return _name_in_text(person)
    if not isinstance(person, dict):
        return None

    family = _family_name(person)
    given = _given_names(person)
    suffix = _known_name(person.get("suffix"))
    if family:
        return Name(family, given, suffix)
    if given:  # a person with one name
        return Name(given, "", suffix)
    whole_name = _known_name(person.get("literal")) or _known_name(person.get("name"))
    if whole_name:
        return Name(whole_name)
    return None


def _name_in_text(text: str) -> Name | None:
    """Return the parts of "Kahn, Robert"; other texts, such as "Doe, J., PhD", may be institutions, and stay."""
    whole_name = _known_name(text)
    if not whole_name:
        return None
    family, _, given = (part.strip() for part in whole_name.partition(","))
    if family and given and "," not in given:
        return Name(family, given)
    return Name(whole_name)


def _family_name(person: Mapping[str, object]) -> str:
    """Return the family name with its non-dropping particle, as in "van der Berg"."""
    particle = _known_name(person.get("non-dropping-particle"))
    family = _known_name(person.get("family"))
    if not particle or not family or family.startswith(f"{particle} "):  # sent in both members
        return family or particle
    is_elided = particle.endswith(("'", "’", "-"))  # of "d'Alembert"
    separator = "" if is_elided else " "
    return shortened(f"{particle}{separator}{family}", _MAX_NAME)


def _given_names(person: Mapping[str, object]) -> str:
    """Return the given names with the dropping particle, as in "Alexander von"."""
    given = _known_name(person.get("given"))
    particle = _known_name(person.get("dropping-particle"))
    return shortened(f"{given} {particle}".strip(), _MAX_NAME)
