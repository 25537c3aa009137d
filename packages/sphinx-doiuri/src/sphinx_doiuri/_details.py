"""Title, authors and year of what a DOI names, read from CSL JSON."""

import html
import json
import re
from typing import NamedTuple

MEDIA_TYPE = "application/vnd.citationstyles.csl+json"

_LONGEST = 300  # characters of a title, or of a name
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_AUTHORS_SHOWN = 3


class Details(NamedTuple):
    """What a reader wants to know before following a link; "" stands for what the metadata leaves out."""

    title: str
    authors: tuple[str, ...]
    year: str

    def byline(self) -> str:
        """Return authors and year in one line."""
        names = list(self.authors[:_AUTHORS_SHOWN])
        if len(self.authors) > _AUTHORS_SHOWN:
            names = [self.authors[0], "et al."]
        return ", ".join([*names, *([self.year] if self.year else [])])


def read_details(body: bytes) -> Details | None:
    """Read a CSL JSON document of whatever quality; None if it holds no title."""
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
    return Details(title, tuple(name for name in names if name), _year(data))


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


def _plain(value: object) -> str:
    """Text without markup and white space runs, cut where it is absurdly long."""
    if not isinstance(value, str):
        return ""
    text = " ".join(html.unescape(_TAG.sub("", value)).split())
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
