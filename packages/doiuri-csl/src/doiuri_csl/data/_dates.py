"""Date values: reading the dates of CSL-JSON, and their order (CSL 1.0.2, Date Variables)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SEASONS = ("spring", "summer", "autumn", "winter")
PARTS = ("year", "month", "day")

# A date in words is no longer; the year of a work has five digits at most.
_LONGEST_RAW = 200
_LAST = {"month": 24, "day": 31}  # months from 13 on are seasons
_LONGEST_NUMBER = 5
_ISO = re.compile(r"( -? \d{1,4} ) (?: - ( \d{1,2} ) )? (?: - ( \d{1,2} ) )?", re.VERBOSE)
_NUMERIC = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")


@dataclass(frozen=True)
class Moment:
    """A year, perhaps with a month or season and a day; zero for what is not known.

    A year before Christ is negative.
    """

    year: int = 0
    month: int = 0
    day: int = 0

    season: int = 0
    """From 1 for spring to 4 for winter."""

    @property
    def is_date(self) -> bool:
        """Whether it says when something was, which a day alone does not."""
        return bool(self.year or self.month or self.season)

    def key(self) -> tuple[int, int, int]:
        """Return what a moment is sorted by: year, month and day; spring as March, winter as December."""
        return (self.year, self.month or self.season * 3, self.day)


@dataclass(frozen=True)
class DateValue:
    """A date of an item: one moment, two for a range, or words."""

    start: Moment | None = None
    """The moment, or the first of the range; None if the date is words."""

    end: Moment | None = None
    """The last moment of a range; None if there is no range, or no end."""

    literal: str = ""
    """The words, such as "in press"; "" for any other date."""

    circa: bool = False
    open_end: bool = False
    """Whether it is a range without an end: "1999–"."""


def _to_int(value: Any) -> int:
    """Return the whole number of a value, such as 5, 5.0, "5" or "-44"; 0 if it is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value).strip()
    digits = text.removeprefix("-")
    if not (digits.isdecimal() and len(digits) <= _LONGEST_NUMBER):
        return 0
    return int(text)


def _read_moment(parts: list[Any], season: int = 0) -> Moment:
    """Return a moment from date-parts: [2001, 5, 3], ["2001", "05"], [2001, 13] for spring 2001.

    A month or a day that does not exist is left out.

    :param season: the season that is given apart from the parts, 0 for none
    """
    numbers = [_to_int(part) for part in parts[:3]]
    year, month, day = numbers + [0] * (3 - len(numbers))
    if 13 <= month <= _LAST["month"]:
        # CSL 1.0.2, Seasons; 21 to 24 are those of EDTF.
        season = (month - 13) % 4 + 1
    if not 1 <= month <= 12:
        month = 0
    if not 1 <= day <= _LAST["day"]:
        day = 0
    return Moment(year, month, day, season)


def _read_season(value: Any) -> int:
    """Return the number of a season: 2 for 2, "2" or "Summer"; 0 for anything else."""
    text = str(value or "").strip().lower()
    if text in _SEASONS:
        return _SEASONS.index(text) + 1
    number = _to_int(text)
    return number if 1 <= number <= 4 else 0


def read_date(value: Mapping[str, Any]) -> DateValue | None:
    """Return the date of a CSL-JSON value, or None if it says nothing.

    A value may say the same in several ways; the first of these counts:

    1. ``literal``: words.
    2. ``date-parts``: one moment or two, ``[[1999], [2001, 5]]``; with a ``season`` if they have no month.
    3. ``season`` alone.
    4. ``raw``: text that may be a date, such as "May 2001".
    5. Words in the place of a year in ``date-parts``, such as "in press".
    """
    circa = str(value.get("circa", "")).lower() not in ("", "0", "false")
    if value.get("literal"):
        return DateValue(literal=str(value["literal"]), circa=circa)

    given_parts = value.get("date-parts")
    parts = given_parts if isinstance(given_parts, list) else []
    season = _read_season(value.get("season"))
    moments = _read_moments(parts, season)
    if moments:
        start, *later = moments
        end = later[0] if later and later[0].year else None
        # [[1999], []] and [[1999], [0]] are "1999–"
        is_open = len(parts) > 1 and end is None
        return DateValue(start, end, circa=circa, open_end=is_open)

    if season:
        return DateValue(Moment(season=season), circa=circa)
    if value.get("season"):
        return DateValue(literal=str(value["season"]), circa=circa)
    if value.get("raw"):
        return _parse_raw(str(value["raw"]), circa)

    first_parts = parts[0] if parts and isinstance(parts[0], list) else []
    words = " ".join(str(part) for part in first_parts if part).strip()
    if any(character.isalpha() for character in words):
        # "in press" in the place of a year: shown as it is, rather than "n.d."
        return DateValue(literal=words, circa=circa)
    return None


