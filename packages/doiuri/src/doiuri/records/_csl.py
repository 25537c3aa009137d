"""CSL-JSON as agencies send it, reduced to the members that a reference needs, each with its proper type.

The schema is that of CSL 1.0.2 (csl-data.json). Crossref adds members, and sends lists for text, types of its
own and null. DataCite sends codes for what is unknown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from doiuri._json import integer
from doiuri.records._name import known_text, read_names
from doiuri.records._retraction import RETRACTED, is_retracted

if TYPE_CHECKING:
    from collections.abc import Mapping

    Date = list[int]  # year, month, day; the last ones may be missing

MAX_TITLE = 1000
"""Characters of a title."""

MAX_TEXT = 300
"""Characters of any other member."""

MAX_NESTING = 5
"""Lists around a date; there should be one."""

DATES = ("issued", "published", "published-print", "published-online")
"""The members that may hold the date of publication, the best first; only the first is CSL's.

Crossref's ``created`` is the date on which the DOI was registered, often decades later."""

_TEXTS = (
    "container-title",
    "collection-title",
    "event-title",
    "publisher",
    "publisher-place",
    "edition",
    "volume",
    "issue",
    "number",
    "page",
    "version",
    "genre",
    "language",
    "ISBN",
    "ISSN",
)
_CSL_TYPES = frozenset(
    "article article-journal article-magazine article-newspaper bill book broadcast chapter classic"  # noqa: SIM905
    " collection dataset document entry entry-dictionary entry-encyclopedia event figure graphic hearing"
    " interview legal_case legislation manuscript map motion_picture musical_score pamphlet paper-conference"
    " patent performance periodical personal_communication post post-weblog regulation report review"
    " review-book software song speech standard thesis treaty webpage".split()
)
_OTHER_TYPES = {
    "book-chapter": "chapter",
    "book-part": "chapter",
    "book-section": "chapter",
    "component": "document",
    "database": "dataset",
    "dissertation": "thesis",
    "edited-book": "book",
    "journal": "periodical",
    "journal-article": "article-journal",
    "journal-issue": "periodical",
    "monograph": "book",
    "peer-review": "review",
    "posted-content": "article",
    "proceedings": "book",
    "proceedings-article": "paper-conference",
    "reference-book": "book",
    "reference-entry": "entry",
    "report-series": "report",
}
_YEAR = re.compile(r"[12][0-9]{3}")
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


def reduce_csl(csl: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that a reference needs, without empty ones. The function is idempotent."""
    texts = {member: _text(csl.get(member), MAX_TEXT) for member in _TEXTS}
    texts["event-title"] = texts["event-title"] or _text(csl.get("event"), MAX_TEXT)
    texts["ISBN"] = texts["ISBN"].rpartition("/")[2]  # Crossref sends a URL
    date = next(filter(None, (read_date(csl.get(member)) for member in DATES)), None)
    reduced: dict[str, Any] = {
        "type": _type(csl.get("type")),
        "title": _title(csl),
        "author": [name.to_json() for name in read_names(csl.get("author"))],
        "editor": [name.to_json() for name in read_names(csl.get("editor"))],
        "issued": {"date-parts": [date]} if date else None,
    }
    if is_retracted(csl, str(reduced["title"])):
        reduced["status"] = RETRACTED
    return {member: value for member, value in (reduced | texts).items() if value}


def read_date(value: object) -> Date | None:
    """Return the year, month and day of a date variable; None if it has no year.

    Of a season, an approximate date or free text the year is returned; of a period, its first year. Free text
    is only read if it contains nothing but a date: "c. 1998" and "13 June 2006", but not "pp. 1200-1300".
    """
    if not isinstance(value, dict):
        return _date(value)
    dates = (value.get(member) for member in ("date-parts", "raw", "literal", "date-time"))
    return next(filter(None, map(_date, dates)), None)


def _date(value: object) -> Date | None:
    for _ in range(MAX_NESTING):
        if isinstance(value, list) and value and isinstance(value[0], list):
            value = value[0]
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


def _text(value: object, limit: int) -> str:
    """Return the first text in a member, which may be a list of texts, or an object with a name."""
    for item in value if isinstance(value, list) else [value]:
        if text := known_text(item.get("name") if isinstance(item, dict) else item, limit):
            return text
    return ""


def _title(csl: Mapping[str, Any]) -> str:
    """Return the title with the subtitle, which Crossref sends apart from it, and sometimes in it, too."""
    title, subtitle = _text(csl.get("title"), MAX_TITLE), _text(csl.get("subtitle"), MAX_TITLE)
    if not title or subtitle.casefold() in title.casefold():
        return title or subtitle
    separator = " " if title.endswith(("?", "!", ":", ".", "…")) else ": "
    return known_text(f"{title}{separator}{subtitle}", MAX_TITLE)


def _type(value: object) -> str:
    name = value if isinstance(value, str) else ""
    return name if name in _CSL_TYPES else _OTHER_TYPES.get(name, "document")
