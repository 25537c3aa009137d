"""The text of a hover card: title, authors, year and journal, read from CSL JSON."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from doiuri.records import Work

from doiuri.plugins import unescape_html

_LONGEST = 300  # characters of a title, or of a name
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_AUTHORS_SHOWN = 3


class Details(NamedTuple):
    """The text of a hover card."""

    title: str
    authors: tuple[str, ...]
    """The full names; empty if the metadata has none."""
    year: str
    """The year of publication; empty if the metadata has none."""
    journal: str = ""
    """The title of the journal or book; empty if the metadata has none."""

    def byline(self) -> str:
        """Return the authors and the year, as in ``Ada Byron, 1843``; of more than three, only the first."""
        names = list(self.authors[:_AUTHORS_SHOWN])
        if len(self.authors) > _AUTHORS_SHOWN:
            names = [self.authors[0], "et al."]
        return ", ".join([*names, *([self.year] if self.year else [])])


def read_details(body: bytes) -> Details | None:
    """Return the details in a CSL JSON document; None if it is invalid or has no title."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    title = _plain(_first(data.get("title")))
    if not title:
        return None
    people = data.get("author")
    names = (_name(person) for person in (people if isinstance(people, list) else []))
    journal = _plain(_first(data.get("container-title")))
    return Details(title, tuple(name for name in names if name), _year(data), journal)


def details_of(work: Work) -> Details | None:
    """Return the details of a work; None if it has no title."""
    if not work.title:
        return None
    year = "" if work.year is None else str(work.year)
    names = tuple(_shown(str(name)) for name in work.authors)
    return Details(_shown(work.title), names, year, _shown(work.container))


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


def _plain(value: object) -> str:
    """Return text without markup and control characters, on one line, and of limited length."""
    if not isinstance(value, str):
        return ""
    return _shown(" ".join(unescape_html(_TAG.sub("", value)).split()))


def _shown(text: str) -> str:
    text = "".join(character for character in text if character.isprintable())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"


def _name(person: object) -> str:
    if not isinstance(person, dict):
        return ""
    whole = _plain(person.get("literal") or person.get("name"))
    return whole or " ".join(filter(None, (_plain(person.get("given")), _plain(person.get("family")))))


def _year(data: dict[str, object]) -> str:
    for name in ("issued", "published", "published-print", "published-online", "created"):
        date = data.get(name)
        parts = date.get("date-parts") if isinstance(date, dict) else None
        year = str(_first(_first(parts)))
        if year.isascii() and year.isdigit() and len(year) <= 4:
            return year
    return ""