def _read_moments(parts: list[Any], season: int) -> list[Moment]:
    """Return the moments of date-parts, such as [[1999], [2001, 5]]; those that say nothing are left out."""
    moments = [_read_moment(part, season) for part in parts if isinstance(part, list) and part]
    return [moment for moment in moments if moment.is_date]


def wrong_parts(value: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the months and days of a CSL-JSON value, which are then left out.

    For ``[[2001, 13, 32]]``: "32 is not a day"; 13 is a season.
    """
    problems = []
    parts = value.get("date-parts")
    moments = parts if isinstance(parts, list) else []
    for moment in moments:
        if not isinstance(moment, list):
            continue
        for (name, last), number in zip(_LAST.items(), moment[1:3], strict=False):
            # A zero or nothing says that the month or the day is not known, which is no mistake
            is_given = number not in (None, "", 0, "0", "00")
            if is_given and not 1 <= _to_int(number) <= last:
                problems.append(f"{number!r} is not a {name}")
    return problems


def _parse_raw(text: str, circa: bool) -> DateValue:
    """Return the date that a text says, or else the text itself as a literal date.

    Such texts are "2001-05-03", "2001-05/2002", "3 May 2001", "May - June 2001", "summer 2001", "5/31/2001".
    """
    words = text.strip()
    if len(words) > _LONGEST_RAW:
        return DateValue(literal=words, circa=circa)
    moment = _parse_moment(words)
    if moment:
        return DateValue(moment, circa=circa)

    # A range of EDTF, whose halves both begin with a year: not "5/31/2001"
    start_text, _, end_text = words.partition("/")
    if start_text[:4].isdecimal() and end_text[:4].isdecimal():
        start = _parse_moment(start_text)
        end = _parse_moment(end_text)
        if start and end:
            return DateValue(start, end, circa=circa)

    halves = re.split("[-–]", words)
    if len(halves) == 2:
        start = _parse_moment(halves[0])
        end = _parse_moment(halves[1])
        if start and end and end.year:
            # "May - June 2001"
            first = start if start.year else replace(start, year=end.year)
            return DateValue(first, end, circa=circa)
    return DateValue(literal=words, circa=circa)


def _parse_moment(text: str) -> Moment | None:
    """Return the moment that a text says, or None: "2001-05", "5/31/2001", "May 3, 2001", "Summer 2001"."""
    words = text.strip()
    iso = _ISO.fullmatch(words)
    if iso:
        return _read_moment([part for part in iso.groups() if part])
    numeric = _NUMERIC.fullmatch(words)
    if numeric:
        return _read_moment([numeric[3], numeric[1], numeric[2]])

    parts: dict[str, int] = {}
    for word in words.replace(",", " ").replace(".", " ").split():
        part = _read_word(word)
        if not part:
            return None
        parts |= part
    moment = Moment(**parts)
    return moment if moment.is_date else None


def _read_word(word: str) -> dict[str, int]:
    """Return the part of a date that a word says: {"month": 5} of "May", {"day": 3} of "3"; or nothing."""
    lower = word.lower()
    if lower[:3] in _MONTHS and lower.isalpha():
        return {"month": _MONTHS.index(lower[:3]) + 1}
    if lower in _SEASONS:
        return {"season": _SEASONS.index(lower) + 1}
    if not word.isdecimal():
        return {}
    return {"year": _to_int(word)} if len(word) > 2 else {"day": int(word)}


def sort_text(value: DateValue, parts: tuple[str, ...] = PARTS) -> str:
    """Return a date as text that sorts in the order of time: "1020010503" for 3 May 2001, a range with its end.

    :param parts: the parts that count; the year always does
    """
    if value.literal:
        return value.literal
    if value.start is None:
        return ""
    text = _moment_sort_text(value.start, parts)
    if value.end is not None:
        text += "-" + _moment_sort_text(value.end, parts)
    return text


def _moment_sort_text(moment: Moment, parts: tuple[str, ...]) -> str:
    """Return a moment as text: "1" and the year; before Christ "0" and the years since 99999 BC.

    "102001" for 2001, "099955" for 44 BC.
    """
    year, month, day = moment.key()
    if year >= 0:
        text = f"1{year:05d}"
    else:
        text = f"0{99999 + year:05d}"
    if "month" in parts:
        text += f"{month:02d}"
    if "day" in parts:
        text += f"{day:02d}"
    return text
